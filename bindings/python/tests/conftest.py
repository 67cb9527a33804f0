"""What every test shares: nothing may be left of it, neither in the library nor in the package's tables."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import fork_marker  # noqa: F401  # isort: skip  # before invivo: see there
import pytest

import invivo
from invivo._native import callbacks
from invivo._native.session import sessions
from invivo._objects.entries import entries
from invivo._runtime import traits

HERE = Path(__file__).resolve().parent


def wait_for_ended_threads(known: set[str]) -> None:
    """Waits until the system has ended the threads that Python has joined.

    `Thread.join` returns before the native thread has run the functions of its end: they end its thread-scoped objects,
    and refer to a generation until then.
    """
    end = time.monotonic() + 5
    while time.monotonic() < end:
        alive = known | {str(each.native_id) for each in threading.enumerate()}
        if set(os.listdir("/proc/self/task")) <= alive:
            return
        os.sched_yield()


@pytest.fixture(autouse=True)
def no_other_traits() -> None:
    """No test has the trait types of another, nor those of modules: it adds those by itself."""
    traits._declared.clear()


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    gc.collect()
    # Modules, tests and earlier reports are no matter of this test: without them a collection takes 1 ms and not 70.
    gc.freeze()
    items = len(callbacks._items)
    tasks = set(os.listdir("/proc/self/task"))
    before = vars(invivo.live())
    yield
    for core in list(sessions.values()):
        core.close()
    gc.collect()
    if vars(invivo.live()) != before:
        wait_for_ended_threads(tasks)
    after = vars(invivo.live())
    assert after == before, "something is left in the library"
    assert not sessions
    assert not entries, "the runtime still holds Python objects"
    assert len(callbacks._items) == items, "user data was not given back"


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a Python program in a process of its own, with a deadline: a deadlock ends it and shows every stack."""

    def run(text: str, *arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "program.py"
        path.write_text(f"import faulthandler\nfaulthandler.dump_traceback_later({seconds}, exit=True)\n{text}")
        environment = {**os.environ, "PYTHONPATH": f"{HERE.parent}:{HERE}", "SWIFT_BACKTRACE": "enable=no"}
        return subprocess.run(
            [sys.executable, str(path), *arguments],
            capture_output=True,
            text=True,
            timeout=seconds + 30,
            env=environment,
            cwd=tmp_path,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C module of native.c, compiled as its users would compile one."""
    root = HERE.parents[2]
    path = tmp_path_factory.mktemp("native") / "libnative.so"
    stubs = root / "Sources" / "InvivoStubs"
    subprocess.run(
        ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread"]
        + ["-I", str(root / "include"), "-I", str(stubs / "include")]
        + [str(HERE / "native.c"), str(stubs / "stubs.c"), "-o", str(path)],
        check=True,
    )
    return path


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    """Lets threads that run Python give up the GIL 50 times as often. A commit takes it about 15 times."""
    former = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(former)
