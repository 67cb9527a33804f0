"""Extracts, builds and runs the samples of README.md, and edits tuning.yaml meanwhile."""

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
from typing import IO

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 60.0


def sample(language: str, document: str = "README.md") -> str:
    text = (ROOT / document).read_text()
    found = re.search(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert found is not None, f"{document} has no {language} sample"
    return found.group(1)


def edit(path: Path, gain: str, cutoff: str) -> None:
    """Saves like most editors: a new file, renamed over the old one."""
    beside = path.with_suffix(".new")
    beside.write_text(f"traits:\n  synth.lead:\n    - Set: {{ gain: {gain}, cutoff: {cutoff} }}\n")
    os.replace(beside, path)


def sees_edits(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Runs a sample. Its output must show the document at the start, and then an edit at run time. An invalid edit
    is reported on standard error, and changes nothing."""
    (folder / "tuning.yaml").write_text(sample("yaml"))
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    assert process.stdout is not None and process.stderr is not None
    printed, errors = lines_of(process.stdout), lines_of(process.stderr)

    def wait_for(lines: queue.Queue[str | None], pattern: str) -> None:
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            line = lines.get(timeout=max(0.1, end - time.monotonic()))
            if line is None:
                pytest.fail(f"the sample ended: {list(iter(errors.get, None))}")
            if re.search(pattern, line):
                return
        pytest.fail(f"no line like {pattern!r} came")

    try:
        wait_for(printed, r"gain 0\.5, cutoff 1200(\.0)? Hz")
        edit(folder / "tuning.yaml", "0.25", "2 kHz")
        wait_for(printed, r"gain 0\.25, cutoff 2000(\.0)? Hz")
        edit(folder / "tuning.yaml", "25", "2 kHz")
        wait_for(errors, r"tuning\.yaml:3:20: traits\.synth\.lead\[0\]\.Set\.gain: 25 is outside 0\.\.\.2$")
        wait_for(errors, r"^generation \d+ stays: tuning\.yaml was not applied$")
        edit(folder / "tuning.yaml", "0.25", "3 kHz")
        wait_for(printed, r"gain 0\.25, cutoff 3000(\.0)? Hz")
    finally:
        process.kill()
        process.wait()


def lines_of(stream: IO[str]) -> queue.Queue[str | None]:
    """The lines of a stream as they arrive; None at its end."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in stream:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def library() -> Path:
    subprocess.run(["swift", "build", "--product", "InvivoC", "-q"], cwd=ROOT, check=True)
    shown = subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True)
    return Path(shown.stdout.strip()) / "libInvivoC.so"


def says(
    command: list[str],
    folder: Path,
    mistake: str,
    environment: dict[str, str] | None = None,
    document: str = "docs/wiring.md",
) -> None:
    """Runs a sample of a document: it prints the documented output, and then the error."""
    ran = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=LIMIT, env={**os.environ, **(environment or {})}
    )
    assert ran.returncode == 0, ran.stderr
    said = ran.stdout.splitlines()
    assert said[:-1] == sample("text", document).splitlines()
    assert re.search(mistake, said[-1]), said


def compile_with(compiler: list[str], source: str, folder: Path) -> list[str]:
    built = library()
    subprocess.run(
        [
            *compiler,
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{ROOT / 'include'}",
            source,
            "-o",
            "sample",
            f"-L{built.parent}",
            "-lInvivoC",
            f"-Wl,-rpath,{built.parent}",
        ],
        cwd=folder,
        check=True,
    )
    return ["./sample"]


def test_c(tmp_path: Path) -> None:
    (tmp_path / "sample.c").write_text(sample("c"))
    sees_edits(compile_with(["cc", "-std=gnu11"], "sample.c", tmp_path), tmp_path)


# README.md states that its sample is also valid C++20.
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    "document, standards",
    [("README.md", [["-std=c11"], ["-xc++", "-std=c++20"]]), ("docs/wiring.md", [["-std=c11"]])],
)
def test_c_compiles_as_the_standards_have_it(
    compiler: str, document: str, standards: list[list[str]], tmp_path: Path
) -> None:
    (tmp_path / "sample.c").write_text(sample("c", document))
    look = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}", "sample.c"]
    for standard in standards:
        subprocess.run([compiler, *standard, *look], cwd=tmp_path, check=True)


def test_wiring_in_c(tmp_path: Path) -> None:
    (tmp_path / "sample.c").write_text(sample("c", "docs/wiring.md"))
    program = compile_with(["cc", "-std=gnu11"], "sample.c", tmp_path)
    says(program, tmp_path, r"^sample\.c:\d+: synth\.beat: no type 'Beta' is registered; did you mean 'Beat'\?")


def test_wiring_in_cpp(tmp_path: Path) -> None:
    (tmp_path / "sample.cpp").write_text(sample("cpp", "docs/wiring.md"))
    program = compile_with(["c++", "-std=c++17"], "sample.cpp", tmp_path)
    says(program, tmp_path, r"^sample\.cpp:\d+: synth\.beat: Beat has no property 'rade'; did you mean 'rate'\?")


def test_wiring_in_swift(tmp_path: Path) -> None:
    program = swift_program(sample("swift", "docs/wiring.md"), tmp_path)
    says([str(program)], tmp_path, r"^synth\.laed: .* did you mean 'synth\.lead'\?")


def test_swift_page(tmp_path: Path) -> None:
    program = swift_program(sample("swift", "docs/swift.md"), tmp_path)
    mistake = r"^conversion: .*studio\.channels: .* expected a number"
    says([str(program)], tmp_path, mistake, document="docs/swift.md")


def test_wiring_in_python(tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text(sample("python", "docs/wiring.md"))
    environment = {"PYTHONPATH": str(ROOT / "bindings" / "python"), "INVIVO_LIBRARY": str(library())}
    says([sys.executable, "sample.py"], tmp_path, r"sample\.py:\d+: synth\.beat\.rade: .* it has rate", environment)


TRAITS = r"^tuning\.yaml:1:\d+: .*synth\.Duck\.amount: 2 is outside 0\.\.\.1$"


def test_traits_in_c(tmp_path: Path) -> None:
    (tmp_path / "sample.c").write_text(sample("c", "docs/traits.md"))
    says(compile_with(["cc", "-std=gnu11"], "sample.c", tmp_path), tmp_path, TRAITS, document="docs/traits.md")


def test_traits_in_cpp(tmp_path: Path) -> None:
    (tmp_path / "sample.cpp").write_text(sample("cpp", "docs/traits.md"))
    compiler = ["c++", "-std=c++17", "-Wno-missing-field-initializers"]
    says(compile_with(compiler, "sample.cpp", tmp_path), tmp_path, TRAITS, document="docs/traits.md")


def test_traits_in_swift(tmp_path: Path) -> None:
    program = swift_program(sample("swift", "docs/traits.md"), tmp_path)
    says([str(program)], tmp_path, TRAITS, document="docs/traits.md")


def test_traits_in_python(tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text(sample("python", "docs/traits.md"))
    environment = {"PYTHONPATH": str(ROOT / "bindings" / "python"), "INVIVO_LIBRARY": str(library())}
    says([sys.executable, "sample.py"], tmp_path, TRAITS, environment, document="docs/traits.md")


def test_traits_in_python_pass_a_strict_type_checker(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "sample.py").write_text(sample("python", "docs/traits.md"))
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "sample.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "bindings" / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def swift_program(text: str, tmp_path: Path) -> Path:
    """Builds a package with the sample, and returns its program."""
    package = tmp_path / "Sample"
    (package / "Sources" / "sample").mkdir(parents=True)
    (package / "Sources" / "sample" / "main.swift").write_text(text)
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
    return program


def test_swift(tmp_path: Path) -> None:
    sees_edits([str(swift_program(sample("swift"), tmp_path))], tmp_path)


def test_python(tmp_path: Path) -> None:
    built = library()
    (tmp_path / "sample.py").write_text(sample("python"))
    sees_edits(
        [sys.executable, "sample.py"],
        tmp_path,
        {"PYTHONPATH": str(ROOT / "bindings" / "python"), "INVIVO_LIBRARY": str(built)},
    )
