"""Sources of documents, and objects that documents tune."""

from __future__ import annotations

import ctypes
import os

from .. import _generated as c
from .._native import strings
from .._objects.objects import Objects
from ..errors import NotReadyError

Path = str | os.PathLike[str]


def source_flags(*, wait: bool = False, keep_going: bool = False) -> int:
    """Returns the flags of a source."""
    return (c.INVIVO_SOURCE_WAIT if wait else 0) | (c.INVIVO_SOURCE_KEEP_GOING if keep_going else 0)


def file_options(path: Path, *, wait: bool, keep_going: bool = False) -> c.invivo_source_options:
    """Returns the options for a file to follow."""
    options = c.invivo_source_options()
    options.struct_size = ctypes.sizeof(options)
    options.path = strings.path_bytes(path)
    options.flags = source_flags(wait=wait, keep_going=keep_going)
    return options


class Source:
    """A source of documents: a file that is followed, or a text in memory."""

    def __init__(self, core: Objects, handle: c.invivo_source, name: str, *, pending: bool = False) -> None:
        self._core, self._handle, self.name = core, handle, name
        self._pending = pending  # whether the change set that opens it is still being written
        self._closed_early = False

    def update(self, text: str) -> None:
        """Replaces the text of a document in memory, as one reload that has ended when this returns."""
        data = strings.text_bytes(text)
        self._core.library.call("source_update", self._opened(), data, len(data))

    def refresh(self, *, retry: bool = False) -> None:
        """Reads a file now, without waiting for an event. The reload has ended when this returns.

        With ``retry``, bytes that a rollback refused are tried again (`Runtime.rollback`).
        """
        self._core.library.call("source_retry" if retry else "source_refresh", self._opened())

    def _opened(self) -> c.invivo_source:
        self._core.check()
        if self._pending:
            raise NotReadyError("the change set that opens the source is not committed yet", file=self.name)
        return self._handle

    def close(self) -> None:
        """Stops following, and removes the content of the document. May be called again.

        The commit of a change set fails if a source of the set was closed before.
        """
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

    def __init__(self, core: Objects, handle: c.invivo_target, key: str, bits: int) -> None:
        self._core, self._handle, self.key, self._bits = core, handle, key, bits
        core.attached[bits] = handle

    def detach(self) -> None:
        """Reverts the layers of specs, and releases the object. May be called again."""
        handle, self._handle = self._handle, c.invivo_target()
        if handle.bits and not self._core.closed:
            self._core.library.call("target_detach", handle)
            if self._core.attached.get(self._bits) is handle:
                del self._core.attached[self._bits]
