"""Each header compiles alone and included twice, with all warnings as errors: compiles_alone.py COMPILER c|c++"""

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
for header, variant in ((header, variant) for header in headers for variant in variants):
    source = f"#include <{header.relative_to(INCLUDE)}>\n" * 2
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
    print(f"{' '.join([header.name, *variant])}: {'ok' if result.returncode == 0 else 'fails'}")
    if result.returncode != 0:
        failed = True
        print(result.stderr)
sys.exit(failed)
