"""Invivo: re-wire, re-tune and re-code a program while it lives.

    app = invivo.Assembly("synth")
    app.lazy_singleton(Player)

    with invivo.Runtime(app, watch="tuning.yaml") as runtime:
        player = runtime[Player]

Importing the package does not open the library; the first `Runtime` does.
"""

from . import errors
from ._app import App
from ._changes import Changes
from ._describe import (
    Enumeration,
    Float32,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    component,
    method,
    on_start,
    on_stop,
    tunable,
)
from ._objects import ForeignCallable, MethodInfo, Object, PropertyInfo, Type
from ._reloads import Change, Observer, Reloads, Report
from ._runtime import LogLevel, Runtime, Source, Target, attach, live
from ._views import Block, View
from ._wiring import Assembly, Scope, ref
from .errors import *  # noqa: F403
from .errors import Error

__all__ = [
    "App",
    "Assembly",
    "Block",
    "Change",
    "Changes",
    "Enumeration",
    "Error",
    "Float32",
    "ForeignCallable",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "LogLevel",
    "MethodInfo",
    "Object",
    "Observer",
    "PropertyInfo",
    "Reloads",
    "Report",
    "Runtime",
    "Scope",
    "Source",
    "Target",
    "Type",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "View",
    "attach",
    "component",
    "errors",
    "live",
    "method",
    "on_start",
    "on_stop",
    "ref",
    "tunable",
]
