"""The observers, reports, status and wiring of a runtime."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, get_origin

from .. import _generated as c
from .._classes.callables import check_callback
from .._native.pins import without_entered
from .._native.strings import name_bytes
from .._services.config import ConfigObserver, config_observer
from .._services.graph import (
    GRAPH_FORMATS,
    KEYS_LANGUAGES,
    SCHEMA,
    GraphFormat,
    KeysLanguage,
    Status,
    WiringNode,
    nodes,
    status,
)
from .._services.reports import (
    Observer,
    Phases,
    Progress,
    Ready,
    Reloads,
    Report,
    kept_reports,
    observer,
    observer_of,
    phases,
    ready,
)
from .._values import conversion
from .._values.foreign import Type
from ..errors import ArgumentError, Error, WrongTypeError
from .resolving import Resolving


class Observing(Resolving):
    """A runtime that reports its reloads."""

    def observe(
        self,
        callback: Callable[[Report], Any],
        *,
        key: str | Callable[..., Any] | None = None,
        type: builtins.type | Type | str | None = None,
        object: Any = None,
    ) -> Observer:
        """Calls back after every reload, committed or failed, on the thread that ran it.

        With ``key``, ``type`` or ``object``: after the commits that change the definition, object or value of this key,
        of a key whose objects have this type (or had it before), or that inject into this object, change its
        properties, or replace it. The report then has these changes alone. An observer does not keep the object. The
        runtime holds no prototypes of Python, which cannot be observed: observe their key or type.

        Subscribing again with an equal callback returns the same observer; in the setups of different objects they are
        different ones. Observers of types are called first, then those of objects, then all others, in the order in
        which they were added.
        """
        check_callback(callback, ("report",), "an observer")
        core = self._open()
        given = {"key": key, "type": type, "object": object}
        names = [name for name, value in given.items() if value is not None]
        if len(names) > 1:
            raise ArgumentError(f"observe() got {names[0]}= and {names[1]}=: an observer observes one of them")
        if key is not None:
            return observer(core, callback, key=name_bytes(self._name(key), "key"))
        if type is not None:
            if isinstance(type, Type):
                type = type.name
            if not isinstance(type, (str, builtins.type)) and get_origin(type) is None:
                raise WrongTypeError(f"type= is a class, a type or a name, not {type!r}")
            name = type if isinstance(type, str) else core.types.query(type)
            return observer(core, callback, type=name_bytes(name, "type"))
        if object is not None:
            return observer_of(core, callback, object)
        return observer(core, callback)

    def on_ready(self, callback: Callable[[int, Error | None], Any]) -> Ready:
        """Calls ``callback(generation, error)`` once.

        With the generation after the first commit of the runtime and None, or with the error of its first reload if
        that fails. If one of them has happened already, the call follows soon on a thread of the runtime.
        """
        check_callback(callback, ("generation", "error"), "an observer of the first reload")
        return ready(self._open(), callback)

    def on_progress(self, callback: Callable[[Progress], Any]) -> Phases:
        """Calls ``callback(progress)`` for each phase of the reloads that begin from now on.

        A reload begins with "detected": an edit of a followed file was noticed, or a call began. It is "planned", and
        ends with one of "committed", "refused" and "unchanged", before the observers of reloads are called. "retired"
        comes once for each former generation, when nothing reads it any more and the objects that end with it were
        stopped. The callback runs on the thread that does the work and must not wait for the runtime.
        """
        check_callback(callback, ("progress",), "an observer of phases")
        return phases(self._open(), callback)

    def observe_config(self, path: str, callback: Callable[[Any, int], Any]) -> ConfigObserver:
        """Calls ``callback(value, generation)`` after each reload that changed a whole path or anything below it.

        The value is None if there is none. Subscribing again with an equal callback returns the same observer.
        """
        check_callback(callback, ("value", "generation"), "an observer of the configuration")
        return config_observer(self._open(), path, callback)

    @property
    def reports(self) -> list[Report]:
        """The reports of the last reloads, committed or failed, the oldest first.

        The runtime keeps the last 64, and fewer if they need more than 1 MiB. Reloads that found nothing to change
        have no report.
        """
        return kept_reports(self._open())

    def reloads(self) -> Reloads:
        """Iterates over the reloads from now on; ends when the runtime closes."""
        return Reloads(self._open())

    @property
    def status(self) -> Status:
        """The reasons why changes take effect late, or not at all: `Status`. See `last_error`, too."""
        core = self._open()
        found = conversion.ask(core, "runtime_status", core.handle)
        found["pins"] = without_entered(core.pins, found["pins"])
        return status(found)

    @property
    def wiring(self) -> list[WiringNode]:
        """The wiring of the newest generation, by key: definitions, their dependencies, and living objects."""
        core = self._open()
        found = conversion.ask(core, "graph_describe", core.handle, c.INVIVO_GRAPH_FACTS)
        return nodes(found)

    def wiring_text(self, format: GraphFormat) -> str:
        """Returns the same as JSON, as a digraph for Graphviz, or as a Mermaid flowchart."""
        core = self._open()
        found = conversion.ask(core, "graph_describe", core.handle, GRAPH_FORMATS[format])
        text: str = found
        return text

    def keys_text(self, language: KeysLanguage = "python") -> str:
        """Returns a typed function for each key, as source text.

        Names, arguments and results are then checked by mypy, or by a compiler.
        """
        core = self._open()
        text: str = conversion.ask(core, "graph_describe", core.handle, KEYS_LANGUAGES[language])
        return text

    def schema_text(self) -> str:
        """Returns the JSON Schema of the spec files that the runtime accepts, for editors and checks."""
        core = self._open()
        text: str = conversion.ask(core, "graph_describe", core.handle, SCHEMA)
        return text
