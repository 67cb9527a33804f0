"""The import of the package is quick: it loads no module that few programs need, and defines its classes cheaply."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import invivo
from invivo._values.fields import dataclass

RARE = {
    "asyncio",
    "base64",
    "difflib",
    "importlib.util",
    "ipaddress",
    "json",
    "pathlib",
    "platform",
    "socket",
    "ssl",
    "subprocess",
    "urllib.parse",
    "uuid",
    "invivo._settings.describe",
    "invivo._settings.schema",
}


def test_the_import_loads_no_module_that_few_programs_need() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(invivo.__file__).parents[1])!r}); import invivo; "
        "assert invivo.Runtime; print(*sys.modules, sep='\\n')"
    )
    # Without site: packages of the environment may load modules of their own.
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert RARE & set(done.stdout.split()) == set()


@dataclass(frozen=True)
class Quick:
    """A class of each kind of field."""

    name: str
    size: int = 3
    more: Mapping[str, int] = dataclasses.field(default_factory=dict)
    note: str = dataclasses.field(default="", compare=False)
    hidden: str = dataclasses.field(default="h", repr=False)

    @property
    def doubled(self) -> int:
        return 2 * self.size


@dataclasses.dataclass(frozen=True)
class Standard:
    """A class of each kind of field."""

    name: str
    size: int = 3
    more: Mapping[str, int] = dataclasses.field(default_factory=dict)
    note: str = dataclasses.field(default="", compare=False)
    hidden: str = dataclasses.field(default="h", repr=False)


@dataclass(frozen=True, eq=False)
class Identified:
    """A class whose objects are compared by identity."""

    name: str


@pytest.mark.parametrize("cls", [Quick, Standard])
def test_a_quick_dataclass_is_like_a_standard_one(cls: Any) -> None:
    one = cls("a", note="x")
    assert one == cls("a", 3, {}, "y")
    assert one != cls("b")
    assert one != "a"
    assert one.more == {}
    assert one.more is not cls("a").more
    assert repr(one) == f"{cls.__name__}(name='a', size=3, more={{}}, note='x')"
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen
    assert dataclasses.asdict(one) == {"name": "a", "size": 3, "more": {}, "note": "x", "hidden": "h"}
    assert dataclasses.replace(one, name="b", size=4) == cls("b", 4)
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    assert cls.__match_args__ == ("name", "size", "more", "note", "hidden")
    assert list(inspect.signature(cls).parameters) == ["name", "size", "more", "note", "hidden"]
    assert inspect.signature(cls).parameters["name"].annotation == "str"
    assert inspect.signature(cls).parameters["size"].default == 3
    assert hash(dataclasses.replace(one, more=())) == hash(dataclasses.replace(one, more=(), note="other"))
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
        one.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'other'"):
        one.other = 1
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'name'"):
        del one.name
    with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument: 'name'"):
        cls()
    with pytest.raises(TypeError, match=r"__init__\(\) got an unexpected keyword argument 'nam'"):
        cls("a", nam=1)

    @dataclasses.dataclass(frozen=True)
    class Derived(cls):
        extra: int = 0

    derived = Derived("a", extra=2)
    assert (derived.name, derived.extra) == ("a", 2)
    assert derived != one

    class Open(cls):
        pass

    opened = Open("a")
    opened.other = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        opened.name = "b"


def test_a_recursive_quick_dataclass_has_a_representation() -> None:
    one = Quick("a", more={})
    one.more["self"] = one
    assert repr(one) == "Quick(name='a', size=3, more={'self': ...}, note='')"


def test_a_quick_dataclass_without_equality_is_compared_by_identity() -> None:
    one = Identified("a")
    assert one != Identified("a")
    assert {one: 1}[one] == 1


def test_a_quick_dataclass_is_frozen() -> None:
    with pytest.raises(ValueError, match="these dataclasses are frozen"):
        dataclass(frozen=False)
