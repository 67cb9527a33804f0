"""Parameters of functions, and calls with arguments that came from the library.

Nothing here calls the library.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import _generated as c
from .._declarations.recipes import Recipe
from .._native.failures import describe, frame_of
from .._values.enumeration import Enumeration
from .._values.fields import dataclass
from ..errors import ArgumentError, ArityError, HostError, WrongTypeError
from .annotations import annotated, hints_of
from .hints import Hint, place_hint


@dataclass(frozen=True)
class Parameter:
    name: str
    hint: Hint
    has_default: bool
    keyword: bool  # passed by name
    default: Any = dataclasses.field(default=None, compare=False)

    @property
    def optional(self) -> bool:
        return self.has_default or self.hint.optional


def parameters_of(function: Any, known: Mapping[str, Any] | None = None, *, bound: bool) -> tuple[Parameter, ...]:
    """Returns the parameters of a function, without ``*rest`` and ``**rest``. ``bound`` leaves out the first one."""
    signature = signature_of(function)
    if signature is None:
        return ()
    hints = hints_of(annotated(function), known)
    found = []
    for parameter in list(signature.parameters.values())[1 if bound else 0 :]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        hint = place_hint(hints.get(parameter.name, parameter.annotation))
        if hint.choices:  # an enumeration comes as a name, a number or an enumeration: its class is known here alone
            hint = dataclasses.replace(hint, kind=c.INVIVO_KIND_ANY, choices=())
        has_default = parameter.default is not parameter.empty
        default = parameter.default if has_default else None
        found.append(Parameter(parameter.name, hint, has_default, parameter.kind is parameter.KEYWORD_ONLY, default))
    return tuple(found)


def signature_of(function: Any) -> inspect.Signature | None:
    """Returns None for a function or class without a signature, as some are that are written in C."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def without_recipes(function: Any, parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Refuses recipes as defaults: the object would get the recipe itself."""
    for each in parameters:
        if isinstance(each.default, Recipe):
            name = getattr(function, "__name__", repr(function))
            raise ArgumentError(
                f"{name}: the default of the parameter {each.name!r} is {each.default!r}, which only a definition can "
                f"use; give it there, as in invivo.new({name}, {each.name}=...)",
                path=each.name,
            )
    return parameters


# Stands for an argument that is left out, where the library needs a value for it.
LEFT_OUT = Enumeration(0, "invivo:left-out")


def is_left_out(value: Any) -> bool:
    return isinstance(value, Enumeration) and value.name == LEFT_OUT.name


def call(function: Any, parameters: Sequence[Parameter], arguments: Sequence[Any], *first: Any, given: int = -1) -> Any:
    """Calls a function with arguments in the order of its parameters.

    ``given`` has a bit for each argument that was given: None is passed on for these, and stands for the default of the
    others.
    """
    positional, named = list(first), dict[str, Any]()
    by_name = False
    for index, value in enumerate(arguments):
        if index >= len(parameters):
            positional.append(value)
            continue
        parameter = parameters[index]
        if parameter.has_default and (
            (value is None and not given >> min(index, 63) & 1) or (value is not None and is_left_out(value))
        ):
            by_name = True
            continue
        if value is not None:
            value = parameter.hint.decode(value)
        if parameter.keyword or by_name:
            named[parameter.name] = value
        else:
            positional.append(value)
    return function(*positional, **named)


def without_secrets(problem: Exception, parameters: Sequence[Parameter], arguments: Sequence[Any]) -> Exception:
    """Returns the exception of a function without the secrets that it received, as the library masks those of types."""
    texts = sorted(
        {text for each, value in zip(parameters, arguments, strict=False) if each.hint.secret for text in _texts(value)}
    )
    if not texts:
        return problem
    message = describe(problem)
    if min(map(len, texts)) < _LEAST_SHOWN:
        message = "it failed (its message is not shown, because it could quote a hidden value)"
    for text in sorted(texts, key=len, reverse=True):
        message = message.replace(text, "<secret>")
    file, line, _ = frame_of(problem)
    return HostError(message, file=file, line=line)


_LEAST_SHOWN = 4  # as in the library: a shorter secret cannot be told from other text


def _texts(value: Any) -> Iterator[str]:
    """The texts by which a message could show a value, or a part of it."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool) and str(value):
        yield str(value)


def check_hook(function: Any) -> None:
    """Refuses a coroutine function as a hook: it is called and not awaited, so nothing would happen."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ArgumentError(
            f"{function.__qualname__}() is asynchronous, and nobody would await it: hooks and methods of definitions "
            "are called at once. Make one that begins its work, and await that where it is used",
            file=function.__code__.co_filename,
            line=function.__code__.co_firstlineno,
        )


def place_of(function: Any) -> dict[str, Any]:
    """Returns the source location of a function, as the arguments of an error."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return {} if code is None else {"file": code.co_filename, "line": code.co_firstlineno}


def check_callback(
    function: Any,
    gets: tuple[str, ...],
    what: str,
    advice: str = "give a function, as one that calls loop.call_soon_threadsafe()",
) -> None:
    """Checks a callback when it is registered: it must not be asynchronous, and must take these arguments.

    ``advice``: what to do instead of an asynchronous one.
    """
    name = getattr(function, "__qualname__", None) or repr(function)
    place = place_of(function)
    if not callable(function):
        raise WrongTypeError(f"{what} is a function, not {function!r}")
    if any(
        check(each)
        for each in (function, type(function).__call__)
        for check in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    ):
        raise ArgumentError(
            f"{what} is called, and not awaited: {name} is asynchronous; {advice}",
            **place,
        )
    signature = signature_of(function)
    if signature is None:
        return
    try:
        signature.bind(*gets)
    except TypeError as problem:
        given = ", ".join(gets) or "no arguments"
        raise ArityError(
            f"{what} is called with {given}: {name}{signature} does not take that ({problem})", **place
        ) from None


def last_needed(parameters: Sequence[Parameter]) -> int:
    """Returns the index of the last parameter that is not optional, or -1."""
    return max((index for index, each in enumerate(parameters) if not each.optional), default=-1)
