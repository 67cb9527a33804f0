"""`python3 -m invivo run APP.yaml`."""

from __future__ import annotations

import argparse
import queue
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import LogLevel, Report
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
    # Signals end the wait below; they are set before anything starts, so that none of them is lost.
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: ended.put(number))
    try:
        app = App(manifest, wait=wait, log=print_log, log_level=log_level)
    except Exception as problem:
        print(explain(problem), file=sys.stderr, flush=True)
        return 2
    try:
        with app.runtime.observe(print_report):
            print(f"{manifest}: generation {app.runtime.info.generation} is running", flush=True)
            ended.get()
    finally:
        app.close()
    return 0


def print_report(report: Report) -> None:
    if report.error is None:
        print(report.text, flush=True)
        return
    print(explain(report.error), file=sys.stderr)
    print(report.text, file=sys.stderr, flush=True)


def print_log(level: int, message: str, path: str, fields: Mapping[str, Any]) -> None:
    more = "".join(f" {name}={value}" for name, value in fields.items())
    where = f"{path}: " if path else ""
    print(f"{LogLevel(level).name.lower()}: {where}{message}{more}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
