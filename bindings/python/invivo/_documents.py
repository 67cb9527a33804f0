"""Where documents come from, and what they are told about."""

from __future__ import annotations

import ctypes
import os

from . import _generated as c
from . import _values
from ._core import Core
from .errors import NotReadyError

Path = str | os.PathLike[str]


def file_options(path: Path, *, wait: bool) -> c.invivo_source_options:
    """A file to follow, as the library is told of it."""
    options = c.invivo_source_options()
    options.struct_size = ctypes.sizeof(options)
    options.path = _values.path_bytes(path)
    options.flags = c.INVIVO_SOURCE_WAIT if wait else 0
    return options


class Source:
    """Where documents come from: a file that is followed, or a text in memory."""

    def __init__(self, core: Core, handle: c.invivo_source, name: str, *, pending: bool = False) -> None:
        self._core, self._handle, self.name = core, handle, name
        self._pending = pending  # whether the change set that opens it is still being written
        self._closed_early = False

    def update(self, text: str) -> None:
        """Replaces the text of a document in memory: one reload, done when this returns."""
        data = _values.text_bytes(text)
        self._core.library.call("source_update", self._opened(), data, len(data))

    def refresh(self) -> None:
        """Looks at a file now, without waiting for an event; done when this returns."""
        self._core.library.call("source_refresh", self._opened())

    def _opened(self) -> c.invivo_source:
        self._core.check()
        if self._pending:
            raise NotReadyError("the change set that opens the source is not committed yet", file=self.name)
        return self._handle

    def close(self) -> None:
        """Stops following, and takes away what the document said. May be called again. The commit of a change set fails
        when a source of it was closed before."""
        if self._pending:
            self._pending, self._closed_early = False, True
            return
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
