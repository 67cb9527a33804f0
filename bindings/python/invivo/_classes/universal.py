"""Methods and properties that every Python type has besides its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _generated as c
from .._declarations.marks import Tunable
from .callables import Parameter
from .classes import Method, Property
from .hints import Hint

# A method that every Python type has besides its own. It calls a function of the object, or one of its methods without
# annotated parameters, while the object is created.
CALL = "invivo:call"

ANY_CALL = Method(
    CALL,
    None,
    (
        Parameter("what", Hint(), False, False),
        Parameter("arguments", Hint(kind=c.INVIVO_KIND_LIST), False, False),
        Parameter("names", Hint(kind=c.INVIVO_KIND_LIST), False, False),
    ),
    Hint(kind=c.INVIVO_KIND_NULL),
)


def call_any(thing: Any, what: Any, arguments: Sequence[Any], names: Sequence[str]) -> None:
    """The last arguments are named."""
    count = len(arguments) - len(names)
    named = dict(zip(names, arguments[count:], strict=True))
    if isinstance(what, str):
        getattr(thing, what)(*arguments[:count], **named)
    else:
        what(thing, *arguments[:count], **named)


# A plain value may be the constant of a definition, and is then an object like any other. Its dependents get the value,
# which is this property of the object.
VALUE = "invivo:value"

_PLAIN: dict[type, int] = {
    bool: c.INVIVO_KIND_BOOL,
    int: c.INVIVO_KIND_ANY,  # of any width
    float: c.INVIVO_KIND_DOUBLE,
    str: c.INVIVO_KIND_STRING,
    bytes: c.INVIVO_KIND_BYTES,
    list: c.INVIVO_KIND_LIST,
    tuple: c.INVIVO_KIND_LIST,
    set: c.INVIVO_KIND_LIST,
    frozenset: c.INVIVO_KIND_LIST,
    dict: c.INVIVO_KIND_MAP,
}


def is_plain(cls: Any) -> bool:
    return isinstance(cls, type) and cls in _PLAIN


class Itself(Property):
    """The property of a plain value that is the value."""

    def read(self, instance: Any) -> Any:
        return instance


def itself(cls: type) -> list[Property]:
    return [Itself(VALUE, Hint(kind=_PLAIN[cls]), Tunable(None), True)] if cls in _PLAIN else []
