"""The current runtime of a thread or task."""

from __future__ import annotations

from typing import cast

from .._declarations import context
from .runtime import Runtime


def set_default(runtime: Runtime | None) -> None:
    """Sets the runtime that is the current one in every thread where none was entered; None: none."""
    context.set_default(runtime)


def current() -> Runtime:
    """The runtime whose ``with`` block, or `Runtime.entered`, the calling thread or task is in; else the default."""
    return cast(Runtime, context.current())
