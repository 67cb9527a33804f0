from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path

import pytest

import invivo
from invivo import _generated as c
from invivo._native import library as native


def test_importing_does_not_open_the_library(script) -> None:
    done = script(
        "import os; os.environ['INVIVO_LIBRARY'] = '/nowhere/libinvivo.so.0'\n"
        "import invivo, invivo._runtime.app\n"
        "assert 'invivo.so' not in open('/proc/self/maps').read().lower()\n"
        "try: invivo.Runtime()\n"
        "except OSError as problem: print(type(problem).__name__, problem)\n"
    )
    assert done.returncode == 0, done.stderr
    assert "FileError" in done.stdout
    assert "/nowhere/libinvivo.so.0" in done.stdout


def test_the_package_has_a_version() -> None:
    root = Path(__file__).parents[3]
    assert f"## Unreleased\n\nThis is the first version, {invivo.__version__}." in (root / "CHANGELOG.md").read_text()


def test_the_named_library_comes_before_the_bundled_before_the_development_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "repository"
    package = root / "bindings" / "python" / "invivo"
    package.mkdir(parents=True)
    (root / "Package.swift").touch()
    monkeypatch.setattr(native, "__file__", str(package / "_native" / "library.py"))
    monkeypatch.delenv("INVIVO_LIBRARY", raising=False)
    with pytest.raises(invivo.FileError, match="INVIVO_LIBRARY"):
        native.find()

    older, newer = (root / ".build" / name / "libInvivoC.so" for name in ("release", "debug"))
    for age, path in ((20, older), (10, newer)):
        path.parent.mkdir(parents=True)
        path.touch()
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    assert native.find() == newer

    bundled = package / "_lib" / "libinvivo.so.0"
    bundled.parent.mkdir()
    bundled.touch()
    assert native.find() == bundled

    named = tmp_path / "mine.so"
    named.touch()
    monkeypatch.setenv("INVIVO_LIBRARY", str(named))
    assert native.find() == named
    monkeypatch.setenv("INVIVO_LIBRARY", str(tmp_path / "gone.so"))
    with pytest.raises(OSError, match=r"gone\.so"):
        native.find()


def test_only_what_is_tagged_nowait_keeps_the_gil() -> None:
    library = native.own_library()
    for name, (_, _, nowait) in c.FUNCTIONS.items():
        flags = library.bare(name.removeprefix("invivo_"))._flags_
        keeps = bool(flags & 0x4)  # FUNCFLAG_PYTHONAPI
        assert keeps == nowait, name


def test_every_function_is_in_the_table_and_has_a_declaration() -> None:
    assert set(c.TABLE) == set(c.FUNCTIONS)
    head = c.invivo_table.from_address(native.own_library().table)
    assert head.function_count >= len(c.TABLE)


def test_a_table_of_another_abi_is_refused() -> None:
    table = c.invivo_table()
    table.struct_size = ctypes.sizeof(table)
    table.abi_version = c.INVIVO_ABI_VERSION + 1
    with pytest.raises(ImportError, match="version"):
        native.Library(ctypes.addressof(table))


def test_a_function_that_an_older_table_lacks_says_so() -> None:
    table = c.invivo_table()
    table.struct_size = ctypes.sizeof(table)
    table.abi_version = c.INVIVO_ABI_VERSION
    table.function_count = 1
    with pytest.raises(invivo.VersionError, match="invivo_live"):
        _ = native.Library(ctypes.addressof(table)).live


def test_the_structures_are_as_long_as_a_c_compiler_says(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("clang")
    include = Path(native.__file__).resolve().parents[4] / "include"
    if compiler is None or not include.is_dir():
        pytest.skip("needs a C compiler and the headers")
    import subprocess

    named = [each for each in c.STRUCTURES if "_as" not in each.__name__]
    lines = "".join(f'printf("%zu\\n", sizeof({each.__name__}));' for each in named)
    source = tmp_path / "sizes.c"
    source.write_text(f"#include <stdio.h>\n#include <invivo/invivo.h>\nint main(void) {{ {lines} return 0; }}\n")
    program = tmp_path / "sizes"
    subprocess.run([compiler, "-I", str(include), str(source), "-o", str(program)], check=True)
    said = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split()
    assert [ctypes.sizeof(each) for each in named] == [int(size) for size in said]


def test_another_interpreter_of_the_process_is_told_that_there_can_be_one(script) -> None:
    pytest.importorskip("_xxsubinterpreters")
    done = script(
        "import sys, _xxsubinterpreters, invivo\n"
        "with invivo.Runtime(): pass\n"
        "other = _xxsubinterpreters.create()\n"
        "try: _xxsubinterpreters.run_string(other, f'import sys; sys.path[:0] = {sys.path!r}; "
        "import invivo; invivo.Runtime()')\n"
        "except _xxsubinterpreters.RunFailedError as problem: print(problem)\n"
        "_xxsubinterpreters.destroy(other)\n"
        "with invivo.Runtime(): pass\n"
    )
    assert done.returncode == 0, done.stderr
    assert "another interpreter of this process" in done.stdout
