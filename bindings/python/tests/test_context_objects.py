"""Objects that live in contexts: where they are found, and what their code sees."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import invivo
from invivo import Context, ContextKind, Provider, Runtime


class User:
    pass


class Handler:
    def __init__(self, user: User) -> None:
        self.user = user


class Plain:
    pass


class Seeing:
    """An object that notes the current context of its code."""

    seen: dict[str, Context | None]

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.seen = {"init": runtime.current_context}

    @invivo.did_inject
    def injected(self) -> None:
        self.seen["injected"] = self.runtime.current_context

    @invivo.on_start
    def start(self) -> None:
        self.seen["start"] = self.runtime.current_context

    @invivo.on_setup
    def set_up(self) -> None:
        self.seen["setup"] = self.runtime.current_context

    @invivo.on_stop
    def stop(self) -> None:
        self.seen["stop"] = self.runtime.current_context


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime(log=lambda *_: None, contexts=["session", "request"]) as runtime:
        yield runtime


@pytest.fixture
def web(runtime: Runtime) -> Runtime:
    runtime.define(User, "web.user", "context(session)")
    runtime.define(Handler, "web.handler", "context(request)")
    return runtime


def in_thread(function: Callable[[], Any]) -> Any:
    """Calls a function on a thread, and returns its result."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


# ---- where objects are ----------------------------------------------------------------------------------


def test_each_context_of_a_kind_has_its_own(web: Runtime) -> None:
    with web.context("session") as session, web.context("request") as first:
        handler = first[Handler]
        assert web[Handler] is handler
        assert web["web.handler"] is handler
        assert web.resolve(Handler) is handler
        assert web.resolve_optional(Handler) is handler
        assert web.resolve_type(Handler) is handler
        assert web.resolve_all(Handler) == [handler]
        with web.context("request") as second:
            assert web[Handler] is second[Handler] is not handler
            assert web[Handler].user is handler.user is session[User]
            assert first[Handler] is handler
        assert web[Handler] is handler


def test_an_object_without_a_kind_is_in_the_context_of_the_resolve(runtime: Runtime) -> None:
    runtime.define(Plain, "web.plain", "context")
    with runtime.context("session") as session, runtime.context("request") as request:
        assert runtime[Plain] is request[Plain] is not session[Plain]
        with runtime.context() as inner:
            assert runtime[Plain] is inner[Plain] is not request[Plain]


def test_nothing_of_a_context_is_found_outside_of_it(web: Runtime) -> None:
    with web.context("session") as session:
        for _ in range(3):
            with web.context("request"):
                assert web[Handler]
            with pytest.raises(invivo.NotReadyError, match="request"):
                web[Handler]
            with pytest.raises(invivo.NotReadyError, match="request"):
                session[Handler]
    with pytest.raises(invivo.NotReadyError):
        web[Handler]
    with pytest.raises(invivo.StaleError):
        session[User]


def test_a_resolve_uses_the_context_of_its_task(web: Runtime) -> None:
    async def request(found: list[Handler], all_there: asyncio.Event) -> None:
        async with web.context("request"):
            handler = web[Handler]
            found.append(handler)
            if len(found) == 10:
                all_there.set()
            await all_there.wait()
            assert web[Handler] is handler
            assert await asyncio.to_thread(lambda: web[Handler]) is handler
            assert await invivo.to_thread(web.resolve, Handler) is handler
            assert await web.aresolve(Handler) is handler

    async def main() -> None:
        found: list[Handler] = []
        all_there = asyncio.Event()
        async with web.context("session"):
            await asyncio.gather(*(request(found, all_there) for _ in range(10)))
        assert len({id(each) for each in found}) == 10
        assert len({id(each.user) for each in found}) == 1

    asyncio.run(main())


def test_another_thread_enters_the_context(web: Runtime) -> None:
    with web.context("session"), web.context("request") as request:
        handler = web[Handler]

        def work() -> Any:
            with pytest.raises(invivo.NotReadyError):
                web[Handler]
            with request.entered():
                assert web[Handler] is handler
            with pytest.raises(invivo.NotReadyError):
                web[Handler]
            return request[Handler]

        assert in_thread(work) is handler


def test_a_provider_resolves_in_the_context_of_its_caller(web: Runtime) -> None:
    class Router:
        def __init__(self, handler: Provider[Handler]) -> None:
            self.handler = handler

    web.define(Router, "web.router")
    router = web[Router]
    with web.context("session"):
        with web.context("request") as request:
            assert router.handler() is request[Handler]
        with web.context("request") as request:
            assert router.handler() is request[Handler]
    with pytest.raises(invivo.NotReadyError):
        router.handler()


def test_prototypes_live_where_they_are_resolved(runtime: Runtime) -> None:
    stopped: list[int] = []

    class Job:
        @invivo.on_stop
        def stop(self) -> None:
            stopped.append(id(self))

    runtime.define(Job, "web.job", "prototype")
    with runtime.context("request") as request:
        jobs = [runtime[Job] for _ in range(5)]
        assert all(runtime.context_of(each) is request for each in jobs)
    assert stopped == [id(each) for each in reversed(jobs)]
    assert request.leased == ["web.job"] * 5
    with runtime.context("request") as request:
        assert runtime[Job]
        gc.collect()
        assert len(stopped) == 6, "its last lease was released before the end"
    assert request.leased == []


def test_runtime_arguments_are_per_context(runtime: Runtime) -> None:
    class Page:
        def __init__(self, number: int) -> None:
            self.number = number

    app = invivo.Assembly("web")

    @invivo.in_context("request")
    def page(number: int) -> Page:
        return invivo.new(Page, number)

    app.define(page)
    with runtime.changes() as changes:
        changes.activate(app)
    with runtime.context("request"):
        one = runtime.resolve("web.page", 1)
        assert runtime.resolve("web.page", 1) is one
        assert runtime.resolve("web.page", 2).number == 2
        with runtime.context("request"):
            assert runtime.resolve("web.page", 1) is not one


# ---- declarations ---------------------------------------------------------------------------------------


def test_members_declare_the_kind() -> None:
    kind = ContextKind("request")

    class Web(invivo.Assembly):
        @invivo.in_context("session")
        def user(self) -> User:
            return invivo.new(User)

        @invivo.in_context(kind)
        def handler(self) -> Handler:
            return invivo.new(Handler, self.user())

        @invivo.in_context()
        def plain(self) -> Plain:
            return invivo.new(Plain)

        @invivo.in_scope("context(request)")
        def other(self) -> Plain:
            return invivo.scoped(invivo.new(Plain), "context(session)")

    web = Web()
    with Runtime(web, contexts=["session", kind], log=lambda *_: None) as runtime:
        with runtime.context("session") as session, runtime.context(kind) as request:
            assert request[web.handler] is web.handler() is runtime[Handler]
            assert request[web.user] is session[web.user] is web.handler().user
            assert request[web.plain] is not session[web.plain]
        scopes = {each.key: each.scope for each in runtime.wiring}
        assert [scopes[f"web.{each}"] for each in ("user", "handler", "plain")] == ["context"] * 3


def test_assemblies_are_filled_with_objects_of_contexts() -> None:
    app = invivo.Assembly("web")
    app.in_context("request", Plain)
    app.in_context(None, User)
    with Runtime(app, contexts=["request"], log=lambda *_: None) as runtime, runtime.context("request") as request:
        assert request[Plain] is runtime[Plain]
        assert runtime[User] is runtime[User]


def test_scopes_of_contexts_are_checked(runtime: Runtime) -> None:
    for wrong in ("context()", "context( )", "context(request", "context(request) x"):
        with pytest.raises(invivo.ArgumentError, match="context"):
            runtime.define(Plain, "web.plain", wrong)
    with pytest.raises(invivo.WrongTypeError):
        invivo.in_context(3)  # type: ignore[arg-type]
    with pytest.raises(invivo.Error, match="request2"):
        runtime.define(Plain, "web.plain", "context(request2)")
    runtime.define(Plain, "web.plain", "context( request )")
    with runtime.context("request") as request:
        assert request[Plain]


def test_a_longer_lived_object_holds_none_of_a_context(web: Runtime) -> None:
    class Service:
        def __init__(self, handler: Handler) -> None: ...

    with pytest.raises(invivo.CaptiveError, match=r"web\.handler"):
        web.define(Service, "web.service", "lazy_singleton")


def test_a_processor_sees_and_sets_the_scope(runtime: Runtime) -> None:
    seen: dict[str, str | None] = {}
    app = invivo.Assembly("web")

    def visit(described: invivo.Described) -> None:
        seen[described.key] = described.scope
        if described.key == "web.user":
            described.scope = "context(request)"

    app.in_context("request", Plain)
    app.in_context(None, Handler)
    app.graph(User)
    app.process(visit)
    with runtime.changes() as changes:
        changes.activate(app)
    assert seen == {"web.plain": "context(request)", "web.handler": "context", "web.user": "graph"}
    with runtime.context("request"):
        assert runtime[User] is runtime[User]


# ---- what code of objects sees ---------------------------------------------------------------------------


def test_code_of_an_object_sees_the_context_in_which_it_lives(runtime: Runtime) -> None:
    runtime.define(Seeing, "web.seeing", "context(session)")
    with runtime.context("session") as session:
        with runtime.context("request") as request:
            seeing = runtime[Seeing]
            assert runtime.current_context is request
        assert seeing.seen == dict.fromkeys(("init", "injected", "start", "setup"), session)
    assert seeing.seen["stop"] is session


def test_code_of_a_shared_object_sees_no_context(runtime: Runtime) -> None:
    runtime.define(Seeing, "web.seeing", "lazy_singleton")
    with runtime.context("session"), runtime.context("request") as request:
        seeing = runtime[Seeing]
        assert runtime.current_context is request
        assert seeing.seen == dict.fromkeys(("init", "injected", "start", "setup"))
        runtime.reset("web.seeing")
        assert runtime.current_context is request
    assert runtime[Seeing] is not seeing


def test_prototypes_and_graphs_see_the_context_of_the_resolve(runtime: Runtime) -> None:
    runtime.define(Seeing, "web.seeing", "prototype")
    with runtime.context("session") as session:
        for _ in range(4):
            assert runtime[Seeing].seen["init"] is session
        with runtime.context("request") as request:
            for _ in range(4):
                assert runtime[Seeing].seen["init"] is request
                assert session[Seeing].seen["init"] is session
    assert runtime[Seeing].seen["init"] is None


def test_a_factory_resolves_in_its_context(web: Runtime) -> None:
    found: list[Any] = []

    def single() -> Plain:
        with pytest.raises(invivo.NotReadyError):
            web[Handler]
        found.append(web.current_context)
        return Plain()

    class Wrapped:
        def __init__(self) -> None:
            self.handler = web[Handler]
            self.plain = web[Plain]

    web.define(single, "web.single", "lazy_singleton")
    web.define(Wrapped, "web.wrapped", "context(request)")
    with web.context("session"), web.context("request") as request:
        assert request[Wrapped].handler is request[Handler]
        assert found == [None]


def test_contexts_of_another_runtime_stay(runtime: Runtime) -> None:
    with Runtime(log=lambda *_: None) as other:
        found: list[Any] = []

        def single() -> Plain:
            found.append((runtime.current_context, other.current_context))
            return Plain()

        runtime.define(single, "web.single", "lazy_singleton")
        with runtime.context(), other.context() as outer:
            assert runtime[Plain]
            assert found == [(None, outer)]


def test_code_called_by_the_library_resolves_in_the_context_of_the_caller(web: Runtime) -> None:
    """A method that another object calls through the library has no context of its own."""

    class Service:
        @invivo.method
        def handle(self) -> bool:
            return web[Handler] is web.current_context[Handler]  # type: ignore[index]

    web.define(Service, "web.service")
    with web.context("session"), web.context("request"):
        assert web[Service].handle()


# ---- resources ---------------------------------------------------------------------------------------------


def test_steps_of_a_resource_share_their_context_variables(runtime: Runtime) -> None:
    variable = contextvars.ContextVar("variable", default="outside")
    seen: list[Any] = []

    def plain() -> Iterator[Plain]:
        token = variable.set("inside")
        seen.append(runtime.current_context)
        yield Plain()
        seen.append((variable.get(), runtime.current_context))
        variable.reset(token)

    runtime.define(invivo.managed(plain), "web.plain", "context(request)")
    with runtime.context("request") as request:
        assert runtime[Plain] is request[Plain]
        assert variable.get() == "outside"
        in_thread(request.end)
    assert seen == [request, ("inside", request)]


def test_a_block_in_a_resource_is_its_own(runtime: Runtime) -> None:
    seen: list[Any] = []

    def plain() -> Iterator[Plain]:
        with runtime.context(step=1) as inner:
            seen.append(inner)
            yield Plain()
            seen.append(runtime.current_context)

    runtime.define(invivo.managed(plain), "web.plain", "context(request)")
    with runtime.context("request") as request:
        assert runtime[Plain]
        assert runtime.current_context is request
    assert runtime.current_context is None
    assert seen == [seen[0], seen[0]]
    assert seen[0].ended
