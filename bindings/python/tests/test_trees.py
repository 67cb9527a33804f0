"""Injecting into what was made elsewhere: needs of classes, objects that become shared, whole trees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import invivo


class Theme:
    pass


class Widget:
    theme: Theme = invivo.injected()

    def __init__(self, name: str = "", *below: Widget) -> None:
        self.name, self.below = name, below
        self.heard = list[str]()

    @invivo.children
    def _below(self) -> Iterator[Widget]:
        return iter(self.below)

    @invivo.did_inject
    def _done(self) -> None:
        order.append(self.name)


class Special(Widget):
    title: str = ""

    @invivo.injection_key
    def _key(self) -> str | None:
        return "ui.special"


order = list[str]()


def test_a_tree_is_injected_whole_and_completes_children_first() -> None:
    order.clear()
    inner = Widget("inner")
    special = Special("special")
    root = Widget("root", Widget("left", inner), special)
    ui = invivo.Assembly("ui")
    ui.lazy_singleton(Theme)
    ui.prototype(Special, title="by key")
    with invivo.Runtime(ui) as runtime:
        runtime.inject_tree(root)
        assert order == ["inner", "left", "special", "root"]
        assert inner.theme is root.theme is runtime[Theme]
        assert special.title == "by key"


def test_callbacks_walk_a_tree() -> None:
    order.clear()
    a, b, foreign, root = Widget("a"), Widget("b"), Widget("foreign"), Widget("root")
    below = {"root": [a, foreign], "a": [b], "foreign": [root]}
    ui = invivo.Assembly("ui")
    ui.lazy_singleton(Theme)
    with invivo.Runtime(ui) as runtime:
        runtime.inject_tree(
            root, children=lambda each: below.get(each.name, ()), skip=lambda each: each.name == "foreign"
        )
        assert order == ["b", "a", "root"]


class Unknown:
    pass


def test_what_nobody_knows_is_told_before_anything_is_injected() -> None:
    order.clear()
    root = Widget("root", Widget("a"))
    ui = invivo.Assembly("ui")
    ui.lazy_singleton(Theme)

    def children(each: object) -> list[object]:
        return [*each.below, Unknown()] if isinstance(each, Widget) else []

    with invivo.Runtime(ui) as runtime:
        with pytest.raises(invivo.Error, match=r"root\.1"):
            runtime.inject_tree(root, children=children)
        assert order == []
        runtime.inject_tree(root, children=children, known_only=True)
        assert order == ["a", "root"]


def test_an_object_becomes_shared_only_when_asked() -> None:
    ui = invivo.Assembly("ui")
    ui.lazy_singleton(Theme)
    ui.lazy_singleton(Widget, name="main")
    mine = Widget("mine")
    with invivo.Runtime(ui) as runtime:
        runtime.inject(mine, "ui.main", shared=True)
        assert runtime["ui.main"] is mine
        assert mine.theme is runtime[Theme]
        with pytest.raises(invivo.errors.ExistsError):
            runtime.inject(Widget("other"), "ui.main", shared=True)


def test_what_a_class_marks_is_filled_by_the_library_and_can_be_turned_off() -> None:
    ui = invivo.Assembly("ui")
    ui.lazy_singleton(Theme)
    mine = Widget("mine")
    with invivo.Runtime(ui) as runtime:
        made = runtime.type(Widget)("made")
        assert made.theme is runtime[Theme]
        runtime.inject(mine)
        assert mine.theme is runtime[Theme]
    with invivo.Runtime(ui, inject_marked=False) as runtime:
        made = runtime.type(Widget)("made")
        with pytest.raises(invivo.Error):
            print(made.theme)
