"""wrong_cases.py CASES: the case runner of C fails a case that is wrong, and says at which line and why."""

import subprocess
import sys
import tempfile
from pathlib import Path

WRONG = [
    ("sing a.x", "2: nothing is said by 'sing'"),
    ("define a.x Knight\n    sing 5", "3: a definition has no part 'sing'"),
    ("define a.x Knight loud", "2: a definition is not 'loud'"),
    ("define a.x Knight\n    set any sing(5)", "3: no injection is written 'sing(...)'"),
    ("resolve a.nothing", "2: it answers INVIVO_E_NOT_FOUND"),
    ("define a.x Knight\n    fails not_found", "3: it answers INVIVO_OK"),
    ("resolve a.nothing\n    fails type", "3: it answers INVIVO_E_NOT_FOUND"),
    ("define a.x Knight singleton\nlog", "what came"),
]

failures = 0
with tempfile.TemporaryDirectory() as folder:
    for text, said in [*WRONG, ("define a.x Knight\nresolve a.x", None)]:
        file = Path(folder) / "one.case"
        file.write_text(f"case one\n{text}\n")
        ran = subprocess.run([sys.argv[1], file], capture_output=True, text=True, timeout=60, check=False)
        output = ran.stdout + ran.stderr
        well = ran.returncode == 0 if said is None else ran.returncode == 1 and said in output
        if not well:
            failures += 1
            print(f"{text!r}: exit status {ran.returncode}, expected {said!r} in:\n{output}")
sys.exit(1 if failures else 0)
