from __future__ import annotations

import builtins
import gc
import inspect
import pickle
import sys
import threading
import weakref

import pytest

import invivo
from invivo import _generated as c
from invivo import errors


def test_every_status_has_a_class_of_its_own() -> None:
    codes = [number for name, number, _ in c.STATUS if number]
    classes = [errors.error_class(code) for code in codes]
    assert len(set(classes)) == len(codes)
    assert all(cls.status == code for cls, code in zip(classes, codes, strict=True))
    assert all(getattr(invivo, cls.__name__) is cls for cls in classes)
    assert not {cls.__name__ for cls in classes} & set(vars(builtins)), "a class hides a builtin"


@pytest.mark.parametrize(
    ("code", "builtin"),
    [
        (c.INVIVO_E_NOT_FOUND, KeyError),
        (c.INVIVO_E_TYPE, TypeError),
        (c.INVIVO_E_RANGE, ValueError),
        (c.INVIVO_E_PROPERTY, AttributeError),
        (c.INVIVO_E_METHOD, AttributeError),
        (c.INVIVO_E_TIMEOUT, TimeoutError),
        (c.INVIVO_E_MEMORY, MemoryError),
        (c.INVIVO_E_FILE, OSError),
        (c.INVIVO_E_SYSTEM, OSError),
        (c.INVIVO_E_MODULE, ImportError),
        (c.INVIVO_E_UNSUPPORTED, NotImplementedError),
    ],
)
def test_an_error_is_the_builtin_that_a_programmer_would_catch(code: int, builtin: type[Exception]) -> None:
    cls = errors.error_class(code)
    with pytest.raises(builtin) as caught:
        raise cls("it is so", path="synth.lead")
    assert isinstance(caught.value, invivo.Error)
    assert caught.value.code == code
    assert str(caught.value) == "synth.lead: it is so"


def test_an_error_says_place_path_message_and_cause() -> None:
    error = errors.RangeError(
        "gain is 3", path="synth.lead.gain", file="tuning.yaml", line=3, column=7, cause=errors.Error("so it came")
    )
    assert str(error) == "tuning.yaml:3:7: synth.lead.gain: gain is 3 (because so it came)"
    assert error.constant == "INVIVO_E_RANGE"
    assert error.errors == [error]


def test_several_errors_are_one_line_each() -> None:
    both = [errors.RangeError("one"), errors.WrongTypeError("two")]
    assert str(errors.RangeError("one", errors=both)) == "one\ntwo"


def test_an_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(errors.FileError("no", file="a.yaml", line=2)))
    assert (type(error), error.message, error.file, error.line) == (errors.FileError, "no", "a.yaml", 2)
    assert error.errors == [error]


def test_an_error_without_words_has_those_of_its_status() -> None:
    assert errors.ClosedError().message == "the runtime is closed"


# ---- exceptions that cross the library -----------------------------------------------------------------


class Local:
    """Stands for whatever a function has in its variables."""


def test_an_exception_keeps_the_variables_of_its_frames_until_its_call_is_over() -> None:
    found: list[weakref.ref[Local]] = []

    class Failing:
        def __init__(self) -> None:
            local = Local()
            found.append(weakref.ref(local))
            raise ValueError("no")

    class Stopping:
        @invivo.on_stop
        def end(self) -> None:
            local = Local()
            found.append(weakref.ref(local))
            raise ValueError("no")

    app = invivo.Assembly("app")
    app.prototype(Failing)
    app.prototype(Stopping)
    with invivo.Runtime(app) as runtime:
        with pytest.raises(invivo.HostError) as caught:
            runtime["app.failing"]
        assert isinstance(caught.value.__cause__, ValueError)
        assert found[-1]() is not None, "the caller has the traceback"
        del caught
        runtime["app.stopping"]  # its stop fails in a release, which answers no error
        gc.collect()
        assert runtime.info.generation
        assert [each() for each in found] == [None, None]


def test_an_exception_on_a_thread_of_the_librarys_keeps_no_variables() -> None:
    found: list[weakref.ref[Local]] = []
    failed = threading.Event()

    class Failing:
        @invivo.on_start
        def begin(self) -> None:
            local = Local()
            found.append(weakref.ref(local))
            raise ValueError("no")

    with invivo.Runtime() as runtime:

        def hear(report: invivo.Report) -> None:
            if not report.committed:
                failed.set()

        runtime.observe(hear)
        changes = runtime.changes()
        changes.define(Failing, "app.failing", scope="singleton")
        changes.submit()
        while not failed.is_set():
            runtime.poll(0.01)
        gc.collect()
        assert found
        assert [each() for each in found] == [None] * len(found)


def test_the_limit_of_recursion_is_a_recursion_error_at_every_depth() -> None:
    class Leaf: ...

    class Holder:
        def __init__(self, leaf: Leaf) -> None:
            self.leaf = leaf

    def below(depth: int) -> None:
        if depth:
            below(depth - 1)
            return
        runtime.define(Holder, "a.holder")
        runtime["a.holder"]
        runtime.reset("a.leaf")

    raised: set[type[BaseException]] = set()
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.define(Leaf, "a.leaf")
        used = len(inspect.stack())
        limit = sys.getrecursionlimit()
        try:
            sys.setrecursionlimit(used + 250)
            for depth in range(100, 250):
                try:
                    below(depth)
                except (RecursionError, invivo.Error) as problem:
                    raised.add(type(problem))
        finally:
            sys.setrecursionlimit(limit)
        assert isinstance(runtime["a.holder"].leaf, Leaf)
    assert RecursionError in raised
