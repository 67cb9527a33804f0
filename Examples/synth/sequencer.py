"""The sequencer: a Python component. A melody chooses its notes, a trait its tempo, a setting their transposition."""

import dataclasses
import itertools
import threading
import time

import invivo

NOTES = [57, 60, 64, 69, 67, 64, 60, 64, 53, 57, 60, 65, 64, 60, 57, 60]


@invivo.settings_type
@dataclasses.dataclass(frozen=True)
class Studio:
    """The section `synth` of the configuration."""

    title: str
    transpose: int = 0  # semitones

    def __post_init__(self) -> None:
        if abs(self.transpose) > 24:
            raise ValueError(f"transpose is {self.transpose}, and at most two octaves are allowed")


class Melody:
    """Chooses notes. `walk.c` has another implementation."""

    def next(self) -> int:
        raise NotImplementedError


@invivo.component
class Arpeggio(Melody):
    def __init__(self) -> None:
        self.notes = itertools.cycle(NOTES)

    def next(self) -> int:
        return next(self.notes)


def frequency(note: int) -> float:
    """Of a MIDI note, in Hz."""
    return 440.0 * 2 ** ((note - 69) / 12)


@invivo.component
class Sequencer:
    tempo: float = invivo.tunable(120.0, min=30, max=3000, unit="bpm", text="steps a minute")

    # Both are set again while the sequencer plays: the melody by `wiring:`, the settings by `config:`.
    melody: Melody
    studio: Studio

    def __init__(self, lead: invivo.Object) -> None:
        self.lead = lead
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.play, name="sequencer")

    @invivo.on_start
    def start(self) -> None:
        self.thread.start()

    @invivo.on_stop
    def stop(self) -> None:
        self.ending.set()
        self.thread.join()

    def play(self) -> None:
        with open("synth.notes.csv", "w", encoding="utf-8") as log:
            log.write("at_ns,hertz\n")
            while True:
                note = self.melody.next() + self.studio.transpose
                self.lead.play(frequency(note))  # the oscillator is a C object
                log.write(f"{time.monotonic_ns()},{frequency(note)}\n")
                log.flush()
                if self.ending.wait(60 / self.tempo):
                    return
