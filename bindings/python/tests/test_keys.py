"""Typed functions for keys, as `invivo keys` writes them: mypy accepts them, refuses what is wrong; they resolve."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import invivo
from invivo.__main__ import main

MODULE = """
from __future__ import annotations

import invivo

class Quest:
    def __init__(self, name: str = "grail") -> None:
        self.name = name

class Knight:
    motto: str = ""
    def __init__(self, quest: Quest, damsels: int) -> None:
        self.quest, self.damsels = quest, damsels
    def ride(self, miles: int) -> bool:
        return miles > self.damsels

class Camelot(invivo.Assembly):
    @invivo.lazy_singleton
    def quest(self) -> Quest:
        return invivo.new(Quest, "dragon")

    @invivo.prototype
    def knight(self, quest: Quest, damsels: int = 2) -> Knight:
        return invivo.new(Knight, quest, damsels)

    @invivo.prototype
    def nobody(self) -> Quest | None:
        return invivo.new(nothing)

def nothing() -> Quest | None:
    return None

camelot = Camelot()
"""
USE = """
import invivo
from keys import CamelotKeys

def use(runtime: invivo.Runtime) -> None:
    camelot = CamelotKeys(runtime)
    knight = camelot.knight(camelot.quest(), 3)
    well: bool = knight.ride(4)
    knight.motto = "hail"
    assert camelot.nobody() is None
"""
WRONG = {
    "camelot.knight(camelot.quest(), 'three')": "arg-type",
    "camelot.knight(camelot.knight(camelot.quest()))": "arg-type",
    "camelot.knigth(camelot.quest())": "attr-defined",
    "camelot.quest().ride(1)": "attr-defined",
    "camelot.knight()": "call-arg",
}


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    (tmp_path / "court.py").write_text(MODULE)
    path = tmp_path / "app.yaml"
    path.write_text("modules: { court: court.py }\nassemblies: [camelot]\n")
    return path


def test_what_is_written_resolves_and_mypy_checks_it(manifest: Path) -> None:
    folder = manifest.parent
    assert main(["keys", str(manifest), "-o", str(folder / "keys.py")]) == 0
    written = (folder / "keys.py").stat().st_mtime_ns
    assert main(["keys", str(manifest), "-o", str(folder / "keys.py")]) == 0
    assert (folder / "keys.py").stat().st_mtime_ns == written  # said already
    spec = importlib.util.spec_from_file_location("keys_written", folder / "keys.py")
    assert spec is not None
    assert spec.loader is not None
    keys = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(keys)
    with invivo.App(manifest) as app:
        camelot = keys.CamelotKeys(app.runtime)
        knight = camelot.knight(camelot.quest(), 5)
        assert (knight.quest, knight.damsels) == (camelot.quest(), 5)
        assert camelot.nobody() is None
        assert app.runtime.keys_text() == (folder / "keys.py").read_text()
    lines = "".join(f"    {each}\n" for each in WRONG)
    (folder / "use.py").write_text(USE)
    (folder / "wrong.py").write_text(USE + lines)
    check = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context"]
    found = {**os.environ, "MYPYPATH": str(Path(invivo.__file__).parent.parent)}
    good = subprocess.run([*check, "use.py"], cwd=folder, env=found, capture_output=True, text=True, check=False)
    assert (good.stdout, good.returncode) == ("", 0)
    bad = subprocess.run([*check, "wrong.py"], cwd=folder, env=found, capture_output=True, text=True, check=False)
    first = USE.count("\n") + 1
    for number, code in enumerate(WRONG.values(), first):
        assert any(
            line.startswith(f"wrong.py:{number}:") and f"[{code}]" in line for line in bad.stdout.splitlines()
        ), bad.stdout


def test_a_file_that_is_out_of_date_is_found(manifest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = manifest.parent / "keys.py"
    check = ["keys", str(manifest), "--check", "-o", str(keys)]
    assert main(check) == 1
    assert (
        f"{keys}: error: the file is out of date: write it with 'invivo keys {manifest} --output"
        in capsys.readouterr().err
    )
    assert not keys.exists()
    assert main(["keys", str(manifest), "-o", str(keys)]) == 0
    assert main(check) == 0
    keys.write_text(keys.read_text() + "# more\n")
    assert main(check) == 1
    assert keys.read_text().endswith("# more\n")
    with pytest.raises(SystemExit):
        main(["keys", str(manifest), "--check"])
    assert "--check needs --output" in capsys.readouterr().err


def test_a_c_header_is_written_for_what_python_makes(manifest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", str(manifest)]) == 0
    header = capsys.readouterr().out
    assert (
        "static inline invivo_status camelot_knight(invivo_runtime runtime, Knight_object *out, Quest_object quest, "
        "const int64_t *damsels, invivo_error **error)"
    ) in header


def test_what_is_wrong_with_the_manifest_is_told(manifest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest.write_text("modules: { court: court.py }\nassemblies: [cmelot]\n")
    assert main(["keys", str(manifest)]) == 2
    assert "did you mean 'camelot'" in capsys.readouterr().err


def test_arguments_with_defaults_may_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "parts.py").write_text(
        "import invivo\n@invivo.component\nclass Voice:\n"
        "    def __init__(self, note: int, name: str) -> None:\n        self.note, self.name = note, name\n"
    )
    manifest = tmp_path / "app.yaml"
    manifest.write_text(
        "modules: { parts: parts.py }\ncomponents:\n  a.voice:\n    type: Voice\n    scope: prototype\n"
        "    parameters: [{ name: note, kind: int64 }, { name: name, kind: string, default: low }]\n"
        "    init: [{ $argument: 0 }, { $argument: 1 }]\n"
    )
    assert main(["keys", str(manifest), "-o", str(tmp_path / "written.py")]) == 0
    spec = importlib.util.spec_from_file_location("keys_with_defaults", tmp_path / "written.py")
    assert spec is not None
    assert spec.loader is not None
    written = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(written)
    with invivo.App(manifest) as app:
        voices = written.AKeys(app.runtime)
        assert [vars(voices.voice(60)), vars(voices.voice(60, "high"))] == [
            {"note": 60, "name": "low"},
            {"note": 60, "name": "high"},
        ]
    for language in ("c", "swift"):
        assert main(["keys", "--language", language, str(manifest)]) == 0
        assert "note" in capsys.readouterr().out
