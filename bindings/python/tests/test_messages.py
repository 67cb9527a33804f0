"""What errors say about values of the configuration and about traits, and where."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

import invivo


class Settings:
    """Checks what it gets by itself, as models do."""

    def __init__(self, port: Any, host: Any = "here") -> None:
        if not isinstance(port, int):
            raise ValueError(f"{port!r} is no port")
        self.port, self.host = port, host
        self._speed = 1

    @property
    def speed(self) -> int:
        return self._speed

    @speed.setter
    def speed(self, value: int) -> None:
        if value > 5:
            raise ValueError("too fast")
        self._speed = value


def factory(port: Any) -> Settings:
    return Settings(port)


@contextlib.contextmanager
def opened(path: str, port: Any) -> Iterator[Settings]:
    yield Settings(port)


class App(invivo.Assembly, name="shop"):
    @invivo.lazy_singleton
    def made(self) -> Settings:
        return invivo.new(Settings, invivo.config("http.port"), invivo.config("http.host", "there"))

    @invivo.lazy_singleton
    def by_function(self) -> Settings:
        return invivo.new(factory, invivo.config("http.port"))

    @invivo.lazy_singleton
    def managed(self) -> Settings:
        return invivo.managed(opened, "x", invivo.config("http.port"))

    @invivo.lazy_singleton
    def fast(self) -> Settings:
        settings = invivo.new(Settings, 1)
        settings.speed = invivo.config("speed", 1)
        return settings


@pytest.mark.parametrize("key", ["made", "by_function", "managed"])
def test_a_maker_that_refuses_a_value_is_told_with_its_place(key: str) -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        source = runtime.source("a.yaml", "config:\n  shop:\n    http: { port: eighty }\n")
        runtime.activate(App())
        with pytest.raises(invivo.Error, match="'eighty' is no port") as caught:
            runtime.resolve(f"shop.{key}")
        assert "; configured by config.shop.http.port (a.yaml:3:19)" in str(caught.value)
        source.update("config: { shop: { http: { port: 80 } } }")
        assert runtime.resolve(f"shop.{key}").port == 80
        with pytest.raises(invivo.Error) as refused:
            source.update("config:\n  shop: { http: { port: [] } }\n")
        assert "; configured by config.shop.http.port (a.yaml:2:25)" in str(refused.value)


def test_a_setter_that_refuses_a_value_is_told_with_its_place() -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.source("a.yaml", "config:\n  shop: { speed: 9, http: { port: 1 } }\n")
        runtime.activate(App())
        with pytest.raises(invivo.Error, match="too fast") as caught:
            runtime.resolve("shop.fast")
        assert "; configured by config.shop.speed (a.yaml:2:18)" in str(caught.value)


class Bare:
    def __init__(self, port) -> None:  # type: ignore[no-untyped-def]
        self.port = port


def test_a_parameter_without_an_annotation_takes_any_value() -> None:
    class Taking(invivo.Assembly, name="shop"):
        @invivo.lazy_singleton
        def bare(self) -> Bare:
            return invivo.new(Bare, invivo.config("port"))

    with invivo.Runtime() as runtime:
        source = runtime.source("a.yaml", "config: { shop: { port: x } }")
        runtime.activate(Taking())
        assert runtime[Bare].port == "x"
        source.update("config: { shop: { port: [1] } }")
        assert runtime[Bare].port == [1]


def missing(document: str, path: str = "size") -> str:
    class Needs(invivo.Assembly, name="a"):
        @invivo.lazy_singleton
        def thing(self) -> Settings:
            return invivo.new(factory, invivo.config(path))

    with invivo.Runtime(log_level="silent") as runtime:
        runtime.source("a.yaml", document)
        with pytest.raises(invivo.errors.NotConfiguredError) as caught:
            runtime.activate(Needs())
        return str(caught.value)


def test_a_missing_value_is_told_with_what_to_do() -> None:
    assert "initializer parameter 'port' needs the configuration 'size'" in missing("{}")
    nulled = missing("config:\n  a:\n    size:\n")
    assert nulled.endswith("; null removes 'a.size' at a.yaml:3:10"), nulled
    twice = missing("config: { a: { size: 3 } }", "a.size")
    assert twice.endswith("; 'a.size' is there: 'size' is looked for in 'a', and '/a.size' is a whole path"), twice
    outside = missing("config: { size: 3 }")
    assert outside.endswith("; '/size' is there, in no assembly: ask for it so, or put it under 'global'"), outside
    assert missing("config: { a: { sise: 3 } }").endswith("; did you mean 'a.sise'?")
    assert "did you mean" not in missing("config: { a: { http: 3 } }", "tax")


class Lead:
    gain: float = invivo.tunable(1, max=2)
    delay: float = invivo.tunable(1, unit="s")
    cutoff: float = invivo.tunable(100, unit="Hz")


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        (
            "lead: [Set: { gain: 1 }]",
            "no target has the key 'lead'; did you mean 'synth.lead'? "
            "(pending_targets, or --wait, permits keys that are defined later)",
        ),
        ("synth.laed: [Set: { gain: 1 }]", "did you mean 'synth.lead'?"),
        ("synth.lead: [Fade: { gain: 1 }]", "unknown trait 'Fade'; the traits are: "),
        ("synth.lead: [Set: { delay: 2 Hz }]", "expected a number of s, as in 3 or '250 ms', got the string '2 Hz'"),
        (
            "synth.lead: [Set: { cutoff: 2 s }]",
            "expected a number of Hz, as in 1200 or '1.2 kHz', got the string '2 s'",
        ),
    ],
)
def test_what_is_wrong_with_traits_says_what_would_be_right(traits: str, message: str) -> None:
    app = invivo.Assembly("synth")
    app.lazy_singleton(Lead)
    with invivo.Runtime(app, log_level="silent") as runtime:
        with pytest.raises(invivo.Error) as caught:
            runtime.source("a.yaml", f"traits: {{ {traits} }}")
        assert message in str(caught.value)


def test_a_trait_takes_times_as_the_configuration_does() -> None:
    app = invivo.Assembly("synth")
    app.lazy_singleton(Lead)
    with (
        invivo.Runtime(app) as runtime,
        runtime.source("a.yaml", "traits: { synth.lead: [Set: { delay: 1 min 30 s }] }"),
    ):
        assert runtime[Lead].delay == 90


def test_an_injected_attribute_says_what_it_wants() -> None:
    class Named:
        lead = invivo.injected("synth.lead")

    class Unsaid:
        lead = invivo.injected()

    app = invivo.Assembly("synth")
    app.lazy_singleton(Lead)
    app.lazy_singleton(Named)
    with invivo.Runtime(app) as runtime:
        assert runtime[Named].lead is runtime[Lead]
        with pytest.raises(invivo.ArgumentError, match=r"Unsaid\.lead: injected\(\) does not know the type"):
            runtime.define(Unsaid)


def test_what_an_assembly_annotates_and_does_not_have_is_told() -> None:
    class Odd(invivo.Assembly, name="odd"):
        lead: Lead

    with pytest.raises(AttributeError, match="'lead': it is annotated, and its class is no assembly"):
        _ = Odd().lead
    with pytest.raises(AttributeError, match=r"has no 'laed'$"):
        _ = Odd().laed  # type: ignore[attr-defined]


def test_an_unknown_scope_names_those_there_are() -> None:
    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.ArgumentError, match=r"expected one of graph, .* Runtime.scope$") as caught:
            runtime.define(Lead, "a.lead", scope="")
        assert "thread, context, or a name given to Runtime.scope" in str(caught.value)
        with pytest.raises(invivo.NotFoundError, match=r"a\.lead: no scope 'request' is registered"):
            runtime.define(Lead, "a.lead", scope="request")


def test_a_block_says_what_it_has_and_that_it_is_read() -> None:
    app = invivo.Assembly("synth")
    app.lazy_singleton(Lead)
    with invivo.Runtime(app) as runtime:
        runtime[Lead]
        with runtime.view() as view:
            block = view.block(Lead)
    with pytest.raises(KeyError, match="no 'gian'; it has gain, delay, cutoff"):
        block["gian"]
    with pytest.raises(AttributeError, match="a block is a reading"):
        block.gain = 3
    assert "gian" not in block
    assert block.get("gian", 1) == 1


def test_every_error_class_is_exported() -> None:
    assert set(invivo.errors.__all__) <= set(invivo.__all__)
    assert "keywords are those of `options`" in (invivo.prototype.__doc__ or "")


def test_a_range_with_one_bound_names_that_bound() -> None:
    class Dial:
        most: int = invivo.tunable(1, max=5)
        least: int = invivo.tunable(1, min=-5)

    dials = invivo.Assembly("dials")
    dials.lazy_singleton(Dial)
    with invivo.Runtime(dials) as runtime:
        for value, text in (
            ("most: 9", "9 is outside the range up to 5"),
            ("least: -9", "-9 is outside the range from -5"),
        ):
            with pytest.raises(invivo.RangeError, match=text):
                runtime.source("a.yaml", f"traits: {{ dials.dial: [{{ Set: {{ {value} }} }}] }}")
