"""Reversals of traits that run code, and attributes that are put back without one."""

from __future__ import annotations

import contextlib
import gc
import inspect
from collections.abc import Callable
from types import GeneratorType
from typing import Any, TypeAlias

from .._classes.callables import place_of, signature_of
from .._classes.classes import Property
from .._native import callbacks, signals
from .._objects.entries import Entry
from .._objects.objects import Objects
from .._values.fields import dataclass
from ..errors import ArgumentError, ArityError, WrongTypeError
from . import possessions

Reversal: TypeAlias = Callable[[Any], Any]  # a function of the target

_REVERSAL = "__invivo_reversal_"
_MISSING = object()
ENDED = object()  # of a generator


def reversal_of(name: str, answers: list[Any]) -> Reversal | Alone | Suspended | None:
    """Returns the reversal that `apply` has returned, or the code after its ``yield``.

    ``answers``: what `apply` has returned, and what its generator has yielded.
    """
    answer = answers[0]
    if answer is None:
        return None
    if not inspect.isgenerator(answer):
        if isinstance(answer, (contextlib.AbstractContextManager, contextlib.AbstractAsyncContextManager)):
            raise WrongTypeError(
                f"{name}.apply returned a context manager, which nothing enters; expected a reversal, a function: "
                "enter the context in apply(), as a generator with one 'yield' inside of the 'with' block"
            )
        if not callable(answer):
            raise WrongTypeError(f"{name}.apply returns its reversal, a function, or None, not {answer!r}")
        return _with_target(answer, name)
    if len(answers) == 1:
        raise ArgumentError(f"{name}.apply did not yield: the code after 'yield' is its reversal")
    return Suspended(name, answer)


@dataclass(frozen=True)
class Suspended:
    """The code of `apply` after its ``yield``, as a reversal."""

    name: str
    code: GeneratorType[Any, Any, Any]

    def check(self, answer: Any) -> None:
        """Checks that the code has ended."""
        if answer is not ENDED:
            self.code.close()
            raise ArgumentError(f"{self.name}.apply yields twice: the code after the one 'yield' is its reversal")

    def references(self, thing: Any) -> int:
        """Returns how many local variables of the code refer to an object."""
        # Before Python 3.11 the frame has them, since then the generator.
        return sum(each is thing for each in gc.get_referents(self.code, self.code.gi_frame))


@dataclass(frozen=True)
class Alone:
    """A reversal that does not take the target."""

    function: Callable[[], Any]


def _with_target(function: Callable[..., Any], name: str) -> Reversal | Alone:
    """Returns the function if it needs the target."""
    signature = signature_of(function)
    if signature is None or _takes(signature):
        return Alone(function)
    if not _takes(signature, None):
        raise ArityError(
            f"{name}.apply returned a reversal with the parameters {signature}; expected one parameter, the target, or "
            "none",
            **place_of(function),
        )
    return function


def _takes(signature: inspect.Signature, *arguments: Any) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


@dataclass(frozen=True)
class _Held:
    """The state of an attribute: its value, and whether the object itself holds it."""

    described: Property
    value: Any
    is_own: bool

    def is_same(self, other: _Held) -> bool:
        return self.value is other.value and self.is_own == other.is_own


class Attributes:
    """The described attributes of an object of Python before a trait changes it."""

    def __init__(self, core: Objects, entry: Entry | None) -> None:
        self._core, self._entry = core, entry
        self._held: list[_Held] = []
        self._changed: list[_Held] | None = None
        thing = None if entry is None else entry.target()
        if entry is not None and thing is not None:
            core.tunings.changing(entry.number)
            properties = entry.record.description.properties
            self._held = [self._hold(each, thing) for each in properties if not each.read_only]

    def _hold(self, described: Property, thing: Any) -> _Held:
        try:
            return _Held(described, described.hold(thing), described.is_own(thing))
        except AttributeError:
            return _Held(described, _MISSING, False)

    def _find_changed(self) -> list[_Held]:
        """Returns the former state of the attributes that have another value now, or that cannot be read."""
        thing = None if self._entry is None else self._entry.target()
        return [each for each in self._held if not self._is_as(each, thing)]

    def _is_as(self, held: _Held, thing: Any) -> bool:
        try:
            return held.is_same(self._hold(held.described, thing))
        except Exception as problem:
            signals.pass_on(problem)
            return False

    def reversal(self) -> Reversal | None:
        """Returns a reversal that sets the changed attributes to their former values; None: there are no attributes."""
        return (lambda _: self._put_all_back()) if self._held else None

    def note_changed(self) -> bool:
        """Notes which attributes have another value now. Only these are put back. Returns whether there are any."""
        self._changed = self._find_changed()
        return bool(self._changed)

    def _put_all_back(self) -> None:
        """Sets attributes to their former values, the last one first. Those that refuse it are tried again by the next
        call.
        """
        if self._entry is None:
            return
        if self._changed is None:
            self._changed = self._find_changed()
        thing = self._entry.target()
        first: Exception | None = None
        for each in reversed(list(self._changed)):
            try:
                self._put_back(thing, each)
            except Exception as problem:
                signals.pass_on(problem)
                first = first or problem
            else:
                self._changed = [other for other in self._changed if other is not each]
        self._core.tunings.put_back(self._entry.number)
        if first is not None:
            raise first

    def _put_back(self, thing: Any, held: _Held) -> None:
        if held.value is _MISSING:
            with contextlib.suppress(AttributeError):  # a signal handler raised afterwards
                delattr(thing, held.described.name)
        else:
            held.described.put_back(thing, held.value, held.is_own)


class _Own:
    """A reversal among the attributes of an object. Copies of the object have an empty one, which does nothing."""

    __slots__ = ("reverse",)

    def __init__(self, reverse: Reversal | Alone | Suspended | None = None) -> None:
        self.reverse = reverse

    def __reduce__(self) -> tuple[type[_Own], tuple[()]]:
        return _Own, ()


class Applied:
    """One application of a trait. An object of Python keeps its reversals itself: the garbage collector then finds
    the cycles through them."""

    def __init__(self, core: Objects, entry: Entry | None) -> None:
        self.core, self.entry, self.number = core, entry, next(callbacks.numbers)
        self._name = f"{_REVERSAL}{self.number}"
        self._reverse: Reversal | Alone | Suspended | None = None

    def hold(self, reverse: Reversal | Alone | Suspended) -> None:
        """Keeps the reversal. It may be repeated."""
        thing = self._target()
        if thing is not None and possessions.keep(thing, self.number, reverse):
            pass
        elif hasattr(thing, "__dict__"):  # which other objects share
            thing.__dict__[self._name] = _Own(reverse)
        else:
            self._reverse = reverse
        if self.entry is not None and isinstance(reverse, Suspended) and self.references not in self.entry.applied:
            self.entry.applied.append(self.references)

    def references(self) -> int:
        """Returns how many references the reversal has to the object while it waits: they do not keep the object."""
        reverse = self.reverse()
        if self.entry is None or not isinstance(reverse, Suspended):
            return 0
        return reverse.references(self.entry.target())

    def changing(self) -> None:
        if self.entry is not None:
            self.core.tunings.changing(self.entry.number)

    def _target(self) -> Any:
        return None if self.entry is None else self.entry.target()

    def reverse(self) -> Reversal | Alone | Suspended | None:
        thing = self._target()
        own = getattr(thing, "__dict__", {}).get(self._name)
        return self._reverse or (possessions.kept(thing, self.number) if own is None else own.reverse)

    def destroyed(self) -> None:
        """The library is done with it."""
        thing = self._target()
        possessions.drop(thing, self.number)
        own = getattr(thing, "__dict__", {}).pop(self._name, None)
        if own is not None:
            own.reverse = None  # a shallow copy of the object shares it
        if self.entry is not None and self.references in self.entry.applied:
            self.entry.applied.remove(self.references)
