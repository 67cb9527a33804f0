"""Invivo: re-wire, re-tune and re-code a program while it lives.

    app = invivo.Assembly("synth")
    app.lazy_singleton(Player)

    with invivo.Runtime(app, watch="tuning.yaml") as runtime:
        player = runtime[Player]

Importing the package does not open the library; the first `Runtime` does.
"""

from . import errors
from ._app import App
from ._assembly import Assembly, collaborator
from ._changes import Changes
from ._changing import Retired, SourceState, State
from ._config import ConfigObserver
from ._current import current, set_default
from ._documents import Source, Target
from ._graph import WiringNode
from ._marks import (
    Asker,
    Enumeration,
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
    method,
    on_prepare,
    on_start,
    on_stop,
    shared,
    takes_runtime,
    tunable,
    will_inject,
)
from ._members import define, graph, in_scope, lazy_singleton, prototype, singleton, weak_singleton
from ._objects import ForeignCallable, MethodInfo, Object, PropertyInfo, Type
from ._overrides import Override
from ._pools import Pool
from ._processors import Described
from ._recipes import (
    Lazy,
    Options,
    Provider,
    Resolver,
    Scope,
    Weak,
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
    options,
    provider,
    ref,
    resolver,
    scoped,
    text,
    weak,
    wire,
)
from ._reloads import Change, Observer, Reloads, Report
from ._runtime import Runtime, attach, live
from ._settings import LogLevel
from ._views import Block, View
from .errors import *  # noqa: F403
from .errors import Error

__all__ = [
    "App",
    "Asker",
    "Assembly",
    "Block",
    "Change",
    "Changes",
    "ConfigObserver",
    "Described",
    "Enumeration",
    "Error",
    "Float32",
    "ForeignCallable",
    "Inject",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Lazy",
    "LogLevel",
    "MethodInfo",
    "Named",
    "Object",
    "Observer",
    "Options",
    "Override",
    "Pool",
    "PropertyInfo",
    "Provider",
    "Reloads",
    "Report",
    "Resolver",
    "Retired",
    "Runtime",
    "Scope",
    "Source",
    "SourceState",
    "State",
    "Target",
    "Type",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "View",
    "Weak",
    "WiringNode",
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
    "graph",
    "in_scope",
    "injected",
    "injection_key",
    "lazy",
    "lazy_singleton",
    "live",
    "managed",
    "method",
    "new",
    "on_prepare",
    "on_start",
    "on_stop",
    "options",
    "prototype",
    "provider",
    "ref",
    "resolver",
    "scoped",
    "set_default",
    "shared",
    "singleton",
    "takes_runtime",
    "text",
    "tunable",
    "weak",
    "weak_singleton",
    "will_inject",
    "wire",
]
