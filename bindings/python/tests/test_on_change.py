"""How definitions follow changes of dependencies: they keep what they have, are made again, or refuse a change."""

from __future__ import annotations

import pytest

import invivo


class Theme:
    color: str

    def __init__(self, color: str = "light") -> None:
        self.color = color


class Panel:
    def __init__(self, theme: Theme) -> None:
        self.theme = theme


class Marked:
    theme: Theme = invivo.injected(on_change="keep")


class Sized:
    size: int = 0
    theme: Theme | None = None
    name: str = ""
    amount: int = 0
    themes: list[Theme] = []  # noqa: RUF012


class Themed(invivo.Assembly, name="app"):
    @invivo.singleton
    def theme(self) -> Theme:
        return invivo.new(Theme, invivo.config("theme", "light"))


def themed() -> invivo.Assembly:
    app = invivo.Assembly("app")
    app.singleton(Theme, "theme", color=invivo.config("theme", "light"))
    return app


def edit(runtime: invivo.Runtime, theme: str) -> None:
    with runtime.changes() as changes:
        changes.document("edit.yaml", f"config: {{app: {{theme: {theme}}}}}")


def kept_since(runtime: invivo.Runtime, key: str) -> int | None:
    node = next(node for node in runtime.wiring if node.key == key)
    return next(need.kept_since for need in node.needs if need.kept_since)


@pytest.mark.parametrize("declared", ["reference", "definition", "attribute"])
def test_an_object_keeps_the_former_one(declared):
    app = themed()
    match declared:
        case "reference":
            app.singleton(Panel, "panel", theme=invivo.ref("theme", on_change="keep"))
        case "definition":
            app.singleton(Panel, "panel", theme=invivo.ref("theme"), options=invivo.options(on_change="keep"))
        case "attribute":
            app.singleton(Marked, "panel")
    with invivo.Runtime(app) as runtime:
        reports = []
        runtime.observe(reports.append)
        panel = runtime["app.panel"]
        former = panel.theme
        edit(runtime, "dark")
        assert runtime["app.panel"] is panel
        assert panel.theme is former
        assert former.color == "light"
        assert runtime["app.theme"].color == "dark"
        assert [change.key for change in reports[-1].changes if change.what == "kept"] == ["app.panel"]
        (warning,) = reports[-1].warnings
        assert "'app.panel' keeps the former 'app.theme' until it is rebuilt (on_change: keep)" in warning
        assert kept_since(runtime, "app.panel") == runtime.generation
        runtime.reset("app.panel")
        assert runtime["app.panel"].theme.color == "dark"


def test_objects_that_a_factory_resolves_are_followed():
    app = themed()

    def panel() -> Panel:
        return Panel(invivo.current()["app.theme"])

    app.singleton(panel, "panel", options=invivo.options(on_change="keep"))
    with invivo.Runtime(app) as runtime:
        former = runtime["app.panel"]
        edit(runtime, "dark")
        assert runtime["app.panel"] is not former
        assert runtime["app.panel"].theme.color == "dark"


def test_a_property_of_another_object_is_kept():
    class App(Themed):
        @invivo.singleton
        def sized(self) -> Sized:
            made = invivo.new(Sized)
            made.name = invivo.ref("app.theme", on_change="keep").color
            return made

    with invivo.Runtime(App()) as runtime:
        former = runtime["app.sized"]
        edit(runtime, "dark")
        assert runtime["app.sized"] is former
        assert former.name == "light"


def test_a_value_of_the_configuration_is_kept():
    class App(invivo.Assembly):
        @invivo.singleton
        def sized(self) -> Sized:
            made = invivo.new(Sized)
            made.size = invivo.config("theme", 1, on_change="keep")
            return made

    with invivo.Runtime(App()) as runtime:
        edit(runtime, "7")
        assert runtime["app.sized"].size == 1
        runtime.reset("app.sized")
        assert runtime["app.sized"].size == 7


@pytest.mark.parametrize(
    ("attribute", "described"),
    [
        ("amount", lambda: invivo.text(invivo.config("theme", "1", on_change="keep"), "count")),
        ("themes", lambda: invivo.every(Theme, on_change="keep")),
    ],
)
def test_every_form_of_injection_can_keep(attribute, described):
    class App(Themed):
        @invivo.singleton
        def sized(self) -> Sized:
            made = invivo.new(Sized)
            setattr(made, attribute, described())
            return made

    with invivo.Runtime() as runtime:
        runtime.converter("count", int)
        runtime.activate(App())
        former = runtime["app.sized"]
        kept = getattr(former, attribute)
        edit(runtime, "'7'")
        assert runtime["app.sized"] is former
        assert getattr(former, attribute) is kept
        runtime.reset("app.sized")
        assert getattr(runtime["app.sized"], attribute) != kept


def test_a_change_is_refused_with_a_reason():
    app = themed()
    options = invivo.options(on_change="refuse", on_change_reason="a recording is under way")
    app.singleton(Panel, "panel", theme=invivo.ref("theme"), options=options)
    with invivo.Runtime(app) as runtime:
        with pytest.raises(
            invivo.ChangeRefusedError, match=r"refuses a change of 'app.theme': a recording is under way"
        ):
            edit(runtime, "dark")
        assert runtime["app.theme"].color == "light"


def test_an_attribute_is_rebuilt_on_request():
    class App(Themed):
        @invivo.singleton
        def sized(self) -> Sized:
            made = invivo.new(Sized)
            made.theme = invivo.ref("theme", on_change="rebuild")
            return made

    with invivo.Runtime(App()) as runtime:
        former = runtime["app.sized"]
        edit(runtime, "dark")
        assert runtime["app.sized"] is not former


def test_an_unknown_word_is_an_error():
    app = themed()
    app.singleton(Panel, "panel", theme=invivo.ref("theme", on_change="kept"))
    with pytest.raises(
        invivo.ArgumentError, match=r"on_change is one of 'follow', 'keep', 'rebuild', 'refuse', not 'kept'"
    ):
        invivo.Runtime(app)
