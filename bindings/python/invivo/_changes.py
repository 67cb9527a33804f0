"""Change sets: described first, then committed as one reload."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _generated as c
from . import _values
from ._wiring import Definition, Scope, define, definition, plan_all
from .errors import StaleError

if TYPE_CHECKING:
    from ._core import Core


class Changes:
    """What one reload is to change. In ``with`` it commits at the end of the block, and does nothing if that raises."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._definitions: dict[str, Definition] = {}
        self._removed: dict[str, None] = {}
        self._others: list[Callable[[c.invivo_changes], None]] = []
        self._done = False

    def define(
        self,
        what: Callable[..., Any] | str,
        /,
        key: str | None = None,
        scope: Scope = "lazy_singleton",
        **overrides: Any,
    ) -> None:
        """Adds or replaces a definition of a class, of a factory whose annotation says what it makes, or of a type of
        another language by its name."""
        self.add(definition(key, what, scope, overrides))

    def add(self, made: Definition) -> None:
        self._open()
        self._removed.pop(made.key, None)
        self._definitions[made.key] = made

    def remove(self, key: str) -> None:
        """Takes a definition away."""
        self._open()
        self._definitions.pop(key, None)
        self._removed[key] = None

    def document(self, name: str, text: str | None) -> None:
        """Gives or replaces the text of an in-memory document; None takes it away."""
        data = None if text is None else _values.text_bytes(text)
        self._other("changes_document", _values.name_bytes(name), data, len(data or b""))

    def set(self, key: str, property: str, value: Any) -> None:
        """Sets the base value of a tunable property, under whatever specs say on top."""
        self._open()

        def apply(changes: c.invivo_changes) -> None:
            with _values.Packer(self._core) as packer:
                made = packer.value(value)
                names = _values.name_bytes(key, "key"), _values.name_bytes(property)
                self._core.library.call("changes_set", changes, *names, ctypes.byref(made))

        self._others.append(apply)

    def _other(self, function: str, *arguments: Any) -> None:
        self._open()
        self._others.append(lambda changes: self._core.library.call(function, changes, *arguments))

    def commit(self) -> None:
        """Commits, and waits until the reload is done. What is wrong is raised, all of it at once."""
        self._finish("changes_commit")

    def submit(self) -> None:
        """Hands the set over without waiting: the outcome reaches observers. Allowed from inside callbacks."""
        self._finish("changes_submit")

    def discard(self) -> None:
        self._done = True

    def _open(self) -> None:
        self._core.check()
        if self._done:
            raise StaleError("the change set is committed or discarded: open another one")

    def _finish(self, function: str) -> None:
        self._open()
        self._done = True
        core, library = self._core, self._core.library
        after = {key: made for key, made in core.definitions.items() if key not in self._removed}
        after.update(self._definitions)
        known = {made.made: made.makes for made in after.values() if isinstance(made.makes, type)}
        core.known.update(known)
        plans = plan_all(self._definitions.values(), after, core.known, core.find_type)
        handle = c.invivo_changes()
        library.call("changes_open", core.handle, ctypes.byref(handle))
        try:
            for key in self._removed:
                library.call("changes_remove", handle, _values.name_bytes(key, "key"))
            for plan in plans:
                define(core, handle, plan)
            for apply in self._others:
                apply(handle)
        except BaseException:
            library.changes_discard(handle)
            raise
        before = dict(core.definitions)
        core.definitions.update(self._definitions)  # a singleton that is built now may already ask for its neighbours
        for key in self._removed:
            core.definitions.pop(key, None)
        try:
            library.call(function, handle)
        except BaseException:
            core.definitions.clear()
            core.definitions.update(before)
            raise

    def __enter__(self) -> Changes:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._done:
            return
        if kind is None:
            self.commit()
        else:
            self.discard()
