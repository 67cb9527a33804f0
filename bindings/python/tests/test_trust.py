"""What documents may cost, what errors show of them, what may be loaded, and how files are followed."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

import invivo


class Voice:
    pass


class Synth(invivo.Assembly):
    @invivo.lazy_singleton(each="voices")
    def voice(self) -> Voice:
        return invivo.new(Voice)


def entries(runtime: invivo.Runtime, count: int) -> None:
    with runtime.changes() as changes:
        changes.document(
            "voices", "config: { synth: { voices: { " + ", ".join(f"v{i}: 1" for i in range(count)) + " } } }"
        )


def test_entries_of_each_are_bounded_by_an_option() -> None:
    with invivo.Runtime(Synth(), max_each_entries=2) as runtime:
        entries(runtime, 2)
        kept = runtime["synth.voice[v0]"]
        with pytest.raises(
            invivo.Error, match=r"there are 3 entries, at most 2 are allowed .* max_each_entries permits more"
        ):
            entries(runtime, 3)
        assert runtime["synth.voice[v0]"] is kept


def test_content_stays_out_of_errors() -> None:
    for quotes in (True, False):
        with invivo.Runtime(quote_content=quotes) as runtime:
            with pytest.raises(invivo.Error) as caught, runtime.changes() as changes:
                changes.document("text", "root:$6$secret:19000")
            assert ("secret" in str(caught.value)) == quotes


def test_values_of_a_document_are_bounded() -> None:
    with (
        invivo.Runtime(max_document_nodes=3) as runtime,
        pytest.raises(invivo.Error, match="max_document_nodes permits more"),
        runtime.changes() as changes,
    ):
        changes.document("text", "config: { a: 1, b: 2 }")


def test_sources_are_listed(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "tuning.yaml"
    file.write_text("traits: {}\n")
    with invivo.Runtime(watch=file) as runtime:
        (source,) = runtime.sources
        assert source == invivo.SourceState(str(file), str(file), "watching", 0, "")
        assert (runtime.info.overflows, runtime.info.unannounced) == (0, 0)


def manifest(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "parts.py").write_text("raise RuntimeError('the module ran')\n")
    app = tmp_path / "app.yaml"
    app.write_text("modules: { parts: parts.py }\nspecs: [spec.yaml]\n")
    (tmp_path / "spec.yaml").write_text("traits: {}\n")
    return app


def test_a_check_without_modules_runs_no_code(tmp_path: pathlib.Path) -> None:
    app = manifest(tmp_path)
    with pytest.raises(invivo.Error, match="the module ran"):
        invivo.App.check(app)
    invivo.App.check(app, modules=False)
    command = [sys.executable, "-m", "invivo", "check", "--no-modules", str(app)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0
    assert done.stdout.endswith("its form is OK; types, properties and traits were not checked (--no-modules)\n")
    (tmp_path / "spec.yaml").write_text("trait: {}\n")
    with pytest.raises(invivo.Error, match=r"spec\.yaml"):
        invivo.App.check(app, modules=False)


def test_a_module_that_others_can_write_is_refused_or_warned_about(tmp_path: pathlib.Path) -> None:
    app = manifest(tmp_path)
    (tmp_path / "parts.py").write_text("import invivo\nparts = invivo.Assembly('parts')\n")
    (tmp_path / "parts.py").chmod(0o666)
    if os.geteuid() == 0:
        with pytest.raises(invivo.Error, match="INVIVO_RUNTIME_FOREIGN_FILES"):
            invivo.App(app)
    with invivo.App(app, foreign_files=True):
        pass


def test_every_command_takes_files_of_others_where_that_is_permitted(tmp_path: pathlib.Path) -> None:
    app = manifest(tmp_path)
    (tmp_path / "parts.py").write_text("import invivo\nparts = invivo.Assembly('parts')\n")
    (tmp_path / "parts.py").chmod(0o666)
    for command in (["check"], ["graph"], ["graph", "--live"], ["keys"]):
        line = [sys.executable, "-m", "invivo", *command, str(app)]
        refused = subprocess.run(line, capture_output=True, text=True, check=False)
        assert "FOREIGN_FILES" in refused.stderr
        assert refused.returncode == (2 if os.geteuid() == 0 else 0)
        permitted = subprocess.run([*line, "--foreign-files"], capture_output=True, text=True, check=False)
        assert (permitted.returncode, permitted.stderr) == (0, ""), command
