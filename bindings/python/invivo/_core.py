"""One runtime as the package sees it: who is who among handles and Python objects, and whose leases are ours.

No lock of ours is held while the library is called or while somebody else's code runs: tables are changed by single
operations of a dict, which the GIL makes whole.
"""

from __future__ import annotations

import abc
import atexit
import contextlib
import ctypes
import gc
import os
import sys
import threading
import types
import typing
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol, cast

from . import _config, _current, _endings, _signals, _trampolines, _types, _values
from . import _generated as c
from ._describe import Description, Parameter
from ._exact import Exact, crosses
from ._facts import Facts, described
from ._failures import forget_sent
from ._given import Given
from ._hints import Hint, behaves, crossing_kind, for_python, is_protocol
from ._leases import CallableCell, Leases, ObjectCell
from ._objects import ForeignCallable, Object, Type, make_proxy
from ._plans import GivenUp, Plans, frames_of, place_of
from ._reading import shown
from ._tunings import Tunings
from .errors import ClosedError, Error, StaleError, error_class, within

if TYPE_CHECKING:
    from ._assembly import Assembly
    from ._library import Library
    from ._processors import Processor

_entries: dict[int, Entry] = {}  # by the number that the library has for the instance


class Entry:
    """A Python object that a runtime holds: its instance pointer is the entry's number.

    As a rule the entry keeps the object alive for as long as the runtime has it. Where only Python holds a lease, for
    the sake of the object, it is the other way round: the entry is weak, and the lease ends when the object is about
    to. Should somebody else hold it still, it lives on until they let go.
    """

    __slots__ = (
        "bits",
        "core",
        "end",
        "ended",
        "finalizing",
        "held",
        "key",
        "lease",
        "number",
        "record",
        "strong",
        "turn",
        "weak",
    )

    def __init__(self, core: Core, record: _types.TypeRecord, thing: Any) -> None:
        self.core, self.record, self.strong = core, record, thing
        self.weak: weakref.ref[Any] | None = None
        self.bits = 0
        self.key = 0
        self.lease = 0
        self.turn = [True]  # who takes the element out is the one to keep a lease
        self.ended = False
        self.end: Callable[[], None] | None = None  # what ends a resource
        self.held = 0  # how many references to it the resource itself has
        self.finalizing = False  # its finalizer is running
        self.number = next(_trampolines.numbers)

    def target(self) -> Any:
        thing = self.strong
        return thing if thing is not None or self.weak is None else self.weak()

    def finish(self) -> None:
        """Ends a resource, once."""
        end, self.end = self.end, None
        if end is not None:
            end()

    def references(self) -> int:
        """The number of references that Python has to the object, without the entry's own."""
        if self.strong is None:
            return 0 if self.target() is None else sys.maxsize
        own = _finalizer_references if self.finalizing else _OWN_REFERENCES
        return max(0, _count(self) - own)


def _count(entry: Entry | SimpleNamespace) -> int:
    return sys.getrefcount(entry.strong)


# What the count of an object contains to which nothing but an entry refers.
_OWN_REFERENCES = _count(SimpleNamespace(strong=object()))
# The same while the finalizer of an object runs. Other threads may refer to it again meanwhile.
_finalizer_references = 0


def entry_of(number: int | None) -> Entry | None:
    return _entries.get(number) if number else None


class Face(Protocol):
    """What keeps resolved objects for a core: a `Runtime`."""

    @property
    def keeps(self) -> bool: ...

    def purge(self) -> None: ...

    def forked(self) -> None: ...

    def fill(self, thing: Any) -> bool: ...

    def entered(self) -> _current.Entering: ...

    def _entered_to_end(self) -> _current.Ending: ...


class CallableItem:
    """A Python function that the library holds."""

    def __init__(self, core: Core, function: Callable[..., Any]) -> None:
        self.core, self.function = core, function
        self.bits = 0

    def destroyed(self) -> None:
        key = identity(self.function)
        if self.core.functions.get(key) is self:
            self.core.functions.pop(key, None)


def identity(function: Any) -> Any:
    """What tells functions apart: each access to a method makes another object for the same one."""
    if isinstance(function, types.MethodType):
        return id(function.__self__), id(function.__func__)
    return id(function)


@_trampolines.answering(c.invivo_callable_options, "invoke", user_data=0)
def _invoke(item: CallableItem, _: int, arguments: Any, count: int, result: Any, error: Any) -> None:
    _values.answer(item.core, result, item.function(*_values.read_all(item.core, arguments, count)))


@_trampolines.answering(c.invivo_domain_options, "post", user_data=0)
def _post(item: DomainItem, _: int, job: c.invivo_job, error: Any) -> None:
    # What a signal's handler raised in the job is for the library call that posted it.
    item.core.library.bare("job_run")(job)


class DomainItem:
    """Python's own domain: whoever has the GIL may touch its objects, so a posted job runs at once."""

    def __init__(self, core: Core) -> None:
        self.core = core


class Core:
    """The state behind one runtime."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.handle = c.invivo_runtime()
        self.owned = False  # ours to close
        self.is_silent = False  # opened with the log level "silent"
        self.closed = False
        self.is_parents = False  # opened by the process that this one was forked from
        self.domain = c.invivo_domain()
        self.types: dict[type, _types.TypeRecord] = {}
        self.types_by_bits: dict[int, _types.TypeRecord] = {}
        self.managed_types: dict[type, _types.TypeRecord] = {}  # of resources, by the class of the object
        self.lent: dict[int, Entry] = {}  # resources that Python alone holds, by number
        self.names: dict[str, type] = {}
        self.names_of: dict[type, str] = {}
        self.known: dict[str, type] = {}  # classes by name, for annotations that are only text
        self.wished: dict[type, str] = {}  # what was looked for that others count as without deriving from it
        self.foreign_types: dict[int, Type] = {}
        self.by_bits: dict[int, Entry] = {}
        self.by_id: dict[int, Entry] = {}
        self.proxies: weakref.WeakValueDictionary[int, Object] = weakref.WeakValueDictionary()
        self.callables: weakref.WeakValueDictionary[int, ForeignCallable] = weakref.WeakValueDictionary()
        self.exacts: weakref.WeakValueDictionary[Hashable, Exact] = weakref.WeakValueDictionary()
        self.functions: dict[Any, CallableItem] = {}  # what the library holds, by `identity`
        self.leases = Leases(library)
        self.closing: list[Callable[[], None]] = []  # what else ends with the runtime; must not fail
        self.faces: list[Face] = []
        self.given = Given()  # what Python defined; another language, or an override, may have replaced it
        self.known_facts: dict[str, tuple[int, Facts]] = {}  # by key, each with the version of it
        self.processors: dict[str, Processor] = {}  # what Python gave, by name
        self.assemblies: dict[str, list[Assembly]] = {}  # active ones, by name
        self.described: set[Assembly] = set()  # known to the library, and perhaps not active
        self.config_ids: dict[tuple[str, type | None], int] = {}
        self.converters: dict[str | type, Callable[[str], Any]] = {}  # what Python registered
        self.readers: dict[Hashable, str] = {}  # the converters of places, by what they read
        self.planning: list[None] = []  # one for each plan that is on its way
        self.calling: list[None] = []  # one for each callback of the library that is
        self.given_up: set[int] = set()  # threads whose plan met a constructor that uses the runtime
        self.uses = 0  # how often the runtime was used
        self.epoch = 0  # counts what makes resolved objects outdated; odd while a commit becomes visible
        self.plans = Plans(self)
        self.tunings = Tunings(self)
        self.opener = threading.get_ident()
        self.awaiting = 0  # coroutines of the opening thread
        self.marked = True  # whether attributes that are marked for injection are filled

    # ---- life ------------------------------------------------------------------------------------------

    def opened(self, *, in_default: bool = False) -> None:
        """The handle is there: makes the domain, and lets the core be found by it."""
        if not in_default:
            self._make_domain()
        cores[self.library.table, self.handle.bits] = self

    def _make_domain(self) -> None:
        options = c.invivo_domain_options()
        options.struct_size = ctypes.sizeof(options)
        options.name = b"python"
        options.flags = c.INVIVO_DOMAIN_ANY_THREAD
        options.post = _post.of(self.library)
        options.user_data = number = _trampolines.enroll(DomainItem(self))
        options.destroy = _trampolines.destroy.of(self.library)
        try:
            self.library.call("domain_register", self.handle, ctypes.byref(options), ctypes.byref(self.domain))
        except BaseException:
            _trampolines.dismiss(number)
            raise

    def assembly_state(self, name: str) -> int:
        state = ctypes.c_uint32()
        self.library.call("assembly_state", self.handle, _values.name_bytes(name), ctypes.byref(state))
        return state.value

    def active(self) -> list[Assembly]:
        return [each for several in self.assemblies.values() for each in several]

    def descriptor(self) -> int:
        """Readable while jobs wait for the opening thread."""
        found = ctypes.c_int(-1)
        self.library.call("runtime_descriptor", self.handle, ctypes.byref(found))
        return found.value

    def face(self) -> Face:
        self.check()
        return self.faces[0]

    def check(self) -> None:
        """The runtime is about to be used: it is open, and not in the middle of a plan."""
        if self.closed:
            raise ClosedError("the runtime is closed")
        self.uses += 1
        if self.planning and place_of(self.planning) == "plan":
            self.given_up.add(threading.get_ident())
            raise GivenUp

    def reader_of(self, hint: Hint) -> str:
        """The name of the converter that reads what the configuration says for a place; registered when it is new."""
        try:
            place: Hashable = (hint.annotation, crossing_kind(hint), bool(hint.choices))
            known = self.readers.get(place)
        except TypeError:
            place, known = (id(hint), hint), None
        if known is None:
            known = f"python:{next(_trampolines.numbers)}:{shown(hint.annotation)}"
            _config.register_reader(self, known, hint)
            self.readers[place] = known
        return known

    def converter_of(self, cls: type) -> Callable[[str], Any] | None:
        """What was registered in Python to read texts for places of a class."""
        found = self.converters.get(cls)
        return found if found is not None else self.converters.get(self.names_of.get(cls, ""))

    def forked(self) -> None:
        """This process is a forked child: nothing is built here any more, and nothing ends. Only the calling thread
        goes on, so plans and callbacks of others are over, and locks that they hold are replaced."""
        self.is_parents = True
        self.leases.clear()
        me = threading.get_ident()
        self.given_up.intersection_update((me,))
        self.planning[:], self.calling[:] = frames_of(self.planning, self.calling)
        self.plans.forked()
        for face in list(self.faces):
            face.forked()

    def close(self) -> None:
        """Closes the runtime, or lets go of one that is not ours. Proxies and callables of it are dead afterwards.
        In a forked child it does nothing."""
        if self.closed or self.is_parents:
            return
        stopped: BaseException | None = None
        if self.owned:
            try:
                self._close_owned()
            except BaseException as problem:
                is_closed = isinstance(problem, Error) and problem.code == c.INVIVO_E_STOP
                if not is_closed and not _signals.took_effect(problem):
                    raise
                stopped = problem
        else:
            self.give_back()
        self.closed = True
        cores.pop((self.library.table, self.handle.bits), None)
        for action in self.closing:
            action()
        self.closing.clear()
        self.purge()
        self.given.clear()
        self.known_facts.clear()
        self.processors.clear()
        self.assemblies.clear()
        self.described.clear()
        forget_sent()
        if stopped is not None:
            raise stopped

    def _close_owned(self) -> None:
        self.plans.end()
        try:
            self.purge()
            self.library.call("runtime_close", self.handle)
            _trampolines.dismiss_all(self)
        except BaseException as problem:
            if _signals.took_effect(problem):
                self.give_back()
                raise
            if not isinstance(problem, Error) or problem.code != c.INVIVO_E_BUSY:
                self.plans.over = False
                raise
            # Leases are out: ours first, and what others still hold is disposed with its last lease.
            self.give_back()
            self.library.call("runtime_close_deferred", self.handle)
        else:
            self.give_back()  # callables, which a runtime does not wait for

    def give_back(self) -> None:
        """Gives back every lease that Python holds, the last first: what was made last ends first."""
        self.leases.give_back()

    def drop(self, number: int) -> None:
        """Gives a lease back, once."""
        self.leases.drop(number)

    def cell(self) -> ObjectCell:
        """Room for an object with a lease."""
        return self.leases.cell(ObjectCell)

    def purge(self) -> None:
        self.plans.purge()
        for face in list(self.faces):
            face.purge()

    def outdate(self) -> None:
        """The meaning of a class or name has changed, or changes with the next commit."""
        self.epoch += 2
        self.purge()

    def forget_for(self, build: Any) -> None:
        """What is shared is about to be built: what its constructor asks for is asked of the library, which learns so
        what it depends on. Nothing is kept again before that is over."""
        if build and build[0].flags & c.INVIVO_BUILD_SHARED:
            for face in self.faces:
                if face.keeps:
                    face.purge()

    # ---- objects ---------------------------------------------------------------------------------------

    def entered(self) -> _current.Entering | contextlib.nullcontext[None]:
        """While an object is made its runtime is the current one."""
        return self.faces[0].entered() if self.faces else contextlib.nullcontext()

    def _entered_to_end(self) -> _current.Ending | contextlib.nullcontext[None]:
        """The same while an object ends, which the collector of garbage may do anywhere."""
        return self.faces[0]._entered_to_end() if self.faces else contextlib.nullcontext()

    def adopt(self, thing: Any, record: _types.TypeRecord, key: int = 0, out: Any = None) -> Entry:
        """An entry for an object that the library is about to hold. ``out`` gets its number first, for `abandon`."""
        entry = Entry(self, record, thing)
        entry.key = key
        if out is not None:
            out[0] = entry.number
        _entries[entry.number] = entry
        self.by_id[id(thing)] = entry
        return entry

    def arguments(self, parameters: Sequence[Parameter], values: Any, count: int) -> list[Any]:
        """What a constructor or factory gets; a runtime that it asks for is this one."""
        found = _values.read_all(self, values, count)
        for index, parameter in enumerate(parameters):
            if parameter.hint.late == "runtime":
                found += [None] * (index + 1 - len(found))
                found[index] = self.faces[0] if self.faces else None
        return found

    def pack(self, packer: _values.Packer, name: str, arguments: Iterable[Any]) -> tuple[Any, int]:
        """Runtime arguments for a key; an error in one says which it is, and where the definition is."""
        things = list(arguments)
        made = self.facts(name) if things else None
        with within(name) if made is None else within(name, made.file, made.line):
            if made is None:
                return packer.array(things)
            kinds = [crossing_kind(each.hint) for each in made.arguments]
            if made.stays and not all(map(crosses, things)):
                hints = [each.hint for each in made.arguments]
                things = [
                    for_python(thing, hints[i] if i < len(hints) else None, is_argument=True)
                    for i, thing in enumerate(things)
                ]
            return packer.array(things, [each.name for each in made.arguments], kinds)

    def facts(self, name: str) -> Facts | None:
        """The definition that is in force for a key; None where the key has none, or nothing can be asked."""
        try:
            return self._facts(name)
        except Error:
            return None

    def _facts(self, name: str) -> Facts:
        face: Any = self.faces[0] if self.faces else None
        known = self.known_facts.get(name)
        handle, word = face._key(name) if face is not None else (self._found(name), None)
        version = 0 if word is None else word.value
        # Inside a callback the calling code may be part of a commit, which sees the next generation.
        if known is not None and word is not None and known[0] == version and not self.calling:
            return known[1]
        said = _values.ask(self, "key_describe", self.handle, handle, wrapped=True)
        found = described(self, name, said, self.given.get(name))
        if word is not None and not self.calling:
            self.known_facts[name] = version, found
        return found

    def _found(self, name: str) -> c.invivo_key:
        handle = c.invivo_key()
        self.library.call("key_find", self.handle, _values.name_bytes(name, "key"), ctypes.byref(handle))
        return handle

    def bind(self, name: str, positional: Sequence[Any], named: typing.Mapping[str, Any]) -> Sequence[Any]:
        """Runtime arguments for a key, in order."""
        return self._facts(name).bind(positional, named) if named else positional

    def disposed(self, number: int) -> None:
        """The library has given an instance up."""
        entry = _entries.get(number)
        if entry is None:
            return
        if self.by_bits.get(entry.bits) is entry:
            self.by_bits.pop(entry.bits, None)
        thing = entry.target()
        if self.by_id.get(id(thing)) is entry:
            self.by_id.pop(id(thing), None)
        self.lent.pop(number, None)
        self.tunings.disposed(number)
        _entries.pop(number, None)  # from here on nothing is done again when a signal's handler raises
        try:
            if entry.end is not None:
                with self._entered_to_end():
                    entry.finish()
        finally:
            entry.strong = None

    def abandon(self, out: Any) -> None:
        """A callback that may have adopted an object fails: the library never holds the object."""
        number = out[0]
        if number:
            out[0] = None
            self.disposed(number)

    def entry_for(self, thing: Any) -> Entry | None:
        entry = self.by_id.get(id(thing))
        return entry if entry is not None and entry.target() is thing else None

    def is_object(self, thing: Any) -> bool:
        return isinstance(thing, Object) or type(thing) in self.types or self.entry_for(thing) is not None

    def lease(self, thing: Any, cell: ObjectCell) -> ObjectCell:
        """A handle for an object of any kind, with a lease in the cell."""
        if isinstance(thing, Object):
            _, handle = thing._handle()
            if thing._core is not self and (thing._core.library, thing._core.handle.bits) != (
                self.library,
                self.handle.bits,
            ):
                raise error_class(c.INVIVO_E_HANDLE)(f"{thing!r} belongs to another runtime")
            if not self.leases.retain(cell, handle.bits):
                assert cell.retained is not None
                self._succeed(cell.retained[0])
            return cell
        if isinstance(thing, ForeignCallable):
            raise error_class(c.INVIVO_E_TYPE)("a callable is not an object")
        entry = self.entry_for(thing)
        if entry is not None and self._lease_entry(entry, cell):
            return cell
        return self._wrap(thing, cell)

    def hand_over(self, thing: Any, out: Any) -> None:
        """A handle with a lease for the library, which takes it when the callback that answers it succeeds."""
        cell = self.cell()
        try:
            out[0] = self.lease(thing, cell)
            self.leases.forget(cell)
        except BaseException:
            self.drop(cell.number)
            raise

    def _lease_entry(self, entry: Entry, cell: ObjectCell) -> bool:
        if not entry.bits and entry.key:
            found = self.cell()
            try:
                if self.library.peek(self.handle, c.invivo_key(entry.key), ctypes.byref(found)) == c.INVIVO_OK:
                    self._own(found.bits)  # which notes its handle
            finally:
                self.drop(found.number)
        if entry.bits and self.leases.retain(cell, entry.bits):
            return True
        cell.bits, cell.retained = 0, None
        return False

    def _wrap(self, thing: Any, cell: ObjectCell) -> ObjectCell:
        record = self.type_for(thing.__class__)  # what it says that it is: a mock of a class stands for its objects
        kind = c.invivo_type(record.bits)
        out: list[int | None] = [None]
        try:
            entry = self.adopt(thing, record, out=out)
            self.library.call("object_wrap", self.handle, kind, entry.number, ctypes.byref(cell))
            entry.bits = cell.bits
            self.by_bits[cell.bits] = entry
        except BaseException:
            self.abandon(out)
            raise
        return cell

    def _own(self, bits: int) -> Entry | None:
        """The entry of a handle, when the object is Python's."""
        entry = self.by_bits.get(bits)
        if entry is not None:
            return entry
        handle, kind = c.invivo_object(bits), c.invivo_type()
        if self.library.object_type(handle, ctypes.byref(kind), None) != c.INVIVO_OK:
            return None
        if kind.bits not in self.types_by_bits:
            return None
        instance = ctypes.c_void_p()
        if self.library.object_instance(handle, kind, ctypes.byref(instance), None) != c.INVIVO_OK:
            return None
        entry = entry_of(instance.value)
        if entry is not None and not entry.bits:
            entry.bits = bits
            self.by_bits[bits] = entry
        return entry

    def take(self, cell: ObjectCell, *, shared: bool = False) -> Any:
        """The Python object of a handle whose lease is ours. ``shared``: the graph holds the object besides."""
        try:
            return self._receive(cell.bits, cell, shared=shared)
        except BaseException:
            self.drop(cell.number)
            raise

    def receive(self, bits: int) -> Any:
        """The Python object of a handle: Python's own as it is, another's as its proxy."""
        cell = self.cell()
        try:
            thing = self._receive(bits, cell, shared=False)
        except BaseException:
            self.drop(cell.number)
            raise
        if not cell.is_held:
            self.leases.forget(cell)
        return thing

    def _receive(self, bits: int, cell: ObjectCell, *, shared: bool) -> Any:
        leased = bool(cell.bits)
        proxy = self.proxies.get(bits) if bits else None
        if proxy is not None or not bits:
            self.drop(cell.number)
            return proxy
        entry = self._own(bits)
        if entry is None:
            if not leased and not self.leases.retain(cell, bits):
                assert cell.retained is not None
                self._succeed(cell.retained[0])
            return self._proxy(cell)
        thing = entry.target()
        if thing is None:
            raise StaleError("the Python object is gone")
        # What Python has of an object that the graph does not hold may outlive all handles: where the object is to be
        # stopped, that is when Python lets go of it.
        leans = entry.record.stops and not entry.lease
        if not leased:
            leans = leans and not self.is_graphs(entry) and self.leases.retain(cell, bits)
        else:
            leans = leans and not shared
        if not (leans and self.lean(entry, thing, cell)):
            self.drop(cell.number)
        return thing

    def receive_value(self, bits: int) -> Any:
        """The same for a value of a callback: what crossed as an object of its own is what it was."""
        thing = self.receive(bits)
        return thing.fresh() if type(thing) is Exact else thing

    def known_exact(self, exact: Exact) -> Exact:
        """The one of an equal value that the library has, so that it finds runtime arguments equal."""
        identity = exact.identity()
        known = self.exacts.get(identity)
        return known if known is not None else self.exacts.setdefault(identity, exact)

    def is_graphs(self, entry: Entry) -> bool:
        """Whether the graph holds the object, as it does what is shared for longer than a resolve."""
        if not entry.key:
            return False
        if self.is_parents:
            return True  # a forked child reads nothing else
        made = self.facts((self.library.key_name(c.invivo_key(entry.key)) or b"").decode("utf-8", "replace"))
        return made is not None and made.is_shared

    def lean(self, entry: Entry, thing: Any, cell: ObjectCell) -> bool:
        """Turns an entry with one lease of ours round: the lease ends when the object is about to."""
        if entry.ended:
            return False
        try:
            entry.turn.pop()  # one of all threads, and of all finalizers that run within this
        except IndexError:
            return False
        entry.lease = cell.number
        if entry.end is not None:
            # What runs when it ends refers to it, so its own end is never heard of: references are counted instead.
            self.return_lent()
            self.lent[entry.number] = entry
            watch_collector()
            return True
        if _endings.watch(type(thing)):
            try:
                entry.weak = weakref.ref(thing)
                entry.strong = None
            except TypeError:  # it has no weak references: it stays until the runtime closes
                pass
        return True

    def return_lent(self) -> None:
        """Gives back resources that nobody refers to any more besides the runtime and the resource itself."""
        for entry in list(self.lent.values()):
            # Besides those there is the argument here.
            if entry.end is not None and sys.getrefcount(entry.strong) <= entry.held + 1:
                self.lent.pop(entry.number, None)
                number, entry.lease = entry.lease, 0
                entry.turn.append(True)
                self.drop(number)

    def ending(self, thing: Any) -> None:
        """An object is about to end: what the library wants of it now (to stop it, say) can still be had."""
        entry = self.by_id.get(id(thing))
        if entry is None or not entry.lease or entry.strong is not None:
            return
        entry.strong, number, entry.lease = thing, entry.lease, 0
        entry.ended = True  # should it live on, its second end would not be heard of
        entry.finalizing = True
        self.drop(number)
        entry.finalizing = False

    def _proxy(self, cell: ObjectCell) -> Object:
        kind = c.invivo_type()
        self.library.object_type(c.invivo_object(cell.bits), ctypes.byref(kind), None)
        proxy = make_proxy(self, cell.bits, cell.number, self.foreign_type(kind.bits))
        return self.proxies.setdefault(cell.bits, proxy)

    def _succeed(self, status: int) -> None:
        if status:
            raise error_class(status)(code=status)

    def key_of_object(self, bits: int) -> str:
        key = c.invivo_key()
        if self.library.object_key(c.invivo_object(bits), ctypes.byref(key), None) or not key.bits:
            return ""
        return (self.library.key_name(key) or b"").decode("utf-8", "replace")

    # ---- types -----------------------------------------------------------------------------------------

    def type_for(self, cls: type, description: Description | None = None) -> _types.TypeRecord:
        """The registered type of a Python class; registers it when it is new."""
        record = self.types.get(cls)
        return record if record is not None else _types.register(self, cls, description)

    def managed_type_for(self, cls: type) -> _types.TypeRecord:
        """The type of resources whose objects are of a class: a subtype of the class's that is stopped."""
        record = self.managed_types.get(cls)
        return record if record is not None else _types.register(self, cls, managed=True)

    def foreign_type(self, bits: int) -> Type:
        found = self.foreign_types.get(bits)
        return found if found is not None else self.foreign_types.setdefault(bits, Type(self, bits))

    def find_type(self, name: str) -> Type:
        kind = c.invivo_type()
        self.library.call("type_find", self.handle, _values.name_bytes(name), ctypes.byref(kind))
        return self.foreign_type(kind.bits)

    def is_type(self, thing: Any) -> bool:
        return isinstance(thing, Type)

    def type_bits(self, thing: type | Type) -> int:
        return thing._bits if isinstance(thing, Type) else self.type_for(thing).bits

    def receive_type(self, bits: int) -> type | Type:
        record = self.types_by_bits.get(bits)
        return self.foreign_type(bits) if record is None else record.description.cls

    def name_of(self, cls: type) -> str:
        """The name that a class has, or will have, as a type of this runtime."""
        known = self.names_of.get(cls)
        if known is not None:
            return known
        for name in _types.possible_names(cls):
            if name not in self.names:
                found = c.invivo_type()
                handle = ctypes.byref(found)
                if self.library.type_find(self.handle, _values.name_bytes(name), handle, None) == c.INVIVO_OK:
                    continue
            if self.names.setdefault(name, cls) is cls:
                return self.names_of.setdefault(cls, name)
        raise AssertionError("possible_names does not end")

    def arguments_of(self, generic: Any) -> str:
        """The text behind the name of a generic class in lookups: ``[User]`` of ``Repository[User]``; "" where it has
        no arguments."""
        given = typing.get_args(generic)
        if not given or any(isinstance(each, typing.TypeVar) for each in given):
            return ""
        return f"[{', '.join(self._argument(each) for each in given)}]"

    def _argument(self, given: Any) -> str:
        origin = typing.get_origin(given)
        if isinstance(origin, type):
            return self.name_of(origin) + self.arguments_of(given)
        return self.name_of(given) if isinstance(given, type) else repr(given)

    def generics_of(self, cls: type) -> list[str]:
        """The generic types that a class says it is: ``Repository[User]`` of a class that derives from that."""
        found: dict[str, None] = {}
        for each in cls.__mro__:
            for base in vars(each).get("__orig_bases__", ()):
                origin, given = typing.get_origin(base), self.arguments_of(base)
                if isinstance(origin, type) and given and origin not in (typing.Generic, typing.Protocol):
                    found[self.name_of(origin) + given] = None
        return list(found)

    def wish(self, of: Any) -> str:
        """The name to look for a class by, or for a generic one with arguments: ``Repository[User]``. Classes that
        behave like a protocol or an abstract class without deriving from it are found by that too from then on."""
        origin = typing.get_origin(of)
        cls: type = origin if isinstance(origin, type) else of
        name = self.name_of(cls)
        # A forked child changes no type.
        if cls not in self.wished and not self.is_parents and (is_protocol(cls) or isinstance(cls, abc.ABCMeta)):
            self.wished[cls] = name
            for record in [*self.types.values(), *self.managed_types.values()]:
                self.grant(record, (cls,))
        return name + self.arguments_of(of)

    def key_of_type(self, of: Any, *, exact: bool = False) -> str:
        """The key of the one definition of a class, or of ``Repository[User]``, as the library finds it."""
        found, kind = c.invivo_key(), _values.name_bytes(self.wish(of))
        flags = c.INVIVO_LOOKUP_EXACT if exact else 0
        self.library.call("key_of_type", self.handle, kind, None, flags, ctypes.byref(found))
        return bytes(self.library.key_name(found) or b"").decode("utf-8", "replace")

    def grant(self, record: _types.TypeRecord, wished: Iterable[type]) -> None:
        """Says of a type what it counts as besides what it derives from."""
        its = record.description.cls
        for cls in list(wished):
            if cls not in its.__mro__ and behaves(its, cls):
                name = _values.name_bytes(self.wished[cls])
                self.library.call("type_extend", self.handle, c.invivo_type(record.bits), name)

    # ---- callables -------------------------------------------------------------------------------------

    def lease_callable(self, function: Callable[..., Any], cell: CallableCell) -> CallableCell:
        """A handle for a function, with a lease in the cell."""
        if isinstance(function, ForeignCallable):
            function._core.check()
            if not self.leases.retain(cell, function._bits):
                assert cell.retained is not None
                self._succeed(cell.retained[0])
            return cell
        known = self.functions.get(identity(function))
        if known is not None and known.bits:
            if self.leases.retain(cell, known.bits):
                return cell
            cell.bits, cell.retained = 0, None
        item = CallableItem(self, function)
        options = c.invivo_callable_options()
        options.struct_size = ctypes.sizeof(options)
        options.name = str(getattr(function, "__qualname__", type(function).__name__)).encode("utf-8", "replace")
        options.invoke = _invoke.of(self.library)
        options.user_data = number = _trampolines.enroll(item)
        options.destroy = _trampolines.destroy.of(self.library)
        try:
            self.library.call("callable_make", self.handle, ctypes.byref(options), ctypes.byref(cell))
        except BaseException:
            if not cell.is_held:
                _trampolines.dismiss(number)
            raise
        item.bits = cell.bits
        self.functions[identity(function)] = item
        return cell

    def receive_callable(self, bits: int) -> Callable[..., Any] | None:
        if not bits:
            return None
        known = self.callables.get(bits)
        if known is not None:
            return known
        handle = c.invivo_callable(bits)
        item = _trampolines.item_of(self.library.callable_user_data(handle, _invoke.of(self.library)))
        if isinstance(item, CallableItem):
            return item.function
        cell = self.leases.cell(CallableCell)
        try:
            if not self.leases.retain(cell, bits):
                assert cell.retained is not None
                self._succeed(cell.retained[0])
            foreign = ForeignCallable(self, bits, cell.number)
            return self.callables.setdefault(bits, foreign)
        except BaseException:
            self.drop(cell.number)
            raise


# Open runtimes, by table and handle.
cores: dict[tuple[int, int], Core] = {}


def key_of(thing: Any) -> str:
    """The key that an object was made for, or ""."""
    for core in list(cores.values()):
        if isinstance(thing, Object):
            if thing._core is core:
                return core.key_of_object(thing._bits)
            continue
        entry = core.entry_for(thing)
        if entry is not None and entry.key:
            return (core.library.key_name(c.invivo_key(entry.key)) or b"").decode("utf-8", "replace")
        if entry is not None and entry.bits:
            return core.key_of_object(entry.bits)
    return ""


def ending(thing: Any) -> None:
    for core in list(cores.values()):
        core.ending(thing)


_endings.heard_by = ending


def _collected(phase: str, _: object) -> None:
    """The collector of garbage has run, and may have ended the last references to a resource."""
    try:
        if phase == "stop":
            for core in list(cores.values()):
                if core.lent and not core.closed:
                    core.return_lent()
    except BaseException as problem:  # the collector drops it
        if not _signals.defer(problem):
            raise


def watch_collector() -> None:
    """From the first resource on, not before: what a signal's handler raises at the entry of such a callback is
    lost."""
    if _collected not in gc.callbacks:
        gc.callbacks.append(_collected)


class _Probe:
    """Stands for a core, to find out how often finalizing an object refers to it."""

    def ending(self, thing: Any) -> None:
        global _finalizer_references
        _finalizer_references = _count(SimpleNamespace(strong=thing))


def _probe_finalizer() -> None:
    class Finalized: ...

    cores[0, 0] = cast(Core, _Probe())
    _endings.watch(Finalized)
    Finalized()
    del cores[0, 0]


_probe_finalizer()


def close_all() -> None:
    """At the interpreter's end: afterwards nobody calls Python code any more."""
    for core in list(cores.values()):
        with contextlib.suppress(Exception):
            core.close()


atexit.register(close_all)


def _forked() -> None:
    """In a forked child the runtimes are the parent's: what was built can be read, all else is INVIVO_E_FORKED."""
    for core in list(cores.values()):
        core.forked()


os.register_at_fork(after_in_child=_forked)
