"""A typical Python program: program.py TOOLCHAIN MODULE. It must not need the Swift toolchain."""

import os
import sys
import tempfile
import time
from pathlib import Path

import invivo

toolchain, module = sys.argv[1:]


class Lead:
    gain: float = invivo.tunable(1, min=0, max=2)


def save(path: Path, gain: float) -> None:
    """Saves like an editor: a new file, renamed over the old one."""
    beside = path.with_suffix(".new")
    beside.write_text(f"traits:\n  synth.lead:\n    - Set: {{ gain: {gain} }}\n")
    os.replace(beside, path)


app = invivo.Assembly("synth")
app.lazy_singleton(Lead)

with tempfile.TemporaryDirectory() as directory:
    tuning = Path(directory) / "tuning.yaml"
    save(tuning, 0.5)
    with invivo.Runtime(app, watch=str(tuning)) as runtime:
        lead = runtime[Lead]
        assert lead.gain == 0.5, lead.gain
        save(tuning, 0.25)
        deadline = time.monotonic() + 30
        while lead.gain != 0.25 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert lead.gain == 0.25, lead.gain
        print(f"the edit is live: gain {lead.gain}")
        runtime.load_module(module)

mapped = {line.split(None, 5)[5].strip() for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line}
assert not [path for path in mapped if path.startswith(toolchain)], mapped
libraries = [path for path in mapped if "libinvivo" in path]
assert len(libraries) == 1 and libraries[0].startswith(sys.prefix), libraries
print("ok")
