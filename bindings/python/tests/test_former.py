"""The object that a reload replaces, for the constructor of the new one."""

from __future__ import annotations

import pytest

import invivo


class Counter:
    def __init__(self, step: int = 1) -> None:
        former = invivo.former()
        self.step = step
        self.count = former.count if former else 0
        self.replaced = former


class Plain:
    """Its constructor does not use the runtime, so that graphs get build plans."""

    def __init__(self) -> None:
        self.seen = "nothing"


class Asking:
    def __init__(self, plain: Plain) -> None:
        self.seen = invivo.former()


class Outer:
    def __init__(self, step: int = 1) -> None:
        self.former = invivo.former()
        self.inner = [invivo.current()["app.asking"].seen for _ in range(4)]
        with invivo.current().entered():
            self.again = invivo.former()


def open_with(*members: tuple[str, type, str]) -> invivo.Runtime:
    app = invivo.Assembly("app")
    for scope, cls, name in members:
        options = {"step": invivo.config("step", default=1)} if cls in (Counter, Outer) else {}
        getattr(app, scope)(cls, name, **options)
    return invivo.Runtime(app)


@pytest.mark.parametrize("scope", ["lazy_singleton", "singleton"])
def test_a_constructor_copies_from_the_object_that_it_replaces(scope):
    with open_with((scope, Counter, "counter")) as runtime:
        first = runtime[Counter]
        assert first.replaced is None
        for step in (2, 3):
            first.count += step
            runtime.configure("app.step", step)
            second = runtime[Counter]
            assert second is not first
            assert second.replaced is first
            assert (second.step, second.count) == (step, first.count)
            first = second
    assert invivo.former() is None


def test_a_failed_replacement_leaves_the_former_object(caplog):
    class Failing(Counter):
        def __init__(self, step: int = 1) -> None:
            super().__init__(step)
            if step == 2:
                raise RuntimeError("on purpose")

    app = invivo.Assembly("app")
    app.lazy_singleton(Failing, "counter", step=invivo.config("step", default=1))
    with invivo.Runtime(app) as runtime:
        first = runtime[Failing]
        first.count = 5
        before = dict(vars(first))
        with pytest.raises(invivo.Error, match="on purpose"):
            runtime.configure("app.step", 2)
        assert runtime[Failing] is first
        assert vars(first) == before
        runtime.configure("app.step", 3)
        assert runtime[Failing].count == 5


def test_a_factory_has_it_and_objects_that_are_created_meanwhile_have_their_own():
    with open_with(
        ("lazy_singleton", Outer, "outer"), ("prototype", Asking, "asking"), ("prototype", Plain, "plain")
    ) as runtime:
        first = runtime[Outer]
        assert (first.former, first.inner, first.again) == (None, [None] * 4, None)
        runtime.configure("app.step", 2)
        second = runtime[Outer]
        assert (second.former, second.inner, second.again) == (first, [None] * 4, first)


def test_a_factory_function_and_an_inject_function():
    seen = []

    def make(step: int) -> Counter:
        seen.append(invivo.former())
        return Counter(step)

    app = invivo.Assembly("app")
    app.singleton(
        make,
        "counter",
        step=invivo.config("step", default=1),
        options=invivo.options(inject=lambda thing: seen.append(invivo.former())),
    )
    with invivo.Runtime(app) as runtime:
        first = runtime[Counter]
        assert seen == [None, None]
        runtime.configure("app.step", 2)
        assert seen[2:] == [first, first]
        assert runtime[Counter].replaced is first


def test_a_class_selects_the_former_objects_that_are_its_instances():
    seen = []

    class Other: ...

    def make(step: int) -> Counter:
        seen.append((invivo.former(Counter), invivo.former(object), invivo.former(Other), invivo.former(list[int])))
        return Counter(step)

    app = invivo.Assembly("app")
    app.singleton(make, "counter", step=invivo.config("step", default=1))
    with invivo.Runtime(app) as runtime:
        first = runtime[Counter]
        runtime.configure("app.step", 2)
    assert seen == [(None,) * 4, (first, first, None, None)]
    assert invivo.former(Counter) is None
    with pytest.raises(invivo.WrongTypeError, match="takes the class of the former object, not 3"):
        invivo.former(3)
