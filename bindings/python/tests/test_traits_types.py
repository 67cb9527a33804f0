"""Trait types: subclasses of invivo.Trait, with layers or code."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import enum
import functools
import gc
import json
import pickle
import queue
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, TypedDict

import pytest

import invivo
from invivo._native.session import sessions
from invivo._runtime import traits
from invivo._services.traits import trait_type_of
from invivo._state.core import Core


class Wave(enum.Enum):
    SINE = 1
    SQUARE = 2


class Voice:
    gain: float = invivo.tunable(1.0, min=0, max=8)
    cutoff: float = invivo.tunable(1000.0, unit="Hz")
    wave: Wave = invivo.tunable(Wave.SINE)
    note: str = "c"

    def __init__(self) -> None:
        self.listeners: list[str] = []


@pytest.fixture
def runtime() -> Iterator[invivo.Runtime]:
    app = invivo.Assembly("synth")
    app.lazy_singleton(Voice, "lead")
    with invivo.Runtime(app) as opened:
        yield opened


def tell(runtime: invivo.Runtime, text: str, name: str = "a.yaml") -> None:
    with runtime.changes() as changes:
        changes.document(name, text)


def refusal(runtime: invivo.Runtime, text: str) -> invivo.Error:
    with pytest.raises(invivo.Error) as caught:
        tell(runtime, text)
    return caught.value


def lead(runtime: invivo.Runtime) -> Voice:
    found: Voice = runtime["synth.lead"]
    return found


def define_duck(factor: float = 1) -> type[invivo.Trait]:
    class Duck(invivo.Trait, name="synth.Duck"):
        """Lowers the gain.

        More.
        """

        targets = (Voice,)
        amount: float = invivo.tunable(..., min=0, max=1000)
        wave: Wave = Wave.SQUARE
        steps: int | None = None
        most: int = invivo.tunable(5, min=0, max=10, was="limit")
        names: list[str] = []  # noqa: RUF012

        def check(self) -> None:
            if self.steps is not None and self.steps > self.most:
                raise invivo.Refused("too many steps", input="steps")
            if self.amount == 0.125:
                raise KeyError("an eighth")

        def layers(self, layers: invivo.Layers) -> None:
            layers.scale("gain", 1 - self.amount * factor)
            layers.set("wave", self.wave)
            if self.steps is not None:
                layers.offset("cutoff", self.steps)
            self.names.append("seen")
            assert self.names == ["seen"]

    return Duck


def test_a_subclass_is_a_trait_type_with_layers(runtime: invivo.Runtime) -> None:
    voice = lead(runtime)
    define_duck()
    tell(runtime, "traits: { synth.lead: [synth.Duck: { amount: 0.25 }] }")
    assert (voice.gain, voice.wave, voice.cutoff) == (0.75, Wave.SQUARE, 1000)
    tell(runtime, "traits: { synth.lead: [synth.Duck: { amount: 0.5, wave: SINE, steps: 7, limit: 7 }] }")
    assert (voice.gain, voice.wave, voice.cutoff) == (0.5, Wave.SINE, 1007)
    assert "the field 'amount' of the trait 'synth.Duck' is missing" in str(
        refusal(runtime, "traits: { synth.lead: [synth.Duck: {}] }")
    )
    assert refusal(runtime, "traits: { synth.lead: [synth.Duck: { amount: 0, most: 11 }] }").line == 1
    assert refusal(runtime, "traits: { synth.lead: [synth.Duck: { amount: 1001 }] }").line == 1
    assert "did you mean 'amount'" in str(refusal(runtime, "traits: { synth.lead: [synth.Duck: { amuont: 0 }] }"))
    assert voice.gain == 0.5
    # A runtime that is opened later has the type from its beginning.
    app = invivo.Assembly("synth")
    app.lazy_singleton(Voice, "lead")
    with invivo.Runtime(app) as other:
        tell(other, "traits: { synth.lead: [synth.Duck: { amount: 0.25 }] }")
        assert lead(other).gain == 0.75


def test_a_check_that_raises_refuses_the_fields_at_their_lines(runtime: invivo.Runtime) -> None:
    voice = lead(runtime)
    define_duck()
    error = refusal(runtime, "traits:\n  synth.lead:\n    - synth.Duck:\n        amount: 1\n        steps: 6\n")
    assert (error.file, error.line) == ("a.yaml", 5)
    assert "synth.Duck" in error.message
    assert "too many steps" in str(error)
    error = refusal(runtime, "traits:\n  synth.lead:\n    - synth.Duck: { amount: 0.125 }\n")
    assert (error.file, error.line) == ("a.yaml", 3)
    assert "synth.Duck" in error.message
    assert error.cause is not None
    assert "KeyError: 'an eighth'" in str(error.cause)
    assert isinstance(error.__cause__ or error.cause.__cause__, KeyError)
    assert voice.gain == 1


def test_a_class_that_is_defined_again_replaces_the_type(runtime: invivo.Runtime) -> None:
    calls: list[str] = []

    def define(factor: int) -> None:
        class Boost(invivo.Trait, name="synth.Boost"):
            targets = Voice
            by: int

            def apply(self, target: Voice) -> Callable[[], None]:
                calls.append(f"apply {factor}")
                target.gain += self.by * factor

                def reverse() -> None:
                    calls.append(f"revert {factor}")
                    target.gain -= self.by * factor

                return reverse

    voice = lead(runtime)
    define(1)
    tell(runtime, "traits: { synth.lead: [synth.Boost: { by: 2 }] }")
    assert voice.gain == 3
    before = runtime.generation
    define(2)
    assert runtime.generation == before + 1
    assert (voice.gain, calls) == (5, ["apply 1", "revert 1", "apply 2"])
    tell(runtime, "traits: {}")
    assert (voice.gain, calls[-1]) == (1, "revert 2")


def test_a_class_that_a_runtime_refuses_is_no_type(runtime: invivo.Runtime) -> None:
    voice = lead(runtime)
    former = define_duck()
    tell(runtime, "traits: { synth.lead: [synth.Duck: { amount: 0.5 }] }")
    with pytest.raises(invivo.Error, match=r"a\.yaml:1:"):
        define_duck(factor=100)
    assert voice.gain == 0.5
    assert [each.cls for each in traits.declared_traits() if each.name == "synth.Duck"] == [former]
    former.remove()
    assert voice.gain == 1
    with pytest.raises(invivo.NotFoundError):
        runtime.remove_trait(former)
    # The file of the live document has it again.
    runtime.add_trait(former)
    assert voice.gain == 0.5
    runtime.remove_trait("synth.Duck")
    assert voice.gain == 1


def test_a_generator_yields_once_and_then_reverses(runtime: invivo.Runtime) -> None:
    class Listen(invivo.Trait, name="synth.Listen"):
        targets = (Voice,)
        name: str = "meter"
        times: int = 1

        def apply(self, target: Voice) -> Iterator[None]:
            target.listeners.append(self.name)
            for _ in range(self.times):
                yield
            target.listeners.remove(self.name)

    voice = lead(runtime)
    tell(runtime, "traits: { synth.lead: [synth.Listen: {}, synth.Listen: { name: scope }] }")
    assert voice.listeners == ["meter", "scope"]
    tell(runtime, "traits: { synth.lead: [synth.Listen: { name: scope }] }")
    assert voice.listeners == ["scope"]
    tell(runtime, "traits: {}")
    assert voice.listeners == []
    assert "did not yield" in str(refusal(runtime, "traits: { synth.lead: [synth.Listen: { times: 0 }] }"))
    tell(runtime, "traits: { synth.lead: [synth.Listen: { times: 2 }] }")
    assert "yields twice" in str(refusal(runtime, "traits: {}"))


def test_attributes_are_put_back_without_a_reversal(runtime: invivo.Runtime) -> None:
    fails = True

    class Loud(invivo.Trait, name="synth.Loud"):
        targets = "*"

        def apply(self, target: Any) -> None:
            target.gain = 4.0
            target.note = "d"
            if fails:
                raise OSError("no more")

    voice = lead(runtime)
    error = refusal(runtime, "traits: { synth.lead: [synth.Loud: {}] }")
    assert "OSError: no more" in str(error)
    assert (voice.gain, voice.note) == (1, "c")
    fails = False
    tell(runtime, "traits: { synth.lead: [synth.Loud: {}, Scale: { gain: 2 }] }")
    assert (voice.gain, voice.note) == (8, "d")
    tell(runtime, "traits: {}")
    assert (voice.gain, voice.note) == (1, "c")


def test_a_view_reads_the_attributes_before_a_trait(runtime: invivo.Runtime) -> None:
    class Loud(invivo.Trait, name="synth.Loud"):
        targets = Voice

        def apply(self, target: Voice) -> Callable[[], None]:
            target.gain += 3
            return lambda: setattr(target, "gain", target.gain - 3)

    lead(runtime)
    with runtime.view() as view:
        thread = threading.Thread(target=tell, args=(runtime, "traits: { synth.lead: [synth.Loud: {}] }"))
        thread.start()
        thread.join()
        assert view.block("synth.lead")["gain"] == 1
    with runtime.view() as view:
        assert view.block("synth.lead")["gain"] == 4


def test_a_type_is_described_when_it_is_defined() -> None:
    here = __file__

    def check(error: invivo.Error) -> None:
        assert error.file == here
        assert error.line

    with pytest.raises(invivo.ArgumentError, match=r"the trait None_ has no targets: give the accepted") as caught:

        class None_(invivo.Trait):  # noqa: N801
            def layers(self, layers: invivo.Layers) -> None: ...

    check(caught.value)
    with pytest.raises(invivo.ArgumentError, match=r"has targets that are neither classes nor names: \(3,\)"):

        class Three(invivo.Trait):
            targets = (3,)

            def layers(self, layers: invivo.Layers) -> None: ...

    with pytest.raises(invivo.ArgumentError, match=r"has neither layers\(\) nor apply\(\)") as caught:

        class Nothing(invivo.Trait):
            targets = "*"

    check(caught.value)
    with pytest.raises(invivo.ArgumentError, match=r"has layers\(\) and apply\(\)"):

        class Both(invivo.Trait):
            targets = "*"

            def layers(self, layers: invivo.Layers) -> None: ...
            def apply(self, target: Any) -> None: ...

    with pytest.raises(invivo.ArgumentError, match="a trait must return at once"):

        class Later(invivo.Trait):
            targets = "*"

            async def apply(self, target: Any) -> None: ...

    with pytest.raises(invivo.ArityError, match=r"Few\.apply is called with self, target"):

        class Few(invivo.Trait):
            targets = "*"

            def apply(self) -> None: ...

    with pytest.raises(invivo.ArgumentError, match="has an injected attribute 'voice'"):

        class Injected(invivo.Trait):
            targets = "*"
            voice: Voice = invivo.injected()

            def apply(self, target: Any) -> None: ...

    class Base(invivo.Trait, abstract=True):
        targets = "*"
        by: int = 1

    class Derived(Base):
        def apply(self, target: Any) -> None: ...

    [described] = [each for each in traits.declared_traits() if each.cls is Derived]
    assert described.name == f"{__name__}.Derived"
    assert [each.name for each in described.fields] == ["by"]

    class Wanting:
        by: int = invivo.tunable(..., min=0)

    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.WrongTypeError, match="that is not abstract"):
            runtime.add_trait(Base)
        with pytest.raises(invivo.ArgumentError, match=r"Wanting\.by has no initial value"):
            runtime.type(Wanting)


def test_a_default_that_its_kind_refuses_names_the_class() -> None:
    class Wrong(invivo.Trait, name="t.Wrong"):
        targets = "*"
        amount: int = "many"  # type: ignore[assignment]

        def layers(self, layers: invivo.Layers) -> None: ...

    with pytest.raises(invivo.ArgumentError, match=r"t\.Wrong\.amount: the initial value: 'many'") as caught:
        invivo.Runtime()
    assert caught.value.file == __file__
    assert caught.value.line == trait_type_of(Wrong).place[1]
    with pytest.raises(invivo.ArgumentError, match=r"has the default field\(\.\.\.\) for 'names'"):

        @dataclasses.dataclass
        class Field(invivo.Trait, name="t.Field"):
            targets = "*"
            names: list[str] = dataclasses.field(default_factory=list)

            def layers(self, layers: invivo.Layers) -> None: ...


def test_a_reversal_that_cannot_be_called_is_refused_when_it_is_returned(runtime: invivo.Runtime) -> None:
    class Asks(invivo.Trait, name="t.Asks"):
        targets = (Voice,)

        def apply(self, target: Voice) -> Callable[..., Any]:
            target.gain = 3
            return lambda target, more: None

    voice = lead(runtime)
    error = refusal(runtime, "traits: { synth.lead: [t.Asks: {}] }")
    assert "t.Asks.apply returned a reversal with the parameters (target, more); expected one parameter" in str(error)
    assert voice.gain == 1


def test_a_trait_must_not_call_its_runtime_in_its_check(runtime: invivo.Runtime) -> None:
    kept: list[invivo.Layers] = []

    class Calls(invivo.Trait, name="synth.Calls"):
        targets = "*"
        how: str = "layers"

        def layers(self, layers: invivo.Layers) -> None:
            if self.how == "runtime":
                runtime.config("low")
            kept.append(layers)
            if self.how == "property":
                layers.set("nothing", 1)

    lead(runtime)
    error = refusal(runtime, "traits: { synth.lead: [synth.Calls: { how: runtime }] }")
    assert "must not call its runtime" in str(error)
    tell(runtime, "traits: { synth.lead: [synth.Calls: {}] }")
    with pytest.raises(invivo.Error):
        kept[0].scale("gain", 2)
    error = refusal(runtime, "traits: { synth.lead: [synth.Calls: { how: property }] }")
    assert "synth.Calls" in str(error)
    assert "no property 'nothing'" in str(error)


def test_the_application_of_a_trait_cannot_wait_for_a_reload(runtime: invivo.Runtime) -> None:
    class Waits(invivo.Trait, name="synth.Waits"):
        targets = Voice

        def apply(self, target: Voice) -> None:
            runtime.configure("a.b", 1)

    lead(runtime)
    error = refusal(runtime, "traits: { synth.lead: [synth.Waits: {}] }")
    assert isinstance(error, invivo.WouldWaitError)
    assert "the trait 'synth.Waits' could not be applied" in str(error)


def test_a_class_that_is_defined_in_a_callback_is_submitted(runtime: invivo.Runtime) -> None:
    lead(runtime)
    reports = threading.Semaphore(0)
    defined = []

    class Clock:
        def __init__(self) -> None:
            defined.append(define_duck())

    observer = runtime.observe(lambda report: reports.release())
    runtime.define(Clock, "synth.clock", scope="singleton")
    assert defined
    # One of the definition, and one of the submitted change set.
    assert reports.acquire(timeout=60)
    assert reports.acquire(timeout=60)
    observer.close()
    tell(runtime, "traits: { synth.lead: [synth.Duck: { amount: 0.25 }] }")
    assert lead(runtime).gain == 0.75


def test_a_manifest_adds_the_trait_types_of_its_modules(tmp_path: Path) -> None:
    (tmp_path / "synth.py").write_text(
        "import invivo\n"
        "@invivo.component\n"
        "class Voice:\n"
        "    gain: float = invivo.tunable(1.0, min=0, max=8)\n"
        "class Duck(invivo.Trait):\n"
        "    targets = (Voice,)\n"
        "    amount: float = 0.5\n"
        "    def layers(self, layers):\n"
        "        layers.scale('gain', 1 - self.amount)\n"
    )
    text = "traits:\n  synth.lead:\n    - synth.Duck: { amount: 0.25 }\n    - program.Double: {}\n"
    (tmp_path / "spec.yaml").write_text(text)
    (tmp_path / "app.yaml").write_text(
        "modules: { synth: synth.py }\ncomponents:\n  synth.lead: { type: Voice }\nspecs: [spec.yaml]\n"
    )

    class Double(invivo.Trait, name="program.Double"):
        targets = "*"

        def layers(self, layers: invivo.Layers) -> None:
            layers.scale("gain", 2)

    before = traits.declared_traits()
    with invivo.Runtime() as other:
        with invivo.App(tmp_path / "app.yaml") as app:
            assert app.runtime["synth.lead"].gain == 1.5
        # The other runtime does not have it.
        with pytest.raises(invivo.NotFoundError):
            other.remove_trait("synth.Duck")
    assert traits.declared_traits() == before


def test_nothing_keeps_an_object_that_a_trait_has_changed() -> None:
    class Hold(invivo.Trait, name="synth.Hold"):
        targets = Voice

        def apply(self, target: Voice) -> Callable[[], None]:
            target.gain += 1
            return lambda: setattr(target, "gain", target.gain - 1)

    app = invivo.Assembly("synth")
    app.prototype(Voice, "lead")
    with invivo.Runtime(app) as runtime:
        tell(runtime, "traits: { synth.lead: [synth.Hold: {}] }")
        voice = lead(runtime)
        assert voice.gain == 2
        kept = weakref.ref(voice)
        del voice
        gc.collect()
        assert kept() is None


def test_objects_of_other_languages_have_traits_of_python(native: Path) -> None:
    fails = True

    class Loud(invivo.Trait, name="synth.Loud"):
        targets = "Voice"

        def apply(self, target: Any) -> None:
            target.gain = 2.0
            target.note = 7
            if fails:
                raise OSError("no more")

    class Boost(invivo.Trait, name="synth.Boost"):
        targets = "Voice"
        by: int = 1

        def apply(self, target: Any) -> Callable[[Any], None]:
            target.note += self.by
            return lambda target: setattr(target, "note", target.note - self.by)

    class Listen(invivo.Trait, name="synth.Listen"):
        targets = "Voice"

        def apply(self, target: Any) -> Iterator[None]:
            target.note += 10
            yield
            target.note -= 10

    with invivo.Runtime() as runtime:
        runtime.load_module(native)
        runtime.define("Voice", "synth.lead")
        voice = runtime["synth.lead"]
        error = refusal(runtime, "traits: { synth.lead: [synth.Loud: {}] }")
        assert "OSError: no more" in str(error)
        assert (voice.gain, voice.note) == (1, 0)
        fails = False
        tell(runtime, "traits: { synth.lead: [synth.Loud: {}] }")
        assert (voice.gain, voice.note) == (2, 7)
        tell(runtime, "traits: { synth.lead: [synth.Boost: { by: 3 }, synth.Listen: {}] }")
        assert (voice.gain, voice.note) == (1, 13)
        tell(runtime, "traits: { synth.lead: [synth.Boost: { by: 4 }] }")
        assert voice.note == 4
        tell(runtime, "traits: { synth.lead: [synth.Listen: {}] }")
        assert voice.note == 10  # its reversal refers to the object until the runtime closes


def test_a_reversal_repeats(runtime: invivo.Runtime) -> None:
    fails = ["once", "twice"]

    class Late(invivo.Trait, name="t.Late", repeats=True):
        targets = (Voice,)

        def apply(self, target: Voice) -> Callable[[Voice], None]:
            target.gain += 5

            def reverse(target: Voice) -> None:
                if fails:
                    raise RuntimeError(fails.pop())
                target.gain -= 5

            return reverse

    lead = runtime["synth.lead"]
    tuning = runtime.source("tuning.yaml", "traits: { synth.lead: [{ Set: { gain: 2 } }, { t.Late: {} }] }")
    assert lead.gain == 7
    with pytest.raises(invivo.Error, match="twice"):
        tuning.update("traits: {}")
    assert lead.gain == 7
    runtime.configure("x", 1)
    assert lead.gain == 7
    assert not fails
    runtime.configure("x", 2)
    assert lead.gain == 7  # put back, and applied again
    tuning.update("traits: {}")
    assert lead.gain == 1
    tuning.close()
    Late.remove()


def test_only_a_function_repeats() -> None:
    with pytest.raises(
        invivo.ArgumentError, match=r"Layered has repeats=True without apply\(\): layers have no reversal"
    ):

        class Layered(invivo.Trait, name="t.Layered", repeats=True):
            targets = "*"

            def layers(self, layers: invivo.Layers) -> None: ...

    with pytest.raises(invivo.ArgumentError, match=r"Yields has repeats=True, and a generator runs only once"):

        class Yields(invivo.Trait, name="t.Yields", repeats=True):
            targets = "*"

            def apply(self, target: Any) -> Iterator[None]:
                yield


def test_reversals_leave_nothing_in_the_object(runtime: invivo.Runtime) -> None:
    class Louder(invivo.Trait, name="synth.Louder"):
        targets = (Voice,)

        def apply(self, target: Voice) -> None:
            target.gain = target.gain + 1

    class Same(invivo.Trait, name="synth.Same"):
        targets = (Voice,)

        def apply(self, target: Voice) -> Callable[[], None]:
            target.gain = target.gain
            return lambda: delattr(target, "gain")

    voice = Voice()
    before = dict(vars(voice))
    runtime.attach_target(voice, "synth.own")
    tell(runtime, "traits: { synth.own: [synth.Louder: {}, Scale: { gain: 2 }, synth.Louder: {}] }")
    assert voice.gain == 5
    tell(runtime, "traits: { synth.own: [synth.Same: {}] }")
    assert voice.gain == 1
    tell(runtime, "{}")
    assert vars(voice) == before


def test_an_exception_of_the_code_names_its_line(runtime: invivo.Runtime) -> None:
    lead(runtime)

    def define(method: str, body: Callable[..., Any]) -> None:
        members = {"targets": (Voice,), "layers": lambda self, layers: None, method: body}
        if method == "apply":
            del members["layers"]
        types.new_class("T", (invivo.Trait,), {"name": "x.T"}, lambda space: space.update(members))

    def oops(self: Any, *_: Any) -> None:
        raise KeyError("oops")

    line = oops.__code__.co_firstlineno + 1
    text = "traits: { synth.lead: [{ x.T: {} }] }"
    for method in ("check", "layers"):
        define(method, oops)
        error = refusal(runtime, text)
        assert "traits.synth.lead[0]: the trait 'x.T' failed (because " in str(error)
        assert f"test_traits_types.py:{line}: KeyError: 'oops' (in oops))" in str(error)
        assert isinstance(error.__cause__, KeyError)
    define("apply", oops)
    error = refusal(runtime, text)
    assert f"could not be applied (because KeyError: 'oops' (tests/test_traits_types.py:{line}, in oops))" in str(
        error
    ).replace(str(Path(__file__).parent), "tests")
    assert isinstance(error.__cause__, KeyError)

    def refuses(self: Any) -> None:
        raise invivo.Refused("too much")

    define("check", refuses)
    assert "the trait 'x.T' refuses this value (because too much)" in str(refusal(runtime, text))


def test_the_factory_of_an_object_that_fails_names_its_line() -> None:
    class Part:
        def __init__(self, number: int) -> None:
            if number > 1:
                raise KeyError("oops")

    with invivo.Runtime(log_level="silent") as runtime:
        runtime.configure("a.n", 1)
        runtime.define(Part, "a.p", scope="singleton", number=invivo.config("n"))
        with pytest.raises(
            invivo.HostError, match=r"KeyError: 'oops' \(.*test_traits_types.py:\d+, in __init__\)"
        ) as caught:
            runtime.configure("a.n", 2)
        assert "configured by" in str(caught.value)
        assert isinstance(caught.value.__cause__, KeyError)


def test_layers_and_check_return_nothing_else(runtime: invivo.Runtime) -> None:
    lead(runtime)

    class Wrong(invivo.Trait, name="x.Wrong"):
        targets = (Voice,)
        gives: str = "layers"

        def check(self) -> Any:
            return "too much" if self.gives == "check" else None

        def layers(self, layers: invivo.Layers) -> Any:
            if self.gives == "factor":
                layers.scale("gain", "50 %")  # type: ignore[arg-type]
            return {"gain": 2}

    for gives, said in (
        ("layers", "Wrong.layers returned {'gain': 2}; expected None: it declares layers by calls"),
        ("check", "the check returned 'too much'; expected None or True"),
        ("factor", "the factor of a layer is a number such as 0.5, not '50 %'"),
    ):
        error = refusal(runtime, f"traits: {{ synth.lead: [{{ x.Wrong: {{ gives: {gives} }} }}] }}")
        assert "the trait 'x.Wrong' failed (because " in str(error)
        assert said in str(error)


class Dial:
    level: float = invivo.tunable(0.0)
    sets: ClassVar[queue.SimpleQueue[tuple[float, int]]]

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "level":
            Dial.sets.put((value, threading.get_ident()))


def dial_threads(value: float) -> set[int]:
    """Returns the threads that have set the level, up to this value."""
    threads = set()
    while True:
        level, thread = Dial.sets.get(timeout=60)
        threads.add(thread)
        if level == value:
            return threads


RAMP = "traits: { a.dial: [{ Ramp: { to: { level: 1 }, over: 0.02 } }] }"


def test_steps_of_a_ramp_run_on_a_thread_of_the_runtime() -> None:
    Dial.sets = queue.SimpleQueue()
    with invivo.Runtime(ramp_tick=0.001) as runtime:
        runtime.define(Dial, "a.dial", "singleton")
        assert runtime[Dial].level == 0
        tell(runtime, RAMP)
        (thread,) = dial_threads(1)
        assert thread != threading.get_ident()
        # A commit sets attributes on its own thread.
        tell(runtime, "traits: {}")
        assert dial_threads(0) == {threading.get_ident()}


def test_manual_steps_of_a_ramp_run_on_the_thread_of_the_call() -> None:
    Dial.sets = queue.SimpleQueue()
    with invivo.Runtime(ramp_tick="manual") as runtime:
        runtime.define(Dial, "a.dial", "singleton")
        assert runtime[Dial].level == 0
        tell(runtime, RAMP)
        for _ in range(4):
            runtime.advance(0.005)
        assert dial_threads(1) == {threading.get_ident()}


def test_objects_of_a_shared_class_do_not_move() -> None:
    Dial.sets = queue.SimpleQueue()

    @invivo.shared
    class Shared(Dial):
        pass

    with invivo.Runtime() as runtime:
        runtime.define(Shared, "a.dial", "singleton")
        assert runtime[Shared].level == 0
        assert "Shared is a shared type: its instances are never changed in place" in str(refusal(runtime, RAMP))
        assert Dial.sets.empty()


@pytest.mark.parametrize("is_resolved", [False, True])
def test_an_attached_object_has_its_values_again_when_the_runtime_closes(is_resolved: bool) -> None:
    class Dial:
        level: int = invivo.tunable(1)
        meters = 0

    class Meter(invivo.Trait, name="t.Meter"):
        targets = (Dial,)

        def apply(self, target: Dial) -> Iterator[None]:
            target.meters += 1
            yield
            target.meters -= 1

    assembly = invivo.Assembly("desk")
    assembly.prototype(Dial, "dial")
    runtime = invivo.Runtime(assembly)
    dial: Dial = runtime["desk.dial"] if is_resolved else Dial()
    other = runtime["desk.dial"]
    runtime.attach_target(dial, "desk.own")
    runtime.source("t.yaml", "traits: { desk.own: [{ Set: { level: 5 } }, { t.Meter: {} }, { Set: { level: 6 } }] }")
    assert (dial.level, dial.meters) == (6, 1)
    runtime.close()
    assert (dial.level, dial.meters) == (1, 0)
    assert "level" not in vars(dial)
    assert other.level == 1


def test_a_context_manager_is_no_application(runtime: invivo.Runtime) -> None:
    with pytest.raises(invivo.ArgumentError, match=r"Meter has a context manager as apply\(\), which nothing enters"):

        class Meter(invivo.Trait, name="t.Meter"):
            targets = ("*",)

            @contextlib.contextmanager
            def apply(self, target: Any) -> Iterator[None]:
                yield

    class Within(invivo.Trait, name="t.Within"):
        targets = ("*",)

        def apply(self, target: Any) -> Any:
            return contextlib.suppress(ValueError)

    with pytest.raises(invivo.Error, match=r"t.Within.apply returned a context manager, which nothing enters"):
        runtime.source("t.yaml", "traits: { synth.lead: [{ t.Within: {} }] }")
        runtime["synth.lead"]


def test_a_refusal_that_names_no_field_states_it(runtime: invivo.Runtime) -> None:
    class Strict(invivo.Trait, name="t.Strict"):
        targets = ("*",)
        amount = invivo.tunable(0.5)

        def check(self) -> None:
            if self.amount > 1:
                raise invivo.Refused("too much", input="amont")

        def layers(self, layers: invivo.Layers) -> None:
            layers.set("gain", self.amount)

    runtime.source("t.yaml", "traits: { synth.lead: [{ t.Strict: { amount: 0.25 } }] }")
    assert runtime["synth.lead"].gain == 0.25  # a tunable without an annotation is a field, of the kind of its value
    with pytest.raises(
        invivo.Error, match=r"too much \(it names the input 'amont', and t.Strict has no such field; did"
    ):
        runtime.source("u.yaml", "traits: { synth.lead: [{ t.Strict: { amount: 2 } }] }")


@pytest.mark.parametrize("refusing", ["level", "count"])
@pytest.mark.parametrize("edit", ["{ t.Assign: { to: 45 } }", "{ Set: { gain: 2 } }, { t.Assign: { to: 44 } }", ""])
def test_an_attribute_that_refuses_its_value_once_has_it_after_a_later_commit(refusing: str, edit: str) -> None:
    refused: list[str] = []

    class Dial:
        gain: float = invivo.tunable(1.0)
        level: int = invivo.tunable(10)
        count: int = 0

        def __setattr__(self, name: str, value: Any) -> None:
            if name in refused:
                refused.remove(name)
                raise RuntimeError(f"{name} is locked")
            object.__setattr__(self, name, value)

    class Assign(invivo.Trait, name="t.Assign"):
        targets = (Dial,)
        to: int = 1

        def apply(self, target: Dial) -> None:
            target.level = target.count = self.to

    assembly = invivo.Assembly("desk")
    assembly.lazy_singleton(Dial)
    with invivo.Runtime(assembly) as runtime:
        dial = runtime[Dial]
        document = runtime.source("t.yaml", "traits: { desk.dial: [{ t.Assign: { to: 44 } }] }")
        refused.append(refusing)
        with pytest.raises(invivo.Error, match=f"{refusing} is locked"):
            document.update(f"traits: {{ desk.dial: [{edit}] }}")
        assert runtime.status.unrestored
        runtime.configure("desk.other", 1)  # any later commit
        assert not runtime.status.unrestored
        assert (dial.level, dial.count) == (44, 44)
        document.update("{}")
        assert (dial.level, dial.count, dial.gain) == (10, 0, 1.0)


def test_an_attribute_that_refuses_its_value_after_a_failed_application_has_it_later() -> None:
    class Dial:
        gain: float = invivo.tunable(1.0)
        level: int = 10
        count: int = 0
        is_locked: ClassVar[bool] = False

        def __setattr__(self, name: str, value: Any) -> None:
            if self.is_locked and name == "count":
                raise RuntimeError(f"{name} is locked")
            object.__setattr__(self, name, value)

    class Assign(invivo.Trait, name="t.Assign"):
        targets = (Dial,)
        fails: bool

        def apply(self, target: Dial) -> None:
            target.count = target.level = 44
            if self.fails:
                Dial.is_locked = True
                raise OSError("no more")

    assembly = invivo.Assembly("desk")
    assembly.lazy_singleton(Dial)
    with invivo.Runtime(assembly, log_level="silent") as runtime:
        dial = runtime[Dial]
        before = dict(vars(dial))
        document = runtime.source("t.yaml", "{}")
        with pytest.raises(invivo.Error) as caught:
            document.update("traits: { desk.dial: [{ Set: { gain: 3 } }, { t.Assign: { fails: true } }] }")
        assert isinstance(caught.value.__cause__, OSError)
        assert "'t.Assign' could not be applied (because OSError: no more" in str(caught.value.errors[0])
        assert "'t.Assign' could not be reversed (because RuntimeError: count is locked" in str(caught.value.errors[1])
        assert (dial.level, dial.count) == (10, 44)
        runtime.configure("desk.other", 1)
        assert runtime.status.unrestored == ("desk.dial",)
        assert dial.count == 44
        Dial.is_locked = False
        runtime.configure("desk.other", 2)
        assert not runtime.status.unrestored
        assert vars(dial) == before
        document.update("traits: { desk.dial: [{ Set: { gain: 3 } }, { t.Assign: { fails: false } }] }")
        assert (dial.gain, dial.level, dial.count) == (3, 44, 44)
        document.update("{}")
        assert vars(dial) == before


def test_an_attribute_that_cannot_be_read_any_more_is_put_back() -> None:
    class Dial:
        is_open = True

        @property
        def level(self) -> int:
            if not self.is_open:
                raise OSError("closed")
            return self._level

        @level.setter
        def level(self, value: int) -> None:
            self._level, self.is_open = value, True

        def __init__(self) -> None:
            self.level = 10

    class Closes(invivo.Trait, name="t.Closes"):
        targets = (Dial,)
        fails: bool

        def apply(self, target: Dial) -> None:
            target.is_open = False
            if self.fails:
                raise KeyError("no more")

    with invivo.Runtime(log_level="silent") as runtime:
        dial = Dial()
        runtime.attach_target(dial, "desk.dial")
        with pytest.raises(invivo.Error, match="no more"):
            tell(runtime, "traits: { desk.dial: [{ t.Closes: { fails: true } }] }")
        assert dial.level == 10
        tell(runtime, "traits: { desk.dial: [{ t.Closes: { fails: false } }] }")
        assert not dial.is_open
        tell(runtime, "{}")
        assert dial.level == 10


def test_an_object_with_a_reversal_can_be_copied(runtime: invivo.Runtime) -> None:
    class Note(invivo.Trait, name="t.Note"):
        targets = (Voice,)

        def apply(self, target: Voice) -> Iterator[None]:
            target.note = "d"
            yield
            target.note = "c"

    tell(runtime, "traits: { synth.lead: [{ t.Note: {} }] }")
    voice = lead(runtime)
    for other in (copy.copy(voice), copy.deepcopy(voice), pickle.loads(pickle.dumps(voice))):
        assert other.note == "d"
    tell(runtime, "{}")
    assert voice.note == "c"


class Range(TypedDict):
    low: int


def test_a_typed_dictionary_is_a_field_and_a_tunable(runtime: invivo.Runtime) -> None:
    class Panel:
        span: Range = invivo.tunable(Range(low=1))
        spans: list[Range] = invivo.tunable([])

    class Wide(invivo.Trait, name="t.Wide"):
        targets = (Panel,)
        span: Range
        spans: list[Range] = []  # noqa: RUF012

        def apply(self, target: Panel) -> None:
            target.span, target.spans = self.span, self.spans

    panel = Panel()
    runtime.attach_target(panel, "a.panel")
    tell(runtime, "traits: { a.panel: [t.Wide: { span: { low: 2 }, spans: [{ low: 3 }] }] }")
    assert (panel.span, panel.spans) == ({"low": 2}, [{"low": 3}])
    tell(runtime, "traits: { a.panel: [Set: { span: { low: 4 }, spans: [{ low: 5 }] }] }")
    assert (panel.span, panel.spans) == ({"low": 4}, [{"low": 5}])
    for values in ("t.Wide: { span: { lwo: 2 } }", "Set: { span: { lwo: 2 } }", "Set: { spans: [{ lwo: 2 }] }"):
        assert "Range has no field 'lwo'; did you mean 'low'?" in str(
            refusal(runtime, f"traits: {{ a.panel: [{values}] }}")
        )


class Noted(Voice):
    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


@dataclasses.dataclass(frozen=True)
class Frozen:
    gain: float = 1.0


class Guarded:
    """Has no `__dict__` for others."""

    gain: float = 1.0

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise TypeError("it never changes")


def model() -> type:
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        model_config: ClassVar[dict[str, Any]] = {"extra": "forbid", "frozen": True}
        gain: float = 1.0

    return Model


class Listen(invivo.Trait, name="t.Listen", everywhere=False):
    targets = ("*",)

    def apply(self, target: Any) -> Callable[[], Any]:
        return lambda: target  # a cycle


@pytest.mark.parametrize("find", [lambda: Noted, lambda: Frozen, lambda: Guarded, model])
def test_an_object_does_not_show_its_reversals(find: Callable[[], type]) -> None:
    kind = find()
    with invivo.Runtime() as runtime:
        runtime.add_trait(Listen)
        target = kind()
        runtime.attach_target(target, "a.target")
        document = runtime.source("t.yaml", "traits: { a.target: [t.Listen: {}] }")
        assert (target == kind()) == (kind is not Guarded)
        if kind is not Guarded:
            assert json.dumps(vars(target)) == json.dumps(vars(kind()))
            assert repr(vars(target)) == repr(vars(kind()))
            for other in (copy.copy(target), copy.deepcopy(target)):
                assert type(vars(other)) is dict
        if hasattr(kind, "model_validate"):
            assert kind(**vars(target)) == target
        document.update("{}")
        assert type(object.__getattribute__(target, "__dict__")) is dict
        document.update("traits: { a.target: [t.Listen: {}] }")
        ended = weakref.ref(target)
        del target
        gc.collect()
        assert ended() is None


def test_objects_that_share_their_attributes_go_on_sharing_them() -> None:
    class Shares:
        state: ClassVar[dict[str, Any]] = {}
        gain: float = 1.0

        def __init__(self) -> None:
            self.__dict__ = self.state

    with invivo.Runtime() as runtime:
        runtime.add_trait(Listen)
        target, other = Shares(), Shares()
        runtime.attach_target(target, "a.target")
        document = runtime.source("t.yaml", "traits: { a.target: [t.Listen: {}] }")
        assert vars(target) is vars(other)
        other.gain = 3
        document.update("{}")
        assert vars(target) is vars(other)
        assert vars(target) == {"gain": 3}


def test_an_attached_object_stays_attached_if_a_close_is_refused(runtime: invivo.Runtime) -> None:
    voice = Voice()
    runtime.attach_target(voice, "synth.own")
    with runtime.view(), pytest.raises(invivo.BusyError):
        runtime.close()
    tell(runtime, "traits: { synth.own: [Set: { gain: 3 }] }")
    assert voice.gain == 3
    runtime.close()
    assert voice.gain == 1


def louder(name: str) -> type[invivo.Trait]:
    class Louder(invivo.Trait, name=name):
        targets = (Voice,)

        def layers(self, layers: invivo.Layers) -> None:
            layers.scale("gain", 2)

    return Louder


def test_a_runtime_whose_close_is_refused_has_the_types_that_changed_meanwhile(
    runtime: invivo.Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = next(iter(sessions.values()))
    assert isinstance(core, Core)
    close_owned = core._close_owned
    removed = louder("t.Removed")
    defined = []

    def refuse() -> None:
        def call(function: str, *arguments: Any) -> None:
            raise invivo.ClosedError(function)

        with monkeypatch.context() as closing:
            closing.setattr(core.library, "call", call)
            defined.append(louder("t.Added"))
            louder("t.Both").remove()
            removed.remove()
        raise invivo.BusyError("a view is open")

    monkeypatch.setattr(core, "_close_owned", refuse)
    with pytest.raises(invivo.BusyError):
        runtime.close()
    monkeypatch.setattr(core, "_close_owned", close_owned)
    tell(runtime, "traits: { synth.lead: [t.Added: {}] }")
    assert lead(runtime).gain == 2
    for name in ("t.Both", "t.Removed"):
        with pytest.raises(invivo.NotFoundError):
            runtime.remove_trait(name)
    defined[0].remove()
    assert lead(runtime).gain == 1


def test_a_class_that_is_defined_when_a_close_was_refused_is_a_type(runtime: invivo.Runtime) -> None:
    """The other thread notes only now that the runtime was closing."""
    core = next(iter(sessions.values()))
    assert isinstance(core, Core)
    with runtime.view(), pytest.raises(invivo.BusyError):
        runtime.close()
    added = louder("t.Added")
    added.remove()
    traits._declared["t.Added"] = trait_type_of(added)
    core.miss("t.Added", functools.partial(traits._catch_up, core, "t.Added"))
    tell(runtime, "traits: { synth.lead: [t.Added: {}] }")
    assert lead(runtime).gain == 2
    added.remove()


def test_a_class_is_defined_while_other_threads_close_runtimes() -> None:
    over = threading.Event()

    def open_and_close() -> None:
        while not over.is_set():
            with invivo.Runtime(invivo.Assembly("other"), log=None):
                pass

    others = [threading.Thread(target=open_and_close) for _ in range(2)]
    for other in others:
        other.start()
    try:
        for number in range(200):

            class Louder(invivo.Trait, name=f"t.Louder{number}"):
                targets = (Voice,)

                def layers(self, layers: invivo.Layers) -> None:
                    layers.scale("gain", 2)

            Louder.remove()
    finally:
        over.set()
        for other in others:
            other.join()
