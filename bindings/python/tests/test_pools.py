"""Weak pools and scopes with places, from Python."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

import invivo


class Texture:
    def __init__(self, name: Any = "") -> None:
        self.name = name


def test_an_entry_lives_as_long_as_somebody_holds_it() -> None:
    made = []

    def make(key: Any) -> Texture:
        made.append(key)
        return Texture(key)

    with invivo.Runtime() as runtime:
        pool = runtime.pool("textures", make)
        brick = pool["brick"]
        assert brick.name == "brick"
        assert pool.get("brick") is brick
        assert pool.peek("brick") is brick
        assert "brick" in pool
        assert "stone" not in pool
        assert pool.peek("stone", 7) == 7
        assert len(pool) == 1
        assert made == ["brick"]
        del brick
        gc.collect()
        assert "brick" not in pool
        assert len(pool) == 0
        again = pool["brick"]
        assert made == ["brick", "brick"]
        assert again is pool["brick"]


def test_keys_are_values_and_entries_are_listed() -> None:
    with invivo.Runtime() as runtime:
        pool = runtime.pool()
        things = {key: Texture(key) for key in (1, -1, "one", b"one", (1, "one"), 0.5, True)}
        for key, thing in things.items():
            if key is not True:
                pool[key] = thing
        assert pool[1.0] is things[1]
        assert pool[(1, "one")] is things[(1, "one")]
        assert dict(pool.items()) == {k: v for k, v in things.items() if k is not True}
        assert sorted(map(str, pool)) == sorted(map(str, pool.keys()))
        del pool["one"]
        with pytest.raises(invivo.NotFoundError):
            del pool["one"]
        with pytest.raises(KeyError):
            pool["one"]
        with pytest.raises(TypeError):
            pool["number"] = 7
        with pytest.raises(TypeError):
            pool.get({"a": 1}, lambda key: Texture())


def test_what_many_threads_ask_for_is_made_once() -> None:
    made = []
    found: list[Any] = []
    barrier = threading.Barrier(16)

    def make(key: Any) -> Texture:
        made.append(key)
        return Texture(key)

    with invivo.Runtime() as runtime:
        pool = runtime.pool()

        def ask() -> None:
            barrier.wait()
            found.append(pool.get(1, make))

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [1]
        assert all(each is found[0] for each in found)
        found.clear()


def test_failures_of_makers_are_told_and_circles_are_errors() -> None:
    with invivo.Runtime() as runtime:
        pool = runtime.pool("shared")

        def fails(key: Any) -> Texture:
            raise LookupError(f"no {key}")

        with pytest.raises(invivo.HostError, match="no brick"):
            pool.get("brick", fails)

        def itself(key: Any) -> Any:
            return pool.get(key, itself)

        with pytest.raises(invivo.CycleError, match="shared"):
            pool.get("brick", itself)
        assert len(pool) == 0


def test_pools_are_found_by_name_and_cleared_as_a_reload() -> None:
    reports = []
    with invivo.Runtime() as runtime:
        pool = runtime.pool("textures")
        brick = pool.get("brick", Texture)
        assert runtime.find_pool("textures").peek("brick") is brick
        with pytest.raises(invivo.NotFoundError, match="textures"):
            runtime.find_pool("texture")
        with runtime.observe(reports.append) if hasattr(runtime, "observe") else _Nothing():
            assert pool.clear() == 1
        assert pool.get("brick", Texture) is not brick
        pool.close()
        with pytest.raises(invivo.HandleError):
            len(pool)


class _Nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


class Session:
    pass


class Server(invivo.Assembly):
    @invivo.in_scope("thread")
    def session(self) -> Session:
        return invivo.new(Session)


def test_each_thread_has_its_own_until_it_ends() -> None:
    other: list[Any] = []
    with invivo.Runtime() as runtime:
        app = Server()
        runtime.activate(app)
        mine = app.session()
        assert app.session() is mine
        assert runtime[Session] is mine

        def ask() -> None:
            session = app.session()
            other.append(app.session() is session and session is not mine)

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        assert other == [True]
        assert app.session() is mine


def test_a_scope_of_the_programs_own() -> None:
    current: list[int | None] = [None]
    heard: list[tuple[str, int, str]] = []
    with invivo.Runtime() as runtime:
        runtime.scope(
            "request",
            lambda: current[0],
            keep=lambda place, key: heard.append(("keep", place, key)),
            drop=lambda place, key: heard.append(("drop", place, key)),
        )
        app = invivo.Assembly("web")
        app.in_scope("request", Session)
        runtime.activate(app)
        with pytest.raises(invivo.NotReadyError):
            runtime["web.session"]
        current[0] = 1
        first = runtime["web.session"]
        assert runtime["web.session"] is first
        current[0] = 2
        assert runtime["web.session"] is not first
        runtime.end_scope("request", 1)
        assert heard == [("keep", 1, "web.session"), ("keep", 2, "web.session"), ("drop", 1, "web.session")]
        gone = weakref.ref(runtime["web.session"])
        runtime.end_scope("request", 2)
        gc.collect()
        assert gone() is None, "nothing keeps what is of a place that has ended"
        heard.clear()
        current[0] = 1
        assert runtime["web.session"] is not first
        with pytest.raises(invivo.ExistsError):
            runtime.scope("request", lambda: 1)
