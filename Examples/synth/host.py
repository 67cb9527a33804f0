"""The synthesizer with a Python host: the application of app.yaml, controlled by a program.

python3 host.py [seconds]
"""

import os
import sys
import time
from pathlib import Path

import invivo

HERE = Path(__file__).resolve().parent
seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
(HERE / "output").mkdir(exist_ok=True)
os.chdir(HERE / "output")  # the directory of the output

with invivo.App(HERE / "app.yaml") as app, app.runtime.observe(print):
    sequencer = app.runtime["synth.sequencer"]  # the Python object itself
    lead = app.runtime["synth.lead"]  # a C object, through its described members
    print(f"tempo {sequencer.tempo:g}, {lead.wave.name}, gain {lead.gain:g}")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.1)  # edits of tuning.yaml are applied meanwhile
