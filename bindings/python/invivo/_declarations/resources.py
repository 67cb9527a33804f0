"""Resources: objects that a generator function or a context manager provides and ends."""

from __future__ import annotations

import collections.abc
import contextlib
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from ..errors import WrongTypeError

_ITERATORS = (collections.abc.Generator, collections.abc.Iterator, collections.abc.Iterable)


def begin(made: Any, what: str) -> tuple[Any, Callable[[], None]]:
    """The object that a generator yields, or a context manager enters with; and the function that ends it."""
    if isinstance(made, types.GeneratorType):
        try:
            thing = next(made)
        except StopIteration:
            raise WrongTypeError(f"the generator function {what!r} ended without a 'yield' of the object") from None
        return thing, lambda: _rest(made, what)
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
    thing = cls.__enter__(made)

    def leave() -> None:
        cls.__exit__(made, None, None, None)

    return thing, leave


def _rest(generator: types.GeneratorType[Any, Any, Any], what: str) -> None:
    try:
        next(generator)
    except StopIteration:
        return
    generator.close()
    raise WrongTypeError(f"the generator function {what!r} yielded twice: a resource yields its object once")


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
