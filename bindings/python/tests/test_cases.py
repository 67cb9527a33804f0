"""What holds in every language: the text cases of Tests/Cases, each by its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from cases.build import Wrong
from cases.script import Case, Line, Unreadable, cases
from cases.statements import Runner

ROOT = Path(__file__).resolve().parents[3] / "Tests" / "Cases"
CASES = [each for file in sorted(ROOT.rglob("*.case")) for each in cases(file, "python")]


def test_names_of_cases_are_unique() -> None:
    assert len({each.name for each in CASES}) == len(CASES) > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sing a.x", "nothing is said by 'sing'"),
        ("define a.x Knight\n    sing 5", "a definition has no part 'sing'"),
        ("define a.x Knight loud", "a definition is not 'loud'"),
        ("define a.x Knight\n    set any sing(5)", r"no injection is written sing\(...\)"),
        ("define a.x Camp\n    setup sing(5)", "a setup has no step 'sing'"),
        ("resolve a.nothing", "it answers INVIVO_E_NOT_FOUND"),
        ("define a.x Knight singleton\nlog", "what came"),
    ],
)
def test_what_is_not_known_or_not_so_fails(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "wrong.case"
    file.write_text(f"case wrong\n{text}\n")
    (case,) = cases(file, "python")
    with pytest.raises((Unreadable, Wrong), match=said):
        Runner(case).run_all()


WRONG = ROOT / "wrong_cases.txt"
WRONG_LINES = {number for number, line in enumerate(WRONG.read_text().splitlines(), 1) if line.endswith("#wrong")}
WRONG_CASES = list(cases(WRONG, "python"))


def lines_of(lines: Iterable[Line]) -> Iterator[int]:
    for line in lines:
        yield line.number
        yield from lines_of(line.below)


@pytest.mark.parametrize("case", WRONG_CASES, ids=[each.name for each in WRONG_CASES])
def test_a_wrong_case_fails_where_it_is_wrong(case: Case) -> None:
    (wrong,) = WRONG_LINES.intersection(lines_of(case.lines))
    runner = Runner(case)
    runner.patience = 0
    with pytest.raises((Unreadable, Wrong)) as caught:
        runner.run_all()
    # What was expected to fail says so at the line below the statement.
    assert runner.wrong_line == wrong or f"{WRONG}:{wrong}: " in str(caught.value)


@pytest.mark.parametrize("case", CASES, ids=[each.name for each in CASES])
def test_case(case: Case) -> None:
    if case.left_out is not None:
        pytest.skip(case.left_out)
    Runner(case).run_all()
