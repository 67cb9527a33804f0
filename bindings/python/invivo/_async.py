"""Resolving without waiting: for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import _generated as c
from . import _trampolines, _values
from .errors import Error, UnsupportedError

if TYPE_CHECKING:
    from ._core import Core


class Waiting:
    """Somebody who awaits an object."""

    def __init__(self, core: Core, loop: asyncio.AbstractEventLoop) -> None:
        self.core, self.loop = core, loop
        self.future: asyncio.Future[Any] = loop.create_future()

    def finish(self, thing: Any, problem: Error | None) -> None:
        if self.future.done():
            return
        if problem is None:
            self.future.set_result(thing)
        else:
            self.future.set_exception(problem)


@_trampolines.telling(c.invivo_callbacks, "resolved", user_data=0)
def _resolved(waiting: Waiting, number: int, handle: c.invivo_object, error: int | None) -> None:
    _trampolines.dismiss(number)
    core, problem, thing = waiting.core, None, None
    if error:
        problem = core.library.failures.read(error)
    else:
        cell = core.cell()
        cell.bits = handle.bits
        thing = core.take(cell, shared=_is_shared(core, handle))
    with contextlib.suppress(RuntimeError):  # the loop has ended: nobody awaits it any more
        waiting.loop.call_soon_threadsafe(waiting.finish, thing, problem)


def _is_shared(core: Core, handle: c.invivo_object) -> bool:
    entry = core._own(handle.bits)
    return entry is not None and core.is_graphs(entry)


async def resolve(
    core: Core, handle: c.invivo_key, name: str, arguments: Iterable[Any], poll: Callable[[], Any]
) -> Any:
    """The object of a key, made where it belongs while the event loop goes on."""
    loop = asyncio.get_running_loop()
    waiting = Waiting(core, loop)
    given = list(arguments)

    def ask() -> None:
        number = _trampolines.enroll(waiting)
        try:
            with _values.Packer(core) as packer:
                array, count = core.pack(packer, name, given)
                function = _resolved.of(core.library)
                core.library.call(
                    "resolve_async", core.handle, handle, array, count, function, number, c.invivo_domain()
                )
        except BaseException:
            _trampolines.dismiss(number)
            raise

    with _served(core, loop, poll):
        # Python's own objects are created on the thread that asks, which is not the event loop's. What a scope's
        # function reads of the task, it finds.
        await loop.run_in_executor(None, contextvars.copy_context().run, ask)
        return await waiting.future


@contextlib.contextmanager
def _served(core: Core, loop: asyncio.AbstractEventLoop, poll: Callable[[], Any]) -> Iterator[None]:
    """While the opening thread awaits, the loop runs the jobs that wait for it."""
    if threading.get_ident() != core.opener:
        yield
        return
    try:
        descriptor = core.descriptor()
    except UnsupportedError:
        yield
        return
    core.awaiting += 1
    loop.add_reader(descriptor, poll)
    try:
        yield
    finally:
        core.awaiting -= 1
        if not core.awaiting:
            loop.remove_reader(descriptor)
