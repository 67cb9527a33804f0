"""Typed settings of a runtime."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from typing import Any, TypeVar, overload

from .._classes import configured
from .._classes.callables import check_callback
from .._native import strings
from .._services import bindings
from .._services.config import ConfigObserver, config_observer
from ..errors import NotFoundError
from .changing import Changing

T = TypeVar("T")


class Binding(Changing):
    """A runtime whose configuration is read as typed settings."""

    def bind_settings(self, what: Any, path: str, /, *, name: str | None = None) -> None:
        """Binds a section of the configuration to a class, as one reload::

            @dataclass(frozen=True)
            class Audio:
                rate: int
                device: str = "default"

            runtime.bind_settings(Audio, "audio")
            runtime.settings(Audio).rate

        The class is a dataclass, a typed dictionary, a named tuple or a pydantic model, or any other annotation, such
        as ``list[Host]``. Each generation has its own value, which is created when the section changes, on a thread of
        the library. If the section is invalid, the reload fails: all errors are reported at once, each with its line
        and column, and a key that is no field with the nearest name. Code that validates (``__post_init__``, validators
        of pydantic) must not wait, and must not call this runtime.

        A parameter that is annotated with the class receives the value, and its object follows changes of the section
        like changes of a definition. ``name``: the name of the binding in messages; by default that of the class.
        """
        with self.changes() as changes:
            changes.bind_settings(what, path, name=name)

    def add_settings_type(self, what: Any, /, *, name: str | None = None) -> None:
        """Adds a class as a type of settings that manifests name: ``settings: {audio: Audio}``.

        A module of a manifest calls it in ``register(runtime)``, or marks the class with `settings_type`. ``name``: the
        name in manifests; by default that of the class.
        """
        core = self._open()

        def bind(handle: Any, binding: str, path: str) -> None:
            changes = self.changes()
            changes.bind_settings(what, path, name=binding)
            changes.write(handle)

        bindings.add_type(core, name if name is not None else configured.shown(what), bind)

    def unbind_settings(self, what: Any) -> None:
        """Removes the binding of a class, or one by its name, in one reload."""
        with self.changes() as changes:
            changes.unbind_settings(what)

    @overload
    def settings(self, what: type[T], /) -> T: ...

    @overload
    def settings(self, what: Any, /) -> Any: ...

    def settings(self, what: Any, /) -> Any:
        """Returns the typed settings of the current generation, or of that of the pin or view of the calling thread.

        ``what``: the class that is bound, or the name of a binding. In one generation it is always the same object. A
        view counts if `view` began it, or if the code runs in a call of the library.
        """
        activity = self._activity
        # Factories, hooks and views may read another generation. A build plan is given up.
        if not (activity.planning or activity.calling or self._views):
            try:
                return self._settings[what]
            except (KeyError, TypeError):
                pass  # the read is not an error's context
        return self._read_settings(what)

    def _read_settings(self, what: Any) -> Any:
        core = self._open()
        epoch = core.epoch
        found = bindings.current(core, what)
        # Kept under the same conditions as resolved objects.
        with self._lock, contextlib.suppress(TypeError):  # of an annotation that cannot be hashed
            is_current = epoch == core.epoch and not epoch & 1
            if is_current and not (self._gone or core.closed or core.activity.calling or self._views):
                self._settings[what] = found
        return found

    def observe_settings(self, what: type[T], callback: Callable[[T, int], Any], /) -> ConfigObserver:
        """Calls ``callback(settings, generation)`` after each reload that changed the section of a bound class."""
        check_callback(callback, ("settings", "generation"), "an observer of settings")
        core = self._open()
        name = bindings.name_of(core, what)
        binding = core.settings.get(name)
        if binding is None:
            raise NotFoundError(f"the settings {name!r} are not bound", path=name)
        return config_observer(core, binding.path, bindings.Changed(core, name, callback))

    def add_secret(self, path: str) -> None:
        """Declares a configuration path as secret, in one reload: see `Changes.add_secret`."""
        with self.changes() as changes:
            changes.add_secret(path)

    def remove_secret(self, path: str) -> None:
        """Revokes `add_secret`, in one reload."""
        with self.changes() as changes:
            changes.remove_secret(path)

    def is_secret(self, path: str) -> bool:
        """Returns whether the value at a path of the configuration is secret, or a part of it."""
        core, found = self._open(), ctypes.c_bool()
        core.library.call("config_is_secret", core.handle, strings.name_bytes(path, "path"), ctypes.byref(found))
        return found.value
