"""`python3 -m invivo run APP.yaml`."""

from __future__ import annotations

import argparse
import queue
import signal
import sys
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
    # Signals end the waits below. They are set before anything starts, so that none of them is lost.
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: ended.put(number))
    output = Output()
    app: App | None = None
    told = ""
    while app is None:
        try:
            app = App(manifest, wait=wait, log=output.log, log_level=log_level)
        except Exception as problem:
            if str(problem) != told:
                output.problem(problem)
            if not wait:
                return 2
            if not told:
                output.line("invivo: waiting for it to be mended", sys.stderr)
            told = str(problem)
            try:
                ended.get(timeout=0.25)
            except queue.Empty:
                continue
            output.line("ending on a signal")
            return 0
    try:
        with app.runtime.observe(output.reload):
            output.hears_reloads = True
            output.line(f"running {manifest}, generation {app.runtime.info.generation}; end with Ctrl-C")
            output.line(f"ending on {signal.Signals(ended.get()).name}")
    finally:
        app.close()
    return 0


class Output:
    """Whole lines: what happens to standard output, what is wrong to standard error."""

    def __init__(self) -> None:
        self.hears_reloads = False  # they are told by `reload`, so that the log need not

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
        if "reload" in fields and self.hears_reloads:
            return
        more = "".join(f" {name}={value}" for name, value in fields.items())
        where = f"{path}: " if path else ""
        self.line(f"{LogLevel(level)}: {where}{message}{more}", sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
