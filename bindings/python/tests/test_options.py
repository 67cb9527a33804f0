"""The options of an open runtime: in force, and changed."""

from __future__ import annotations

import dataclasses
import logging
import math
import threading
from pathlib import Path

import pytest

import invivo
from invivo import LogLevel, Runtime


def test_the_defaults_are_numbers() -> None:
    with Runtime() as runtime:
        options = runtime.options
        assert (options.name, options.default_domain, options.pending_targets) == ("invivo", "opener", False)
        assert (options.quote_content, options.foreign_files, options.inject_marked) == (True, False, True)
        assert options.environment_prefix is None
        assert (options.quiet, options.settle_max, options.commit_timeout, options.stop_grace) == (0.01, 0.25, 5, 30)
        assert (options.start_timeout, options.stop_timeout, options.load_timeout) == (60, 60, 10)
        assert options.end_timeout == 5
        assert (options.max_document_bytes, options.max_document_nodes) == (1 << 20, 50_000)
        assert (options.max_each_entries, options.pin_max_age, options.rule_timeout) == (10_000, 60, 1)
        assert (options.history, options.log_level) == (16, LogLevel.INFO)
        with pytest.raises(dataclasses.FrozenInstanceError):
            options.quiet = 1  # type: ignore[misc]


def test_given_options_are_shown() -> None:
    with Runtime(
        name="app",
        default_domain="loop",
        pending_targets=True,
        quote_content=False,
        foreign_files=True,
        inject_marked=False,
        commit_timeout=math.inf,
        end_timeout=math.inf,
        stop_grace=None,
        pin_max_age=math.inf,
        load_timeout=math.inf,
        history=0,
        log_level="silent",
    ) as runtime:
        options = runtime.options
        assert (options.name, options.default_domain, options.pending_targets) == ("app", "loop", True)
        assert (options.quote_content, options.foreign_files, options.inject_marked) == (False, True, False)
        assert (options.commit_timeout, options.stop_grace, options.pin_max_age) == (math.inf, None, math.inf)
        assert options.end_timeout == math.inf
        assert (options.load_timeout, options.history, options.log_level) == (math.inf, 0, LogLevel.SILENT)


def test_every_option_changes() -> None:
    later = {
        "quiet": 0.002,
        "settle_max": 0.1,
        "commit_timeout": 1.0,
        "start_timeout": 2.0,
        "stop_timeout": math.inf,
        "end_timeout": 3.0,
        "stop_grace": None,
        "max_document_bytes": 1000,
        "max_document_nodes": 100,
        "max_each_entries": 10,
        "pin_max_age": math.inf,
        "history": 0,
        "rule_timeout": 0.5,
        "load_timeout": math.inf,
        "log_level": LogLevel.ERROR,
    }
    with Runtime() as runtime:
        before = runtime.options
        runtime.change_options(**later)  # type: ignore[arg-type]
        assert runtime.options == dataclasses.replace(before, **later)  # type: ignore[arg-type]
        assert runtime.generation == 0
        runtime.change_options(quiet=None, history=None, stop_grace=30)
        assert (runtime.options.quiet, runtime.options.history, runtime.options.stop_grace) == (0.01, 16, 30)
        assert runtime.options.settle_max == 0.1


def test_all_or_none() -> None:
    with Runtime() as runtime:
        before = runtime.options
        for wrong in ({"history": 2000}, {"log_level": "loud"}, {"quiet": -1}, {"max_each_entries": -1}):
            with pytest.raises(invivo.ArgumentError):
                runtime.change_options(rule_timeout=2, **wrong)
        with pytest.raises(TypeError, match="name"):
            runtime.change_options(name="other")  # type: ignore[call-arg]
        assert runtime.options == before
    with pytest.raises(invivo.ClosedError):
        runtime.change_options(quiet=0)
    with pytest.raises(invivo.ClosedError):
        _ = runtime.options


def test_a_silent_runtime_logs_when_its_level_changes(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="invivo")
    with Runtime(log_level="silent") as runtime:
        runtime.configure("a.n", 1)
        assert not caplog.records
        runtime.change_options(log_level="info", quiet=0.002)
        assert [each.message for each in caplog.records] == ["options: quiet_ms 10 -> 2, log_level silent -> info"]
        runtime.configure("a.n", 2)
        assert len(caplog.records) == 2
        runtime.change_options(log_level="silent")
        runtime.configure("a.n", 3)
        assert len(caplog.records) == 2


def test_a_log_function_changes_the_options() -> None:
    def quieter(level: int, message: str, path: str, fields: object) -> None:
        heard.append(message)
        if len(heard) == 1:
            runtime.change_options(log_level="warning")

    heard: list[str] = []
    with Runtime(log=quieter) as runtime:
        runtime.configure("a.n", 1)
        runtime.configure("a.n", 2)
        assert len(heard) == 1


def test_threads_change_different_options() -> None:
    def change(name: str) -> None:
        for number in range(1, 101):
            runtime.change_options(**{name: number})  # type: ignore[arg-type]

    with Runtime(log_level="silent") as runtime:
        names = ("history", "max_each_entries", "rule_timeout")
        threads = [threading.Thread(target=change, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(getattr(runtime.options, name) == 100 for name in names)


def test_limits_of_documents_and_of_the_history() -> None:
    with Runtime() as runtime:
        document = runtime.source("a.yaml", "config: { a: { n: 1 } }")
        runtime.change_options(max_document_bytes=30, history=1)
        with pytest.raises(invivo.TooLargeError):
            document.update("config: { a: { n: 2 } } # a comment")
        runtime.change_options(max_document_bytes=1000)
        document.update("config: { a: { n: 2 } } # a comment")
        document.update("config: { a: { n: 3 } }")
        assert len(runtime.history) == 2
        runtime.change_options(history=0)
        assert len(runtime.history) == 1


def test_the_quiet_time_of_a_file_that_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("config: { a: { n: 1 } }")
    # Before the change, the file would be read after an hour.
    with Runtime(watch=path, quiet=3600, settle_max=3600) as runtime:
        reloads = iter(runtime.reloads())
        path.write_text("config: { a: { n: 2 } }")
        runtime.change_options(quiet=0)
        next(reloads)
        assert runtime.config("a.n") == 2
