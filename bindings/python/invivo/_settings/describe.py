"""Annotations as JSON Schemas, which accept what the readers of `Schema` accept.

Nothing here calls the library.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import re
import sys
import types
import typing
from collections.abc import Callable
from typing import Any

from .._declarations.secrets import has_secret, is_secret_class
from .._native import signals
from . import models, records
from .schema import LISTS, MAPS, SETS, TYPE_ALIAS

Described = dict[str, Any]

_INTEGER = r"^\s*[-+]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*)\s*$"
_NUMBER = r"^\s*[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9_]+|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])" + (
    r"(?:[eE][-+]?[0-9]+)?\s*$"
)
_WHOLE = r"^\s*[-+]?[0-9][0-9_]*(?:\.0*)?\s*$"  # as pydantic reads integers
_BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_TRUTHS = ("true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "1", "0")
_TRUTH = "^(?:" + "|".join("".join(f"[{c}{c.upper()}]" for c in each) for each in _TRUTHS) + ")$"

_SCALARS: dict[Any, Described] = {
    bool: {"type": ["boolean", "string"], "pattern": "^(?:true|false)$"},
    int: {"type": ["integer", "string"], "pattern": _INTEGER},
    float: {"type": ["number", "string"], "pattern": _NUMBER},
    str: {"type": "string"},
    bytes: {"type": "string", "pattern": _BASE64},
    object: {},
    Any: {},
    None: {"type": "null"},
    type(None): {"type": "null"},
}
_FORMATS: dict[Any, Described] = {
    datetime.timedelta: {"type": ["string", "number"], "examples": ["250 ms"]},
    datetime.date: {"type": "string", "examples": ["2026-01-31"]},
    datetime.datetime: {"type": "string", "examples": ["2026-01-31T12:00"]},
    datetime.time: {"type": "string", "examples": ["12:00"]},
    decimal.Decimal: {"type": ["string", "number"]},
    fractions.Fraction: {"type": ["string", "number"]},
    re.Pattern: {"type": "string"},
}


def described(annotation: Any, converts: Callable[[type], bool]) -> str | None:
    """Returns the schema of an annotation as JSON. None for one that pydantic cannot describe.

    ``converts``: whether a class has a converter of the runtime.
    """
    describer = _Describer(converts)
    try:
        schema = describer.of(annotation)
        if describer.definitions:
            schema = {**schema, "$defs": describer.definitions}
        return json.dumps(schema, ensure_ascii=False)
    except Exception as problem:
        signals.pass_on(problem)
        return None


class _Describer:
    def __init__(self, converts: Callable[[type], bool]) -> None:
        self._converts = converts
        self.definitions: dict[str, Described] = {}
        self._names: dict[Any, str] = {}

    def of(self, annotation: Any) -> Described:
        if isinstance(annotation, dataclasses.InitVar):
            return self.of(annotation.type)
        if hasattr(annotation, "__supertype__"):
            return self.of(annotation.__supertype__)
        if TYPE_ALIAS and isinstance(annotation, TYPE_ALIAS):
            return self._shared(annotation, annotation.__name__, lambda: self.of(annotation.__value__))
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Annotated:
            return self._constrained(self.of(arguments[0]), annotation.__metadata__)
        if origin is not None and origin in (typing.Final, records.REQUIRED, records.NOT_REQUIRED):
            return self.of(arguments[0])
        if isinstance(annotation, typing.TypeVar):
            return self.of(annotation.__bound__ or Any)
        try:
            scalar = _SCALARS.get(annotation)
        except TypeError:
            scalar = None
        if scalar is not None:
            return dict(scalar)
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments)
        if origin is typing.Literal:
            return {"enum": _choices(arguments)}
        return self._class(annotation, origin or annotation, arguments)

    def _shared(self, key: Any, name: str, describe: Callable[[], Described]) -> Described:
        """Describes something once, which may refer to itself."""
        known = self._names.get(key)
        if known is None:
            known = name
            while known in self.definitions:
                known += "_"
            self._names[key] = known
            self.definitions[known] = {}
            self.definitions[known] = describe()
        return {"$ref": f"#/$defs/{known}"}

    def _class(self, annotation: Any, cls: Any, arguments: tuple[Any, ...]) -> Described:
        if cls is tuple and arguments and not (len(arguments) == 2 and arguments[1] is ...):
            items = [self.of(each) for each in arguments] if arguments != ((),) else []
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if cls in LISTS or cls in SETS or cls in (tuple, frozenset):
            return {"type": "array", "items": self.of(arguments[0] if arguments else Any)}
        if cls in MAPS:
            return {"type": "object", "additionalProperties": self.of(arguments[1] if arguments else Any)}
        if models.is_model(cls):
            return self._model(cls)
        if isinstance(cls, type) and issubclass(cls, enum.Enum):
            return {"enum": _members(cls)}
        if is_secret_class(cls):
            return {"type": "string"}
        fields = records.fields_of(cls)
        if fields is not None and not self._converts(cls):
            return self._shared(annotation, cls.__name__, lambda: self._record(cls, fields, arguments))
        return dict(_FORMATS.get(cls, {"type": "string"}))

    def _record(self, cls: type, fields: dict[str, records.Field], arguments: tuple[Any, ...]) -> Described:
        variables = dict(zip(getattr(cls, "__parameters__", ()), arguments, strict=False))
        defaults = _defaults(cls)
        properties = {}
        for name, field in fields.items():
            found = properties[name] = self.of(records.given(field.annotation, variables))
            if name in defaults and not has_secret(field.annotation):
                found["default"] = defaults[name]
        required = [name for name, field in fields.items() if field.is_required]
        return {
            "title": cls.__name__,
            **_documentation(cls),
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    # ---- unions and constraints ------------------------------------------------------------------------

    def _union(self, arguments: tuple[Any, ...]) -> Described:
        rest = [each for each in arguments if each is not type(None)]
        schemas = [self.of(each) for each in rest]
        null = {"type": "null"}
        if len(schemas) == 1:
            return {"if": null, "else": schemas[0]}
        fits = {index: found for index, each in enumerate(rest) if (found := self._fits(each)) is not None}
        alternatives: Described = {"anyOf": schemas + ([null] if len(rest) < len(arguments) else [])}
        # The alternative for a map that fits only one class: its errors have their own paths.
        for index, fit in fits.items():
            others = [other for number, other in fits.items() if number != index]
            alone = {"type": "object", "allOf": [fit, *({"not": other} for other in others)]}
            alternatives = {"if": alone, "then": schemas[index], "else": alternatives}
        return alternatives

    def _fits(self, annotation: Any) -> Described | None:
        """The condition under which a map belongs to a class; None for something else."""
        cls = typing.get_origin(annotation) or annotation
        if models.is_model(cls):
            return {}
        fields = None if self._converts(cls) else records.fields_of(cls)
        if fields is None:
            return None
        literals = {
            name: {"enum": _choices(typing.get_args(field.annotation))}
            for name, field in fields.items()
            if typing.get_origin(field.annotation) is typing.Literal
        }
        return {"properties": literals} if literals else {}

    def _constrained(self, schema: Described, notes: tuple[Any, ...]) -> Described:
        found: Described = {}
        for note in notes:
            for each in getattr(note, "metadata", None) or [note]:
                for name, keywords in _CONDITIONS.items():
                    limit = getattr(each, name, None)
                    if limit is not None and type(limit) in (int, float):
                        found.update(dict.fromkeys(keywords, limit))
            text = getattr(note, "description", None)
            if isinstance(text, str):
                found["description"] = text
        if "$ref" in schema or "if" in schema:
            return {"allOf": [schema], **found} if found else schema
        return {**schema, **found}

    # ---- pydantic --------------------------------------------------------------------------------------

    def _model(self, cls: Any) -> Described:
        model = models.Model(cls)
        # A program that has models has imported it.
        schema = (
            sys.modules["pydantic"]
            .TypeAdapter(cls)
            .json_schema(by_alias=True, mode="validation", ref_template="#/$defs/{model}")
        )
        inner = schema.pop("$defs", {})
        names = {name: self._free(name) for name in inner}
        found = _lax(copy.deepcopy(schema), names, _closed(cls, model))
        for name, each in inner.items():
            self.definitions[names[name]] = _lax(copy.deepcopy(each), names, _closed(cls, model))
        return self._shared(cls, cls.__name__, lambda: found)

    def _free(self, name: str) -> str:
        while name in self.definitions:
            name += "_"
        self.definitions[name] = {}
        return name


_CONDITIONS = {
    "gt": ("exclusiveMinimum",),
    "ge": ("minimum",),
    "lt": ("exclusiveMaximum",),
    "le": ("maximum",),
    "multiple_of": ("multipleOf",),
    "min_length": ("minLength", "minItems", "minProperties"),
    "max_length": ("maxLength", "maxItems", "maxProperties"),
}


def _choices(choices: tuple[Any, ...]) -> list[Any]:
    found: list[Any] = []
    for each in choices:
        if isinstance(each, enum.Enum):
            found += [each.name, *([each.value] if isinstance(each.value, str) else [])]
        elif not isinstance(each, bytes):
            found.append(each)
    return list(dict.fromkeys(found)) if all(type(each) is str for each in found) else found


def _members(cls: type[enum.Enum]) -> list[Any]:
    values: list[Any] = []
    for each in cls:
        for base in (bool, int, float, str):
            if isinstance(each.value, base):
                values.append(base(each.value))
                break
    return values + [name for name in cls.__members__ if name not in values]


def _defaults(cls: Any) -> dict[str, Any]:
    """The defaults of a record that JSON can express."""
    given: dict[str, Any] = {}
    if dataclasses.is_dataclass(cls):
        given = {each.name: each.default for each in dataclasses.fields(cls) if each.default is not dataclasses.MISSING}
    else:
        given = dict(getattr(cls, "_field_defaults", {}))
    found = {}
    for name, value in given.items():
        plain = value.value if isinstance(value, enum.Enum) else value
        if plain is None or type(plain) in (bool, int, str) or (type(plain) is float and plain == plain):
            found[name] = plain
    return found


def _documentation(cls: type) -> Described:
    """The summary of a class. A dataclass without one has its signature there."""
    text = (cls.__dict__.get("__doc__") or "").strip().split("\n\n")[0]
    return {"description": " ".join(text.split())} if text and not text.startswith(f"{cls.__name__}(") else {}


def _closed(cls: Any, model: models.Model) -> Callable[[str], bool]:
    """Returns whether the library refuses further keys of the class with a title."""
    if model.forbids:
        return lambda _: True
    silent = models.silent(cls)
    return lambda title: title in silent


def _lax(schema: Any, names: dict[str, str], closes: Callable[[str], bool]) -> Any:
    """Returns a schema of pydantic that accepts what pydantic reads, with the references renamed."""
    if isinstance(schema, list):
        return [_lax(each, names, closes) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found: Described = {}
    for name, value in schema.items():
        if name in ("properties", "patternProperties"):
            found[name] = {key: _lax(each, names, closes) for key, each in value.items()}
        elif name == "$ref":
            found[name] = "#/$defs/" + names.get(value.removeprefix("#/$defs/"), value.removeprefix("#/$defs/"))
        elif name in ("default", "const", "enum", "examples", "discriminator"):
            if name != "discriminator":
                found[name] = value
        else:
            found[name] = _lax(value, names, closes)
    kind, form = found.get("type"), found.get("format")
    if kind == "integer":
        found.update(type=["integer", "string", "boolean"], pattern=_WHOLE)
        if not any(name.endswith("inimum") for name in found):
            found["minimum"] = -(1 << 63)
        if not any(name.endswith("aximum") for name in found):
            found["maximum"] = (1 << 63) - 1
    elif kind == "number":
        found.update(type=["number", "string", "boolean"], pattern=_NUMBER)
    elif kind == "boolean":
        del found["type"]
        found["anyOf"] = [
            {"type": "boolean"},
            {"type": "number", "enum": [0, 1]},
            {"type": "string", "pattern": _TRUTH},
        ]
    elif kind == "string" and form in ("duration", "date-time", "date", "time"):
        found["type"] = ["string", "number"]
    elif kind == "object" and "properties" in found and closes(found.get("title", "")):
        found.setdefault("additionalProperties", False)
    if found.get("writeOnly"):
        found.pop("default", None)
    if "anyOf" in found and len(found["anyOf"]) == 2 and {"type": "null"} in found["anyOf"]:
        inner = next(each for each in found.pop("anyOf") if each != {"type": "null"})
        found.update({"if": {"type": "null"}, "else": inner})
    return found
