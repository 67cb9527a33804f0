"""Exceptions that signal handlers raise while the library calls Python.

Python runs signal handlers in its main thread, at the entry of any function. That includes callbacks, where ctypes can
only report the exception to `sys.unraisablehook`. The exceptions are collected here, and the library call during which
they occurred raises them.
"""

from __future__ import annotations

import dis
import functools
import itertools
import os
import signal
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

main = threading.main_thread().ident  # signal handlers run here
entries: set[types.CodeType] = set()  # the functions that ctypes calls
_waiting: list[BaseException] = []  # for the library call that is under way
_formers: list[Callable[[Any], Any]] = []  # the hook outside each such call
_ordinary: list[BaseException] = []  # exceptions that a callback itself reports to the hook
_effective: BaseException | None = None


def enter() -> None:
    """Notes that the main thread is about to call the library."""
    _formers.append(sys.unraisablehook)
    sys.unraisablehook = _collect


def depth() -> int:
    """Returns how many library calls are under way."""
    return len(_formers)


def leave(depth: int) -> None:
    """Notes that the library call is over. ``depth`` is the value before `enter`."""
    while len(_formers) > depth:
        if sys.unraisablehook is _collect:
            sys.unraisablehook = _formers[-1]
        _formers.pop()


def _collect(found: Any) -> None:
    """Stands in for `sys.unraisablehook` while the main thread is inside the library."""
    problem, traceback = found.exc_value, found.exc_traceback
    at_entry = traceback is not None and traceback.tb_frame.f_code in entries
    if at_entry and threading.get_ident() == main and not any(each is problem for each in _ordinary):
        _keep(problem)
        return
    outside = next((hook for hook in reversed(_formers) if hook is not _collect), sys.__unraisablehook__)
    outside(found)


def _keep(problem: BaseException) -> None:
    """Keeps an exception, once. Several interrupts by the user during a library call are one."""
    kind = type(problem)
    if any(each is problem or (type(each) is kind is KeyboardInterrupt) for each in _waiting):
        return
    _waiting.append(problem)


def is_kept(problem: BaseException) -> bool:
    """Whether `note` keeps an exception of a callback."""
    return bool(_formers) and threading.get_ident() == main and is_from_handler(problem)


def note(problem: BaseException) -> bool:
    """Keeps an exception of a signal handler in a callback, for the library call to raise. False: it is not one."""
    if not is_kept(problem):
        return False
    _keep(problem)
    return True


def defer(problem: BaseException) -> bool:
    """Keeps an exception of a signal handler, in code where Python drops exceptions, for the next library call to
    raise.

    Returns whether it was one.
    """
    if threading.get_ident() != main or not is_from_handler(problem):
        return False
    _keep(problem)
    return True


def take() -> BaseException | None:
    """Returns the exception that the library call which has ended must raise."""
    return _waiting.pop(0) if _waiting else None


def is_from_handler(problem: BaseException) -> bool:
    """Whether a signal's handler has raised it."""
    if isinstance(problem, KeyboardInterrupt):
        return True
    codes = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    traceback = problem.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code in codes:
            return True
        traceback = traceback.tb_next
    return False


def pass_on(problem: BaseException) -> None:
    """Raises an exception again if a signal handler has raised it: for code that drops exceptions of other causes."""
    if threading.get_ident() == main and is_from_handler(problem):
        raise problem


def complete(body: Callable[..., None], done: list[Any], *arguments: Any) -> None:
    """Calls a body with a list and arguments until it has done its work, also if signal handlers raise in between.

    The body calls code of the program once, by `run`, which adds to the list. An exception of a handler before that, or
    at the entry of that code, repeats the body: none of the code has run. A later one does not change that the work is
    done. The library call raises both. All other exceptions are those of the body.
    """
    for left in reversed(range(TRIES)):
        try:
            body(done, *arguments)
            return
        except BaseException as problem:
            if left == 0 or has_begun(problem, done) or not note(problem):
                raise
            if done:
                return


def run(done: list[Any], function: Callable[..., Any], *arguments: Any) -> None:
    """Calls code of the program in a body of `complete`."""
    done.extend(itertools.starmap(function, (arguments,)))
    if not done:
        raise RuntimeError(f"{function!r} raised StopIteration")


def has_begun(problem: BaseException, done: list[Any]) -> bool:
    """Whether the function that `run` calls had begun, and not ended, when an exception of a signal handler came."""
    if done:
        return False
    codes = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    step, is_called = problem.__traceback__, False
    while step is not None and step.tb_frame.f_code not in codes:
        code = step.tb_frame.f_code
        # Python runs handlers at this instruction, the first one of a function.
        is_entered = code.co_code[step.tb_lasti] == _RESUME and code.co_code[step.tb_lasti + 1] == 0
        if is_called and not is_entered and not code.co_filename.startswith(_PACKAGE):
            return True
        is_called = is_called or code is run.__code__
        step = step.tb_next
    return False


TRIES = 1000  # as in the library, for handlers that raise each time
_RESUME = dis.opmap["RESUME"]
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def _code_of(handler: Any) -> types.CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    call = vars(type(handler)).get("__call__")  # of an object that is called as a function
    code = getattr(handler, "__code__", None) or getattr(call, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def report(problem: BaseException) -> None:
    """Notes that a callback is about to leave an exception to `sys.unraisablehook`."""
    _ordinary[:] = [problem]


def effective(problem: BaseException) -> None:
    """Notes an exception that is raised although the library call has succeeded."""
    global _effective
    _effective = problem


def took_effect(problem: BaseException) -> bool:
    """Whether the call that raised this has succeeded, because a signal handler raised afterwards."""
    return problem is _effective


def _forked() -> None:
    global main
    main = threading.get_ident()


os.register_at_fork(after_in_child=_forked)
