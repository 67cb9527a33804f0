"""Forks for tests, which repeat a fork whose child CPython itself blocks in `os.fork`.

After a fork, CPython deletes the thread states of the other threads in the child. This needs a lock of the interpreter
that a native thread holds for a moment when it enters or leaves a `ctypes` callback. If the parent forks in that
moment, the lock is never released in the child, and `os.fork` does not return there. Neither the library nor the
package can prevent this.

Two marks show how far a child has got. Import this module before `invivo`, so that its handler is the first one:

- The first handler of `os.register_at_fork` writes a byte into a pipe. CPython's own work is done by then, and the
  handlers of the package follow.
- A fork handler of the C library makes the child the leader of a process group. It runs after the handlers of the
  Invivo library.

A child with the second mark alone is blocked in CPython: `fork` ends it and repeats the fork. A child with the first
mark has left the interpreter's part of `os.fork` and is never repeated, so that a later deadlock still fails the test.
A child without a mark is blocked in the library, which is a failure.
"""

from __future__ import annotations

import ctypes
import functools
import os
import select
import signal
import threading

LIMIT = 20  # seconds until a child must have the first mark
ATTEMPTS = 3


class _Pipe(threading.local):
    """The pipe of the fork that this thread is doing."""

    ends: tuple[int, int] | None = None


_pipe = _Pipe()
_system_fork = os.fork


def _left() -> None:
    """In the child: sets the first mark."""
    if _pipe.ends is not None:
        read, write = _pipe.ends
        os.write(write, b"1")
        os.close(read)
        os.close(write)
        _pipe.ends = None


os.register_at_fork(after_in_child=_left)


@functools.cache
def _mark_after_the_library() -> None:
    """Adds the handler of the second mark.

    Handlers in children run in the order of their registration. The library registers its own ones when a runtime is
    opened, so this runs at the first fork.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "__register_atfork"):  # glibc, which exports no pthread_atfork
        failed = getattr(libc, "__register_atfork")(None, None, libc.setpgrp, None)
    else:
        failed = libc.pthread_atfork(None, None, libc.setpgrp)
    assert not failed, "no memory for a fork handler"


def fork() -> int:
    """Forks as `os.fork` does. Repeats the fork if CPython blocks the child; fails if it blocks three in a row."""
    _mark_after_the_library()
    for _ in range(ATTEMPTS):
        read, write = _pipe.ends = os.pipe()
        try:
            child = _system_fork()
            if child == 0:
                return 0
            os.close(write)
            write = -1
            if select.select([read], [], [], LIMIT)[0]:  # the mark, or the end of the child
                return child
            is_past_library = os.getpgid(child) == child
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            assert is_past_library, "a child is blocked in a fork handler of the library"
        finally:
            if _pipe.ends is not None:
                _pipe.ends = None
                os.close(read)
                if write != -1:
                    os.close(write)
    raise AssertionError(f"os.fork did not return in {ATTEMPTS} children, one after another")
