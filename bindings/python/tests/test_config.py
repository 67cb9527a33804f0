"""The configuration, choices and converters as Python has them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Protocol

import pytest

import invivo


class Voice:
    def __init__(self, count: int, name: str = "?") -> None:
        self.count, self.name = count, name


class Settings:
    limit: int = 0
    colour: str = ""


def says(runtime: invivo.Runtime, text: str | None, name: str = "a.yaml") -> None:
    with runtime.changes() as changes:
        changes.document(name, text)


class Reader:
    def __init__(self, read: invivo.Provider[int]) -> None:
        self.read = read


class Synth(invivo.Assembly):
    @invivo.singleton
    def voice(self) -> Voice:
        return invivo.new(Voice, invivo.config("voices"), name=invivo.config("name", "lead"))

    @invivo.singleton
    def settings(self) -> Settings:
        settings = invivo.new(Settings)
        settings.limit = invivo.config("limit")
        return settings

    @invivo.prototype
    def reader(self) -> Reader:
        return invivo.new(Reader, invivo.provider(invivo.config("limit")))


def test_what_was_made_with_a_value_is_made_anew_and_what_has_it_as_an_attribute_keeps_its_identity() -> None:
    synth = Synth()
    with invivo.Runtime() as runtime:
        says(runtime, "config: { synth: { voices: 8, limit: 3 } }")
        runtime.activate(synth)
        voice, settings, reader = synth.voice(), synth.settings(), synth.reader()
        assert (voice.count, voice.name, settings.limit, reader.read()) == (8, "lead", 3, 3)
        says(runtime, "config: { synth: { voices: 8, limit: 4 } }")
        assert synth.voice() is voice
        assert synth.settings() is settings
        assert (settings.limit, reader.read()) == (4, 4)
        says(runtime, "config: { synth: { voices: 9, limit: 4, name: bass } }")
        assert synth.voice() is not voice
        assert (synth.voice().count, synth.voice().name) == (9, "bass")


def test_a_mount_is_configured_by_its_prefix() -> None:
    left, right = Synth(), Synth()
    with invivo.Runtime() as runtime:
        says(runtime, "config: { global: { voices: 1, limit: 2 }, left: { voices: 3 } }")
        runtime.mount(left, "left")
        runtime.mount(right, "right")
        assert (left.voice().count, right.voice().count, left.settings().limit) == (3, 1, 2)
        runtime.configure("right.voices", 4)
        assert (left.voice().count, right.voice().count) == (3, 4)
        # What the assembly that is mounted has, for all of its mounts.
        runtime.unconfigure("right.voices")
        says(runtime, "config: { global: { voices: 1, limit: 2 }, synth: { voices: 7 }, left: { voices: 3 } }")
        assert (left.voice().count, right.voice().count) == (3, 7)


def test_missing_and_wrong_values_are_refused_with_their_places() -> None:
    with invivo.Runtime() as runtime:
        with pytest.raises(
            invivo.errors.NotConfiguredError, match=r"looked for 'synth\.voices', then 'global\.voices'"
        ):
            runtime.activate(Synth())
        says(runtime, "config: { global: { voices: 8, limit: 1 } }")
        runtime.activate(Synth())
        with pytest.raises(invivo.Error, match=r"a\.yaml:2:21: config\.global\.voices: .*'synth\.voice'"):
            says(runtime, "config:\n  global: { voices: [], limit: 1 }")
        assert runtime.config("global.voices") == 8


def test_views_read_values_of_one_generation() -> None:
    with invivo.Runtime() as runtime:
        says(runtime, "config: { a: { b: 1, c: { d: [1, 2.5, x, true] } } }")
        with runtime.view() as view:
            assert view.config("a.b") == 1
            assert view.config("a.b", kind=float) == 1.0
            assert view.config("a.c") == {"d": [1, 2.5, "x", True]}
            assert view.config("a.nothing", "default") == "default"
            says(runtime, "config: { a: { b: 2 } }")
            assert view.config("a.b") == 1
            assert view.config("a.c") is not None
        with runtime.view() as view:
            assert view.config("a.b") == 2
            assert view.config("a.c") is None
        with pytest.raises(invivo.Error, match="the host reads it as a double"):
            says(runtime, "config: { a: { b: text } }")
        with pytest.raises(invivo.errors.NotConfiguredError, match=r"did you mean 'a\.b'"):
            runtime.config("a.bb")
        assert runtime.config("a.bb", 7) == 7


def test_a_path_is_observed_and_the_operator_has_the_last_word() -> None:
    heard: list[tuple[Any, int]] = []
    with invivo.Runtime() as runtime:
        with runtime.observe_config("synth", lambda value, generation: heard.append((value, generation))):
            says(runtime, "config: { synth: { voices: 8 }, other: 1 }")
            runtime.configure("synth.voices", 9)
            runtime.configure("other", 2)
            runtime.configure("synth.voices", None)
            runtime.unconfigure("synth")
        runtime.configure("synth.voices", 10)
        generations = [generation for _, generation in heard]
        assert [value for value, _ in heard] == [{"voices": 8}, {"voices": 9}, {}, {"voices": 8}]
        assert generations == sorted(set(generations))


class Quest(Protocol):
    def name(self) -> str: ...


class Dragon:
    def name(self) -> str:
        return "dragon"


class Grail:
    def __init__(self, depth: int = 0) -> None:
        self.depth = depth

    def name(self) -> str:
        return f"grail {self.depth}"


class Knight:
    quest: Any = None


class Camelot(invivo.Assembly):
    @invivo.lazy_singleton
    def dragon(self) -> Dragon:
        return invivo.new(Dragon)

    @invivo.prototype
    def grail(self, depth: int) -> Grail:
        return invivo.new(Grail, depth)

    @invivo.define
    def quest(self) -> Quest:
        return invivo.choice(
            invivo.config("quest", None), {"dragon": self.dragon(), None: self.grail(1), 3: invivo.new(Grail, 3)}
        )

    @invivo.lazy_singleton
    def knight(self) -> Knight:
        knight = invivo.new(Knight)
        knight.quest = self.quest()
        return knight

    @invivo.define
    def by_argument(self, what: Any) -> Quest:
        return invivo.choice(
            what,
            {invivo.exactly(Knight): self.dragon(), Grail: self.grail(5), True: self.dragon()},
            named=True,
            otherwise=self.grail(9),
        )


def test_a_changed_value_chooses_another_definition() -> None:
    camelot = Camelot()
    with invivo.Runtime(camelot) as runtime:
        knight = camelot.knight()
        assert (camelot.quest().name(), knight.quest.name()) == ("grail 1", "grail 1")
        runtime.configure("camelot.quest", "dragon")
        assert camelot.quest() is camelot.dragon()
        assert camelot.knight() is knight
        assert knight.quest is camelot.dragon()
        runtime.configure("camelot.quest", 3.0)
        assert knight.quest.name() == "grail 3"
        with pytest.raises(
            invivo.errors.RangeError, match="no option is for 4; there are options for 'dragon', null, 3"
        ):
            runtime.configure("camelot.quest", 4)
        assert knight.quest.name() == "grail 3"


def test_what_a_choice_chooses_gets_the_arguments_that_are_said_there() -> None:
    class Voice:
        def __init__(self, note: int) -> None:
            self.note = note

    class Other(Voice): ...

    class Voices(invivo.Assembly):
        @invivo.prototype
        def one(self, note: int) -> Voice:
            return invivo.new(Voice, note)

        @invivo.prototype
        def other(self, note: int) -> Voice:
            return invivo.new(Other, note)

        @invivo.define
        def chosen(self, label: str, note: int) -> Voice:
            return invivo.choice(invivo.config("wave"), {"one": self.one(note), "other": self.other(note)})

    with invivo.Runtime() as runtime:
        runtime.configure("voices.wave", "one")
        runtime.activate(voices := Voices())
        assert (type(voices.chosen("first", 3)), voices.chosen("second", 4).note) == (Voice, 4)
        runtime.configure("voices.wave", "other")
        assert (type(voices.chosen("first", 3)), voices.chosen("second", 4).note) == (Other, 4)


def test_an_argument_chooses_by_class_name_and_value() -> None:
    camelot = Camelot()
    with invivo.Runtime(camelot):
        knight = camelot.knight()
        assert camelot.by_argument(knight) is camelot.dragon()
        assert camelot.by_argument(camelot.grail(0)).name() == "grail 5"
        assert camelot.by_argument(True) is camelot.dragon()
        assert camelot.by_argument("dragon") is camelot.dragon()
        assert camelot.by_argument(7).name() == "grail 9"
        with pytest.raises(invivo.errors.NotFoundError, match="did you mean"):
            camelot.by_argument("dragn")


class Colour:
    def __init__(self, bits: int) -> None:
        self.bits = bits


class Lamp:
    def __init__(self, colour: Colour, wait: float = 0) -> None:
        self.colour, self.wait = colour, wait


class Room(invivo.Assembly):
    @invivo.singleton
    def lamp(self) -> Lamp:
        return invivo.new(Lamp, invivo.config("colour"), invivo.text(invivo.config("wait"), "duration"))

    @invivo.prototype
    def other(self) -> Lamp:
        return invivo.new(Lamp, invivo.text("00ff00"), 0)


def test_texts_are_read_by_the_hosts_own_converter() -> None:
    def read(text: str) -> Colour:
        if len(text) != 6:
            raise ValueError("six digits make a colour")
        return Colour(int(text, 16))

    room = Room()
    with invivo.Runtime() as runtime:
        runtime.converter(Colour, read)
        with pytest.raises(invivo.errors.ExistsError):
            runtime.converter(Colour, read)
        says(runtime, "config: { room: { colour: 0000ff, wait: 1 min } }")
        runtime.activate(room)
        assert (room.lamp().colour.bits, room.lamp().wait, room.other().colour.bits) == (255, 60, 0xFF00)
        with pytest.raises(invivo.Error, match=r"a\.yaml:1:27: config\.room\.colour: .*six digits make a colour"):
            says(runtime, "config: { room: { colour: red, wait: 1 min } }")
        assert runtime.convert("bytes", "4 KiB") == 4096
        with pytest.raises(invivo.errors.ConversionError, match="at character 3 of '4 parsecs'"):
            runtime.convert("bytes", "4 parsecs")
        runtime.remove_converter(Colour)
        with pytest.raises(invivo.errors.NotFoundError):
            runtime.convert(Colour, "0000ff")


# ---- merging against a model -------------------------------------------------------------------------------


def _merged(earlier: Any, later: Any) -> Any:
    """The rule, as simply as it can be said."""
    if not isinstance(later, dict):
        return later
    result = dict(earlier) if isinstance(earlier, dict) else {}
    for name, value in later.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = _merged(result.get(name), value)
    return result


def _random_value(dice: random.Random, depth: int) -> Any:
    kind = dice.randrange(6 if depth < 3 else 3)
    if kind == 0:
        return None
    if kind == 1:
        return dice.randrange(4)
    if kind == 2:
        return [dice.randrange(3) for _ in range(dice.randrange(3))]
    return {dice.choice("abc"): _random_value(dice, depth + 1) for _ in range(dice.randrange(4))}


@pytest.mark.parametrize("seed", range(40))
def test_merging_is_what_a_simple_model_says(seed: int) -> None:
    dice = random.Random(seed)
    documents: dict[str, Any] = {}  # in the order in which they were opened
    operators: list[tuple[str, Any]] = []
    with invivo.Runtime() as runtime:
        for _ in range(30):
            if dice.random() < 0.7:
                name = f"{dice.choice('xyz')}.json"
                value = {dice.choice("abc"): _random_value(dice, 1) for _ in range(3)}
                if dice.random() < 0.2 and name in documents:
                    del documents[name]
                    says(runtime, None, name)
                else:
                    documents[name] = value
                    says(runtime, json.dumps({"config": value}), name)
            else:
                path = ".".join(dice.choice("abc") for _ in range(dice.randrange(1, 4)))
                if dice.random() < 0.3:
                    operators = [each for each in operators if not f"{each[0]}.".startswith(f"{path}.")]
                    runtime.unconfigure(path)
                else:
                    value = _random_value(dice, 1)
                    operators = [each for each in operators if each[0] != path] + [(path, value)]
                    runtime.configure(path, value)
            expected: Any = {}
            for value in documents.values():
                expected = _merged(expected, value)
            for path, value in operators:
                said = value
                for name in reversed(path.split(".")):
                    said = {name: said}
                expected = _merged(expected, said)
            assert runtime.config("") == expected, f"seed {seed}"
            with runtime.view() as view:
                for name in "abc":
                    assert view.config(name) == expected.get(name), f"seed {seed}"


def test_a_change_set_depends_on_the_generation_that_it_was_written_for() -> None:
    with invivo.Runtime() as runtime:
        runtime.configure("number", 1)
        first = runtime.generation
        with runtime.changes() as changes:
            changes.expect(first)
            changes.configure("number", 2)
        late = runtime.changes()
        late.expect(first)
        late.configure("number", 3)
        with pytest.raises(
            invivo.StaleError, match=rf"expects generation {first}, but generation {first + 1} is current"
        ):
            late.commit()
        assert runtime.config("number") == 2
        with pytest.raises(invivo.ArgumentError, match="-1, which is no number of a generation"):
            runtime.changes().expect(-1)


def test_the_last_reports_are_kept_with_the_locations_of_their_changes(tmp_path: Path) -> None:
    document = tmp_path / "a.yaml"
    document.write_text("config:\n  number: 1\n")
    with invivo.Runtime() as runtime:
        assert runtime.reports == []
        runtime.watch(document)
        with pytest.raises(invivo.Error), runtime.changes() as changes:
            changes.document("b.yaml", "config: [")
        runtime.configure("number", 2)
        first, failed, last = runtime.reports
        assert [change.location for change in first.changes] == [f"{document}:2:11"]
        assert failed.error is not None
        assert not failed.committed
        assert [(change.key, change.location) for change in last.changes] == [("number", "")]
        for number in range(100):
            runtime.configure("number", number + 10)
        assert len(runtime.reports) == 64
        assert runtime.reports[-1].generation == runtime.generation
        assert runtime.reports[-1].omitted == 0
