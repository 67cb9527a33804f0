"""Draws the output: waveform, level and notes, with marks for reloads.

python3 plot.py output/synth        reads synth.wav and synth.csv, synth.reloads.csv, synth.notes.csv; writes synth.png
"""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

RATE, FRAMES, HEADER = 48000, 64, 44


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    base = Path(sys.argv[1])
    sound = np.fromfile(base.with_suffix(".wav"), dtype="<f4", offset=HEADER)
    buffers = rows(base.with_suffix(".csv"))
    reloads = rows(base.with_suffix(".reloads.csv"))
    began = np.array([int(row["began_ns"]) for row in buffers], dtype=np.int64)
    level = np.array([float(row["level"]) for row in buffers])
    source = np.array([float(row["source"]) for row in buffers])
    at = np.arange(len(buffers)) * FRAMES / RATE

    notes = rows(base.with_suffix(".notes.csv"))

    figure, (wave, levels, pitch) = plt.subplots(3, 1, figsize=(14, 9), sharex=True, layout="constrained")
    wave.plot(np.arange(len(sound)) / RATE, sound, linewidth=0.3, color="#2b6cb0")
    wave.set(ylabel="sample", title=f"{len(sound)} samples, {len(reloads)} reloads")
    levels.plot(at, source, linewidth=1, color="#a0aec0", label="peak of a buffer, before the filter")
    levels.plot(at, level, linewidth=0.8, color="#2f855a", label="after it")
    levels.set(ylabel="level")
    levels.legend(loc="upper center")
    start = np.searchsorted(began, [int(row["at_ns"]) for row in notes])
    pitch.plot(start * FRAMES / RATE, [float(row["hertz"]) for row in notes], ".", markersize=3, color="#c05621")
    pitch.set(ylabel="note, Hz", xlabel="seconds", yscale="log")
    top = levels.get_xaxis_transform()
    for reload in reloads:
        place = int(np.searchsorted(began, int(reload["applied_ns"])))
        if place >= len(at):
            continue
        committed = reload["status"] == "0"
        colour = "#c53030" if not committed else "#805ad5"
        for axis in (wave, levels, pitch):
            axis.axvline(at[place], color=colour, linewidth=0.8, linestyle="-" if committed else ":")
        text = f" {reload['generation']}" if committed else " refused"
        levels.text(at[place], 0.02, text, color=colour, fontsize=8, rotation=90, transform=top, va="bottom")
    figure.savefig(base.with_suffix(".png"), dpi=100)
    print(base.with_suffix(".png"))


if __name__ == "__main__":
    main()
