"""The end of contexts, and of the blocks that end them."""

from __future__ import annotations

import builtins
import ctypes
from typing import Any, Literal, Protocol, TypeAlias

from .. import _generated as c
from .._native import strings, uncaught
from .._native.failures import describe
from .._state.core import Core
from .._values import conversion
from ..errors import ArgumentError, Error
from .context_blocks import Block
from .settings import limit

Children: TypeAlias = Literal["end", "refuse"]
_Group: Any = getattr(builtins, "ExceptionGroup", None)  # since Python 3.11


class Ending(Protocol):
    """A context."""

    _core: Core
    _handle: c.invivo_context
    _block: Block | None
    _holds: bool
    _is_over: bool
    _errors: list[Error]
    _leased: list[str]

    @property
    def ended(self) -> bool: ...
    @property
    def end_errors(self) -> list[Error]: ...


def end(
    context: Ending, raised: BaseException | None, timeout: float | None = None, children: Children = "end"
) -> None:
    """Ends a context. ``raised``: the error that ended its block, for the stops of its objects."""
    core = context._core
    if children not in ("end", "refuse"):
        raise ArgumentError(f"children= is 'end' or 'refuse', not {children!r}")
    if core.closed:
        context._is_over, context._holds = True, False
        return
    ending = c.invivo_context_ending()
    ending.struct_size = ctypes.sizeof(ending)
    ending.timeout_ms = 0 if timeout is None else max(1, limit(timeout))
    ending.flags = c.INVIVO_END_REFUSES_CHILDREN if children == "refuse" else 0
    failures, bits = core.contexts.failures, context._handle.bits
    if raised is not None:
        ending.failure = (raised.code if isinstance(raised, Error) else 0) or c.INVIVO_E_HOST
        ending.failure_message = strings.encode(describe(raised)).replace(b"\0", b"")
        failures[bits] = raised
    try:
        leased = conversion.ask(core, "context_end_with", context._handle, ctypes.byref(ending))
        if leased:
            context._leased = leased
    except Error as problem:
        if not context.ended:
            raise
        context._errors = problem.errors
        if len(problem.errors) == 1 or _Group is None:
            raise
        raise _Group("the end of the context has several errors", problem.errors) from None
    finally:
        if raised is not None:
            failures.pop(bits, None)
        if context.ended:
            context._holds = False


def leave(context: Ending, raised: BaseException | None) -> None:
    """Leaves the block that ends a context, and ends it. ``raised``: the error that ended the block."""
    block = context._block
    if block is not None:
        if not block.is_here():
            uncaught.warn(f"the block of {context!r} ends its context: {block.elsewhere()}")
        block.leave()
    # A forked child leaves the context of its parent alone. Errors of an end inside of the block were raised there.
    if not context._core.is_parents and not context.end_errors:
        try:
            end(context, raised)
        except Exception as problem:
            if raised is None or not (context.end_errors or isinstance(problem, Error)):
                raise
            if hasattr(raised, "add_note"):
                for each in context.end_errors or (problem,):
                    raised.add_note(f"the end of the context failed: {each}")
    context._block = None
