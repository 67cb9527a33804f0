"""The runtime as Python uses it."""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import dataclasses
import enum
import logging
import os
import threading
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _async, _config, _current, _trampolines, _values
from . import _generated as c
from ._assembly import Assembly, Bound, Member, describe_alone
from ._changes import Changes
from ._config import ConfigObserver
from ._core import Core, cores
from ._describe import _RUNTIME, Hint, Tunable
from ._failures import text
from ._graph import GRAPH_FORMATS, KEYS_LANGUAGES, GraphFormat, KeysLanguage, WiringNode, nodes
from ._library import library_at, own_library
from ._objects import Object, Type
from ._overrides import Override
from ._pools import Pool, end_scope, register_scope
from ._processors import Described
from ._recipes import Lazy, Options, Scope
from ._reloads import Observer, Purger, Reloads, Report
from ._trees import Children, Held, inject_tree
from ._types import bounds
from ._views import View
from ._wiring import Definition, ambiguous, candidates, definition
from .errors import (
    AmbiguousError,
    ArgumentError,
    ArityError,
    ClosedError,
    Error,
    ForkedError,
    HandleError,
    NotConfiguredError,
    NotFoundError,
    NotReadyError,
    RangeError,
    StopError,
    WrongTypeError,
)

_MISSING: Any = object()
T = TypeVar("T")
AnyAssembly = TypeVar("AnyAssembly", bound=Assembly)
Path = str | os.PathLike[str]
Log = Callable[[int, str, str, Mapping[str, Any]], Any]

if TYPE_CHECKING:

    class _Cache:
        """Resolved shared objects by the key they were asked for; nobody's business but the runtime's."""

else:
    _Cache = dict

_dict: Any = dict


class LogLevel(enum.IntEnum):
    TRACE = c.INVIVO_LOG_TRACE
    DEBUG = c.INVIVO_LOG_DEBUG
    INFO = c.INVIVO_LOG_INFO
    WARNING = c.INVIVO_LOG_WARNING
    ERROR = c.INVIVO_LOG_ERROR
    SILENT = c.INVIVO_LOG_SILENT

    def __str__(self) -> str:
        return self.name.lower()


_LOGGING = {
    LogLevel.TRACE: logging.DEBUG,
    LogLevel.DEBUG: logging.DEBUG,
    LogLevel.INFO: logging.INFO,
    LogLevel.WARNING: logging.WARNING,
    LogLevel.ERROR: logging.ERROR,
}


@dataclasses.dataclass(frozen=True)
class State:
    """Where the shared instances of a key are in their life. ``state``: "cold", "building", "made", "prepared",
    "starting", "started", "stopping", "stopped", "failed" (then ``error`` says why) or "dormant" (then ``waits`` names
    what is not there)."""

    key: str
    state: str
    objects: int
    waits: tuple[str, ...]
    error: str


class Source:
    """Where documents come from: a file that is followed, or a text in memory."""

    def __init__(self, core: Core, handle: c.invivo_source, name: str) -> None:
        self._core, self._handle, self.name = core, handle, name

    def update(self, text: str) -> None:
        """Replaces the text of a document in memory: one reload, done when this returns."""
        self._core.check()
        data = _values.text_bytes(text)
        self._core.library.call("source_update", self._handle, data, len(data))

    def refresh(self) -> None:
        """Looks at a file now, without waiting for an event; done when this returns."""
        self._core.check()
        self._core.library.call("source_refresh", self._handle)

    def close(self) -> None:
        """Stops following, and takes away what the document said. May be called again."""
        handle, self._handle = self._handle, c.invivo_source()
        if handle.bits and not self._core.closed:
            self._core.library.call("source_close", handle)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<invivo.Source {self.name}>"


class Target:
    """An object attached to a spec key."""

    def __init__(self, core: Core, handle: c.invivo_target, key: str) -> None:
        self._core, self._handle, self.key = core, handle, key

    def detach(self) -> None:
        """Takes away what specs said, and lets go. May be called again."""
        handle, self._handle = self._handle, c.invivo_target()
        if handle.bits and not self._core.closed:
            self._core.library.call("target_detach", handle)


class LogItem:
    def __init__(self, core: Core, log: Log) -> None:
        self.core, self.log = core, log


@_trampolines.telling(c.invivo_runtime_options, "log", user_data=0)
def _log(item: LogItem, _: int, entry: Any) -> None:
    one = entry[0]
    fields = {}
    for index in range(one.field_count):
        pair = one.fields[index]
        fields[_values.pair_name(pair)] = _values.read(item.core, pair.value)
    item.log(LogLevel(one.level), text(one.message), text(one.path), fields)


def to_logger(logger: logging.Logger) -> Log:
    """A log callback that hands everything to a logger of the standard library."""

    def log(level: int, message: str, path: str, fields: Mapping[str, Any]) -> None:
        logger.log(_LOGGING.get(LogLevel(level), logging.INFO), message, extra={"invivo": dict(fields)})

    return log


def make_options(
    core: Core,
    *,
    name: str | None = None,
    default_domain: Literal["opener", "loop"] = "opener",
    log: Log | logging.Logger | None = None,
    log_level: LogLevel | str = LogLevel.INFO,
    quiet: float | None = None,
    settle_max: float | None = None,
    commit_timeout: float | None = None,
    start_timeout: float | None = None,
    stop_timeout: float | None = None,
    pending_targets: bool = False,
    max_document_bytes: int = 0,
    inject_marked: bool = True,
) -> c.invivo_runtime_options:
    """The C options. Times are seconds, as everywhere in Python."""
    options = c.invivo_runtime_options()
    core.library.runtime_options_init(ctypes.byref(options))
    if name is not None:
        options.name = _values.name_bytes(name)
    domains = {"opener": c.INVIVO_DOMAIN_OPENER, "loop": c.INVIVO_DOMAIN_LOOP}
    if default_domain not in domains:
        raise ArgumentError(f"default_domain is 'opener' or 'loop', not {default_domain!r}")
    options.default_domain = domains[default_domain]
    if pending_targets:
        options.flags |= c.INVIVO_RUNTIME_PENDING_TARGETS
    if not inject_marked:
        options.flags |= c.INVIVO_RUNTIME_WITHOUT_NEEDS
    if quiet is not None:
        options.quiet_ms = milliseconds(quiet)
    if settle_max is not None:
        options.settle_max_ms = milliseconds(settle_max)
    if commit_timeout is not None:
        options.commit_timeout_ms = milliseconds(commit_timeout)
    if start_timeout is not None:
        options.start_timeout_ms = milliseconds(start_timeout)
    if stop_timeout is not None:
        options.stop_timeout_ms = milliseconds(stop_timeout)
    options.max_document_bytes = max_document_bytes
    options.log_level = _level(log_level)
    if log is not None:
        item = LogItem(core, to_logger(log) if isinstance(log, logging.Logger) else log)
        options.log, options.log_destroy = _log.of(core.library), _trampolines.destroy.of(core.library)
        options.log_user_data = _trampolines.enroll(item)
    return options


def _level(level: LogLevel | str) -> LogLevel:
    try:
        return LogLevel[level.upper()] if isinstance(level, str) else LogLevel(level)
    except (KeyError, ValueError):
        raise ArgumentError(f"log_level is {', '.join(map(str, LogLevel))}; not {level!r}") from None


def milliseconds(seconds: float) -> int:
    if not 0 <= seconds < (1 << 32) / 1000 - 1:
        raise ArgumentError(f"{seconds} s is no time to wait")
    return round(seconds * 1000)


class Runtime(_Cache):
    """One engine: activates assemblies, resolves their objects, follows specs.

    ``runtime[Player]`` and ``runtime["synth.player"]`` resolve; a shared object that is built costs one look into a
    dict. Use it in ``with``, or close it; in the block it is the current runtime (`current`).
    """

    _core: Core

    def __init__(
        self,
        *assemblies: Assembly,
        watch: Path | Iterable[Path] | None = None,
        name: str | None = None,
        default_domain: Literal["opener", "loop"] = "opener",
        log: Log | logging.Logger | None = None,
        log_level: LogLevel | str = LogLevel.INFO,
        quiet: float | None = None,
        settle_max: float | None = None,
        commit_timeout: float | None = None,
        start_timeout: float | None = None,
        stop_timeout: float | None = None,
        pending_targets: bool = False,
        max_document_bytes: int = 0,
        inject_marked: bool = True,
    ) -> None:
        """Times are seconds. ``start_timeout``, ``stop_timeout``: how long a start or stop may take, where a definition
        does not say another time. ``inject_marked``: whether attributes marked by `injected` or `Inject` are filled."""
        core = Core(own_library())
        core.marked = inject_marked
        options = make_options(
            core,
            name=name,
            default_domain=default_domain,
            log=log,
            log_level=log_level,
            quiet=quiet,
            settle_max=settle_max,
            commit_timeout=commit_timeout,
            start_timeout=start_timeout,
            stop_timeout=stop_timeout,
            pending_targets=pending_targets,
            max_document_bytes=max_document_bytes,
            inject_marked=inject_marked,
        )
        try:
            core.library.call("runtime_open", ctypes.byref(core.handle), ctypes.byref(options))
        except BaseException:
            _trampolines.dismiss(options.log_user_data)
            raise
        core.owned = True
        self._settle(core, opened=False)
        try:
            core.opened()
            Purger(core)
            if assemblies:
                self.activate(*assemblies)
            for path in [watch] if isinstance(watch, (str, os.PathLike)) else watch or ():
                self.watch(path)
        except BaseException:
            self.close()
            raise

    @classmethod
    def _around(cls, core: Core) -> Runtime:
        """Another face of a runtime that is open already."""
        self = cls.__new__(cls)
        self._settle(core, opened=True)
        return self

    def _settle(self, core: Core, *, opened: bool) -> None:
        self._core = core
        self._ready, self._taking = core.plans.ready, core.plans.taking
        self._is_guest = opened
        self._gone = False
        self._entries = 0
        self._lock = threading.RLock()
        self._keys: dict[str, tuple[c.invivo_key, ctypes.c_uint64]] = {}
        core.faces.append(self)

    # ---- life ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stops and disposes everything, and ends the runtime's threads. May be called again.

        Objects of other languages that came from it are dead afterwards. A runtime that was attached is only let go of.
        """
        core = self._core
        if self._gone or core.closed:
            return
        try:
            if not (self._is_guest and core.owned):
                others = [face for face in core.faces if face is not self]
                if core.owned or not others:
                    core.close()
        except StopError:  # closed all the same
            self._ended()
            raise
        self._ended()

    def _ended(self) -> None:
        self._gone = True
        self._ready, self._taking = {}, {}
        _current.ended(self)
        self.purge()
        if self in self._core.faces:
            self._core.faces.remove(self)

    def __enter__(self) -> Runtime:
        with self._lock:
            self._entries += 1
        _current.enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Closes it where the last block ends; in every block it is the current runtime."""
        _current.leave(self)
        with self._lock:
            self._entries -= 1
            last = not self._entries
        if last:
            # A forked child leaves the block of its parent's runtime; there is nothing of its own to close.
            with contextlib.suppress(ForkedError):
                self.close()

    def entered(self) -> _current.Entering:
        """In a ``with`` block: this is the current runtime there, in the calling thread or task, and is not closed at
        its end."""
        return _current.Entering(self)

    @property
    def closed(self) -> bool:
        return self._gone or self._core.closed

    def _open(self) -> Core:
        if self._gone:
            raise ClosedError("the runtime is closed")
        self._core.check()
        return self._core

    # ---- resolving -------------------------------------------------------------------------------------

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: type[T]) -> T: ...
        @overload
        def __getitem__(self, key: str) -> Any: ...
        def __getitem__(self, key: Any) -> Any: ...

    def __missing__(self, key: Any) -> Any:
        make = self._ready.get(key)
        return self._resolve(key) if make is None else make(self)

    def _resolve(self, key: Any) -> Any:
        core = self._open()
        name = self._name(key)
        plan = core.plans.find(name)
        if plan is not None and not plan.takes and not (core.planning or core.calling):
            core.plans.ready[key] = plan.make
            return plan.make(self)
        handle, word = self._key(name)
        made = core.definitions.get(name)
        if made is not None and made.arguments:
            return self._resolve_with(name, made.bind((), {}))
        before, uses = word.value, core.uses
        found = c.invivo_object()
        core.library.call("resolve", core.handle, handle, ctypes.byref(found))
        thing, shared = self._resolved(core, handle, found.bits)
        if shared:
            # Kept only if no commit has touched the key since before the resolve. A commit first changes the word and
            # then purges, and the purge takes this lock: so it comes after, or the word has changed already.
            # While something is built its constructor must ask the library, which learns so what it depends on.
            with self._lock:
                if word.value == before and not self._gone and not core.closed and not core.calling:
                    _dict.__setitem__(self, key, thing)
        else:
            core.plans.consider(key, name, handle, word, before, uses)
        return thing

    def _unplanned(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """A plan no longer holds, or cannot be used here."""
        plans = self._core.plans
        if plans.find(name) is None:
            plans.purge()
        return self._resolve_with(name, arguments, planned=False) if arguments else self._resolve(name)

    def _gave_up(self, version: int, name: str, arguments: tuple[Any, ...]) -> Any:
        """A constructor used the runtime in the middle of a plan: this version of the key gets none any more."""
        core = self._core
        core.given_up.discard(threading.get_ident())
        core.plans.refuse(name, version)
        return self._resolve_with(name, arguments) if arguments else self._resolve(name)

    def _resolved(self, core: Core, handle: c.invivo_key, bits: int) -> tuple[Any, bool]:
        peeked = c.invivo_object()
        shared = False
        if core.library.peek(core.handle, handle, ctypes.byref(peeked)) == c.INVIVO_OK:
            shared = peeked.bits == bits
            core.library.object_release(peeked)
        return core.receive(bits, leased=True, shared=shared), shared

    def _key(self, name: str) -> tuple[c.invivo_key, ctypes.c_uint64]:
        known = self._keys.get(name)
        if known is None:
            library, handle = self._core.library, c.invivo_key()
            library.call("key_find", self._core.handle, _values.name_bytes(name, "key"), ctypes.byref(handle))
            address = ctypes.cast(library.key_version(handle), ctypes.c_void_p).value
            if not address:
                raise HandleError(f"the key {name} has no version")
            known = self._keys.setdefault(name, (handle, ctypes.c_uint64.from_address(address)))
        return known

    def _name(self, key: Any) -> str:
        if isinstance(key, str):
            return key
        if isinstance(key, Bound):  # camelot.knight
            return key.key
        generic = None
        if isinstance(typing.get_origin(key), type):  # Repository[User]
            generic, key = key, typing.get_origin(key)
        if not isinstance(key, type):
            raise WrongTypeError(f"a key is a class, a name or a member of an assembly, not {key!r}")
        found = candidates(key, self._core.definitions, generic=generic)
        if len(found) == 1:
            return found[0].key
        if found:
            raise AmbiguousError(f"{ambiguous(key, found)}; ask for one by its key")
        made = ", ".join(sorted({each.made for each in self._core.definitions.values()}))
        raise NotFoundError(f"no definition makes a {key.__name__}; there are definitions of {made or 'nothing'}")

    @property
    def keeps(self) -> bool:
        return bool(_dict.__len__(self))

    def purge(self) -> None:
        """Forgets which shared objects were resolved; they are asked for anew. A commit does this by itself."""
        with self._lock:
            old = list(_dict.values(self))
            _dict.clear(self)
        del old  # what it alone kept ends here, where nothing is locked

    @overload
    def resolve(self, key: type[T], *arguments: Any, **named: Any) -> T: ...
    @overload
    def resolve(self, key: str, *arguments: Any, **named: Any) -> Any: ...
    def resolve(self, key: Any, *arguments: Any, **named: Any) -> Any:
        """Like ``runtime[key]``; with runtime arguments, by position or name."""
        if not arguments and not named:
            return self[key]
        plan = None if named else self._taking.get(key)
        if plan is not None and plan.takes == len(arguments):
            return plan.make(self, *arguments)
        core = self._open()
        name = self._name(key)
        made = core.definitions.get(name)
        if made is not None:
            return self._resolve_with(name, made.bind(arguments, named))
        if named:
            raise ArityError(f"{name} is not defined by Python: its arguments go by position", path=name)
        return self._resolve_with(name, arguments)

    def _resolve_with(self, name: str, arguments: Sequence[Any], *, planned: bool = True) -> Any:
        core = self._core
        plan = self._taking.get(name) if planned else None
        if plan is not None and plan.takes == len(arguments):
            return plan.make(self, *arguments)
        core.check()
        handle, word = self._key(name)
        before, uses = word.value, core.uses
        thing = self._ask("resolve_with", handle, name, arguments)
        core.plans.consider(None, name, handle, word, before, uses)
        return thing

    def _ask(self, function: str, handle: c.invivo_key, name: str, arguments: Iterable[Any]) -> Any:
        core, found = self._core, c.invivo_object()
        with _values.Packer(core) as packer:
            array, count = core.pack(packer, name, arguments)
            core.library.call(function, core.handle, handle, array, count, ctypes.byref(found))
        return self._take(core, found.bits)

    def _take(self, core: Core, bits: int) -> Any:
        """What a handle with a lease of ours stands for."""
        key = c.invivo_key()
        if not bits or core.library.object_key(c.invivo_object(bits), ctypes.byref(key), None) or not key.bits:
            return core.receive(bits, leased=True)
        return self._resolved(core, key, bits)[0]

    @overload
    def resolve_optional(self, key: type[T], *arguments: Any, **named: Any) -> T | None: ...
    @overload
    def resolve_optional(self, key: str, *arguments: Any, **named: Any) -> Any: ...
    def resolve_optional(self, key: Any, *arguments: Any, **named: Any) -> Any:
        """The same, or None when there is no such definition, or what makes it answers None."""
        core = self._open()
        if not isinstance(key, str):
            found = candidates(key, core.definitions)
            if not found:
                return None
        name = self._name(key)
        handle = c.invivo_key()
        core.library.call("key_intern", core.handle, _values.name_bytes(name, "key"), ctypes.byref(handle))
        made = core.definitions.get(name)
        given = arguments if made is None else made.bind(arguments, named)
        return self._ask("resolve_optional", handle, name, given)

    @overload
    def resolve_type(self, of: builtins.type[T], name: str | None = None, *, exact: bool = False) -> T: ...
    @overload
    def resolve_type(
        self, of: builtins.type[T], name: str | None = None, *, exact: bool = False, optional: bool
    ) -> T | None: ...
    def resolve_type(
        self, of: builtins.type[T], name: str | None = None, *, exact: bool = False, optional: bool = False
    ) -> T | None:
        """The object of the one definition whose class is, or derives from, ``of``; ``name``: with this key, or the end
        of it. ``optional``: None where there is none."""
        core, found = self._open(), c.invivo_object()
        wanted = None if name is None else _values.name_bytes(name)
        flags = (c.INVIVO_LOOKUP_EXACT if exact else 0) | (c.INVIVO_LOOKUP_OPTIONAL if optional else 0)
        kind = _values.name_bytes(core.wish(of))
        core.library.call("resolve_type", core.handle, kind, wanted, flags, ctypes.byref(found))
        thing: T | None = self._take(core, found.bits)
        return thing

    def resolve_all(self, of: builtins.type[T], *, exact: bool = False) -> list[T]:
        """One object of each definition of a class, by rank, then as declared; none is an empty list. Objects of graph
        scope are shared within the call."""
        core, found = self._open(), c.invivo_value()
        flags = c.INVIVO_LOOKUP_EXACT if exact else 0
        core.library.call("resolve_all", core.handle, _values.name_bytes(core.wish(of)), flags, ctypes.byref(found))
        things: list[T] = _values.take(core, found)
        return things

    @property
    def wiring(self) -> list[WiringNode]:
        """The wiring of the newest generation, by key: what there is, what it needs, what is alive."""
        core, found = self._open(), c.invivo_value()
        core.library.call("graph_describe", core.handle, c.INVIVO_GRAPH_FACTS, ctypes.byref(found))
        return nodes(_values.take(core, found))

    def wiring_text(self, format: GraphFormat) -> str:
        """The same as JSON, as a digraph for Graphviz, or as a Mermaid flowchart."""
        core, found = self._open(), c.invivo_value()
        core.library.call("graph_describe", core.handle, GRAPH_FORMATS[format], ctypes.byref(found))
        text: str = _values.take(core, found)
        return text

    def keys_text(self, language: KeysLanguage = "python") -> str:
        """A typed function for each key, as source text: names, arguments and results are then checked by mypy, or by a
        compiler."""
        core, found = self._open(), c.invivo_value()
        core.library.call("graph_describe", core.handle, KEYS_LANGUAGES[language], ctypes.byref(found))
        text: str = _values.take(core, found)
        return text

    def inject(self, thing: Any, key: str | None = None, *, shared: bool = False) -> None:
        """Injects into an object made elsewhere, as a key's definition says, or else that of its class, or else what is
        marked in the class. No constructor runs; all hooks do. ``shared``: it becomes the shared object of its key,
        which must not be made yet."""
        core = self._open()
        handle = c.invivo_key()
        if key is not None:
            handle, _ = self._key(key)
        elif not isinstance(thing, Object) and not core.type_for(builtins.type(thing)).fills_needs:
            cls = builtins.type(thing)
            made = [each for each in core.definitions.values() if each.makes is cls and not each.options.abstract]
            if not any(not each.owner for each in made):
                if not self.fill(thing):
                    raise NotFoundError(
                        f"no definition makes a {cls.__name__}, and nothing in the class is marked for injection"
                    )
                return
        with Held(core) as held:
            flags = c.INVIVO_INTO_SHARED if shared else 0
            core.library.call("inject_with", held.add(thing), handle, flags)

    def inject_tree(
        self,
        root: Any,
        key: str | None = None,
        *,
        children: Children | None = None,
        key_of: Callable[[Any], str | None] | None = None,
        skip: Callable[[Any], bool] | None = None,
        known_only: bool = False,
    ) -> None:
        """Injects into an object made elsewhere and into everything below it, each by the key that it names, else as
        the definition of its class says, else what is marked in the class.

        ``children`` answers what is below an object (otherwise its method marked by `children` does), ``key_of`` the
        key that it names (`injection_key`), ``skip`` whether another loader takes care of it and what is below. What a
        definition made is left alone. All that is wrong is raised before anything is injected; the hooks after all run
        when the whole tree is complete, children before parents. ``known_only``: what nobody knows how to inject is
        left as it is.
        """
        inject_tree(self._open(), root, key, children, key_of, skip, known_only)

    @overload
    async def aresolve(self, key: builtins.type[T], *arguments: Any, **named: Any) -> T: ...
    @overload
    async def aresolve(self, key: str, *arguments: Any, **named: Any) -> Any: ...
    async def aresolve(self, key: Any, *arguments: Any, **named: Any) -> Any:
        """Like `resolve`, for asyncio: the object is resolved where it belongs, and the event loop goes on meanwhile.
        Awaited in the opening thread, the loop runs the jobs that wait for that thread."""
        core = self._open()
        name = self._name(key)
        handle, _ = self._key(name)
        made = core.definitions.get(name)
        if made is not None:
            arguments = tuple(made.bind(arguments, named))
        elif named:
            raise ArityError(f"{name} is not defined by Python: its arguments go by position", path=name)
        return await _async.resolve(core, handle, name, arguments, lambda: self.poll(0))

    def fill(self, thing: Any) -> bool:
        """Injects what an object's class marks, as if it were defined. False: there is nothing."""
        core = self._open()
        described = core.type_for(builtins.type(thing)).description
        hooks = described.will_inject, described.take_runtime, described.did_inject
        places = described.injected if core.marked else ()
        if hooks[0] is not None:
            getattr(thing, hooks[0])()
        for each in places:
            setattr(thing, each.name, self._for(each.hint, f"{described.name}.{each.name}"))
        if hooks[1] is not None:
            getattr(thing, hooks[1])(self)
        if hooks[2] is not None:
            getattr(thing, hooks[2])()
        return bool(places) or hooks != (None, None, None)

    def _inject_one(self, thing: Any, name: str) -> Any:
        """Fills one marked attribute, and answers what it holds then."""
        core = self._open()
        described = core.type_for(builtins.type(thing)).description
        place = f"{described.name}.{name}"
        if not core.marked:
            raise NotReadyError("the current runtime does not fill marked attributes (inject_marked=False)", path=place)
        found = self._for(described.tunables[name].hint, place)
        setattr(thing, name, found)
        return found

    def _for(self, hint: Hint, place: str) -> Any:
        """What an annotation asks for, resolved here and now."""
        inner = hint.item or hint
        what: Any = hint.key or inner.key or inner.wanted
        if hint.late == "runtime":
            return self
        if hint.late == "resolver":
            return self.resolve
        if hint.late == "all":
            return hint.decode(self.resolve_all(what))
        if what is None:
            if hint.optional or hint.late == "asker":
                return None
            raise NotFoundError("its annotation does not say what is to be injected", path=place)
        find = self.resolve_optional if hint.optional or inner.optional else self.resolve
        if hint.late is None:
            return find(what)
        if what not in self:
            if hint.optional or inner.optional:
                return None
            find(what)  # which says what is the matter
        return Lazy(lambda: find(what)) if hint.late == "lazy" else lambda *arguments: find(what, *arguments)

    def __contains__(self, key: object) -> bool:
        core, found = self._open(), c.invivo_key()
        try:
            name = _values.name_bytes(self._name(key), "key")
            core.library.call("key_find", core.handle, name, ctypes.byref(found))
        except (NotFoundError, WrongTypeError):
            return False
        return True

    # A runtime is a dict only inside: none of a dict's other manners show.
    __hash__ = object.__hash__
    __iter__ = None
    __reversed__ = None

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return int(self.info.definitions)

    def __setitem__(self, key: object, thing: object) -> None:
        raise TypeError("objects are made by definitions: use runtime.define()")

    def __delitem__(self, key: object) -> None:
        raise TypeError("definitions are taken away by runtime.changes()")

    def __repr__(self) -> str:
        try:
            return f"<invivo.Runtime, generation {self.info.generation}>"
        except ClosedError:  # also while it closes
            return "<invivo.Runtime, closed>"

    # ---- pools and scopes ------------------------------------------------------------------------------

    def pool(self, name: str | None = None, make: Callable[[Any], Any] | None = None) -> Pool:
        """Opens a weak pool. ``make(key)`` makes what is missing, where a get does not say how."""
        return Pool._open(self._open(), name, make)

    def find_pool(self, name: str) -> Pool:
        """The pool of a name, whatever language opened it."""
        return Pool._find(self._open(), name)

    def scope(
        self,
        name: str,
        find: Callable[[], int | None],
        keep: Callable[[int, str], None] | None = None,
        drop: Callable[[int, str], None] | None = None,
    ) -> None:
        """A scope of the program's own. ``find()`` says where the calling code is (a request, a document: a number of
        the program's choosing; None: nowhere). ``keep`` and ``drop`` hear of each object that is kept there, and of its
        end, by place and key. Before the first definition that names it."""
        register_scope(self._open(), name, find, keep, drop)

    def end_scope(self, name: str, place: int) -> None:
        """Ends a place of a scope: what was made there is let go, last made first."""
        end_scope(self._open(), name, place)

    # ---- changing --------------------------------------------------------------------------------------

    def changes(self) -> Changes:
        """A change set: everything in it takes effect as one reload when its ``with`` block ends, or nothing does."""
        self._open()
        return Changes(self._core)

    def activate(self, *assemblies: Assembly) -> None:
        """Adds assemblies and the ones that they need, in any order, as one reload. One that is active stays as it is;
        a class's instance replaces an active one of the same name."""
        with self.changes() as changes:
            changes.activate(*assemblies)

    def deactivate(self, *assemblies: Assembly) -> None:
        """Takes assemblies away, in one reload; their members are recipes again."""
        with self.changes() as changes:
            changes.deactivate(*assemblies)

    def assembly_state(self, name: str) -> Literal["unknown", "inactive", "active"]:
        """Whether an assembly of this name is active, or known, whatever language described it; also of mounts."""
        return _ASSEMBLY_STATES[self._open().assembly_state(name)]

    def describe(self, *assemblies: Assembly) -> None:
        """Makes assemblies known, with those that they need, without activating them: until somebody does (by
        ``activate``, or an application's manifest) resolving says which assembly must be activated."""
        self.changes().describe(*assemblies)

    def remove(self, *gone: Assembly | str) -> None:
        """Takes assemblies away, with all their definitions, and single definitions by their keys, in one reload."""
        with self.changes() as changes:
            for each in gone:
                if isinstance(each, str):
                    changes.remove(each)
                else:
                    changes.deactivate(each)

    def mount(
        self, assembly: AnyAssembly, prefix: str, /, remap: Mapping[str, str | Assembly] | None = None
    ) -> AnyAssembly:
        """Activates an assembly under a prefix of its own, beside others of its class::

            left = runtime.mount(Voice(), "left", remap={"clock.main": "studio.clock"})
            left.filter()  # the key left.filter

        What it refers to outside of itself follows ``remap``: keys, or the first parts of keys, and what they become;
        an assembly stands for its name. Configuration is looked for under the prefix, then under the assembly's own
        name, then in what is global. Answers the assembly, which has the prefix as its name until it is removed."""
        with self.changes() as changes:
            changes.mount(assembly, prefix, remap)
        return assembly

    def define(
        self,
        what: Any,
        /,
        key: str | None = None,
        scope: Scope = "lazy_singleton",
        options: Options | None = None,
        **overrides: Any,
    ) -> None:
        """Adds or replaces one definition, in one reload: of a class, of a factory whose annotation says what it makes,
        of a recipe, of a type of another language by its name, or of a function that describes it with its runtime
        arguments: see `Changes.define`.
        """
        with self.changes() as changes:
            if isinstance(what, Member):
                changes.define(what, key, scope, options, **overrides)
            else:
                changes.add(definition(key, what, scope, overrides, options=options))

    def decorate(
        self,
        what: Callable[..., Any] | str,
        /,
        *,
        key: str | None = None,
        type: builtins.type | str | None = None,
        name: str | None = None,
        priority: int = 0,
        method: str | None = None,
    ) -> str:
        """Adds a decorator, in one reload: see `Changes.decorate`. Answers its name, for `unprocess`."""
        with self.changes() as changes:
            return changes.decorate(what, key=key, type=type, name=name, priority=priority, method=method)

    def process(
        self,
        visit: Callable[[Described], Any],
        /,
        *,
        key: str | None = None,
        type: builtins.type | str | None = None,
        name: str | None = None,
        priority: int = 0,
    ) -> str:
        """Adds a processor of definitions, in one reload: see `Changes.process`."""
        with self.changes() as changes:
            return changes.process(visit, key=key, type=type, name=name, priority=priority)

    def unprocess(self, name: str) -> None:
        """Takes a decorator or processor away, in one reload."""
        with self.changes() as changes:
            changes.unprocess(name)

    def override(
        self, key: str | Callable[..., Any], what: Any = None, /, *, instance: Any = None, **overrides: Any
    ) -> Override:
        """Puts another recipe (a class, a factory, a recipe, a function that describes one as for `Changes.define`) or
        an object in a key's place, for tests and trials, in one reload, with the key's scope and visibility; dependents
        follow. The key is a name, a class or a member of an assembly:
        ``runtime.override(camelot.stable, instance=Horse())``.

        ``with`` takes it back, as `Override.end` does. Several lie on each other, the last one counts, and may be taken
        back in any order.
        """
        core, name = self._open(), self._name(key)
        if (what is None) == (instance is None):
            raise ArgumentError("an override needs either what makes the object, or instance=...", path=name)
        if isinstance(what, Member):
            made: Definition | None = describe_alone(what, name, core.known)
        else:
            made = None if what is None else definition(name, what, None, overrides)
        return Override(core, made, name, instance)

    def reset(self, key: str | Callable[..., Any], *, dependencies: bool = False) -> None:
        """Lets go of a key's shared instances, as a reload: who holds them follows, and another is made when somebody
        asks. With ``dependencies`` also of everything that they got."""
        name = self._name(key)
        with self.changes() as changes:
            changes.reset(name, dependencies=dependencies)

    def reset_scope(self, scope: Scope) -> None:
        """Lets go of all instances of a scope, as a reload. It costs what is held, not what is defined."""
        with self.changes() as changes:
            changes.reset_scope(scope)

    def start(self, key: str | Callable[..., Any]) -> None:
        """Starts a shared instance again after `stop`; one that is not there is made. What is started stays so."""
        core = self._open()
        core.library.call("start", core.handle, self._key(self._name(key))[0])

    def stop(self, key: str | Callable[..., Any]) -> None:
        """Stops a shared instance, which stays where it is; one that is not started is left alone."""
        core = self._open()
        core.library.call("stop", core.handle, self._key(self._name(key))[0])

    @property
    def states(self) -> list[State]:
        """Where the shared instances are in their life, and what dormant definitions wait for; sorted by key."""
        core, found = self._open(), c.invivo_value()
        core.library.call("runtime_states", core.handle, ctypes.byref(found))
        return [
            State(each["key"], each["name"], each["objects"], tuple(each["waits"]), each["error"])
            for each in _values.take(core, found)
        ]

    def define_block(self, key: str, /, type_name: str | None = None, **tunables: Any) -> None:
        """A key that is nothing but tunable numbers, read through views: ``gain=invivo.tunable(1.0, max=2)``."""
        core = self._open()
        fields: list[tuple[str, Any]] = []
        said: list[Tunable] = []
        kinds: list[int] = []
        for name, thing in tunables.items():
            one = thing if isinstance(thing, Tunable) else Tunable(thing)
            for cls, kind, number in _BLOCK_FIELDS:
                if isinstance(one.initial, cls) or (one.choices and cls is int):
                    fields.append((name, kind))
                    kinds.append(number)
                    said.append(one)
                    break
            else:
                raise WrongTypeError(f"{name}: a block holds numbers, truth values and choices, not {one.initial!r}")
        layout = type("Block", (ctypes.Structure,), {"_fields_": fields})
        properties, initial = (c.invivo_property * len(fields))(), layout()
        held: list[Any] = []
        for slot, (name, kind), number, one in zip(properties, fields, kinds, said, strict=True):
            slot.struct_size = ctypes.sizeof(slot)
            slot.name, slot.kind = _values.name_bytes(name), number
            slot.offset, slot.size = getattr(layout, name).offset, ctypes.sizeof(kind)
            value = dict(one.choices)[one.initial] if isinstance(one.initial, str) else one.initial
            if number == c.INVIVO_KIND_INT64 and not -(2**63) <= value < 2**63:
                raise RangeError(f"{name}: {value} is outside {-(2**63)}...{2**63 - 1} (int64)")
            setattr(initial, name, value)
            slot.min, slot.max = bounds(one, number)
            slot.step = one.step or 0
            slot.unit = None if one.unit is None else _values.name_bytes(one.unit)
            slot.text = None if one.text is None else _values.name_bytes(one.text)
            choices = (c.invivo_choice * len(one.choices))()
            for choice, (each, value) in zip(choices, one.choices, strict=True):
                choice.name, choice.number = _values.name_bytes(each), value
            slot.choices, slot.choice_count = choices, len(choices)
            former = (ctypes.c_char_p * len(one.was))(*(_values.name_bytes(each) for each in one.was))
            slot.was, slot.was_count = former, len(former)
            held += [choices, former]
        options = c.invivo_block_options()
        options.struct_size = ctypes.sizeof(options)
        options.type_name = _values.name_bytes(type_name or key)
        options.size = ctypes.sizeof(layout)
        options.initial = ctypes.addressof(initial)
        options.properties, options.property_count = properties, len(properties)
        core.library.call("define_block", core.handle, _values.name_bytes(key, "key"), ctypes.byref(options), None)

    def type(self, cls: builtins.type) -> Type:
        """The type of a Python class; it is registered when it is new."""
        core = self._open()
        return core.foreign_type(core.type_for(cls).bits)

    def find_type(self, name: str) -> Type:
        """A type by name, whatever language registered it."""
        return self._open().find_type(name)

    def load_module(self, path: Path) -> None:
        """Loads a module (a shared library that registers types). It stays until the runtime closes."""
        core = self._open()
        core.library.call("module_load", core.handle, _values.path_bytes(path), None)

    # ---- documents -------------------------------------------------------------------------------------

    def watch(self, path: Path, *, wait: bool = False) -> Source:
        """Follows a spec file. What it says holds when this returns; ``wait``: it need not be there or good yet."""
        core = self._open()
        options = c.invivo_source_options()
        options.struct_size = ctypes.sizeof(options)
        options.path = _values.path_bytes(path)
        options.flags = c.INVIVO_SOURCE_WAIT if wait else 0
        return self._source(core, options, os.fspath(path))

    def source(self, name: str, text: str) -> Source:
        """A spec document in memory, to be replaced by `Source.update`. ``name`` ends in .json for JSON."""
        core = self._open()
        data = _values.text_bytes(text)
        options = c.invivo_source_options()
        options.struct_size = ctypes.sizeof(options)
        options.name = _values.name_bytes(name)
        options.text, options.length = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data)
        return self._source(core, options, name)

    def _source(self, core: Core, options: c.invivo_source_options, name: str) -> Source:
        handle = c.invivo_source()
        core.library.call("source_open", core.handle, ctypes.byref(options), ctypes.byref(handle))
        return Source(core, handle, name)

    def attach_target(self, thing: Any, key: str) -> Target:
        """Attaches a live object to a spec key: what documents say for the key holds for it, now and at every reload.

        The object is not kept alive by it.
        """
        core = self._open()
        target = c.invivo_target()
        known = isinstance(thing, Object) or core.entry_for(thing) is not None
        handle = core.lease(thing)
        try:
            core.library.call("target_attach", handle, _values.name_bytes(key, "key"), ctypes.byref(target))
        except BaseException:
            core.library.object_release(handle)
            raise
        entry = None if known else core.entry_for(thing)
        if entry is None or not core.lean(entry, thing):
            core.library.object_release(handle)
        return Target(core, target, key)

    def extend_type(self, cls: builtins.type | Type, supertype: builtins.type | Type | str) -> None:
        """Says that objects of a class (or of a type of another language) are something more: an interface that is
        found out about when somebody asks for it. Its definitions are found by that name from now on; nothing is bound
        anew.
        """
        core = self._open()
        if isinstance(supertype, str):
            name = supertype
        else:
            name = supertype.name if isinstance(supertype, Type) else core.name_of(supertype)
        kind = c.invivo_type(core.type_bits(cls))
        core.library.call("type_extend", core.handle, kind, _values.name_bytes(name, "supertype"))

    def declare_target(self, key: str, cls: builtins.type | Type) -> None:
        """Says that objects of this class will be attached to the key, so that documents may name it before."""
        core = self._open()
        kind = c.invivo_type(core.type_bits(cls))
        core.library.call("target_declare", core.handle, _values.name_bytes(key, "key"), kind)

    # ---- reading and hearing ---------------------------------------------------------------------------

    def view(self) -> View:
        """A reading of one generation: ``with runtime.view() as view: view.block("synth.lead")``."""
        return View(self._open())

    def config(self, path: str, default: Any = _MISSING, /) -> Any:
        """What the configuration says now at a whole path, or the default; without one a missing value raises
        `NotConfiguredError`. Several values of one generation: ``view.config``."""
        try:
            return _config.read(self._open(), path)
        except NotConfiguredError:
            if default is _MISSING:
                raise
            return default

    def configure(self, path: str, value: Any) -> None:
        """Says what the configuration is at a whole path, over what documents say, as a reload; None removes it."""
        with self.changes() as changes:
            changes.configure(path, value)

    def unconfigure(self, path: str) -> None:
        """Takes back what was said by `configure` of the path and all below it, as a reload."""
        with self.changes() as changes:
            changes.unconfigure(path)

    def observe_config(self, path: str, callback: Callable[[Any, int], Any]) -> ConfigObserver:
        """Calls back with what is at a whole path (None: nothing), and the generation, after each reload that changed
        it or anything below it."""
        return ConfigObserver(self._open(), path, callback)

    def converter(self, what: str | builtins.type, function: Callable[[str], Any]) -> None:
        """Registers what reads texts: for places of a class, or by a name for `invivo.text`. A text that it raises for
        is refused with its place. A second one of the name is an error."""
        _config.register(self._open(), what, function)

    def remove_converter(self, what: str | builtins.type) -> None:
        """What was converted stays."""
        core = self._open()
        core.library.call("converter_unregister", core.handle, _values.name_bytes(_config.converter_name(core, what)))

    def convert(self, what: str | builtins.type, said: str) -> Any:
        """Reads one text by the converter of a name or class."""
        return _config.convert(self._open(), what, said)

    def observe(self, callback: Callable[[Report], Any]) -> Observer:
        """Calls back after every reload, committed or failed, on the thread that ran it."""
        return Observer(self._open(), callback)

    def reloads(self) -> Reloads:
        """Iterates over the reloads from now on; ends when the runtime closes."""
        return Reloads(self._open())

    def poll(self, timeout: float | None = 0) -> int:
        """Runs the jobs that wait for this thread; waits up to ``timeout`` seconds (None: no limit) for one."""
        core, ran = self._open(), ctypes.c_uint32()
        left = None if timeout is None else milliseconds(timeout)
        while True:
            # A slice at a time: between them Python runs the handlers of signals, Ctrl-C's among them.
            wait = _SLICE if left is None else min(left, _SLICE)
            core.library.call("runtime_poll", core.handle, wait, ctypes.byref(ran))
            if left is not None:
                left -= wait
            if ran.value or left == 0:
                return ran.value

    def fileno(self) -> int:
        """A descriptor that is readable while jobs wait for the opening thread: for ``selectors`` and asyncio."""
        core, found = self._open(), ctypes.c_int(-1)
        core.library.call("runtime_descriptor", core.handle, ctypes.byref(found))
        return found.value

    @property
    def info(self) -> Any:
        """Numbers: generation, reloads, failures, definitions, objects, leases, targets, sources, retiring, ..."""
        core = self._open()
        found = c.invivo_runtime_info()
        found.struct_size = ctypes.sizeof(found)
        core.library.call("runtime_inspect", core.handle, ctypes.byref(found))
        return _numbers(found)

    @property
    def last_error(self) -> Error | None:
        """What last went wrong outside a call (a broken edit, a lost watch). A reload that succeeds clears it."""
        core, found = self._open(), ctypes.c_void_p()
        core.library.call("runtime_last_error", core.handle, ctypes.byref(found))
        if not found.value:
            return None
        try:
            return core.library.failures.read(found.value)
        finally:
            core.library.error_release(found.value)

    # ---- sharing ---------------------------------------------------------------------------------------

    def share(self) -> int:
        """The address of this runtime's token, for another language in the process to attach to; valid until close."""
        core, token = self._open(), ctypes.POINTER(c.invivo_token)()
        core.library.call("share", core.handle, ctypes.byref(token))
        address = ctypes.cast(token, ctypes.c_void_p).value
        assert address is not None
        return address


_SLICE = 100  # milliseconds

_ASSEMBLY_STATES: dict[int, Literal["unknown", "inactive", "active"]] = {
    c.INVIVO_ASSEMBLY_UNKNOWN: "unknown",
    c.INVIVO_ASSEMBLY_INACTIVE: "inactive",
    c.INVIVO_ASSEMBLY_ACTIVE: "active",
}

_RUNTIME.append(Runtime)

_BLOCK_FIELDS: list[tuple[type, Any, int]] = [
    (bool, ctypes.c_bool, c.INVIVO_KIND_BOOL),
    (int, ctypes.c_int64, c.INVIVO_KIND_INT64),
    (float, ctypes.c_double, c.INVIVO_KIND_DOUBLE),
]

if not TYPE_CHECKING:
    _DICT_MANNERS = [name for name in vars(dict) if not name.startswith("_")]

    def _hidden(name):
        def refuse(self, *_, **__):
            raise AttributeError(f"a Runtime has no {name}()")

        return refuse

    for _name in _DICT_MANNERS:
        setattr(Runtime, _name, _hidden(_name))
    for _name in ("__or__", "__ror__", "__ior__", "__lt__", "__le__", "__gt__", "__ge__"):
        setattr(Runtime, _name, lambda self, other: NotImplemented)


def _numbers(structure: ctypes.Structure) -> SimpleNamespace:
    names = [field[0] for field in structure._fields_ if field[0] != "struct_size"]
    return SimpleNamespace(**{name: getattr(structure, name) for name in names})


def attach(token: int) -> Runtime:
    """Joins a runtime that another language in this process opened and shared: ``token`` is the address of its token.

    Closing the runtime that this answers only lets go of it. A host that embeds Python had better close its runtime
    before it ends the interpreter: afterwards Python's objects answer `INVIVO_E_CLOSED`, and are forgotten instead of
    stopped.
    """
    if not token or token % ctypes.alignment(c.invivo_token):
        raise HandleError(f"{token:#x} is not the address of a token")
    head = c.invivo_token.from_address(token)
    if head.magic != c.INVIVO_TOKEN_MAGIC:
        raise HandleError(f"what is at {token:#x} is not a token of a runtime")
    library = library_at(head.table)
    handle = c.invivo_runtime()
    pointer = ctypes.cast(ctypes.c_void_p(token), ctypes.POINTER(c.invivo_token))
    library.call("attach", pointer, ctypes.byref(handle))
    return joined(library.table, handle)


def joined(table: int, handle: c.invivo_runtime, *, in_default: bool = False) -> Runtime:
    """A face of a runtime that somebody else opened. ``in_default``: Python's objects live in its default domain, with
    those of C, and not in one of their own."""
    core = cores.get((table, handle.bits))
    if core is None:
        core = Core(library_at(table))
        core.handle = handle
        core.opened(in_default=in_default)
        Purger(core)
    return Runtime._around(core)


def live() -> Any:
    """What is alive in this process, over all runtimes of this package's copy of the library: for tests."""
    found = c.invivo_live_counts()
    found.struct_size = ctypes.sizeof(found)
    own_library().live(ctypes.byref(found))
    return _numbers(found)
