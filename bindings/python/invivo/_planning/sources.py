"""Sources: recipes and annotations as injections."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _generated as c
from .._assemblies.assembly import AssemblyDescription
from .._assemblies.definitions import Definition, checked_scope, of_recipe
from .._assemblies.members import Bound
from .._classes.annotations import is_assembly
from .._classes.callables import Parameter
from .._classes.classes import Method, Property
from .._classes.hints import LATE, Hint, crossing_kind, for_python
from .._classes.universal import VALUE, is_plain
from .._declarations import recipes
from .._declarations.changes import WHOLE_FLAGS, whole_flags
from .._declarations.context_kinds import name_of
from .._declarations.from_context import FromContextMark
from .._declarations.recipes import Draft, Options, Recipe, Ref
from .._values.fields import dataclass
from .._values.foreign import Type
from .._values.kinds import KIND_NAMES
from ..errors import AmbiguousError, ArgumentError, ArityError, Error, NotFoundError, WrongTypeError
from .after import Known
from .injections import Injection, Plan
from .passing import stays


@dataclass(frozen=True)
class To:
    """The receiver of a value.

    ``is_foreign``: perhaps one of another language, which gets a value of the library. ``is_function``: a parameter of
    a function. ``is_argument``: a runtime argument.
    """

    is_foreign: bool = False
    is_function: bool = False
    is_argument: bool = False

    @property
    def inside(self) -> To:
        """The receiver of the items of a list or map."""
        return self if not self.is_function else PYTHON


PYTHON, FOREIGN, FUNCTION, ARGUMENT = To(), To(is_foreign=True), To(is_function=True), To(is_argument=True)
_COLLECTIONS = (c.INVIVO_KIND_LIST, c.INVIVO_KIND_MAP)
_REFERENCES = (c.INVIVO_KIND_OBJECT, c.INVIVO_KIND_TYPE, c.INVIVO_KIND_CALLABLE, c.INVIVO_KIND_NULL)


class Sources:
    """Finds the sources of the values of one definition, and plans its inline definitions."""

    def __init__(
        self,
        made: Definition,
        existing: Known,
        known: Mapping[str, type],
        find: Callable[[str], Type] | None,
        errors: list[Error],
        plans: list[Plan],
        marked: bool,
        remaps: Mapping[str, Mapping[str, str]],
        assemblies: Sequence[AssemblyDescription],
    ) -> None:
        self.remaps, self.assemblies = remaps, assemblies
        self.made, self.existing, self.known, self.find = made, existing, known, find
        self.errors, self.plans, self.marked = errors, plans, marked
        self.uses_arguments = False
        self.inline: dict[int, tuple[str, bool]] = {}  # of drafts by identity: key, and whether it takes the arguments
        self.methods: dict[str, Method] = {}
        self.described: dict[str, Property] = {}
        self.cls: type | None = None

    def plan(self) -> Plan:
        """Plans the whole definition. Inline definitions are planned in the same way."""
        raise NotImplementedError

    def at(self, name: str) -> dict[str, Any]:
        path = f"{self.made.key}.{name}" if name else self.made.key
        return {"path": path, "file": self.made.file, "line": self.made.line}

    def collecting(self) -> Collecting:
        return Collecting(self.errors)

    # ---- described values --------------------------------------------------------------------------------

    def named(self, name: str, thing: Any, hint: Hint | None = None, to: To = PYTHON) -> Injection:
        return dataclasses.replace(self.source(thing, name, hint, to), name=name)

    def source(self, thing: Any, place: str, hint: Hint | None = None, to: To = PYTHON) -> Injection:
        """Returns the source of a value: a recipe describes it, anything else is the value itself. ``to``: the
        receiver.
        """
        if isinstance(thing, Recipe):
            return self._recipe(thing, place, hint, to)
        if isinstance(thing, Bound):
            return Injection("", how=c.INVIVO_INJECT_PROVIDER, items=(Injection("", thing.key),))
        if isinstance(thing, functools.partial) and isinstance(thing.func, Bound):
            target = thing.func.reference(*thing.args, **thing.keywords)
            return Injection("", how=c.INVIVO_INJECT_PROVIDER, items=(self.source(target, place),))
        needs_injection = _needs_injection if to.is_foreign else is_described
        if isinstance(thing, (set, frozenset)) and (to.is_foreign or is_described(thing)):
            items = tuple(self.source(each, f"{place}.{i}", None, to.inside) for i, each in enumerate(thing))
            return Injection("", how=c.INVIVO_INJECT_SET, items=items)
        if isinstance(thing, (list, tuple)) and any(map(needs_injection, thing)):
            items = tuple(self.source(each, f"{place}.{i}", None, to.inside) for i, each in enumerate(thing))
            return Injection("", how=c.INVIVO_INJECT_LIST, items=items)
        if isinstance(thing, Mapping) and any(map(needs_injection, thing.values())):
            return Injection(
                "",
                how=c.INVIVO_INJECT_MAP,
                items=tuple(self.named_item(name, each, f"{place}.{name}", to) for name, each in thing.items()),
            )
        recipes.refuse_recipes_inside(thing, self.at(place))
        return self._constant(thing, hint, to)

    def _constant(self, thing: Any, hint: Hint | None, to: To, *, is_same: bool = False) -> Injection:
        if not to.is_foreign and (hint is None or not hint.choices):
            thing = for_python(thing, hint, whole=to.is_function, is_same=is_same, is_argument=to.is_argument)
        return Injection("", value=thing, kind=c.INVIVO_KIND_ANY if hint is None else hint.kind)

    def named_item(self, name: str, thing: Any, place: str, to: To = PYTHON) -> Injection:
        if not isinstance(name, str):
            raise WrongTypeError(f"the keys of a map are texts, not {name!r}", **self.at(place))
        return dataclasses.replace(self.source(thing, place, None, to.inside), name=name)

    def _recipe(self, recipe: Recipe, place: str, hint: Hint | None, to: To) -> Injection:
        found = self._described(recipe, place, hint, to)
        flags = whole_flags(recipe._node)
        if isinstance(recipe._node, (recipes.Path, recipes.Text)) and found.items:
            # It belongs to the injection as a whole.
            inner = found.items[0]
            flags |= inner.flags & WHOLE_FLAGS
            found = dataclasses.replace(
                found, items=(dataclasses.replace(inner, flags=inner.flags & ~WHOLE_FLAGS), *found.items[1:])
            )
        return dataclasses.replace(found, flags=found.flags | flags) if flags else found

    def _described(self, recipe: Recipe, place: str, hint: Hint | None, to: To) -> Injection:
        node = recipe._node
        match node:
            case Ref(to=str(), arguments=arguments, optional=optional):
                return self._reference(node, arguments, optional, place)
            case Ref():
                return self._looked_up(node)
            case recipes.All(of=of, exact=exact, added=added, removed=removed):
                flags = c.INVIVO_INJECT_EXACT if exact else 0
                return Injection("", how=c.INVIVO_INJECT_ALL, of=of, flags=flags, added=added, removed=removed)
            case recipes.Argument(index=index):
                self.uses_arguments = True
                return Injection("", how=c.INVIVO_INJECT_ARGUMENT, index=index)
            case recipes.Arguments():
                self.uses_arguments = True
                return Injection("", how=c.INVIVO_INJECT_ARGUMENTS)
            case recipes.Path(start=start, names=names):
                return Injection("", ".".join(names), how=c.INVIVO_INJECT_PATH, items=(self.source(start, place),))
            case recipes.Late(target=target, kind=kind):
                inner = self.source(
                    target.reference() if not isinstance(target, Recipe) and hasattr(target, "reference") else target,
                    place,
                )
                return Injection("", how=LATE[kind], items=(inner,))
            case recipes.Own(what=what):
                return Injection("", how=c.INVIVO_INJECT_RESOLVER if what == "resolver" else c.INVIVO_INJECT_ASKER)
            case recipes.Constant(value=value):
                return self._constant(value, hint, to, is_same=True)
            case recipes.Config():
                return self._configured(node, place, hint, to)
            case recipes.Entry(path=None):
                return Injection("", how=c.INVIVO_INJECT_ENTRY_NAME)
            case recipes.Entry(path=path, default=default, optional=optional):
                items = (self.source(default, f"{place}.default", hint, to),) if node.has_default else ()
                flags = c.INVIVO_INJECT_OPTIONAL if optional else 0
                return Injection("", path or None, how=c.INVIVO_INJECT_ENTRY, items=items, flags=flags)
            case recipes.Text(text=string, converter=converter):
                if isinstance(string, str):
                    return Injection("", value=string, how=c.INVIVO_INJECT_TEXT, converter=converter)
                items = (self.source(string, place),)
                return Injection("", how=c.INVIVO_INJECT_TEXT, items=items, converter=converter)
        return self._inline(recipe, place, hint)

    def _configured(self, node: recipes.Config, place: str, hint: Hint | None, to: To) -> Injection:
        """Returns a value of the configuration, in the kind of its target.

        Types that the library cannot check (a class, the items of a list) are read by the annotation of the target.
        """
        kind = c.INVIVO_KIND_ANY if hint is None else crossing_kind(hint)
        whose = PYTHON if kind in _COLLECTIONS and to.is_function else to
        items = (self.source(node.default, f"{place}.default", hint, whose),) if node.has_default else ()
        found = Injection(
            "",
            node.path,
            how=c.INVIVO_INJECT_CONFIG,
            items=items,
            index=0 if kind in _REFERENCES else kind,
            flags=c.INVIVO_INJECT_OPTIONAL if node.optional else 0,
        )
        if to.is_foreign or hint is None or hint.annotation is None:
            return found
        return Injection("", how=c.INVIVO_INJECT_TEXT, items=(found,), reader=hint)

    def _reference(self, node: Ref, arguments: tuple[Any, ...], optional: bool, place: str) -> Injection:
        assert isinstance(node.to, str)
        key = self.made.absolute(node.to)
        target = first = self.existing.get(self.remapped(key))
        to = ARGUMENT if first is not None and stays(first, self.existing) else FOREIGN
        hints = [each.hint for each in first.arguments] if first is not None else []
        items = tuple(
            self.source(each, f"{place}.{i}", hints[i] if i < len(hints) else None, to)
            for i, each in enumerate(arguments)
        )
        found = Injection("", key, items=items, flags=c.INVIVO_INJECT_OPTIONAL if optional else 0)
        for _ in range(64):
            if not isinstance(target, Definition) or target.alias is None or not isinstance(target.alias.to, str):
                break
            target = self.existing.get(self.remapped(target.absolute(target.alias.to)))
        return _value_of(found) if target is not None and is_plain(target.makes) else found

    def remapped(self, key: str) -> str:
        """Returns the key that a reference from inside a mount leads to, as the library finds it."""
        own = self.made.home
        if own is None or own not in self.remaps or key.startswith(f"{own}."):
            return key
        fitting = [start for start in self.remaps[own] if key == start or key.startswith(f"{start}.")]
        best = max(fitting, key=len, default="")
        return self.remaps[own][best] + key[len(best) :] if best else key

    def _looked_up(self, node: Ref) -> Injection:
        flags = c.INVIVO_INJECT_OPTIONAL if node.optional else 0
        flags |= c.INVIVO_INJECT_EXACT if node.exact else 0
        flags |= c.INVIVO_INJECT_GREEDY if node.greedy else 0
        return Injection("", how=c.INVIVO_INJECT_TYPE, of=node.to, flags=flags)

    def _inline(self, recipe: Recipe, place: str, hint: Hint | None) -> Injection:
        """Plans a recipe inside a recipe: a definition with a key of its own, which nothing else refers to."""
        known = self.inline.get(id(recipe._node))
        if known is None:
            node = recipe._node
            key = f"{self.made.key}.{place}"
            what = of_recipe(recipe, hint.wanted if hint is not None else None)
            own = what.pop("options", Options())
            scope = checked_scope(node.scope) if isinstance(node, Draft) else None
            file, line = (node.file, node.line) if isinstance(node, Draft) else (self.made.file, self.made.line)
            made = Definition(
                key,
                scope,
                file=file,
                line=line,
                options=dataclasses.replace(own, hidden=True),
                arguments=self.made.arguments,
                home=self.made.assembly,
                owner=self.made.key,
                **what,
            )
            planner = type(self)(
                made,
                self.existing,
                self.known,
                self.find,
                self.errors,
                self.plans,
                self.marked,
                self.remaps,
                self.assemblies,
            )
            plan = planner.plan()
            if not planner.uses_arguments:
                plan = dataclasses.replace(plan, definition=dataclasses.replace(made, arguments=()))
            self.plans.append(plan)
            known = self.inline[id(recipe._node)] = key, planner.uses_arguments
        key, takes = known
        self.uses_arguments |= takes
        count = len(self.made.arguments) if takes else 0
        items = tuple(Injection("", how=c.INVIVO_INJECT_ARGUMENT, index=index) for index in range(count))
        found = Injection("", key, items=items)
        inner = next((plan.definition for plan in self.plans if plan.definition.key == key), None)
        return _value_of(found) if inner is not None and is_plain(inner.makes) else found

    # ---- annotations -------------------------------------------------------------------------------------

    def _wanted(self, name: str, hint: Hint, parameter: Parameter | None) -> Injection | None:
        """Returns the source that an annotation demands, or None for no injection."""
        found = self._found(name, hint, parameter)
        flags = whole_flags(hint.inject)
        return found if found is None or not flags else dataclasses.replace(found, flags=found.flags | flags)

    def _found(self, name: str, hint: Hint, parameter: Parameter | None) -> Injection | None:
        made = self.made
        if hint.context is not None:
            return self._from_context(name, hint, hint.context, parameter)
        if hint.late == "runtime":
            return Injection(name, value=None)
        if hint.late == "resolver":
            return Injection(name, how=c.INVIVO_INJECT_RESOLVER)
        if hint.late == "asker":
            return Injection(name, how=c.INVIVO_INJECT_ASKER)
        key = hint.key or (hint.item.key if hint.item is not None else None)
        if made.keeps_defaults and parameter is not None and parameter.has_default and not (key or hint.inject):
            return None
        has_default = parameter is not None and parameter.has_default
        optional = c.INVIVO_INJECT_OPTIONAL if hint.optional or (hint.item is not None and hint.item.optional) else 0
        if hint.inject is not None:
            optional |= c.INVIVO_INJECT_GREEDY if hint.inject.greedy else 0
            optional |= c.INVIVO_INJECT_EXACT if hint.inject.exact else 0
        late = LATE.get(hint.late or "")
        if key is not None:
            found = Injection(name, self.made.absolute(key), flags=optional & c.INVIVO_INJECT_OPTIONAL)
            return found if late is None else Injection(name, how=late, items=(dataclasses.replace(found, name=""),))
        inner = hint.item or hint
        wanted = inner.wanted
        if hint.late == "all":
            added, removed = (hint.inject.added, hint.inject.removed) if hint.inject is not None else (None, None)
            exactly = optional & c.INVIVO_INJECT_EXACT | (c.INVIVO_INJECT_OR_DEFAULT if has_default else 0)
            return Injection(name, how=c.INVIVO_INJECT_ALL, of=inner.of, flags=exactly, added=added, removed=removed)
        if late is None and is_assembly(wanted):
            assembly = self._assembly(name, wanted)
            if assembly is not None:
                return Injection(name, value=assembly)
        if wanted is not None and (late is not None or not is_assembly(wanted)):  # the library looks for it
            flags = optional | (c.INVIVO_INJECT_OR_DEFAULT if has_default else 0)
            found = Injection(name, how=c.INVIVO_INJECT_TYPE, of=inner.of, flags=flags)
            return found if late is None else Injection(name, how=late, items=(dataclasses.replace(found, name=""),))
        if has_default:
            return None
        if optional & c.INVIVO_INJECT_OPTIONAL:
            return Injection(name, value=None)
        if made.options.abstract:
            return None  # its children define it
        if is_assembly(wanted):
            raise NotFoundError(
                f"{made.made} wants {name!r}, an assembly that is a {getattr(wanted, '__name__', wanted)}, and none is "
                "given or active: activate it together with this one",
                **self.at(name),
            )
        inner = hint if hint.item is None else hint.item
        if inner.unresolved is not None:
            what = f"its annotation {inner.unresolved!r} names nothing that is known where it is written"
        else:
            what = "it has no annotation, so its type is not known"
        if hint.item is not None and hint.item.late == "all":
            raise ArgumentError(
                f"{made.made} wants {name!r}, all of a type from a {hint.late}, which gives one object: annotate a "
                "parameter with invivo.Runtime, and ask it by resolve_all(...)",
                **self.at(name),
            )
        help = (
            f"pass {name}=... with the definition, or take it as a runtime argument, a parameter of the function that "
            "describes it"
        )
        if inner.unresolved is None and not inner.missing:
            missing = "value for the attribute" if parameter is None else "argument for the initializer parameter"
            raise ArityError(
                f"no {missing} {name!r} ({KIND_NAMES[hint.kind]}) of {made.made!r}: {help}",
                **self.at(name),
            )
        raise NotFoundError(f"{made.made} wants {name!r}, and {what}: define it, {help}", **self.at(name))

    def _from_context(self, name: str, hint: Hint, mark: FromContextMark, parameter: Parameter | None) -> Injection:
        """Returns a value of the context in which the object lives."""
        key, items = mark.key_for(name), tuple[Injection, ...]()
        is_optional = hint.optional
        if parameter is not None and parameter.has_default:
            is_optional = is_optional or parameter.default is None
            if parameter.default is not None:
                to = PYTHON if self.made.factory is None else FUNCTION
                items = (self.source(parameter.default, f"{name}.default", hint, to),)
        return Injection(
            name,
            name_of(key),
            value=mark.kind,
            how=c.INVIVO_INJECT_CONTEXT,
            items=items,
            flags=c.INVIVO_INJECT_OPTIONAL if is_optional else 0,
            context_key=key,
        )

    def _assembly(self, name: str, wanted: Any) -> AssemblyDescription | None:
        """Returns the assembly of a class: the definition's own, else one of its collaborators, else the only active
        one.
        """
        own = [each for each in self.assemblies if each.name == self.made.assembly]
        beside = [each for one in own for each in one._collaborators.values()]
        for among in (own, beside, self.assemblies):
            found = list(dict.fromkeys(each for each in among if isinstance(each, wanted)))
            if len(found) == 1:
                return found[0]  # type: ignore[no-any-return]
            if found:
                names = ", ".join(each.name for each in found)
                raise AmbiguousError(
                    f"{self.made.made} wants a {wanted.__name__}, and several assemblies are: {names}; pass {name}=... "
                    "with the definition",
                    **self.at(name),
                )
        return None


def _value_of(found: Injection) -> Injection:
    """Returns the value of an object that is a plain value."""
    return Injection("", VALUE, how=c.INVIVO_INJECT_PATH, items=(found,))


class Collecting:
    """Records an error in its block, so that the search for errors continues."""

    def __init__(self, errors: list[Error]) -> None:
        self.errors = errors

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, _: object) -> bool:
        if isinstance(problem, Error):
            self.errors.append(problem)
            return True
        return False


def _needs_injection(thing: Any) -> bool:
    """Whether a value is described, or contains a set, which the library has only as an injection."""
    if isinstance(thing, (set, frozenset)):
        return True
    if isinstance(thing, (list, tuple)):
        return any(map(_needs_injection, thing))
    return is_described(thing) or (isinstance(thing, Mapping) and any(map(_needs_injection, thing.values())))


def is_described(thing: Any) -> bool:
    """Whether a value is, or contains, a recipe or member."""
    if isinstance(thing, (Recipe, Bound)):
        return True
    if isinstance(thing, functools.partial):
        return isinstance(thing.func, Bound)
    if isinstance(thing, (list, tuple, set, frozenset)):
        return any(map(is_described, thing))
    return isinstance(thing, Mapping) and any(map(is_described, thing.values()))
