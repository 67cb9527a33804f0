"""The blocks in which a context is the current one of a thread or task."""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from contextvars import ContextVar
from typing import Any, Generic, Protocol, TypeVar

from .._state.core import Core
from ..errors import StaleError


class Enterable(Protocol):
    """A context."""

    _core: Core
    _is_over: bool  # whether Python knows that it has ended

    @property
    def ended(self) -> bool: ...


C = TypeVar("C", bound=Enterable)


class Block:
    """A block in which a context is the current one."""

    __slots__ = ("_task", "_thread", "context")

    def __init__(self, context: Enterable) -> None:
        self.context = context
        self._thread = threading.get_ident()
        task = _task()
        self._task = None if task is None else weakref.ref(task)

    def enter(self) -> None:
        _blocks.set((self, _blocks.get()))

    def leave(self) -> None:
        """Leaves the block.

        A caller that is another thread or task than the one that entered it keeps its current context: it may have
        begun in the block.
        """
        if self.is_here():
            blocks = _blocks.get()
            left = _without(blocks, self)
            if left is not blocks:
                _blocks.set(left)

    def is_here(self) -> bool:
        """Whether the caller is the thread and the task that entered the block."""
        task = None if self._task is None else self._task()
        return self._thread == threading.get_ident() and task is _task()


# The blocks that a thread or task has entered, the innermost first. A task inherits those of its creator.
_Blocks = tuple[Block, Any]
_blocks: ContextVar[_Blocks | None] = ContextVar("invivo.context", default=None)


def _without(blocks: _Blocks | None, block: Block) -> _Blocks | None:
    """Returns the blocks without one; the same tuple if it is not among them."""
    inside: list[Block] = []
    left = blocks
    while left is not None and left[0] is not block:
        inside.append(left[0])
        left = left[1]
    if left is None:
        return blocks
    left = left[1]
    for each in reversed(inside):
        left = (each, left)
    return left


def _task() -> Any:
    """Returns the asyncio task that runs; None if there is none."""
    events = sys.modules.get("asyncio.events")
    loop = None if events is None else events._get_running_loop()
    return None if loop is None else sys.modules["asyncio.tasks"].current_task(loop)


def innermost(core: Core, *, is_checked: bool) -> Any:
    """Returns the innermost context of a runtime that the caller has entered, or None.

    ``is_checked``: the library is asked whether it has ended.
    """
    blocks = _blocks.get()
    while blocks is not None:
        context = blocks[0].context
        if context._core is core and not (context.ended if is_checked else context._is_over):
            return context
        blocks = blocks[1]
    return None


class Entering(Generic[C]):
    """A ``with`` block in which a context is the current one. It may be entered several times, on several threads."""

    def __init__(self, context: C) -> None:
        self._context = context
        self._blocks: list[Block] = []

    def __enter__(self) -> C:
        context = self._context
        if context.ended:
            raise StaleError("the context has ended")
        block = Block(context)
        self._blocks.append(block)
        try:
            block.enter()
            return context
        except BaseException:
            self._leave(block)
            raise

    def __exit__(self, *_: object) -> None:
        block = None
        try:
            block = self._entered_here()
            self._leave(block)
        except BaseException:  # a signal handler may have raised in the block above: its steps can be repeated
            self._leave(self._entered_here() if block is None else block)
            raise

    def _entered_here(self) -> Block | None:
        """Returns the innermost block that this thread and task have entered."""
        return next((each for each in reversed(self._blocks) if each.is_here()), None)

    def _leave(self, block: Block | None) -> None:
        """Leaves a block. None: another thread or task leaves it than the one that entered it."""
        if block is not None:
            block.leave()
            with contextlib.suppress(ValueError):
                self._blocks.remove(block)
        elif self._blocks:
            self._blocks.pop()
