"""Rules: functions of values that each generation satisfies."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

import invivo


def configured(runtime: invivo.Runtime, text: str, name: str = "a.yaml") -> None:
    with runtime.changes() as changes:
        changes.document(name, text)


def test_an_edit_that_breaks_a_rule_is_refused_at_the_line_of_the_value() -> None:
    with invivo.Runtime() as runtime:
        configured(runtime, "config:\n  band: { low: 1, high: 10 }\n")
        threads = []

        @runtime.rule("band.low", "band.high")
        def low_is_below_high(low: float, high: float) -> bool:
            threads.append(threading.get_ident())
            return low < high

        assert low_is_below_high(1, 2)  # the function stays as it is
        with pytest.raises(invivo.HostError) as caught:
            configured(runtime, "config:\n  band:\n    low: 20\n    high: 10\n")
        name = f"{__name__}.test_an_edit_that_breaks_a_rule_is_refused_at_the_line_of_the_value.low_is_below_high"
        assert str(caught.value) == (
            f"a.yaml:3:10: band.low: the rule '{name}' refuses this value (because the rule does not hold)"
        )
        assert runtime.config("band.low") == 1
        configured(runtime, "config:\n  band: { low: 2, high: 10 }\n")
        assert runtime.config("band.low") == 2
        assert threading.get_ident() not in threads[:1] + threads[2:]
        runtime.remove_rule(name)
        configured(runtime, "config:\n  band: { low: 20, high: 10 }\n")
        with pytest.raises(invivo.NotFoundError):
            runtime.remove_rule(name)


def test_an_exception_refuses_and_names_an_input() -> None:
    with invivo.Runtime() as runtime:
        configured(runtime, "config:\n  band: { low: 1, high: 10 }\n")

        def check(low: Any, high: Any, other: Any) -> None:
            assert other is None
            if low == 5:
                raise KeyError("five")
            if low >= high:
                raise invivo.Refused("too low", input="band.high")
            if low < 0:
                raise invivo.Refused("negative", input=0)

        runtime.add_rule("ordered", ["band.low", "band.high", "band.other"], check)
        with pytest.raises(
            invivo.HostError,
            match=r"b.yaml:1:24: band.low: .* failed .*test_rules.py:\d+: KeyError: 'five' \(in check\)",
        ):
            configured(runtime, "config: { band: { low: 5 } }", "b.yaml")
        with pytest.raises(invivo.HostError, match=r"a.yaml:2:25: band.high: .* .because too low"):
            configured(runtime, "config: { band: { low: 11 } }", "b.yaml")
        with pytest.raises(invivo.HostError, match=r"b.yaml:1:24: band.low: .* .because negative"):
            configured(runtime, "config: { band: { low: -1 } }", "b.yaml")
        # Another rule with the same name replaces it, and must be satisfied.
        with pytest.raises(invivo.HostError):
            runtime.add_rule("ordered", ["band.low"], lambda low: False)
        runtime.add_rule("ordered", ["band.low"], lambda low: low < 100)
        configured(runtime, "config: { band: { low: -1 } }", "b.yaml")


def test_two_rules_of_the_same_function_name_are_two_rules() -> None:
    def one() -> Any:
        def check(n: Any) -> bool:
            return bool(n != 1)

        return check

    def other() -> Any:
        def check(n: Any) -> bool:
            return bool(n != 2)

        return check

    with invivo.Runtime() as runtime:
        runtime.rule("a.n")(one())
        runtime.rule("a.n")(other())
        for number in (1, 2):
            with pytest.raises(invivo.HostError, match=r"the rule '.*\.(one|other)\.check' refuses"):
                configured(runtime, f"config: {{ a: {{ n: {number} }} }}")


def test_the_decorator_of_a_rule_needs_inputs() -> None:
    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.ArgumentError, match=r"gets its inputs, as in @runtime.rule\(\"band.low\""):

            @runtime.rule  # type: ignore[arg-type]
            def low(n: Any) -> bool:
                return False

        with pytest.raises(invivo.ArgumentError, match="a rule has inputs"):
            runtime.rule()


def test_a_rule_returns_nothing_or_a_boolean() -> None:
    for answer in ("too low", 1, 0, [], ""):
        with invivo.Runtime() as runtime, pytest.raises(invivo.HostError) as caught:
            runtime.add_rule("says", ["a.n"], lambda n, answer=answer: answer)
        assert "the rule 'says' failed (because " in str(caught.value)
        assert f"the rule returned {answer!r}; expected None or True to accept" in str(caught.value)
        assert "test_rules.py:" in str(caught.value)

    class bool_:  # noqa: N801  # as numpy has it
        def __init__(self, holds: bool) -> None:
            self.holds = holds

        def __bool__(self) -> bool:
            return self.holds

    with invivo.Runtime() as runtime:
        runtime.add_rule("holds", ["a.n"], lambda n: bool_(True))
        with pytest.raises(invivo.HostError, match="the rule does not hold"):
            runtime.add_rule("does not hold", ["a.n"], lambda n: bool_(False))


class Voice:
    gain: float = invivo.tunable(1, min=0, max=200)
    cutoff: float = invivo.tunable(800, min=20, max=20000)


def test_tunables_are_inputs() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Voice)
    with invivo.Runtime(app) as runtime:
        seen: list[tuple[Any, ...]] = []

        @runtime.rule("app.voice.gain", "app.voice.cutoff", name="gain")
        def check(*values: Any) -> bool:
            seen.append(values)
            return values[0] is None or values[0] < 100

        configured(runtime, "traits:\n  app.voice:\n    - Set: { gain: 5 }\n")
        with pytest.raises(invivo.HostError, match=r"a.yaml:3:20: app.voice.gain: the rule 'gain'"):
            configured(runtime, "traits:\n  app.voice:\n    - Set: { gain: 150 }\n")
        assert seen[1][0] == 5


def test_a_set_has_its_rules_with_its_values() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.configure("low", 1)
            changes.add_rule("low", ["low"], lambda low: low == 1)
        with pytest.raises(invivo.HostError), runtime.changes() as changes:
            changes.configure("low", 2)
        with runtime.changes() as changes:
            changes.configure("low", 2)
            changes.remove_rule("low")
        with pytest.raises(invivo.ArityError):
            runtime.add_rule("low", ["low"], lambda: True)
        with pytest.raises(invivo.ArgumentError):
            runtime.add_rule("low", "low", lambda low: True)
        with pytest.raises(invivo.ArgumentError):
            runtime.add_rule("low", [], lambda: True)


def test_the_check_of_an_application_runs_the_rules_of_its_modules(tmp_path: Path) -> None:
    (tmp_path / "limits.py").write_text(
        "def register(runtime):\n"
        "    runtime.add_rule('low < high', ['low', 'high'], lambda low, high: low is None or low < high)\n"
    )
    (tmp_path / "spec.yaml").write_text("config:\n  low: 3\n  high: 2\n")
    (tmp_path / "app.yaml").write_text("modules: { limits: limits.py }\nspecs: [spec.yaml]\n")
    with pytest.raises(invivo.HostError, match=r"spec.yaml:2:8: low: the rule 'low < high' refuses this value"):
        invivo.App.check(tmp_path / "app.yaml")
    (tmp_path / "spec.yaml").write_text("config:\n  low: 1\n  high: 2\n")
    invivo.App.check(tmp_path / "app.yaml")


def test_a_rule_must_not_call_its_runtime() -> None:
    with invivo.Runtime() as runtime, pytest.raises(invivo.HostError, match="must not call its runtime"):
        runtime.add_rule("calls", ["low"], lambda low: runtime.config("low"))


def test_a_rule_that_does_not_return_is_given_up_and_leaks_nothing() -> None:
    class Gate:
        def __init__(self) -> None:
            self.entered, self.open = threading.Event(), threading.Event()

        def __call__(self, low: Any) -> bool:
            if low == 99:
                self.entered.set()
                assert self.open.wait(60)
            return True

    gate = Gate()
    kept = weakref.ref(gate)
    entered, opened = gate.entered, gate.open
    with invivo.Runtime(rule_timeout=0.05, log_level="silent") as runtime:
        runtime.add_rule("gate", ["low"], gate)
        del gate
        with pytest.raises(invivo.DeadlineError, match="the rule 'gate' has not answered"):
            configured(runtime, "config: { low: 99 }")
        assert entered.wait(60)
        with pytest.raises(invivo.DeadlineError, match="still running"):
            configured(runtime, "config: { low: 2 }")
        configured(runtime, "config: { other: 2 }", "b.yaml")
        assert runtime.config("other") == 2
        opened.set()
        limit = time.monotonic() + 60
        while True:  # until the thread has returned
            try:
                configured(runtime, "config: { low: 2 }")
                break
            except invivo.DeadlineError:
                assert time.monotonic() < limit
    gc.collect()
    assert kept() is None


def test_an_asynchronous_rule_is_refused():
    async def check(rate: object) -> bool:
        return True

    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.ArgumentError, match="a rule must return its answer at once") as caught:
            runtime.add_rule("rate", ["audio.rate"], check)
        assert "call_soon_threadsafe" not in str(caught.value)
