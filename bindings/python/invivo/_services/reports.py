"""Notification of reloads: reports, observers, and an iterator over them."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import queue
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from .. import _generated as c
from .._native import callbacks
from .._native.strings import text
from .._state.core import Core
from .._values.fields import dataclass
from .._values.foreign import Object
from ..errors import ArgumentError, Error
from .kinds import (
    CAUSES,
    CHANGES,
    NOTICES,
    ORIGINS,
    PHASES,
    PROGRESS,
    CauseKind,
    ChangeKind,
    NoticeKind,
    Origin,
    ProgressPhase,
)
from .subscriptions import Subscription, subscribed


@dataclass(frozen=True)
class Cause:
    """One part of the cause of a reload.

    ``kind``: "file", "document", "define", "configure", "rollback", ...: the names of INVIVO_CAUSE_... in lower case.
    ``name``: the key, source, assembly or other name; "" if the kind has none.
    """

    kind: CauseKind
    name: str


class Notice(str):
    """A warning, which is its text: "a.yaml:2:10: 'audio.volum' is not read by anything".

    ``kind``: "kept", "adjusted", "foreign", "unread", "renamed", "no_target", "refused", "unrestored", "setup",
    "retyped", "diverged", "unknown_trait", "skipped" or "other". ``line`` and ``column`` count from 1, and are 0 if
    they are unknown.
    """

    __slots__ = ("column", "file", "kind", "line")

    kind: NoticeKind
    file: str
    line: int
    column: int

    def __new__(cls, text: str, kind: NoticeKind = "other", file: str = "", line: int = 0, column: int = 0) -> Notice:
        self = super().__new__(cls, text)
        self.kind, self.file, self.line, self.column = kind, file, line, column
        return self

    def __getnewargs__(self) -> tuple[str, NoticeKind, str, int, int]:  # type: ignore[override]
        return str(self), self.kind, self.file, self.line, self.column


@dataclass(frozen=True)
class Change:
    """One change of a reload.

    ``what``: "defined", "removed", "remade", "reinjected", "tuned", "pending", "configured" (then ``key`` is a path of
    the configuration), "dormant" (blocked on missing dependencies), "cleared" (then ``key`` is the name of a pool),
    "kept" (the object keeps a former object or value, ``on_change="keep"``), or "unknown" (of a newer library).
    ``untracked``: how many earlier objects of the key, of prototype or graph scope,
    live on and are not updated by reloads. ``location``: where the new value or definition is written,
    "tuning.yaml:3:12"; "" if there is none, or if a call gave it without a location. The same as data: ``file``,
    ``line`` and ``column``. ``origin``: the kind of its layer, "none", "file", "document", "call", "assembly",
    "manifest", "override", "rollback", "environment" or "unknown". ``layer``: the name of the source or assembly, or
    "".
    """

    key: str
    what: ChangeKind
    property: str
    untracked: int = dataclasses.field(default=0, compare=False)
    location: str = dataclasses.field(default="", compare=False)
    origin: Origin = dataclasses.field(default="none", compare=False)
    layer: str = dataclasses.field(default="", compare=False)
    file: str = dataclasses.field(default="", compare=False)
    line: int = dataclasses.field(default=0, compare=False)
    column: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True)
class Report:
    """The outcome of one reload.

    ``generation`` is the current one, also after a failure. ``causes``: the parts of ``cause``. ``warnings``: each with
    its location in a document, as in the log, for example about misspelled paths. ``stop_error``: the error of a
    replaced object that could not be stopped. ``nanoseconds["outage"]``: how long an exclusive object was stopped
    without a successor. ``omitted``: how many changes a report of `Runtime.reports` does not contain; it has the first
    1000.
    """

    generation: int
    cause: str
    error: Error | None
    changes: tuple[Change, ...]
    nanoseconds: dict[str, int]
    text: str
    stop_error: Error | None = None
    warnings: tuple[Notice, ...] = ()
    omitted: int = 0
    causes: tuple[Cause, ...] = ()

    @property
    def committed(self) -> bool:
        return self.error is None

    def __str__(self) -> str:
        return self.text


def read_report(core: Core, pointer: int) -> Report:
    library = core.library
    error = None
    if library.report_status(pointer) != c.INVIVO_OK:
        found = library.report_error(pointer)
        error = library.failures.read(found) if found else Error(code=library.report_status(pointer))
    stopped = library.report_stop_error(pointer)
    changes = tuple(
        Change(
            text(library.report_key(pointer, index)),
            CHANGES.get(library.report_change(pointer, index), "unknown"),
            text(library.report_property(pointer, index)),
            int(library.report_untracked(pointer, index)),
            text(library.report_location(pointer, index)),
            ORIGINS.get(library.report_origin(pointer, index), "unknown"),
            text(library.report_layer(pointer, index)),
            text(library.report_file(pointer, index)),
            library.report_line(pointer, index),
            library.report_column(pointer, index),
        )
        for index in range(library.report_count(pointer))
    )
    return Report(
        generation=library.report_generation(pointer),
        cause=text(library.report_cause(pointer)),
        error=error,
        changes=changes,
        nanoseconds={name: library.report_nanoseconds(pointer, phase) for phase, name in PHASES.items()},
        text=text(library.report_text(pointer)),
        stop_error=library.failures.read(stopped) if stopped else None,
        warnings=tuple(
            Notice(
                text(library.report_warning(pointer, index)),
                NOTICES.get(library.report_warning_kind(pointer, index), "other"),
                text(library.report_warning_file(pointer, index)),
                library.report_warning_line(pointer, index),
                library.report_warning_column(pointer, index),
            )
            for index in range(library.report_warning_count(pointer))
        ),
        omitted=library.report_omitted(pointer),
        causes=tuple(
            Cause(
                CAUSES.get(library.report_cause_kind(pointer, index), "unknown"),
                text(library.report_cause_name(pointer, index)),
            )
            for index in range(library.report_cause_count(pointer))
        ),
    )


@dataclass(frozen=True)
class Progress:
    """One phase of a reload, or the end of a former generation.

    ``phase``: "detected", "planned", "committed", "refused", "unchanged", "retired" or "unknown" (of a newer
    library). ``reload``: the number of the
    reload, the same in all its phases; 0 for "retired". ``generation``: the current one; for "retired" the one that has
    ended. ``error``: why it was refused.
    """

    phase: ProgressPhase
    reload: int
    generation: int
    cause: str
    error: Error | None = None


class _Reading:
    """Collects the kept reports of a runtime."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.reports: list[Report] = []

    def receive(self, pointer: int) -> None:
        self.reports.append(read_report(self.core, pointer))


def kept_reports(core: Core) -> list[Report]:
    """Returns the reports of the last reloads, the oldest first."""
    reading = _Reading(core)
    number = callbacks.enroll(reading)
    try:
        core.library.call("runtime_reports", core.handle, _reloaded.of(core.library), number)
    finally:
        callbacks.dismiss(number)
    return reading.reports


class Observer(Subscription):
    """A callback that is notified of reloads: ``callback(report)``. Closed with its runtime, or before."""

    def __init__(
        self, core: Core, callback: Callable[[Report], Any], place: Hashable = None, **subject: bytes | int
    ) -> None:
        super().__init__(core, callback, place)
        self._handle = _observe(self, core, reloaded=_reloaded, **subject)

    def receive(self, pointer: int) -> None:
        self.notify(read_report(self.core, pointer))


class Ready(Subscription):
    """A callback that is called once, for the first reload: ``callback(generation, error)``."""

    def __init__(self, core: Core, callback: Callable[[int, Error | None], Any], place: Hashable) -> None:
        super().__init__(core, callback, place)
        self._handle = _observe(self, core, ready=_ready)


class Phases(Subscription):
    """A callback that is called for each phase of reloads: ``callback(progress)``."""

    def __init__(self, core: Core, callback: Callable[[Progress], Any], place: Hashable) -> None:
        super().__init__(core, callback, place)
        self._handle = _observe(self, core, progress=_progress)


class Purger:
    """Drops resolved objects before a commit that replaces them becomes visible. Until then nothing is kept."""

    def __init__(self, core: Core) -> None:
        self.core = core
        _observe(self, core, publishing=_publishing)


@callbacks.returns_nothing(c.invivo_observer_options, "publishing", user_data=0, repeats=True)
def _publishing(item: Purger, _: int, published: int) -> None:
    # Both callbacks of a commit run, in this order, and commits do not overlap.
    if item.core.epoch & 1 == published:
        item.core.epoch += 1
    if published:
        item.core.plans.purge()  # by now their versions are outdated
        item.core.tunings.prune()
    else:
        item.core.purge()


@callbacks.returns_nothing(c.invivo_observer_options, "ready", user_data=0)
def _ready(item: Ready, _: int, generation: int, error: int | None) -> None:
    item.notify(generation, item.core.library.failures.read(error) if error else None)


@callbacks.returns_nothing(c.invivo_observer_options, "progress", user_data=0)
def _progress(item: Phases, _: int, progress: Any) -> None:
    found = progress.contents
    error = item.core.library.failures.read(found.error) if found.error else None
    phase = PROGRESS.get(found.phase, "unknown")
    item.notify(Progress(phase, found.reload, found.generation, text(found.cause), error))


@callbacks.returns_nothing(c.invivo_observer_options, "reloaded", user_data=0)
def _reloaded(item: Observer | _Reading, _: int, report: int) -> None:
    item.receive(report)


def observer(core: Core, callback: Callable[[Report], Any], **subject: bytes | int) -> Observer:
    """Returns an observer of a subject: the known one if it calls an equal callback for the same owner."""
    return subscribed(core, tuple(subject.items()), callback, lambda place: Observer(core, callback, place, **subject))


def ready(core: Core, callback: Callable[[int, Error | None], Any]) -> Ready:
    """Returns an observer of the first reload."""
    return subscribed(core, "ready", callback, lambda place: Ready(core, callback, place))


def phases(core: Core, callback: Callable[[Progress], Any]) -> Phases:
    """Returns an observer of the phases of reloads."""
    return subscribed(core, "phases", callback, lambda place: Phases(core, callback, place))


def observer_of(core: Core, callback: Callable[[Report], Any], thing: Any) -> Observer:
    """Returns an observer of an object, which it does not keep."""
    if not isinstance(thing, Object) and core.entry_for(thing) is None:
        raise ArgumentError(f"the runtime holds no {type(thing).__name__} that is this object: observe its key or type")
    cell = core.cell()
    try:
        core.lease(thing, cell)
        return observer(core, callback, object=cell.bits)
    finally:
        core.drop(cell.number)


def _observe(item: Observer | Ready | Phases | Purger, core: Core, **given: Any) -> c.invivo_observer:
    options = c.invivo_observer_options()
    options.struct_size = ctypes.sizeof(options)
    for name, value in given.items():
        if name == "object":
            options.object = c.invivo_object(value)
        else:
            setattr(options, name, value.of(core.library) if isinstance(value, callbacks.Trampoline) else value)
    options.user_data = number = callbacks.enroll(item)
    options.destroy = callbacks.destroy.of(core.library)
    handle = c.invivo_observer()
    try:
        core.library.call("observe", core.handle, ctypes.byref(options), ctypes.byref(handle))
    except BaseException:
        callbacks.dismiss(number)
        raise
    return handle


class Reloads(Iterator[Report]):
    """Iterates over reloads from now on, waiting for each; ends when the runtime closes, or at `close`."""

    def __init__(self, core: Core) -> None:
        self._queue: queue.SimpleQueue[Report | None] = queue.SimpleQueue()
        self._over = False
        self._observer = Observer(core, self._queue.put)
        core.closing.append(self._end)

    def __next__(self) -> Report:
        report = self.wait()
        if report is None:
            raise StopIteration
        return report

    def wait(self, timeout: float | None = None) -> Report | None:
        """Returns the next reload, or None when the runtime has closed.

        Raises ``TimeoutError`` if there is none in ``timeout`` seconds.
        """
        if self._over and self._queue.empty():
            return None
        try:
            report = self._queue.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"no reload in {timeout} s") from None
        if report is None:
            self._queue.put(None)  # for other threads that wait
        return report

    def _end(self) -> None:
        self._over = True
        self._queue.put(None)

    def close(self) -> None:
        self._observer.close()
        with contextlib.suppress(ValueError):
            self._observer.core.closing.remove(self._end)
        self._end()

    def __enter__(self) -> Reloads:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
