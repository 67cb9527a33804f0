"""Processors: functions that change definitions before they are compiled, or replace objects when they are made."""

from __future__ import annotations

import ctypes
import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _generated as c
from . import _recipes, _trampolines, _values
from ._definitions import SCOPES, plain_class
from ._describe import check_callback
from ._descriptors import injections
from ._hints import hints_of
from ._injections import Injection
from .errors import ArgumentError, WrongTypeError

if TYPE_CHECKING:
    from ._core import Core
    from ._recipes import Scope

_NAMES = {number: name for name, number in SCOPES.items()}


@dataclasses.dataclass(frozen=True, eq=False)
class Processor:
    """What is said of one processor. ``what`` decorates (a function, or a key's name); ``visit`` sees definitions."""

    name: str
    what: Callable[..., Any] | str | None
    visit: Callable[[Described], Any] | None
    key: str | None
    type: type | str | None
    priority: int
    method: str | None = None

    def moved(self, old: str, new: str) -> Processor:
        """The same in an assembly of another name."""

        def renamed(name: str | None) -> str | None:
            return new + name[len(old) :] if name is not None and name.startswith(f"{old}.") else name

        what = renamed(self.what) if isinstance(self.what, str) else self.what
        return dataclasses.replace(self, name=renamed(self.name) or "", what=what, key=renamed(self.key))

    def give(self, core: Core, changes: c.invivo_changes) -> None:
        """Into a change set."""
        options = c.invivo_processor()
        options.struct_size = ctypes.sizeof(options)
        options.name = _values.name_bytes(self.name)
        options.key = None if self.key is None else _values.name_bytes(self.key, "key")
        wanted = self.type if self.type is None or isinstance(self.type, str) else core.wish(self.type)
        options.type = None if wanted is None else _values.name_bytes(wanted)
        options.priority = self.priority
        number = 0
        if isinstance(self.what, str):
            options.component = _values.name_bytes(self.what, "key")
            options.method = None if self.method is None else _values.name_bytes(self.method, "method")
        else:
            number = _trampolines.enroll(ProcessorItem(core, self))
            options.user_data, options.destroy = number, _trampolines.destroy.of(core.library)
            if self.what is not None:
                options.decorate = _decorate.of(core.library)
            if self.visit is not None:
                options.process = _process.of(core.library)
        try:
            core.library.call("changes_process", changes, ctypes.byref(options))
        except BaseException:
            _trampolines.dismiss(number)
            raise


class ProcessorItem:
    def __init__(self, core: Core, processor: Processor) -> None:
        self.core, self.processor = core, processor


@_trampolines.answering(c.invivo_processor, "decorate", user_data=3)
def _decorate(item: ProcessorItem, handle: c.invivo_object, build: Any, out: Any, _: int, error: Any) -> None:
    core, what = item.core, item.processor.what
    assert callable(what)
    thing = core.receive(handle.bits)
    with core.entered():
        answered = what(thing)
    if answered is not None and answered is not thing:
        core.hand_over(answered, out)


@_trampolines.answering(c.invivo_processor, "process", user_data=2)
def _process(item: ProcessorItem, lent: Any, changes: c.invivo_changes, _: int, error: Any) -> None:
    core, visit = item.core, item.processor.visit
    assert visit is not None
    with _values.Packer(core) as packer:
        described = Described(core, packer, lent[0])
        visit(described)
        described._done(changes)


class Described:
    """A definition of any language while a processor visits it. What is set here is said instead.

    ``described.scope = "singleton"``; ``described.inject("log", invivo.ref("app.log"))``. Only during the visit.
    """

    __slots__ = ("_changed", "_core", "_options", "_packer")  # what is misspelt is an error

    def __init__(self, core: Core, packer: _values.Packer, lent: c.invivo_definition) -> None:
        self._core, self._packer = core, packer
        self._options = c.invivo_definition.from_buffer_copy(lent)
        self._changed = False

    def _done(self, changes: c.invivo_changes) -> None:
        if self._changed:
            self._core.library.call("changes_define", changes, ctypes.byref(self._options), None)

    @property
    def key(self) -> str:
        return _text(self._options.key)

    @property
    def type(self) -> str | None:
        """The name of what it makes, where it says that itself."""
        bits = self._options.type
        return _text(self._core.library.type_name(bits)) if bits.bits else _text(self._options.type_name) or None

    @property
    def parent(self) -> str | None:
        return _text(self._options.parent) or None

    @property
    def alias(self) -> str | None:
        return _text(self._options.alias) or None

    @property
    def scope(self) -> Scope | None:
        """None: the parent's, or graph."""
        found: Any = _NAMES.get(self._options.scope)
        return found  # type: ignore[no-any-return]

    @scope.setter
    def scope(self, scope: Scope | None) -> None:
        if scope is not None and scope not in SCOPES:
            raise ArgumentError(f"{scope!r} is no scope; there are {', '.join(SCOPES)}", path=self.key)
        self._options.scope = c.INVIVO_SCOPE_DEFAULT if scope is None else SCOPES[scope]
        self._changed = True

    @property
    def rank(self) -> int:
        return int(self._options.rank)

    @rank.setter
    def rank(self, rank: int) -> None:
        self._options.rank = rank
        self._changed = True

    @property
    def properties(self) -> list[str]:
        """The names of the properties that it injects, in order."""
        return [_text(self._options.properties[index].name) for index in range(self._options.property_count)]

    def inject(self, name: str, thing: Any) -> None:
        """Injects a property: `ref` to a key, or a value. In the place of what was said of it before."""
        made = Injection(name, value=thing)
        if isinstance(thing, _recipes.Recipe):
            node = thing._node
            if not isinstance(node, _recipes.Ref) or not isinstance(node.to, str) or node.arguments:
                raise ArgumentError("a processor injects values and invivo.ref('key')", path=f"{self.key}.{name}")
            key = node.to if "." in node.to else f"{self.key.rpartition('.')[0]}.{node.to}"
            made = Injection(name, key, flags=c.INVIVO_INJECT_OPTIONAL if node.optional else 0)
        self._replace(name, [made])

    def leave_out(self, name: str) -> None:
        """Injects nothing into a property."""
        self._replace(name, [])

    def _replace(self, name: str, made: Sequence[Injection]) -> None:
        fresh, count = injections(self._core, self._packer, made)
        kept = [index for index, each in enumerate(self.properties) if each != name]
        array = (c.invivo_injection * (len(kept) + count))()
        for place, index in enumerate(kept):
            ctypes.pointer(array[place])[0] = self._options.properties[index]
        for place in range(count):
            ctypes.pointer(array[len(kept) + place])[0] = fresh[place]
        self._packer.hold(array)
        self._options.properties, self._options.property_count = array, len(array)
        self._changed = True

    def __repr__(self) -> str:
        return f"<invivo.Described {self.key}>"


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def decorator(
    what: Callable[..., Any] | str,
    *,
    key: str | None = None,
    type: type | str | None = None,
    name: str | None = None,
    priority: int = 0,
    method: str | None = None,
    home: str = "",
) -> Processor:
    """What is said of a decorator. A function says by the annotation of its parameter what it decorates, unless that is
    said here."""
    if isinstance(what, str):
        return Processor(name or f"decorator {what}", what, None, key, type, priority, method)
    if method is not None:
        raise ArgumentError("a method is called on a component: say its key in the place of the function")
    if not callable(what):
        raise WrongTypeError(f"a function, or the key of a component, decorates, not {what!r}")
    check_callback(what, ("object",), "a decorator")
    if key is None and type is None:
        type = _first_class(what)
    return Processor(_named(what, name, home), what, None, key, type, priority)


def visitor(
    visit: Callable[[Described], Any],
    *,
    key: str | None = None,
    type: type | str | None = None,
    name: str | None = None,
    priority: int = 0,
    home: str = "",
) -> Processor:
    """What is said of a processor of definitions."""
    check_callback(visit, ("described",), "a processor of definitions")
    return Processor(_named(visit, name, home), None, visit, key, type, priority)


def _named(what: Callable[..., Any], name: str | None, home: str) -> str:
    if name is not None:
        return name
    own = str(getattr(what, "__qualname__", None) or type(what).__name__)
    return f"{home}.{own.rpartition('.')[2]}" if home else own


def _first_class(what: Callable[..., Any]) -> type | None:
    try:
        first = next(iter(inspect.signature(what).parameters), None)
    except (TypeError, ValueError):
        return None
    target = what.__init__ if isinstance(what, type) else what  # type: ignore[misc]
    found = plain_class(hints_of(target).get(first or ""))
    return None if found in (object, Any) else found
