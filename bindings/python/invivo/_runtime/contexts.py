"""The contexts of a runtime."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import EllipsisType
from typing import Any

from .._declarations.context_kinds import ContextKind, merged
from .._services import context_opening
from .._services.contexts import Context
from .base import RuntimeBase


class InContexts(RuntimeBase):
    """A runtime with contexts."""

    def context(
        self,
        kind: str | ContextKind | None = None,
        /,
        *,
        parent: Context | EllipsisType | None = ...,
        holds_parent: bool | None = None,
        object: Any = None,
        values: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = (),
        **named: Any,
    ) -> Context:
        """Opens a context with values, for a request, a session, a window or a plug-in::

            async with runtime.context("request", user=user) as request:
                await handle(request)  # request["user"], also by runtime.current_context

        ``kind``: a kind of `declare_contexts`. ``parent``: where lookups continue; by default the current context, with
        None nowhere. It never changes. ``holds_parent``: whether the context keeps its parent open; by default, a
        context with a kind does. ``object``: the context as an object with methods (`Context.find`). ``values``: those
        of keys that are no identifiers, or are names of parameters here.

        The context is open when this returns. It ends with its ``with`` block, or by `Context.end`.
        """
        core = self._open()
        return context_opening.open_context(
            core,
            kind,
            parent,
            holds_parent=holds_parent,
            thing=object,
            values=merged(values, named),
            frame=sys._getframe(1),
        )

    @property
    def current_context(self) -> Context | None:
        """The innermost open context of this runtime that the calling thread or task has entered; None without one."""
        return context_opening.current(self._open())

    def declare_contexts(self, *kinds: str | ContextKind) -> None:
        """Declares kinds of contexts, from the outermost to the innermost, after those that are declared already.

        A context of a kind is opened in contexts of the same kind or of outer ones; kinds may be skipped. Declaring a
        kind again with the same content is a no-op. All kinds are added, or none.
        """
        context_opening.declare_kinds(self._open(), kinds)

    def context_of(self, thing: Any, /) -> Context | None:
        """Returns the nearest context of an object: its own (`Context.attach`), or that of its parent, and so on.

        The parent is what the method of its class marked by `parent` returns. None if there is no context.
        """
        return context_opening.context_of(self._open(), thing)

    def detach_context(self, thing: Any, /) -> None:
        """Detaches the context of an object. An object without one is a no-op."""
        context_opening.detach(self._open(), thing)
