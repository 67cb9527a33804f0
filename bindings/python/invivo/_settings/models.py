"""Readers of pydantic models: pydantic builds them, and the library locates its errors in the document.

pydantic is not imported here: a program that has models has imported it.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any

from .._native import signals
from .._values.members import nearest
from ..errors import ConversionError, NotConfiguredError, PropertyError
from .faults import NOTHING, Faults, Variable
from .records import allows_null, not_set


def is_model(cls: Any) -> bool:
    """Whether a class is a model or dataclass of pydantic."""
    return isinstance(cls, type) and hasattr(cls, "__pydantic_validator__")


class Model:
    """Reads a map into a model."""

    __slots__ = ("cls", "forbids")

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        # A model that says nothing about further keys refuses them.
        self.forbids = not any("extra" in _config(each) for each in _models(cls))

    def fits(self, value: dict[str, Any]) -> bool:
        return True

    def __call__(self, value: Any, faults: Faults) -> Any:
        given = _strings(value)
        count = len(faults)
        if not self.forbids:
            for names, model in _extras(self.cls, given, ()):
                faults.add(*_unknown(names[-1], model), *names, kind=PropertyError)
        try:
            made = self._validate(given)
        except Exception as problem:
            signals.pass_on(problem)
            found: Any = getattr(problem, "errors", None)
            if found is None:
                message = f"{self.cls.__name__} refuses it: {type(problem).__name__}"
                return faults.add(message, kind=ConversionError, cause=None if faults.hides else problem)
            for each in found(include_url=False, include_input=False):
                self._add(each, given, faults)
            return NOTHING
        return NOTHING if len(faults) > count else made

    def _validate(self, value: Any) -> Any:
        validator = self.cls.__pydantic_validator__
        return validator.validate_python(value, extra="forbid") if self.forbids else validator.validate_python(value)

    def _add(self, error: Any, value: Any, faults: Faults) -> None:
        names, model = self._located(error["loc"], value)
        kind = error["type"]
        if kind in ("extra_forbidden", "unexpected_keyword_argument") and names:
            faults.add(*_unknown(names[-1], model), *names, kind=PropertyError)
        elif kind in ("missing", "missing_argument", "missing_keyword_only_argument") and names:
            owner = (model or self.cls).__name__
            is_nullable = model is not None and allows_null(_field(model, names[-1]))
            faults.add(f"{owner} {not_set(names[-1], is_nullable)}", *names, kind=NotConfiguredError)
        elif faults.hides and kind in _LENGTHS:
            limits = [str(error["ctx"][each]) for each in ("min_length", "max_length") if each in error.get("ctx", ())]
            faults.add(f"{_LENGTHS[kind]} {' '.join(limits)} items", *names, kind=ConversionError)
        elif faults.hides and kind not in _SILENT:
            faults.add(f"the value is not accepted ({kind})", *names, kind=ConversionError)
        else:
            faults.add(error["msg"], *names, kind=ConversionError)

    def _located(self, location: tuple[Any, ...], value: Any) -> tuple[list[str], Any]:
        """Returns the names that lead to the part of the section, and the model around it.

        A location also has the names of members of unions and of validators, which are no parts.
        """
        names: list[str] = []
        annotation: Any = self.cls
        model: Any = None
        for index, each in enumerate(location):
            if (isinstance(value, dict) and each in value) or (isinstance(value, list) and isinstance(each, int)):
                value = value[each]
            elif index < len(location) - 1 or not isinstance(value, dict):
                named = [one for one in _inner(annotation) if getattr(one, "__name__", None) == each]
                annotation = named[0] if named else annotation
                continue
            names.append(str(each))
            owner = _model(annotation)
            model = owner or model
            annotation = _field(owner, str(each)) if owner is not None else _item(annotation)
        return names, model


# Errors whose messages never contain a part of the value, but a bound, a pattern or choices that the program declares.
_SILENT = {
    *("int_parsing", "int_type", "int_from_float", "bool_parsing", "bool_type", "float_parsing", "float_type"),
    *("string_type", "bytes_type", "list_type", "tuple_type", "set_type", "frozen_set_type", "dict_type", "model_type"),
    *("decimal_type", "decimal_parsing", "uuid_type", "date_type", "datetime_type", "time_type", "time_delta_type"),
    *("greater_than", "greater_than_equal", "less_than", "less_than_equal", "multiple_of", "finite_number"),
    *("decimal_max_digits", "decimal_max_places", "decimal_whole_digits"),
    *("string_too_short", "string_too_long", "string_pattern_mismatch", "bytes_too_short", "bytes_too_long"),
    *("literal_error", "enum", "none_required", "url_type"),
}
# The messages of these contain the length of the value.
_LENGTHS = {"too_short": "expected at least", "too_long": "expected at most"}


def _unknown(name: str, model: Any) -> tuple[str]:
    owner = model.__name__ if model is not None else "the model"
    known = _names(model) if model is not None else []
    return (f"{owner} has no field {name!r}{nearest(name, known) or '; it has ' + ', '.join(known) if known else ''}",)


def _strings(value: Any) -> Any:
    """Returns a value for pydantic, which reads the strings of environment variables itself."""
    kind = type(value)
    if kind is Variable:
        return value.value if value.text is None else value.text
    if kind is list:
        return [_strings(each) for each in value]
    if kind is dict:
        return {name: _strings(each) for name, each in value.items()}
    return value


def _config(cls: Any) -> Any:
    return getattr(cls, "model_config", None) or getattr(cls, "__pydantic_config__", None) or {}


def _fields(cls: Any) -> Any:
    return getattr(cls, "__pydantic_fields__", {})


def _names(cls: Any) -> list[str]:
    """The names of the fields as documents write them."""
    return [each.alias or name for name, each in _fields(cls).items()]


def _field(cls: Any, written: str) -> Any:
    for name, each in _fields(cls).items():
        if written in (name, each.alias):
            return each.annotation
    return Any


def _inner(annotation: Any) -> tuple[Any, ...]:
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _inner(typing.get_args(annotation)[0])
    return typing.get_args(annotation) if origin in (typing.Union, types.UnionType) else ()


def _item(annotation: Any) -> Any:
    """The annotation of the items of a list or map."""
    arguments = typing.get_args(annotation)
    for each in _inner(annotation):
        if typing.get_args(each):
            return _item(each)
    return arguments[-1] if arguments and arguments[-1] is not ... else arguments[0] if arguments else Any


def _model(annotation: Any) -> Any:
    """The model that an annotation names, alone or as the only one of a union."""
    if is_model(annotation):
        return annotation
    found = [each for each in _inner(annotation) if is_model(each)]
    return found[0] if len(found) == 1 else None


def _models(cls: Any, seen: set[Any] | None = None) -> set[Any]:
    """A model with all models that its annotations name."""
    seen = set() if seen is None else seen
    if is_model(cls):
        if cls not in seen:
            seen.add(cls)
            for each in _fields(cls).values():
                _models(each.annotation, seen)
    else:
        for each in typing.get_args(cls):
            _models(each, seen)
    return seen


def fields_of(cls: Any) -> Iterator[tuple[str, Any, Any]]:
    """The fields under each of their names in documents: name, annotation, and what `Annotated` has beside it."""
    for name, each in _fields(cls).items():
        aliases = {name, each.alias, each.validation_alias} - {None}
        for written in sorted(alias for alias in aliases if isinstance(alias, str)):
            yield written, each.annotation, each.metadata


def written_names(cls: Any) -> Iterator[tuple[str, str]]:
    """The fields with the names that pydantic reads, such as an alias."""
    for name, each in _fields(cls).items():
        alias = each.validation_alias if isinstance(each.validation_alias, str) else each.alias
        yield name, alias or name


def silent(cls: Any) -> set[str]:
    """The names of the models that say nothing about further keys: a model and those that its annotations name."""
    return {each.__name__ for each in _models(cls) if "extra" not in _config(each)}


def _extras(annotation: Any, value: Any, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The keys that no field has, of models that say nothing about further keys."""
    model = _model(annotation)
    if model is not None and isinstance(value, dict):
        known = {*_names(model), *_fields(model)}
        for name, each in value.items():
            if name in known:
                yield from _extras(_field(model, name), each, (*names, name))
            elif "extra" not in _config(model):
                yield (*names, name), model
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _extras(_item(annotation), each, (*names, str(index)))
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _extras(_item(annotation), each, (*names, name))
