"""Change sets that a program opens and does not use."""

from __future__ import annotations

import warnings

from .._state.core import Core
from .changes import Changes


class UnusedChanges(Changes):
    """A change set that the program has opened and not used. Its first use makes it a `Changes`.

    The end of that runs no code, in which an exception of a signal handler would be lost.
    """

    def __init__(self, core: Core, place: tuple[str, int]) -> None:
        self._place = place  # first, because the handler of a signal may raise at any time
        super().__init__(core)

    def __del__(self) -> None:
        if not hasattr(self, "_place"):
            return  # an exception of a signal handler came before its first line
        warnings.warn_explicit(
            "the change set was neither committed nor discarded: use it as 'with runtime.changes() as changes:', "
            "or call commit(), submit() or discard()",
            ResourceWarning,
            *self._place,
        )
