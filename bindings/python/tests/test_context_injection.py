"""Values of contexts that are injected into objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import pytest

import invivo
from invivo import ContextKey, ContextKind, FromContext, Runtime


class User:
    pass


USER = ContextKey("user", User)


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    kinds = [ContextKind("session", provides=[USER]), ContextKind("request", live=["theme"])]
    with Runtime(log=lambda *_: None, contexts=kinds) as runtime:
        yield runtime


class Handler:
    theme: Annotated[str, FromContext]

    def __init__(self, user: FromContext[User], size: FromContext[int] = 3) -> None:
        self.user, self.size = user, size


def test_parameters_and_attributes_receive_values(runtime: Runtime) -> None:
    runtime.define(Handler, "web.handler", "context(request)")
    user = User()
    with runtime.context("session", user=user), runtime.context("request", theme="dark"):
        handler = runtime[Handler]
        assert (handler.user, handler.size, handler.theme) == (user, 3, "dark")
    with runtime.context("session", user=user, size=4), runtime.context("request", theme="light"):
        assert (runtime[Handler].size, runtime[Handler].theme) == (4, "light")


def test_the_mark_gives_the_key_and_the_kind(runtime: Runtime) -> None:
    class Page:
        def __init__(
            self,
            owner: Annotated[User, FromContext(USER)],
            color: Annotated[str, FromContext("theme", kind="session")],
            missing: Annotated[str | None, FromContext("nothing")],
        ) -> None:
            self.owner, self.color, self.missing = owner, color, missing

    runtime.define(Page, "web.page", "prototype")
    user = User()
    with runtime.context("session", user=user, theme="dark"), runtime.context("request", theme="light"):
        page = runtime[Page]
        assert (page.owner, page.color, page.missing) == (user, "dark", None)


def test_a_value_that_is_missing_is_an_error(runtime: Runtime) -> None:
    class Page:
        def __init__(self, owner: Annotated[str, FromContext("owner")]) -> None: ...

    runtime.define(Page, "web.page", "prototype")
    with runtime.context(), pytest.raises(invivo.NotFoundError, match="owner"):
        runtime[Page]
    with pytest.raises(invivo.Error, match="owner"):
        runtime.define(Page, "web.shared", "lazy_singleton")


def test_objects_of_the_program_receive_values_of_the_current_context(runtime: Runtime) -> None:
    class Widget:
        user: FromContext[User]
        color: Annotated[str, FromContext("theme", kind="session")]
        nothing: Annotated[str | None, FromContext]

    widget, user = Widget(), User()
    with runtime.context("session", user=user, theme="dark"), runtime.context("request", theme="light"):
        runtime.inject(widget)
    assert (widget.user, widget.color, widget.nothing) == (user, "dark", None)
    with pytest.raises(invivo.NotReadyError, match="no current context"):
        runtime.inject(Widget())


def test_marks_are_checked() -> None:
    with pytest.raises(invivo.WrongTypeError):
        FromContext(3)  # type: ignore[call-arg,operator]
