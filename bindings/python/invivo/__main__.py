"""`python3 -m invivo run APP.yaml`, `check APP.yaml` and `graph APP.yaml`."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO, cast

from . import LogLevel, Report
from ._runtime.app import App, CheckOptions, ReadOptions
from ._runtime.diagnostics import Warned, as_json, diagnostics
from ._services.graph import GRAPH_FORMATS, KEYS_LANGUAGES, GraphFormat, KeysLanguage
from ._services.settings import Log
from ._version import __version__
from .errors import OperatingSystemError, StaleError


class Parser(argparse.ArgumentParser):
    """Wrong arguments have the status 64, as those of the native tool."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(64, f"invivo: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    code: int = options.function(options)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python3 -m invivo", description="Runs and checks applications that change while they run.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    unread = "read no spec files: they may be missing or wrong"

    def command(
        name: str, function: Callable[[argparse.Namespace], int], text: str, wait: str = unread
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text)
        made.set_defaults(function=function, error=made.error)
        made.add_argument("manifest", metavar="APP.yaml")
        made.add_argument("--wait", action="store_true", help=wait)
        made.add_argument(
            "--foreign-files",
            action="store_true",
            help="modules and manifests may be files that other users own or can write",
        )
        made.add_argument(
            "--environment-prefix",
            metavar="PREFIX",
            help="the prefix of environment variables that set configuration values",
        )
        return made

    def writes(made: argparse.ArgumentParser) -> None:
        made.add_argument("-o", "--output", metavar="FILE", help="the file to write; standard output without it")

    def compares(made: argparse.ArgumentParser) -> None:
        writes(made)
        made.add_argument(
            "--check", action="store_true", help="write nothing; status 1 if the file of --output is out of date"
        )
        made.add_argument(
            "--json",
            action="store_true",
            help="with --check: write the errors as JSON to standard output, as 'check --json' does",
        )

    run = command(
        "run",
        run_manifest,
        "run an application manifest and apply edits of its spec files until SIGINT, SIGTERM or SIGHUP",
        "accept missing or invalid spec files; each applies as soon as it is valid",
    )
    levels = [level.name.lower() for level in LogLevel]
    run.add_argument("--log-level", choices=levels, default="warning", metavar="LEVEL", help=", ".join(levels))
    check = command(
        "check",
        check_manifest,
        "report all errors and warnings of a manifest and its documents, without creating objects",
        "check the wiring alone: documents may be missing or wrong",
    )
    check.add_argument(
        "--no-modules", action="store_true", help="load no module: check the form of the documents alone"
    )
    check.add_argument("--unread", action="store_true", help="list the values of the configuration that nothing reads")
    check.add_argument("--json", action="store_true", help="write the errors and warnings as JSON to standard output")
    graph = command("graph", draw_manifest, "write the wiring of a manifest as SVG (by Graphviz), DOT, Mermaid or JSON")
    graph.add_argument("--format", choices=["svg", *GRAPH_FORMATS], help="by default what the file's name says, or dot")
    graph.add_argument("--live", action="store_true", help="start the application and show what is alive in it")
    writes(graph)
    keys = command("keys", write_keys, "write a typed function for each key of a manifest: for C, Swift or Python")
    keys.add_argument("--language", choices=list(KEYS_LANGUAGES), help="by default what the file's name says, or c")
    compares(keys)
    compares(
        command("schema", write_schema, "write the JSON Schema of the spec files of a manifest, for editors and checks")
    )
    return parser


def _read_options(options: argparse.Namespace, log: Log | None = None) -> ReadOptions:
    return {"log": log, "foreign_files": options.foreign_files, "environment_prefix": options.environment_prefix}


def _check_options(options: argparse.Namespace, log: Log | None = None) -> CheckOptions:
    return {**_read_options(options, log), "wait": options.wait}


def run_manifest(options: argparse.Namespace) -> int:
    """Does the same as `invivo run`, line by line."""
    output = Output()
    # Installed before anything starts, so that no signal is lost.
    ended = stop_on_signals(output)
    app: App | None = None
    reported = ""
    while app is None:
        try:
            app = App(
                options.manifest,
                wait=options.wait,
                default_domain="opener",
                log=output.log,
                log_level=options.log_level,
                foreign_files=options.foreign_files,
                environment_prefix=options.environment_prefix,
            )
        except Exception as problem:
            output.started(well=False)
            if str(problem) != reported:
                output.problem(problem)
            if not options.wait:
                return 2
            if not reported:
                output.line("invivo: waiting until the file is corrected", sys.stderr)
            reported = str(problem)
            if ended.wait(0.25):
                return 0
    output.started(well=True)
    try:
        # Closed with the application, so that the line of a reload that is under way then is printed too.
        app.runtime.observe(output.reload)
        output.line(f"running {options.manifest}, generation {app.runtime.info.generation}; end with Ctrl-C")
        if app.runtime.info.objects == 0:
            output.line(
                "invivo: warning: nothing is created: only components with 'scope: singleton', and what they need, are "
                "created at the start",
                sys.stderr,
            )
        while not ended.is_set():
            app.runtime.poll(_TURN)
    finally:
        app.close()
    return 0


def check_manifest(options: argparse.Namespace) -> int:
    """Does the same as `invivo check`, line by line."""
    if options.unread and (options.wait or options.no_modules):
        options.error("--unread needs the modules and the documents: it cannot be combined with --wait or --no-modules")
    output, values = Output(), ""
    warnings: list[Warned] = []

    def warn(level: int, message: str, path: str, fields: Mapping[str, Any]) -> None:
        warned = Warned(str(LogLevel(level)), message, fields)
        warnings.append(warned)
        if not options.json:
            output.line(warned.diagnostic, sys.stderr)

    try:
        if options.unread:
            values = App.unread(options.manifest, **_read_options(options, warn))
        else:
            App.check(options.manifest, modules=not options.no_modules, **_check_options(options, warn))
    except Exception as problem:
        return _report(problem, json=options.json, warnings=warnings)
    if options.json:
        output.line(as_json(unread=values.splitlines() if options.unread else None, warnings=warnings))
        return 0
    for line in values.splitlines():
        output.line(f"{line} is not read by anything")
    if options.no_modules:
        unchecked = "types, properties and traits were not checked (--no-modules)"
        output.line(f"{options.manifest}: its form is OK; {unchecked}")
    else:
        output.line(f"{options.manifest}: OK")
    return 0


def draw_manifest(options: argparse.Namespace) -> int:
    """Does the same as `invivo graph`."""
    if options.live and options.wait:
        options.error("--live starts the application: it does not go with --wait")
    output, format = options.output, options.format
    if format is None:
        ending = Path(output or "").suffix[1:]
        format = {"": "dot", "gv": "dot", "mmd": "mermaid"}.get(ending, ending)
        if format not in ("svg", *GRAPH_FORMATS):
            _tell(f"'{output}' does not say which format: name it .svg, .dot, .gv, .mmd or .json, or add --format")
            return 64
    text: GraphFormat = "dot" if format == "svg" else cast("GraphFormat", format)
    try:
        if options.live:
            with App(options.manifest, default_domain="opener", log_level="warning", **_read_options(options)) as app:
                drawn = app.runtime.wiring_text(text)
        else:
            drawn = App.check(options.manifest, format=text, **_check_options(options))
        if format == "svg":
            drawn = _drawn_by_graphviz(drawn)
        return _write(options, drawn)
    except Exception as problem:
        return _report(problem)


def _drawn_by_graphviz(text: str) -> str:
    """Returns a graph as SVG."""
    try:
        ran = subprocess.run(["dot", "-Tsvg"], input=text.encode(), stdout=subprocess.PIPE, check=False)
    except OSError as problem:
        raise OperatingSystemError(
            f"the program dot cannot be run: {problem.strerror}; install Graphviz, or write --format dot, "
            "mermaid or json"
        ) from None
    if ran.returncode != 0:
        raise OperatingSystemError("the program dot failed; see its messages above")
    return ran.stdout.decode()


def write_keys(options: argparse.Namespace) -> int:
    """Does the same as `invivo keys`."""
    language: KeysLanguage | None = options.language
    if language is None:
        endings: dict[str, KeysLanguage] = {"swift": "swift", "py": "python", "pyi": "python"}
        ending = Path(options.output or "").suffix[1:]
        if ending not in ("", "h", "c", "hpp", "hh", "cpp", *endings):
            _tell(
                f"'{options.output}' does not say which language: name it .h, .c, .hpp, .swift, .py or .pyi, or add "
                "--language"
            )
            return 64
        language = endings.get(ending, "c")
    return _write_checked(options, lambda: App.keys(options.manifest, language, **_check_options(options)))


def write_schema(options: argparse.Namespace) -> int:
    """Does the same as `invivo schema`."""
    return _write_checked(options, lambda: App.schema(options.manifest, **_check_options(options)))


def _write_checked(options: argparse.Namespace, text: Callable[[], str]) -> int:
    """Writes a generated file. With ``--check``, returns 1 if the file has another content."""
    if options.check and options.output is None:
        options.error("--check needs --output: the file to compare")
    if options.json and not options.check:
        options.error("--json needs --check: the output is the file otherwise")
    try:
        return _write(options, text(), check=options.check, json=options.json)
    except Exception as problem:
        return _report(problem, json=options.json)


def _write(options: argparse.Namespace, text: str, *, check: bool = False, json: bool = False) -> int:
    """Writes a file unless it has this content. With ``check``, returns 1 if it has another one."""
    output = options.output
    if output is None:
        sys.stdout.write(text)
    elif not Path(output).is_file() or Path(output).read_text(encoding="utf-8") != text:
        if check:
            remedy = f"write it with 'invivo {options.command} {options.manifest} --output {output}'"
            _report(StaleError(f"the file is out of date: {remedy}", file=output), json=json)
            return 1
        Path(output).write_text(text, encoding="utf-8")
    if json:
        Output().line(as_json())
    return 0


def _tell(problem: str) -> None:
    Output().line(f"invivo: error: {problem}", sys.stderr)


def _report(problem: Exception, *, json: bool = False, warnings: Sequence[Warned] | None = None) -> int:
    """Reports all errors, and returns the status of the process."""
    if json:
        Output().line(as_json(problem, warnings=warnings))
    else:
        Output().problem(problem)
    return 2


def stop_on_signals(output: Output) -> threading.Event:
    """Sets an event at the first SIGINT, SIGTERM or SIGHUP. The second one ends the process at once.

    A signal that is ignored from the start, as SIGHUP is below nohup, stays ignored. A thread waits for the signals,
    because Python runs no handler while its main thread waits inside a library.
    """
    first = threading.Event()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    for number in _STOPS:
        if signal.getsignal(number) == signal.SIG_IGN:
            continue
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writing)

    def listen() -> None:
        stops = (number for number in iter(lambda: os.read(reading, 1)[0], None) if number in _STOPS)
        output.line(f"ending on {signal.Signals(next(stops)).name}")
        first.set()
        # A signal to a process is often sent to its group too: signals that arrive together are one request.
        time.sleep(0.1)
        os.set_blocking(reading, False)
        with contextlib.suppress(BlockingIOError):
            while os.read(reading, 64):
                pass
        os.set_blocking(reading, True)
        os._exit(128 + next(stops))

    threading.Thread(target=listen, name="invivo-signals", daemon=True).start()
    return first


_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TURN = 0.1  # seconds until a signal is noticed


class Output:
    """Prints whole lines: events to standard output, problems to standard error."""

    def __init__(self) -> None:
        self._early: list[str] | None = []  # log entries about reloads before the start has succeeded

    def line(self, text: str, file: TextIO | None = None) -> None:
        print(text, file=file or sys.stdout, flush=True)

    def problem(self, problem: BaseException) -> None:
        for line in diagnostics(problem):
            self.line(line, sys.stderr)

    def reload(self, report: Report) -> None:
        """Prints one line. For a refused edit it prints to standard error, a line for each error and a last one."""
        if report.error is None:
            self.line(report.text)
            return
        reasons = "".join(f"{line}\n" for line in diagnostics(report.error))
        self.line(f"{reasons}invivo: {report.cause}: not applied, generation {report.generation} stays", sys.stderr)

    def log(self, level: int, message: str, path: str, fields: Mapping[str, Any]) -> None:
        more = "".join(f" {name}={value}" for name, value in fields.items())
        entry = f"{LogLevel(level)}: {message}{more}"
        if "reload" not in fields:
            self.line(entry, sys.stderr)
        elif self._early is not None:
            self._early.append(entry)

    def started(self, *, well: bool) -> None:
        """Notes the end of the start. From now on the observer reports reloads, and an error reports a failed start.

        Only log entries of a start that succeeded in spite of them are still to be printed.
        """
        held, self._early = self._early or [], None if well else []
        for entry in held if well else ():
            self.line(entry, sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
