"""Runtimes without a log of their own tell the logger "invivo", which the host configures as any other."""

from __future__ import annotations

import itertools
import logging
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import invivo
from invivo._native import callbacks
from invivo._services import settings


class Player:
    tempo: float = invivo.tunable(120, min=30, max=300)


GOOD = "traits:\n  synth.player:\n    - Set: { tempo: 60 }\n"
BROKEN = "traits:\n  synth.player:\n    - Set: { tempo: 6000 }\n"
ERROR = (
    "a.yaml:3:21: traits.synth.player[0].Set.tempo: 6000 is outside 30...300\n"
    "generation 1 stays: a.yaml was not applied"
)


def assembly() -> invivo.Assembly:
    app = invivo.Assembly("synth")
    app.lazy_singleton(Player)
    return app


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(GOOD)


def broken(runtime: invivo.Runtime, text: str = BROKEN) -> None:
    """Saves a broken edit and waits until the reload has failed."""
    with runtime.reloads() as reloads:
        Path("a.yaml").write_text(text)
        for report in iter(lambda: reloads.wait(60), None):
            if report.error is not None:
                return
    raise AssertionError("no reload failed")


def test_a_refused_edit_is_an_error_of_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    with invivo.Runtime(assembly(), watch="a.yaml") as runtime:
        caplog.clear()
        broken(runtime)
        broken(runtime)  # saved again
    errors = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert [(each.name, each.levelname, each.getMessage()) for each in errors] == [("invivo", "ERROR", ERROR)]
    assert errors[0].invivo == {"reload": "a.yaml"}  # type: ignore[attr-defined]


def test_the_levels_are_those_of_logging(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "invivo")
    with invivo.Runtime(assembly(), watch="a.yaml", pending_targets=True, log_level="trace") as runtime:
        runtime.source("b.yaml", "traits:\n  synth.palyer: [ Set: { tempo: 60 } ]\n")
    levels = {each.levelname: each.getMessage() for each in caplog.records if "b.yaml" in each.getMessage()}
    assert levels["WARNING"] == "b.yaml:2:3: no target has the key 'synth.palyer' yet; its traits wait for one"
    assert levels["INFO"].startswith("generation 2: b.yaml: ")
    assert "DEBUG" in levels


def test_what_the_logger_does_not_take_is_not_read(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "invivo")
    with invivo.Runtime(assembly(), pending_targets=True, log_level="trace") as runtime:
        runtime.source("b.yaml", "traits:\n  synth.palyer: [ Set: { tempo: 60 } ]\n")
    assert not caplog.records


def test_an_error_of_a_call_is_raised_and_no_error_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "invivo")
    with invivo.Runtime(assembly()) as runtime:
        caplog.clear()
        with pytest.raises(invivo.Error):
            runtime.source("b.yaml", BROKEN)
    assert [each.levelname for each in caplog.records] == ["INFO"]


def test_silence_is_a_level(caplog: pytest.LogCaptureFixture) -> None:
    def logs() -> int:
        return sum(isinstance(each, settings.LogItem) for each in list(callbacks._items.values()))

    with invivo.Runtime(watch="a.yaml", pending_targets=True, log_level="silent") as silent:
        broken(silent, "traits: [")
        assert logs() == 1  # its level may change
    with invivo.Runtime():
        assert logs() == 1
    assert logs() == 0
    assert [each.levelname for each in caplog.records if each.levelno >= logging.WARNING] == []


def test_a_logger_of_the_host_is_used_instead(caplog: pytest.LogCaptureFixture) -> None:
    with invivo.Runtime(assembly(), watch="a.yaml", log=logging.getLogger("studio")) as runtime:
        broken(runtime)
    assert {each.name for each in caplog.records} == {"studio"}


def test_a_log_that_nobody_would_await_is_refused() -> None:
    async def log(level: int, message: str, path: str, fields: dict[str, Any]) -> None: ...

    with pytest.raises(invivo.ArgumentError, match="is asynchronous"):
        invivo.Runtime(log=log)  # type: ignore[arg-type]
    with pytest.raises(invivo.ArityError, match="a log is called with level, message, path, fields"):
        invivo.Runtime(log=lambda message: None)  # type: ignore[arg-type, misc]


def test_a_check_without_modules_leaves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    items = len(callbacks._items)
    Path("app.yaml").write_text("specs: [a.yaml]\n")
    invivo.App.check("app.yaml", modules=False)
    assert len(callbacks._items) == items


class Calling(logging.Handler):
    """Calls the runtime that logs."""

    def __init__(self, runtime: invivo.Runtime) -> None:
        super().__init__()
        self.runtime = runtime
        self.found: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.runtime[Player].tempo)
        try:
            self.runtime.define(Player, "synth.other")
        except invivo.WouldWaitError:
            self.found.append("a reload")
        try:
            self.runtime.close()
        except invivo.InCallbackError:
            self.found.append("the end")


def test_a_handler_may_call_the_runtime_and_never_waits_for_it() -> None:
    logger = logging.getLogger("invivo")
    with invivo.Runtime(assembly(), watch="a.yaml") as runtime:
        handler = Calling(runtime)
        logger.addHandler(handler)
        try:
            broken(runtime)
        finally:
            logger.removeHandler(handler)
    assert handler.found == [60, "a reload", "the end"]


def test_what_a_handler_raises_stops_no_reload(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: raised.append(type(one.exc_value)))

    class Raising(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise LookupError("no such stream")

    handler = Raising()
    logger = logging.getLogger("invivo")
    logger.addHandler(handler)
    try:
        with invivo.Runtime(assembly(), watch="a.yaml") as runtime:
            broken(runtime)
            assert runtime.last_error is not None
    finally:
        logger.removeHandler(handler)
    assert raised == [LookupError]


# ---- exceptions that have no caller to go to ---------------------------------------------------------------


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The exceptions that ctypes would print to standard error."""
    found: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", found.append)
    return found


def raising(*_: Any) -> None:
    raise LookupError("no such stream")


def errors(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, list[str]]]:
    """The logger, message and innermost function of each error that was logged."""
    found = []
    for record in caplog.records:
        if record.levelno >= logging.WARNING:
            steps = traceback.extract_tb(record.exc_info[2]) if record.exc_info else []
            found.append((record.name, record.getMessage(), [step.name for step in steps][-1:]))
    return found


def observing(runtime: invivo.Runtime) -> None:
    runtime.observe(raising)
    runtime.define(Player, "synth.other")


def observing_config(runtime: invivo.Runtime) -> None:
    runtime.observe_config("synth", raising)
    runtime.configure("synth.size", 3)


def scoped(runtime: invivo.Runtime) -> None:
    runtime.scope("request", lambda: 1, raising)
    app = invivo.Assembly("scoped")
    app.in_scope("request", Player)
    runtime.activate(app)
    runtime.resolve("scoped.player")


@pytest.mark.parametrize("fail", [observing, observing_config, scoped])
def test_what_a_callback_without_a_caller_raises_is_logged_once_with_its_traceback(
    caplog: pytest.LogCaptureFixture, unraisable: list[Any], fail: Callable[[invivo.Runtime], None]
) -> None:
    said = "LookupError: no such stream"
    with invivo.Runtime(assembly()) as runtime:
        fail(runtime)
        assert str(runtime.last_error) == said
    with invivo.Runtime(assembly(), log=logging.getLogger("studio")) as runtime:
        fail(runtime)
    assert errors(caplog) == [("invivo", said, ["raising"]), ("studio", said, ["raising"])]
    assert unraisable == []


def test_what_was_handled_when_the_library_was_called_is_no_cause(caplog: pytest.LogCaptureFixture) -> None:
    with invivo.Runtime() as runtime:
        runtime.observe(raising)
        try:
            raise KeyError("before")
        except KeyError:
            runtime.define(Player, "synth.other")
        assert str(runtime.last_error) == "LookupError: no such stream"
    assert errors(caplog) == [("invivo", "LookupError: no such stream", ["raising"])]


def test_a_log_function_gets_the_message_and_the_logger_the_traceback(
    caplog: pytest.LogCaptureFixture, unraisable: list[Any]
) -> None:
    heard: list[str] = []
    with invivo.Runtime(log=lambda level, message, path, fields: heard.append(message), log_level="error") as runtime:
        observing(runtime)
    assert heard == ["LookupError: no such stream"]
    assert errors(caplog) == [("invivo", "LookupError: no such stream", ["raising"])]
    with invivo.Runtime(log_level="silent") as runtime:
        observing(runtime)
        assert str(runtime.last_error) == "LookupError: no such stream"
    assert len(errors(caplog)) == 1
    assert unraisable == []


def test_what_a_log_function_raises_is_logged_once_with_its_traceback(
    caplog: pytest.LogCaptureFixture, unraisable: list[Any]
) -> None:
    with invivo.Runtime(assembly(), log=raising, log_level="warning", pending_targets=True) as runtime:
        runtime.source("b.yaml", "traits:\n  synth.palyer: [ Set: { tempo: 60 } ]\n")
    failed = ("invivo", "the log function raised LookupError: no such stream", ["raising"])
    assert errors(caplog) == [failed]
    caplog.clear()
    with invivo.Runtime(log=raising, log_level="error") as runtime:
        observing(runtime)
    assert errors(caplog) == [failed, ("invivo", "LookupError: no such stream", ["raising"])]
    assert unraisable == []


def test_a_handler_that_leads_to_what_it_logs_ends(unraisable: list[Any]) -> None:
    class Leading(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            runtime.resolve("scoped.player")

    places = itertools.count(1)
    app = invivo.Assembly("scoped")
    app.in_scope("request", Player)
    handler = Leading()
    logging.getLogger("invivo").addHandler(handler)
    try:
        with invivo.Runtime(log=raising, log_level="error") as runtime:
            runtime.scope("request", lambda: next(places), raising)
            runtime.activate(app)
            runtime.resolve("scoped.player")
    finally:
        logging.getLogger("invivo").removeHandler(handler)
    # In the handler: of the log function and of the listener, for each of the two that were logged before.
    assert [one.exc_type for one in unraisable] == [LookupError] * 4


def test_a_program_that_configures_no_logging_sees_a_traceback_once(script: Any) -> None:
    done = script(
        "import invivo\n"
        "def failing(report): raise LookupError('no such stream')\n"
        "with invivo.Runtime() as runtime:\n"
        "    runtime.observe(failing)\n"
        "    runtime.define_block('a.b', gain=1.0)\n"
    )
    lines = done.stderr.splitlines()
    assert (lines[0], lines[1]) == ("LookupError: no such stream", "Traceback (most recent call last):")
    assert lines[-1] == "LookupError: no such stream"
    assert done.stderr.count("Traceback") == 1


PROGRAM = """
import pathlib, sys, threading
import fork_marker
import invivo

class Player:
    tempo: float = invivo.tunable(120, min=30, max=300)

app = invivo.Assembly("synth")
app.lazy_singleton(Player)
pathlib.Path("a.yaml").write_text({good!r})
runtime = invivo.Runtime(app, watch="a.yaml")
failed = threading.Event()
observer = runtime.observe(lambda report: report.error and failed.set())
pathlib.Path("a.yaml").write_text({broken!r})
assert failed.wait(60)
"""


def test_a_program_that_configures_no_logging_sees_a_refused_edit(script: Any) -> None:
    done = script(PROGRAM.format(good=GOOD, broken=BROKEN) + "runtime.close()\n")
    assert (done.returncode, done.stderr) == (0, ERROR + "\n")


def test_the_interpreter_ends_while_reloads_fail(script: Any) -> None:
    done = script(
        PROGRAM.format(good=GOOD, broken=BROKEN)
        + """
def save():
    for number in range(1000000):
        pathlib.Path("a.yaml").write_text("traits: [" + " " * (number % 100))
threading.Thread(target=save, daemon=True).start()
failed.clear()
assert failed.wait(60)
"""
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "a.yaml was not applied" in done.stderr


def test_a_forked_child_logs_nothing(script: Any) -> None:
    done = script(
        PROGRAM.format(good=GOOD, broken=BROKEN)
        + """
import os
child = fork_marker.fork()
if child == 0:
    pathlib.Path("a.yaml").write_text("traits: [")
    try: runtime.define(Player, "synth.other")
    except invivo.Error: pass
    os.write(2, b"child\\n")
    os._exit(0)
_, status = os.waitpid(child, 0)
runtime.close()
sys.exit(os.waitstatus_to_exitcode(status))
"""
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("a.yaml:1:") <= 1, "by the parent alone"
    assert "child\n" in done.stderr
