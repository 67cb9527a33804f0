"""Build plans and callbacks that are under way in a runtime, by the stacks of their threads.

A constructor that a build plan calls may use the runtime. It must then find the objects that its graph shares, which
only the library can do, so the plan is given up and the graph is resolved.
"""

from __future__ import annotations

import sys
import threading
import types

from . import signals

FILE = "<invivo plan>"  # the name of the source of build plans
bodies: set[types.CodeType] = set()  # the functions that run the bodies of callbacks which return a status


class GivenUp(BaseException):
    """A constructor that a build plan has called uses the runtime: the whole graph is resolved instead."""


class Activity:
    """The build plans and callbacks of one runtime that are under way."""

    __slots__ = ("calling", "given_up", "planning", "uses")

    def __init__(self) -> None:
        self.planning: list[None] = []  # one item for each build plan
        self.calling: list[None] = []  # one item for each callback
        self.given_up: set[int] = set()  # threads whose build plan met a constructor that uses the runtime
        self.uses = 0  # how often the runtime was used

    def use(self) -> None:
        """Notes that the runtime is about to be used. Gives up the build plan that the calling code is in."""
        self.uses += 1
        if self.planning and position(self.planning) == "plan":
            self.give_up()

    def give_up(self) -> None:
        """Gives up the build plan of the calling thread."""
        self.given_up.add(threading.get_ident())
        raise GivenUp

    def is_whole(self) -> bool:
        """Whether the build plan of the calling thread was not given up."""
        return threading.get_ident() not in self.given_up

    def forked(self) -> None:
        """In a forked child: keeps the activity of the calling thread, the only one that continues."""
        self.given_up.intersection_update((threading.get_ident(),))
        plans: list[None] = []
        callbacks: list[None] = []
        frame = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if code.co_filename == FILE:
                if frame.f_globals["planning"] is self.planning:
                    plans.append(None)
            elif code in bodies and frame.f_locals.get("calling") is self.calling:
                callbacks.append(None)
            frame = frame.f_back  # type: ignore[assignment]
        self.planning[:], self.calling[:] = plans, callbacks


def position(planning: list[None]) -> str | None:
    """Returns "plan" if the calling code is in a build plan of this list, else "callback" if it is in a callback."""
    found = None
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename == FILE:
            space = frame.f_globals
            if space["planning"] is planning and space["first"] <= frame.f_lineno <= space["last"]:
                return "plan"
        elif code in signals.entries:
            found = "callback"
        frame = frame.f_back  # type: ignore[assignment]
    return found


def give_up_plan() -> None:
    """Gives up the innermost build plan that the calling code is in, of any runtime."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == FILE:
            space = frame.f_globals
            if space["first"] <= frame.f_lineno <= space["last"]:
                space["activity"].give_up()
        frame = frame.f_back  # type: ignore[assignment]
