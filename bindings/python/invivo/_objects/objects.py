"""The objects of one runtime as Python sees them: those of Python, and those of other languages.

No lock of this package is held while the library is called or while foreign code runs. Tables are changed by single
operations of a dict, which are atomic under the GIL.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import sys
import weakref
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from .. import _generated as c
from .._classes.callables import Parameter
from .._classes.classes import Description
from .._declarations import context
from .._native import strings
from .._native.current_context import Blocks, at_home, get_blocks, set_blocks
from .._native.leases import CallableCell, ObjectCell
from .._native.library import Library
from .._values import conversion
from .._values.exact import Exact
from .._values.foreign import ForeignCallable, Object, Type, make_proxy
from .._values.handles import Handles
from ..errors import StaleError, error_class
from . import finalizers
from .callables import Callables
from .context_table import ContextTable
from .converters import Converters
from .entries import Entry, entries, entry_of
from .keys import Keys
from .tunings import Tunings
from .types import TypeRecord, Types

# `close` returns all leases, those of calls on other threads too.
_CLOSED = "the runtime was closed while this call was under way"


class RuntimeHandle(Protocol):
    """A runtime as its users have it. It keeps resolved objects."""

    @property
    def keeps(self) -> bool:
        """Whether it keeps objects."""
        ...

    def purge(self) -> None:
        """Drops the objects that it keeps."""
        ...

    def forked(self) -> None:
        """Prepares it for use in a forked child."""
        ...

    def fill(self, thing: Any) -> bool:
        """Injects marked attributes."""
        ...

    def _creating(self, former: context.Former) -> AbstractContextManager[Any]:
        """Makes it the current runtime while code of an object runs, which may replace a former one."""
        ...

    def _entered_to_end(self) -> AbstractContextManager[None]:
        """Does the same while an object ends, which the garbage collector may cause anywhere."""
        ...

    def resolve(self, key: Any, *arguments: Any, **named: Any) -> Any:
        """Returns the object of a key."""
        ...

    def resolve_optional(self, key: Any, *arguments: Any, **named: Any) -> Any:
        """Returns the object of a key, or None if there is none."""
        ...


class Working:
    """A block that runs code of an object: its context is the current one, whoever requested the object."""

    __slots__ = ("_core", "_former", "_runtime")

    _former: Blocks | None

    def __init__(self, core: Objects, runtime: AbstractContextManager[Any]) -> None:
        self._core, self._runtime = core, runtime

    def __enter__(self) -> None:
        self._former = blocks = get_blocks()
        home = self._core.contexts.current()
        if home or blocks is not None:
            set_blocks(at_home(self._core, home, blocks))
        self._runtime.__enter__()

    def __exit__(self, *raised: Any) -> None:
        self._runtime.__exit__(*raised)
        if get_blocks() is not self._former:
            set_blocks(self._former)


class Objects(Handles):
    """The objects of one runtime. ``register`` registers a class of Python as a type."""

    def __init__(
        self, library: Library, register: Callable[[Objects, type, Description | None, bool], TypeRecord]
    ) -> None:
        super().__init__(library)
        self.runtimes: list[RuntimeHandle] = []
        self.types = Types(self, lambda cls, description, managed: register(self, cls, description, managed))
        self.callables = Callables(self)
        self.converters = Converters(self, self.types)
        self.keys = Keys(self, self.types)
        self.tunings = Tunings(self, self.types)
        self.contexts = ContextTable(self, self.types)
        self.config_ids: dict[tuple[str, type | None], int] = {}  # of paths, by the class that their values must have
        self.settings_ids: dict[str, int] = {}  # of bindings, by their names
        self.settings: dict[str, Any] = {}  # the bindings of Python, by their names
        self._by_bits: dict[int, Entry] = {}
        self._by_id: dict[int, Entry] = {}
        self._resources: dict[int, Entry] = {}  # those that only Python holds, by number
        self.attached: dict[int, c.invivo_target] = {}  # the targets that programs attached, by their objects
        self._proxies: weakref.WeakValueDictionary[int, Object] = weakref.WeakValueDictionary()
        self._exacts: weakref.WeakValueDictionary[Hashable, Exact] = weakref.WeakValueDictionary()
        self._foreign_types: dict[int, Type] = {}

    # ---- the runtime in which objects live ---------------------------------------------------------------

    def runtime(self) -> RuntimeHandle:
        """Returns the first handle of the open runtime."""
        self.check()
        return self.runtimes[0]

    def entered(self) -> AbstractContextManager[Any]:
        """Makes the runtime and the context of an object the current ones while its code runs."""
        return Working(self, self.runtimes[0]._creating((self, 0))) if self.runtimes else contextlib.nullcontext()

    def creating(self, build: Any) -> AbstractContextManager[Any]:
        """Does the same while an object is created, which may replace a former one."""
        bits = build[0].former.bits if build else 0
        return Working(self, self.runtimes[0]._creating((self, bits))) if self.runtimes else contextlib.nullcontext()

    def run_to_end(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls code of an object that ends, which the garbage collector may cause anywhere.

        It runs in the same way. The context variables of the caller stay as they are.
        """
        with self.runtimes[0]._entered_to_end() if self.runtimes else contextlib.nullcontext():
            home, blocks = self.contexts.current(), get_blocks()
            if not home and blocks is None:
                return function(*arguments)
            return contextvars.copy_context().run(self._run_at_home, home, blocks, function, arguments)

    def _run_at_home(
        self, home: int, blocks: Blocks | None, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        set_blocks(at_home(self, home, blocks))
        return function(*arguments)

    def purge_for(self, build: Any) -> None:
        """Drops kept objects before a shared object is created.

        Its constructor then resolves through the library, which learns the dependencies. Nothing is kept until the
        constructor has returned.
        """
        if build and build[0].flags & c.INVIVO_BUILD_SHARED:
            for each in self.runtimes:
                if each.keeps:
                    each.purge()

    def arguments(self, parameters: Sequence[Parameter], values: Any, count: int) -> list[Any]:
        """Returns the arguments of a constructor or factory. A parameter for the runtime gets this one."""
        found = conversion.read_all(self, values, count)
        for index, parameter in enumerate(parameters):
            if parameter.hint.late == "runtime":
                found += [None] * (index + 1 - len(found))
                found[index] = self.runtimes[0] if self.runtimes else None
        return found

    # ---- objects of Python -------------------------------------------------------------------------------

    def adopt(self, thing: Any, record: TypeRecord, key: int = 0, out: Any = None) -> Entry:
        """Enters an object that the library is about to hold. ``out`` gets its number first, for `abandon`."""
        entry = Entry(record, thing)
        entry.key = key
        if out is not None:
            out[0] = entry.number
        entries[entry.number] = entry
        self._by_id[id(thing)] = entry
        return entry

    def abandon(self, out: Any) -> None:
        """Undoes `adopt` after a callback has failed: the library never holds the object."""
        number = out[0]
        if number:
            out[0] = None
            self.disposed(number)

    def disposed(self, number: int) -> None:
        """Removes an instance that the library has released."""
        entry = entries.get(number)
        if entry is None:
            return
        if self._by_bits.get(entry.bits) is entry:
            self._by_bits.pop(entry.bits, None)
        thing = entry.target()
        if self._by_id.get(id(thing)) is entry:
            self._by_id.pop(id(thing), None)
        self._resources.pop(number, None)
        self.attached.pop(entry.bits, None)
        self.tunings.disposed(number)
        entries.pop(number, None)  # from here on nothing is repeated when a signal handler raises
        try:
            if entry.end is not None:
                self.run_to_end(entry.finish)
        finally:
            entry.strong = None

    def entry_for(self, thing: Any) -> Entry | None:
        """Returns the entry of a Python object."""
        entry = self._by_id.get(id(thing))
        return entry if entry is not None and entry.target() is thing else None

    def entry_at(self, bits: int) -> Entry | None:
        """Returns the entry of a handle, if the object is one of Python."""
        entry = self._by_bits.get(bits)
        if entry is not None:
            return entry
        handle, kind = c.invivo_object(bits), c.invivo_type()
        if self.library.object_type(handle, ctypes.byref(kind), None) != c.INVIVO_OK:
            return None
        if kind.bits not in self.types.by_bits:
            return None
        instance = ctypes.c_void_p()
        if self.library.object_instance(handle, kind, ctypes.byref(instance), None) != c.INVIVO_OK:
            return None
        entry = entry_of(instance.value)
        if entry is not None and not entry.bits:
            entry.bits = bits
            self._by_bits[bits] = entry
        return entry

    def is_graphs(self, entry: Entry) -> bool:
        """Whether the graph holds the object, as it does with objects that are shared for longer than a resolve."""
        if not entry.key:
            return False
        if self.is_parents:
            return True  # a forked child reads no others
        made = self.keys.facts(self.keys.name(c.invivo_key(entry.key)))
        return made is not None and made.is_shared

    def is_object(self, thing: Any) -> bool:
        return isinstance(thing, Object) or type(thing) in self.types.records or self.entry_for(thing) is not None

    # ---- leases ------------------------------------------------------------------------------------------

    def lease(self, thing: Any, cell: ObjectCell) -> ObjectCell:
        if isinstance(thing, Object):
            _, handle = thing._handle()
            if thing._core is not self and (thing._core.library, thing._core.handle.bits) != (
                self.library,
                self.handle.bits,
            ):
                raise error_class(c.INVIVO_E_HANDLE)(f"{thing!r} belongs to another runtime")
            self._retain(cell, handle.bits)
            return cell
        if isinstance(thing, ForeignCallable):
            raise error_class(c.INVIVO_E_TYPE)("a callable is not an object")
        entry = self.entry_for(thing)
        if entry is not None and self._lease_entry(entry, cell):
            return cell
        return self._wrap(thing, cell)

    def hand_over(self, thing: Any, out: Any) -> None:
        """Gives the library a handle with a lease, which it owns if the callback that returns it succeeds."""
        cell = self.cell()
        try:
            out[0] = self.lease(thing, cell)
            self.leases.forget(cell)
        except BaseException:
            self.drop(cell.number)
            raise

    def _retain(self, cell: ObjectCell, bits: int) -> None:
        if not self.leases.retain(cell, bits):
            assert cell.retained is not None
            if cell.retained[0]:
                raise error_class(cell.retained[0])(code=cell.retained[0])

    def _lease_entry(self, entry: Entry, cell: ObjectCell) -> bool:
        if not entry.bits and entry.key:
            found = self.cell()
            try:
                if self.library.peek(self.handle, c.invivo_key(entry.key), ctypes.byref(found)) == c.INVIVO_OK:
                    self.entry_at(found.bits)  # which notes the handle
            finally:
                self.drop(found.number)
        if entry.bits and self.leases.retain(cell, entry.bits):
            return True
        cell.bits, cell.retained = 0, None
        return False

    def _wrap(self, thing: Any, cell: ObjectCell) -> ObjectCell:
        record = self.types.of(thing.__class__)  # as it claims to be: a mock of a class stands for its objects
        kind = c.invivo_type(record.bits)
        out: list[int | None] = [None]
        try:
            entry = self.adopt(thing, record, out=out)
            self.library.call("object_wrap", self.handle, kind, entry.number, ctypes.byref(cell))
            entry.bits = cell.bits
            self._by_bits[cell.bits] = entry
        except BaseException:
            self.abandon(out)
            raise
        return cell

    # ---- objects from the library ------------------------------------------------------------------------

    def take(self, cell: ObjectCell, *, shared: bool = False) -> Any:
        try:
            return self._receive(cell.bits, cell, shared=shared)
        except BaseException:
            self.drop(cell.number)
            raise

    def receive(self, bits: int) -> Any:
        cell = self.cell()
        try:
            thing = self._receive(bits, cell, shared=False)
        except BaseException:
            self.drop(cell.number)
            raise
        if not cell.is_held:
            self.leases.forget(cell)
        return thing

    def borrow(self, bits: int) -> Any:
        """Returns the Python object of a borrowed handle, whose holder decides when it ends; None if it is gone."""
        cell = self.cell()
        return self.take(cell, shared=True) if self.leases.retain(cell, bits) else None

    def receive_value(self, bits: int) -> Any:
        thing = self.receive(bits)
        return thing.fresh() if type(thing) is Exact else thing

    def known_exact(self, exact: Exact) -> Exact:
        identity = exact.identity()
        known = self._exacts.get(identity)
        return known if known is not None else self._exacts.setdefault(identity, exact)

    def _receive(self, bits: int, cell: ObjectCell, *, shared: bool) -> Any:
        leased = bool(cell.bits)
        proxy = self._proxies.get(bits) if bits else None
        if proxy is not None or not bits:
            self.drop(cell.number)
            return proxy
        entry = self.entry_at(bits)
        if entry is None:
            if not leased:
                self._retain(cell, bits)
            return self._proxy(cell)
        thing = entry.target()
        if thing is None and leased and cell.number not in self.leases:
            raise error_class(c.INVIVO_E_CLOSED)(_CLOSED)
        if thing is None:
            raise StaleError("the Python object is gone")
        # References of Python to an object that the graph does not hold may outlive all handles. If the object must be
        # stopped, it is stopped when Python releases it.
        leans = entry.record.stops and not entry.lease
        if not leased:
            leans = leans and not self.is_graphs(entry) and self.leases.retain(cell, bits)
        else:
            leans = leans and not shared and not self.is_graphs(entry)
        if not (leans and self.lean(entry, thing, cell)):
            self.drop(cell.number)
        return thing

    def _proxy(self, cell: ObjectCell) -> Object:
        kind = c.invivo_type()
        status = self.library.object_type(c.invivo_object(cell.bits), ctypes.byref(kind), None)
        if cell.number not in self.leases:
            raise error_class(c.INVIVO_E_CLOSED)(_CLOSED)
        if status:
            raise error_class(status)("the object has ended", code=status)
        proxy = make_proxy(self, cell.bits, cell.number, self.foreign_type(kind.bits))
        return self._proxies.setdefault(cell.bits, proxy)

    def key_of_object(self, bits: int) -> str:
        key = c.invivo_key()
        if self.library.object_key(c.invivo_object(bits), ctypes.byref(key), None) or not key.bits:
            return ""
        return self.keys.name(key)

    def key_of(self, thing: Any) -> str | None:
        if isinstance(thing, Object):
            return self.key_of_object(thing._bits) if thing._core is self else None
        entry = self.entry_for(thing)
        if entry is not None and entry.key:
            return self.keys.name(c.invivo_key(entry.key))
        return self.key_of_object(entry.bits) if entry is not None and entry.bits else None

    # ---- objects that only Python holds ------------------------------------------------------------------

    def lean(self, entry: Entry, thing: Any, cell: ObjectCell) -> bool:
        """Makes the lease in a cell end when the object is about to end. Returns False if that is not possible."""
        if entry.ended:
            return False
        try:
            entry.turn.pop()  # by one of all threads, and of all finalizers that run within this
        except IndexError:
            return False
        entry.lease = cell.number
        if entry.end is not None:
            # The function that ends a resource refers to it, so its finalizer never runs: references are counted.
            self.collected()
            self._resources[entry.number] = entry
            finalizers.watch_collector()
            return True
        if finalizers.watch(type(thing)):
            try:
                entry.weak = weakref.ref(thing)
                entry.strong = None
            except TypeError:  # it takes no weak references: it stays until the runtime closes
                pass
        return True

    def collected(self) -> None:
        """Returns resources to which only the runtime and the resource itself refer."""
        if self.closed:
            return
        for entry in list(self._resources.values()):
            # Besides those there is the argument here.
            if entry.end is not None and sys.getrefcount(entry.strong) <= entry.held + 1:
                self._resources.pop(entry.number, None)
                number, entry.lease = entry.lease, 0
                entry.turn.append(True)
                self.drop(number)

    def ending(self, thing: Any) -> None:
        entry = self._by_id.get(id(thing))
        if entry is None or not entry.lease or entry.strong is not None:
            return
        entry.strong, number, entry.lease = thing, entry.lease, 0
        entry.ended = True  # if it lives on, its second end cannot be noticed
        entry.finalizing = True
        self.drop(number)
        entry.finalizing = False

    # ---- types and functions -----------------------------------------------------------------------------

    def foreign_type(self, bits: int) -> Type:
        """Returns the handle of a type."""
        found = self._foreign_types.get(bits)
        return found if found is not None else self._foreign_types.setdefault(bits, Type(self, bits))

    def find_type(self, name: str) -> Type:
        """Returns the handle of the type with a name."""
        kind = c.invivo_type()
        self.library.call("type_find", self.handle, strings.name_bytes(name), ctypes.byref(kind))
        return self.foreign_type(kind.bits)

    def is_type(self, thing: Any) -> bool:
        return isinstance(thing, Type)

    def type_bits(self, thing: Any) -> int:
        return thing._bits if isinstance(thing, Type) else self.types.of(thing).bits

    def receive_type(self, bits: int) -> type | Type:
        record = self.types.by_bits.get(bits)
        return self.foreign_type(bits) if record is None else record.description.cls

    def lease_callable(self, function: Callable[..., Any], cell: CallableCell) -> CallableCell:
        return self.callables.lease(function, cell)

    def receive_callable(self, bits: int) -> Callable[..., Any] | None:
        return self.callables.receive(bits)
