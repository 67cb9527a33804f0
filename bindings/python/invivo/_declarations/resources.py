"""Resources: objects that a generator function or a context manager provides and ends."""

from __future__ import annotations

import collections.abc
import contextlib
import contextvars
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import WrongTypeError

_ITERATORS = (collections.abc.Generator, collections.abc.Iterator, collections.abc.Iterable)


End = Callable[[BaseException | None], None]


def begin(made: Any, what: str) -> tuple[Any, End]:
    """The object that a generator yields, or a context manager enters with; and the function that ends it.

    That function gets the error that ended the use of the object, or None. All steps see the same context variables.
    """
    variables = contextvars.copy_context()
    if isinstance(made, types.GeneratorType):
        try:
            thing = variables.run(next, made)
        except StopIteration:
            raise WrongTypeError(f"the generator function {what!r} ended without a 'yield' of the object") from None
        return thing, lambda raised: _rest(made, variables, what, raised)
    cls = type(made)
    if not hasattr(cls, "__enter__") or not hasattr(cls, "__exit__"):
        if hasattr(cls, "__aenter__"):
            raise WrongTypeError(
                f"{what!r} returned {made!r}, an asynchronous context manager: objects are created and ended "
                "synchronously. Enter it by 'async with' outside of the runtime, and give its object to a definition "
                "as invivo.constant(...), or to an override as instance=..."
            )
        raise WrongTypeError(
            f"{what!r} returned {made!r}, which is no context manager: a resource is a generator function that yields "
            "the object once, or a context manager"
        )
    thing = variables.run(cls.__enter__, made)
    return thing, lambda raised: _leave(made, variables, raised)


def _leave(manager: Any, variables: contextvars.Context, raised: BaseException | None) -> None:
    leave = type(manager).__exit__
    if raised is None:
        variables.run(leave, manager, None, None, None)
        return
    with _raising_again(raised):
        variables.run(leave, manager, type(raised), raised, raised.__traceback__)


def _rest(
    generator: types.GeneratorType[Any, Any, Any],
    variables: contextvars.Context,
    what: str,
    raised: BaseException | None,
) -> None:
    try:
        if raised is None:
            variables.run(next, generator)
        else:
            with _raising_again(raised):
                variables.run(generator.throw, raised)
                raise _Yielded
            return
    except StopIteration:
        return
    except _Yielded:
        pass
    generator.close()
    raise WrongTypeError(f"the generator function {what!r} yielded twice: a resource yields its object once")


class _Yielded(Exception):
    """A generator has yielded again."""


@contextlib.contextmanager
def _raising_again(raised: BaseException) -> Iterator[None]:
    """A block that may raise an error again, which is no failure. The error keeps its traceback."""
    traceback = raised.__traceback__
    try:
        yield
    except BaseException as problem:
        is_same = problem is raised
        is_wrapped = isinstance(raised, StopIteration) and problem.__cause__ is raised  # as a generator raises it
        if not is_same and not is_wrapped:
            raise
    finally:
        raised.__traceback__ = traceback


def yielded(annotation: Any) -> Any:
    """The annotation of the object, where a resource is annotated as an iterator or a context manager."""
    origin = typing.get_origin(annotation)
    if origin in _ITERATORS or origin is contextlib.AbstractContextManager:
        return typing.get_args(annotation)[0]
    if annotation in _ITERATORS:
        return None
    cls = origin if isinstance(origin, type) else annotation
    if isinstance(cls, type) and hasattr(cls, "__enter__"):
        result = getattr(cls.__enter__, "__annotations__", {}).get("return")
        return result if isinstance(result, type) else annotation
    return annotation


def is_generator(function: Any) -> bool:
    return inspect.isgeneratorfunction(function)


class Existing:
    """A context manager that was there when it was described."""

    def __init__(self, manager: Any) -> None:
        self.manager = manager
        self.__qualname__ = type(manager).__qualname__

    def __call__(self) -> Any:
        return self.manager
