"""wrong_cases.py CASES: the case runner of C fails each case of Tests/Cases/wrong_cases.txt, at the line that is wrong.

Also looks whether each statement of the case language has a wrong case.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TEXT = (HERE.parent / "Cases/wrong_cases.txt").read_text()
SAID = {  # what it says of some
    "resolve_fails": "it answers INVIVO_E_NOT_FOUND",
    "fails_of_nothing": "it answers INVIVO_OK",
    "log": "what came",
}
UNKNOWN = [  # what the language does not have
    ("sing a.x", "2: nothing is said by 'sing'"),
    ("define a.x Knight\n    sing 5", "3: a definition has no part 'sing'"),
    ("define a.x Knight loud", "2: a definition is not 'loud'"),
    ("define a.x Knight\n    set any sing(5)", "3: no injection is written 'sing(...)'"),
    ("define a.x Camp\n    setup sing(5)", "3: a setup has no step 'sing'"),
]

failures = 0


def check(is_so: bool, text: str) -> None:
    global failures
    failures += not is_so
    if not is_so:
        print(text)


def run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    file = folder / "one.case"
    file.write_text(text)
    return subprocess.run([sys.argv[1], file], capture_output=True, text=True, timeout=120, check=False)


cases = [f"case {each}" for each in re.split(r"^case ", TEXT, flags=re.MULTILINE)[1:]]
names = []
with tempfile.TemporaryDirectory() as directory:
    folder = Path(directory)
    for text in cases:
        name = text.split()[1]
        names.append(name)
        wrong = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("#wrong")]
        ran = run(folder, text)
        found = re.findall(r"one\.case:(\d+): (.*)", ran.stdout + ran.stderr)
        well = len(wrong) == 1 and ran.returncode == 1 and found and int(found[0][0]) == wrong[0]
        check(bool(well), f"{name} is wrong in line {wrong}, exit status {ran.returncode}:\n{ran.stdout}{ran.stderr}")
        check(SAID.get(name, "") in ran.stdout + ran.stderr, f"{name} says: {found}")
    for text, said in UNKNOWN:
        ran = run(folder, f"case one\n{text}\n")
        check(ran.returncode == 1 and said in ran.stdout + ran.stderr, f"{text!r}:\n{ran.stdout}{ran.stderr}")
    sound = "case one\ndefine a.x Knight\nresolve a.x\n"
    ran = run(folder, sound)
    check(ran.returncode == 0, f"{sound}{ran.stdout}{ran.stderr}")
table = (HERE / "cases.c").read_text().partition("statements[] = {")[2].partition("};")[0]
for verb in [*re.findall(r'{"(\w+)", \d', table), "fails", "finds"]:
    check(any(re.match(rf"(.*_)?{verb}(_|$)", name) for name in names), f"no wrong case of '{verb}'")
sys.exit(1 if failures else 0)
