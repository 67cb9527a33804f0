"""Builds a program and two modules by one compiler and runs it: run.py COMPILER LIBRARY INCLUDE STUBS.

The program is linked with -rdynamic and nothing is optimized, so that each function that an image does not keep to
itself is shared."""

import pathlib
import subprocess
import sys
import tempfile

compiler, library, include, *stubs = sys.argv[1:]
here = pathlib.Path(__file__).parent
with tempfile.TemporaryDirectory() as directory:
    common = [
        compiler,
        "-std=c++17",
        "-O0",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-fPIC",
        "-pthread",
        f"-I{include}",
    ]
    for name in ("first", "second"):
        subprocess.run(
            [*common, "-shared", str(here / f"{name}.cpp"), *stubs, "-o", f"{directory}/lib{name}.so"], check=True
        )
    program = f"{directory}/program"
    folder = pathlib.Path(library).parent
    subprocess.run(
        [
            *common,
            "-rdynamic",
            f'-DTEST_MODULES="{directory}"',
            str(here / "program.cpp"),
            library,
            f"-Wl,-rpath,{folder}",
            "-o",
            program,
        ],
        check=True,
    )
    symbols = subprocess.run(["nm", "-C", program], check=True, capture_output=True, text=True).stdout
    shared = [line for line in symbols.splitlines() if " u " in line and "invivo::" in line]
    if shared:
        sys.exit("symbols that are one in the whole process:\n" + "\n".join(shared))
    sys.exit(subprocess.run([program], timeout=120).returncode)
