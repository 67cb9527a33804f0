"""The generated declarations agree with what a C compiler makes of the headers (Tests/Header/layout.txt)."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from invivo import _generated as c

LAYOUT = Path(__file__).resolve().parents[3] / "Tests" / "Header" / "layout.txt"
LINES = [line.split(" ") for line in LAYOUT.read_text().splitlines()]
STRUCTURES = {structure.__name__: structure for structure in [*c.STRUCTURES, c.invivo_table]}


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=lambda structure: structure.__name__)
def test_a_structure_has_the_size_and_offsets_that_c_gives_it(structure: type[ctypes.Structure]) -> None:
    name = structure.__name__
    found = {field[0]: getattr(structure, field[0]) for field in structure._fields_}
    expected = {words[0].partition(".")[2]: words[1:] for words in LINES if words[0].startswith(name + ".")}
    direct = {path: (int(place[0]), int(place[1])) for path, place in expected.items() if "." not in path}
    if not direct:
        return  # a part of another structure, which holds it at the place that is compared there
    places = {path: (field.offset, field.size) for path, field in found.items()}
    if structure is c.invivo_table:
        places = {path: place for path, place in places.items() if "invivo_" + path in c.FUNCTIONS}
    assert places == direct
    sizes = [int(words[1]) for words in LINES if words[0] == name]
    assert sizes in ([], [ctypes.sizeof(structure)])


def test_every_structure_and_constant_of_the_headers_is_there() -> None:
    for words in LINES:
        if "." not in words[0] and words[0].startswith("invivo_"):
            assert ctypes.sizeof(STRUCTURES[words[0]]) == int(words[1])
        elif words[0].startswith("INVIVO_"):
            assert str(getattr(c, words[0])) == words[1]


def test_the_nested_parts_of_a_value_lie_where_c_puts_them() -> None:
    for words in LINES:
        head, _, rest = words[0].partition(".")
        if head != "invivo_value" or not rest.startswith("as."):
            continue
        structure, offset = STRUCTURES["invivo_value"], 0
        for part in rest.split("."):
            field = getattr(structure, part)
            offset += field.offset
            structure = {f[0]: f[1] for f in structure._fields_}[part]
        assert offset == int(words[1]), words


def test_the_table_lists_every_function_once() -> None:
    assert sorted(c.TABLE) == sorted(c.FUNCTIONS)
    assert len(set(c.TABLE)) == len(c.TABLE)
