"""Contexts: values that are inherited from context to context."""

from __future__ import annotations

import contextlib
import ctypes
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .. import _generated as c
from .._classes.callables import check_callback
from .._declarations.context_kinds import MISSING, ContextKey, ContextKind, Key, kind_of, merged, name_of
from .._native import strings
from .._state.core import Core
from .._values import conversion
from .._values.fields import dataclass
from .._values.foreign import Object, Type
from ..errors import ArgumentError, BusyError, Error, StaleError, within
from .context_blocks import Block, Entering
from .context_ending import Children, end, leave
from .context_observers import ContextObserver, context_observer

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

T = TypeVar("T")
D = TypeVar("D")
_Value, _byref, _OWNED = c.invivo_value, ctypes.byref, c.INVIVO_KIND_STRING  # values from this kind on own memory


@dataclass(frozen=True)
class ContextEntry:
    """A value that lookups from a context find. ``distance``: how many contexts above it has the value (0: none)."""

    key: str
    value: Any
    distance: int


class Context:
    """A table of values, in which lookups continue upward: ``context["user"]``.

    `Runtime.context` opens it. Use it in ``with`` or ``async with``: in the block it is the current context, also for
    the asyncio tasks and the calls of `asyncio.to_thread` that begin there, and the end of the block ends it. Outside
    of a block, call `end`.
    """

    __slots__ = (
        "__weakref__",
        "_block",
        "_core",
        "_errors",
        "_handle",
        "_holds",
        "_is_over",
        "_kind",
        "_leased",
        "_place",
        "_word",
    )

    _core: Core
    _handle: c.invivo_context
    _word: Any  # the handle as the argument of a function without declared types
    _kind: str | None  # unset until it is known
    _block: Block | None  # the one that ends it
    _holds: bool  # it was opened here, and has not ended as far as Python knows
    _is_over: bool
    _place: Any  # where it was opened, for a warning
    _errors: list[Error]  # of its end; unset before it has failed
    _leased: list[str]  # what was leased at its end; unset before

    def __init__(self) -> None:
        raise TypeError("an invivo.Context comes from a runtime: runtime.context()")

    # ---- values ----------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, key: ContextKey[T], /) -> T: ...
    @overload
    def __getitem__(self, key: type[T], /) -> T: ...
    @overload
    def __getitem__(self, key: Callable[..., T], /) -> T: ...
    @overload
    def __getitem__(self, key: str, /) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any:
        """Returns the value of a key here, or in the nearest context above that has one, or the default of the key.

        For a class or a member of an assembly, returns the object that ``runtime[...]`` finds with this as the current
        context: ``request[Handler]``.

        `NotFoundError`, a KeyError, if there is none. `OrphanedError` if a context above has ended, so that the lookup
        cannot continue.
        """
        if isinstance(key, (str, ContextKey)) or not callable(key):
            return self._get(self._core.contexts.get, key, MISSING)
        runtime: Any = self._open().runtime()
        return runtime._resolve_in(self._handle, key)

    @overload
    def get(self, key: ContextKey[T], /) -> T | None: ...
    @overload
    def get(self, key: ContextKey[T], default: D, /) -> T | D: ...
    @overload
    def get(self, key: str, default: Any = None, /) -> Any: ...
    def get(self, key: Any, default: Any = None, /) -> Any:
        """Returns the same, or ``default`` if there is none."""
        return self._get(self._core.contexts.get, key, default)

    @overload
    def local(self, key: ContextKey[T], /) -> T: ...
    @overload
    def local(self, key: ContextKey[T], default: D, /) -> T | D: ...
    @overload
    def local(self, key: str, default: Any = MISSING, /) -> Any: ...
    def local(self, key: Any, default: Any = MISSING, /) -> Any:
        """Returns the value that this context itself has, without the default of the key."""
        return self._get(self._core.contexts.get_local, key, default)

    def _get(self, function: Any, key: Any, default: Any) -> Any:
        core, value = self._core, _Value()
        interned = core.contexts.keys.get(key)
        if interned is None:
            interned = self._key(key)
        try:
            try:
                status = function(self._word, interned.word, _byref(value), None)
                if not status:
                    return conversion.read(core, value)
            finally:
                if value.kind >= _OWNED:
                    core.library.value_clear(value)
        except BaseException:  # a signal handler may have raised in the block above
            if value.kind >= _OWNED:
                core.library.value_clear(value)
            raise
        if status == c.INVIVO_E_NOT_FOUND and default is not MISSING:
            return default
        self._check()
        name = "context_get" if function is core.contexts.get else "context_get_local"
        return conversion.ask(core, name, self._handle, interned.handle)  # which raises the error

    def __contains__(self, key: Key) -> bool:
        core, value = self._core, _Value()
        interned = self._key(key)
        try:
            status = core.contexts.get(self._word, interned.word, _byref(value), None)
        finally:
            if value.kind >= _OWNED:
                core.library.value_clear(value)
        if status not in (c.INVIVO_OK, c.INVIVO_E_NOT_FOUND):
            self[key]
        return bool(status == c.INVIVO_OK)

    @overload
    def __setitem__(self, key: ContextKey[T], value: T, /) -> None: ...
    @overload
    def __setitem__(self, key: str, value: Any, /) -> None: ...
    def __setitem__(self, key: Any, value: Any, /) -> None:
        """Sets a value in this context. It shadows the values above.

        Any object can be a value, except None, and comes back as the same object. Strings, numbers, bytes, bools, and
        lists and dicts of these come back as equal ones, and other languages can read them.
        """
        core, interned, name = self._open(), self._key(key), name_of(key)
        with conversion.Packer(core) as packer:
            packed = _Value()
            with within(name):
                core.contexts.fill(packer, packed, value, interned.cls)
            core.library.call("context_set", self._handle, interned.handle, _byref(packed))

    def __delitem__(self, key: Key, /) -> None:
        """Removes the value, or the tombstone of `hide`, that this context has. Lookups find the value above again."""
        core = self._open()
        core.library.call("context_remove", self._handle, self._key(key).handle)

    def hide(self, key: Key, /) -> None:
        """Hides a key: lookups from here and from below find no value of the contexts above, and no default."""
        core = self._open()
        core.library.call("context_hide", self._handle, self._key(key).handle)

    def update(
        self,
        values: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = (),
        /,
        *,
        remove: Iterable[Key] = (),
        hide: Iterable[Key] = (),
        **named: Any,
    ) -> None:
        """Changes several keys at one instant, all or none: ``context.update(theme="dark", hide=["user"])``.

        ``remove`` and ``hide`` are keys to remove and to hide. Values of keys that are no identifiers, or have these
        names, are given by a mapping.
        """
        core = self._open()
        given = merged(values, named)
        parts: list[tuple[int, Key, Any]] = [(c.INVIVO_VALUE_SET, key, value) for key, value in given]
        parts += ((c.INVIVO_VALUE_REMOVE, key, None) for key in strings.listed(remove, "remove=", "['user']"))
        parts += ((c.INVIVO_VALUE_HIDE, key, None) for key in strings.listed(hide, "hide=", "['user']"))
        changes = (c.invivo_context_change * len(parts))()
        with conversion.Packer(core) as packer:
            for slot, (what, key, value) in zip(changes, parts, strict=True):
                interned = self._key(key)
                slot.key, slot.what = interned.handle, what
                if what == c.INVIVO_VALUE_SET:
                    with within(name_of(key)):
                        core.contexts.fill(packer, slot.value, value, interned.cls)
            core.library.call("context_change_values", self._handle, changes, len(parts))

    def entries(self, *, local: bool = False) -> list[ContextEntry]:
        """Returns the values that lookups from here find, sorted by key. ``local``: those of this context itself."""
        core = self._open()
        found = conversion.ask(core, "context_entries", self._handle, local)
        return [ContextEntry(*each) for each in found]

    def keys(self) -> list[str]:
        """Returns the keys that have a value here or above, without defaults."""
        return [each.key for each in self.entries()]

    def values(self) -> list[Any]:
        return [each.value for each in self.entries()]

    def items(self) -> list[tuple[str, Any]]:
        return [(each.key, each.value) for each in self.entries()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        """The number of keys that have a value here or above."""
        return len(self.entries())

    def __bool__(self) -> bool:
        return True

    def observe(
        self, key: Key, callback: Callable[[Any], Any], /, *, loop: AbstractEventLoop | None = None
    ) -> ContextObserver:
        """Calls ``callback(value)`` after changes of a key here or above. None: there is no value any more.

        It runs on the thread of the change, or with ``loop=``, an asyncio event loop, on the thread of that loop.
        Changes that follow each other closely are one call. It ends with the context, or by `close`. Subscribing again
        with an equal callback returns the same observer.
        """
        check_callback(callback, ("value",), "an observer of a context")
        return context_observer(self._open(), self._handle, (name_of(key), self._key(key).handle), callback, loop)

    # ---- the chain -------------------------------------------------------------------------------------

    @property
    def parent(self) -> Context | None:
        """The context above; None if there is none. `OrphanedError` if it has ended."""
        core, found = self._open(), c.invivo_context()
        core.library.call("context_parent", self._handle, _byref(found))
        return context_at(core, found.bits)

    @property
    def kind(self) -> str | None:
        """The name of the kind; None if there is none."""
        if not hasattr(self, "_kind"):
            core, found = self._open(), ctypes.c_char_p()
            core.library.call("context_kind_name", self._handle, _byref(found))
            self._kind = strings.text(found.value) or None
        return self._kind

    @property
    def object(self) -> Any:
        """The object with which the context was opened; None if there is none."""
        core = self._open()
        found = core.cell()
        try:
            core.library.call("context_object", self._handle, _byref(found))
        except BaseException:
            core.drop(found.number)
            raise
        return core.take(found)

    @property
    def runtime(self) -> Any:
        """The runtime, an `invivo.Runtime`."""
        return self._open().runtime()

    @property
    def ended(self) -> bool:
        """Whether the context has ended."""
        core = self._core
        if not (self._is_over or core.closed):
            found = c.invivo_runtime()
            self._is_over = core.library.context_runtime(self._handle, _byref(found), None) == c.INVIVO_E_STALE
        return self._is_over or core.closed

    def find(
        self,
        type: type | Type | str | None = None,
        /,
        *,
        kind: str | ContextKind | None = None,
        exact: bool = False,
        above: bool = False,
    ) -> Context:
        """Returns the nearest context, from this one upward, of a kind or with an object of a class.

        ``context.find(Router).object.next()`` calls the nearest router. Subclasses and implementations of a protocol
        are found too, except with ``exact``. ``above``: begins with the parent. `NotFoundError` if there is none.
        """
        core, found, query = self._open(), c.invivo_context(), c.invivo_context_query()
        if (type is None) == (kind is None):
            raise ArgumentError("find() takes a class or kind=, one of them")
        query.struct_size = ctypes.sizeof(query)
        if kind is not None:
            query.kind = strings.name_bytes(kind_of(kind).name, "kind")
        elif type is not None:
            if isinstance(type, Type):
                type = type.name
            name = type if isinstance(type, str) else core.types.query(type)
            query.type = strings.name_bytes(name, "type")
        query.flags = (c.INVIVO_FIND_ABOVE if above else 0) | (c.INVIVO_FIND_EXACT_TYPE if exact else 0)
        core.library.call("context_find", self._handle, _byref(query), _byref(found))
        nearest = context_at(core, found.bits)
        assert nearest is not None
        return nearest

    # ---- objects ---------------------------------------------------------------------------------------

    def attach(self, thing: Any, /) -> None:
        """Attaches the context to an object: `Runtime.context_of` finds it from there.

        It replaces the context that the object had. The object holds the context: without a kind, it then ends with
        its last holder, and needs no `end`.
        """
        core = self._open()
        cell = core.cell()
        try:
            core.lease(thing, cell)
            core.library.call("context_attach", self._handle, cell)
            entry = None if isinstance(thing, Object) else core.entry_for(thing)
            # An object that only Python holds keeps its handle until it ends.
            if entry is None or core.is_graphs(entry) or not core.lean(entry, thing, cell):
                core.drop(cell.number)
        except BaseException:
            core.drop(cell.number)
            raise
        if self._holds and self._kind is None:
            self._place = None

    # ---- life ------------------------------------------------------------------------------------------

    def end(self, *, timeout: float | None = None, children: Children = "end") -> None:
        """Ends the context: first the open contexts that hold it, the newest first.

        Waits for builds in it, and stops its objects, the last created first. ``timeout``: the time for all of this in
        seconds; None is `end_timeout` of the runtime. With ``children="refuse"`` it is a `BusyError` without effect
        while contexts hold it. `leased` lists the objects that are still leased. Errors of stops are raised: one as
        itself, several as an ``ExceptionGroup``; `end_errors` has all of them.

        May be called again, which raises the same errors. Contexts that do not hold it stay open; their lookups upward
        then raise `OrphanedError`.
        """
        end(self, None, timeout, children)

    @property
    def end_errors(self) -> list[Error]:
        """The errors of the stops at the end of the context, in their order."""
        return list(getattr(self, "_errors", ()))

    @property
    def leased(self) -> list[str]:
        """The objects that lived in the context and were still leased at its end, the last created first.

        By their keys, or types. They end with their last lease.
        """
        return list(getattr(self, "_leased", ()))

    def release(self) -> None:
        """Leaves the context to its other holders: the objects that it is attached to, and the contexts that hold it.

        A context without a kind ends with its last holder. Without other holders, that is now.
        """
        holds, self._holds = self._holds, False
        if holds and not self._core.closed:
            self._core.library.call("context_release", self._handle)

    def __enter__(self) -> Context:
        self._open()
        if self._block is not None:
            raise BusyError("the context is entered by a 'with' block already: use context.entered() in others")
        if self.ended:
            raise StaleError("the context has ended")
        self._block = block = Block(self)
        try:
            block.enter()
            return self
        except BaseException:
            self._block = None
            block.leave()
            raise

    def __exit__(self, _: Any, raised: BaseException | None, __: Any) -> None:
        try:
            leave(self, raised)
        except BaseException:  # a signal handler may have raised in the block above: its steps can be repeated
            leave(self, raised)
            raise

    async def __aenter__(self) -> Context:
        return self.__enter__()

    async def __aexit__(self, kind: Any, raised: BaseException | None, traceback: Any) -> None:
        self.__exit__(kind, raised, traceback)

    def entered(self) -> contextlib.AbstractContextManager[Context]:
        """In a ``with`` block: this is the current context there, on any thread and in any task, as often as wanted.

        The context does not end with the block.
        """
        return Entering(self)

    def __del__(self) -> None:
        if not getattr(self, "_holds", False):
            return
        core, place = self._core, self._place
        self._holds = False
        if self.ended or core.is_parents:
            return
        core.library.context_release(self._handle, None)
        if place is not None:
            location = place._obj
            what = f"the context {self._kind!r}" if self._kind else "a context"
            warnings.warn_explicit(
                f"{what} was not ended: use it as 'with runtime.context():', or call end() or release()",
                ResourceWarning,
                strings.text(location.file),
                location.line,
            )

    # ---- use -------------------------------------------------------------------------------------------

    def _open(self) -> Core:
        core = self._core
        self._check()
        core.check()
        return core

    def _check(self) -> None:
        if self._core.closed:
            raise StaleError("the context has ended: its runtime is closed")

    def _key(self, key: Any) -> Any:
        self._check()
        return self._core.contexts.key(key)

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError("a Context cannot be copied or pickled")

    def __repr__(self) -> str:
        kind = f" {self._kind}" if getattr(self, "_kind", None) else ""
        return f"<invivo.Context{kind}{', ended' if self.ended else ''}>"


def context_at(core: Core, bits: int) -> Context | None:
    """Returns the context of a handle, which Python does not hold unless it has opened it. None for zero."""
    if not bits:
        return None
    found: Context | None = core.contexts.open.get(bits)
    return found if found is not None else core.contexts.open.setdefault(bits, make(core, c.invivo_context(bits)))


def make(core: Core, handle: c.invivo_context) -> Context:
    """Returns a new object for a context, which does not hold it."""
    made = Context.__new__(Context)
    made._core, made._handle = core, handle
    made._word = ctypes.c_uint64.from_param(handle.bits)
    made._block = made._place = None
    made._holds = made._is_over = False
    return made
