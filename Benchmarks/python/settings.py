"""The cost of typed settings: binding a section, a reload that changes one of its fields, and a read."""

from __future__ import annotations

import dataclasses
import sys
import time
import timeit
from typing import Any

import invivo
from invivo._settings.schema import Schema

FIELDS = 20
SECTION: dict[str, Any] = {
    f"field{number}": (number, number / 4, f"text {number}", number % 2 == 0)[number % 4] for number in range(FIELDS)
}
TYPES = {name: type(value) for name, value in SECTION.items()}
Plain = dataclasses.make_dataclass("Plain", TYPES.items())


class Part:
    pass


def section() -> None:
    """A dataclass of 20 fields, read from its section; beside a pydantic model with the same fields."""
    import bench

    try:
        import pydantic
    except ImportError:
        print("bench: pydantic is not installed: its rows are left out", file=sys.stderr)
        return
    model: Any = pydantic.create_model("Model", **{name: (kind, ...) for name, kind in TYPES.items()})
    schema = Schema(Plain, lambda _: None)
    count = bench.COUNT // 10
    own = min(timeit.repeat(lambda: schema.read(SECTION), number=count, repeat=bench.ROUNDS)) / count * 1e6
    peer = min(timeit.repeat(lambda: model.model_validate(SECTION), number=count, repeat=bench.ROUNDS)) / count * 1e6
    bench.row("settings.bind", own, "us", "pydantic", peer, "<= 5 times", own <= 5 * peer)


def bind() -> None:
    """A section bound and unbound; beside two reloads of one definition, and among many other bindings."""
    import bench

    def measured(others: int) -> float:
        best = float("inf")
        with invivo.Runtime(log_level="silent") as runtime:
            runtime.configure("section", SECTION)
            with runtime.changes() as changes:
                for number in range(others):
                    changes.bind_settings(dict[str, int], f"others.s{number}", name=f"Other{number}")
            for _ in range(bench.ROUNDS * 10):
                begun = time.perf_counter()
                runtime.bind_settings(Plain, "section")
                runtime.unbind_settings(Plain)
                best = min(best, time.perf_counter() - begun)
        return best * 1e6

    def defined() -> float:
        best = float("inf")
        with invivo.Runtime(log_level="silent") as runtime:
            for _ in range(bench.ROUNDS * 10):
                begun = time.perf_counter()
                runtime.define(Part, "bench.part")
                with runtime.changes() as changes:
                    changes.remove("bench.part")
                best = min(best, time.perf_counter() - begun)
        return best * 1e6

    few = measured(10)
    floor = defined()
    bench.row("settings.bind.call", few, "us", "a definition added and removed", floor, "<= 3 times", few <= 3 * floor)
    many = measured(1_000)
    bench.row("settings.bind.one.of.1000", many, "us", "one of 10", few, "<= 1.5 times", many <= 1.5 * few)


def change() -> None:
    """A reload that changes one field of a bound section; beside the same reload without a binding."""
    import bench

    def measured(runtime: invivo.Runtime) -> float:
        best = float("inf")
        for number in range(bench.ROUNDS * 20):
            begun = time.perf_counter()
            runtime.configure("section.field0", number + 1)
            best = min(best, time.perf_counter() - begun)
        return best * 1e6

    with invivo.Runtime(log_level="silent") as runtime:
        runtime.configure("section", SECTION)
        unbound = measured(runtime)
        runtime.bind_settings(Plain, "section")
        bound = measured(runtime)
        runtime.unbind_settings(Plain)
    bench.row("settings.change", bound, "us", "without the binding", unbound, "recorded", True)


def read() -> None:
    """A read of bound settings; beside a read of a shared object."""
    import bench

    app = invivo.Assembly("bench")
    app.lazy_singleton(bench.Clock)
    with invivo.Runtime(app, log_level="silent") as runtime:
        runtime.configure("section", SECTION)
        runtime.bind_settings(Plain, "section")
        names = {"runtime": runtime, "Plain": Plain, "Clock": bench.Clock}
        value = bench.best_of("runtime.settings(Plain)", names)
        floor = bench.best_of("runtime[Clock]", names)
        with runtime.view():
            viewed = bench.best_of("runtime.settings(Plain)", names, bench.COUNT // 10)
    bench.row("settings.read", value, "ns", "a shared object", floor, "<= 150 ns", value <= 150)
    bench.row("settings.read.view", viewed, "ns", "without a view", value, "recorded")


def main() -> None:
    section()
    bind()
    change()
    read()
