"""Runs the example unattended: edits its files like an editor, and checks the output.

    tour.py TOOL     TOOL is the `invivo` program; the modules are built

One line per step, `tour: <step>: ok, <figure>`. A failing step ends the tour with exit status 1. No step waits for a
fixed time: each waits for its result, with a generous limit.
"""

import csv
import math
import os
import queue
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT = 60.0  # seconds; a loaded machine needs a fraction of one
FRAMES, HEADER, PERIOD_MS = 64, 44, 64 / 48

LEAD = "  synth.lead:\n    - Set: {{ wave: {wave}{gain} }}\n"
REST = "  synth.filter:\n    - Set: {{ cutoff: {cutoff} }}\n  synth.sequencer:\n    - Set: {{ tempo: {tempo} }}\n"


class Failed(Exception):
    pass


def need(condition: bool, what: str) -> None:
    if not condition:
        raise Failed(what)


def spec(
    wave: str = "square",
    gain: float | None = None,
    cutoff: str = "1.2 kHz",
    tempo: int = 240,
    resonance: float | None = None,
    melody: str | None = None,
    **studio: object,
) -> str:
    lead = LEAD.format(wave=wave, gain="" if gain is None else f", gain: {gain}")
    rest = REST.format(cutoff=cutoff + ("" if resonance is None else f", resonance: {resonance}"), tempo=tempo)
    wiring = "" if melody is None else f"wiring:\n  synth.melody: {{ alias: {melody} }}\n"
    values = ", ".join(f"{name}: {value}" for name, value in studio.items())
    return "traits:\n" + lead + rest + wiring + (f"config:\n  synth: {{ {values} }}\n" if studio else "")


class Player:
    """The running program, and its output."""

    def __init__(self, tool: str, folder: Path) -> None:
        self.folder = folder
        self.tuning = folder / "tuning.yaml"
        self.said: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.process = subprocess.Popen(
            [tool, "run", "app.yaml"], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            print(f"    {line.rstrip()}", flush=True)
            self.said.put(line.rstrip())
        self.said.put(None)

    def hears(self, *texts: str) -> str:
        """Waits for a line with one of these texts in it."""
        end = time.monotonic() + LIMIT
        while True:
            try:
                line = self.said.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise Failed(f"the program did not say {texts[0]!r} within {LIMIT:g} s") from None
            need(line is not None, f"the program ended before it said {texts[0]!r}")
            assert line is not None
            if any(text in line for text in texts):
                return line

    def table(self, suffix: str) -> list[dict[str, str]]:
        with (self.folder / f"synth{suffix}").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        # The program may be writing the last line at this moment.
        return [row for row in rows if None not in row.values() and None not in row][:-1] if suffix == ".csv" else rows

    def wait(self, what: str, condition):  # type: ignore[no-untyped-def]
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        raise Failed(f"{what}: not seen within {LIMIT:g} s")

    def applied(self, generation: int) -> dict[str, str]:
        def find() -> dict[str, str] | None:
            rows = [row for row in self.table(".reloads.csv") if row["total_ms"]]
            return next((row for row in rows if int(row["generation"]) == generation and row["status"] == "0"), None)

        return self.wait(f"generation {generation} in synth.reloads.csv", find)

    def buffers_of(self, generation: int, least: int = 40) -> list[dict[str, str]]:
        def find() -> list[dict[str, str]]:
            rows = [row for row in self.table(".csv") if int(row["generation"]) == generation]
            return rows if len(rows) >= least else []

        return self.wait(f"buffers of generation {generation}", find)

    def heard_at_once(self, generation: int) -> float:
        """Each buffer after the reload belongs to its generation. Returns the milliseconds to the first one."""
        at = int(self.applied(generation)["applied_ns"])
        buffers = self.buffers_of(generation)
        later = [row for row in self.table(".csv") if int(row["began_ns"]) >= at]
        stale = [row["buffer"] for row in later if int(row["generation"]) < generation]
        need(not stale, f"buffers {stale[:5]} began after generation {generation} was applied and do not know of it")
        return (int(buffers[0]["began_ns"]) - at) / 1e6


def generation_of(line: str) -> int:
    return int(line.split("generation ")[1].split()[0].strip(":,;"))


def in_place(path: Path, text: str) -> None:
    with path.open("r+", encoding="utf-8") as file:
        file.write(text)
        file.truncate()


def rename_save(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


def backup_save(path: Path, text: str) -> None:
    os.replace(path, path.with_name(f"{path.name}~"))
    path.write_text(text, encoding="utf-8")


class Tour:
    def __init__(self, tool: str, folder: Path) -> None:
        self.folder = folder
        self.player = Player(tool, folder)
        self.generation = 0

    def edit(self, save, text: str) -> float:  # type: ignore[no-untyped-def]
        """Saves, waits for the reload, and returns its milliseconds."""
        save(self.player.tuning, text)
        line = self.player.hears("tuned", "rebuilt", "reinjected", "not applied")
        if (
            save is backup_save and "not applied" in line
        ):  # the file is missing for a moment, and a slow machine may report it
            line = self.player.hears("tuned", "rebuilt", "reinjected")
        need("not applied" not in line, f"the edit was refused: {line}")
        self.generation = generation_of(line)
        return float(self.player.applied(self.generation)["total_ms"])

    def source(self) -> float:
        """The peak before the filter, equal in every buffer of the generation: for a square wave it is the gain."""
        peaks = {row["source"] for row in self.player.buffers_of(self.generation)}
        need(len(peaks) == 1, f"generation {self.generation} has several levels: {sorted(peaks)[:5]}")
        return float(peaks.pop())

    def notes(self, least: int = 12) -> list[tuple[int, int]]:
        """The notes after the last reload: their times, and their MIDI numbers. The first may still be a former one."""
        at = int(self.player.applied(self.generation)["applied_ns"])

        def find() -> list[tuple[int, int]]:
            rows = [row for row in self.player.table(".notes.csv") if int(row["at_ns"]) > at]
            found = [(int(row["at_ns"]), round(69 + 12 * math.log2(float(row["hertz"]) / 440))) for row in rows]
            return found[1:] if len(found) > least else []

        return self.player.wait("notes", find)

    # ---- the steps, in order ----

    def start(self) -> str:
        self.generation = generation_of(self.player.hears("running"))
        count = len(self.player.buffers_of(self.generation))
        return f"{count} buffers of 64 frames heard, generation {self.generation}"

    def waveform_in_place(self) -> str:
        took = self.edit(in_place, spec("square"))
        self.former = self.source()
        return f"applied {took:.2f} ms after the save, gain {self.former:.9g} without a trait"

    def gain_in_place(self) -> str:
        took = self.edit(in_place, spec(gain=0.75))
        after = self.player.heard_at_once(self.generation)
        need(self.source() == 0.75, f"the level is {self.source()}, not 0.75")
        heard = f"heard {after:.2f} ms later, within one buffer ({PERIOD_MS:.2f} ms and lateness)"
        return f"applied {took:.2f} ms after the save, {heard}"

    def gain_by_rename(self) -> str:
        took = self.edit(rename_save, spec(gain=0.25))
        after = self.player.heard_at_once(self.generation)
        need(self.source() == 0.25, f"the level is {self.source()}, not 0.25")
        return f"applied {took:.2f} ms after the save, heard {after:.2f} ms later"

    def cutoff_by_backup_save(self) -> str:
        before = max(float(row["level"]) for row in self.player.buffers_of(self.generation))
        took = self.edit(backup_save, spec(gain=0.25, cutoff="40 Hz"))
        rows = self.player.buffers_of(self.generation, least=400)[100:]
        after = max(float(row["level"]) for row in rows)
        need(after < before / 2, f"the level was {before:.3f} and is {after:.3f}")
        return f"applied {took:.2f} ms after the save, level {before:.3f} -> {after:.3f}"

    def tempo(self) -> str:
        took = self.edit(in_place, spec(gain=0.25, tempo=1200))
        # The current step still has the former length. A busy machine delays some steps: the shortest ones show the
        # tempo.
        times = [at for at, _ in self.notes()]
        gap = sorted(b - a for a, b in zip(times, times[1:], strict=False))[0] / 1e6
        need(gap < 125, f"a step lasts {gap:.1f} ms, not 50")
        return f"applied {took:.2f} ms after the save, a step lasts {gap:.1f} ms where it was 250"

    def broken(self) -> str:
        good = self.source()
        in_place(self.player.tuning, spec(gain=0.25).replace("gain: 0.25", "gain: 2.5"))
        where = self.player.hears("tuning.yaml:")
        need("tuning.yaml:3:" in where, f"the place is not line 3: {where}")
        line = self.player.hears("stays")
        need(generation_of(line) == self.generation, f"generation {self.generation} should stay: {line}")
        seen = int(self.player.table(".csv")[-1]["buffer"])
        self.player.wait("more buffers", lambda: int(self.player.table(".csv")[-1]["buffer"]) > seen + 40)
        need(self.source() == good, "the refused edit was heard")
        return f"refused at line 3, generation {self.generation} stays and sounds on"

    def half_written(self) -> str:
        in_place(self.player.tuning, "traits:\n  synth.lead:\n    - Set: { gain: 0.3, wave:")
        where = self.player.hears("tuning.yaml:")
        line = self.player.hears("stays")
        need(generation_of(line) == self.generation, f"generation {self.generation} should stay: {line}")
        return f"refused at {where[where.index('tuning.yaml:') :].split(': ')[0]}, generation {self.generation} stays"

    def mended(self) -> str:
        took = self.edit(rename_save, spec(gain=0.5))
        need(self.source() == 0.5, f"the level is {self.source()}, not 0.5")
        return f"applied {took:.2f} ms after the save"

    def trait_removed(self) -> str:
        took = self.edit(in_place, spec())
        now = self.source()
        need(struct.pack("<f", now) == struct.pack("<f", self.former), f"gain was {self.former!r} and is {now!r}")
        return f"applied {took:.2f} ms after the save, gain is exactly {now:.9g} again"

    def inherited(self) -> str:
        """The lead has the traits of another key. An edit of that key reaches it."""
        for gain in (0.375, 0.4375):
            soft = (
                f"traits:\n  .soft:\n    - Set: {{ gain: {gain} }}\n  synth.lead:\n    - Inherit: {{ traits: .soft }}\n"
            )
            took = self.edit(in_place, spec().replace("traits:\n  synth.lead:\n", soft))
            need(self.source() == gain, f"the level is {self.source()}, not {gain}")
        return f"applied {took:.2f} ms after the save of the inherited key"

    def ramp(self) -> str:
        """The cutoff moves for a second, in one generation."""
        self.edit(in_place, spec(gain=0.5, cutoff="40 Hz"))
        self.player.buffers_of(self.generation, least=400)
        took = self.edit(
            in_place, spec(gain=0.5).replace("Set: { cutoff: 1.2 kHz }", "Ramp: { to: { cutoff: 400 Hz }, over: 1 s }")
        )
        rows = self.player.buffers_of(self.generation, least=1050)
        levels = [max(float(row["level"]) for row in rows[at : at + 75]) for at in range(0, 1050, 75)]
        between = [level for level in levels if 1.1 * levels[0] < level < 0.9 * levels[-1]]
        need(levels[0] < levels[-1] / 2 and len(between) > 1, f"the levels are {levels}")
        return f"applied {took:.2f} ms after the save, level {levels[0]:.3f} -> {levels[-1]:.3f} in a second"

    def implementation(self) -> str:
        """The melody in Python is replaced by one in C while the sequencer plays, and comes back."""
        self.edit(in_place, spec(gain=0.5, tempo=1200))
        before = [note for _, note in self.notes()]
        took = self.edit(in_place, spec(gain=0.5, tempo=1200, melody="synth.walk"))
        walk = [note for _, note in self.notes(least=40)]
        need(min(before) > 50 and max(walk) < 45, f"the notes were {before[:8]} and are {walk[:8]}")
        need(self.source() == 0.5, f"the level is {self.source()}, not 0.5")
        self.edit(in_place, spec(gain=0.5, tempo=1200))
        after = [note for _, note in self.notes()]
        need(min(after) > 50, f"the notes are {after[:8]}")
        return f"applied {took:.2f} ms after the save, notes {before[:4]} -> {walk[:4]} -> {after[:4]}"

    def settings(self) -> str:
        """The section `synth` has a type, so a wrong value is refused at its line."""
        in_place(self.player.tuning, spec(gain=0.5, tempo=1200, transpose="high"))
        where = self.player.hears("tuning.yaml:")
        expected = "tuning.yaml:9:23: error: config.synth.transpose: expected a whole number"
        need(expected in where, f"the error is not '{expected}': {where}")
        line = self.player.hears("stays")
        need(generation_of(line) == self.generation, f"generation {self.generation} should stay: {line}")
        before = [note for _, note in self.notes(least=16)]  # the melody has 16 notes
        took = self.edit(in_place, spec(gain=0.5, tempo=1200, transpose=12))
        after = [note for _, note in self.notes(least=40)]
        need(min(after) == min(before) + 12, f"the notes were {before[:8]} and are {after[:8]}")
        return f"refused at line 9, then an octave applied {took:.2f} ms after the save"

    def rule(self) -> str:
        """The rule of session.py; each of the two values alone is in its range."""
        self.edit(in_place, spec(gain=0.8, resonance=0.6))
        in_place(self.player.tuning, spec(gain=0.8, resonance=0.9))
        where = self.player.hears("tuning.yaml:")
        need("tuning.yaml:5:" in where and "'no clipping'" in where, f"the place or the rule is another: {where}")
        line = self.player.hears("stays")
        need(generation_of(line) == self.generation, f"generation {self.generation} should stay: {line}")
        took = self.edit(in_place, spec(gain=0.5, resonance=0.9))
        need(self.source() == 0.5, f"the level is {self.source()}, not 0.5")
        return f"refused at line 5, then both values together applied {took:.2f} ms after the save"

    def rollback(self) -> str:
        """An edit that silences the sound is undone by session.py. The file is not written."""
        silent = spec(gain=0)
        in_place(self.player.tuning, silent)
        asked = self.player.hears("silent, so generation")
        need(generation_of(asked) == self.generation, f"generation {self.generation} should come back: {asked}")
        self.generation = generation_of(self.player.hears("rollback to generation"))
        need(self.source() == 0.5, f"the level is {self.source()}, not 0.5 again")
        need(self.player.tuning.read_text(encoding="utf-8") == silent, "the file was written")
        took = self.edit(in_place, spec(gain=0.25))
        need(self.source() == 0.25, f"the level is {self.source()}, not 0.25")
        return f"gain 0.5 sounds again, the next edit applied {took:.2f} ms after the save"

    def sessions(self) -> str:
        """Three edits create the session again. It continues to count, and afterwards one session notes the reloads."""
        files, log = Path(f"/proc/{self.player.process.pid}/fd"), self.folder / "synth.session.csv"

        def is_open_once() -> bool:
            return sum(file.resolve() == log.resolve() for file in files.iterdir()) == 1

        created = []
        for title in ("one", "two", "three"):
            took = self.edit(in_place, spec(gain=0.25, title=title))
            created.append(self.generation)
            self.player.wait("the end of the former session", is_open_once)
        self.edit(in_place, spec(gain=0.5, title="three"))

        def find() -> list[dict[str, str]]:
            found = self.player.table(".session.csv")
            return found if int(found[-1]["generation"]) == self.generation else []

        rows = self.player.wait("the last reload in synth.session.csv", find)
        # A session that is about to end may note the reload that has replaced it, before or after its successor.
        newest = {int(row["generation"]): row for row in sorted(rows, key=lambda row: int(row["session"]))}
        twice = {number for number in newest if sum(int(row["generation"]) == number for row in rows) > 1}
        need(twice <= set(created), f"reloads are noted twice: {sorted(twice)}")
        edits = [int(newest[number]["edits"]) for number in sorted(newest)]
        need(edits == list(range(1, len(newest) + 1)), f"the count is not continued: {edits}")
        last = [(row["session"], row["title"]) for row in list(newest.values())[-4:]]
        need(last == [("2", "one"), ("3", "two"), ("4", "three"), ("4", "three")], f"the last sessions are {last}")
        return f"applied {took:.2f} ms after the save, session 4 has counted {edits[-1]} reloads"

    def end(self) -> str:
        self.player.process.send_signal(signal.SIGTERM)
        status = self.player.process.wait(LIMIT)
        need(status == 0, f"exit status {status}")
        return f"exit status {status}"

    def every_sample_once(self) -> str:
        with (self.folder / "synth.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        data = (self.folder / "synth.wav").read_bytes()
        need(len(data) == HEADER + len(rows) * FRAMES * 4, f"{len(data)} bytes for {len(rows)} buffers")
        need(struct.unpack_from("<I", data, 40)[0] == len(data) - HEADER, "the header's length is not the file's")
        for index, row in enumerate(rows):
            need(int(row["buffer"]) == index and row["lost"] == "0", f"buffer {index} is missing, doubled or lost")
            total = 0
            for bits in struct.unpack_from(f"<{FRAMES}I", data, HEADER + index * FRAMES * 4):
                total = (total * 31 + bits) & 0xFFFFFFFFFFFFFFFF
            need(total == int(row["sum"]), f"the samples of buffer {index} are not those that were rendered")
        late = sorted(int(row["late_ns"]) for row in rows)
        figures = ", ".join(
            f"{name} {late[int((len(late) - 1) * part)] / 1000:.0f} us"
            for name, part in (("p50", 0.5), ("p99", 0.99), ("most", 1.0))
        )
        return f"{len(rows) * FRAMES} samples in {len(rows)} buffers, each once; lateness {figures}"

    def plot(self) -> str:
        subprocess.run(
            [HERE / ".venv/bin/python", HERE / "plot.py", self.folder / "synth"], check=True, stdout=subprocess.DEVNULL
        )
        picture = self.folder / "synth.png"
        need(picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n", "no PNG was written")
        return str(picture)


STEPS = [
    ("start", Tour.start),
    ("waveform, saved in place", Tour.waveform_in_place),
    ("gain, saved in place", Tour.gain_in_place),
    ("gain, saved by rename", Tour.gain_by_rename),
    ("cutoff, saved with a backup", Tour.cutoff_by_backup_save),
    ("tempo", Tour.tempo),
    ("a value out of range", Tour.broken),
    ("a half-written file", Tour.half_written),
    ("the file mended", Tour.mended),
    ("the trait removed", Tour.trait_removed),
    ("inherited traits", Tour.inherited),
    ("a ramp of the cutoff", Tour.ramp),
    ("an implementation switched by wiring", Tour.implementation),
    ("typed settings", Tour.settings),
    ("a rule refuses an edit", Tour.rule),
    ("a rollback", Tour.rollback),
    ("a component with a setup, created again", Tour.sessions),
    ("end", Tour.end),
    ("every sample once", Tour.every_sample_once),
    ("plot", Tour.plot),
]


def main() -> int:
    # A copy, so that the tree is unchanged; paths in the manifest are relative to it.
    folder = HERE / "output" / "tour"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(HERE / "app.yaml", folder)
    shutil.copy(HERE / "sequencer.py", folder)
    shutil.copy(HERE / "session.py", folder)
    (folder / "build").symlink_to(HERE / "build")
    (folder / "tuning.yaml").write_text(spec("saw"), encoding="utf-8")
    print(f"tour: the sound goes to {folder / 'synth.wav'}", flush=True)
    tour = Tour(sys.argv[1], folder)
    try:
        for name, step in STEPS:
            try:
                print(f"tour: {name}: ok, {step(tour)}", flush=True)
            except Exception as problem:
                print(f"tour: {name}: FAILED, {problem or type(problem).__name__}", flush=True)
                return 1
    finally:
        if tour.player.process.poll() is None:
            tour.player.process.kill()
            tour.player.process.wait()
    print(f"tour: all {len(STEPS)} steps are ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
