"""Runs in the Python that a host embeds: attaches to the host's runtime by its token."""

import gc

import driver
import invivo
import probe

runtime = None


def begin(token: int) -> None:
    """Attaches, and adds the Python probe to those that the host has loaded."""
    global runtime
    runtime = invivo.attach(token)
    runtime.type(probe.Probe)


def drive() -> None:
    if not driver.drive_all(runtime):
        raise SystemExit("Python's side of the pairs does not hold")


def end() -> None:
    """Releases the Python objects of the runtime, which stays open until the host closes it."""
    global runtime
    runtime.close()
    runtime = None
    gc.collect()
