"""Secrets: nothing that the library puts out shows a secret value. docs/rules/spec-files.md, Secrets."""

from __future__ import annotations

import dataclasses
import enum
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

import pydantic
import pytest
from running import running

import invivo

CANARY = "canary-hunter2"
NUMBER = "987654321"


class Output:
    """Everything that a runtime puts out."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def log(self, *entry: Any) -> None:
        self.texts.append(repr(entry))

    def error(self, error: BaseException | None) -> None:
        seen: set[int] = set()
        queue = [error]
        while queue:
            one = queue.pop()
            if one is None or id(one) in seen:
                continue
            seen.add(id(one))
            self.texts += [str(one), repr(one), str(getattr(one, "path", ""))]
            queue += [one.__cause__, *getattr(one, "errors", [])]

    def gather(self, runtime: invivo.Runtime) -> None:
        self.texts += [repr(each) for each in (runtime.status, runtime.sources, runtime.states, runtime.wiring)]
        self.texts += [repr(each) for each in runtime.history]
        for each in runtime.reports:
            self.texts += [repr(each), str(each)]
            self.error(each.error)
        self.texts += [runtime.wiring_text(each) for each in ("json", "dot", "mermaid")]
        self.error(runtime.last_error)

    def is_clean(self, runtime: invivo.Runtime) -> None:
        self.gather(runtime)
        text = "\n".join(self.texts)
        for sought in (CANARY, "hunter2", NUMBER):
            assert sought not in text, [each for each in self.texts if sought in each]


@contextmanager
def opened(**options: Any) -> Iterator[tuple[invivo.Runtime, Output]]:
    output = Output()
    with invivo.Runtime(log=output.log, log_level="trace", **options) as runtime:
        yield runtime, output


def configured(runtime: invivo.Runtime, text: str, name: str = "a.yaml") -> None:
    with runtime.changes() as changes:
        changes.document(name, text)


def refused(output: Output, call: Callable[..., Any], *arguments: Any) -> None:
    with pytest.raises(invivo.Error) as caught:
        call(*arguments)
    output.error(caught.value)


# ---- settings ----------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Marked:
    password: invivo.Secret[str]
    port: int = 1

    def __post_init__(self) -> None:
        if "hunter2" in self.password:
            raise ValueError(f"{self.password} is refused")


@dataclasses.dataclass
class Number:
    password: Annotated[int, invivo.secret, pydantic.Field(le=10)] = 1


@dataclasses.dataclass
class Wrapped:
    password: pydantic.SecretStr
    key: pydantic.SecretBytes | None = None

    def __post_init__(self) -> None:
        if "hunter2" in self.password.get_secret_value():
            raise invivo.Refused(f"{self.password.get_secret_value()} is refused")


class Model(pydantic.BaseModel):
    password: pydantic.SecretStr
    port: int = 1

    @pydantic.field_validator("password")
    @classmethod
    def check(cls, value: pydantic.SecretStr) -> pydantic.SecretStr:
        if "hunter2" in value.get_secret_value():
            raise ValueError(f"{value.get_secret_value()} is refused")
        return value


class MarkedModel(pydantic.BaseModel):
    password: invivo.Secret[str]

    @pydantic.model_validator(mode="after")
    def check(self) -> MarkedModel:
        if "hunter2" in self.password:
            raise RuntimeError(f"{self.password} is refused")
        return self


class Plain(pydantic.BaseModel):
    """Only the declaration of the path makes it secret."""

    password: Annotated[str, pydantic.Field(max_length=5, pattern="fine")]


SETTINGS = [Marked, Wrapped, Model, MarkedModel, Plain]
CHANNELS = ["document", "variable", "content", "environment", "setting"]


def give(
    runtime: invivo.Runtime, channel: str, value: str, folder: Path, monkeypatch: pytest.MonkeyPatch, wrong: str = ""
) -> None:
    if channel == "document":
        configured(runtime, f"config: {{ db: {{ password: {value}{wrong} }} }}")
    elif channel == "variable":
        monkeypatch.setenv("SECRETS_VALUE", value)
        runtime.refresh_environment()
        configured(runtime, f"config: {{ db: {{ password: '${{SECRETS_VALUE}}'{wrong} }} }}")
    elif channel == "content":
        file = folder / f"secret{len(list(folder.iterdir()))}"
        file.write_text(value)
        configured(runtime, f"config: {{ db: {{ password: 'file:{file}'{wrong} }} }}")
    elif channel == "environment":
        monkeypatch.setenv("IV_P__db__password", value)
        if wrong:
            configured(runtime, f"config: {{ db: {{ password: fine{wrong} }} }}", "b.yaml")
        runtime.refresh_environment()
    else:
        with runtime.changes() as changes:
            changes.configure("db.password", value)
            if wrong:
                changes.document("b.yaml", f"config: {{ db: {{ {wrong[1:]} }} }}")


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("annotation", SETTINGS)
def test_a_section_shows_no_secret(
    annotation: Any, channel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRETS_VALUE", "fine")
    with opened(environment_prefix="IV_P__", document_roots=[tmp_path]) as (runtime, output):
        if annotation is Plain:
            runtime.add_secret("db.password")
        give(runtime, channel, "fine", tmp_path, monkeypatch)
        runtime.bind_settings(annotation, "db")
        assert runtime.is_secret("db.password")
        assert runtime.is_secret("db")
        assert not runtime.is_secret("db.port")
        give_it = [lambda: give(runtime, channel, CANARY, tmp_path, monkeypatch)]
        if channel != "variable":  # the environment of a refused refresh stays
            give_it.append(lambda: give(runtime, channel, CANARY, tmp_path, monkeypatch, ", pasword: 1"))
        for call in give_it:
            refused(output, call)
        output.is_clean(runtime)


def test_numbers_lists_and_unknown_keys() -> None:
    with opened() as (runtime, output):
        runtime.bind_settings(Number, "db")
        for value in (NUMBER, CANARY, f"[{CANARY}]", f"{{ a: {CANARY} }}"):
            refused(output, configured, runtime, f"config: {{ db: {{ password: {value} }} }}")
            refused(output, configured, runtime, f"config: {{ db: {{ password: {value}, pasword: 1 }} }}")
        refused(output, lambda: configured(runtime, f'{{"config": {{"db": {{"password": {CANARY}}}}}}}', "a.json"))
        output.is_clean(runtime)


class Host(TypedDict):
    name: str
    key: invivo.Secret[str]


class Pair(NamedTuple):
    left: str
    right: pydantic.SecretStr


class Inner(pydantic.BaseModel):
    token: Annotated[pydantic.SecretStr, pydantic.Field(alias="api-token")]
    plain: str = ""


@dataclasses.dataclass
class Tree:
    secret: invivo.Secret[str]
    left: Tree | None = None


@dataclasses.dataclass
class Everything:
    hosts: list[Host]
    one: Host
    pair: Pair
    inner: Inner | None
    table: dict[str, Inner]
    tree: Tree
    text: str
    whole: Annotated[dict[str, str], invivo.secret]


def test_the_paths_of_secrets() -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        with runtime.changes() as changes:
            changes.document(
                "a.yaml",
                "config: { e: { hosts: [], one: { name: a, key: b }, pair: { left: a, right: b }, "
                "inner: { api-token: t }, table: {}, tree: { secret: x, left: null }, text: t, whole: {} } }",
            )
            changes.bind_settings(Everything, "e")
        paths = """e.hosts e.one.name e.one.key e.pair.left e.pair.right e.inner.api-token e.inner.plain e.table
            e.tree.secret e.text e.whole e.whole.x"""
        assert " ".join(each for each in paths.split() if runtime.is_secret(each)) == (
            "e.hosts e.one.key e.pair.right e.inner.api-token e.table e.tree.secret e.whole e.whole.x"
        )
        assert runtime.settings(Everything).one["key"] == "b"
        runtime.unbind_settings(Everything)
        assert not runtime.is_secret("e.one.key")
        assert not runtime.is_secret("e")


def test_secret_bytes_are_the_bytes_of_the_string() -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        configured(runtime, "config: { db: { password: a, key: schlüssel } }")
        runtime.bind_settings(Wrapped, "db")
        key = runtime.settings(Wrapped).key
        assert key is not None
        assert key.get_secret_value() == "schlüssel".encode()


# ---- rules, properties, traits -----------------------------------------------------------------------------


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Vault:
    key = invivo.tunable("", secret=True)
    level = invivo.tunable(0.0, max=2, secret=True)
    plain = invivo.tunable(0.0)

    def __init__(self, given: str = "") -> None:
        if "hunter2" in given:
            raise ValueError(f"{given} is refused")


class Safe:
    """The same by annotations."""

    key: invivo.Secret[str] = invivo.tunable("")
    level: invivo.Secret[float] = invivo.tunable(0.0, max=2)
    plain: float = invivo.tunable(0.0)

    def __init__(
        self,
        given: invivo.Secret[str] = "",
        number: invivo.Secret[int] = 0,
        words: list[invivo.Secret[int]] | None = None,
        token: pydantic.SecretStr | None = None,
        color: invivo.Secret[Color] | None = None,
    ) -> None:
        self.given, self.number, self.words, self.token, self.color = given, number, words, token, color
        if "hunter2" in given:
            raise ValueError(f"{given} is refused")


def refuse_all(value: Any) -> bool:
    if value is not None and ("hunter2" in str(value) or NUMBER in str(value)):
        raise ValueError(f"{value} is refused")
    return True


def test_a_rule_over_a_secret_has_no_message() -> None:
    with opened() as (runtime, output):
        runtime.add_secret("db")
        runtime.add_rule("never", ["/db.password"], refuse_all)
        refused(output, lambda: configured(runtime, f"config: {{ db: {{ password: {CANARY} }} }}"))
        assert any("the rule 'never' refuses the values (its message is not shown" in each for each in output.texts)
        output.is_clean(runtime)
        runtime.remove_secret("db")
        with pytest.raises(invivo.Error, match="hunter2 is refused"):
            configured(runtime, f"config: {{ db: {{ password: {CANARY} }} }}")


@pytest.mark.parametrize("cls", [Vault, Safe])
def test_traits_of_secret_properties(cls: type) -> None:
    with opened() as (runtime, output):
        with runtime.changes() as changes:
            changes.define(cls, "a.vault", "singleton")
        assert runtime["a.vault"].key == ""
        configured(runtime, f"traits: {{ a.vault: [Set: {{ key: {CANARY} }}] }}")
        assert runtime["a.vault"].key == CANARY
        for wrong in (f"Set: {{ level: {CANARY} }}", f"Set: {{ level: {NUMBER} }}", f"Scale: {{ level: {CANARY} }}"):
            refused(output, configured, runtime, f"traits: {{ a.vault: [{wrong}] }}")
        runtime["a.vault"].key = "other-hunter2"
        configured(runtime, "{}")
        runtime.add_rule("never", ["a.vault.key"], refuse_all)
        refused(output, lambda: configured(runtime, f"traits: {{ a.vault: [Set: {{ key: {CANARY} }}] }}"))
        output.is_clean(runtime)
        secret = {each.name: each.secret for each in runtime.type(cls).properties}
        assert secret == {"key": True, "level": True, "plain": False}


def test_a_field_of_a_trait() -> None:
    class Login(invivo.Trait, everywhere=False):
        targets = ("*",)
        password: str = invivo.tunable(..., secret=True)

        def check(self) -> None:
            refuse_all(self.password)

        def layers(self, layers: invivo.Layers) -> None: ...

    with opened() as (runtime, output):
        with runtime.changes() as changes:
            changes.define(Vault, "a.vault", "singleton")
            changes.add_trait(Login)
        name = f"{Login.__module__}.Login"
        refused(output, lambda: configured(runtime, f"traits: {{ a.vault: [{{type: {name}, password: {CANARY}}}] }}"))
        output.is_clean(runtime)


class ByDefault(invivo.Trait, everywhere=False):
    targets = ("*",)
    password: invivo.Secret[str] = ""
    number: invivo.Secret[float] = 0.0

    def layers(self, layers: invivo.Layers) -> None: ...


class WithoutDefault(invivo.Trait, everywhere=False):
    targets = ("*",)
    password: invivo.Secret[str]
    number: Annotated[float, invivo.secret] = invivo.tunable(0.0)

    def layers(self, layers: invivo.Layers) -> None: ...


class Optionally(invivo.Trait, everywhere=False):
    targets = ("*",)
    password: invivo.Secret[str] | None = None
    number: invivo.Secret[float] | None = None

    def layers(self, layers: invivo.Layers) -> None: ...


@pytest.mark.parametrize("trait", [ByDefault, WithoutDefault, Optionally])
@pytest.mark.parametrize("how", ["number", "scale", "offset", "text", "name", "name of a scale", "none"])
def test_layers_from_the_secret_fields_of_a_trait(trait: Any, how: str) -> None:
    class Layered(trait, everywhere=False):  # type: ignore[misc, call-arg]
        targets = ("*",)

        def layers(self, layers: invivo.Layers) -> None:
            if how == "number":
                layers.set("level", self.number)
            elif how == "scale":
                layers.scale("plain", self.number)
            elif how == "offset":
                layers.offset("plain", self.number)
            elif how == "text":
                layers.set("plain", self.password)
            elif how == "name":
                layers.set(self.password, 1)
            elif how == "name of a scale":
                layers.scale(self.password, 2)

    class Limited(Vault):
        plain = invivo.tunable(1.0, max=2)

    with opened() as (runtime, output):
        with runtime.changes() as changes:
            changes.define(Limited, "a.vault", "singleton")
            changes.add_trait(Layered)
        name = f"{Layered.__module__}.Layered"
        given = f"number: [{CANARY}]" if how == "none" else f"number: {NUMBER}"
        refused(
            output,
            lambda: configured(runtime, f"traits: {{ a.vault: [{{type: {name}, password: {CANARY}, {given}}}] }}"),
        )
        output.is_clean(runtime)


@pytest.mark.parametrize(
    "text",
    [
        CANARY,
        NUMBER,
        f"config: {CANARY}",
        f"traits: {{ a.vault: {CANARY} }}",
        f"traits: {{ a.vault: [{CANARY}] }}",
        f"traits: {{ a.vault: [{{ Set: {CANARY} }}] }}",
        f"wiring: {{ a.vault: {NUMBER} }}",
        f"traits: {{ a.vault: [{{ Ramp: {{ to: {{ plain: 1 }}, over: {CANARY} }} }}] }}",
    ],
)
def test_errors_of_form_quote_no_text(text: str) -> None:
    with opened() as (runtime, output):
        runtime.add_secret("db")
        with runtime.changes() as changes:
            changes.define(Vault, "a.vault", "singleton")
        refused(output, lambda: configured(runtime, text))
        output.is_clean(runtime)


def test_a_constructor_receives_the_value_and_tells_it() -> None:
    with opened() as (runtime, output):
        runtime.add_secret("db.password")
        configured(runtime, "config: { db: { password: fine } }")
        with runtime.changes() as changes:
            changes.define(invivo.new(Vault, invivo.config("/db.password")), "a.vault", "singleton")
        with pytest.raises(invivo.Error) as caught:
            configured(runtime, f"config: {{ db: {{ password: {CANARY} }} }}")
        assert "<secret> is refused" in str(caught.value)
        output.texts += [str(caught.value), caught.value.path]
        output.is_clean(runtime)


WRONG: list[tuple[str, str, str]] = [
    ("given", f"{CANARY}", "<secret> is refused"),
    ("given", f"[{CANARY}]", "<secret>"),
    ("number", CANARY, "<secret>"),
    ("number", f"[{NUMBER}]", "<secret>"),
    ("words", f"[1, {CANARY}]", "<secret> is an unsuitable value; expected a value for the converter 'annotation: "),
    ("token", f"[{CANARY}]", "<secret> is an unsuitable value"),
    ("color", CANARY, "<secret> is a value outside of the range"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_secret_parameter_shows_no_value_of_the_configuration(name: str, value: str, message: str) -> None:
    with opened() as (runtime, output):
        configured(runtime, "config: { db: { given: fine, number: 1, words: [1], token: fine, color: red } }")
        with runtime.changes() as changes:
            changes.define(invivo.new(Safe, **{name: invivo.config(f"/db.{name}")}), "a.safe", "singleton")
        assert runtime["a.safe"].key == ""
        with pytest.raises(invivo.Error) as caught:
            configured(runtime, f"config: {{ db: {{ {name}: {value} }} }}")
        output.texts += [str(caught.value), caught.value.path]
        assert message in str(caught.value)
        output.is_clean(runtime)


def test_a_secret_parameter_shows_no_argument_and_no_constant() -> None:
    @invivo.prototype
    def safe(given: invivo.Secret[str], number: invivo.Secret[int] = 0) -> Safe:
        return invivo.new(Safe, given, number)

    with opened() as (runtime, output):
        runtime.define(safe, "a.safe")
        assert runtime.resolve("a.safe", "fine", 5).number == 5
        for arguments in [(CANARY,), ("fine", CANARY), (int(NUMBER),)]:
            for _ in range(3):  # also by a build plan
                with pytest.raises((invivo.Error, TypeError)) as caught:
                    runtime.resolve("a.safe", *arguments)
                output.texts += [str(caught.value), str(getattr(caught.value, "path", ""))]
        with pytest.raises(invivo.Error) as caught:
            wrong: Any = CANARY
            runtime.define(invivo.new(Safe, number=wrong), "b.safe")
        output.texts += [str(caught.value), caught.value.path]
        output.is_clean(runtime)


is_refusing = False


def refuse(text: str) -> None:
    if is_refusing:
        raise ValueError(f"{text} is refused")


class Open:
    def __init__(self, given: str) -> None:
        refuse(given)


class Closed:
    def __init__(self, given: invivo.Secret[str], words: list[invivo.Secret[str]] | None = None) -> None:
        refuse(f"{given} {words}")


def make_open(given: invivo.Secret[str]) -> Open:
    return Open(given)


@invivo.prototype
def closed(given: invivo.Secret[str]) -> Closed:
    return invivo.new(Closed, given)


@pytest.mark.parametrize(
    ("what", "arguments"),
    [
        (invivo.new(Open, invivo.config("/declared.password")), ()),
        (invivo.new(Closed, invivo.config("/db.password")), ()),
        (invivo.new(Closed, "fine", words=[CANARY, "longer"]), ()),
        (invivo.new(make_open, invivo.config("/db.password")), ()),
        (closed, (CANARY,)),
    ],
)
def test_a_prototype_shows_no_secret_each_time(what: Any, arguments: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if a build plan calls the constructor."""
    with opened() as (runtime, output):
        configured(runtime, f"config: {{ db: {{ password: {CANARY} }}, declared: {{ password: {CANARY} }} }}")
        runtime.add_secret("declared")
        with runtime.changes() as changes:
            if what is closed:
                changes.define(what, "a.part")
            else:
                changes.define(what, "a.part", "prototype")
        for _ in range(4):
            runtime.resolve("a.part", *arguments)
        monkeypatch.setitem(globals(), "is_refusing", True)
        for _ in range(4):
            with pytest.raises(invivo.Error, match=r"<secret>.* is refused|its message is not shown") as caught:
                runtime.resolve("a.part", *arguments)
            output.texts += [str(caught.value), caught.value.path]
        output.is_clean(runtime)


class Door:
    """An object whose method receives the secret, or that a method of another object returns."""

    def unlock(self, given: str) -> None:
        refuse(given)


class Smith:
    def door(self, given: str) -> Door:
        refuse(given)
        return Door()


class Guard:
    def __init__(self, opened: Callable[[], Open], closed: Callable[[], Closed]) -> None:
        self.opened, self.closed = opened, closed


class Keep(invivo.Assembly, secrets=["db.password", "db.token"]):
    """Methods, providers and defaults receive a secret of the configuration, or a secret parameter."""

    @invivo.prototype
    def opened(self) -> Open:
        return invivo.new(Open, invivo.config("/db.password"))

    @invivo.prototype
    def defaulted(self, given: invivo.Secret[str] = CANARY) -> Closed:
        return invivo.new(Closed, given)

    @invivo.prototype
    def called(self) -> Door:
        door = invivo.new(Door)
        door.unlock(invivo.config("/db.password"))
        return door

    @invivo.prototype
    def made(self) -> Door:
        return self.smith().door(invivo.config("/db.password"))

    @invivo.prototype
    def left_out(self) -> Door:
        return self.smith().door(invivo.config("/db.token", CANARY))

    @invivo.lazy_singleton
    def smith(self) -> Smith:
        return invivo.new(Smith)

    @invivo.lazy_singleton
    def guard(self) -> Guard:
        return invivo.new(Guard, opened=invivo.provider(self.opened), closed=invivo.provider(self.defaulted))


DEFAULTS: dict[str, Callable[[invivo.Runtime], Any]] = {
    "default": lambda runtime: runtime["keep.defaulted"],
    "default of a provider": lambda runtime: runtime["keep.guard"].closed(),
    "method": lambda runtime: runtime["keep.called"],
    "method of another object": lambda runtime: runtime["keep.made"],
    "value that is left out": lambda runtime: runtime["keep.left_out"],
    "provider": lambda runtime: runtime["keep.guard"].opened(),
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_methods_providers_and_defaults_show_no_secret(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened() as (runtime, output):
        configured(runtime, f"config: {{ db: {{ password: {CANARY} }} }}")
        with runtime.changes() as changes:
            changes.activate(Keep())
        for _ in range(3):  # also by a build plan
            DEFAULTS[name](runtime)
        monkeypatch.setitem(globals(), "is_refusing", True)
        for _ in range(3):
            with pytest.raises(
                (invivo.Error, ValueError), match=r"<secret>.* is refused|its message is not shown"
            ) as caught:
                DEFAULTS[name](runtime)
            output.error(caught.value)
        output.is_clean(runtime)


# ---- assemblies and the wiring -----------------------------------------------------------------------------


class Store(invivo.Assembly, secrets=["db.password"]):
    @invivo.lazy_singleton
    def vault(self) -> Vault:
        return invivo.new(Vault, invivo.config("/db.password"))


class Cellar(Store, name="cellar", secrets=["tls"]):
    """Has the secrets of its base."""


def test_an_assembly_declares_secrets_while_it_is_active() -> None:
    with opened() as (runtime, output):
        configured(runtime, "config: { db: { password: fine, port: 1 }, tls: { key: a }, more: 1 }")
        runtime.activate(store := Store(secrets=["more"]))
        paths = ("db.password", "db.port", "tls.key", "more")
        assert [each for each in paths if runtime.is_secret(each)] == ["db.password", "more"]
        runtime.deactivate(store)
        assert not runtime.is_secret("db")
        runtime.activate(cellar := Cellar())
        assert [each for each in paths if runtime.is_secret(each)] == ["db.password", "tls.key"]
        assert cellar.vault().key == ""
        with pytest.raises(invivo.Error) as caught:
            configured(runtime, f"config: {{ db: {{ password: {CANARY} }} }}")
        output.texts.append(str(caught.value))
        output.is_clean(runtime)
        runtime.activate(invivo.Assembly("filled", secrets=["free"]))
        assert runtime.is_secret("free")
    with pytest.raises(invivo.WrongTypeError, match=r"secrets is a list, such as \[.*\], not 'db'"):
        invivo.Assembly("wrong", secrets="db")
    with (
        invivo.Runtime() as runtime,
        pytest.raises(invivo.ArgumentError, match=r"'a\.\.b' is not a configuration path"),
    ):
        runtime.activate(invivo.Assembly("wrong", secrets=["a..b"]))


def test_the_wiring_marks_dependencies_on_secrets() -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        configured(runtime, "config: { db: { password: fine, port: 1 } }")
        runtime.activate(Store())
        with runtime.changes() as changes:
            changes.define(invivo.new(Safe, number=invivo.config("/db.port")), "a.vault", "lazy_singleton")
        nodes = {each.key: each for each in runtime.wiring}
        assert nodes["store.vault"].secret
        assert not nodes["a.vault"].secret
        assert [(each.key, each.secret) for each in nodes["store.vault"].needs] == [("db.password", True)]


# ---- manifests and tools -----------------------------------------------------------------------------------

MODULE = """
import invivo


@invivo.component
class Vault:
    key = invivo.tunable('')
    count = invivo.tunable(0, max=10)
    level = invivo.tunable(0.0, max=2, secret=True)

    def __init__(self, number: invivo.Secret[int] = 0) -> None: ...
"""


def _refused(command: list[str], manifest: Path) -> str:
    """Returns the output of a command that fails."""
    done = subprocess.run(
        [sys.executable, "-m", "invivo", *command, str(manifest)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode != 0
    return done.stdout + done.stderr


@pytest.mark.parametrize("command", [["check"], ["graph"], ["graph", "--format", "dot"]])
@pytest.mark.parametrize("value", [CANARY, NUMBER])
def test_tools_show_no_secret_of_a_manifest(command: list[str], value: str, tmp_path: Path) -> None:
    (tmp_path / "vault.py").write_text(MODULE)
    manifest = {
        "modules": {"vault": "vault.py"},
        "secrets": ["db"],
        "config": {"db": {"password": 1}},
        "components": {"a.vault": {"type": "Vault", "properties": {"count": "$config./db.password"}}},
        "specs": ["a.yaml"],
    }
    (tmp_path / "app.json").write_text(json.dumps(manifest))
    (tmp_path / "a.yaml").write_text(f"config: {{ db: {{ password: {value} }} }}")
    text = _refused(command, tmp_path / "app.json")
    assert "<secret>" in text
    assert value not in text


@pytest.mark.parametrize("command", [["check"], ["graph"]])
@pytest.mark.parametrize(
    "changed",
    [
        {"config": CANARY},
        {"config": {"db": {"password": 1}}, "specs": NUMBER},
        {"modules": CANARY},
        {"components": {"a.vault": CANARY}},
        {
            "components": {
                "a.vault": {"type": "Vault", "properties": {"count": {"$config": "/db.password", "default": CANARY}}}
            }
        },
        {"components": {"a.vault": {"type": "Vault", "properties": {"level": CANARY}}}},
        {"components": {"a.vault": {"type": "Vault", "properties": {"level": [CANARY]}}}},
        {"components": {"a.vault": {"type": "Vault", "init": [[CANARY]]}}},
        {"components": {"a.vault": {"choose": {"$config": "/db.password", "default": CANARY}, "options": ["named"]}}},
    ],
)
def test_tools_show_no_secret_of_a_manifest_with_errors(
    command: list[str], changed: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "vault.py").write_text(MODULE)
    manifest = {"modules": {"vault": "vault.py"}, "secrets": ["db"], **changed}
    (tmp_path / "app.json").write_text(json.dumps(manifest))
    text = _refused(command, tmp_path / "app.json")
    assert CANARY not in text
    assert NUMBER not in text


DECLARING = """
import dataclasses

import invivo


@invivo.settings_type
@dataclasses.dataclass
class Database:
    password: invivo.Secret[str] = ''


class Store(invivo.Assembly, secrets=['db']): ...


store = Store()
"""


@pytest.mark.parametrize(
    "declared", [{"secrets": ["/db"]}, {"settings": {"db": "Database"}}, {"assemblies": ["store"]}]
)
def test_a_default_of_a_manifest_is_secret_whoever_declares_its_path(declared: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "vault.py").write_text(MODULE)
    (tmp_path / "declaring.py").write_text(DECLARING)

    def manifest(name: str, component: dict[str, Any]) -> Path:
        modules = {"vault": "vault.py", "declaring": "declaring.py"}
        path = tmp_path / name
        path.write_text(json.dumps({"modules": modules, **declared, "components": {"a.vault": component}}))
        return path

    read = {"$config": "/db.password", "default": CANARY}
    for number, wrong in enumerate(
        (
            {"type": "Vault", "properties": {"count": read}},
            {"type": "Vault", "init": [read]},
            {"type": "Vault", "properties": {"key": {"$text": read, "as": "base64"}}},
            {"choose": read, "options": ["named"]},
        )
    ):
        refused = manifest(f"wrong{number}.json", wrong)
        for command in (["check"], ["check", "--json"], ["graph"], ["keys"], ["schema"], ["run"]):
            text = _refused(command, refused)
            assert CANARY not in text, text
    right = manifest("right.json", {"type": "Vault", "scope": "singleton", "properties": {"key": read}})
    for command in (["check", "--unread"], ["check", "--json"], ["graph", "--format", "json"], ["keys"], ["schema"]):
        done = subprocess.run(
            [sys.executable, "-m", "invivo", *command, str(right)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, CANARY in done.stdout + done.stderr) == (0, False), done.stdout + done.stderr
    with running("--log-level", "trace", str(right)) as run:
        run.until("running")
        assert run.end(signal.SIGINT) == 0
        run.until("ending on SIGINT")
        assert CANARY not in "".join(run.seen)


def test_a_default_of_a_manifest_is_secret_if_the_host_declares_its_path(tmp_path: Path) -> None:
    (tmp_path / "vault.py").write_text(MODULE)
    read = {"$config": "/db.password", "default": CANARY}
    component = {"type": "Vault", "properties": {"count": read}}
    path = tmp_path / "app.json"
    path.write_text(json.dumps({"modules": {"vault": "vault.py"}, "components": {"a.vault": component}}))
    with pytest.raises(invivo.Error) as found:
        invivo.App(path, settings={"db": HostDatabase}, log_level="silent")
    assert "<secret>" in str(found.value)
    assert CANARY not in "".join(map(str, found.value.errors))


@dataclasses.dataclass
class HostDatabase:
    password: invivo.Secret[str] = ""


SAFE = """
import invivo


@invivo.component
class Safe:
    key: invivo.Secret[str] = invivo.tunable('')
    level: invivo.Secret[float] = invivo.tunable(0.0, max=10)

    def __init__(self, password: invivo.Secret[str], number: invivo.Secret[int] = 0) -> None:
        if 'refused' in password:
            raise ValueError(f'{password} does not fit')
"""


@pytest.mark.parametrize("declared", [[], ["db"]])
def test_run_shows_no_secret(declared: list[str], tmp_path: Path) -> None:
    (tmp_path / "safe.py").write_text(SAFE)
    component = {"type": "Safe", "scope": "singleton"}
    manifest = {
        "modules": {"safe": "safe.py"},
        "secrets": declared,
        "components": {
            "a.safe": {**component, "init": {"password": "$config./db.password"}},
            "b.safe": {**component, "init": {"password": "fine", "number": "$config./db.number"}},
        },
        "specs": ["a.yaml"],
    }
    (tmp_path / "app.json").write_text(json.dumps(manifest))
    spec = tmp_path / "a.yaml"

    def said(password: str, number: str = "1", traits: str = "") -> str:
        return f"config: {{ db: {{ password: {password}, number: {number} }} }}\ntraits: {{ a.safe: [{traits}] }}\n"

    spec.write_text(said(CANARY))
    with running("--log-level", "trace", str(tmp_path / "app.json")) as run:
        run.until("running")
        for wrong in (
            said(f"{CANARY}-refused"),
            said(f"[{CANARY}]"),
            said(CANARY, CANARY),
            said(CANARY, "1", f"Set: {{ level: {NUMBER} }}"),
            said(CANARY, "1", f"Set: {{ key: [{CANARY}] }}"),
        ):
            spec.write_text(wrong)
            run.until("not applied")
        spec.write_text(said(f"{CANARY}-next", NUMBER, f"Set: {{ key: {CANARY}, level: 7 }}"))
        run.until("generation 2")
        assert run.end(signal.SIGINT) == 0
        run.until("ending on SIGINT")
        text = "".join(run.seen)
        assert "<secret>" in text
        for sought in (CANARY, NUMBER):
            assert sought not in text, text


class Connection:
    password: str

    def __init__(self, password: str) -> None:
        self.password = password

    def fail(self) -> None:
        raise ValueError(f"cannot log in with {self.password}")


class FailsInStart(Connection):
    start = invivo.on_start(lambda self: self.fail())


class FailsInStop(Connection):
    stop = invivo.on_stop(lambda self: self.fail())


class FailsInSetup(Connection):
    setup = invivo.on_setup(lambda self: self.fail())


class FailsInTeardown(Connection):
    teardown = invivo.on_teardown(lambda self: self.fail())


class FailsInPrepare(Connection):
    prepare = invivo.on_prepare(lambda self: self.fail())


class FailsAfterInjection(Connection):
    injected = invivo.did_inject(lambda self: self.fail())


def ends_with_an_error(password: str) -> Iterator[Connection]:
    yield Connection(password)
    raise ValueError(f"cannot log out with {password}")


@pytest.mark.parametrize(
    "made",
    [FailsInStart, FailsInStop, FailsInSetup, FailsInTeardown, FailsInPrepare, FailsAfterInjection, ends_with_an_error],
)
@pytest.mark.parametrize("of_property", [False, True])
def test_hooks_show_no_secret_that_their_object_has_received(made: Any, of_property: bool) -> None:
    output = Output()

    def thing(self: Any) -> Any:
        password = invivo.config("password")
        if made is ends_with_an_error:
            return invivo.managed(made, password)
        if not of_property:
            return invivo.new(made, password)
        recipe = invivo.new(made, "")
        recipe.password = password
        return recipe

    thing.__annotations__["return"] = Connection if made is ends_with_an_error else made
    assembly = type("Desk", (invivo.Assembly,), {"thing": invivo.lazy_singleton(thing)}, secrets=["desk.password"])
    caught: invivo.Error | None = None
    runtime = invivo.Runtime(log=output.log)
    try:
        with runtime.changes() as changes:
            changes.activate(assembly())
            changes.document("t.yaml", f"config: {{ desk: {{ password: {CANARY} }} }}")
        try:
            runtime.resolve("desk.thing")
        except invivo.Error as problem:
            caught = problem
        output.is_clean(runtime)
    finally:
        try:
            runtime.close()
        except invivo.Error as problem:
            caught = caught or problem
    assert caught is not None
    output.error(caught)
    text = "\n".join(output.texts)
    assert "with <secret>" in text
    assert CANARY not in text, [each for each in output.texts if CANARY in each]
