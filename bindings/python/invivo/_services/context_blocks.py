"""The blocks in which a context is the current one of a thread or task."""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from typing import Any, Generic, Protocol, TypeVar

from .._native.current_context import Blocks, get_blocks, set_blocks
from .._state.core import Core
from ..errors import StaleError


class Enterable(Protocol):
    """A context."""

    _core: Core
    _handle: Any
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

    @property
    def core(self) -> Core:
        return self.context._core

    @property
    def bits(self) -> int:
        return int(self.context._handle.bits)

    @property
    def is_over(self) -> bool:
        return self.context._is_over

    @property
    def has_ended(self) -> bool:
        return self.context.ended

    def note_end(self) -> None:
        self.context._is_over = True

    def enter(self) -> None:
        set_blocks((self, get_blocks()))

    def leave(self) -> None:
        """Leaves the block.

        A caller that is another thread or task than the one that entered it keeps its current context: it may have
        begun in the block.
        """
        if self.is_here():
            blocks = get_blocks()
            left = _without(blocks, self)
            if left is not blocks:
                set_blocks(left)

    def is_here(self) -> bool:
        """Whether the caller is the thread and the task that entered the block."""
        task = None if self._task is None else self._task()
        return self._thread == threading.get_ident() and task is _task()

    def elsewhere(self) -> str:
        """Describes the task or thread that entered the block, and the calling one."""
        former = "a task that is gone" if self._task is not None else f"the thread {self._thread}"
        task = None if self._task is None else self._task()
        if task is not None:
            former = f"the task {task.get_name()!r}"
        own = _task()
        here = f"the thread {threading.get_ident()}" if own is None else f"the task {own.get_name()!r}"
        return f"it was entered in {former} and left in {here}"


def _without(blocks: Blocks | None, block: Block) -> Blocks | None:
    """Returns the blocks without one; the same tuple if it is not among them."""
    inside: list[Any] = []
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
