"""Applications: a manifest that is run. The same as the native tool, with Python components."""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .. import _generated as c
from .._declarations import context
from .._declarations.marks import component_name, settings_name
from .._native import callbacks, strings
from .._native.library import own_library
from .._native.strings import text
from .._services.graph import GRAPH_FORMATS, KEYS_LANGUAGES, SCHEMA, GraphFormat, KeysLanguage
from .._services.settings import Log, LogLevel, make_options
from .._state.core import Core
from .._values import conversion
from ..errors import Error, FileError, ModuleError
from .assembly import Assembly
from .changes import Changes
from .runtime import Runtime, joined
from .traits import collected_traits

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ReadOptions(TypedDict, total=False):
    """The options of the functions of `App` that read a manifest. They are those of `Runtime`."""

    log: Log | None
    foreign_files: bool
    environment_prefix: str | None


class CheckOptions(ReadOptions, total=False):
    """``wait``: specs are not read, because they may be missing or wrong."""

    wait: bool


class App:
    """A running application manifest: its components are created and started, its specs followed, until it is closed.

    ``default_domain`` is the domain of C's confined objects (a type is confined unless it declares that it is shared).
    "loop" is the runtime's own thread, so that the program need not poll. Python's objects are then created on the
    requesting thread, and after an edit on the runtime's thread, and a confined object of C cannot be injected into
    them. "opener" puts them and Python's objects together on the thread that opens the application, which has to call
    ``app.runtime.poll()``, as `python3 -m invivo run` does.

    ``assemblies`` are active from the start, instead of those that the manifest lists. ``settings``: sections of the
    configuration, by their paths, and the classes to which they are bound, beside those that the manifest names.
    """

    def __init__(
        self,
        manifest: str | os.PathLike[str],
        *,
        wait: bool = False,
        assemblies: Iterable[Assembly] = (),
        settings: Mapping[str, Any] | None = None,
        default_domain: Literal["opener", "loop"] = "loop",
        log: Log | logging.Logger | None = None,
        log_level: LogLevel | str = LogLevel.INFO,
        max_document_bytes: int = 0,
        max_document_nodes: int = 0,
        max_each_entries: int = 0,
        pin_max_age: float | None = None,
        history: int | None = None,
        rule_timeout: float | None = None,
        load_timeout: float | None = None,
        foreign_files: bool = False,
        quote_content: bool = True,
        environment_prefix: str | None = None,
        document_roots: Iterable[str | os.PathLike[str]] = (),
        ramp_tick: float | Literal["manual"] | None = None,
    ) -> None:
        """The options are those of `Runtime`."""
        library, path = own_library(), strings.path_bytes(manifest)
        self.core = Core(library)  # without a runtime yet: callbacks report their errors by it
        runtime_options = make_options(
            self.core,
            default_domain=default_domain,
            log=log,
            log_level=log_level,
            max_document_bytes=max_document_bytes,
            max_document_nodes=max_document_nodes,
            max_each_entries=max_each_entries,
            pin_max_age=pin_max_age,
            history=history,
            rule_timeout=rule_timeout,
            load_timeout=load_timeout,
            foreign_files=foreign_files,
            quote_content=quote_content,
            environment_prefix=environment_prefix,
            document_roots=document_roots,
            ramp_tick=ramp_tick,
        )
        self._joins_default = default_domain == "opener"
        options = c.invivo_app_options()
        options.struct_size = ctypes.sizeof(options)
        options.manifest = path
        options.runtime = ctypes.pointer(runtime_options)
        options.flags = c.INVIVO_APP_WAIT if wait else 0
        options.load_module = _load_module.of(library)
        self._assemblies = tuple(assemblies)
        self._settings = dict(settings or {})
        if self._assemblies or self._settings:
            options.assemblies = _give_assemblies.of(library)
        options.user_data = self._number = callbacks.enroll(self)
        self._handle = c.invivo_app()
        try:
            library.call("app_open", ctypes.byref(self._handle), ctypes.byref(options))
        except BaseException:
            callbacks.dismiss(self._number)
            callbacks.dismiss(runtime_options.log_user_data)
            raise
        handle = c.invivo_runtime()
        try:
            library.call("app_runtime", self._handle, ctypes.byref(handle))
            self.runtime: Runtime = joined(library.table, handle, in_default=self._joins_default)
        except BaseException:
            self.close()
            raise
        _open.append(self)

    @classmethod
    def check(
        cls,
        manifest: str | os.PathLike[str],
        *,
        format: GraphFormat = "json",
        modules: bool = True,
        **options: Unpack[CheckOptions],
    ) -> str:
        """Raises all errors that starting a manifest would find, and creates nothing.

        Modules are loaded, but no class or factory is called. Returns the described wiring as text. Without ``modules``
        no module is loaded, so that no code of the manifest runs: only the form of the manifest and of its specs is
        checked. The other options are those of `CheckOptions`.
        """
        return cls._check(manifest, GRAPH_FORMATS[format], modules=modules, **options)

    @classmethod
    def unread(cls, manifest: str | os.PathLike[str], **options: Unpack[ReadOptions]) -> str:
        """Returns the values of the configuration that no definition, class or observer reads.

        Each is a line ``FILE:LINE:COLUMN: PATH``. Keys in ``traits:`` that begin with a dot, and that nothing inherits,
        follow as ``traits.KEY``. Raises the errors of `check`. Calls that read while the program runs
        cannot be known.
        """
        return cls._check(manifest, c.INVIVO_GRAPH_UNREAD, **options)

    @classmethod
    def keys(
        cls,
        manifest: str | os.PathLike[str],
        language: KeysLanguage = "python",
        **options: Unpack[CheckOptions],
    ) -> str:
        """Returns a typed function for each key of a manifest and its specs, as source text, and creates nothing."""
        return cls._check(manifest, KEYS_LANGUAGES[language], **options)

    @classmethod
    def schema(cls, manifest: str | os.PathLike[str], **options: Unpack[CheckOptions]) -> str:
        """Returns the JSON Schema of the spec files of a manifest, for editors and checks, and creates nothing."""
        return cls._check(manifest, SCHEMA, **options)

    @classmethod
    def _check(
        cls,
        manifest: str | os.PathLike[str],
        format: int,
        *,
        wait: bool = False,
        log: Log | None = None,
        modules: bool = True,
        foreign_files: bool = False,
        environment_prefix: str | None = None,
    ) -> str:
        library, path = own_library(), strings.path_bytes(manifest)
        self = cls.__new__(cls)
        self.core = Core(library)
        self._joins_default = True
        runtime_options = make_options(
            self.core,
            default_domain="opener",
            log=log,
            log_level=LogLevel.WARNING,
            foreign_files=foreign_files,
            environment_prefix=environment_prefix,
        )
        options = c.invivo_app_options()
        options.struct_size = ctypes.sizeof(options)
        options.manifest = path
        options.runtime = ctypes.pointer(runtime_options)
        options.flags = c.INVIVO_APP_WAIT if wait else 0
        if not modules:
            options.flags |= c.INVIVO_APP_WITHOUT_MODULES
        options.load_module = _load_module.of(library)
        options.user_data = number = callbacks.enroll(self)
        try:
            answer: str = conversion.ask(self.core, "app_check", ctypes.byref(options), format)
        except BaseException:
            callbacks.dismiss(runtime_options.log_user_data)
            raise
        finally:
            callbacks.dismiss(number)
        return answer

    def close(self) -> None:
        """Stops everything that was started, in reverse order, and closes the runtime. May be called again."""
        handle, self._handle = self._handle, c.invivo_app()
        if not handle.bits:
            return
        if self in _open:
            _open.remove(self)
        runtime = getattr(self, "runtime", None)
        if runtime is not None:
            runtime._core.give_back()
            runtime.purge()
        self.core.library.call("app_close", handle)
        if runtime is not None:
            runtime.close()
        callbacks.dismiss(self._number)

    def __enter__(self) -> App:
        context.enter(self.runtime)
        return self

    def __exit__(self, *_: object) -> None:
        context.leave(self.runtime)
        self.close()


_open: list[App] = []


@callbacks.returns_status(c.invivo_app_options, "load_module", user_data=0)
def _load_module(app: App, _: int, handle: c.invivo_runtime, name: bytes, path: bytes, error: Any) -> None:
    runtime = joined(app.core.library.table, handle, in_default=app._joins_default)
    load_components(runtime, text(name), os.fsdecode(path))


@callbacks.returns_status(c.invivo_app_options, "assemblies", user_data=0)
def _give_assemblies(app: App, _: int, handle: c.invivo_runtime, changes: c.invivo_changes, error: Any) -> None:
    runtime = joined(app.core.library.table, handle, in_default=app._joins_default)
    started = Changes(runtime._open())
    if app._assemblies:
        started.activate(*app._assemblies)
    for path, what in app._settings.items():
        started.bind_settings(what, path)
    started.write(changes)


def load_components(runtime: Runtime, name: str, path: str) -> ModuleType:
    """Imports a Python file and registers its components: classes marked `component`, or as ``register`` does.

    Its trait types are added to this runtime alone. Its assemblies, those that are global names, are described, so that
    a manifest may activate them.
    """
    import importlib.util
    from pathlib import Path

    file = Path(path)
    if not file.is_file():
        raise FileError("there is no such file" if not file.exists() else "this is not a file", file=path)
    spec = importlib.util.spec_from_file_location(f"invivo_modules.{name}", file)
    if spec is None or spec.loader is None:
        raise ModuleError(f"{path} is not a Python file: its name must end in .py", file=path)
    loader = spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    beside = str(file.resolve().parent)
    if beside not in sys.path:
        sys.path.insert(0, beside)  # as for a script: it may import its neighbours
    try:
        with collected_traits() as traits:
            _run(lambda: loader.exec_module(module), path)
        classes = [
            each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__
        ]
        found = [each for each in classes if component_name(each) is not None]
        for cls in found:
            runtime.type(cls)
        settings = {each: type_of for each in classes if (type_of := settings_name(each)) is not None}
        for cls, type_name in settings.items():
            runtime.add_settings_type(cls, name=type_name)
        if traits:
            with runtime.changes() as changes:
                for trait in traits:
                    changes._add_trait(trait)
        register = getattr(module, "register", None)
        if callable(register):
            _run(lambda: register(runtime), path)
        assemblies = [each for name, each in vars(module).items() if _is_own(name, each)]
        if assemblies:
            runtime.describe(*assemblies)
        if not callable(register) and not found and not assemblies and not traits and not settings:
            raise ModuleError(
                "the module has nothing for the runtime: mark its classes with @invivo.component or "
                "@invivo.settings_type, give it a function register(runtime), a subclass of invivo.Trait, or an "
                "assembly as a global name",
                file=path,
            )
    except BaseException:
        sys.modules.pop(spec.name, None)
        raise
    return module


def _is_own(name: str, thing: Any) -> bool:
    """Whether it is an assembly for a manifest to activate."""
    return isinstance(thing, Assembly) and not name.startswith("_") and thing._core is None


def _run(body: Callable[[], Any], path: str) -> None:
    """Runs code of a module, which must not end the program."""
    try:
        body()
    except SystemExit as end:
        raise ModuleError(f"the module asks to end the program: sys.exit({end.code!r})", file=path) from end


def needs_python(manifest: str | os.PathLike[str]) -> bool:
    """Whether a manifest names modules that only Python can load."""
    answer = ctypes.c_bool()
    own_library().call("app_needs_python", strings.path_bytes(manifest), ctypes.byref(answer))
    return answer.value


def explain(error: BaseException) -> str:
    """Returns an error as a string for people."""
    if isinstance(error, Error):
        return str(error)
    return f"{type(error).__name__}: {error}"


__all__ = ["App", "explain", "load_components", "needs_python"]
