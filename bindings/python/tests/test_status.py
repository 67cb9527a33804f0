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
            # The pin, and that by which this thread has entered it.
            assert {each.generation for each in status.pins} == {runtime.generation - 1}
            assert "test_status.py:" in status.pins[0].place
            assert status.pins[0].age >= 0
            assert [(each.generation, each.objects) for each in status.former] == [(runtime.generation - 1, 1)]
        assert runtime.status.pins == ()
        assert runtime.status.kept == (invivo.Kept("a.recorder", "a.disk", runtime.generation),)
