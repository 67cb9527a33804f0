"""Each header compiles alone and included twice, with all warnings as errors: compiles_alone.py COMPILER c|c++

So does a program that describes fields.
"""

import subprocess
import sys
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"
STANDARDS = {"c": "c99", "c++": "c++17"}

compiler, language = sys.argv[1:]
failed = False
headers = sorted((INCLUDE / "invivo").glob("*.h"))
if language == "c++":
    headers += sorted((INCLUDE / "invivo").rglob("*.hpp"))
variants = [[], ["-fno-rtti"]] if language == "c++" else [[]]
FIELDS = """#include <invivo/invivo.h>
struct tone { double level; int count; };
typedef struct tone tone;
extern const invivo_property tone_fields[3];
const invivo_property tone_fields[3] = {
    INVIVO_FIELD(tone, level, .initial = 1, .min = 0, .max = 2, .unit = "dB"), INVIVO_BLOCK_FIELD(tone, level),
    INVIVO_FLAGGED_FIELD(tone, INVIVO_PROPERTY_RESTART, count, .initial = 3)};
"""
sources = [(header.name, f"#include <{header.relative_to(INCLUDE)}>\n" * 2) for header in headers] + [
    ("fields", FIELDS)
]
for (name, source), variant in ((each, variant) for each in sources for variant in variants):
    command = [
        compiler,
        "-fsyntax-only",
        "-x",
        language,
        f"-std={STANDARDS[language]}",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wconversion",
        "-Wshadow",
        "-Werror",
        *variant,
        f"-I{INCLUDE}",
        "-",
    ]
    result = subprocess.run(command, input=source, text=True, capture_output=True)
    print(f"{' '.join([name, *variant])}: {'ok' if result.returncode == 0 else 'fails'}")
    if result.returncode != 0:
        failed = True
        print(result.stderr)
sys.exit(failed)
