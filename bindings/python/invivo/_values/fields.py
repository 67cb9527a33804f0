"""Frozen dataclasses that are quick to define.

The standard decorator compiles six functions for a class, which took a third of the time to import this package. This
one compiles the initializer. The other methods read the fields.
"""

from __future__ import annotations

import dataclasses
import reprlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen, eq=True):
        """Decorates a class as ``dataclasses.dataclass`` does. ``frozen`` must be True.

        The class derives from no dataclass, and has no ``__post_init__``.
        """
        if not frozen:
            raise ValueError("these dataclasses are frozen")

        def decorate(cls):
            cls.__doc__ = cls.__doc__ or cls.__name__  # or the standard decorator writes a signature
            dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
            cls.__dataclass_params__.frozen = True
            fields = dataclasses.fields(cls)
            cls.__init__ = _initializer(cls, fields)
            cls.__setattr__, cls.__delattr__ = _refusal(cls)
            if "__repr__" not in vars(cls):
                cls.__repr__ = _repr
            if eq:
                cls.__dataclass_params__.eq = True
                compared = tuple(each.name for each in fields if each.compare)
                cls.__eq__, cls.__hash__ = _comparison(compared)
            return cls

        return decorate


def _initializer(cls: type, fields: tuple[dataclasses.Field[Any], ...]) -> Any:
    """Returns the initializer of a class."""
    parameters, body = ["self"], [" pass"]
    defaults: dict[str, Any] = {"_put": object.__setattr__}
    for each in fields:
        name = value = each.name
        if each.default_factory is not dataclasses.MISSING:
            defaults[f"_make_{name}"], defaults[f"_default_{name}"] = each.default_factory, _ABSENT
            value = f"_make_{name}() if {name} is _default_{name} else {name}"
        elif each.default is not dataclasses.MISSING:
            defaults[f"_default_{name}"] = each.default
        parameters.append(f"{name}=_default_{name}" if f"_default_{name}" in defaults else name)
        body.append(f" _put(self, {name!r}, {value})")
    lines = [f"def _of({', '.join(defaults)}):", f" def __init__({', '.join(parameters)}):"]
    source = "\n".join((*lines, *(f" {line}" for line in body), " return __init__"))
    namespace: dict[str, Any] = {}
    exec(source, vars(sys.modules[cls.__module__]), namespace)
    function = namespace["_of"](**defaults)
    function.__qualname__ = f"{cls.__qualname__}.__init__"
    function.__annotations__ = {**{each.name: each.type for each in fields}, "return": None}
    return function


_ABSENT: Any = object()


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    values = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({values})"


def _comparison(names: tuple[str, ...]) -> tuple[Any, Any]:
    """Returns the functions that compare and hash objects by these fields."""

    def values(thing: Any) -> tuple[Any, ...]:
        return tuple([getattr(thing, name) for name in names])

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __eq__, __hash__


def _refusal(cls: Any) -> tuple[Any, Any]:
    """Returns the functions that refuse changes of the fields. A derived class may add attributes."""

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is cls or name in cls.__dataclass_fields__:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in cls.__dataclass_fields__:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__
