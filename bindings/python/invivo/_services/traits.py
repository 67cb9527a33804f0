"""Trait types: named and reversible changes of objects, which spec files use."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, ForwardRef, get_origin

from .. import _generated as c
from .._classes.annotations import hints_of
from .._classes.callables import check_callback, place_of
from .._classes.classes import Property, describe, spec_hint
from .._classes.hints import place_hint
from .._native import callbacks, signals, strings
from .._objects.entries import Entry
from .._objects.objects import Objects
from .._objects.reading import Reader, reader_of
from .._objects.registration import PropertyTables
from .._values import conversion
from .._values.fields import dataclass
from .._values.members import nearest
from ..errors import ArgumentError, Error, Refused, WrongTypeError, within
from .reversals import ENDED, Alone, Applied, Attributes, Reversal, Suspended, reversal_of
from .rules import check_answer

TRAIT = "__invivo_trait__"
_ADVICE = "a trait must return at once"
# The code of each function that one of these decorators returns.
_CONTEXT_MANAGERS = tuple(
    getattr(each(lambda: None), "__code__", None)  # type: ignore[arg-type, return-value]
    for each in (contextlib.contextmanager, contextlib.asynccontextmanager)
)


class Layers:
    """The layers that a trait declares, in order. Valid during the call of ``layers``, on its thread."""

    def __init__(self, core: Objects, pointer: int | None, given: Sequence[tuple[Any, Any]] = ()) -> None:
        self._core, self._pointer = core, pointer
        self._given = given  # fields of the trait, with the values of the spec file that they were read from

    def set(self, property: str, value: Any) -> None:
        """Sets a property. For a nested struct the value may be a mapping of some fields.

        The value is one that the attribute can have, such as a `timedelta`, a `Path` or a pydantic model, or one of a
        spec file, such as ``"5 s"``.
        """
        with within(property), conversion.Packer(self._core) as packer:
            made = packer.value(self._written(value))
            self._core.library.call("layers_set", self._pointer, strings.name_bytes(property), ctypes.byref(made))

    def _written(self, value: Any) -> Any:
        """Returns a value as a spec file contains it."""
        from .._settings.writing import written  # slow to import, and rarely needed

        given = [each for held, each in self._given if held is value]
        if given and self._core.converters.of(type(value)) is not None:
            return given[0]  # only the converter knows its string
        try:
            return written(value)
        except WrongTypeError:
            if given:
                return given[0]
            raise

    def scale(self, property: str, factor: float) -> None:
        """Multiplies the value of the layer below, or the base value, by a number."""
        self._core.library.call("layers_scale", self._pointer, strings.name_bytes(property), _number(factor, "factor"))

    def offset(self, property: str, amount: float) -> None:
        """Adds a number to the value of the layer below, or to the base value."""
        self._core.library.call("layers_offset", self._pointer, strings.name_bytes(property), _number(amount, "amount"))


def _number(value: Any, what: str) -> float:
    if not hasattr(type(value), "__float__") and not hasattr(type(value), "__index__"):
        raise WrongTypeError(f"the {what} of a layer is a number such as 0.5, not {value!r}")
    return float(value)


@dataclass(frozen=True, eq=False)
class TraitType:
    """The description of a subclass of `Trait`. Nothing in it belongs to a runtime."""

    name: str
    text: str | None
    cls: type
    targets: tuple[type | str, ...]
    fields: tuple[Property, ...]
    required: frozenset[str]
    repeats: bool
    place: tuple[str, int]  # where it is defined

    def give(self, core: Objects, changes: c.invivo_changes) -> None:
        """Adds it to a change set of the library."""
        tables, library = PropertyTables(core), core.library
        options = c.invivo_trait()
        options.struct_size = ctypes.sizeof(options)
        options.name, options.text = strings.name_bytes(self.name), tables.text(self.text)
        names = [each if isinstance(each, str) else core.types.name_of(each) for each in self.targets]
        options.targets, options.target_count = tables.names(names)
        fields = (c.invivo_property * len(self.fields))()
        for slot, field in zip(fields, self.fields, strict=True):
            tables.describe(slot, field)
            if field.name in self.required:
                slot.flags |= c.INVIVO_PROPERTY_REQUIRED
        options.fields, options.field_count = fields or None, len(fields)
        item = _Item(core, self)
        if hasattr(self.cls, "check") or any(item.readers):
            options.check = _check.of(library)
        if hasattr(self.cls, "layers"):
            options.layers = _layers.of(library)
        if hasattr(self.cls, "apply"):
            options.apply = _apply.of(library)
        options.destroy = callbacks.destroy.of(library)
        options.user_data = number = callbacks.enroll(item)
        try:
            library.call("changes_add_trait", changes, ctypes.byref(options))
        except BaseException as problem:
            callbacks.dismiss(number)
            if isinstance(problem, Error) and not problem.file:
                problem.file, problem.line = self.place
            raise


def trait_type_of(cls: Any) -> TraitType:
    """Returns the description of a subclass of `Trait`."""
    found = vars(cls).get(TRAIT) if isinstance(cls, type) else None
    if not isinstance(found, TraitType):
        raise WrongTypeError(f"a trait type is a subclass of invivo.Trait that is not abstract, not {cls!r}")
    return found


def describe_trait(cls: type, name: str, place: tuple[str, int], repeats: bool = False) -> TraitType:
    """Describes a subclass of `Trait`. ``place``: where it is defined."""

    def fail(problem: str) -> ArgumentError:
        return ArgumentError(f"the trait {cls.__name__} {problem}", file=place[0], line=place[1])

    actions = [each for each in ("layers", "apply") if hasattr(cls, each)]
    if len(actions) != 1:
        has = "has layers() and apply(): it needs one of them" if actions else "has neither layers() nor apply()"
        raise fail(has)
    for method, gets in {"check": (), "layers": ("layers",), "apply": ("target",)}.items():
        if hasattr(cls, method):
            function = getattr(cls, method)
            if getattr(function, "__code__", None) in _CONTEXT_MANAGERS:
                raise fail(
                    f"has a context manager as {method}(), which nothing enters: remove the decorator"
                    + ("; apply() may be a generator that yields once" if method == "apply" else "")
                )
            check_callback(function, ("self", *gets), f"{cls.__name__}.{method}", _ADVICE)
    if repeats and actions == ["layers"]:
        raise fail("has repeats=True without apply(): layers have no reversal")
    if repeats and inspect.isgeneratorfunction(getattr(cls, "apply", None)):
        raise fail("has repeats=True, and a generator runs only once: return the reversal from apply() as a function")
    found = describe(cls, is_trait=True)
    hints = hints_of(cls)
    fields = []
    for each in found.properties:
        if isinstance(getattr(cls, each.name, None), property) or each.name == "targets":
            continue
        if isinstance(getattr(cls, each.name, None), dataclasses.Field):
            raise fail(
                f"has the default field(...) for {each.name!r}, and no dataclass sets it: give the value, such as []; "
                "each application has a copy of it"
            )
        annotation = hints.get(each.name, Any)
        if annotation is Final or get_origin(annotation) is Final:
            continue  # a constant of the class
        if each.hint.inject is not None or each.hint.late not in (None, "all"):
            raise fail(f"has an injected attribute {each.name!r}: its fields are values of spec files")
        hint, read = each.hint, each.annotation
        if not each.tunable.choices and each.name in hints:
            if isinstance(annotation, (str, ForwardRef)):  # the class of its default
                annotation = type(each.tunable.initial)
            hint, read = spec_hint(annotation, place_hint(annotation))
        # Without a value it is None, so it has the kind of its other values.
        tunable = dataclasses.replace(each.tunable, initial=None) if each.tunable.initial is ... else each.tunable
        hint = dataclasses.replace(hint, is_listed=True)
        fields.append(dataclasses.replace(each, hint=hint, tunable=tunable, annotation=read))
    return TraitType(
        name=name,
        text=found.text,
        cls=cls,
        targets=_targets(getattr(cls, "targets", None), fail),
        fields=tuple(fields),
        required=frozenset(each.name for each in fields if getattr(cls, each.name, ...) is ...),
        repeats=repeats,
        place=place,
    )


def _targets(given: Any, fail: Callable[[str], ArgumentError]) -> tuple[type | str, ...]:
    targets: tuple[Any, ...] = (given,)
    if given is None:
        targets = ()
    elif isinstance(given, Iterable) and not isinstance(given, (str, type)):
        targets = tuple(given)
    if not targets or not all(isinstance(each, (str, type)) for each in targets):
        raise fail(
            "has no targets: give the accepted types as 'targets = (Voice,)', by classes or by names; \"*\" accepts all"
            if not targets
            else f"has targets that are neither classes nor names: {given!r}"
        )
    return targets


class _Item:
    def __init__(self, core: Objects, described: TraitType) -> None:
        self.core, self.described = core, described
        self.readers = [reader_of(each, core.converters.of) for each in described.fields]

    def trait(self, values: Any, count: int, given: list[tuple[Any, Any]] | None = None) -> Any:
        """Returns an instance with the given fields. A field without a value has its default.

        ``given`` gets the fields that were read by their annotations, each with the value that it was read from.
        """
        trait: Any = object.__new__(self.described.cls)
        for index, field, reader in zip(range(count), self.described.fields, self.readers, strict=False):
            value = conversion.read(self.core, values[index])
            if value is not None:
                read = field.hint.decode(value) if reader is None else _read(reader, index, value)
                setattr(trait, field.name, read)
                if reader is not None and given is not None:
                    given.append((read, value))
            elif isinstance(field.tunable.initial, (list, dict, set)):
                setattr(trait, field.name, copy.copy(field.tunable.initial))
        return trait


def _read(reader: Reader, index: int, value: Any) -> Any:
    try:
        return reader.read(value)
    except Error as problem:
        raise Refused(str(problem), input=index) from None


@callbacks.returns_status(c.invivo_callbacks, "trait_check", user_data=4, is_located=True)
def _check(item: _Item, fields: int, values: Any, count: int, at: Any, _: int, error: Any) -> None:
    described = item.described
    names = [each.name for each in described.fields]
    answer = None
    try:
        trait = item.trait(values, count)
        if hasattr(described.cls, "check"):
            answer = trait.check()
    except Refused as refused:
        if isinstance(refused.input, int):
            at[0] = max(refused.input, 0)
        elif refused.input in names:
            at[0] = names.index(refused.input)
        elif refused.input is not None:
            raise Refused(f"{refused.message} ({_unknown_input(refused.input, described)})") from refused.__cause__
        raise
    check_answer(answer, "check", getattr(described.cls, "check", None))


def _unknown_input(given: Any, described: TraitType) -> str:
    """Returns what is wrong with the ``input`` of a refusal that is no field of the trait."""
    names = [each.name for each in described.fields]
    known = nearest(given, names) or (f"; it has {', '.join(names)}" if names else "; it has none")
    return f"it names the input {given!r}, and {described.name} has no such field{known}"


@callbacks.returns_status(c.invivo_callbacks, "layers", user_data=4, is_located=True)
def _layers(item: _Item, fields: int, values: Any, count: int, pointer: int, _: int, error: Any) -> None:
    given: list[tuple[Any, Any]] = []
    declared = Layers(item.core, pointer, given)
    try:
        answer = item.trait(values, count, given).layers(declared)
    finally:
        declared._pointer = None
    if answer is not None:
        name = item.described.cls.__name__
        raise WrongTypeError(
            f"{name}.layers returned {answer!r}; expected None: it declares layers by calls, such as "
            'layers.set("gain", 0.5)',
            **place_of(item.described.cls.layers),  # type: ignore[attr-defined]
        )


@callbacks.returns_status(c.invivo_callbacks, "apply", user_data=6, completes=True)
def _apply(
    done: list[Any],
    item: _Item,
    target: Any,
    instance: int,
    fields: int,
    values: Any,
    count: int,
    reversal: Any,
    _: int,
    error: Any,
) -> None:
    core = item.core
    entry = core.entry_at(target.bits)
    thing = _thing(core, entry, target.bits)
    _take_back(reversal, thing)
    trait = item.trait(values, count)
    attributes, applied = Attributes(core, entry), Applied(core, entry)
    # Stored before anything changes: after a failure the library calls it at once, and by later commits until each
    # attribute has taken its value.
    _store(reversal, applied, attributes.reversal(), repeats=True)
    answers: list[Any] = []
    for left in reversed(range(signals.TRIES)):
        try:
            if not _is_applied(answers):
                with core.entered():
                    signals.run(answers, trait.apply, thing)
                    if inspect.isgenerator(answers[0]):
                        answers.extend(map(next, (answers[0],)))
            reverse = reversal_of(item.described.name, answers)
            if reverse is not None:
                _store(reversal, applied, reverse, item.described.repeats and not isinstance(reverse, Suspended))
            elif not attributes.note_changed():
                _take_back(reversal, thing)  # the library puts back what was set through it
            done.append(None)
            return
        except BaseException as problem:
            if not left or not _is_applied(answers) or not signals.note(problem):
                raise


def _is_applied(answers: list[Any]) -> bool:
    """Whether the code of `apply` has run, up to its ``yield`` if it has one."""
    return len(answers) > inspect.isgenerator(answers[0]) if answers else False


def _store(given: Any, applied: Applied, reverse: Reversal | Alone | Suspended | None, repeats: bool) -> None:
    """Stores a reversal, or another one of the same application. It may be repeated."""
    if reverse is None:
        return
    reversal, library = given[0], applied.core.library
    reversal.data, reversal.destroy = applied.number, callbacks.destroy.of(library)
    callbacks.enroll(applied, applied.number)
    applied.hold(reverse)
    reversal.flags = c.INVIVO_REVERSAL_REPEATS if repeats else 0
    reversal.revert = _revert.of(library)


def _take_back(given: Any, thing: Any) -> None:
    """Calls the stored reversal, and forgets it. An exception of a signal handler may have ended the callback that has
    stored it: the library then repeats the callback.
    """
    applied = callbacks.item_of(given[0].data)
    if applied is not None:
        reverse = applied.reverse()
        if reverse is not None:
            reverse(thing)
        applied.destroyed()
        callbacks.dismiss(applied.number)
    given[0] = c.invivo_reversal(struct_size=given[0].struct_size)


@callbacks.returns_status(c.invivo_callbacks, "revert", user_data=2, completes=True)
def _revert(done: list[Any], item: Applied, target: Any, instance: int, _: int, error: Any) -> None:
    item.changing()
    reverse = item.reverse()
    if reverse is None:
        done.append(None)
        return
    with item.core.entered():
        thing = _thing(item.core, item.entry, target.bits)
        if isinstance(reverse, Suspended):
            signals.run(done, next, reverse.code, ENDED)
        elif isinstance(reverse, Alone):
            signals.run(done, reverse.function)
        else:
            signals.run(done, reverse, thing)
    if isinstance(reverse, Suspended):
        reverse.check(done[0])


def _thing(core: Objects, entry: Entry | None, bits: int) -> Any:
    """Returns the object of Python, or a proxy of one of another language."""
    thing = None if entry is None else entry.target()
    return core.borrow(bits) if thing is None else thing
