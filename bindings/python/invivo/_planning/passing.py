"""Whether runtime arguments stay in Python, so that they can cross as the objects that they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._assemblies.definitions import Definition
from .._declarations import recipes
from .._declarations.recipes import Draft, Recipe, Ref
from .._objects.keys import Facts
from .after import Known, Target

_DEEPEST = 64


def stays(made: Target, there: Known, depth: int = 0) -> bool:
    """Whether everything that gets the runtime arguments of a definition is Python's. A choice compares them with its
    options, so they cross there as values."""
    if isinstance(made, Facts):
        return made.stays
    if depth > _DEEPEST or isinstance(made.makes, str) or made.choice is not None:
        return False
    if made.alias is not None:
        return _passes(made, made.alias, there, depth)
    if made.maker is not None and _takes_any(made.maker.arguments):
        return False
    parent = None if made.parent is None else there.get(made.absolute(made.parent))
    if made.parent is not None and (parent is None or not stays(parent, there, depth + 1)):
        return False
    things = [made.positional, made.overrides, made.properties]
    things += [(one.positional, one.named) for one in made.calls]
    return all(_stays_in(made, thing, there, depth) for thing in things)


def _passes(made: Definition, ref: Ref, there: Known, depth: int) -> bool:
    target = there.get(made.absolute(ref.to)) if isinstance(ref.to, str) else None
    return target is not None and stays(target, there, depth + 1)


def _stays_in(made: Definition, thing: Any, there: Known, depth: int) -> bool:
    if isinstance(thing, (list, tuple, set, frozenset)):
        return all(_stays_in(made, each, there, depth) for each in thing)
    if isinstance(thing, Mapping):
        return all(_stays_in(made, each, there, depth) for each in thing.values())
    if not isinstance(thing, Recipe):
        return True
    match thing._node:
        case Ref(arguments=arguments) as ref:
            return not _takes_any(arguments) or _passes(made, ref, there, depth)
        case Draft() as draft:
            inner = [draft.positional, draft.named, [each for each, _ in draft.properties.values()]]
            inner += [(one.positional, one.named) for one in draft.calls]
            if isinstance(draft.what, str) or draft.parent is not None:
                return not _takes_any(inner)
            return all(_stays_in(made, each, there, depth) for each in inner)
        case recipes.Late(target=target):
            return _stays_in(made, target, there, depth)
        case recipes.Argument() | recipes.Arguments() | recipes.Constant() | recipes.Own():
            return True
        case recipes.Config() | recipes.Entry() | recipes.Text() | recipes.All():
            return True
    return not _takes_any((thing,))


def _takes_any(things: Iterable[Any]) -> bool:
    """Whether a runtime argument is in them, or may be."""
    for thing in things:
        if isinstance(thing, (list, tuple, set, frozenset)):
            if _takes_any(thing):
                return True
        elif isinstance(thing, Mapping):
            if _takes_any(thing.values()):
                return True
        elif isinstance(thing, Recipe):
            match thing._node:
                case Ref(arguments=arguments):
                    if _takes_any(arguments):
                        return True
                case recipes.Constant() | recipes.Own() | recipes.Config() | recipes.Entry() | recipes.All():
                    pass
                case _:
                    return True
    return False
