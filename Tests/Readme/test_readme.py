"""The samples of README.md, as written: extracted, built, run, and an edit of tuning.yaml seen live."""

from __future__ import annotations

import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
LIMIT = 60.0


def sample(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert found is not None, f"README.md has no {language} sample"
    return found.group(1)


def edit(path: Path, gain: str, cutoff: str) -> None:
    """Saves as most editors do: a new file, renamed over the old one."""
    beside = path.with_suffix(".new")
    beside.write_text(f"traits:\n  synth.lead:\n    - Set: {{ gain: {gain}, cutoff: {cutoff} }}\n")
    os.replace(beside, path)


def sees_edits(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Runs a sample; its output must show the document at the start, and then an edit made while it runs."""
    (folder / "tuning.yaml").write_text(sample("yaml"))
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    lines: queue.Queue[str | None] = queue.Queue()
    assert process.stdout is not None

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()

    def wait_for(pattern: str) -> None:
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            line = lines.get(timeout=max(0.1, end - time.monotonic()))
            if line is None:
                assert process.stderr is not None
                pytest.fail(f"the sample ended: {process.stderr.read()}")
            if re.search(pattern, line):
                return
        pytest.fail(f"no line like {pattern!r} came")

    try:
        wait_for(r"gain 0\.5, cutoff 1200(\.0)? Hz")
        edit(folder / "tuning.yaml", "0.25", "2 kHz")
        wait_for(r"gain 0\.25, cutoff 2000(\.0)? Hz")
    finally:
        process.kill()
        process.wait()


def library() -> Path:
    subprocess.run(["swift", "build", "--product", "InvivoC", "-q"], cwd=ROOT, check=True)
    shown = subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True)
    return Path(shown.stdout.strip()) / "libInvivoC.so"


def test_c(tmp_path: Path) -> None:
    built = library()
    (tmp_path / "sample.c").write_text(sample("c"))
    subprocess.run(
        [
            "cc",
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{ROOT / 'include'}",
            "sample.c",
            "-o",
            "sample",
            f"-L{built.parent}",
            "-lInvivoC",
            f"-Wl,-rpath,{built.parent}",
        ],
        cwd=tmp_path,
        check=True,
    )
    sees_edits(["./sample"], tmp_path)


def test_swift(tmp_path: Path) -> None:
    package = tmp_path / "Sample"
    (package / "Sources" / "sample").mkdir(parents=True)
    (package / "Sources" / "sample" / "main.swift").write_text(sample("swift"))
    (package / "Package.swift").write_text(
        "// swift-tools-version: 6.2\nimport PackageDescription\n"
        f'let package = Package(name: "sample", dependencies: [.package(name: "invivo", path: "{ROOT}")], targets: '
        '[.executableTarget(name: "sample", dependencies: [.product(name: "Invivo", package: "invivo")])])\n'
    )
    scratch = os.environ.get("INVIVO_README_SCRATCH", str(tmp_path / "build"))
    subprocess.run(["swift", "build", "-q", "--scratch-path", scratch], cwd=package, check=True)
    shown = subprocess.run(
        ["swift", "build", "--scratch-path", scratch, "--show-bin-path"],
        cwd=package,
        check=True,
        capture_output=True,
        text=True,
    )
    program = tmp_path / "program"
    shutil.copy(Path(shown.stdout.strip()) / "sample", program)
    sees_edits([str(program)], tmp_path)


def test_python(tmp_path: Path) -> None:
    built = library()
    (tmp_path / "sample.py").write_text(sample("python"))
    sees_edits(
        [sys.executable, "sample.py"],
        tmp_path,
        {"PYTHONPATH": str(ROOT / "bindings" / "python"), "INVIVO_LIBRARY": str(built)},
    )
