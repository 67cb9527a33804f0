"""Definitions by key and class: what is found is what a look at all of them finds, whatever has come and gone."""

from __future__ import annotations

import random
from typing import Protocol

import pytest

import invivo
from invivo._definitions import Definition, definition
from invivo._index import After, Definitions, behaves


class Ticking(Protocol):
    def tick(self) -> None: ...


class Base:
    pass


class Clock(Base):
    def tick(self) -> None: ...


class Fine(Clock):
    pass


class Other:
    def tick(self) -> None: ...


CLASSES = (Base, Clock, Fine, Other)


@pytest.mark.parametrize("seed", range(5))
def test_an_index_follows_what_comes_and_goes(seed: int) -> None:
    chance = random.Random(seed)
    index = Definitions()
    plain: dict[str, Definition] = {}
    for _ in range(200):
        key = f"app.k{chance.randrange(12)}"
        if chance.random() < 0.3:
            index.drop(key)
            plain.pop(key, None)
        else:
            made = definition(key, chance.choice(CLASSES), "prototype", {})
            index.put(made)
            plain[key] = made
        new_key = f"app.k{chance.randrange(12)}"
        new = {new_key: definition(new_key, chance.choice(CLASSES), "graph", {})}
        gone = {f"app.k{chance.randrange(12)}"} - {new_key}
        later = {key: made for key, made in plain.items() if key not in gone} | new
        for found, every in ((index, plain), (After(index, new, gone), later)):
            assert {each.key for each in found.values()} == every.keys()
            assert all(found.get(key) is every.get(key) for key in (f"app.k{number}" for number in range(12)))
            for wanted in (*CLASSES, Ticking):
                fitting = {each.key for each in found.of(wanted)}
                assert fitting == {key for key, each in every.items() if wanted in each.makes.__mro__}  # type: ignore[union-attr]
                assert {each.key for each in found.like(wanted)} >= {
                    key
                    for key, each in every.items()
                    if behaves(each.makes, wanted) and key not in fitting  # type: ignore[arg-type]
                }


def test_a_class_that_comes_later_behaves_too() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Base)
    with invivo.Runtime(app) as runtime:
        with pytest.raises(invivo.NotFoundError):
            runtime[Ticking]  # type: ignore[type-abstract]
        runtime.define(Other)
        assert isinstance(runtime[Ticking], Other)  # type: ignore[type-abstract]
        with runtime.changes() as changes:
            changes.remove("other")
        with pytest.raises(invivo.NotFoundError):
            runtime[Ticking]  # type: ignore[type-abstract]
