"""The options of a runtime, and its log."""

from __future__ import annotations

import ctypes
import enum
import logging
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from .. import _generated as c
from .._classes.callables import check_callback
from .._native import callbacks, strings, uncaught
from .._native.failures import describe
from .._native.strings import text
from .._state.core import Core
from .._values import conversion
from .._values.fields import dataclass
from ..errors import ArgumentError, StaleError, WrongTypeError

STOP_GRACE = 30.0  # seconds
_UNLIMITED = (1 << 32) - 1  # INVIVO_TIMEOUT_UNLIMITED, INVIVO_HISTORY_NONE, ...
Log = Callable[[int, str, str, Mapping[str, Any]], Any]


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


class LogItem:
    def __init__(self, core: Core, log: Log | logging.Logger) -> None:
        self.core = core
        self.logger = log if isinstance(log, logging.Logger) else None
        self.log = None if isinstance(log, logging.Logger) else log

    def takes(self, level: LogLevel) -> bool:
        return self.logger is None or self.logger.isEnabledFor(_LOGGING[level])

    def failed(self, problem: BaseException) -> None:
        if self.logger is not None:
            raise problem  # by one of its handlers
        uncaught.log(problem, f"the log function raised {describe(problem)}")


@callbacks.returns_nothing(c.invivo_runtime_options, "log", user_data=0, failed=LogItem.failed)
def _log(item: LogItem, _: int, entry: Any) -> None:
    one = entry[0]
    level, logger = LogLevel(one.level), item.logger
    # A record of a logger includes the exception that the message is about.
    raised = None if logger is None else uncaught.take()
    if not item.takes(level):
        return
    fields = {}
    for index in range(one.field_count):
        pair = one.fields[index]
        fields[conversion.pair_name(pair)] = conversion.read(item.core, pair.value)
    if logger is not None:
        logger.log(_LOGGING[level], text(one.message), extra={"invivo": fields}, exc_info=raised)
    elif item.log is not None:
        item.log(level, text(one.message), text(one.path), fields)


def _integer(value: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ArgumentError(f"{value!r} is not a number of bytes, values or entries; expected a non-negative integer")
    return value


def _generations(count: int) -> int:
    if not isinstance(count, int) or not 0 <= count <= 1000:
        raise ArgumentError(f"history is {count!r}: between 0 and 1,000 generations are kept")
    return count or _UNLIMITED


def _level(level: LogLevel | str) -> LogLevel:
    try:
        return LogLevel[level.upper()] if isinstance(level, str) else LogLevel(level)
    except (KeyError, ValueError):
        raise ArgumentError(f"log_level is {', '.join(map(str, LogLevel))}; not {level!r}") from None


def limit(seconds: float) -> int:
    """Returns a time limit in milliseconds. ``math.inf`` is no limit."""
    return _UNLIMITED if seconds == math.inf else milliseconds(seconds)


def milliseconds(seconds: float) -> int:
    """Returns a time in milliseconds."""
    try:
        is_valid = 0 <= seconds < (1 << 32) / 1000 - 1
    except TypeError:
        raise WrongTypeError(f"a time is a number of seconds, not {seconds!r}") from None
    if not is_valid:
        raise ArgumentError(f"{seconds} s is not a time to wait; expected 0 to 4,294,966 s")
    return round(seconds * 1000)


def _seconds(found: int) -> float:
    return math.inf if found == _UNLIMITED else found / 1000


def _above_zero(convert: Callable[[Any], int]) -> Callable[[Any], int]:
    """Returns a conversion whose result is at least 1, because 0 is the default in C."""
    return lambda value: max(1, convert(value))


class _Option(NamedTuple):
    """How C has an option that can change: its field, the value that None stands for, and the conversions."""

    field: str
    none: int
    write: Callable[[Any], int]
    read: Callable[[int], Any]


_CHANGEABLE = {
    "quiet": _Option("quiet_ms", _UNLIMITED, milliseconds, _seconds),
    "settle_max": _Option("settle_max_ms", 0, milliseconds, _seconds),
    "commit_timeout": _Option("commit_timeout_ms", 0, limit, _seconds),
    "start_timeout": _Option("start_timeout_ms", 0, limit, _seconds),
    "stop_timeout": _Option("stop_timeout_ms", 0, limit, _seconds),
    "end_timeout": _Option("end_timeout_ms", 0, limit, _seconds),
    "stop_grace": _Option(
        "stop_grace_ms",
        _UNLIMITED,
        _above_zero(milliseconds),
        lambda found: None if found == _UNLIMITED else found / 1000,
    ),
    "max_document_bytes": _Option("max_document_bytes", 0, _integer, int),
    "max_document_nodes": _Option("max_document_nodes", 0, _integer, int),
    "max_each_entries": _Option("max_each_entries", 0, _integer, int),
    "pin_max_age": _Option("pin_max_age_ms", 0, _above_zero(limit), _seconds),
    "history": _Option("history", 0, _generations, lambda found: 0 if found == _UNLIMITED else found),
    "rule_timeout": _Option("rule_timeout_ms", 0, _above_zero(milliseconds), _seconds),
    "load_timeout": _Option("load_timeout_ms", 0, limit, _seconds),
    "log_level": _Option("log_level", c.INVIVO_LOG_INFO, _level, LogLevel),
}

SAME: Any = object()  # an option that is not given


def _write(options: c.invivo_runtime_options, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value is not SAME:
            option = _CHANGEABLE[name]
            try:
                written = option.none if value is None else option.write(value)
            except WrongTypeError as problem:
                raise WrongTypeError(f"{name}: {problem.message}") from None
            setattr(options, option.field, written)


@dataclass(frozen=True)
class RuntimeOptions:
    """The options in force of a runtime, as `Runtime` takes them. Defaults are the numbers in use.

    Times are seconds; ``math.inf`` is no limit, and None for ``stop_grace``. `Runtime.change_options` changes those
    from ``quiet`` on.
    """

    name: str
    default_domain: Literal["opener", "loop"]
    pending_targets: bool
    foreign_files: bool
    quote_content: bool
    inject_marked: bool
    environment_prefix: str | None
    quiet: float
    settle_max: float
    commit_timeout: float
    start_timeout: float
    stop_timeout: float
    end_timeout: float
    stop_grace: float | None
    max_document_bytes: int
    max_document_nodes: int
    max_each_entries: int
    pin_max_age: float
    history: int
    rule_timeout: float
    load_timeout: float
    log_level: LogLevel


def _raw_options(core: Core) -> c.invivo_runtime_options:
    options = c.invivo_runtime_options()
    options.struct_size = ctypes.sizeof(options)
    core.library.call("runtime_options_read", core.handle, ctypes.byref(options))
    return options


def read_options(core: Core) -> RuntimeOptions:
    """Returns the options in force."""
    raw = _raw_options(core)
    return RuntimeOptions(
        name=text(raw.name),
        default_domain="loop" if raw.default_domain == c.INVIVO_DOMAIN_LOOP else "opener",
        pending_targets=bool(raw.flags & c.INVIVO_RUNTIME_PENDING_TARGETS),
        foreign_files=bool(raw.flags & c.INVIVO_RUNTIME_FOREIGN_FILES),
        quote_content=not raw.flags & c.INVIVO_RUNTIME_WITHOUT_CONTENT,
        inject_marked=not raw.flags & c.INVIVO_RUNTIME_WITHOUT_NEEDS,
        environment_prefix=text(raw.environment_prefix) if raw.environment_prefix is not None else None,
        **{name: option.read(getattr(raw, option.field)) for name, option in _CHANGEABLE.items()},
    )


def change_options(core: Core, given: Mapping[str, Any]) -> None:
    """Changes options; those that are `SAME` stay. The others take effect together, or none of them."""
    while True:
        options = _raw_options(core)
        _write(options, given)
        try:
            core.library.call("runtime_options_change", core.handle, ctypes.byref(options))
            break
        except StaleError:  # another thread has changed others
            continue
    core.is_silent = options.log_level == LogLevel.SILENT


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
    stop_grace: float | None = STOP_GRACE,
    pending_targets: bool = False,
    max_document_bytes: int = 0,
    max_document_nodes: int = 0,
    max_each_entries: int = 0,
    pin_max_age: float | None = None,
    history: int | None = None,
    rule_timeout: float | None = None,
    load_timeout: float | None = None,
    foreign_files: bool = False,
    quote_content: bool = True,
    inject_marked: bool = True,
    environment_prefix: str | None = None,
    document_roots: Iterable[str | os.PathLike[str]] = (),
    ramp_tick: float | Literal["manual"] | None = None,
    end_timeout: float | None = None,
) -> c.invivo_runtime_options:
    """Returns the options of a runtime for the library. Times are seconds, as everywhere in Python."""
    options = c.invivo_runtime_options()
    core.library.runtime_options_init_sized(ctypes.byref(options), ctypes.sizeof(options))
    if name is not None:
        options.name = strings.name_bytes(name)
    if environment_prefix is not None:
        options.environment_prefix = strings.name_bytes(environment_prefix)
    domains = {"opener": c.INVIVO_DOMAIN_OPENER, "loop": c.INVIVO_DOMAIN_LOOP}
    if default_domain not in domains:
        raise ArgumentError(f"default_domain is 'opener' or 'loop', not {default_domain!r}")
    options.default_domain = domains[default_domain]
    if pending_targets:
        options.flags |= c.INVIVO_RUNTIME_PENDING_TARGETS
    if not inject_marked:
        options.flags |= c.INVIVO_RUNTIME_WITHOUT_NEEDS
    _write(
        options,
        {
            "quiet": quiet,
            "settle_max": settle_max,
            "commit_timeout": commit_timeout,
            "start_timeout": start_timeout,
            "stop_timeout": stop_timeout,
            "end_timeout": end_timeout,
            "stop_grace": stop_grace,
            "max_document_bytes": max_document_bytes,
            "max_document_nodes": max_document_nodes,
            "max_each_entries": max_each_entries,
            "pin_max_age": pin_max_age,
            "history": history,
            "rule_timeout": rule_timeout,
            "load_timeout": load_timeout,
            "log_level": log_level,
        },
    )
    if foreign_files:
        options.flags |= c.INVIVO_RUNTIME_FOREIGN_FILES
    if not quote_content:
        options.flags |= c.INVIVO_RUNTIME_WITHOUT_CONTENT
    roots = [strings.path_bytes(root) for root in strings.listed(document_roots, "document_roots", '["/srv/spec"]')]
    if roots:
        options.document_roots = (ctypes.c_char_p * len(roots))(*roots)
        options.document_root_count = len(roots)
    if ramp_tick == "manual":
        options.ramp_tick_ms = _UNLIMITED
    elif ramp_tick is not None:
        options.ramp_tick_ms = max(1, milliseconds(ramp_tick))
    core.is_silent = options.log_level == LogLevel.SILENT
    if log is not None and not isinstance(log, logging.Logger):
        check_callback(log, ("level", "message", "path", "fields"), "a log")
    # Of a silent runtime, too: its log level may change.
    item = LogItem(core, log if log is not None else logging.getLogger(uncaught.LOGGER))
    options.log, options.log_destroy = _log.of(core.library), callbacks.destroy.of(core.library)
    options.log_user_data = callbacks.enroll(item)
    return options
