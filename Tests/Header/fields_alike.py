"""The field macros have equal results in C and C++, without warnings: fields_alike.py COMPILER C++-COMPILER

What cannot be a field is refused by the C++ compiler, and told as a nested struct, which needs fields, by C's.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
WARNINGS = ["-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
REFUSED = ["char it;", "int *it;", "long double it;", "int it[3];", "wchar_t it;"]

c, cxx = sys.argv[1:]


def told_by(compiler: str, language: str, standard: str, scratch: str) -> list[str]:
    program = f"{scratch}/fields-{standard}"
    source = str(HERE / "fields.c")
    subprocess.run([compiler, "-x", language, f"-std={standard}", *WARNINGS, source, "-o", program], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


failed = False
with tempfile.TemporaryDirectory() as scratch:
    expected = told_by(c, "c", "gnu99", scratch)
    for compiler, language, standard in [(c, "c", "gnu11"), (cxx, "c++", "c++17"), (cxx, "c++", "c++20")]:
        found = told_by(compiler, language, standard, scratch)
        for ours, theirs in zip(expected, found, strict=True):
            if ours != theirs:
                failed = True
                print(f"{standard}: {theirs}\ngnu99: {ours}")
    print(f"{len(expected)} lines, the same in each language")
    for field in REFUSED:
        source = (
            "#include <invivo/invivo.h>\n#include <stddef.h>\n"
            f"typedef struct {{ {field} }} some;\nconst invivo_property one[] = {{INVIVO_FIELD(some, it)}};\n"
            "const invivo_kind kinds[] = {INVIVO_KIND_MAP};\n"
        )
        command = [cxx, "-fsyntax-only", "-x", "c++", "-std=c++17", *WARNINGS, "-"]
        if subprocess.run(command, input=source, text=True, capture_output=True).returncode == 0:
            failed = True
            print(f"C++ takes the field '{field}'")
sys.exit(failed)
