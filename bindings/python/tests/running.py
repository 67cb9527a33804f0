"""`python3 -m invivo run` as a child process."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Running:
    """`python3 -m invivo run`, with its lines as they come."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "invivo", "run", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(HERE.parent), "SWIFT_BACKTRACE": "enable=no"},
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.seen: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def until(self, part: str) -> str:
        while (line := self.lines.get(timeout=60)) is not None:
            self.seen.append(line)
            if part in line:
                return line
        raise AssertionError(f"no line with {part!r}:\n{''.join(self.seen)}")

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@contextlib.contextmanager
def running(*arguments: str) -> Iterator[Running]:
    one = Running(*arguments)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()
        one._reader.join()
        assert one.process.stdout is not None
        one.process.stdout.close()
