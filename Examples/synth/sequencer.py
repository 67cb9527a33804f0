"""The sequencer: a Python component. It chooses the notes; its tempo is a trait."""

import itertools
import threading
import time

import invivo

NOTES = [57, 60, 64, 69, 67, 64, 60, 64, 53, 57, 60, 65, 64, 60, 57, 60]


def frequency(note: int) -> float:
    """Of a MIDI note, in Hz."""
    return 440.0 * 2 ** ((note - 69) / 12)


@invivo.component
class Sequencer:
    tempo: float = invivo.tunable(120.0, min=30, max=3000, unit="bpm", text="steps a minute")

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
            for note in itertools.cycle(NOTES):
                self.lead.play(frequency(note))  # the oscillator is a C object
                log.write(f"{time.monotonic_ns()},{frequency(note)}\n")
                log.flush()
                if self.ending.wait(60 / self.tempo):
                    return
