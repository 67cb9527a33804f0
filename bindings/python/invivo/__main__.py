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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO, cast

from . import LogLevel, Report
from ._runtime.app import App
from ._runtime.diagnostics import as_json, diagnostics
from ._services.graph import GRAPH_FORMATS, KEYS_LANGUAGES, GraphFormat, KeysLanguage
from ._version import __version__
from .errors import OperatingSystemError, StaleError


class Parser(argparse.ArgumentParser):
    """Wrong arguments have the status 64, as those of the native tool."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(64, f"invivo: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="python3 -m invivo", description="Runs and checks applications that change while they run.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run", help="run an application manifest and apply edits of its spec files until SIGINT, SIGTERM or SIGHUP"
    )
    run.add_argument("manifest", metavar="APP.yaml")
    run.add_argument(
        "--wait", action="store_true", help="accept missing or invalid spec files; each applies as soon as it is valid"
    )
    levels = [level.name.lower() for level in LogLevel]
    foreign = "modules and manifests may be files that other users own or can write"
    run.add_argument("--foreign-files", action="store_true", help=foreign)
    run.add_argument("--log-level", choices=levels, default="warning", metavar="LEVEL", help=", ".join(levels))
    check = commands.add_parser(
        "check", help="report all errors of a manifest and its documents, without creating objects"
    )
    check.add_argument("manifest", metavar="APP.yaml")
    check.add_argument("--wait", action="store_true", help="check the wiring alone: documents may be missing or wrong")
    check.add_argument(
        "--no-modules", action="store_true", help="load no module: check the form of the documents alone"
    )
    check.add_argument("--foreign-files", action="store_true", help=foreign)
    check.add_argument("--unread", action="store_true", help="list the values of the configuration that nothing reads")
    check.add_argument("--json", action="store_true", help="write the errors as JSON to standard output")
    graph = commands.add_parser(
        "graph", help="write the wiring of a manifest as SVG (by Graphviz), DOT, Mermaid or JSON"
    )
    graph.add_argument("manifest", metavar="APP.yaml")
    graph.add_argument("--format", choices=["svg", *GRAPH_FORMATS], help="by default what the file's name says, or dot")
    graph.add_argument("-o", "--output", metavar="FILE", help="the file to write; standard output without it")
    unread = "read no spec files: they may be missing or wrong"
    graph.add_argument("--wait", action="store_true", help=unread)
    graph.add_argument("--live", action="store_true", help="start the application and show what is alive in it")
    graph.add_argument("--foreign-files", action="store_true", help=foreign)
    keys = commands.add_parser("keys", help="write a typed function for each key of a manifest: for C, Swift or Python")
    keys.add_argument("manifest", metavar="APP.yaml")
    keys.add_argument("--language", choices=list(KEYS_LANGUAGES), help="by default what the file's name says, or c")
    keys.add_argument("-o", "--output", metavar="FILE", help="the file to write; standard output without it")
    keys.add_argument(
        "--check", action="store_true", help="write nothing; status 1 if the file of --output is out of date"
    )
    as_json_help = "with --check: write the errors as JSON to standard output, as 'check --json' does"
    keys.add_argument("--json", action="store_true", help=as_json_help)
    keys.add_argument("--wait", action="store_true", help=unread)
    keys.add_argument("--foreign-files", action="store_true", help=foreign)
    schema = commands.add_parser(
        "schema", help="write the JSON Schema of the spec files of a manifest, for editors and checks"
    )
    schema.add_argument("manifest", metavar="APP.yaml")
    schema.add_argument("-o", "--output", metavar="FILE", help="the file to write; standard output without it")
    schema.add_argument(
        "--check", action="store_true", help="write nothing; status 1 if the file of --output is out of date"
    )
    schema.add_argument("--json", action="store_true", help=as_json_help)
    schema.add_argument("--wait", action="store_true", help=unread)
    schema.add_argument("--foreign-files", action="store_true", help=foreign)
    for command in (run, check, graph, keys, schema):
        command.add_argument(
            "--environment-prefix",
            metavar="PREFIX",
            help="the prefix of environment variables that set configuration values",
        )
    options = parser.parse_args(arguments)
    if options.command == "keys":
        if options.check and options.output is None:
            keys.error("--check needs --output: the file to compare")
        if options.json and not options.check:
            keys.error("--json needs --check: the output is the file otherwise")
        return write_keys(
            options.manifest,
            options.language,
            options.output,
            check=options.check,
            json=options.json,
            wait=options.wait,
            foreign_files=options.foreign_files,
            environment_prefix=options.environment_prefix,
        )
    if options.command == "schema":
        if options.check and options.output is None:
            schema.error("--check needs --output: the file to compare")
        if options.json and not options.check:
            schema.error("--json needs --check: the output is the file otherwise")
        return write_schema(
            options.manifest,
            options.output,
            check=options.check,
            json=options.json,
            wait=options.wait,
            foreign_files=options.foreign_files,
            environment_prefix=options.environment_prefix,
        )
    if options.command == "check":
        if options.unread and (options.wait or options.no_modules):
            check.error(
                "--unread needs the modules and the documents: it cannot be combined with --wait or --no-modules"
            )
        return check_manifest(
            options.manifest,
            wait=options.wait,
            modules=not options.no_modules,
            foreign_files=options.foreign_files,
            environment_prefix=options.environment_prefix,
            unread=options.unread,
            json=options.json,
        )
    if options.command == "graph":
        if options.live and options.wait:
            graph.error("--live starts the application: it does not go with --wait")
        return draw_manifest(
            options.manifest,
            options.format,
            options.output,
            live=options.live,
            wait=options.wait,
            foreign_files=options.foreign_files,
            environment_prefix=options.environment_prefix,
        )
    return run_manifest(
        options.manifest,
        wait=options.wait,
        log_level=options.log_level,
        foreign_files=options.foreign_files,
        environment_prefix=options.environment_prefix,
    )


def run_manifest(
    manifest: str, *, wait: bool, log_level: str, foreign_files: bool = False, environment_prefix: str | None = None
) -> int:
    """Does the same as `invivo run`, line by line."""
    output = Output()
    # Installed before anything starts, so that no signal is lost.
    ended = hear_signals(output)
    app: App | None = None
    told = ""
    while app is None:
        try:
            app = App(
                manifest,
                wait=wait,
                default_domain="opener",
                log=output.log,
                log_level=log_level,
                foreign_files=foreign_files,
                environment_prefix=environment_prefix,
            )
        except Exception as problem:
            output.started(well=False)
            if str(problem) != told:
                output.problem(problem)
            if not wait:
                return 2
            if not told:
                output.line("invivo: waiting until the file is corrected", sys.stderr)
            told = str(problem)
            if ended.wait(0.25):
                return 0
    output.started(well=True)
    try:
        # Closed with the application, so that the line of a reload that is under way then is printed too.
        app.runtime.observe(output.reload)
        output.line(f"running {manifest}, generation {app.runtime.info.generation}; end with Ctrl-C")
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


def check_manifest(
    manifest: str,
    *,
    wait: bool,
    modules: bool = True,
    foreign_files: bool = False,
    unread: bool = False,
    json: bool = False,
    environment_prefix: str | None = None,
) -> int:
    """Does the same as `invivo check`, line by line."""
    output, values = Output(), ""
    try:
        if unread:
            values = App.unread(
                manifest, foreign_files=foreign_files, environment_prefix=environment_prefix, log=output.log
            )
        else:
            App.check(
                manifest,
                wait=wait,
                modules=modules,
                foreign_files=foreign_files,
                environment_prefix=environment_prefix,
                log=output.log,
            )
    except Exception as problem:
        return _report(problem, json=json)
    if json:
        output.line(as_json(unread=values.splitlines() if unread else None))
        return 0
    for line in values.splitlines():
        output.line(f"{line} is not read by anything")
    if modules:
        output.line(f"{manifest}: OK")
    else:
        unchecked = "types, properties and traits were not checked (--no-modules)"
        output.line(f"{manifest}: its form is OK; {unchecked}")
    return 0


def draw_manifest(
    manifest: str,
    format: str | None,
    output: str | None,
    *,
    live: bool,
    wait: bool = False,
    foreign_files: bool = False,
    environment_prefix: str | None = None,
) -> int:
    """Does the same as `invivo graph`."""
    if format is None:
        ending = Path(output or "").suffix[1:]
        format = {"": "dot", "gv": "dot", "mmd": "mermaid"}.get(ending, ending)
        if format not in ("svg", *GRAPH_FORMATS):
            _tell(f"'{output}' does not say which format: name it .svg, .dot, .gv, .mmd or .json, or add --format")
            return 64
    text: GraphFormat = "dot" if format == "svg" else cast("GraphFormat", format)
    try:
        if live:
            with App(
                manifest,
                default_domain="opener",
                log_level="warning",
                foreign_files=foreign_files,
                environment_prefix=environment_prefix,
            ) as app:
                drawn = app.runtime.wiring_text(text)
        else:
            drawn = App.check(
                manifest, wait=wait, format=text, foreign_files=foreign_files, environment_prefix=environment_prefix
            )
        if format == "svg":
            try:
                ran = subprocess.run(["dot", "-Tsvg"], input=drawn.encode(), stdout=subprocess.PIPE, check=False)
            except OSError as problem:
                raise OperatingSystemError(
                    f"the program dot cannot be run: {problem.strerror}; install Graphviz, or write --format dot, "
                    "mermaid or json"
                ) from None
            if ran.returncode != 0:
                raise OperatingSystemError("the program dot failed; see its messages above")
            drawn = ran.stdout.decode()
        if output is None:
            sys.stdout.write(drawn)
        else:
            Path(output).write_text(drawn, encoding="utf-8")
    except Exception as problem:
        return _report(problem)
    return 0


def write_keys(
    manifest: str,
    language: KeysLanguage | None,
    output: str | None,
    *,
    check: bool = False,
    json: bool = False,
    wait: bool = False,
    foreign_files: bool = False,
    environment_prefix: str | None = None,
) -> int:
    """Does the same as `invivo keys`."""
    if language is None:
        endings: dict[str, KeysLanguage] = {"swift": "swift", "py": "python", "pyi": "python"}
        ending = Path(output or "").suffix[1:]
        if ending not in ("", "h", "c", "hpp", "hh", "cpp", *endings):
            _tell(
                f"'{output}' does not say which language: name it .h, .c, .hpp, .swift, .py or .pyi, or add --language"
            )
            return 64
        language = endings.get(ending, "c")
    try:
        text = App.keys(
            manifest, language, wait=wait, foreign_files=foreign_files, environment_prefix=environment_prefix
        )
        return _write("keys", manifest, text, output, check=check, json=json)
    except Exception as problem:
        return _report(problem, json=json)


def write_schema(
    manifest: str,
    output: str | None,
    *,
    check: bool = False,
    json: bool = False,
    wait: bool = False,
    foreign_files: bool = False,
    environment_prefix: str | None = None,
) -> int:
    """Does the same as `invivo schema`."""
    try:
        text = App.schema(manifest, wait=wait, foreign_files=foreign_files, environment_prefix=environment_prefix)
        return _write("schema", manifest, text, output, check=check, json=json)
    except Exception as problem:
        return _report(problem, json=json)


def _write(command: str, manifest: str, text: str, output: str | None, *, check: bool, json: bool) -> int:
    """Writes a generated file unless it has this content. With ``check``, returns 1 if it has another one."""
    if output is None:
        sys.stdout.write(text)
    elif not Path(output).is_file() or Path(output).read_text(encoding="utf-8") != text:
        if check:
            remedy = f"write it with 'invivo {command} {manifest} --output {output}'"
            _report(StaleError(f"the file is out of date: {remedy}", file=output), json=json)
            return 1
        Path(output).write_text(text, encoding="utf-8")
    if json:
        Output().line(as_json())
    return 0


def _tell(problem: str) -> None:
    Output().line(f"invivo: error: {problem}", sys.stderr)


def _report(problem: Exception, *, json: bool = False) -> int:
    """Reports all errors, and returns the status of the process."""
    if json:
        Output().line(as_json(problem))
    else:
        Output().problem(problem)
    return 2


def hear_signals(output: Output) -> threading.Event:
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
