"""From the words of a case to values, recipes and functions that describe definitions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import invivo

from . import world
from .script import Line, Unreadable, Word

DECORATORS: dict[str | None, Any] = {
    None: invivo.define,
    "prototype": invivo.prototype,
    "graph": invivo.graph,
    "singleton": invivo.singleton,
    "lazy": invivo.lazy_singleton,
    "weak": invivo.weak_singleton,
}
SCOPES = {
    "prototype": "prototype",
    "graph": "graph",
    "singleton": "singleton",
    "lazy": "lazy_singleton",
    "weak": "weak_singleton",
    "thread": "thread",
}
FLAGS = ("abstract", "nullable", "exclusive", "waits", "tracked", "restart")
ANNOTATIONS: dict[str, Any] = {
    "any": Any,
    "bool": bool,
    "int64": int,
    "double": float,
    "string": str,
    "object": object,
    "list": list,
    "map": dict,
}


class Wrong(AssertionError):
    """What a case expects is not so."""


class Names:
    """What a case has kept under names."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def at(self, path: str) -> Any:
        """What ``one.left.number`` says: a name, then properties, indices of lists, keys of maps."""
        first, *steps = path.split(".")
        if first not in self.kept:
            raise Wrong(f"{path!r} is neither a value nor a name of this case")
        now = self.kept[first]
        for step in steps:
            if isinstance(now, (list, tuple)):
                now = now[int(step)]
            elif isinstance(now, dict):
                now = now.get(step)
            else:
                now = getattr(now, step)
        return now

    def value(self, word: Word) -> Any:
        if word.quoted:
            return word.text
        if word.text == "list" and word.is_call:
            return [self.value(each) for each in word.inside]
        if word.text == "map" and word.is_call:
            return {each.label or "": self.value(each) for each in word.inside}
        if word.is_call:
            raise Unreadable(f"no value is written {word.text}(...)")
        return self.plain(word.text)

    def plain(self, text: str) -> Any:
        if text in ("null", "true", "false"):
            return {"null": None, "true": True, "false": False}[text]
        try:
            return float(text) if "." in text else int(text)
        except ValueError:
            return self.at(text)


# ---- injections ----------------------------------------------------------------------------------------


class Injections:
    """What is injected, written in a definition. ``arguments`` stand for those of the resolve, ``home`` is the assembly
    whose member it is."""

    def __init__(self, names: Names, arguments: Sequence[Any] = (), home: invivo.Assembly | None = None) -> None:
        self.names, self.arguments, self.home = names, arguments, home

    def of(self, word: Word, **flags: bool) -> Any:
        if not word.is_call or word.text == "map":
            return self.names.value(word) if not word.is_call else self.map(word)
        way = getattr(self, f"in_{word.text}", None)
        if way is None:
            raise Unreadable(f"no injection is written {word.text}(...)")
        return way(*word.inside, **flags)

    def all(self, words: Iterable[Word]) -> list[Any]:
        return [self.of(each) for each in words]

    def map(self, word: Word) -> dict[str, Any]:
        return {each.label or "": self.of(each) for each in word.inside}

    def refer(self, key: str, *arguments: Any, **flags: bool) -> Any:
        """A key. In an assembly what belongs to it, or to a collaborator, is a member."""
        first, _, rest = key.partition(".")
        if self.home is not None and not flags:
            if not rest:
                return getattr(self.home, first)(*arguments)
            if first in type(self.home).__annotations__:
                return getattr(getattr(self.home, first), rest)(*arguments)
        return invivo.ref(key, *arguments, **flags)

    def in_ref(self, key: Word, *arguments: Word, **flags: bool) -> Any:
        return self.refer(key.text, *self.all(arguments), **flags)

    def in_type(self, of: Word, **flags: bool) -> Any:
        return invivo.ref(world.kind(of.text), **flags)

    def in_all(self, of: Word, **flags: Any) -> Any:
        return invivo.every(world.kind(of.text), **flags)

    def in_arg(self, number: Word) -> Any:
        return self.arguments[int(number.text)]

    def in_args(self) -> Any:
        return invivo.arguments()

    def in_path(self, path: Word, of: Word) -> Any:
        found = self.of(of)
        for step in path.text.split("."):
            found = getattr(found, step)
        return found

    def in_list(self, *items: Word) -> Any:
        return self.all(items)

    def in_set(self, *items: Word) -> Any:
        return set(self.all(items))

    def in_provider(self, of: Word, **flags: bool) -> Any:
        return invivo.provider(self.of(of), **flags)

    def in_lazy(self, of: Word, **flags: bool) -> Any:
        return invivo.lazy(self.of(of), **flags)

    def in_weak(self, of: Word, **flags: bool) -> Any:
        return invivo.weak(self.of(of), **flags)

    def in_resolver(self) -> Any:
        return invivo.resolver()

    def in_asker(self) -> Any:
        return invivo.asker()

    def in_config(self, path: Word, *default: Word, **flags: bool) -> Any:
        return invivo.config(path.text, *self.all(default), **flags)

    def in_entry(self, *words: Word, **flags: bool) -> Any:
        return invivo.entry(*(each.text for each in words[:1]), *self.all(words[1:]), **flags)

    def in_entry_name(self) -> Any:
        return invivo.entry_name()

    def in_text(self, said: Word, converter: Word) -> Any:
        return invivo.text(self.of(said), converter.text)

    def in_inline(self, *words: Word) -> Any:
        said = Said([each for each in words if each.label is None])
        made = invivo.new(said.makes or str)
        for each in words:
            if each.label is not None:
                setattr(made, each.label, self.of(each))
        return made if said.scope is None else invivo.scoped(made, said.scope_name, **said.options)

    def in_optional(self, of: Word, **flags: bool) -> Any:
        return self.of(of, optional=True, **flags)

    def in_exact(self, of: Word, **flags: bool) -> Any:
        return self.of(of, exact=True, **flags)

    def in_greedy(self, of: Word, **flags: bool) -> Any:
        return self.of(of, greedy=True, **flags)

    def in_keep(self, of: Word, **flags: Any) -> Any:
        return self.of(of, on_change="keep", **flags)

    def in_rebuild(self, of: Word, **flags: Any) -> Any:
        return self.of(of, on_change="rebuild", **flags)

    def in_refuse(self, of: Word, **flags: Any) -> Any:
        return self.of(of, on_change="refuse", **flags)

    def in_owns(self, of: Word, **flags: Any) -> Any:
        return self.of(of, owns=True, **flags)


# ---- definitions ---------------------------------------------------------------------------------------


class Said:
    """The words after a key: what is made, in which scope, and what else is said."""

    def __init__(self, words: Iterable[Word]) -> None:
        self.makes: Any = None
        self.scope: str | None = None
        self.options: dict[str, Any] = {}
        for word in words:
            if word.text[0].isupper():
                self.makes = world.RESOURCES.get(word.text) or world.KINDS.get(word.text, word.text)
            elif word.text == "in":
                self.scope = f"in {word.inside[0].text}"
            elif word.text in SCOPES:
                self.scope = word.text
            elif word.text in FLAGS:
                self.options[word.text] = True
            elif word.text == "on_change":
                self.options["on_change"] = word.inside[0].text
                self.options["on_change_reason"] = word.inside[1].text if len(word.inside) > 1 else None
            elif word.text == "spec_key":
                self.options["spec_key"] = word.inside[0].text
            elif word.text in ("hidden_class", "hidden_interface"):
                what = word.text.removeprefix("hidden_")
                self.options["hidden"] = True if "hidden" in self.options else what
            else:
                raise Unreadable(f"a definition is not '{word.text}'")

    @property
    def scope_name(self) -> str:
        return SCOPES.get(self.scope or "", self.scope or "")

    @property
    def decorator(self) -> Any:
        if self.scope in DECORATORS:
            return DECORATORS[self.scope]
        return invivo.in_scope((self.scope or "").removeprefix("in "))


class Description:
    """A definition as a case has it, for a function that describes it."""

    PARTS = (
        *("init", "set", "call", "before", "after", "after_all", "parameter", "maker", "parent", "alias", "constant"),
        *("rank", "generic", "each", "deadline", "factory", "inject", "setup", "choose", "when", "fails"),
        "finds",
    )

    def __init__(self, line: Line, names: Names, *, at: int = 1) -> None:
        self.line, self.names = line, names
        self.key = line.words[at].text
        self.said = Said(line.words[at + 1 :])
        for each in line.below:
            if each.verb not in self.PARTS:
                raise Unreadable(f"{each.place}: a definition has no part {each.verb!r}")
        # As strings, for the property `any`: "child a.tent x".
        self.steps = [step(word, each) for each in self.parts("setup") for word in each.words[1:]]

    def parts(self, *verbs: str) -> list[Line]:
        return [each for each in self.line.below if each.verb in verbs]

    def part(self, verb: str) -> tuple[Word, ...] | None:
        found = self.parts(verb)
        return found[-1].words[1:] if found else None

    def function(self, name: str, *, of_assembly: bool = False) -> Any:
        """What describes it, decorated with its scope and options: a function of its runtime arguments."""

        def describe(*given: Any) -> Any:
            home, arguments = (given[0], given[1:]) if of_assembly else (None, given)
            return self.recipe(Injections(self.names, arguments, home))

        makes = self.said.makes
        result: Any = makes if isinstance(makes, type) else inspect.Signature.empty
        generic = self.part("generic")
        if generic is not None:
            result = world.kind(generic[0].text)
        if self.said.options.get("nullable") and isinstance(makes, type):
            result = makes | None
        parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)] if of_assembly else []
        for part in self.parts("parameter"):
            default: Any = None if part.says("optional") else inspect.Parameter.empty
            for word in part.words:
                if word.label == "default":
                    default = self.names.value(word)
            parameters.append(
                inspect.Parameter(
                    part.words[1].text,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    annotation=ANNOTATIONS[part.words[2].text],
                    default=default,
                )
            )
        function: Any = describe
        function.__name__ = name
        function.__signature__ = inspect.Signature(parameters, return_annotation=result)
        function.__annotations__ = {
            each.name: each.annotation for each in parameters if each.annotation is not inspect.Parameter.empty
        }
        if result is not inspect.Signature.empty:
            function.__annotations__["return"] = result
        return self.said.decorator(**self.options())(function)

    def options(self) -> dict[str, Any]:
        said = {**self.said.options}
        said.pop("nullable", None)  # the annotation says it
        constants = Injections(self.names)
        for place in ("before", "after", "after_all"):
            hooks = self.parts(place)
            if hooks:
                said[place] = [invivo.call(each.words[1].text, *constants.all(each.words[2:])) for each in hooks]
        rank, each, inject = self.part("rank"), self.part("each"), self.part("inject")
        if rank is not None:
            said["rank"] = int(rank[0].text)
        if each is not None:
            said["each"] = each[0].text
        if inject is not None:
            said["inject"] = injecting([one.text for one in inject])
        for part in self.parts("deadline"):
            said[f"{part.words[1].text}_timeout"] = int(part.words[2].text) / 1000
        return said

    def recipe(self, injections: Injections) -> Any:
        alias, constant, maker = self.part("alias"), self.part("constant"), self.part("maker")
        if alias is not None:
            return injections.refer(alias[0].text, *injections.all(alias[1:]))
        if constant is not None:
            return invivo.constant(self.names.value(constant[0]))
        if self.parts("choose"):
            return self.choice(injections)
        if maker is not None:
            owner = injections.of(maker[1])
            owner = owner if isinstance(owner, type(invivo.constant(None))) else invivo.constant(owner)
            return getattr(owner, maker[0].text)(*injections.all(maker[2:]))
        made = self.made(injections)
        for part in self.line.below:
            if part.verb == "set":
                setattr(made, part.words[1].text, self.set_to(injections, part))
            elif part.verb == "call":
                getattr(made, part.words[1].text)(*injections.all(part.words[2:]))
            elif part.verb == "setup":
                made.any = self.steps
        return made

    def made(self, injections: Injections) -> Any:
        """The object, before anything is set."""
        parent, factory = self.part("parent"), self.part("factory")
        given = self.part("init") or ()
        positional = injections.all(each for each in given if each.label is None)
        named = {each.label: injections.of(each) for each in given if each.label is not None}
        makes = self.said.makes
        if factory is not None:
            keys = [each.text for each in factory if each.label is None]
            makes = making(makes, keys, copies=any(each.label == "former" for each in factory))
        if parent is None:
            if makes is None:
                raise Unreadable(f"{self.line.place}: it says nothing of what is made")
            return invivo.new(makes, *positional, **named)
        base = injections.refer(parent[0].text)
        if makes is None and not positional:
            return invivo.child(base, **named)
        return invivo.child(base, makes, *positional, **named)

    def set_to(self, injections: Injections, part: Line) -> Any:
        added, removed = part.labelled("added"), part.labelled("removed")
        if added is None and removed is None:
            return injections.of(part.words[2])
        (of,) = part.words[2].inside
        return invivo.every(world.kind(of.text), added=added, removed=removed)

    def choice(self, injections: Injections) -> Any:
        (chooser,) = self.part("choose") or ()
        options: list[tuple[Any, Any]] = []
        others: dict[str, Any] = {}
        for part in self.parts("when"):
            how, *words = part.words[1:]
            if how.text == "named":
                others["named"] = True
            elif how.text == "otherwise":
                others["otherwise"] = injections.of(words[0])
            elif how.text == "equal":
                options.append((self.names.value(words[0]), injections.of(words[1])))
            elif how.text == "kind":
                options.append((world.kind(words[0].text), injections.of(words[1])))
            elif how.text == "exact":
                options.append((invivo.exactly(world.kind(words[0].text)), injections.of(words[1])))
            else:
                raise Unreadable(f"{part.place}: nothing is chosen by '{how.text}'")
        return invivo.choice(injections.of(chooser), options, **others)


# ---- code of definitions -------------------------------------------------------------------------------


def resolved(keys: Iterable[str]) -> Any:
    """What the last key resolves to, after the others."""
    found = None
    for key in keys:
        found = world.world.resolve(key)
    return found


def making(makes: Any, keys: list[str], *, copies: bool) -> Callable[..., Any]:
    """A factory that resolves keys before it makes the object, and may count the objects that this one follows."""

    def make(input: object = None, number: int = 0, given: Any = None) -> Any:
        world.world.event(f"{makes.__name__}.make")
        got = resolved(keys)
        former = invivo.former() if copies else None
        made = makes(input, number if former is None else former.number + 1, given)
        made._held = got
        return made

    make.__annotations__["return"] = makes
    return make


def step(word: Word, line: Line) -> str:
    """A step of a setup."""
    if word.text not in ("effect", "child", "make", "observe") or not word.inside:
        raise Unreadable(f"{line.place}: a setup has no step '{word.text}' of {len(word.inside)} words")
    return " ".join([word.text, *(each.text for each in word.inside)])


def injecting(keys: list[str]) -> Callable[[Any], None]:
    """Injects by code."""

    def inject(thing: Any) -> None:
        world.world.event(f"{type(thing).__name__}.inject")
        thing._held = resolved(keys)
        object.__setattr__(thing, "right", thing._held)

    return inject
