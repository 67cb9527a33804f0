"""The runtime as Python uses it."""

from __future__ import annotations

import builtins
import ctypes
import logging
import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, Literal

from . import _config, _current, _trampolines, _values
from . import _generated as c
from ._assembly import Assembly
from ._changing import Changing
from ._config import ConfigObserver
from ._core import Core, cores
from ._describe import check_callback
from ._documents import Path, Source, Target, file_options
from ._face import numbers
from ._filling import Filling
from ._graph import GRAPH_FORMATS, KEYS_LANGUAGES, GraphFormat, KeysLanguage, WiringNode, nodes
from ._hints import RUNTIMES
from ._library import library_at, own_library
from ._objects import Object, Type
from ._reloads import Observer, Purger, Reloads, Report
from ._settings import STOP_GRACE, Log, LogLevel, make_options
from ._views import View, end_left
from .errors import Error, HandleError, NotConfiguredError, StopError

_MISSING: Any = object()


class Runtime(Filling, Changing):
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
        stop_grace: float | None = STOP_GRACE,
        pending_targets: bool = False,
        max_document_bytes: int = 0,
        max_document_nodes: int = 0,
        max_each_entries: int = 0,
        load_timeout: float | None = None,
        foreign_files: bool = False,
        quote_content: bool = True,
        inject_marked: bool = True,
    ) -> None:
        """Activates assemblies and follows the spec files of ``watch``, as one reload: values that the assemblies
        require may come from the files.

        Python's objects are created on the thread that first asks for them, and after an edit on the runtime's own
        thread, also if the program calls `poll`. What belongs to one thread is defined by ``in_scope("thread")``.

        ``name`` is for its threads and for messages. ``default_domain``: where C's confined objects live, "opener" (the
        thread that opens the runtime, which calls `poll`) or "loop" (the runtime's own thread). ``quiet``: for how
        long a file must stay as it is before it is read; None is 10 ms. ``settle_max``: for how long at most; None is
        250 ms. ``pending_targets``: traits for a key that nothing has yet are a warning and wait for
        it; otherwise they are an error. A document at the start may so name a block of `define_block`.

        Times are seconds, ``math.inf`` is no limit. ``commit_timeout``: how long a reload waits for the thread of the
        objects it changes; None is 5 s. ``start_timeout``, ``stop_timeout``: how long a start or stop may take, where a
        definition has no limit of its own; None is 60 s. ``stop_grace``: an object that a reload has replaced or
        removed waits so long until Python no longer refers to it, and is then stopped all the same; None: without a
        limit. Documents: at most ``max_document_bytes`` (0: 1 MiB) and ``max_document_nodes`` values (0: 50,000),
        ``max_each_entries`` for a definition that is for each entry (0: 10,000), read and planned in ``load_timeout``
        (None: 10 s; ``math.inf``: no limit). ``foreign_files``: modules and manifests may be files that other users can
        write. ``log``: a function, or a logger; None is ``logging.getLogger("invivo")``, so that warnings and refused
        reloads reach standard error where the program configures no logging. ``log_level``: the least level that is
        logged; "silent" logs nothing. Exceptions of observers and scope listeners are logged with their traceback, by
        ``logging.getLogger("invivo")`` where ``log`` is a function. ``quote_content=False`` keeps the text of documents
        out of errors.
        ``inject_marked``: whether attributes marked by `injected` or `Inject` are filled."""
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
            stop_grace=stop_grace,
            pending_targets=pending_targets,
            max_document_bytes=max_document_bytes,
            max_document_nodes=max_document_nodes,
            max_each_entries=max_each_entries,
            load_timeout=load_timeout,
            foreign_files=foreign_files,
            quote_content=quote_content,
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
            paths = [watch] if isinstance(watch, (str, os.PathLike)) else list(watch or ())
            if assemblies or paths:
                with self.changes() as changes:
                    changes.activate(*assemblies)
                    for path in paths:
                        changes.watch(path)
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
        self._kept = {}
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
        In a forked child the runtime is the parent's: nothing happens, and what was built stays readable.
        """
        core = self._core
        if self._gone or core.closed or core.is_parents:
            return
        end_left()
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
            self.close()

    def entered(self) -> _current.Entering:
        """In a ``with`` block: this is the current runtime there, in the calling thread or task, and is not closed at
        its end."""
        return _current.Entering(self)

    def _entered_to_end(self) -> _current.Ending:
        """For the package itself: the same around the hooks of an object that ends."""
        return _current.Ending(self)

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
        return self._source(core, file_options(path, wait=wait), os.fspath(path))

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
        cell = core.cell()
        try:
            core.lease(thing, cell)
            core.library.call("target_attach", cell, _values.name_bytes(key, "key"), ctypes.byref(target))
            entry = None if known else core.entry_for(thing)
            if entry is None or not core.lean(entry, thing, cell):
                core.drop(cell.number)
        except BaseException:
            core.drop(cell.number)
            raise
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

    @property
    def generation(self) -> int:
        """The generation that holds now, also where the thread has a view of an older one open."""
        core, found = self._open(), ctypes.c_uint64()
        core.library.call("runtime_generation", core.handle, ctypes.byref(found))
        return found.value

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
        """Calls ``callback(value, generation)`` with what is at a whole path (None: nothing) after each reload that
        changed it or anything below it."""
        check_callback(callback, ("value", "generation"), "an observer of the configuration")
        return ConfigObserver(self._open(), path, callback)

    def converter(self, what: str | builtins.type, function: Callable[[str], Any]) -> None:
        """Registers what reads texts: for places of a class, or by a name for `invivo.text`. A text that it raises for
        is refused with its place. A second one of the name is an error."""
        _config.register(self._open(), what, function)

    def remove_converter(self, what: str | builtins.type) -> None:
        """What was converted stays."""
        core = self._open()
        core.library.call("converter_unregister", core.handle, _values.name_bytes(_config.converter_name(core, what)))
        core.converters.pop(what, None)

    def convert(self, what: str | builtins.type, said: str) -> Any:
        """Reads one text by the converter of a name or class."""
        return _config.convert(self._open(), what, said)

    def observe(self, callback: Callable[[Report], Any]) -> Observer:
        """Calls back after every reload, committed or failed, on the thread that ran it."""
        check_callback(callback, ("report",), "an observer")
        return Observer(self._open(), callback)

    def reloads(self) -> Reloads:
        """Iterates over the reloads from now on; ends when the runtime closes."""
        return Reloads(self._open())

    @property
    def wiring(self) -> list[WiringNode]:
        """The wiring of the newest generation, by key: what there is, what it needs, what is alive."""
        core = self._open()
        found = _values.ask(core, "graph_describe", core.handle, c.INVIVO_GRAPH_FACTS)
        return nodes(found)

    def wiring_text(self, format: GraphFormat) -> str:
        """The same as JSON, as a digraph for Graphviz, or as a Mermaid flowchart."""
        core = self._open()
        found = _values.ask(core, "graph_describe", core.handle, GRAPH_FORMATS[format])
        text: str = found
        return text

    def keys_text(self, language: KeysLanguage = "python") -> str:
        """A typed function for each key, as source text: names, arguments and results are then checked by mypy, or by a
        compiler."""
        core = self._open()
        found = _values.ask(core, "graph_describe", core.handle, KEYS_LANGUAGES[language])
        text: str = found
        return text

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


RUNTIMES.append(Runtime)


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
    return numbers(found)
