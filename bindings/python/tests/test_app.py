from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from running import Running, running

import invivo
from invivo.__main__ import main
from invivo._runtime.app import App, load_components, needs_python

HERE = Path(__file__).resolve().parent

COMPONENTS = """
import invivo

@invivo.component
class Sequencer:
    tempo: float = invivo.tunable(120, min=30, max=300, unit="bpm")

    def __init__(self, steps: int = 4, seed: bytes = b"") -> None:
        self.steps = steps
        self.seed = seed

    @invivo.on_start
    def begin(self) -> None:
        print("begin", self.steps, self.tempo, *self.seed, flush=True)

    @invivo.on_stop
    def end(self) -> None:
        print("end", flush=True)
"""
APP = """
modules: { parts: parts.py }
components:
  synth.sequencer: { type: Sequencer, scope: singleton, init: { steps: 8, seed: AP8= } }
specs: [tuning.yaml]
"""
TUNING = "traits:\n  synth.sequencer:\n    - Set: { tempo: 60 }\n"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    (tmp_path / "parts.py").write_text(COMPONENTS)
    (tmp_path / "tuning.yaml").write_text(TUNING)
    path = tmp_path / "app.yaml"
    path.write_text(APP)
    return path


def test_components_are_the_marked_classes_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "parts.py"
    path.write_text(COMPONENTS + "\nclass Other: ...\n")
    with invivo.Runtime() as runtime:
        load_components(runtime, "parts", str(path))
        assert runtime.find_type("Sequencer").name == "Sequencer"
        with pytest.raises(invivo.NotFoundError):
            runtime.find_type("Other")


def test_a_file_may_register_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "parts.py"
    path.write_text("class Thing: ...\ndef register(runtime): runtime.type(Thing)\n")
    with invivo.Runtime() as runtime:
        load_components(runtime, "parts", str(path))
        assert runtime.find_type("Thing").name == "Thing"


def test_a_file_that_has_nothing_or_fails_says_so(tmp_path: Path) -> None:
    path = tmp_path / "parts.py"
    with invivo.Runtime() as runtime:
        with pytest.raises(OSError, match="no such file"):
            load_components(runtime, "parts", str(path))
        path.write_text("x = 1\n")
        with pytest.raises(invivo.ModuleError, match="component"):
            load_components(runtime, "parts", str(path))
        path.write_text("1 / 0\n")
        with pytest.raises(ZeroDivisionError):
            load_components(runtime, "parts", str(path))


def test_an_app_builds_starts_tunes_and_stops(manifest: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with App(manifest) as app:
        sequencer = app.runtime["synth.sequencer"]
        assert (sequencer.steps, sequencer.tempo) == (8, 60)
    said = capfd.readouterr().out
    assert "begin 8 60.0 0 255" in said
    assert said.endswith("end\n")


def test_run_warns_when_nothing_is_created(manifest: Path) -> None:
    manifest.write_text("modules: {}\ncomponents: {}\n")
    with running(str(manifest)) as run:
        assert "only components with 'scope: singleton'" in run.until("warning: nothing is created")
        assert run.end(signal.SIGTERM) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_run_prints_each_reload_and_ends_with_status_0(manifest: Path, number: int) -> None:
    with running(str(manifest)) as run:
        assert "generation" in run.until("running")
        tuning = manifest.parent / "tuning.yaml"
        tuning.write_text(TUNING.replace("60", "90"))
        assert "tempo" in run.until("generation")
        tuning.write_text("traits:\n  synth.sequencer:\n    - Set: { tempo: 900 }\n")
        assert "tuning.yaml:3:" in run.until("tuning.yaml")
        assert "generation" in run.until("not applied")
        tuning.write_text(TUNING.replace("60", "100"))
        run.until("tempo")
        assert run.end(number) == 0
        run.until("end")
        assert "ending on " + signal.Signals(number).name + "\n" in run.seen


def test_a_broken_edit_is_told_on_standard_error_and_a_hangup_ends_it_well(manifest: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "invivo", "run", str(manifest)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parent), "SWIFT_BACKTRACE": "enable=no"},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        while "running" not in process.stdout.readline():
            pass
        (manifest.parent / "tuning.yaml").write_text("traits: { synth.nobody: [Set: { gain: 1 }] }\n")
        assert "synth.nobody" in process.stderr.readline()
        assert "not applied" in process.stderr.readline()
        process.send_signal(signal.SIGHUP)
        rest = process.stdout.read()
        assert process.wait(60) == 0
        assert "not applied" not in rest
        assert "ending on SIGHUP" in rest
        assert rest.endswith("end\n")


def test_a_file_name_says_what_is_written_into_it(manifest: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for command, name in (("keys", "keys.rs"), ("graph", "graph.txt")):
        assert main([command, str(manifest), "-o", str(manifest.parent / name)]) == 64
        assert "does not say which" in capfd.readouterr().err
        assert not (manifest.parent / name).exists()


def test_run_with_a_bad_manifest_or_spec_prints_the_errors_and_ends_with_status_2(manifest: Path) -> None:
    (manifest.parent / "tuning.yaml").write_text("traits: [")
    with running(str(manifest)) as run:
        run.until("tuning.yaml:")
        assert run.process.wait(60) == 2
    manifest.write_text("components: 3\n")
    with running(str(manifest)) as run:
        run.until("app.yaml:1")
        assert run.process.wait(60) == 2


def test_run_may_wait_for_a_good_spec(manifest: Path) -> None:
    tuning = manifest.parent / "tuning.yaml"
    tuning.write_text("traits: [")
    with running(str(manifest), "--wait") as run:
        run.until("running")
        tuning.write_text(TUNING)
        run.until("tempo")
        assert run.end(signal.SIGTERM) == 0


def test_run_may_wait_for_a_good_manifest(manifest: Path) -> None:
    manifest.write_text("components: 3\n")
    with running(str(manifest), "--wait") as run:
        run.until("app.yaml:1")
        run.until("waiting")
        manifest.write_text(APP)
        run.until("running")
        assert run.end(signal.SIGINT) == 0
    with running(str(manifest.parent / "nowhere.yaml"), "--wait") as run:
        run.until("waiting")
        assert run.end(signal.SIGINT) == 0


def test_a_manifest_says_whether_it_needs_python(manifest: Path) -> None:
    assert needs_python(manifest)
    manifest.write_text("components: {}\n")
    assert not needs_python(manifest)


def test_everything_wrong_at_the_start_is_told_once(manifest: Path) -> None:
    (manifest.parent / "tuning.yaml").write_text("traits:\n  synth.nobody:\n    - Set: { tempo: 60 }\n")
    manifest.write_text(
        "modules: { parts: parts.py }\n"
        "components:\n"
        "  synth.one: { type: Sequencer, init: { stepz: 8 } }\n"
        "  synth.two: { type: Nothing }\n"
        "specs: [tuning.yaml, missing.yaml]\n"
    )
    with running(str(manifest)) as run:
        assert run.process.wait(60) == 2
        while (line := run.lines.get(timeout=60)) is not None:
            run.seen.append(line)
    wrong = [
        "no type 'Nothing'",
        "no initializer parameter 'stepz'",
        "no target has the key 'synth.nobody' (pending_targets, or --wait, permits keys that are defined later)",
        "missing.yaml",
    ]
    assert [sum(text in line for line in run.seen) for text in wrong] == [1] * len(wrong), run.seen
    assert len(run.seen) == len(wrong)


SLOW = """
import invivo, os, time

@invivo.component
class Slow:
    tempo: float = invivo.tunable(1)

    @property
    def pace(self) -> float:
        return 0.0

    @invivo.tunable
    @pace.setter
    def pace(self, value: float) -> None:
        print("setting", flush=True)
        while value > 0 and not os.path.exists(os.path.join(os.path.dirname(__file__), "go")):
            time.sleep(0.001)
"""


@contextlib.contextmanager
def stopped_in_a_setter(manifest: Path, *numbers: int) -> Iterator[Running]:
    """A program in the middle of a reload that has got these signals together."""
    (manifest.parent / "parts.py").write_text(SLOW)
    manifest.write_text(
        "modules: { parts: parts.py }\ncomponents: { a.s: { type: Slow, scope: singleton } }\nspecs: [tuning.yaml]\n"
    )
    (manifest.parent / "tuning.yaml").write_text("traits: {}\n")
    with running(str(manifest)) as run:
        run.until("running")
        (manifest.parent / "tuning.yaml").write_text("traits: { a.s: [Set: { pace: 1 }] }\n")
        run.until("setting")
        # While it is stopped they are kept for it.
        run.process.send_signal(signal.SIGSTOP)
        os.waitpid(run.process.pid, os.WUNTRACED)
        for number in numbers:
            run.process.send_signal(number)
        run.process.send_signal(signal.SIGCONT)
        run.until("ending on SIG")
        yield run


def test_the_line_of_a_reload_that_a_signal_meets_is_still_printed(manifest: Path) -> None:
    with stopped_in_a_setter(manifest, signal.SIGINT) as run:
        (manifest.parent / "go").touch()
        run.until("generation 2: ")
        assert run.process.wait(60) == 0


def test_a_second_signal_ends_a_program_that_hangs(manifest: Path) -> None:
    with stopped_in_a_setter(manifest, signal.SIGINT) as run:
        # What comes within a tenth of a second is the same wish: again, until one of them is the second.
        for _ in range(1200):
            run.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                assert run.process.wait(0.05) == 130
                return
        raise AssertionError("it does not end")


def test_signals_that_come_together_are_one(manifest: Path) -> None:
    with stopped_in_a_setter(manifest, signal.SIGINT, signal.SIGTERM) as run:
        (manifest.parent / "go").touch()
        run.until("generation 2: ")
        assert run.process.wait(60) == 0


CONFINED = """
import invivo

@invivo.component
class Player:
    tempo: float = invivo.tunable(120)

    def __init__(self, voice: invivo.Object) -> None:
        self.voice = voice

    @property
    def gain(self) -> float:
        return float(self.voice.gain)

    @invivo.tunable
    @gain.setter
    def gain(self, value: float) -> None:
        self.voice.gain = value

    @invivo.on_start
    def start(self) -> None:
        print("started with", self.voice.gain, flush=True)
"""


def test_a_confined_object_of_c_may_be_injected_and_touched(manifest: Path, native: Path) -> None:
    (manifest.parent / "parts.py").write_text(CONFINED)
    manifest.write_text(
        f"modules: {{ native: {native}, parts: parts.py }}\n"
        "components:\n"
        "  a.player: { type: Player, scope: singleton, init: { voice: $a.voice } }\n"
        "  a.voice: { type: Voice }\n"
        "specs: [tuning.yaml]\n"
    )
    (manifest.parent / "tuning.yaml").write_text("traits: { a.voice: [Set: { gain: 0.5 }] }\n")
    with running(str(manifest)) as run:
        run.until("started with 0.5")
        run.until("running")
        (manifest.parent / "tuning.yaml").write_text("traits: { a.player: [Set: { gain: 0.25 }] }\n")
        assert "a.player.gain tuned" in run.until("generation 2: ")
        assert run.end(signal.SIGINT) == 0


def test_a_module_cannot_end_the_program(manifest: Path) -> None:
    (manifest.parent / "parts.py").write_text("import sys; sys.exit(5)\n")
    with running(str(manifest)) as run:
        assert "sys.exit(5)" in run.until("parts")
        assert run.process.wait(60) == 2


def test_a_nul_in_a_path_is_refused() -> None:
    for attempt in (lambda: App("a\0b"), lambda: needs_python("a\0b")):
        with pytest.raises(invivo.EncodingError, match="NUL"):
            attempt()


def test_an_injection_across_domains_is_refused_at_its_holder(manifest: Path, native: Path) -> None:
    (manifest.parent / "parts.py").write_text(CONFINED)
    manifest.write_text(
        f"modules: {{ native: {native}, parts: parts.py }}\n"
        "components:\n"
        "  a.player: { type: Player, scope: singleton, init: { voice: $a.voice } }\n"
        "  a.voice: { type: Voice }\n"
    )
    with pytest.raises(invivo.DomainError, match=r"it needs 'a.voice', and an object of the confined type") as refused:
        App(manifest)
    assert (refused.value.path, refused.value.line) == ("a.player", 3)


DIAL = """
import threading
import invivo

@invivo.component
class Dial:
    threads = []
    level: float = invivo.tunable(0.0)

    def __setattr__(self, name, value) -> None:
        super().__setattr__(name, value)
        self.threads.append((value, threading.get_ident()))
"""


def poll_until(app: App, condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        app.runtime.poll(0.01)


@pytest.mark.parametrize("domain", ["opener", "loop"])
def test_setters_run_where_the_default_domain_of_an_app_says(tmp_path: Path, domain: Literal["opener", "loop"]) -> None:
    """For edits of a followed file, and for commits of another thread."""
    (tmp_path / "parts.py").write_text(DIAL)
    spec = tmp_path / "tuning.yaml"
    spec.write_text("{}")
    manifest = tmp_path / "app.yaml"
    manifest.write_text(
        "modules: { parts: parts.py }\ncomponents: { a.dial: { type: Dial, scope: singleton } }\nspecs: [tuning.yaml]\n"
    )
    done: queue.SimpleQueue[int] = queue.SimpleQueue()

    def commit(runtime: invivo.Runtime) -> None:
        runtime.source("call.yaml", "traits: { a.dial: [Set: { level: 2 }] }")
        done.put(threading.get_ident())

    with App(manifest, default_domain=domain) as app:
        dial = app.runtime["a.dial"]
        spec.write_text("traits: { a.dial: [Set: { level: 1 }] }")
        poll_until(app, lambda: dial.threads)
        ((level, edited),) = dial.threads
        assert level == 1
        assert (edited == threading.get_ident()) == (domain == "opener")
        spec.write_text("{}")
        poll_until(app, lambda: dial.threads[-1][0] == 0)
        other = threading.Thread(target=commit, args=(app.runtime,))
        other.start()
        poll_until(app, lambda: dial.threads[-1][0] == 2 and not other.is_alive())
        assert dial.threads[-1][1] == (threading.get_ident() if domain == "opener" else done.get())
