"""The time to import the package in a new process; beside asyncio, and the peers that are installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

CODE = "import time; begun = time.perf_counter(); import {}; print(time.perf_counter() - begun)"


def imported(module: str, environment: dict[str, str], rounds: int) -> float | None:
    """Returns the shortest time of an import in milliseconds; None if the module is not there."""
    found = []
    for number in range(rounds + 1):
        command = [sys.executable, "-c", CODE.format(module)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            return None
        if number:  # the first import compiles the modules
            found.append(float(done.stdout) * 1e3)
    return min(found)


def main() -> None:
    import bench

    rounds = 5 if bench.QUICK else 20
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        ours, floor = (imported(name, environment, rounds) for name in ("invivo", "asyncio"))
        assert ours is not None
        assert floor is not None
        bench.row("python.import", ours, "ms", "import asyncio", floor, "<= 2.2 times", ours <= 2.2 * floor)
        for name in ("dependency_injector.containers, dependency_injector.providers", "dishka", "wireup", "pydantic"):
            value = imported(name, environment, rounds)
            if value is not None:
                peer = name.partition(".")[0].replace("_", "-")
                bench.row(f"python.import.{peer}", value, "ms", "ours", ours, "recorded")
