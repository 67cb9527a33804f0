"""The schema of an application, compared with its check: the same verdict, at the same path.

`schemas.compare` defines when paths are the same. Errors that a schema cannot express are in docs/configuration.md,
each with a test here.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pydantic
import pytest
from jsonschema import Draft202012Validator
from schemas.apps import APPLICATIONS, MANIFEST, Tried, compile_desk
from schemas.compare import Comparison
from schemas.documents import DOCUMENTS
from schemas.mutate import mutants

import invivo
from invivo.__main__ import main

# The errors of mutants that a schema cannot express. Each has a test below.
INEXPRESSIBLE = (
    r"no document has traits for",  # a key to inherit from
    r": [a-z.]+: \S+ is outside",  # the result of a relative layer
    r"traits\.(\.quiet|base)\[",  # a trait that is inherited
    r"no target has the key 'base'",  # a list that nothing inherits, in a document that inherits from another key
    r"no target has the key 'synth\.track\[",  # an entry that does not exist
    r"expected a duration",  # a string that a converter of Python reads
    r"the value of the condition is",  # a value of the configuration that is not true or false
)


@contextlib.contextmanager
def opened(name: str, folder: Path) -> Iterator[Tried]:
    application = APPLICATIONS[name]
    with application(folder) if name == "desk" else application() as found:
        yield found


@pytest.fixture(scope="session")
def counted() -> Iterator[dict[str, int]]:
    """The number of documents on which a schema and a check agree, by application."""
    counts: dict[str, int] = {}
    yield counts
    if set(counts) == set(APPLICATIONS):
        print(f"\nschemas: {sum(counts.values())} documents have the same verdict, at the same path: {counts}")


@pytest.mark.parametrize("name", APPLICATIONS)
def test_a_schema_and_a_check_agree(name: str, tmp_path: Path, counted: dict[str, int]) -> None:
    with opened(name, tmp_path) as app:
        comparison = Comparison(app.schema, app.check, app.choices)
        assert comparison.difference(app.valid) is None
        assert comparison.accepted == 1
        differences = []
        agreed = 1
        beyond = 0
        for document in DOCUMENTS[name]:
            found = comparison.difference(document)
            if found is None:
                agreed += 1
            else:
                differences.append(f"{json.dumps(document)}: {found}")
        for change, document in mutants(app.valid):
            found = comparison.difference(document)
            if found is None:
                agreed += 1
            elif comparison.alone and all(
                any(re.search(each, text) for each in INEXPRESSIBLE) for text in comparison.alone
            ):
                beyond += 1
            else:
                differences.append(f"{change}: {found}")
        assert not differences, "\n".join(differences)
        assert min(comparison.accepted, comparison.refused) > 20
        # The others are few.
        assert beyond * 10 < agreed
        counted[name] = agreed


def test_a_path_into_the_profiles_is_refused(tmp_path: Path) -> None:
    # The check names the path that becomes a map, and the schema the key.
    with opened("synth", tmp_path) as app:
        document = {"config": {"profiles.stage": True}}
        assert not accepts(app.schema, document)
        with pytest.raises(invivo.Error, match=r"config\.profiles: expected the names"):
            app.check(document)


def test_enough_documents_are_compared(counted: dict[str, int]) -> None:
    if set(counted) != set(APPLICATIONS):
        pytest.skip("only some of the comparisons have run")
    assert sum(counted.values()) >= 300
    assert min(counted.values()) >= 80


# ---- what a schema cannot express ------------------------------------------------------------------------


def accepts(schema: Any, document: Any) -> bool:
    return not list(Draft202012Validator(schema).iter_errors(document))


def lead(*traits: Any) -> Any:
    return {"traits": {"synth.lead": list(traits)}}


def lamp(**values: Any) -> Any:
    return {"traits": {"desk.lamp": [{"Set": values}]}}


# The item of the list in docs/configuration.md, the application, the document, the error of the check.
BEYOND: list[tuple[str, str, Any, str]] = [
    (
        "cycles",
        "synth",
        lead({"Inherit": {"traits": ".a"}})
        | {"traits": {".a": [{"Inherit": {"traits": ".b"}}], ".b": [{"Inherit": {"traits": ".a"}}]}},
        "inherit from each other",
    ),
    (
        "cycles",
        "synth",
        {"wiring": {"synth.saw": {"alias": "synth.sine"}, "synth.sine": {"alias": "synth.saw"}}},
        "cyclic",
    ),
    ("other files", "desk", {"include": ["missing.yaml"]}, "missing.yaml"),
    ("other files", "desk", {"config": {"station": {"title": "file:missing"}}}, "missing"),
    ("environment variables", "synth", lead({"Set": {"name": "${NO_SUCH_VARIABLE}"}}), "is not set"),
    (
        "environment variables",
        "synth",
        lead({"Set": {"gain": "${NO_SUCH_VARIABLE:-loud}"}}),
        "expected a number from 0",
    ),
    ("environment variables", "synth", lead({"Set": {"name": "${1}"}}), "expected the name"),
    (
        "checks of the host",
        "studio",
        {"config": {"audio": {"rate": 1, "buffer": "soon"}, "backup": {"port": 1}}},
        "duration",
    ),
    ("ranges of strings", "synth", lead({"Set": {"cutoff": "1.2 MHz"}}), "outside 20...20000 Hz"),
    ("ranges of strings", "desk", {"config": {"station": {"slots": "17"}}}, "outside 1...16"),
    ("ranges of strings", "desk", lamp(wide="1.5 B"), "is not a whole number"),
    ("results of relative layers", "synth", lead({"Set": {"gain": 1}}, {"Scale": {"gain": 9}}), "9 is outside 0...8"),
    ("inheritance", "synth", lead({"Inherit": {"traits": [".missing"]}}), "no document has traits"),
    (
        "inheritance",
        "synth",
        {"traits": {"synth.lead": [{"Inherit": {"traits": [".a"]}}], ".a": [{"Set": {"gian": 1}}]}},
        "did you mean 'gain'",
    ),
    (
        "inheritance",
        "synth",
        {"traits": {"synth.lead": [{"Inherit": {"traits": "free"}}], "free": [], "synth.leda": []}},
        "no target has the key 'synth.leda'",
    ),
    (
        "conditions",
        "synth",
        lead({"When": {"config": "synth.voices", "traits": []}}) | {"config": {"synth": {"voices": 4}}},
        "not true or false",
    ),
    ("entries", "synth", {"traits": {"synth.track[missing]": []}}, "no target has the key"),
    ("wiring", "synth", {"wiring": {"synth.saw": {"alias": "synth.lead"}}}, "an alias leads to the same type"),
    ("names of one property", "desk", lamp(gain=1, loudness=1), "are the same property"),
    ("lengths in bytes", "desk", lamp(name="\u00e4" * 20), "the string has 40 bytes"),
    ("paths", "synth", {"config": {"a.b": 1, "a": {"b": 2}}}, "set twice"),
    ("paths", "desk", {"config": {"desk": {"huor": 1}}}, "did you mean 'desk.hour'"),
    ("paths", "studio", {"config": {"audio.main.prot": 1, "audio.rate": 1, "backup.port": 1}}, "no field 'prot'"),
    ("paths", "studio", {"config": {"audio.gain": 1, "backup.port": 1}}, "needs 'rate'"),
]


@pytest.mark.parametrize("case", range(len(BEYOND)))
def test_a_check_finds_more_than_a_schema(case: int, tmp_path: Path) -> None:
    _, name, document, message = BEYOND[case]
    with opened(name, tmp_path) as app:
        assert accepts(app.schema, document)
        with pytest.raises(invivo.Error) as found:
            app.check(document)
        assert message in "\n".join(map(str, found.value.errors))


def test_a_parsed_document_has_no_duplicate_keys_and_no_limits() -> None:
    with invivo.Runtime(max_document_bytes=100) as runtime:
        schema = json.loads(runtime.schema_text())
        for text, message in (
            ('{"traits": {}, "traits": {}}', "given twice"),
            ('{"config": {"a": 99999999999999999999}}', "64 bits"),
            (json.dumps({"config": {"a": "x" * 100}}), "max_document_bytes"),
        ):
            assert accepts(schema, json.loads(text))
            changes = runtime.changes()
            changes.document("a.json", text)
            with pytest.raises(invivo.Error, match=message):
                changes.check()
            changes.discard()


@dataclass
class Even:
    number: int = 0

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError("it is odd")


class Knob:
    level: float = invivo.tunable(0.0)

    def __init__(self, size: int = 0) -> None: ...


def test_rules_and_checks_of_the_host() -> None:
    class Checked(invivo.Trait, name="schemas.Checked"):
        targets = (Knob,)
        amount: int = invivo.tunable(0)

        def check(self) -> None:
            if self.amount % 2:
                raise invivo.Refused("the amount is odd")

        def layers(self, layers: invivo.Layers) -> None: ...

    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.define(Knob, "a.knob", scope="lazy_singleton")
            changes.define(invivo.new(Knob, invivo.config("size", 1)), "a.sized", scope="lazy_singleton")
            changes.bind_settings(Even, "even")

        @runtime.rule("a.low", "a.high")
        def low_is_below_high(low: Any, high: Any) -> bool:
            return low is None or high is None or low < high

        runtime.add_rule("level", ["a.knob.level"], lambda level: True)
        schema = json.loads(runtime.schema_text())
        for document, message in (
            ({"config": {"even": {"number": 3}}}, "it is odd"),
            ({"traits": {"a.knob": [{"schemas.Checked": {"amount": 3}}]}}, "the amount is odd"),
            ({"config": {"a": {"low": 3, "high": 2}}}, "low_is_below_high"),
            ({"traits": {"a.knob": [{"Ramp": {"to": {"level": 1}, "over": 1}}]}}, "level"),
        ):
            assert accepts(schema, document)
            changes = runtime.changes()
            changes.document("a.json", json.dumps(document))
            with pytest.raises(invivo.Error) as found:
                changes.check()
            changes.discard()
            assert message in "\n".join(map(str, found.value.errors))


def test_a_needed_value_may_come_from_elsewhere() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.define(invivo.new(Knob, invivo.config("size")), "a.sized", scope="lazy_singleton")
            changes.document("a.json", '{"config": {"a": {"size": 1}}}')
        assert accepts(json.loads(runtime.schema_text()), {})
        changes = runtime.changes()
        changes.document("a.json", "{}")
        with pytest.raises(invivo.NotConfiguredError, match="needs the configuration 'size'"):
            changes.check()
        changes.discard()


# ---- what several documents say --------------------------------------------------------------------------


@dataclass
class Door:
    width: int
    height: int = 2


def test_fields_that_another_document_may_give_are_not_required() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.bind_settings(Door, "door")
            changes.document("a.json", '{"config": {"door": {"width": 1}}}')
        alone = json.loads(runtime.schema_text())
        assert not accepts(alone, {})
        assert not accepts(alone, {"config": {"door": {"width": None}}})
        assert accepts(alone, {"include": ["others.yaml"]})
        assert accepts(alone, {"config": {"door": {"width": 3}}})
        with runtime.changes() as changes:
            changes.document("b.json", '{"config": {"door": {"height": 3}}}')
        both = json.loads(runtime.schema_text())
        assert accepts(both, {"config": {"door": {"height": 3}}})
        assert not accepts(both, {"config": {"door": {"height": "x"}}})
        runtime.configure("door.width", 4)
        with runtime.changes() as changes:
            changes.document("b.json", None)
        assert accepts(json.loads(runtime.schema_text()), {})


def test_keys_that_other_documents_inherit_from_are_known() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.define(Knob, "a.knob", scope="lazy_singleton")
            changes.document("a.json", '{"traits": {"a.knob": [{"Inherit": {"traits": "free"}}]}}')
            changes.document("b.json", '{"traits": {"free": []}}')
        schema = json.loads(runtime.schema_text())
        assert accepts(schema, {"traits": {"free": []}})
        assert not accepts(schema, {"traits": {"fere": []}})


def test_pending_targets_permit_other_keys() -> None:
    with invivo.Runtime(pending_targets=True) as runtime:
        schema = json.loads(runtime.schema_text())
        for document in ({"traits": {"later.key": []}}, {"wiring": {"later.key": {"scope": "graph"}}}):
            assert accepts(schema, document)
            changes = runtime.changes()
            changes.document("a.json", json.dumps(document))
            changes.check()
            changes.discard()


class Login(pydantic.BaseModel):
    password: pydantic.SecretStr = pydantic.SecretStr("canary")


@dataclass
class Account:
    login: Login
    pin: pydantic.SecretStr = pydantic.SecretStr("canary")  # noqa: RUF009


def test_a_secret_has_no_default() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.bind_settings(Account, "account")
            changes.configure("account", {"login": {}})
        text = runtime.schema_text()
        assert "password" in text
        assert "pin" in text
        assert "canary" not in text


@dataclass
class Keys:
    token: Annotated[str, invivo.secret] = "canary"
    salt: str = "salt"
    size: int = 3


class Vault(pydantic.BaseModel):
    code: Annotated[str, invivo.secret] = "canary"
    keys: list[Keys] = [Keys()]


class Safe:
    code: str = invivo.tunable("canary", secret=True)
    size: int = invivo.tunable(3)


def test_a_value_that_is_declared_secret_has_no_default() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.define(Safe, "a.safe", scope="lazy_singleton")
            changes.bind_settings(Keys, "keys")
            changes.bind_settings(Vault, "vault")
        text = runtime.schema_text()
        assert "canary" not in text
        assert json.loads(text)["$defs"]["Set.Safe"]["properties"]["size"]["default"] == 3
        assert not accepts(json.loads(text), {"config": {"keys": {"token": 3}}})


# ---- what an editor shows --------------------------------------------------------------------------------


def test_a_schema_describes_values_for_editors(tmp_path: Path) -> None:
    with opened("desk", tmp_path) as app:
        gain = app.schema["$defs"]["Set.Lamp"]["properties"]["gain"]
        assert gain["description"] == "The gain. A number, 0 to 8."
        assert (gain["default"], gain["examples"]) == (1, ["-6 dB"])
        assert app.schema["$defs"]["Set.Lamp"]["properties"]["loudness"]["deprecated"] is True
        assert app.schema["title"] == "Spec file of app.yaml"
        assert app.schema["properties"]["wiring"]["properties"]["room.lamp"]
    with opened("studio", tmp_path) as app:
        audio = app.schema["$defs"]["settings.Audio.Audio"]
        assert audio["description"] == "The sound card."
        assert audio["properties"]["gain"]["default"] == 1.0


def test_the_tool_writes_and_compares_a_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compile_desk(tmp_path)
    manifest, schema = tmp_path / "app.yaml", tmp_path / "schema.json"
    manifest.write_text(MANIFEST)
    assert main(["schema", str(manifest), "-o", str(schema)]) == 2
    assert "values.json" in capsys.readouterr().err
    assert main(["schema", str(manifest), "--wait", "--check", "-o", str(schema)]) == 1
    assert (
        f"{schema}: error: the file is out of date: write it with 'invivo schema {manifest}" in capsys.readouterr().err
    )
    assert main(["schema", str(manifest), "--wait", "-o", str(schema)]) == 0
    assert main(["schema", str(manifest), "--wait", "--check", "-o", str(schema)]) == 0
    assert main(["schema", str(manifest), "--wait"]) == 0
    assert capsys.readouterr().out == schema.read_text() == invivo.App.schema(manifest, wait=True)
    with pytest.raises(SystemExit):
        main(["schema", str(manifest), "--check"])
    assert "--check needs --output" in capsys.readouterr().err


def test_a_schema_grows_with_the_keys_alone() -> None:
    def size(count: int) -> int:
        with invivo.Runtime() as runtime:
            with runtime.changes() as changes:
                for number in range(count):
                    key = f"many.knob{number}"
                    changes.define(invivo.new(Knob, invivo.config(f"size{number}", 1)), key, scope="lazy_singleton")
            return len(runtime.schema_text())

    few, more, most = size(50), size(100), size(200)
    assert most - more < 2.2 * (more - few)
