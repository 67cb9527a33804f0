"""What a host of another language runs in the Python that it embeds: joins the host's runtime by its token."""

import gc

import driver
import invivo
import probe

runtime = None


def begin(token: int) -> None:
    """Joins, and adds the probe of Python to those that the host has loaded."""
    global runtime
    runtime = invivo.attach(token)
    runtime.type(probe.Probe)


def drive() -> None:
    if not driver.drive_all(runtime):
        raise SystemExit("Python's side of the pairs does not hold")


def end() -> None:
    """Gives back what Python holds of the runtime, which stays open: it is the host's to close."""
    global runtime
    runtime.close()
    runtime = None
    gc.collect()
