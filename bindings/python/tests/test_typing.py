"""What a type checker makes of assemblies: members' names, arguments and results are checked, before anything runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

PROGRAM = """
from __future__ import annotations
from typing import Annotated, Callable, Protocol
import invivo

class Fort:
    def __init__(self, towers: int) -> None: ...

class Tall(Fort): ...

class Knight:
    fort: Fort
    make: Callable[[int], Fort]
    later: invivo.Lazy[Fort]
    weak: invivo.Weak[Fort]
    forts: list[Fort]
    clock: Fort = invivo.injected()
    def __init__(self, name: str, *, age: int = 3) -> None: ...
    def say(self, text: str) -> None: ...
    def ready(self) -> None: ...

class Parrot:
    def __init__(self, name: str = "x") -> None: ...
    def say(self, text: str) -> None: ...

class Speaks(Protocol):
    def say(self, text: str) -> None: ...

class Forts(Protocol):
    def fort(self, towers: int) -> Fort: ...

class Weather(invivo.Assembly):
    @invivo.lazy_singleton
    def fort(self, towers: int) -> Fort:
        return invivo.new(Fort, towers)

class Camelot(invivo.Assembly, name="camelot"):
    weather: Weather
    other: Forts = invivo.collaborator()

    @invivo.graph(rank=3, after=Knight.ready)
    def knight(self, name: str) -> Knight:
        knight = invivo.new(Knight, name, age=4)
        knight.fort = self.weather.fort(3)
        knight.fort = self.other.fort(3)
        knight.make = self.weather.fort
        knight.later = invivo.lazy(self.weather.fort(1))
        knight.weak = invivo.weak(self.weather.fort(1))
        knight.forts = [self.weather.fort(1), *invivo.every(Fort)]
        knight.say("hail")
        return knight

    @invivo.define
    def child(self) -> Knight:
        return invivo.child(self.knight("Arthur"))

    @invivo.graph(before=Knight.say)  # E: arg-type
    def wired(self) -> Knight:
        return invivo.wire(Knight)

    @invivo.prototype
    def wrong(self) -> Knight:
        knight = invivo.new(Knight, 3)  # E: arg-type
        knight.fort = self.knight("x")  # E: assignment
        knight.fort = self.weather.fort("x")  # E: arg-type
        knight.nothing = 3  # E: attr-defined
        knight.say(3)  # E: arg-type
        knight.make = self.knight  # E: assignment
        knight.later = invivo.lazy(self.knight("x"))  # E: arg-type
        knight.weak = invivo.weak(self.knight("x"))  # E: arg-type
        invivo.new(Knight, "x", age="y")  # E: arg-type
        invivo.new(Knight)  # E: call-arg
        return invivo.new(Fort, 3)  # E: return-value

    @invivo.define
    def turned(self, age: int, name: str) -> Knight:
        self.knight(age)  # E: arg-type
        return self.knight(name)

    @invivo.define
    def chosen(self) -> Fort:
        return invivo.choice(invivo.config("fort"), {"low": self.weather.fort(1), "tall": invivo.new(Tall, 3)})

    @invivo.define
    def spoken(self) -> Speaks:
        options = [("x", self.knight("x")), ("y", invivo.new(Parrot))]
        invivo.new(Parrot, invivo.choice(invivo.config("name"), {"a": 3, None: "b"}, otherwise=2.5))
        return invivo.choice(invivo.config("speaker"), {"x": self.knight("x"), "y": invivo.new(Parrot)}, named=True)

    @invivo.lazy_singleton(
        exclusive=True, waits=True, tracked=False, nullable=True, start_timeout=1.5, stop_timeout=2, each="voices"
    )
    def port(self) -> Fort | None:
        return invivo.new(Fort, 3)

    @invivo.singleton(exclusiv=True)  # E: call-overload,untyped-decorator
    def misspelt(self) -> Fort:
        return invivo.new(Fort, "x")  # E: arg-type

    @invivo.in_scope("thread")
    def local(self) -> Fort:
        return invivo.child(self.knight("x"))  # E: return-value

class Derived(Weather):
    def fort(self, towers: int) -> Tall:
        return invivo.new(Tall, towers)

class WrongOne(Weather):
    def fort(self, towers: str) -> Fort:  # E: override
        return invivo.new(Fort, 3)

with invivo.Runtime(camelot := Camelot()) as runtime:
    knight: Knight = camelot.knight("Lancelot")
    camelot.knight(quest="x")  # E: call-arg
    camelot.knight(3)  # E: arg-type
    camelot.night("x")  # E: attr-defined
    fort: Fort = camelot.knight("x")  # E: assignment
    tall: Tall = Derived().fort(3)
    found: Knight = runtime[Knight]
    all_of: list[Knight] = runtime.resolve_all(Knight)
    maybe: Knight | None = runtime.resolve_optional(Knight)
    other: Fort = runtime.resolve_type(Knight)  # E: assignment
    weather: int = camelot.weather  # E: assignment
    provider: invivo.Provider[Knight] = invivo.provider(camelot.knight("x"))
    made: Knight = provider()
    lazy: Fort = invivo.lazy(camelot.weather.fort(1)).value
    there: Fort | None = invivo.weak(camelot.weather.fort(1))()
    certain: Fort = invivo.weak(camelot.weather.fort(1))()  # E: assignment
    maybe_fort: Fort = camelot.port()  # E: assignment
    camelot.turned(age=3, name="x")
    camelot.turned("x", 3)  # E: arg-type
    camelot.turned(3)  # E: call-arg
    mounted: Camelot = runtime.mount(Camelot(), "left", {"weather": "other"})
    mounted.knight(7)  # E: arg-type
    with runtime.override(Knight, Knight, name="x") as override, runtime.entered() as same:
        again: invivo.Runtime = same
        also: invivo.Runtime = invivo.current()
        nothing: str = override.end()  # E: func-returns-value,assignment
    invivo.set_default("x")  # E: arg-type

def reports(change: invivo.Change, progress: invivo.Progress, cause: invivo.Cause, notice: invivo.Notice) -> None:
    if change.what == "kept" or progress.phase == "retired" or cause.kind == "rollback" or notice.kind == "unread":
        pass
    if change.what == "kep":  # E: comparison-overlap
        pass
    if progress.phase == "retire":  # E: comparison-overlap
        pass
    if cause.kind == "rolback":  # E: comparison-overlap
        pass
    if notice.kind == "unreed":  # E: comparison-overlap
        pass
    former: Fort | None = invivo.former(Fort)
    no_fort: Fort = invivo.former(Fort)  # E: assignment
    any_former: Fort = invivo.former()

async def later(runtime: invivo.Runtime) -> None:
    made: Knight = await runtime.aresolve(Knight)
    wrong: Fort = await runtime.aresolve(Knight)  # E: arg-type
    by_name = await runtime.aresolve("camelot.knight", "x")

class Duck(invivo.Trait, name="synth.Duck"):
    targets = (Knight, "Fort")
    amount: float = invivo.tunable(..., min=0, max=1)
    count: int = invivo.tunable(2, max=5)

    def layers(self, layers: invivo.Layers) -> None:
        layers.scale("gain", 1 - self.amount)
        layers.scale("gain", "much")  # E: arg-type
        count: str = self.count  # E: assignment

def traits(runtime: invivo.Runtime) -> None:
    runtime.add_trait(Duck)
    runtime.remove_trait("synth.Duck")
    runtime.add_trait(Fort)  # E: arg-type
    Duck.remove()

WORKERS = invivo.ContextKey("workers", int, default=8)
USER = invivo.ContextKey("user", Knight)
invivo.ContextKind("request", provides=["user", USER], live=[WORKERS])
invivo.ContextKind("request", policy="folows")  # E: arg-type

async def contexts(runtime: invivo.Runtime) -> None:
    async with runtime.context("request", values={USER: 3}, theme="dark") as request:
        workers: int = request[WORKERS]
        user: Fort = request[USER]  # E: assignment
        maybe: Knight = request.get(USER)  # E: assignment
        either: Knight | str = request.get(USER, "x")
        local: Knight = request.local(USER)
        theme: Fort = request["theme"]
        request[WORKERS] = "x"  # E: misc
        request[WORKERS] = 3
        request[3]  # E: call-overload
        kind: str | None = request.kind
        above: invivo.Context = request.parent  # E: assignment
        request.find(Knight).object.next()
        request.update({WORKERS: 3}, theme="light", hide=[USER])
        runtime.context(parent="x")  # E: arg-type
        with request.entered() as same, request.observe(USER, print) as observer:
            again: invivo.Context = same
            key: int = observer.key  # E: assignment
        for entry in request.entries():
            distance: str = entry.distance  # E: assignment

def pools(runtime: invivo.Runtime) -> None:
    runtime.define(Fort, "a.fort", scope=3)  # E: arg-type
    found: list[Fort] = runtime.resolve_all(Knight)  # E: arg-type
    config: int = runtime.config("a.b", 3)
    try:
        runtime.start(Knight)
    except invivo.NotFoundError as problem:
        number: int = problem.path  # E: assignment
    except (invivo.DormantError, KeyError):
        raise
"""


def test_names_arguments_and_results_of_members_are_checked(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    settings = tmp_path / "mypy.ini"
    settings.write_text(f"[mypy]\nstrict = true\nmypy_path = {HERE.parent}\ncache_dir = {tmp_path / 'cache'}\n")
    said, problems, _ = api.run(["--config-file", str(settings), "--no-error-summary", str(path)])
    assert not problems
    found: dict[int, set[str]] = {}
    for line in said.splitlines():
        match = re.match(r".*program\.py:(\d+): error: .*\[([\w-]+)\]$", line)
        if match:
            found.setdefault(int(match[1]), set()).add(match[2])
        else:
            assert "note:" in line, line
    wanted = {
        number: set(line.partition("# E: ")[2].split(","))
        for number, line in enumerate(PROGRAM.splitlines(), 1)
        if "# E: " in line
    }
    lines = PROGRAM.splitlines()
    for number in sorted(found.keys() | wanted.keys()):
        there = found.get(number, set())
        assert there <= wanted.get(number, set()), f"{lines[number - 1]}\n{said}"
        assert there or not wanted.get(number), f"not noticed: {lines[number - 1]}"


def test_pyright_sees_members_of_assemblies(tmp_path: Path) -> None:
    if shutil.which("pyright", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("pyright is not installed")
    path = tmp_path / "program.py"
    path.write_text(PYRIGHT)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(HERE.parent)]}))
    command = [str(Path(sys.executable).parent / "pyright"), "--outputjson", "--project", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if not ran.stdout.startswith("{"):
        pytest.skip(f"pyright cannot run here: {ran.stderr[-200:]}")
    said = json.loads(ran.stdout)["generalDiagnostics"]
    found = {each["range"]["start"]["line"] for each in said if each["severity"] == "error"}
    assert found == {number for number, line in enumerate(PYRIGHT.splitlines()) if "# E" in line}, said


PYRIGHT = """
import contextlib
from collections.abc import Iterator
import invivo

class Fort:
    def __init__(self, towers: int) -> None: ...

@contextlib.contextmanager
def opened(towers: int) -> Iterator[Fort]:
    yield Fort(towers)

class App(invivo.Assembly):
    @invivo.lazy_singleton
    def fort(self, towers: int) -> Fort:
        return invivo.new(Fort, towers)

    @invivo.prototype(rank=1)
    def opened(self) -> Fort:
        return invivo.managed(opened, 3)

    @invivo.prototype
    def wrong(self) -> Fort:
        return invivo.managed(opened, "x")  # E

app = App()
with invivo.Runtime(app) as runtime:
    fort: Fort = app.fort(3)
    other: int = app.fort(3)  # E
    app.fort("x")  # E
    app.nothing()  # E
    found: Fort = runtime[Fort]
    wrong: int = runtime[Fort]  # E

    key = invivo.ContextKey("towers", int)
    with runtime.context(values={key: 3}) as context:
        towers: int = context[key]
        fort = context["fort"]
        no_fort: Fort = context[key]  # E
        none: int = context.get(key)  # E
        context[key] = "x"  # E
"""
