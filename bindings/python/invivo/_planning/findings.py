"""Errors found on the Python side, reported as the library reports its own: with a rule and the dependents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import _generated as c
from .._assemblies.definitions import Definition
from ..errors import Error
from .injections import Injection, Plan

_RULES = {
    c.INVIVO_E_NOT_FOUND: "wiring.missing",
    c.INVIVO_E_CYCLE: "wiring.cycle",
    c.INVIVO_E_AMBIGUOUS: "wiring.ambiguous",
    c.INVIVO_E_ARITY: "wiring.arity",
    c.INVIVO_E_PROPERTY: "wiring.unknown-property",
    c.INVIVO_E_METHOD: "wiring.unknown-method",
    c.INVIVO_E_TYPE: "wiring.type",
    c.INVIVO_E_RANGE: "wiring.type",
    c.INVIVO_E_NULL: "wiring.type",
    c.INVIVO_E_READ_ONLY: "wiring.read-only",
    c.INVIVO_E_EXISTS: "wiring.duplicate",
    c.INVIVO_E_ABSTRACT: "wiring.abstract",
    c.INVIVO_E_ARGUMENT: "wiring.description",
}


def name_findings(errors: Sequence[Error], plans: Sequence[Plan], made: Iterable[Definition]) -> None:
    """Gives each error its rule, and the path from a definition without dependents to the wrong one."""
    if not errors:
        return
    needers = _needers(plans, list(made))
    for error in errors:
        error.rule = error.rule or _RULES.get(error.code, "")
        key = next((key for key in needers if error.path == key or error.path.startswith(f"{key}.")), None)
        if key is not None and not error.needed_by:
            error.needed_by = " -> ".join(_path(key, needers))


def is_because(error: Error, wrong: Sequence[Error], left_out: Iterable[str]) -> bool:
    """Whether an error of the library follows from errors that were found before, or from definitions left out for
    them.
    """
    for one in wrong:
        if one.path == error.path:
            return True
        if one.path.startswith(f"{error.path}."):  # of one part of it; errors about that part follow from it
            place = one.path.removeprefix(f"{error.path}.").partition(".")[0]
            if error.code == c.INVIVO_E_ARITY or f"'{place}'" in error.message:
                return True
    return error.code == c.INVIVO_E_NOT_FOUND and any(f"'{key}'" in error.message for key in left_out)


def combined(errors: Sequence[Error]) -> Error:
    """Returns one error for several: the first, which lists all."""
    first = errors[0]
    if len(errors) == 1:
        return first
    error = type(first)(first.message, code=first.code, path=first.path, errors=errors)
    error.rule, error.needed_by = first.rule, first.needed_by
    return error


def _needers(plans: Sequence[Plan], made: Sequence[Definition]) -> dict[str, list[str]]:
    """Returns the dependents of each key: definitions that refer to it, or look for its type."""
    needers: dict[str, list[str]] = {}
    wishes: list[tuple[str, type]] = []
    for plan in plans:
        parts = [*plan.initializer, *plan.properties]
        for call in (*plan.methods, *plan.before, *plan.after, *plan.after_all, *([plan.maker] if plan.maker else [])):
            parts += call.arguments
        for part in _all(parts):
            if part.way == c.INVIVO_INJECT_REFERENCE and part.reference is not None:
                needers.setdefault(part.reference, []).append(plan.definition.key)
            elif part.cls is not None:
                wishes.append((plan.definition.key, part.cls))
    for holder, wanted in wishes:
        for each in made:
            if isinstance(each.makes, type) and issubclass(each.makes, wanted):
                needers.setdefault(each.key, []).append(holder)
    return needers


def _all(parts: Iterable[Injection]) -> Iterable[Injection]:
    for part in parts:
        yield part
        yield from _all(part.items)


def _path(key: str, needers: dict[str, list[str]]) -> list[str]:
    """Returns the shortest path from a definition without dependents, without the key itself."""
    after: dict[str, str] = {}
    queue, seen = [key], {key}
    outermost = key
    for outermost in queue:
        above = needers.get(outermost, [])
        if not above and outermost != key:
            break
        for holder in above:
            if holder not in seen:
                seen.add(holder)
                after[holder] = outermost
                queue.append(holder)
    way: list[str] = []
    while outermost != key:
        way.append(outermost)
        outermost = after[outermost]
    return way
