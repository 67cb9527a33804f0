from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)
    assert found is not None
    return found.group(1)


def test_the_sample_of_the_readme_sees_an_edit_at_the_next_step(script, tmp_path: Path) -> None:
    (tmp_path / "tuning.yaml").write_text(block("yaml"))
    sample = block("python")
    # The sample's own loop goes on for ever: here each step looks at the tempo, and a last one ends it.
    setup = """
import pathlib, sys
def step(self):
    seen = vars(self).setdefault("seen", [])
    if not seen or seen[-1] != self.tempo:
        seen.append(self.tempo)
        if self.tempo == 90:
            pathlib.Path("tuning.yaml").write_text("traits: { synth.player: [ { Set: { tempo: 70 } } ] }")
        if self.tempo == 70: print(seen); sys.exit(0)
"""
    own = """    def step(self) -> None:
        print(f"{self.tempo:g} bpm", flush=True)
        self.clock.wait(60 / self.tempo)
"""
    assert own in sample
    done = script(setup + sample.replace(own, "    step = step\n"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[90.0, 70.0]\n"


def samples() -> list[str]:
    found = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    return [each for each in found[1:] if "import invivo" in each]


@pytest.mark.parametrize("number", range(len(samples())))
def test_the_other_samples_of_the_readme_do_what_they_say(script, number: int) -> None:
    done = script(samples()[number])
    assert done.returncode == 0, done.stderr
