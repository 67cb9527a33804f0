"""Typed settings: sections of the configuration as values of annotated types."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import gc
import threading
import weakref
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
import pytest

import invivo


def configured(runtime: invivo.Runtime, text: str, name: str = "a.yaml") -> None:
    with runtime.changes() as changes:
        changes.document(name, text)


@dataclasses.dataclass(frozen=True)
class Audio:
    rate: int
    device: str = "default"
    gains: list[float] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        if self.rate == 13:
            raise ValueError("13 brings bad luck")


class Player:
    def __init__(self, audio: Audio) -> None:
        self.audio = audio


def test_a_section_is_a_value_of_each_generation() -> None:
    with invivo.Runtime() as runtime:
        configured(runtime, "config: { audio: { rate: 8, gains: [1, 2.5] } }")
        runtime.bind_settings(Audio, "audio")
        first = runtime.settings(Audio)
        assert first == Audio(8, gains=[1.0, 2.5])
        assert runtime.settings(Audio) is first
        assert runtime.settings("Audio") is first
        configured(runtime, "config: { video: { rate: 9 } }", "b.yaml")
        assert runtime.settings(Audio) is first
        with runtime.view() as view:
            configured(runtime, "config: { audio: { rate: 9 } }")
            assert view.settings(Audio) is first
        assert runtime.settings(Audio) == Audio(9)


def test_all_errors_are_reported_at_their_lines() -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        configured(runtime, "config: { audio: { rate: 8 } }")
        runtime.bind_settings(Audio, "audio")
        with pytest.raises(invivo.Error) as caught:
            configured(runtime, "config:\n  audio:\n    raet: x\n    device: 7\n    gains: [1, b,\n      c]\n")
        assert str(caught.value).splitlines() == [
            "a.yaml:3:5: config.audio.raet: Audio has no field 'raet'; did you mean 'rate'?",
            "a.yaml:4:13: config.audio.device: expected a string, got 7",
            "a.yaml:5:16: config.audio.gains[1]: expected a number, got 'b'",
            "a.yaml:6:7: config.audio.gains[2]: expected a number, got 'c'",
            "a.yaml:3:5: config.audio.rate: Audio needs 'rate', which is not set",
        ]
        assert runtime.settings(Audio).rate == 8
        with pytest.raises(invivo.ConversionError) as caught:
            configured(runtime, "config:\n  audio:\n    rate: 13\n")
        assert str(caught.value) == "a.yaml:3:5: config.audio: Audio refuses it: ValueError: 13 brings bad luck"
        assert isinstance(caught.value.__cause__, ValueError)


def test_a_missing_section_has_only_defaults() -> None:
    @dataclasses.dataclass
    class Defaults:
        depth: int = 3

    with invivo.Runtime(log_level="silent") as runtime:
        runtime.bind_settings(Defaults, "nothing")
        assert runtime.settings(Defaults) == Defaults()
        with pytest.raises(invivo.NotConfiguredError, match=r"config.audio.rate: Audio needs 'rate', which is not set"):
            runtime.bind_settings(Audio, "audio")
        with pytest.raises(invivo.NotFoundError):
            runtime.settings(Audio)


def test_validation_runs_on_a_thread_of_the_library() -> None:
    threads: list[int] = []

    @dataclasses.dataclass
    class Noted:
        depth: int = 3

        def __post_init__(self) -> None:
            threads.append(threading.get_ident())
            with pytest.raises(invivo.InCallbackError):
                runtime.configure("a", 1)

    with invivo.Runtime() as runtime:
        runtime.bind_settings(Noted, "noted")
        assert threads[0] != threading.get_ident()


def test_many_errors_are_counted() -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        configured(runtime, "config: { numbers: [1] }")
        runtime.bind_settings(list[int], "numbers", name="numbers")
        with pytest.raises(invivo.Error) as caught:
            configured(runtime, f"config: {{ numbers: [{', '.join(['x'] * 5000)}] }}")
        assert len(caught.value.errors) == 100
        assert "and 4901 more errors" in str(caught.value)


# ---- injection and observers -------------------------------------------------------------------------------


def test_a_parameter_with_the_class_receives_the_value() -> None:
    with invivo.Runtime() as runtime:
        configured(runtime, "config: { audio: { rate: 8 } }")
        runtime.bind_settings(Audio, "audio")
        runtime.define(Player, "player", "singleton")
        first = runtime["player"]
        assert first.audio is runtime.settings(Audio)
        configured(runtime, "config: { other: 1 }", "b.yaml")
        assert runtime["player"] is first
        configured(runtime, "config: { audio: { rate: 9 } }")
        assert runtime["player"].audio == Audio(9)
        assert runtime["player"].audio is runtime.settings(Audio)
        with pytest.raises(invivo.Error, match="needs it"):
            runtime.unbind_settings(Audio)
        assert runtime.settings(Audio) == Audio(9)
        runtime.remove("player")
        runtime.unbind_settings(Audio)
        with pytest.raises(invivo.NotFoundError, match="the settings 'Audio' are not bound in generation"):
            runtime.settings(Audio)


def test_a_failed_commit_keeps_the_value() -> None:
    class Fragile:
        def __init__(self, audio: Audio) -> None:
            if audio.rate == 9:
                raise ValueError("nine")
            self.audio = audio

    with invivo.Runtime(log_level="silent") as runtime:
        configured(runtime, "config: { audio: { rate: 8 } }")
        runtime.bind_settings(Audio, "audio")
        runtime.define(Fragile, "fragile", "singleton")
        first = runtime["fragile"]
        with pytest.raises(invivo.HostError):
            configured(runtime, "config: { audio: { rate: 9 } }")
        assert runtime["fragile"] is first
        assert runtime.settings(Audio) is first.audio
        configured(runtime, "config: { audio: { rate: 10 } }")
        assert runtime["fragile"].audio == Audio(10) == runtime.settings(Audio)


def test_pins_and_rollbacks() -> None:
    with invivo.Runtime() as runtime:
        configured(runtime, "config: { audio: { rate: 8 } }")
        runtime.bind_settings(Audio, "audio")
        runtime.define(Player, "player", "singleton")
        one = runtime.generation
        with runtime.pinned():
            first = runtime.settings(Audio)
            configured(runtime, "config: { audio: { rate: 9 } }")
            assert runtime.settings(Audio) is first
            assert runtime["player"].audio is first
        assert runtime.settings(Audio) == Audio(9)
        runtime.rollback(one)
        assert runtime.settings(Audio) == Audio(8)
        assert runtime["player"].audio is runtime.settings(Audio)


def test_a_rollback_keeps_the_bindings() -> None:
    with invivo.Runtime() as runtime:
        runtime.configure("audio.rate", 5)
        unbound = runtime.mark("unbound")
        runtime.bind_settings(Audio, "audio")
        bound = runtime.mark("bound")
        runtime.rollback(unbound)
        runtime.define(Player, "player")
        assert runtime["player"].audio == runtime.settings(Audio) == Audio(5)
        with_player = runtime.mark("with player")
        with pytest.raises(invivo.NotFoundError, match="the settings 'Audio' cannot be removed: 'player' needs it"):
            runtime.unbind_settings(Audio)
        runtime.remove("player")
        runtime.unbind_settings(Audio)
        # Without the binding, an object that needs it is not brought back.
        with pytest.raises(invivo.NotFoundError, match="player: initializer parameter 'audio' needs"):
            runtime.rollback(with_player)
        runtime.rollback(bound)
        with pytest.raises(invivo.NotFoundError, match="not bound"):
            runtime.settings(Audio)
        runtime.bind_settings(Audio, "audio")
        runtime.rollback(with_player)
        assert runtime["player"].audio == Audio(5)


def test_observers_receive_the_value() -> None:
    seen: list[tuple[Audio, int]] = []

    def note(audio: Audio, generation: int) -> None:
        seen.append((audio, generation))

    with invivo.Runtime() as runtime:
        configured(runtime, "config: { audio: { rate: 8 } }")
        runtime.bind_settings(Audio, "audio")
        observer = runtime.observe_settings(Audio, note)
        assert runtime.observe_settings(Audio, note) is observer
        configured(runtime, "config: { audio: { rate: 9 } }")
        configured(runtime, "config: { other: 1 }", "b.yaml")
        assert seen == [(Audio(9), runtime.generation - 1)]
        with pytest.raises(invivo.NotFoundError):
            runtime.observe_settings(Player, note)


def test_values_end_with_their_generations() -> None:
    class Weak:
        pass

    @dataclasses.dataclass
    class Held:
        depth: int

        def __post_init__(self) -> None:
            self.mark = Weak()
            marks.append(weakref.ref(self.mark))

    marks: list[weakref.ref[Weak]] = []
    with invivo.Runtime() as runtime:
        configured(runtime, "config: { held: { depth: 1 } }")
        runtime.bind_settings(Held, "held")
        configured(runtime, "config: { held: { depth: 2 } }")
        configured(runtime, "config: { held: { depth: 3 } }")
        gc.collect()
        assert marks[0]() is None
        assert marks[-1]() is not None
    gc.collect()
    assert all(mark() is None for mark in marks)


# ---- names and forms ---------------------------------------------------------------------------------------


def test_bindings_have_names() -> None:
    @dataclasses.dataclass
    class Voice:
        gain: float = 1

    first = Voice

    @dataclasses.dataclass
    class Voice:  # type: ignore[no-redef]
        gain: float = 2

    with invivo.Runtime() as runtime:
        runtime.bind_settings(first, "first")
        with pytest.raises(invivo.ExistsError, match="are bound to another class"):
            runtime.bind_settings(Voice, "second")
        runtime.bind_settings(Voice, "second", name="Second")
        assert runtime.settings(first).gain == 1
        assert runtime.settings(Voice).gain == 2
        assert runtime.settings("Second").gain == 2
        configured(runtime, "config: { numbers: [1, 2] }")
        runtime.bind_settings(list[int], "numbers")
        assert runtime.settings(list[int]) == [1, 2]
        runtime.bind_settings(Voice, "third", name="Second")
        # With a name, another class may replace the former one.
        runtime.bind_settings(first, "first", name="Second")
        assert type(runtime.settings("Second")) is first
        with pytest.raises(invivo.ArgumentError):
            runtime.bind_settings(Voice, 3)  # type: ignore[arg-type]


def test_a_change_set_binds_with_its_documents() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.document("a.yaml", "config: { audio: { rate: 8 } }")
            changes.bind_settings(Audio, "audio")
            changes.define(Player, "player")
        assert runtime["player"].audio == Audio(8)
        assert runtime.reports[-1].causes[-1].kind == "bind"
        with runtime.changes() as changes:
            changes.remove("player")
            changes.unbind_settings(Audio)
        assert runtime.reports[-1].causes[-1].kind == "unbind"


# ---- variables, files and secrets --------------------------------------------------------------------------


class Access(pydantic.BaseModel):
    user: str
    password: pydantic.SecretStr
    port: int = 1


def test_the_annotation_decides_the_kind_of_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclasses.dataclass
    class Both:
        text: str
        number: int
        either: int | str
        flag: bool
        items: list[Any]

    monkeypatch.setenv("SETTINGS_NUMBER", "007")
    monkeypatch.setenv("SETTINGS_FLAG", "true")
    with invivo.Runtime(log_level="silent") as runtime:
        said = "'${SETTINGS_NUMBER}'"
        configured(
            runtime,
            f"config: {{ both: {{ text: {said}, number: {said}, either: {said}, flag: '${{SETTINGS_FLAG}}', "
            f"items: [{said}] }} }}",
        )
        runtime.bind_settings(Both, "both")
        both = runtime.settings(Both)
        assert (both.text, both.number, both.flag) == ("007", 7, True)
        monkeypatch.setenv("SETTINGS_FLAG", "hidden")
        with pytest.raises(invivo.Error) as caught:
            runtime.refresh_environment()
        assert "hidden" not in str(caught.value)
        assert str(caught.value).startswith("a.yaml:1:")
        assert "expected true or false, got the value of an environment variable" in str(caught.value)


def test_errors_show_no_secret(tmp_path: Path) -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        configured(runtime, "config: { access: { user: me, password: top, port: 2 } }")
        runtime.bind_settings(Access, "access")
        assert runtime.settings(Access).password.get_secret_value() == "top"
        with pytest.raises(invivo.Error) as caught:
            configured(runtime, "config:\n  access: { user: [tops3cret], password: [tops3cret], port: tops3cret }\n")
        text = "".join(str(each) for each in (caught.value, *caught.value.errors, caught.value.__cause__))
        assert "tops3cret" not in text
        assert [(each.line, each.column, each.path) for each in caught.value.errors] == [
            (2, 19, "config.access.user"),
            (2, 42, "config.access.password"),
            (2, 61, "config.access.port"),
        ]


def test_errors_about_a_file_quote_nothing(tmp_path: Path) -> None:
    (tmp_path / "word").write_text("tops3cret")
    (tmp_path / "a.yaml").write_text("config: { audio: { rate: 8, device: 'file:word' } }")
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.watch(tmp_path / "a.yaml")
        runtime.bind_settings(Audio, "audio")
        assert runtime.settings(Audio).device == "tops3cret"
        with pytest.raises(invivo.Error) as caught:
            configured(runtime, "config: { audio: { rate: private } }", "b.yaml")
        assert "private" not in str(caught.value)
        assert "b.yaml:1:26: config.audio.rate: expected a whole number, got a string" in str(caught.value)


def test_errors_call_a_value_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the value of an environment variable is called so."""

    @dataclasses.dataclass
    class Section:
        rate: int
        items: list[int] = dataclasses.field(default_factory=list)

    (tmp_path / "word").write_text("hidden")
    monkeypatch.setenv("SETTINGS_WORD", "hidden")
    with invivo.Runtime(log_level="silent", document_roots=[tmp_path]) as runtime:
        configured(runtime, "config: { section: { rate: 8 } }")
        runtime.bind_settings(Section, "section")
        for given, got in [
            ("'${SETTINGS_WORD}'", "the value of an environment variable"),
            (f"'file:{tmp_path}/word'", "a string"),
            ("hidden", "a string"),
        ]:
            if given == "hidden":
                runtime.add_secret("section.rate")
            with pytest.raises(invivo.Error) as caught:
                configured(runtime, f"config: {{ section: {{ rate: {given} }} }}")
            assert str(caught.value) == f"a.yaml:1:28: config.section.rate: expected a whole number, got {got}"


# ---- pydantic ----------------------------------------------------------------------------------------------


class Host(pydantic.BaseModel):
    name: str
    port: Annotated[int, pydantic.Field(ge=1, le=65535)] = 80


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    bark: str = "wuff"


class Service(pydantic.BaseModel):
    hosts: list[Host] = []
    by_name: dict[str, Host] = {}
    backup: Host | None = None
    pets: list[Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]] = []
    either: Host | int = 1
    limit: int = pydantic.Field(default=1, alias="max-items")

    @pydantic.field_validator("limit")
    @classmethod
    def check_limit(cls, value: int) -> int:
        if value > 10:
            raise ValueError("too many")
        return value


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    host: Host = Host(name="x")


def test_models_are_built_by_pydantic_and_located_in_the_document() -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        configured(
            runtime, "config: { service: { hosts: [{ name: a, port: 1 }], max-items: 3, pets: [{ kind: dog }] } }"
        )
        runtime.bind_settings(Service, "service")
        service = runtime.settings(Service)
        assert service.hosts == [Host(name="a", port=1)]
        assert service.limit == 3
        assert service.pets == [Dog(kind="dog")]
        with pytest.raises(invivo.Error) as caught:
            configured(
                runtime,
                "config:\n"
                "  service:\n"
                "    hosts: [{ name: a, port: 0 }, { nmae: b }]\n"
                "    by_name: { x: { name: x, prot: 1 } }\n"
                "    backup: { name: [] }\n"
                "    pets: [{ kind: cat, lives: x }, { kind: cow }]\n"
                "    either: { name: y, port: z }\n"
                "    max-items: 11\n"
                "    mxa-items: 1\n",
            )
        found = [(each.line, each.column, each.path.removeprefix("config.service.")) for each in caught.value.errors]
        assert found[0] == (3, 30, "hosts[0].port")
        for each in [
            (3, 35, "hosts[1].name"),
            (3, 37, "hosts[1].nmae"),
            (4, 30, "by_name.x.prot"),
            (5, 21, "backup.name"),
            (6, 32, "pets[0].lives"),
            (6, 37, "pets[1]"),
            (7, 30, "either.port"),
            (8, 16, "max-items"),
            (9, 5, "mxa-items"),
        ]:
            assert each in found, found
        text = str(caught.value)
        assert "Host has no field 'nmae'; did you mean 'name'?" in text
        assert "Host has no field 'prot'; did you mean 'port'?" in text
        assert "Service has no field 'mxa-items'; did you mean 'max-items'?" in text
        assert "Host needs 'name', which is not set" in text
        assert "Value error, too many" in text
        assert runtime.settings(Service) is service


def test_a_model_can_permit_further_keys() -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        configured(runtime, "config: { open: { more: 1 } }")
        runtime.bind_settings(Open, "open")
        assert runtime.settings(Open).more == 1  # type: ignore[attr-defined]
        with pytest.raises(invivo.PropertyError, match=r"b.yaml:1:27: config.open.host.nmae: Host has no field 'nmae'"):
            configured(runtime, "config: { open: { host: { nmae: 1, name: x } } }", "b.yaml")


def test_models_in_dataclasses() -> None:
    @dataclasses.dataclass
    class Cluster:
        hosts: list[Host]

    with invivo.Runtime(log_level="silent") as runtime:
        configured(runtime, "config: { cluster: { hosts: [{ name: a }] } }")
        runtime.bind_settings(Cluster, "cluster")
        assert runtime.settings(Cluster).hosts == [Host(name="a")]
        with pytest.raises(invivo.Error, match=r"b.yaml:2:30: config.cluster.hosts\[0\].port: "):
            configured(runtime, "config:\n  cluster: { hosts: [{ port: 0, name: a }] }", "b.yaml")


# ---- cycles and limits -------------------------------------------------------------------------------------


def test_a_check_that_does_not_return_is_given_up() -> None:
    entered, go = threading.Event(), threading.Event()

    @dataclasses.dataclass
    class Slow:
        depth: int = 1

        def __post_init__(self) -> None:
            if self.depth == 2:
                entered.set()
                go.wait(60)

    with invivo.Runtime(log_level="silent", rule_timeout=0.05) as runtime:
        runtime.bind_settings(Slow, "slow")
        with pytest.raises(invivo.DeadlineError, match="the create function of the settings 'Slow' has not answered"):
            configured(runtime, "config: { slow: { depth: 2 } }")
        assert entered.wait(60)
        assert runtime.settings(Slow).depth == 1
        configured(runtime, "config: { other: 1 }", "b.yaml")
        go.set()


def test_nodes_of_a_tree() -> None:
    @dataclasses.dataclass
    class Node:
        name: str
        inner: list[Tree] = dataclasses.field(default_factory=list)

    with invivo.Runtime(log_level="silent") as runtime:
        configured(runtime, "config: { tree: { name: a, inner: [{ name: b, inner: [{ name: c }] }] } }")
        runtime.bind_settings(Tree, "tree")
        assert runtime.settings(Tree).inner[0].inner[0].name == "c"
        with pytest.raises(invivo.WrongTypeError, match="cannot be resolved"):
            runtime.bind_settings(dataclasses.make_dataclass("Lost", [("a", "Nowhere")]), "lost")


@dataclasses.dataclass
class Tree:
    name: str
    inner: list[Tree] = dataclasses.field(default_factory=list)


class Color(enum.Enum):
    RED = "r"
    GREEN = "g"


def test_a_secret_of_a_dataclass_is_not_shown() -> None:
    @dataclasses.dataclass
    class Login:
        password: pydantic.SecretStr
        timeout: datetime.timedelta = datetime.timedelta(seconds=1)
        price: decimal.Decimal = decimal.Decimal(1)

    with invivo.Runtime(log_level="silent") as runtime:
        configured(runtime, "config: { login: { password: tops3cret, timeout: 250 ms, price: 0.1 } }")
        runtime.bind_settings(Login, "login")
        login = runtime.settings(Login)
        assert login.password.get_secret_value() == "tops3cret"
        assert login.timeout == datetime.timedelta(milliseconds=250)
        assert login.price == decimal.Decimal("0.1")
        with pytest.raises(invivo.Error) as caught:
            configured(runtime, "config: { login: { password: [tops3cret], timeout: tops3cret } }", "b.yaml")
        assert "tops3cret" not in str(caught.value)


def test_an_error_of_the_initializer_names_its_line_and_a_refusal_does_not() -> None:
    @dataclasses.dataclass
    class Checked:
        number: int = 1

        def __post_init__(self) -> None:
            if self.number == 2:
                raise KeyError("oops")
            if self.number == 3:
                raise ValueError("too many")

    with invivo.Runtime() as runtime:
        runtime.bind_settings(Checked, "a")
        with pytest.raises(
            invivo.ConversionError, match=r"Checked failed: KeyError: 'oops' \(.*:\d+, in __post_init__\)$"
        ):
            configured(runtime, "config: { a: { number: 2 } }")
        with pytest.raises(invivo.ConversionError, match=r"config.a: Checked refuses it: ValueError: too many$"):
            configured(runtime, "config: { a: { number: 3 } }")


def test_a_field_that_may_be_none_needs_a_default_because_null_removes_a_value() -> None:
    @dataclasses.dataclass
    class Nullable:
        number: int | None
        text: str | None = None
        level: int | None = 5

    with invivo.Runtime() as runtime:
        configured(runtime, "config: { a: { number: 1, text: x, level: 2 } }")
        runtime.bind_settings(Nullable, "a")
        configured(runtime, "config: { a: { text: null, level: null } }", "b.yaml")
        assert runtime.settings(Nullable) == Nullable(1, None, 5)
        said = (
            "Nullable needs 'number', which is not set: null removes a value in a document, so give the field a default"
        )
        with pytest.raises(invivo.NotConfiguredError, match=said):
            configured(runtime, "config: { a: { number: null } }", "b.yaml")


@pytest.mark.parametrize("text", ["1_000", "nan", "inf", "' 1'", "0x", "1e", "\u0661"])
def test_a_string_that_traits_do_not_read_as_a_number_is_none_for_settings(text: str) -> None:
    with invivo.Runtime() as runtime:
        runtime.bind_settings(dict[str, float], "a", name="floats")
        runtime.bind_settings(dict[str, int], "b", name="whole")
        for path, kind in (("a", "a number"), ("b", "a whole number")):
            with pytest.raises(invivo.WrongTypeError, match=f"expected {kind}, got"):
                configured(runtime, f"config: {{ {path}: {{ x: {text} }} }}")
