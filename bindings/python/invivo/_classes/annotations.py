"""Annotations of classes and functions, resolved.

Nothing here calls the library.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
import threading
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from .._native import signals

# Classes to type checkers that are functions before Python 3.13.
CLASSES: dict[Any, type] = {
    made: type(made()) for made in (threading.Lock, threading.RLock) if not isinstance(made, type)
}


def is_protocol(cls: type) -> bool:
    return bool(getattr(cls, "_is_protocol", False))


def is_assembly(cls: Any) -> bool:
    """Whether a class is one of assemblies."""
    return isinstance(cls, type) and hasattr(cls, "__invivo_name__")


def is_runtime(cls: Any) -> bool:
    """Whether a class is the one of runtimes."""
    return isinstance(cls, type) and "__invivo_runtime__" in vars(cls)


def hints_of(thing: Any, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns the annotations of a class or function. One that cannot be resolved stays the string that it is.

    ``known`` are names for annotations that the module does not define, such as classes defined inside a function.
    """
    try:
        return typing.get_type_hints(thing, localns=_Names(thing, known or {}), include_extras=True)
    except Exception as problem:
        signals.pass_on(problem)
        found: dict[str, Any] = {}
        for owner in reversed(thing.__mro__) if isinstance(thing, type) else [inspect.unwrap(thing)]:
            space = {**(known or {}), **vars(inspect.getmodule(owner) or builtins)}
            for name, annotation in inspect.get_annotations(owner).items():
                found[name] = _evaluated(annotation, space)
        return found


class _Names(Mapping[str, Any]):
    """The names for annotations besides those of the module: classes in the body of the class, and known classes.

    Nothing is copied, because there may be many.
    """

    def __init__(self, thing: Any, known: Mapping[str, Any]) -> None:
        self.known = known
        if isinstance(thing, type):
            self.bodies = [vars(each) for each in thing.__mro__[:-1]]
            modules = {each.__module__ for each in thing.__mro__[:-1]}
            self.spaces = [vars(sys.modules[each]) for each in modules if each in sys.modules]
        else:
            self.bodies = []
            self.spaces = [getattr(inspect.unwrap(thing), "__globals__", {})]

    def __getitem__(self, name: str) -> Any:
        for body in self.bodies:
            if isinstance(body.get(name), type):
                return body[name]
        if any(name in space for space in self.spaces):
            raise KeyError(name)
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def _evaluated(annotation: Any, space: dict[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, space)  # the author's own annotation, as typing.get_type_hints does
    except Exception as problem:
        signals.pass_on(problem)
        return annotation


def annotated(what: Any) -> Any:
    """Returns the function whose annotations count: of a partial, a class's constructor, the call of an object."""
    while isinstance(what, functools.partial):
        what = what.func
    if isinstance(what, type):
        if issubclass(what, tuple) and hasattr(what, "_fields"):
            return what
        made = (getattr(what, name) for name in ("__init__", "__new__"))
        return next((each for each in made if isinstance(each, types.FunctionType)), what)
    if callable(what) and not hasattr(what, "__annotations__"):
        return type(what).__call__
    return what


_OPERATORS = {"__call__", "__iter__", "__next__", "__len__", "__getitem__", "__contains__", "__enter__", "__exit__"}


def behaves(makes: type, wanted: type) -> bool:
    """Whether a class conforms to another that it does not derive from: by registration, or as a protocol."""
    if is_protocol(wanted):
        names = {
            name
            for each in wanted.__mro__
            if is_protocol(each) and not _is_the_protocol(each)
            for name in (*vars(each), *vars(each).get("__annotations__", ()))
            if not name.startswith("_") or name in _OPERATORS
        }
        # Not the attributes that the class has as an object: every class can be called.
        there = {name for each in makes.__mro__ for name in (*vars(each), *vars(each).get("__annotations__", ()))}
        return bool(names) and all(name in there or (name not in _OPERATORS and hasattr(makes, name)) for name in names)
    try:
        return issubclass(makes, wanted)
    except TypeError:
        return False


def _is_the_protocol(cls: Any) -> bool:
    return bool(cls.__module__ == "typing" and cls.__name__ == "Protocol")


def may_be(cls: type, wanted: type) -> bool:
    """Whether an object of a class may be of another class, because one of them derives from the other.

    Conformance to a protocol shows only when the object exists. Of two classes with one name, an annotation that is a
    string may name the wrong one.
    """
    if is_protocol(wanted) or is_protocol(cls) or wanted.__name__ in {each.__name__ for each in cls.__mro__}:
        return True
    try:
        return issubclass(cls, wanted) or issubclass(wanted, cls)
    except TypeError:
        return True
