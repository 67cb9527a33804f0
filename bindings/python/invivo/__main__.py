"""`python3 -m invivo run APP.yaml`."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from . import Error, LogLevel, Report
from ._app import App, explain
from ._version import VERSION


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m invivo", description="Runs programs that change while they live.")
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run an application manifest until SIGINT or SIGTERM")
    run.add_argument("manifest", metavar="APP.yaml")
    run.add_argument("--wait", action="store_true", help="spec files need not be good yet: they hold once they are")
    levels = [level.name.lower() for level in LogLevel]
    run.add_argument("--log-level", choices=levels, default="warning", metavar="LEVEL", help=", ".join(levels))
    options = parser.parse_args(arguments)
    return run_manifest(options.manifest, wait=options.wait, log_level=options.log_level)


def run_manifest(manifest: str, *, wait: bool, log_level: str) -> int:
    """What `invivo run` does, line by line."""
    output = Output()
    # Heard before anything starts, so that no signal is lost.
    ended = hear_signals(output)
    app: App | None = None
    told = ""
    while app is None:
        try:
            app = App(manifest, wait=wait, default_domain="opener", log=output.log, log_level=log_level)
        except Exception as problem:
            output.started(well=False)
            if str(problem) != told:
                output.problem(problem)
            if not wait:
                return 2
            if not told:
                output.line("invivo: waiting for it to be mended", sys.stderr)
            told = str(problem)
            if ended.wait(0.25):
                return 0
    output.started(well=True)
    try:
        # Closed with the application, so that the line of a reload that is under way then is printed too.
        app.runtime.observe(output.reload)
        output.line(f"running {manifest}, generation {app.runtime.info.generation}; end with Ctrl-C")
        while not ended.is_set():
            app.runtime.poll(_TURN)
    finally:
        app.close()
    return 0


def hear_signals(output: Output) -> threading.Event:
    """SIGINT and SIGTERM: the first one sets the event, the second one ends the process at once.

    A thread hears of them, because Python runs no handler while its main thread waits inside a library.
    """
    first = threading.Event()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    for number in _STOPS:
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writing)

    def listen() -> None:
        stops = (number for number in iter(lambda: os.read(reading, 1)[0], None) if number in _STOPS)
        output.line(f"ending on {signal.Signals(next(stops)).name}")
        first.set()
        # Who ends a process often ends its group too: what comes at the same time is the same wish.
        time.sleep(0.1)
        os.set_blocking(reading, False)
        with contextlib.suppress(BlockingIOError):
            while os.read(reading, 64):
                pass
        os.set_blocking(reading, True)
        os._exit(128 + next(stops))

    threading.Thread(target=listen, name="invivo-signals", daemon=True).start()
    return first


_STOPS = (signal.SIGINT, signal.SIGTERM)
_TURN = 0.1  # seconds: so long may it take until a signal is noticed


class Output:
    """Whole lines: what happens to standard output, what is wrong to standard error."""

    def __init__(self) -> None:
        self._early: list[str] | None = []  # what the log says of reloads before the start has succeeded

    def line(self, text: str, file: TextIO | None = None) -> None:
        print(text, file=file or sys.stdout, flush=True)

    def problem(self, problem: BaseException) -> None:
        for each in problem.errors if isinstance(problem, Error) else [problem]:
            self.line(f"invivo: {explain(each)}", sys.stderr)

    def reload(self, report: Report) -> None:
        """One line; for a broken edit, a line for each error and one that says which generation stays."""
        if report.error is None:
            self.line(report.text)
            return
        reasons = "".join(f"{each}\n" for each in report.error.errors)
        self.line(f"{reasons}{report.cause}: not applied, generation {report.generation} stays")

    def log(self, level: int, message: str, path: str, fields: Mapping[str, Any]) -> None:
        more = "".join(f" {name}={value}" for name, value in fields.items())
        entry = f"{LogLevel(level)}: {message}{more}"
        if "reload" not in fields:
            self.line(entry, sys.stderr)
        elif self._early is not None:
            self._early.append(entry)

    def started(self, *, well: bool) -> None:
        """The start has come to its end. From now on reloads are told by the observer; what is wrong with a start that
        failed, by its error. Only what the log said of one that succeeded in spite of it is left to tell."""
        held, self._early = self._early or [], None if well else []
        for entry in held if well else ():
            self.line(entry, sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
