"""Compares the verdict of a schema about a document with that of a check, and the paths of their errors.

A schema and a check name the same path if the paths are equal, or if the error is about a key of a map (an unknown
one, a missing one, the name of a trait): then one may name the map and the other one the key. An entry of
``wiring:`` is one value. A value that is missing is named by the schema with the outermost part that is missing. A
value that selects no option is named by the check with the key of the choice. ``specs`` is another name of
``traits``. A check that finds errors of form does not look for keys without a target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

import invivo

Check = Callable[[Any], None]


def joined(parts: Iterable[Any]) -> str:
    return ".".join(str(each) for each in parts)


def plain(path: str) -> str:
    """Returns a path of the library with the items of lists as names: ``a[0].b`` as ``a.0.b``."""
    return re.sub(r"^specs\b", "traits", re.sub(r"\[(\d+)\]", r".\1", path))


class Named:
    """The paths that an error of a schema may have in a check."""

    def __init__(self, *exact: str, below: str | None = None, is_later: bool = False) -> None:
        """``is_later``: a check looks for it only if the form of the document is right."""
        self.exact, self.below, self.is_later = set(exact), below, is_later

    def fits(self, path: str) -> bool:
        return path in self.exact or (self.below is not None and f"{path}.".startswith(f"{self.below}."))

    def __repr__(self) -> str:
        return " or ".join([*sorted(map(repr, self.exact)), *([f"below {self.below!r}"] if self.below else [])])


def named(error: ValidationError) -> list[Named]:
    """Returns what an error of a schema names."""
    path = list(error.absolute_path)
    if path[:1] == ["specs"]:
        path[0] = "traits"
    if path[:1] == ["wiring"] and len(path) > 1:
        # The decision, or the definition as the decision would leave it.
        return [Named(joined(path), joined(path[:2]), str(path[1]))]
    if "Inherit" in path and path[-2:-1] == ["traits"]:
        path = path[:-1]
    here = joined(path)
    if "propertyNames" in error.absolute_schema_path:
        return [Named(here, joined([*path, error.instance]), is_later=path == ["traits"])]
    if error.validator == "required":
        missing = [name for name in error.validator_value if f"{name!r} is a required" in error.message]
        return [Named(here, below=joined([*path, *missing]))]
    if error.validator == "additionalProperties":
        schema: Any = error.schema
        known = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        unknown = [
            name for name in error.instance if name not in known and not any(re.search(each, name) for each in patterns)
        ]
        return [Named(here, joined([*path, name])) for name in unknown]
    if (path and path[-1] == "type") or error.schema == {"not": {}}:
        return [Named(here, joined(path[:-1]))]
    if error.validator == "not" and error.instance is None:
        return [Named(below=here)]
    return [Named(here)]


class Comparison:
    """Compares documents, and counts them."""

    def __init__(self, schema: Any, check: Check, choices: Mapping[str, str]) -> None:
        """``choices``: the paths of values that select an option, by the keys of the choices."""
        Draft202012Validator.check_schema(schema)
        self.choices = choices
        self.validator = Draft202012Validator(schema)
        self.check = check
        self.accepted = self.refused = 0
        self.alone: list[str] = []

    @property
    def count(self) -> int:
        return self.accepted + self.refused

    def difference(self, document: Any) -> str | None:
        """Returns what the schema and the check say otherwise about a document; None if they agree."""
        by_schema = [each for error in self.validator.iter_errors(document) for each in named(error)]
        by_check: dict[str, str] = {}
        try:
            self.check(document)
        except invivo.Error as problem:
            by_check = {plain(self.choices.get(each.path, each.path)): str(each) for each in problem.errors}
        if by_check:
            self.refused += 1
        else:
            self.accepted += 1
        unmatched = [each for path, each in by_check.items() if not any(one.fits(path) for one in by_schema)]
        extra = [each for each in by_schema if not any(each.fits(path) for path in by_check)]
        if by_check:
            extra = [each for each in extra if not each.is_later]
        # The errors of the check alone; none if the schema has errors of its own.
        self.alone = [] if extra else unmatched
        if not unmatched and not extra:
            return None
        return f"the check alone: {unmatched}; the schema alone: {extra}; both: {list(by_check)} and {by_schema}"
