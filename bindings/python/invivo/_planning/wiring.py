"""Planning of definitions: the injections of an object, from annotations and recipes."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .. import _generated as c
from .._assemblies.assembly import AssemblyDescription
from .._assemblies.definitions import Definition
from .._classes.annotations import is_protocol
from .._classes.callables import LEFT_OUT, Parameter, check_hook, last_needed, parameters_of, signature_of
from .._classes.classes import constructor_of, describe, has_weak_references, is_made_by_python
from .._classes.hints import Hint, for_python
from .._classes.universal import CALL
from .._declarations import recipes
from .._declarations.recipes import Call, Recipe, Ref
from .._objects.keys import Facts
from .._values.exact import crosses
from .._values.foreign import Type
from ..errors import ArgumentError, ArityError, Error, MethodError, NotFoundError, PropertyError, WrongTypeError
from .after import Known, Target
from .findings import combined, name_findings
from .fitting import misfit, misfit_argument
from .injections import Injection, Invocation, Option, Plan
from .passing import stays
from .sources import ARGUMENT, FOREIGN, FUNCTION, PYTHON, Sources

_OPEN = ("method", "choice")  # only the creation shows the class
_VARIABLE = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def plan_all(
    new: Iterable[Definition],
    existing: Known,
    known: Mapping[str, type],
    find: Callable[[str], Type] | None = None,
    *,
    marked: bool = True,
    remaps: Mapping[str, Mapping[str, str]] | None = None,
    assemblies: Sequence[AssemblyDescription] = (),
    wrong: list[Error] | None = None,
) -> list[Plan]:
    """Plans definitions, or raises one error with everything that is missing or ambiguous.

    ``find`` finds types. ``marked``: whether marked attributes are injected. ``remaps``: those of mounts.
    ``assemblies``: those that will be active. ``wrong`` gets the errors instead, and definitions with errors are left
    out.
    """
    plans, errors = list[Plan](), list[Error]()
    new = list(new)
    for each in new:
        try:
            plan = _Planner(each, existing, known, find, errors, plans, marked, remaps or {}, assemblies).plan()
            plans.append(dataclasses.replace(plan, defaults=_defaults(each, existing)))
        except Error as problem:
            errors.append(problem)
    name_findings(errors, plans, new)
    if wrong is not None:
        wrong += errors
    elif errors:
        raise combined(errors)
    return plans


def _defaults(made: Definition, existing: Known) -> tuple[Any, ...]:
    """Returns the defaults of runtime arguments, in the form in which they cross."""
    defaults = tuple(each.default for each in made.arguments)
    if all(map(crosses, defaults)) or not stays(made, existing):
        return defaults
    return tuple(
        for_python(each.default, each.hint, is_argument=True) if each.has_default else None for each in made.arguments
    )


class _Planner(Sources):
    """Plans one definition, and its inline definitions."""

    def plan(self) -> Plan:
        made = self.made
        if made.alias is not None:
            return self._alias(made.alias)
        if made.choice is not None:
            return self._choice(made.choice)
        if made.constant is not None:
            value = made.constant.value
            if value is None:
                raise ArgumentError("None is no constant: a definition makes an object", **self.at(""))
            return Plan(made, ())
        if isinstance(made.makes, str):
            return self._registered(made.makes)
        self.cls = self._class(made)
        if self.cls is not None:
            described = describe(self.cls, self.known)
            self.methods = {each.name: each for each in described.methods}
            self.described = {each.name: each for each in described.properties}
            if made.makes is self.cls and made.factory is None and not made.options.abstract and made.maker is None:
                self._check_concrete(self.cls)
            if made.scope == "weak_singleton" and not has_weak_references(self.cls):
                raise ArgumentError(
                    f"a weak singleton lives as long as somebody holds it, and a {self.cls.__name__} cannot be "
                    "referred to weakly: add __weakref__ to its __slots__",
                    **self.at(""),
                )
        parameters: tuple[Parameter, ...] = ()
        initializer: list[Injection] = []
        maker = None
        if made.maker is not None:
            items = [self.source(made.maker.start, "maker")]
            items += [self.source(thing, f"maker.{i}", None, FOREIGN) for i, thing in enumerate(made.maker.arguments)]
            maker = Invocation(made.maker.method, tuple(items))
        elif made.parent is None or made.positional or made.overrides:
            parameters = made.parameters(self.known)
            if made.parent is not None and not isinstance(made.makes, type) and self.cls is not None:
                parameters = constructor_of(self.cls, self.known)
            arranged = self._arranged(parameters)
            if arranged is not None:
                made, parameters, initializer = arranged
            else:
                initializer = self._initializer(parameters)
        properties = self._properties({each.name for each in parameters})
        calls = self._invocations(made.calls, "")
        hooks = made.options
        return Plan(
            made,
            parameters,
            tuple(initializer),
            tuple(properties),
            maker=maker,
            methods=calls,
            before=self._invocations([as_call(each) for each in hooks.before], "before"),
            after=self._invocations([as_call(each) for each in hooks.after], "after"),
            after_all=self._invocations([as_call(each) for each in hooks.after_all], "after_all"),
        )

    def _class(self, made: Target) -> type | None:
        for _ in range(64):
            if isinstance(made.makes, type):
                return made.makes
            parent = self.existing.get(made.parent or "") if isinstance(made, Definition) else None
            if parent is None:
                return None
            made = parent
        return None

    def _check_concrete(self, cls: type) -> None:
        if is_protocol(cls) or inspect.isabstract(cls):
            lacks = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
            raise ArgumentError(
                f"{cls.__name__} is {f'abstract: it lacks {lacks}' if lacks else 'a protocol'}; define a class that is "
                "one, or say abstract=True",
                **self.at(""),
            )

    def _alias(self, ref: Ref) -> Plan:
        """Plans another name for a key: alone, or with all arguments for it."""
        given = list(ref.arguments)
        passed = [
            each._node.index if isinstance(each, Recipe) and isinstance(each._node, recipes.Argument) else None
            for each in given
        ]
        if passed == list(range(len(self.made.arguments))):
            given = []
        assert isinstance(ref.to, str)
        target = self.existing.get(self.remapped(self.made.absolute(ref.to)))
        whose = ARGUMENT if target is not None and stays(target, self.existing) else FOREIGN
        items = tuple(self.source(thing, str(index), None, whose) for index, thing in enumerate(given))
        return Plan(self.made, (), items, alias=self.made.absolute(ref.to))

    def _choice(self, node: recipes.Choice) -> Plan:
        """Plans a choice of other definitions. The chosen one gets the arguments that are given there."""
        if self.made.scope is not None:
            raise ArgumentError(
                "a choice creates nothing itself: declare the scope of its options, and describe it by @invivo.define",
                **self.at(""),
            )
        chooser = self.source(node.chooser, "chooser", None, FOREIGN)
        found = []
        for index, (when, value, use) in enumerate(node.options):
            with self.collecting():
                if use is not None and not isinstance(use, Recipe):
                    raise WrongTypeError(
                        f"an option is another definition: self.{{member}}(), ref(...) or new(...), not {use!r}",
                        **self.at(f"option{index}"),
                    )
                source = None if use is None else self.source(use, f"option{index}")
                found.append(Option(when, value, source))
        return Plan(self.made, (), choice=(chooser, tuple(found)))

    def _registered(self, name: str) -> Plan:
        """Plans a type that is known by name: values are injected into its initializer, else into its properties."""
        made = self.made
        assert self.find is not None
        try:
            found = self.find(name)
        except NotFoundError as problem:
            raise NotFoundError(problem.message, path=made.key, file=made.file, line=made.line) from None
        settable = [each.name for each in found.properties if not each.read_only]
        initializer, properties = list[Injection](), list[Injection]()
        for each, thing in {**made.overrides, **made.properties}.items():
            if each not in found.parameters and each not in settable:
                self.errors.append(self._nothing_to_set(each, {*found.parameters, *settable}))
                continue
            with self.collecting():
                to = initializer if each in found.parameters and each in made.overrides else properties
                to.append(self.named(each, thing, None, FOREIGN))
        methods = []
        for index, one in enumerate(made.calls):
            assert isinstance(one.what, str)
            things = (*one.positional, *one.named.values())
            place = f"{one.what}{index or ''}"
            items = tuple(self.source(thing, f"{place}.{i}", None, FOREIGN) for i, thing in enumerate(things))
            methods.append(Invocation(one.what, items))
        return Plan(made, (), tuple(initializer), tuple(properties), found._bits, methods=tuple(methods))

    def _nothing_to_set(self, name: str, there: Iterable[str]) -> PropertyError:
        return PropertyError(
            f"{self.made.made} has no parameter and no property {name!r} to set; "
            f"it has {', '.join(sorted(there)) or 'none'}",
            **self.at(name),
        )

    # ---- the initializer ---------------------------------------------------------------------------------

    def _initializer(self, parameters: tuple[Parameter, ...]) -> list[Injection]:
        made = self.made
        given = dict(made.overrides)
        places = [each.name for each in parameters if not each.keyword]
        if len(made.positional) > len(places):
            raise ArityError(
                f"{made.made} takes {len(places)} arguments by position, got {len(made.positional)}", **self.at("")
            )
        for name, thing in zip(places, made.positional, strict=False):
            if name in given:
                raise ArityError(f"{made.made} got the argument {name!r} twice", **self.at(name))
            given[name] = thing
        found = list[Injection]()
        needed = last_needed(parameters)
        for index, parameter in enumerate(parameters):
            with self.collecting():
                if parameter.name in given:
                    given_one = self._given(parameter.name, given[parameter.name], parameter.hint)
                    wrong = misfit_argument(given_one, parameter.hint, made.arguments)
                    self._check_fit(parameter.name, wrong and f"initializer parameter {parameter.name!r} {wrong}")
                    found.append(given_one)
                elif made.parent is None or isinstance(made.makes, type):
                    injection = self._wanted(parameter.name, parameter.hint, parameter)
                    if injection is None and parameter.optional and index < needed:
                        injection = Injection(parameter.name, value=LEFT_OUT)
                    if injection is not None:
                        found.append(injection)
        return found

    def _given(self, name: str, thing: Any, hint: Hint) -> Injection:
        return self.named(name, thing, hint, PYTHON if self.made.factory is None else FUNCTION)

    def _arranged(
        self, parameters: tuple[Parameter, ...]
    ) -> tuple[Definition, tuple[Parameter, ...], list[Injection]] | None:
        """Plans a call with further arguments for ``*args`` and ``**kwargs``, or of a callable without a signature.

        The definition then has a factory, whose parameters are the given arguments. Returns None if there are no
        further ones.
        """
        made = self.made
        what: Any = made.factory if made.factory is not None else made.makes
        if what is None or (made.parent is not None and made.factory is None and not isinstance(made.makes, type)):
            return None
        from_c = isinstance(what, type) and not is_made_by_python(what)
        signature = signature_of(what)
        if from_c:
            parameters = parameters_of(what, self.known, bound=False)
        kinds = {each.kind for each in signature.parameters.values()} if signature is not None else _VARIABLE
        places = [each for each in parameters if not each.keyword]
        names = {each.name for each in parameters}
        more = [name for name in made.overrides if name not in names]
        if signature is None and isinstance(what, type):
            settable = {each.name for each in describe(what, self.known).properties}
            more = [name for name in more if name not in settable]
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            more = []
        extra = len(made.positional) > len(places) and inspect.Parameter.VAR_POSITIONAL in kinds
        own = from_c and (made.positional or any(name in names for name in made.overrides))
        if not (more or extra or own):
            return None
        if len(made.positional) > len(places) and not extra:
            raise ArityError(
                f"{made.made} takes {len(places)} arguments by position, got {len(made.positional)}", **self.at("")
            )
        found = list[tuple[Parameter, Injection]]()
        made = self.made = dataclasses.replace(made, factory=what)
        for index, thing in enumerate(made.positional):
            place = places[index] if index < len(places) else Parameter(str(index), Hint(), False, False)
            if place.name in made.overrides:
                raise ArityError(f"{made.made} got the argument {place.name!r} twice", **self.at(place.name))
            with self.collecting():
                found.append((place, self._given(place.name, thing, place.hint)))
        taken = {place.name for place, _ in found}
        for place in parameters:
            with self.collecting():
                if place.name in made.overrides:
                    given = self._given(place.name, made.overrides[place.name], place.hint)
                    found.append((dataclasses.replace(place, keyword=True), given))
                elif place.name not in taken:
                    wanted = self._wanted(place.name, place.hint, place)
                    if wanted is not None:
                        found.append((dataclasses.replace(place, keyword=True), wanted))
        for name in more:
            with self.collecting():
                given = self._given(name, made.overrides[name], Hint())
                found.append((Parameter(name, Hint(), False, True), given))
        return (
            made,
            tuple(dataclasses.replace(each, has_default=False) for each, _ in found),
            [each for _, each in found],
        )

    # ---- properties and methods --------------------------------------------------------------------------

    def _properties(self, parameters: set[str]) -> list[Injection]:
        made = self.made
        given = {name: thing for name, thing in made.overrides.items() if name not in parameters}
        for name, thing in made.properties.items():
            if name in given:
                raise ArgumentError(f"the property {name!r} is set twice", **self.at(name))
            given[name] = thing
        found = []
        for name, each in self.described.items() if self.marked else ():
            if each.hint.inject is not None and name not in given and made.parent is None:
                with self.collecting():
                    wanted = self._wanted(name, each.hint, None)
                    if wanted is not None:
                        found.append(wanted)
        for name, thing in given.items():
            prop = self.described.get(name)
            if prop is None and self.cls is not None:
                settable = {each.name for each in self.described.values() if not each.read_only}
                if name in parameters:
                    self.errors.append(
                        PropertyError(
                            f"{name!r} is a parameter of {made.made}(...), and nothing that can be set on the object: "
                            f"annotate it in the class ('{name}: ...'), or say it where the object is made",
                            **self.at(name),
                        )
                    )
                else:
                    self.errors.append(self._nothing_to_set(name, parameters | settable))
                continue
            with self.collecting():
                injection = self.named(name, thing, prop.hint if prop is not None else None)
                if prop is not None:
                    wrong = misfit(injection, prop.hint, made.arguments, self._class_of)
                    self._check_fit(name, wrong and f"the property {name!r} {wrong}")
                found.append(injection)
        return found

    def _check_fit(self, name: str, wrong: str | None) -> None:
        if wrong is not None:
            raise WrongTypeError(wrong, **self.at(name))

    def _class_of(self, key: str) -> type | None:
        """Returns the class of a key's objects. None: only their creation shows it, or the key has no definition."""
        inline = next((plan.definition for plan in reversed(self.plans) if plan.definition.key == key), None)
        made = inline or self.existing.get(self.remapped(key))
        for _ in range(64):
            if not isinstance(made, Definition) or made.alias is None:
                break
            assert isinstance(made.alias.to, str)
            made = self.existing.get(self.remapped(made.absolute(made.alias.to)))
        if made is None or (made.making in _OPEN if isinstance(made, Facts) else made.maker is not None):
            return None
        return self._class(made)

    def _invocations(self, calls: Iterable[Call], place: str) -> tuple[Invocation, ...]:
        found = []
        for index, one in enumerate(calls):
            with self.collecting():
                found.append(self._invocation(one, f"{place}{index}" if place else str(index)))
        return tuple(found)

    def _invocation(self, one: Call, place: str) -> Invocation:
        what = one.what
        check_hook(getattr(self.cls, what, None) if isinstance(what, str) and self.cls is not None else what)
        if isinstance(what, str):
            place = f"{what}{place}"
            method = self.methods.get(what)
            things = None if method is None else arrange(method.parameters, one.positional, one.named)
            if method is not None and things is None:
                raise ArityError(f"{method.name}() does not take these arguments", **self.at(what))
            if method is not None and things is not None and not any(each is LEFT_OUT for each in things):
                hints = [each.hint for each in method.parameters]
                items = [self.source(each, f"{place}.{i}", hints[i]) for i, each in enumerate(things)]
                for parameter, item in zip(method.parameters, items, strict=False):
                    wrong = misfit_argument(item, parameter.hint, self.made.arguments)
                    self._check_fit(what, wrong and f"the argument {parameter.name!r} of {what!r} {wrong}")
                return Invocation(what, tuple(items))
            if method is None and self.cls is not None and not callable(getattr(self.cls, what, None)):
                there = ", ".join(sorted(self.methods)) or "none that are annotated"
                raise MethodError(f"{self.cls.__name__} has no method {what!r}; it has {there}", **self.at(what))
        things = [*one.positional, *one.named.values()]
        items = [self.source(each, f"{place}.{i}") for i, each in enumerate(things)]
        return Invocation(
            CALL,
            (
                Injection("", value=what),
                Injection("", how=c.INVIVO_INJECT_LIST, items=tuple(items)),
                Injection("", value=list(one.named)),
            ),
        )


def as_call(hook: recipes.Hook) -> Call:
    return hook if isinstance(hook, Call) else Call(hook)


def arrange(parameters: Sequence[Parameter], positional: Sequence[Any], named: Mapping[str, Any]) -> list[Any] | None:
    """Returns arguments in the order of the parameters, or None if they do not match. `LEFT_OUT` stands for a missing
    one.
    """
    if len(positional) > len(parameters) or not named.keys() <= {each.name for each in parameters[len(positional) :]}:
        return None
    things, last = list(positional), len(positional)
    for index, each in enumerate(parameters[len(positional) :], len(positional)):
        things.append(named.get(each.name, LEFT_OUT))
        if each.name in named:
            last = index + 1
    return things[:last]
