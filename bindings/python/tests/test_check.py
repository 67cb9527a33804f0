"""What a check of the wiring finds, without making anything."""

from __future__ import annotations

import invivo
import pytest


class Clock:
    def __init__(self) -> None:
        raise AssertionError("a check makes nothing")


class Player:
    def __init__(self, clock: Clock) -> None:
        raise AssertionError("a check makes nothing")


class Show:
    def __init__(self, player: Player) -> None:
        raise AssertionError("a check makes nothing")


def test_a_check_tells_the_rule_and_who_needs_what_is_wrong_and_leaves_the_set_open() -> None:
    with invivo.Runtime() as runtime:
        changes = runtime.changes()
        changes.define(Show, "app.show", scope="graph")
        changes.define(Player, "app.player")
        with pytest.raises(invivo.Error) as found:
            changes.check()
        missing = [error for error in found.value.errors if error.rule == "wiring.missing"]
        assert [(error.path, error.needed_by) for error in missing] == [("app.player.clock", "app.show")]
        assert "(needed by app.show)" in str(missing[0])
        changes.define(Clock, "app.clock")
        changes.check()
        changes.commit()
