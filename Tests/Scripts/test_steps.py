"""What scripts/steps.bash prints of a failed step."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def failures(tmp_path: Path, text: str) -> list[str]:
    log = tmp_path / "log"
    log.write_text(text)
    command = ["bash", "-c", '. scripts/steps.bash; failures "$1"', "bash", str(log)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def test_expected_errors_of_other_programs_do_not_hide_the_failed_one(tmp_path: Path) -> None:
    expected = "invivo: error: a.yaml: no such file\n" * 20
    printed = failures(tmp_path, "thread: life: failed with status 66\n" + expected + "thread: ends: ok\n")
    assert printed[0] == "1:thread: life: failed with status 66"
    assert printed[-1] == "thread: ends: ok"
    assert len(printed) == 5


def test_a_failure_of_each_runner_is_found(tmp_path: Path) -> None:
    for line in (
        "✘ Test aSecondSignalEndsAToolThatHangs() failed after 1.0 seconds with 1 issue.",
        "FAILED test_blocks.py::test_a_view - assert 1 == 2",
        " 17/315 Test  #17: c.trust ..........***Failed    0.10 sec",
        "WARNING: ThreadSanitizer: data race (pid=1)",
        "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010",
    ):
        assert failures(tmp_path, line + "\ninvivo: error: none\nend\n")[0] == "1:" + line


def test_without_a_runners_failure_the_errors_are_printed(tmp_path: Path) -> None:
    assert failures(tmp_path, "a.swift:1:1: error: no such module\nend\n")[0].startswith("1:a.swift")
