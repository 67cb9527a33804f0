"""Contexts when the handler of a signal raises: nothing is left open, entered or leased."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
from test_signals import Alarm, Interruption

import invivo
from invivo import Context, Runtime
from invivo._native import signals
from invivo._services.context_blocks import Entering


class Pump:
    """It is stopped, so what Python holds of it has a lease."""

    @invivo.on_stop
    def stop(self) -> None: ...


def _in_block(runtime: Runtime) -> None:
    with runtime.context(pump=Pump(), text="text") as context:
        assert context["pump"]
        with runtime.context():
            pass


def _entered(runtime: Runtime) -> None:
    context = runtime.context(parent=None)
    with context.entered():
        pass
    context.end()


KEPT: list[Context] = []

OPERATIONS: dict[str, Callable[[Runtime], Any]] = {
    "block": _in_block,
    "entered": _entered,
    "get": lambda runtime: KEPT[0]["text"],
    "get object": lambda runtime: KEPT[0]["pump"],
    "contains": lambda runtime: "text" in KEPT[0],
    "set": lambda runtime: KEPT[0].update({"a": Pump(), "b": "text"}),
    "entries": lambda runtime: KEPT[0].entries(),
    "object": lambda runtime: KEPT[0].object,
    "attach": lambda runtime: KEPT[0].attach(Pump()),
    "observe": lambda runtime: KEPT[0].observe("a", print).close(),
}
LONG = ("block", "entered", "set", "entries", "object", "attach", "observe")  # of these, each 17th instruction


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_of_contexts_is_left_wherever_an_exception_comes(name: str) -> None:
    # The interpreter drops an exception in a finalizer, which then has not run to its end.
    interruption = Interruption(_is_spared)
    runtime = Runtime(log_level="silent")
    KEPT[:] = [runtime.context(pump=Pump(), text="text", object=Pump())]
    OPERATIONS[name](runtime)
    gc.collect()
    before = invivo.live().contexts
    while interruption.is_reached:
        interruption.during(lambda: OPERATIONS[name](runtime), 17 if name in LONG else 2, (Alarm, invivo.Error))
        signals._effective = None  # it has a traceback, which refers to the context
        gc.collect()
        assert runtime.current_context is None, f"a context is entered after an exception in {interruption.place}"
        assert invivo.live().contexts == before, f"a context is open after an exception in {interruption.place}"
        assert runtime.info.leases <= len(runtime._core.leases) + 3, f"a lease is lost: {interruption.place}"
    KEPT[0].end()
    KEPT.clear()
    runtime.close()
    assert interruption.at > 20


# The lines of the blocks' ends before their `try`: no handler runs between the entry and that.
EXITS = {
    each.__code__: each.__code__.co_firstlineno + lines
    for each, lines in ((Context.__exit__, 1), (Entering.__exit__, 2))
}


def _is_spared(frame: Any) -> bool:
    if frame.f_code in EXITS and frame.f_lineno <= EXITS[frame.f_code]:
        return True
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False
