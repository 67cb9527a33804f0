"""Calls on the threads of asyncio's executor."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def to_thread(function: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T:
    """Calls a function on a thread of asyncio's executor, with the current context and runtime of the caller.

    As `asyncio.to_thread`; ``loop.run_in_executor`` passes on no context.
    """
    import asyncio  # slow to import, and few programs need it

    return await asyncio.to_thread(function, *arguments, **named)
