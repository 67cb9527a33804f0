"""Whether an injected value has the type that the annotation of its target demands, as far as both are known.

Values that are only known later (of the configuration, results of methods) are checked when they arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _generated as c
from .._classes.annotations import may_be
from .._classes.callables import Parameter
from .._classes.hints import LATE, Hint
from .._values.exact import Exact
from .._values.kinds import KIND_NAMES
from .injections import Injection

_NUMBERS = {*range(c.INVIVO_KIND_INT8, c.INVIVO_KIND_UINT64 + 1), c.INVIVO_KIND_FLOAT, c.INVIVO_KIND_DOUBLE}

_PLAIN = {
    *_NUMBERS,
    c.INVIVO_KIND_BOOL,
    c.INVIVO_KIND_STRING,
    c.INVIVO_KIND_BYTES,
    c.INVIVO_KIND_LIST,
    c.INVIVO_KIND_MAP,
}

ClassOf = Callable[[str], "type | None"]  # the class of a key's objects, if it is known


def _is_one(value: Any, hint: Hint) -> bool:
    try:
        return value is None or (hint.wanted is not None and isinstance(value, hint.wanted))
    except TypeError:
        return True


def misfit(injection: Injection, hint: Hint, arguments: Sequence[Parameter], class_of: ClassOf) -> str | None:
    """Returns the problem of an injection for its target, or None if none is visible here."""
    match injection.way:
        case c.INVIVO_INJECT_ARGUMENT:
            return _argument(arguments[injection.index], hint)
        case c.INVIVO_INJECT_REFERENCE if hint.late is None and injection.reference is not None:
            return _class(repr(injection.reference), class_of(injection.reference), hint)
        case c.INVIVO_INJECT_TYPE if hint.late is None:
            return _class("the requested type", injection.cls, hint)
        case c.INVIVO_INJECT_VALUE if hint.late is None and hint.kind == c.INVIVO_KIND_OBJECT:
            value = injection.value.value if isinstance(injection.value, Exact) else injection.value
            return None if _is_one(value, hint) else _class("the object", type(value), hint)
        case c.INVIVO_INJECT_PROVIDER | c.INVIVO_INJECT_LAZY | c.INVIVO_INJECT_WEAK if hint.late in LATE:
            return _all(injection, hint.item, arguments, class_of)
        case c.INVIVO_INJECT_LIST | c.INVIVO_INJECT_SET | c.INVIVO_INJECT_MAP if hint.late == "all":
            return _all(injection, hint.item, arguments, class_of)
    return None


def _all(injection: Injection, hint: Hint | None, arguments: Sequence[Parameter], class_of: ClassOf) -> str | None:
    if hint is None:
        return None
    found = (misfit(each, hint, arguments, class_of) for each in injection.items)
    return next((each for each in found if each is not None), None)


def misfit_argument(injection: Injection, hint: Hint, arguments: Sequence[Parameter]) -> str | None:
    """Does the same for a parameter. The library itself checks everything but runtime arguments."""
    return _argument(arguments[injection.index], hint) if injection.way == c.INVIVO_INJECT_ARGUMENT else None


def _argument(given: Parameter, hint: Hint) -> str | None:
    kinds = {given.hint.kind, hint.kind}
    if kinds == {c.INVIVO_KIND_OBJECT}:
        return _class(f"the argument {given.name!r}", given.hint.wanted, hint)
    if hint.choices or not kinds <= _PLAIN or len(kinds) == 1 or kinds <= _NUMBERS:
        return None
    provided, wanted = KIND_NAMES[given.hint.kind], KIND_NAMES[hint.kind]
    return f"is of the kind {wanted}, and the argument {given.name!r} that goes there of the kind {provided}"


def _class(what: str, cls: type | None, hint: Hint) -> str | None:
    wanted = hint.wanted
    if cls is None or wanted is None or may_be(cls, wanted):
        return None
    return f"needs an object of type {wanted.__name__!r}, and {what} is of type {cls.__name__!r}"
