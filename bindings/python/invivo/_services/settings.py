"""The options of a runtime, and its log."""

from __future__ import annotations

import ctypes
import enum
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

from .. import _generated as c
from .._classes.callables import check_callback
from .._native import callbacks, strings, uncaught
from .._native.failures import describe
from .._native.strings import text
from .._state.core import Core
from .._values import conversion
from ..errors import ArgumentError

STOP_GRACE = 30.0  # seconds
_UNLIMITED = (1 << 32) - 1  # INVIVO_TIMEOUT_UNLIMITED, INVIVO_STOP_GRACE_UNLIMITED
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
) -> c.invivo_runtime_options:
    """Returns the options of a runtime for the library. Times are seconds, as everywhere in Python."""
    options = c.invivo_runtime_options()
    core.library.runtime_options_init_sized(ctypes.byref(options), ctypes.sizeof(options))
    if name is not None:
        options.name = strings.name_bytes(name)
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
        options.commit_timeout_ms = limit(commit_timeout)
    if start_timeout is not None:
        options.start_timeout_ms = limit(start_timeout)
    if stop_timeout is not None:
        options.stop_timeout_ms = limit(stop_timeout)
    options.stop_grace_ms = _UNLIMITED if stop_grace is None else max(1, milliseconds(stop_grace))
    options.max_document_bytes = max_document_bytes
    options.max_document_nodes = max_document_nodes
    options.max_each_entries = max_each_entries
    if pin_max_age is not None:
        options.pin_max_age_ms = max(1, limit(pin_max_age))
    if history is not None:
        if not isinstance(history, int) or not 0 <= history <= 1000:
            raise ArgumentError(f"history is {history!r}: between 0 and 1,000 generations are kept")
        options.history = history or 0xFFFFFFFF  # INVIVO_HISTORY_NONE
    if rule_timeout is not None:
        options.rule_timeout_ms = max(1, milliseconds(rule_timeout))
    if load_timeout is not None:
        options.load_timeout_ms = 0xFFFFFFFF if math.isinf(load_timeout) else milliseconds(load_timeout)
    if foreign_files:
        options.flags |= c.INVIVO_RUNTIME_FOREIGN_FILES
    if not quote_content:
        options.flags |= c.INVIVO_RUNTIME_WITHOUT_CONTENT
    options.log_level = level = _level(log_level)
    core.is_silent = level is LogLevel.SILENT
    if not core.is_silent:
        if log is not None and not isinstance(log, logging.Logger):
            check_callback(log, ("level", "message", "path", "fields"), "a log")
        item = LogItem(core, log if log is not None else logging.getLogger(uncaught.LOGGER))
        options.log, options.log_destroy = _log.of(core.library), callbacks.destroy.of(core.library)
        options.log_user_data = callbacks.enroll(item)
    return options


def _level(level: LogLevel | str) -> LogLevel:
    try:
        return LogLevel[level.upper()] if isinstance(level, str) else LogLevel(level)
    except (KeyError, ValueError):
        raise ArgumentError(f"log_level is {', '.join(map(str, LogLevel))}; not {level!r}") from None


def limit(seconds: float) -> int:
    """Returns a time limit in milliseconds. ``math.inf`` is no limit."""
    return _UNLIMITED if seconds == math.inf else milliseconds(seconds)


def milliseconds(seconds: float) -> int:
    if not 0 <= seconds < (1 << 32) / 1000 - 1:
        raise ArgumentError(f"{seconds} s is no time to wait")
    return round(seconds * 1000)
