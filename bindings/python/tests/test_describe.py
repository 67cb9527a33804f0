from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Protocol

import pytest

import invivo
from invivo import _generated as c
from invivo._classes.callables import call, parameters_of
from invivo._classes.classes import describe
from invivo._classes.hints import hint_of


class Wave(enum.Enum):
    SAW = "saw"
    SINE = "sine"


class Clock: ...


class Player:
    """Plays.

    And more.
    """

    count: ClassVar[int] = 0
    tempo: float = invivo.tunable(120, min=30, max=300, unit="bpm", text="how fast", was="speed")
    wave: Wave = invivo.tunable(Wave.SAW, restart=True)
    mode: str = invivo.tunable("soft", choices=["soft", "hard"])
    name: str
    serial: Final[int] = 7
    _hidden: int = 0

    def __init__(self, clock: Clock, gain: float = 1.0, *, label: str = "x") -> None:
        self.clock, self.gain, self.label = clock, gain, label

    @property
    def level(self) -> float:
        return 0.5

    def play(self, note: int, length: float = 1.0) -> bool:
        """Plays a note."""
        return True

    def unannotated(self, x): ...

    @invivo.method
    def marked(self, x): ...

    @staticmethod
    def static(x: int) -> int:
        return x

    def _private(self) -> None: ...

    @invivo.on_start
    def begin(self) -> None: ...

    @invivo.on_stop
    def end(self) -> None: ...


@pytest.fixture
def player():
    return describe(Player)


def test_a_tunable_leaves_a_plain_attribute_behind() -> None:
    assert Player.tempo == 120
    assert type(Player.__dict__["tempo"]) is int
    one = Player(Clock())
    one.tempo = 90
    assert vars(one)["tempo"] == 90


def test_annotated_attributes_and_properties_are_properties(player) -> None:
    kinds = {each.name: (each.hint.kind, each.read_only) for each in player.properties}
    assert kinds == {
        "tempo": (c.INVIVO_KIND_DOUBLE, False),
        "wave": (c.INVIVO_KIND_INT64, False),
        "mode": (c.INVIVO_KIND_INT64, False),
        "name": (c.INVIVO_KIND_STRING, False),
        "serial": (c.INVIVO_KIND_INT64, True),
        "level": (c.INVIVO_KIND_DOUBLE, True),
    }


def test_public_annotated_and_marked_methods_are_methods(player) -> None:
    assert [each.name for each in player.methods] == ["play", "marked"]
    assert player.methods[0].text == "Plays a note."
    assert [(p.name, p.optional) for p in player.methods[0].parameters] == [("note", False), ("length", True)]
    assert (player.start, player.stop) == ("begin", "end")


def test_the_constructor_is_read_from_annotations(player) -> None:
    clock, gain, label = player.parameters
    assert (clock.hint.kind, clock.hint.wanted, clock.optional) == (c.INVIVO_KIND_OBJECT, Clock, False)
    assert (gain.hint.kind, gain.optional) == (c.INVIVO_KIND_DOUBLE, True)
    assert label.keyword
    assert player.text == "Plays."


def test_a_subclass_has_what_its_bases_have() -> None:
    class Lead(Player):
        gain: float = invivo.tunable(0.5, max=1)

    names = [each.name for each in describe(Lead).properties]
    assert "tempo" in names
    assert "gain" in names
    assert describe(Lead).supertypes == (Player,)


def test_a_dataclass_is_read_by_its_fields() -> None:
    @dataclasses.dataclass
    class Voice:
        note: int
        gain: float = invivo.tunable(0.5)

    assert [each.name for each in describe(Voice).parameters] == ["note", "gain"]
    assert Voice(3) == Voice(3, 0.5)


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (bool, c.INVIVO_KIND_BOOL),
        (int, c.INVIVO_KIND_INT64),
        (float, c.INVIVO_KIND_DOUBLE),
        (str, c.INVIVO_KIND_STRING),
        (bytes, c.INVIVO_KIND_BYTES),
        (None, c.INVIVO_KIND_NULL),
        (list[int], c.INVIVO_KIND_LIST),
        (Sequence[int], c.INVIVO_KIND_LIST),
        (tuple[int, ...], c.INVIVO_KIND_LIST),
        (dict[str, int], c.INVIVO_KIND_MAP),
        (Mapping[str, Any], c.INVIVO_KIND_MAP),
        (Callable[[int], int], c.INVIVO_KIND_CALLABLE),
        (type[Clock], c.INVIVO_KIND_TYPE),
        (Clock, c.INVIVO_KIND_OBJECT),
        (Any, c.INVIVO_KIND_ANY),
        (int | str, c.INVIVO_KIND_ANY),
        (invivo.UInt8, c.INVIVO_KIND_UINT8),
        (invivo.Float32, c.INVIVO_KIND_FLOAT),
    ],
)
def test_an_annotation_says_the_kind(annotation: Any, kind: int) -> None:
    assert hint_of(annotation).kind == kind


def test_annotated_names_a_key() -> None:
    hint = hint_of(Annotated[Clock, "synth.clock"])
    assert (hint.key, hint.wanted) == ("synth.clock", Clock)


def test_an_optional_parameter_keeps_its_kind() -> None:
    def function(clock: Clock | None, wave: Wave | None = None) -> None: ...

    clock, wave = parameters_of(function, bound=False)
    assert (clock.hint.kind, clock.optional) == (c.INVIVO_KIND_OBJECT, True)
    assert wave.hint.decode(None) is None
    assert wave.hint.decode("SINE") is Wave.SINE


@pytest.mark.parametrize("crossed", [Wave.SINE, "SINE", 1, invivo.Enumeration(1, "SINE"), invivo.Enumeration(1)])
def test_an_enum_is_known_by_member_name_and_number(crossed: Any) -> None:
    assert hint_of(Wave).decode(crossed) is Wave.SINE


@pytest.mark.parametrize("crossed", ["SQUARE", 7, invivo.Enumeration(0, "SQUARE")])
def test_an_enum_refuses_what_it_has_no_member_for(crossed: Any) -> None:
    with pytest.raises(invivo.RangeError, match="SAW, SINE"):
        hint_of(Wave).decode(crossed)


def test_none_for_a_parameter_that_is_not_given_means_the_default() -> None:
    def function(a: int, b: int = 2, *, c: int = 3, d: int = 4) -> tuple[int, ...]:
        return a, b, c, d

    parameters = parameters_of(function, bound=False)
    assert call(function, parameters, [1]) == (1, 2, 3, 4)
    assert call(function, parameters, [1, None, None, 9], given=0b1001) == (1, 2, 3, 9)
    assert call(function, parameters, [1, None, None, 9], given=0b1011) == (1, None, 3, 9)
    assert call(function, parameters, [1, None, None, 9]) == (1, None, None, 9)


def test_choices_are_kept_by_name() -> None:
    mode = describe(Player).tunables["mode"]
    one = Player(Clock())
    mode.write(one, invivo.Enumeration(1, "hard"))
    assert one.mode == "hard"
    assert mode.read(one) == 1
    assert mode.read(one).name == "hard"
    with pytest.raises(ValueError, match="soft, hard"):
        mode.write(one, "loud")


def test_a_tunable_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(invivo.ArgumentError, match="min"):
        invivo.tunable(1, min=2, max=1)
    with pytest.raises(invivo.ArgumentError, match="choices"):
        invivo.tunable("a", choices=["b"])


def test_an_annotation_that_cannot_be_resolved_does_not_stop_the_rest() -> None:
    class Odd:
        good: int
        bad: Nowhere  # type: ignore[name-defined]  # noqa: F821

    assert {each.name: each.hint.kind for each in describe(Odd).properties} == {
        "good": c.INVIVO_KIND_INT64,
        "bad": c.INVIVO_KIND_ANY,
    }


def test_a_protocol_is_wanted_as_an_object_of_any_class() -> None:
    class Tuned(Protocol):
        gain: float

    hint = hint_of(Tuned)
    assert hint.kind == c.INVIVO_KIND_OBJECT
