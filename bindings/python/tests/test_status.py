"""The status of a runtime."""

from __future__ import annotations

import invivo
from invivo import Runtime


class Disk:
    pass


class Recorder:
    disk: Disk = invivo.injected(on_change="keep")


def test_a_status_says_what_is_open() -> None:
    with Runtime() as runtime:
        runtime.define(Disk, "a.disk", "singleton")
        runtime.define(Recorder, "a.recorder", "singleton")
        assert runtime[Recorder].disk is runtime[Disk]
        status = runtime.status
        assert (status.generation, status.running, status.waiting_sets) == (runtime.generation, None, 0)
        assert (status.diverged, status.kept, status.unrestored, status.former, status.pins) == ((), (), (), (), ())
        with runtime.pinned():
            runtime.define(Disk, "a.disk", "singleton", options=invivo.options(rank=1))
            status = runtime.status
            (pin,) = status.pins
            assert pin.generation == runtime.generation - 1
            assert "test_status.py:" in pin.place
            assert pin.age >= 0
            assert [(each.generation, each.objects) for each in status.former] == [(runtime.generation - 1, 1)]
        assert runtime.status.pins == ()
        assert runtime.status.kept == (invivo.Kept("a.recorder", "a.disk", runtime.generation),)


class Device:
    number: int = invivo.tunable(1)
    rate: int = invivo.tunable(1, restart=True)


def test_changes_that_wait_for_a_restart() -> None:
    with Runtime() as runtime:
        restart = invivo.options(restart=True)
        runtime.define(Device, "a.device", "singleton", number=1, options=restart)
        device = runtime["a.device"]
        assert runtime.status.restart == ()
        runtime.define(Device, "a.device", "singleton", number=2, options=restart)
        assert runtime["a.device"] is device
        assert device.number == 1
        assert runtime.status.restart == (invivo.PendingRestart("a.device", "", runtime.generation),)
        first = runtime.generation
        with runtime.changes() as changes:
            changes.document("a.yaml", "traits: { a.device: [Set: { rate: 5 }] }")
        assert device.rate == 1
        assert runtime.status.restart == (
            invivo.PendingRestart("a.device", "", first),
            invivo.PendingRestart("a.device", "rate", runtime.generation),
        )
        runtime.reset("a.device")
        assert runtime.status.restart == ()
        new = runtime["a.device"]
        assert new is not device
        assert (new.number, new.rate) == (2, 5)
