"""What a check of the wiring finds, without making anything."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import invivo


class Clock:
    def __init__(self) -> None:
        raise AssertionError("a check makes nothing")


class Player:
    def __init__(self, clock: Clock) -> None:
        raise AssertionError("a check makes nothing")


class Show:
    def __init__(self, player: Player) -> None:
        raise AssertionError("a check makes nothing")


def test_a_check_tells_the_rule_and_who_needs_what_is_wrong_and_leaves_the_set_open() -> None:
    with invivo.Runtime() as runtime:
        changes = runtime.changes()
        changes.define(Show, "app.show", scope="graph")
        changes.define(Player, "app.player")
        with pytest.raises(invivo.Error) as found:
            changes.check()
        missing = [error for error in found.value.errors if error.rule == "wiring.missing"]
        assert [(error.path, error.needed_by) for error in missing] == [("app.player", "app.show")]
        assert "'clock' needs a 'Clock', and no definition creates one" in missing[0].message
        assert "(needed by app.show)" in str(missing[0])
        changes.define(Clock, "app.clock")
        changes.check()
        changes.commit()


PARTS = """
import invivo

@invivo.component
class Clock:
    def __init__(self) -> None:
        print("made")

@invivo.component
class Player:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "invivo", *arguments], capture_output=True, text=True, timeout=60)


def test_the_tool_checks_a_manifest_without_making_anything(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    manifest = tmp_path / "app.yaml"
    manifest.write_text(
        "modules: { parts: parts.py }\ncomponents:\n  a.clock: { type: Clock, scope: singleton }\n"
        "  a.player: { type: Player, init: { clock: $a.clok } }\n"
    )
    found = run("check", str(manifest))
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.endswith("did you mean 'a.clock'? [wiring.missing]\n")
    manifest.write_text(manifest.read_text().replace("clok", "clock"))
    found = run("check", str(manifest))
    assert (found.returncode, found.stdout, found.stderr) == (0, f"{manifest}: OK\n", "")


def test_the_tool_writes_the_graph_and_what_is_alive(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    manifest = tmp_path / "app.yaml"
    manifest.write_text(
        "modules: { parts: parts.py }\ncomponents:\n  a.clock: { type: Clock, scope: singleton }\n"
        "  a.player: { type: Player, init: { clock: $a.clock } }\n"
    )
    described = json.loads(run("graph", "--format", "json", str(manifest)).stdout)
    assert [(each["key"], each["live"]) for each in described] == [("a.clock", 0), ("a.player", 0)]
    assert described[1]["needs"] == [{"key": "a.clock", "how": "initializer"}]
    live = run("graph", "--live", "--format", "json", str(manifest)).stdout.removeprefix("made\n")
    assert json.loads(live)[0]["live"] == 1
    picture = tmp_path / "graph.svg"
    drawn = run("graph", str(manifest), "-o", str(picture))
    if shutil.which("dot"):
        assert "</svg>" in picture.read_text()
    else:
        assert drawn.returncode == 2
        assert "install Graphviz" in drawn.stderr


def test_a_runtime_lists_its_wiring() -> None:
    class Engine: ...

    class Car:
        def __init__(self, engine: Engine) -> None:
            self.engine = engine

    with invivo.Runtime() as runtime:
        runtime.define(Engine, "app.engine")
        runtime.define(Car, "app.car", scope="graph")
        car = runtime.resolve(Car)
        engine, made = sorted(runtime.wiring, key=lambda node: node.key == "app.car")
        assert (engine.key, engine.scope, engine.live) == ("app.engine", "lazy singleton", 1)
        assert engine.built_ns is not None
        assert engine.built_ns > 0
        assert [(need.key, need.how) for need in made.needs] == [("app.engine", "initializer")]
        assert "app.car<br/>" in runtime.wiring_text("mermaid")
        assert car.engine is not None


READING = """
import invivo

@invivo.component
class Player:
    volume: int = invivo.tunable(1)
"""


def reading(tmp_path: Path, values: str) -> Path:
    (tmp_path / "parts.py").write_text(READING)
    (tmp_path / "values.yaml").write_text(values)
    manifest = tmp_path / "app.yaml"
    manifest.write_text(
        "modules: { parts: parts.py }\nspecs: [values.yaml]\n"
        "components: { audio.lead: { type: Player, properties: { volume: $config.volume } } }\n"
    )
    return manifest


def test_a_value_that_nothing_reads_is_an_error_when_it_is_misspelled(tmp_path: Path) -> None:
    manifest = reading(tmp_path, "config:\n  audio: { volume: 1, volum: 3 }\n  other: [1, 2]\n")
    text = (
        f"{tmp_path}/values.yaml:2:30: config.audio.volum: 'audio.volum' is not read by anything; "
        "did you mean 'audio.volume'?"
    )
    line = text.replace(":2:30: ", ":2:30: error: ")
    with pytest.raises(invivo.NotConfiguredError) as found:
        invivo.App.check(manifest)
    assert (str(found.value), found.value.rule) == (text, "config.unread")
    for arguments in ([], ["--unread"]):
        ran = run("check", *arguments, str(manifest))
        assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", f"{line} [config.unread]\n")


def test_misspelled_variables_and_secrets_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = reading(tmp_path, "config:\n  audio: { volume: 1 }\n")
    monkeypatch.setenv("IVCHECK__AUDIO__VOLUME", "3")
    ran = run("check", "--environment-prefix", "IVCHECK__", str(manifest))
    line = (
        "IVCHECK__AUDIO__VOLUME: error: config.AUDIO: 'AUDIO' is not read by anything; did you mean 'audio'? "
        "[config.unread]\n"
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", line)
    manifest.write_text(manifest.read_text() + "secrets: [audio.volum]\n")
    ran = run("check", str(manifest))
    assert (ran.returncode, ran.stdout, ran.stderr) == (
        2,
        "",
        f"{manifest}:4:11: error: config.audio.volum: nothing configures or reads 'audio.volum', which is declared as "
        "secret; did you mean 'audio.volume'? [config.unread]\n",
    )


def test_other_values_that_nothing_reads_are_listed(tmp_path: Path) -> None:
    manifest = reading(tmp_path, "config:\n  audio: { volume: 1, pan: 3 }\n  other: [1, 2]\n")
    assert invivo.App.unread(manifest).splitlines() == [
        f"{tmp_path}/values.yaml:2:28: audio.pan",
        f"{tmp_path}/values.yaml:3:10: other",
    ]
    ran = run("check", "--unread", str(manifest))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [
        f"{tmp_path}/values.yaml:2:28: audio.pan is not read by anything",
        f"{tmp_path}/values.yaml:3:10: other is not read by anything",
        f"{manifest}: OK",
    ]
    wrong = run("check", "--unread", "--wait", str(manifest))
    assert wrong.returncode == 64
    assert "\ninvivo: error: --unread needs the modules" in wrong.stderr


def test_misspelled_conditions_and_keys_are_errors_of_a_check(tmp_path: Path) -> None:
    manifest = reading(tmp_path, "")

    def found(text: str) -> list[tuple[str, str, str]]:
        (tmp_path / "values.yaml").write_text("config:\n  audio: { volume: 1, mode: 2 }\n  profiles: [stage]\n" + text)
        errors = json.loads(run("check", "--json", str(manifest)).stdout)["errors"]
        return [(error["path"], error["rule"], error["message"]) for error in errors]

    conditions = "[When: { config: audio.moed, is: 2, traits: [] }, When: { profile: stag, traits: [] }]"
    wrong = f"traits:\n  audio.lead: {conditions}\n"
    assert found(wrong + "  .audio.lead: [Set: { volume: 3 }]\n") == [
        (
            "config.audio.mode",
            "config.unread",
            "'audio.mode' is not read by anything; did you mean 'audio.moed'?",
        ),
        (
            "traits.audio.lead[1].When.profile",
            "trait.condition",
            "the profile 'stag' is not active, and no condition names the active profile 'stage'; "
            "did you mean 'stage'?",
        ),
        (
            "traits..audio.lead",
            "trait.unread",
            "a key that begins with a dot is only inherited, and nothing inherits '.audio.lead'; "
            "did you mean 'audio.lead'?",
        ),
    ]
    read = "  other: { rate: 1 }\ntraits:\n  audio.lead: [When: { config: audio.volme, is: 2, traits: [] }]\n"
    assert found(read) == [
        (
            "traits.audio.lead[0].When.config",
            "trait.condition",
            "the condition reads 'audio.volme', which nothing configures; did you mean 'audio.volume'?",
        )
    ]
    # Another condition names the active profile.
    both = "[When: { profile: stag, traits: [] }, When: { profile: stage, traits: [] }]"
    assert found(f"traits:\n  audio.lead: {both}\n") == []
    # Short names may be similar by chance.
    assert found("  other: { on: 1 }\ntraits:\n  audio.lead: [When: { config: other.in, is: 2, traits: [] }]\n") == []
    assert found("traits: { .quiet: [Set: { volume: 3 }] }\n") == []
    unread = run("check", "--unread", str(manifest)).stdout
    assert f"{tmp_path}/values.yaml:4:11: traits..quiet is not read by anything\n" in unread


def test_warnings_are_shown_and_do_not_change_the_status(tmp_path: Path) -> None:
    manifest = reading(tmp_path, "config: { audio: { volume: 1 } }\ntraits:\n  audio.lead: [Sett: { volume: 2 }]\n")
    text = manifest.read_text()
    manifest.write_text(text.replace("[values.yaml]", "[{ file: values.yaml, keep_going: true }]"))
    values, message = (
        f"{tmp_path}/values.yaml",
        "traits.audio.lead[0]: unknown trait 'Sett'; did you mean 'Set'?; skipped",
    )
    ran = run("check", str(manifest))
    assert (ran.returncode, ran.stdout) == (0, f"{manifest}: OK\n")
    assert ran.stderr == f"{values}:3:16: warning: {message}\n"
    warning = {"file": values, "line": 3, "column": 16, "message": message}
    ran = run("check", "--json", str(manifest))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout) == {"version": 1, "errors": [], "warnings": [warning]}
    # The errors do not hide them, and what is an error is no warning.
    (tmp_path / "values.yaml").write_text(
        "config: { audio: { volume: 1, volum: 3 } }\ntraits:\n  audio.lead: [Sett: { volume: 2 }]\n"
    )
    ran = run("check", "--json", str(manifest))
    found = json.loads(ran.stdout)
    assert ran.returncode == 2
    assert ([each["path"] for each in found["errors"]], found["warnings"]) == (["config.audio.volum"], [warning])
    logged: list[tuple[str, object]] = []
    with pytest.raises(invivo.NotConfiguredError):
        invivo.App.check(manifest, log=lambda level, message, path, fields: logged.append((message, fields["line"])))
    assert logged == [(f"{values}:3:16: {message}", 3)]


def test_errors_are_written_as_json(tmp_path: Path) -> None:
    manifest = reading(tmp_path, "config:\n  audio: { volume: 1, volum: 3 }\n")
    ran = run("check", "--json", str(manifest))
    assert (ran.returncode, ran.stderr) == (2, "")
    assert json.loads(ran.stdout) == {
        "version": 1,
        "errors": [
            {
                "file": f"{tmp_path}/values.yaml",
                "line": 2,
                "column": 30,
                "path": "config.audio.volum",
                "code": "not_configured",
                "rule": "config.unread",
                "message": "'audio.volum' is not read by anything; did you mean 'audio.volume'?",
            }
        ],
        "warnings": [],
    }
    (tmp_path / "values.yaml").write_text("config:\n  audio: { volume: 1, pan: 3 }\n")
    ran = run("check", "--json", str(manifest))
    assert (ran.returncode, ran.stdout) == (0, '{"version": 1, "errors": [], "warnings": []}\n')
    ran = run("check", "--json", "--unread", str(manifest))
    unread = {"file": f"{tmp_path}/values.yaml", "line": 2, "column": 28, "path": "audio.pan"}
    assert json.loads(ran.stdout) == {"version": 1, "errors": [], "warnings": [], "unread": [unread]}
    keys = tmp_path / "keys.h"
    ran = run("keys", "--check", "--json", "-o", str(keys), str(manifest))
    assert ran.returncode == 1
    (error,) = json.loads(ran.stdout)["errors"]
    assert (error["file"], error["line"], error["code"]) == (str(keys), None, "stale")
    assert run("keys", "--json", str(manifest)).returncode == 64
    missing = run("check", "--json", str(tmp_path / "none.yaml"))
    (error,) = json.loads(missing.stdout)["errors"]
    assert (error["file"], error["line"], error["code"]) == (str(tmp_path / "none.yaml"), None, "not_found")


def test_a_misspelled_value_is_a_warning_of_the_report() -> None:
    class Lamp:
        def __init__(self, height: int) -> None:
            self.height = height

    studio = invivo.Assembly("studio")
    studio.lazy_singleton(Lamp, height=invivo.config("height", 3))
    with invivo.Runtime(studio) as runtime:
        reports: list[invivo.Report] = []
        runtime.observe(reports.append)
        runtime.source("a.yaml", "config: { studio: { hieght: 4 } }")
        runtime.source("b.yaml", "config: { studio: { height: 4 } }")
    assert [report.warnings for report in reports] == [
        ("a.yaml:1:29: 'studio.hieght' is not read by anything; did you mean 'studio.height'?",),
        (),
    ]


class Lamp:
    def __init__(self, name: str, height: int = 0) -> None:
        self.name, self.height = name, height


class Studio(invivo.Assembly):
    @invivo.lazy_singleton
    def lamp(self) -> Lamp:
        return invivo.new(Lamp, "lamp", invivo.config("studio.height", 3))

    @invivo.lazy_singleton
    def later(self) -> list[Any]:
        return invivo.new(list, [invivo.provider(invivo.config("studio.width", 3))])

    @invivo.lazy_singleton(each="studio.lamps")
    def entry(self) -> Lamp:
        return invivo.new(Lamp, invivo.entry_name())


VALUES = "config: { studio: { height: 4, width: 5, lamps: [{ name: left }] } }"
REPEATED = tuple(
    f"a.yaml:1:{column}: 'studio.{key}' reads 'studio.studio.{path}', which is not configured: "
    f"a path begins after the assembly's name; write '{path}' for 'studio.{path}', or '/studio.studio.{path}'"
    for key, path, column in (("lamp", "height", 29), ("entry", "lamps", 49), ("later", "width", 39))
)


@pytest.mark.parametrize("comes_later", ["document", "assembly", "nothing"])
def test_a_path_that_repeats_the_assemblys_name_is_a_warning_although_it_has_a_default(comes_later: str) -> None:
    reports: list[invivo.Report] = []
    with invivo.Runtime() as runtime:
        runtime.observe(reports.append)
        with runtime.changes() as changes:
            changes.document("a.yaml", "{}" if comes_later == "document" else VALUES)
            if comes_later != "assembly":
                changes.activate(Studio())
        if comes_later == "document":
            runtime.source("a.yaml", VALUES)
        elif comes_later == "assembly":
            runtime.activate(Studio())
        assert [report.warnings for report in reports if report.warnings] == [REPEATED]
        # A value that changes is the same mistake, and is not reported again.
        with runtime.changes() as changes:
            changes.document("a.yaml", VALUES.replace("4", "6"))
        assert len([report for report in reports if report.warnings]) == 1


def test_a_path_that_repeats_the_name_of_a_mounted_assembly_is_a_warning() -> None:
    reports: list[invivo.Report] = []
    with invivo.Runtime() as runtime:
        runtime.observe(reports.append)
        runtime.source("a.yaml", "config: { studio: { height: 4 } }")
        runtime.mount(Studio(), "left")
    assert [len(report.warnings) for report in reports] == [0, 1]
    assert reports[1].warnings[0].startswith("a.yaml:1:29: 'left.lamp' reads 'studio.studio.height', which is not")


def test_a_path_that_repeats_the_assemblys_name_is_an_error_of_a_check(tmp_path: Path) -> None:
    manifest = reading(tmp_path, "config:\n  audio: { volume: 1 }\n")
    manifest.write_text(manifest.read_text().replace("$config.volume", "{ $config: audio.volume, default: 3 }"))
    text = (
        f"{tmp_path}/values.yaml:2:20: config.audio.volume: 'audio.lead' reads 'audio.audio.volume', which is not "
        "configured: a path begins after the assembly's name; write 'volume' for 'audio.volume', "
        "or '/audio.audio.volume'"
    )
    with pytest.raises(invivo.NotConfiguredError) as found:
        invivo.App.check(manifest)
    assert (str(found.value), found.value.rule) == (text, "config.unread")


TICKING = """
import invivo

@invivo.component
class Store:
    def __init__(self, size: int) -> None:
        self.size = size

@invivo.component
class Ticker:
    rate: float = invivo.tunable(2, max=50)
    def __init__(self, label: str, store: Store) -> None:
        self.store = store
"""


@pytest.fixture
def ticking(tmp_path: Path) -> Path:
    (tmp_path / "parts.py").write_text(TICKING)
    (tmp_path / "tuning.yaml").write_text(
        "config: { tick: { size: 4 } }\ntraits: { tick.main: [ Set: { rate: 5 } ] }\n"
    )
    manifest = tmp_path / "app.yaml"
    manifest.write_text(
        "modules: { parts: parts.py }\n"
        "components:\n"
        "  tick.store: { type: Store, init: { size: $config.size } }\n"
        "  tick.main: { type: Ticker, init: { label: hello, store: $tick.store } }\n"
        "specs: [tuning.yaml]\n"
    )
    return manifest


def test_graph_and_keys_read_the_specs_of_the_manifest(ticking: Path) -> None:
    assert run("check", str(ticking)).returncode == 0
    graph = run("graph", "--format", "json", str(ticking))
    assert {each["key"] for each in json.loads(graph.stdout)} == {"tick.main", "tick.store"}
    keys = run("keys", "--language", "python", str(ticking))
    assert "def store(self)" in keys.stdout
    for command in ("graph", "keys"):
        without = run(command, "--wait", str(ticking))
        assert without.returncode == 2
        assert "needs the configuration 'size'" in without.stderr
    assert run("graph", "--wait", "--live", str(ticking)).returncode == 64
    (ticking.parent / "tuning.yaml").write_text("config: { tick: { size: many } }\n")
    for command in ("graph", "keys"):
        broken = run(command, str(ticking))
        assert broken.returncode == 2
        assert "tuning.yaml:1:25: " in broken.stderr


def test_a_mistake_elsewhere_says_nothing_of_a_component_with_traits(ticking: Path) -> None:
    ticking.write_text(ticking.read_text().replace("specs:", "  tick.other: { type: Nothing }\nspecs:"))
    for command in ("check", "run"):
        told = run(command, str(ticking))
        assert told.returncode == 2
        assert told.stderr.count("\n") == 1, told.stderr
        assert "no type 'Nothing' is registered" in told.stderr
    # What is wrong with its traits is told.
    tuning = ticking.parent / "tuning.yaml"
    tuning.write_text("config: { tick: { size: 4 } }\ntraits: { tick.main: [ Set: { rate: 99 } ] }\n")
    told = run("check", str(ticking))
    assert told.stderr.count("\n") == 2, told.stderr
    assert "tuning.yaml:2:37: error: traits.tick.main[0].Set.rate: 99 is outside" in told.stderr
