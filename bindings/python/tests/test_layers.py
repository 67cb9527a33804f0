"""The package is arranged in folders by concept, and imports go one way: a module uses only what stands before it."""

from __future__ import annotations

import ast
import inspect
import pickle
import typing
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import invivo

PACKAGE = Path(__file__).resolve().parents[1] / "invivo"

# From below to above: what is in a folder uses only the folders before it, and modules of its own without a cycle.
LAYERS = (
    "_version",
    "_generated",  # declarations of the library's headers
    "errors",
    "_native",  # calls, callbacks, errors and leases
    "_values",  # values and handles of other languages
    "_declarations",  # marks and recipes, for authors of classes and assemblies
    "_classes",  # annotations and classes, as they are read
    "_settings",  # annotations as readers of the configuration
    "_objects",  # objects, classes and functions of Python in the library
    "_assemblies",  # definitions, members, assemblies
    "_planning",  # definitions as injections, and as structures of the library
    "_state",  # the state of an open runtime, and its change sets
    "_services",  # configuration, documents, pools, scopes, views, reports
    "_runtime",  # the runtime and applications, as programs use them
    "__init__",
    "__main__",
)
LONGEST = 500  # lines


def modules() -> dict[str, str]:
    """The source of each module, by its path in the package."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        path = file.relative_to(PACKAGE).with_suffix("")
        if path.name != "__init__" or path.parent == Path():
            found[path.as_posix()] = file.read_text(encoding="utf-8")
    return found


def imports(module: str, source: str, known: frozenset[str]) -> Iterator[str]:
    """The modules of the package that a module imports: also in functions, and for type checkers alone."""
    for node in ast.walk(ast.parse(source)):
        base: list[str] = []
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = module.split("/")[:-1]
            base = folder[: len(folder) - node.level + 1] + (node.module.split(".") if node.module else [])
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "invivo":
            base = (node.module or "").split(".")[1:]
            names = [each.name for each in node.names]
        elif isinstance(node, ast.Import):
            names = [each.name.partition(".")[2].replace(".", "/") for each in node.names if _is_own(each.name)]
        else:
            continue
        for name in names:
            path, whole = "/".join((*base, name)), "/".join(base)
            if path in known:
                yield path
            elif whole in known:
                yield whole
            else:
                yield "__init__"


def _is_own(name: str) -> bool:
    return name.split(".")[0] == "invivo"


def wrong(sources: dict[str, str]) -> list[str]:
    """Imports that do not go down, and modules in no layer."""
    found = []
    known = frozenset(sources)
    arrows = {}
    for module, source in sources.items():
        own = module.split("/")[0]
        if own not in LAYERS:
            found.append(f"{module} is in no layer")
            continue
        arrows[module] = set(imports(module, source, known)) - {module}
        for other in sorted(arrows[module]):
            if LAYERS.index(other.split("/")[0]) > LAYERS.index(own):
                found.append(f"{module} imports {other}, which stands above it")
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as problem:
        found.append(f"modules import each other in a cycle: {' -> '.join(problem.args[1])}")
    return found


def test_imports_go_one_way() -> None:
    sources = modules()
    assert len(sources) > 50
    assert wrong(sources) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("_values/exact", "from .._objects.objects import Objects"),
        ("_native/leases", "def f():\n    from .. import _runtime\n"),
        ("_assemblies/members", "if TYPE_CHECKING:\n    from .._runtime.runtime import Runtime"),
        ("_planning/wiring", "from invivo import Runtime"),
        ("_classes/hints", "import invivo._state.core"),
        ("_native/signals", "from .library import Library"),  # which uses signals
        ("errors", "from ._native import strings"),
    ],
)
def test_an_upward_import_is_found(module: str, line: str) -> None:
    sources = modules()
    sources[module] += f"\n{line}\n"
    assert wrong(sources)


def test_no_module_is_long() -> None:
    lengths = {name: source.count("\n") for name, source in modules().items() if name != "_generated"}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_public_names_belong_to_the_package() -> None:
    for name in invivo.__all__:
        thing = getattr(invivo, name)
        if isinstance(thing, type):
            assert thing.__module__ == ("invivo.errors" if issubclass(thing, invivo.Error) else "invivo")
            assert isinstance(typing.get_type_hints(thing), dict)
            assert pickle.loads(pickle.dumps(thing)) is thing
        elif inspect.isfunction(thing):
            assert thing.__module__ == "invivo"
    change = invivo.Change("synth.lead", "defined", "")
    assert pickle.loads(pickle.dumps(change)) == change
