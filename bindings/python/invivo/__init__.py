"""Invivo: dependency injection that rewires and tunes a running program.

    app = invivo.Assembly("synth")
    app.lazy_singleton(Player)

    with invivo.Runtime(app, watch="tuning.yaml") as runtime:
        player = runtime[Player]

Importing the package does not open the library; the first `Runtime` does.
"""

import inspect as _inspect
import typing as _typing

from . import errors
from ._assemblies.assembly import collaborator
from ._assemblies.members import (
    define,
    graph,
    in_context,
    in_scope,
    lazy_singleton,
    prototype,
    singleton,
    weak_singleton,
)
from ._declarations.changes import OnChange
from ._declarations.context_kinds import ContextKey, ContextKind
from ._declarations.from_context import FromContext
from ._declarations.marks import (
    Asker,
    Float32,
    Inject,
    Int8,
    Int16,
    Int32,
    Int64,
    Named,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    children,
    component,
    did_inject,
    injected,
    injection_key,
    keeps_children,
    method,
    on_finalize,
    on_prepare,
    on_refresh,
    on_setup,
    on_start,
    on_stop,
    on_teardown,
    parent,
    settings_type,
    shared,
    takes_runtime,
    tunable,
    will_inject,
)
from ._declarations.recipes import Options, Scope, options
from ._declarations.references import Lazy, Provider, Resolver, Weak
from ._declarations.secrets import Secret, secret
from ._declarations.words import (
    arguments,
    asker,
    call,
    child,
    choice,
    config,
    constant,
    entry,
    entry_name,
    every,
    exactly,
    lazy,
    managed,
    new,
    provider,
    ref,
    resolver,
    scoped,
    text,
    weak,
    wire,
)
from ._native.pins import Pin
from ._planning.processing import Described
from ._runtime.app import App
from ._runtime.assembly import Assembly
from ._runtime.changes import Changes
from ._runtime.current import current, former, set_default
from ._runtime.overrides import Override
from ._runtime.runtime import Runtime, attach, live
from ._runtime.traits import Trait
from ._services.config import ConfigObserver
from ._services.context_observers import ContextObserver
from ._services.contexts import Context, ContextEntry
from ._services.documents import Source, Target
from ._services.graph import (
    Former,
    Generation,
    Kept,
    OpenPin,
    PendingRestart,
    Retired,
    SourceState,
    State,
    Status,
    WiringNode,
)
from ._services.pools import Pool
from ._services.reports import Cause, Change, Notice, Observer, Phases, Progress, Ready, Reloads, Report
from ._services.settings import LogLevel, RuntimeOptions
from ._services.threads import to_thread
from ._services.traits import Layers
from ._services.views import Block, View
from ._values.enumeration import Enumeration
from ._values.foreign import ForeignCallable, MethodInfo, Object, PropertyInfo, Type
from ._version import __version__ as __version__
from .errors import (
    AbstractError,
    AmbiguousError,
    ArgumentError,
    ArityError,
    BusyError,
    CaptiveError,
    ChangedError,
    ChangeRefusedError,
    ClosedError,
    ColdError,
    ConversionError,
    CycleError,
    DeadlineError,
    DomainError,
    DormantError,
    EmptyError,
    EncodingError,
    Error,
    ExistsError,
    FileError,
    ForkedError,
    HandleError,
    HostError,
    InCallbackError,
    InternalError,
    MethodError,
    MissingFileError,
    ModuleError,
    NotConfiguredError,
    NotFoundError,
    NotReadyError,
    NotWellFormedError,
    NullError,
    OperatingSystemError,
    OrphanedError,
    OutOfMemoryError,
    PropertyError,
    RangeError,
    ReadOnlyError,
    Refused,
    SpecError,
    StaleError,
    StopError,
    TooLargeError,
    UnsupportedError,
    VersionError,
    WouldWaitError,
    WrongTypeError,
)

__all__ = [
    "AbstractError",
    "AmbiguousError",
    "App",
    "ArgumentError",
    "ArityError",
    "Asker",
    "Assembly",
    "Block",
    "BusyError",
    "CaptiveError",
    "Cause",
    "Change",
    "ChangeRefusedError",
    "ChangedError",
    "Changes",
    "ClosedError",
    "ColdError",
    "ConfigObserver",
    "Context",
    "ContextEntry",
    "ContextKey",
    "ContextKind",
    "ContextObserver",
    "ConversionError",
    "CycleError",
    "DeadlineError",
    "Described",
    "DomainError",
    "DormantError",
    "EmptyError",
    "EncodingError",
    "Enumeration",
    "Error",
    "ExistsError",
    "FileError",
    "Float32",
    "ForeignCallable",
    "ForkedError",
    "Former",
    "FromContext",
    "Generation",
    "HandleError",
    "HostError",
    "InCallbackError",
    "Inject",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "InternalError",
    "Kept",
    "Layers",
    "Lazy",
    "LogLevel",
    "MethodError",
    "MethodInfo",
    "MissingFileError",
    "ModuleError",
    "Named",
    "NotConfiguredError",
    "NotFoundError",
    "NotReadyError",
    "NotWellFormedError",
    "Notice",
    "NullError",
    "Object",
    "Observer",
    "OnChange",
    "OpenPin",
    "OperatingSystemError",
    "Options",
    "OrphanedError",
    "OutOfMemoryError",
    "Override",
    "PendingRestart",
    "Phases",
    "Pin",
    "Pool",
    "Progress",
    "PropertyError",
    "PropertyInfo",
    "Provider",
    "RangeError",
    "ReadOnlyError",
    "Ready",
    "Refused",
    "Reloads",
    "Report",
    "Resolver",
    "Retired",
    "Runtime",
    "RuntimeOptions",
    "Scope",
    "Secret",
    "Source",
    "SourceState",
    "SpecError",
    "StaleError",
    "State",
    "Status",
    "StopError",
    "Target",
    "TooLargeError",
    "Trait",
    "Type",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "UnsupportedError",
    "VersionError",
    "View",
    "Weak",
    "WiringNode",
    "WouldWaitError",
    "WrongTypeError",
    "arguments",
    "asker",
    "attach",
    "call",
    "child",
    "children",
    "choice",
    "collaborator",
    "component",
    "config",
    "constant",
    "current",
    "define",
    "did_inject",
    "entry",
    "entry_name",
    "errors",
    "every",
    "exactly",
    "former",
    "graph",
    "in_context",
    "in_scope",
    "injected",
    "injection_key",
    "keeps_children",
    "lazy",
    "lazy_singleton",
    "live",
    "managed",
    "method",
    "new",
    "on_finalize",
    "on_prepare",
    "on_refresh",
    "on_setup",
    "on_start",
    "on_stop",
    "on_teardown",
    "options",
    "parent",
    "prototype",
    "provider",
    "ref",
    "resolver",
    "scoped",
    "secret",
    "set_default",
    "settings_type",
    "shared",
    "singleton",
    "takes_runtime",
    "text",
    "to_thread",
    "tunable",
    "weak",
    "weak_singleton",
    "will_inject",
    "wire",
]
__all__ += errors.__all__


def _claim() -> None:
    """Gives everything public the module `invivo`: the file in which it is defined is internal.

    Annotations are resolved first, because their names are those of that file.
    """
    for name in __all__:
        thing = globals()[name]
        if getattr(thing, "__module__", "").startswith("invivo._"):
            own = _inspect.get_annotations(thing) if isinstance(thing, type) else None
            if own:
                hints = _typing.get_type_hints(thing, include_extras=True)
                thing.__annotations__ = {each: hints[each] for each in own}
            thing.__module__ = "invivo"


_claim()
