"""Compares sizes, offsets and constants with layout.txt: layout_snapshot.py PROGRAM

What programs were built with may not change. New lines are fine once recorded: PROGRAM > Tests/Header/layout.txt
"""

import difflib
import subprocess
import sys
from pathlib import Path

snapshot = Path(__file__).with_name("layout.txt").read_text().splitlines()
found = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines()
difference = list(difflib.unified_diff(snapshot, found, "layout.txt", "the headers", lineterm="", n=0))
print("\n".join(difference) or f"{len(found)} sizes, offsets and constants are as recorded")
sys.exit(bool(difference))
