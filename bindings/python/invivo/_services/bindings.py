"""Typed settings of a runtime: sections of the configuration that are bound to annotated types."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .. import _generated as c
from .._assemblies.definitions import Definition, definition
from .._classes import configured
from .._declarations.recipes import Options
from .._declarations.words import config as config_value
from .._declarations.words import new
from .._native import callbacks, strings, views
from .._objects import tunings
from .._objects.objects import Objects
from .._values import conversion
from ..errors import ArgumentError, ExistsError, NotFoundError, WrongTypeError


class Binding:
    """A section of the configuration that is read as an annotation."""

    def __init__(self, core: Objects, annotation: Any, path: str, name: str | None) -> None:
        from .._settings.schema import Schema  # slow to import, and not needed without settings

        if not isinstance(path, str):
            raise ArgumentError(f"the path of a section is a string such as 'audio', not {path!r}")
        self.core, self.annotation = core, annotation
        self.path = path
        self.name = name if name is not None else configured.shown(annotation)
        other = core.settings.get(self.name)
        if name is None and other is not None and not other.reads(annotation) and is_bound(core, self.name):
            raise ExistsError(
                f"the settings {self.name!r} are bound to another class: give a name, as in "
                f"bind_settings({configured.shown(annotation)}, {path!r}, name=...)",
                path=self.name,
            )
        self.schema = Schema(annotation, core.converters.of)

    def reads(self, annotation: Any) -> bool:
        """Whether it reads an annotation."""
        return self.annotation is annotation or self.annotation == annotation

    def give(self, changes: c.invivo_changes) -> None:
        """Adds it to a change set of the library."""
        from .._settings import describe

        library = self.core.library
        options = c.invivo_settings()
        options.struct_size = ctypes.sizeof(options)
        options.name, options.path = strings.name_bytes(self.name), strings.name_bytes(self.path, "path")
        options.create, options.release = _create.of(library), callbacks.Trampoline.named["release"].of(library)
        options.destroy = callbacks.destroy.of(library)
        options.flags = c.INVIVO_SETTINGS_DISCREET
        paths = (ctypes.c_char_p * len(self.schema.secrets))(*map(strings.name_bytes, self.schema.secrets))
        options.secrets, options.secret_count = paths or None, len(paths)
        converters = self.core.converters
        schema = describe.described(self.annotation, lambda cls: converters.of(cls) is not None)
        if schema is not None:
            options.schema = schema.encode()
        options.user_data = number = callbacks.enroll(self)
        try:
            library.call("changes_bind_settings", changes, ctypes.byref(options))
        except BaseException:
            callbacks.dismiss(number)
            raise
        self.core.settings[self.name] = self

    def released(self, instance: int) -> None:
        callbacks.dismiss(instance)

    def definition(self) -> Definition | None:
        """The definition by which the value is injected: of the class, as long as it is bound. None for no class."""
        cls = self.annotation
        if not isinstance(cls, type) or cls in (list, dict, tuple, set, frozenset, str, int, float, bool, bytes):
            return None
        core, name = self.core, self.name

        def bound(section: Any) -> Any:  # the section is an argument so that its changes are followed
            return current(core, name)

        bound.__annotations__ = {"section": Any, "return": cls}
        bound.__name__ = bound.__qualname__ = f"settings of {name}"
        return definition(
            key_of(name),
            new(bound, config_value(f"/{self.path}", optional=True) if self.path else None),
            "lazy_singleton",
            {},
            options=Options(type=cls),
        )


Bind = Callable[[c.invivo_changes, str, str], None]  # the change set, the name of the binding, and the path


class _SettingsType:
    """A type of settings that manifests name."""

    def __init__(self, core: Objects, bind: Bind) -> None:
        self.core, self.bind = core, bind


def add_type(core: Objects, name: str, bind: Bind) -> None:
    """Adds a type of settings that manifests name. ``bind`` binds a section in a change set of the library."""
    options = c.invivo_settings_type()
    options.struct_size = ctypes.sizeof(options)
    options.name = strings.name_bytes(name)
    options.bind, options.destroy = _bind.of(core.library), callbacks.destroy.of(core.library)
    options.user_data = callbacks.enroll(_SettingsType(core, bind))
    core.library.call("settings_type_add", core.handle, ctypes.byref(options))


@callbacks.returns_status(c.invivo_settings_type, "bind", user_data=3)
def _bind(item: _SettingsType, changes: c.invivo_changes, name: bytes, path: bytes, _: int, error: Any) -> None:
    item.bind(changes, strings.text(name), strings.text(path))


def key_of(name: str) -> str:
    """The key of the definition by which settings are injected."""
    return f"settings:{name}"


def name_of(core: Objects, what: Any) -> str:
    """Returns the name of a binding: of the last one that reads an annotation."""
    if isinstance(what, str):
        return what
    for name, binding in reversed(core.settings.items()):
        if binding.reads(what):
            return name
    return configured.shown(what)


def is_bound(core: Objects, name: str) -> bool:
    try:
        current(core, name)
    except NotFoundError:
        return False
    return True


class _Value:
    """A value that a generation has."""

    __slots__ = ("core", "value")

    def __init__(self, core: Objects, value: Any) -> None:
        self.core, self.value = core, value


@callbacks.returns_status(c.invivo_settings, "create", user_data=2)
def _create(item: Binding, section: Any, out: Any, _: int, error: Any) -> None:
    given = section[0]
    value = conversion.read(item.core, given.value[0])
    variables = conversion.read(item.core, given.variables[0])
    made = item.schema.read(value, variables, hides=bool(given.flags & c.INVIVO_SECTION_PRIVATE))
    out[0] = callbacks.enroll(_Value(item.core, made))


def settings_id(core: Objects, what: Any) -> int:
    """Returns the id of a binding, by its name or annotation."""
    name = name_of(core, what)
    known = core.settings_ids.get(name)
    if known is None:
        found = c.invivo_config()
        core.library.call("settings_id", core.handle, strings.name_bytes(name), ctypes.byref(found))
        known = core.settings_ids[name] = found.bits
    return known


def in_view(core: Objects, view: c.invivo_view, what: Any) -> Any:
    """Returns the value that a view has for a binding."""
    entry = tunings.entry_in(view, c.invivo_key(settings_id(core, what)))
    if entry is None or entry.type != c.INVIVO_ENTRY_SETTINGS:
        name = name_of(core, what)
        raise NotFoundError(f"the settings {name!r} are not bound in generation {view.graph[0].generation}", path=name)
    return _value(entry.block, what)


def _value(number: int | None, what: Any) -> Any:
    item = callbacks.item_of(number)
    if not isinstance(item, _Value):
        raise WrongTypeError(f"the settings {what!r} were bound by another language")
    return item.value


def current(core: Objects, what: Any) -> Any:
    """Returns the value of a binding in the generation that the calling thread reads."""
    core.check()
    return views.reading(core.library, core.handle, lambda view: _current(core, view, what), in_pin=True)


def _current(core: Objects, view: c.invivo_view, what: Any) -> Any:
    """Does the same in a view, which keeps the value."""
    if core.is_parents or not core.activity.calling:
        return in_view(core, view, what)
    # In a factory or hook: of the generation for which its object is built.
    found, config = ctypes.c_void_p(), c.invivo_config(settings_id(core, what))
    core.library.call("settings_read", view, core.handle, config, ctypes.byref(found))
    return _value(found.value, what)


class Changed:
    """The callback of an observer of a section, for an observer of its settings. Equal ones call equal callbacks."""

    def __init__(self, core: Objects, name: str, callback: Callable[[Any, int], Any]) -> None:
        self._core, self._name, self._callback = core, name, callback

    def __call__(self, _: Any, generation: int) -> None:
        try:
            found = current(self._core, self._name)
        except NotFoundError:  # it is not bound any more
            return
        self._callback(found, generation)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Changed) and (self._name, self._callback) == (other._name, other._callback)

    def __hash__(self) -> int:
        return hash((self._name, self._callback))
