#!/usr/bin/env python3
"""Counts instructions by callgrind, where times are noisy and `perf` counters are missing: one JSON object a row.

    instructions.py LIBRARY PROGRAM...

A program is a benchmark in C (row.h). Only rows that one thread measures by MEASURE appear. Needs valgrind.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

COUNTED = 1000  # as in row.h


def parts(text: str) -> list[tuple[str, int]]:
    """The label of each dump and how many instructions it has."""
    found = []
    for part in re.split(r"(?m)^part: \d+$", text)[1:]:
        label = re.search(r"(?m)^desc: Trigger: Client Request: (.*)$", part)
        total = re.search(r"(?m)^(?:totals|summary): (\d+)", part)
        if label and total:
            found.append((label[1], int(total[1])))
    return found


def count(library: pathlib.Path, program: pathlib.Path, folder: pathlib.Path) -> None:
    # Valgrind does not understand the debug information of newer compilers.
    stripped = folder / library.name
    subprocess.run(["strip", "-g", "-o", stripped, library], check=True)
    output = folder / f"{program.name}.out"
    options = ["--tool=callgrind", "--combine-dumps=yes", f"--callgrind-out-file={output}"]
    surroundings = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
    done = subprocess.run(
        ["valgrind", *options, program, "--quick"],
        env=surroundings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=1800,
    )
    if done.returncode:
        sys.exit(f"{program.name} failed under callgrind with {done.returncode}:\n{done.stderr[-2000:]}")
    measured = None
    for label, total in parts(output.read_text()):
        if label == "measured":
            measured = total
        elif measured is not None:
            value = round(measured / COUNTED, 1)
            row = {"name": f"{label}.instructions", "value": value, "unit": "instructions", "floor": "none"}
            print(json.dumps({**row, "floor_value": 0, "ratio": 0, "budget": "recorded", "within": True}), flush=True)
            measured = None


def main() -> None:
    library, *programs = map(pathlib.Path, sys.argv[1:])
    for program in programs:
        with tempfile.TemporaryDirectory() as folder:
            count(library, program.absolute(), pathlib.Path(folder))


if __name__ == "__main__":
    main()
