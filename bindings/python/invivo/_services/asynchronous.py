"""Resolving for asyncio, without blocking."""

from __future__ import annotations

import contextlib
import contextvars
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _generated as c
from .._native import callbacks
from .._objects.objects import Objects
from .._values import conversion
from ..errors import Error, UnsupportedError

if TYPE_CHECKING:
    import asyncio

# How many coroutines of the opening thread await an object, by runtime.
_awaiting: weakref.WeakKeyDictionary[Objects, int] = weakref.WeakKeyDictionary()


class Waiting:
    """A coroutine that awaits an object."""

    def __init__(self, core: Objects, loop: asyncio.AbstractEventLoop) -> None:
        self.core, self.loop = core, loop
        self.future: asyncio.Future[Any] = loop.create_future()

    def finish(self, thing: Any, problem: Error | None) -> None:
        if self.future.done():
            return
        if problem is None:
            self.future.set_result(thing)
        else:
            self.future.set_exception(problem)


@callbacks.returns_nothing(c.invivo_callbacks, "resolved", user_data=0)
def _resolved(waiting: Waiting, number: int, handle: c.invivo_object, error: int | None) -> None:
    callbacks.dismiss(number)
    core, problem, thing = waiting.core, None, None
    if error:
        problem = core.library.failures.read(error)
    else:
        cell = core.cell()
        cell.bits = handle.bits
        thing = core.take(cell, shared=_is_shared(core, handle))
    with contextlib.suppress(RuntimeError):  # the loop has ended: nobody awaits it any more
        waiting.loop.call_soon_threadsafe(waiting.finish, thing, problem)


def _is_shared(core: Objects, handle: c.invivo_object) -> bool:
    entry = core.entry_at(handle.bits)
    return entry is not None and core.is_graphs(entry)


async def resolve(
    core: Objects, handle: c.invivo_key, name: str, arguments: Iterable[Any], poll: Callable[[], Any]
) -> Any:
    """Returns the object of a key, created where it belongs, while the event loop continues."""
    import asyncio  # slow to import, and few programs need it

    loop = asyncio.get_running_loop()
    waiting = Waiting(core, loop)
    given = list(arguments)

    def ask() -> None:
        number = callbacks.enroll(waiting)
        try:
            with conversion.Packer(core) as packer:
                array, count = core.keys.pack(packer, name, given)
                function = _resolved.of(core.library)
                core.library.call(
                    "resolve_async", core.handle, handle, array, count, function, number, c.invivo_domain()
                )
        except BaseException:
            callbacks.dismiss(number)
            raise

    with _served(core, loop, poll):
        # Python's own objects are created on the requesting thread, which is not that of the event loop. The function
        # of a scope finds the context of the task.
        await loop.run_in_executor(None, contextvars.copy_context().run, ask)
        return await waiting.future


@contextlib.contextmanager
def _served(core: Objects, loop: asyncio.AbstractEventLoop, poll: Callable[[], Any]) -> Iterator[None]:
    """Lets the event loop run the jobs that wait for the opening thread while that thread awaits an object."""
    if threading.get_ident() != core.opener:
        yield
        return
    try:
        descriptor = core.descriptor()
    except UnsupportedError:
        yield
        return
    _awaiting[core] = _awaiting.get(core, 0) + 1
    loop.add_reader(descriptor, poll)
    try:
        yield
    finally:
        _awaiting[core] -= 1
        if not _awaiting[core]:
            loop.remove_reader(descriptor)
