"""The part of a runtime that all others use: whether it is open, resolved objects, options, and jobs of its thread."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .. import _generated as c
from .._native.activity import Activity
from .._services.settings import SAME, LogLevel, RuntimeOptions, change_options, milliseconds, read_options
from .._state.build_plans import Plan
from .._state.core import Core
from ..errors import ClosedError, ForkedError

_SLICE = 100  # milliseconds


class RuntimeBase:
    """A handle of a runtime: the objects that it keeps, and the jobs of the opening thread."""

    _core: Core
    _kept: dict[Any, Any]  # the shared objects that were resolved, by the class or name they were requested by
    _settings: dict[Any, Any]  # the typed settings that were read, by the class or name they were requested by
    _activity: Activity
    _views: dict[int, Any]  # views that may be open
    _gone: bool
    _lock: threading.RLock
    _ready: dict[Any, Callable[..., Any]]
    _taking: dict[str, Plan]

    @property
    def closed(self) -> bool:
        return self._gone or self._core.closed

    def _open(self) -> Core:
        if self._gone:
            raise ClosedError("the runtime is closed")
        self._core.check()
        return self._core

    @property
    def keeps(self) -> bool:
        return bool(self._kept)

    def purge(self) -> None:
        """Drops the shared objects that were resolved, and settings. They are resolved again on demand. A commit does
        this itself.
        """
        with self._lock:
            old = [*self._kept.values(), *self._settings.values()]
            self._kept.clear()
            self._settings.clear()
        del old  # objects that it alone kept end here, where nothing is locked

    def forked(self) -> None:
        """In a forked child: another thread may have held the lock."""
        self._lock = threading.RLock()
        self.purge()

    @property
    def options(self) -> RuntimeOptions:
        """The options in force, with the numbers that stand for the defaults."""
        return read_options(self._open())

    def change_options(
        self,
        *,
        quiet: float | None = SAME,
        settle_max: float | None = SAME,
        commit_timeout: float | None = SAME,
        start_timeout: float | None = SAME,
        stop_timeout: float | None = SAME,
        stop_grace: float | None = SAME,
        end_timeout: float | None = SAME,
        max_document_bytes: int = SAME,
        max_document_nodes: int = SAME,
        max_each_entries: int = SAME,
        pin_max_age: float | None = SAME,
        history: int | None = SAME,
        rule_timeout: float | None = SAME,
        load_timeout: float | None = SAME,
        log_level: LogLevel | str = SAME,
    ) -> None:
        """Changes options while the runtime is open: ``runtime.change_options(quiet=0.002, log_level="debug")``.

        The values, and None, mean the same as in `Runtime`. All take effect together, or none if one is refused. May be
        called on any thread, and in callbacks. It is no reload. Work that has begun ends with the former values.
        ``quiet``, ``settle_max``, ``stop_grace``, ``pin_max_age`` and a lower ``history`` apply at once, also to files
        that have changed, retired objects, open pins and kept generations. Live documents stay if a limit is lowered.
        """
        change_options(
            self._open(),
            {
                "quiet": quiet,
                "settle_max": settle_max,
                "commit_timeout": commit_timeout,
                "start_timeout": start_timeout,
                "stop_timeout": stop_timeout,
                "stop_grace": stop_grace,
                "end_timeout": end_timeout,
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
        """Numbers about the runtime, as attributes.

        ``generation``, ``reloads``, ``failures``: the current generation, and how many reloads were committed and
        refused. ``definitions``, ``objects``, ``leases``: what exists. ``targets``: keys that traits name.
        ``sources``: documents. ``retiring``: former generations that still have readers or leases. `vars` lists
        all of them.
        """
        core = self._open()
        found = c.invivo_runtime_info()
        found.struct_size = ctypes.sizeof(found)
        core.library.call("runtime_inspect", core.handle, ctypes.byref(found))
        return numbers(found)

    # Indexing and len() do not make a runtime a sequence.
    __iter__ = None
    __reversed__ = None

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        """The number of definitions."""
        return int(self.info.definitions)

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError("a Runtime cannot be copied or pickled")

    def __repr__(self) -> str:
        try:
            return f"<invivo.Runtime, generation {self.info.generation}>"
        except ClosedError:  # also while it closes
            return "<invivo.Runtime, closed>"
        except ForkedError:
            return "<invivo.Runtime of the parent process>"


def numbers(structure: ctypes.Structure) -> SimpleNamespace:
    """Returns the fields of a structure of the library by their names."""
    names = [field[0] for field in structure._fields_ if field[0] != "struct_size"]
    return SimpleNamespace(**{name: getattr(structure, name) for name in names})
