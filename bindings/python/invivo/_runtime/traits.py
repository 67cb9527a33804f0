"""Trait types as Python programs declare them: by subclasses of `Trait`."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from .. import _generated as c
from .._declarations.words import here
from .._native import strings, uncaught
from .._native.session import sessions
from .._services.traits import TRAIT, TraitType, describe_trait, trait_type_of
from .._state.core import Core
from ..errors import ClosedError, Error, HandleError, NotFoundError, WouldWaitError

_declared: dict[str, TraitType] = {}  # by name: those of the program, for each runtime


class _Loading(threading.local):
    """The trait types of the module that the thread loads for one runtime."""

    found: list[TraitType] | None = None


_loading = _Loading()


class Trait:
    """A trait type: a named and reversible change of objects, which spec files use. Subclassing is enough::

        class Duck(invivo.Trait, name="synth.Duck"):
            targets = (Voice,)
            amount: float = invivo.tunable(0.5, min=0, max=1)

            def layers(self, layers: invivo.Layers) -> None:
                layers.scale("gain", 1 - self.amount)

    A spec file can then list ``synth.Duck: { amount: 0.25 }`` for the key of a voice. The name is by default that of
    the module and of the class: ``module.Duck``.

    ``targets`` are the accepted types, as classes or as names (``"*"`` accepts all); a type also accepts its subtypes.
    Annotated attributes are the fields, except ``ClassVar``, ``Final`` and those with a leading underscore. One without
    a default must be given. `invivo.tunable` gives them a range, a unit, choices or former names. Their annotations
    determine what a spec file may contain, as for `Runtime.bind_settings`.

    ``check(self)``, if there is one, refuses fields by raising `invivo.Refused` with the name of the field as
    ``input``, or by returning False. Any other exception is a failure of the trait, which refuses them, too. Either
    ``layers(self, layers)`` declares layers over properties, or ``apply(self, target)`` changes the object by code, and
    returns the reversal::

            def apply(self, target: Voice) -> Callable[[Voice], None]:
                target.listeners.append(self.meter)
                return lambda target: target.listeners.remove(self.meter)

    The reversal gets the target if it has a parameter. A reversal without a parameter usually refers to the target, so
    the target is in use until it is reversed: a replaced object with a stop or teardown waits for ``stop_grace``.
    ``apply`` may also be a generator that yields once; the code after the ``yield`` is the reversal, and its local
    variables do not count as uses of the target. If it returns
    None, the runtime restores each annotated attribute that it has assigned, and the properties that it has set of an
    object of another language. Changes inside a list and other attributes stay.
    While a trait with a reversal is applied, `vars` of the object is an instance of a subclass of dict, which keeps the
    reversal outside of its items. Copies of the object do not have it. If objects share their ``__dict__``, the
    reversal is an item of it, under a name that begins with ``__invivo_reversal_``.
    ``check`` and ``layers`` run on a thread of the library, must not wait, and must not call the runtime. ``apply`` and
    the reversal run during a commit, and cannot wait for reloads. `__init__` is not called.

    The type is added to each open runtime of the process, and to those that are opened or joined later. The types of
    a module that an application manifest names are added to its runtime alone, as its components are. In a
    callback, where a reload cannot be waited for, the change set is submitted. A class that is defined again under the
    same name replaces the former one: in each runtime the applications of the former class are reversed, and the new
    one is applied, in one reload. If a runtime refuses it, the class statement raises, and that runtime keeps the
    former class. ``abstract=True`` declares a base class that is no trait type itself. ``everywhere=False`` adds the
    type to no runtime: use `Runtime.add_trait`. ``repeats=True``: the reversal may run again after a failure. Later
    commits call it until it succeeds, and nothing below the trait changes until then. Without it, a reversal that
    fails is treated as done.
    """

    targets: ClassVar[Any]

    def __init_subclass__(
        cls,
        *,
        name: str | None = None,
        abstract: bool = False,
        everywhere: bool = True,
        repeats: bool = False,
        **more: Any,
    ) -> None:
        super().__init_subclass__(**more)
        if abstract:
            return
        own = name or f"{cls.__module__.removeprefix('invivo_modules.')}.{cls.__name__}"
        described = describe_trait(cls, own, here(), repeats)
        setattr(cls, TRAIT, described)
        if _loading.found is not None and everywhere:
            _loading.found.append(described)
        elif everywhere:
            _declare(described)

    @classmethod
    def remove(cls) -> None:
        """Removes the type from all runtimes, also from later ones. Its changes of objects are reversed."""
        described = trait_type_of(cls)
        if _declared.get(described.name) is described:
            del _declared[described.name]
        for core in _open_cores():
            with _unless_closing(core, described.name), contextlib.suppress(NotFoundError):
                _reload(core, functools.partial(_remove, core, described.name))


def declared_traits() -> Sequence[TraitType]:
    """Returns the trait types that each runtime has."""
    return list(_declared.values())


def add_declared_traits(core: Core) -> None:
    """Adds the declared trait types to a runtime that was joined."""
    found = declared_traits()
    if found:
        _add(core, found)


@contextlib.contextmanager
def collected_traits() -> Iterator[list[TraitType]]:
    """Collects the trait types that the thread defines, for one runtime. The caller adds them."""
    outer, _loading.found = _loading.found, []
    try:
        yield _loading.found
    finally:
        _loading.found = outer


def _open_cores() -> list[Core]:
    found = [each for each in list(sessions.values()) if isinstance(each, Core)]
    found = [each for each in found if not each.closed and not each.is_parents]
    for core in found:
        core.catch_up()
    return found


@contextlib.contextmanager
def _unless_closing(core: Core, name: str) -> Iterator[None]:
    """Ignores the errors of a runtime that another thread is closing, or has closed.

    If the close is refused, the runtime gets the present type of the name afterwards.
    """
    try:
        yield
    except (ClosedError, HandleError) as problem:
        if not _is_closing(core, problem):
            raise
        core.miss(name, functools.partial(_catch_up, core, name))


def _is_closing(core: Core, problem: ClosedError | HandleError) -> bool:
    if isinstance(problem, ClosedError):
        return True
    try:  # the runtime may have closed the change set
        core.library.call("runtime_generation", core.handle, ctypes.byref(ctypes.c_uint64()))
    except (ClosedError, HandleError):
        return True
    return False


def _catch_up(core: Core, name: str) -> bool:
    """Adds or removes a type that changed while the runtime was closing. False: it is still closing."""
    described = _declared.get(name)
    try:
        if described is not None:
            _add(core, [described])
        else:
            with contextlib.suppress(NotFoundError):
                _reload(core, functools.partial(_remove, core, name))
    except Error as problem:
        if isinstance(problem, (ClosedError, HandleError)) and _is_closing(core, problem):
            return False
        uncaught.report(core, problem, None)  # nobody waits for the type
    return True


def _declare(described: TraitType) -> None:
    former = _declared.get(described.name)
    _declared[described.name] = described
    try:
        for core in _open_cores():
            with _unless_closing(core, described.name):
                _add(core, [described])
    except BaseException:
        if _declared.get(described.name) is described:
            if former is None:
                del _declared[described.name]
            else:
                _declared[described.name] = former
        raise


def _remove(core: Core, name: str, changes: c.invivo_changes) -> None:
    core.library.call("changes_remove_trait", changes, strings.name_bytes(name))


def _add(core: Core, traits: Sequence[TraitType]) -> None:
    def describe(changes: c.invivo_changes) -> None:
        for each in traits:
            each.give(core, changes)

    _reload(core, describe)


def _reload(core: Core, describe: Callable[[c.invivo_changes], None]) -> None:
    """Commits a change set. In a callback, which cannot wait for a reload, it is submitted."""
    try:
        _finish(core, describe, "changes_commit")
    except WouldWaitError:
        _finish(core, describe, "changes_submit")


def _finish(core: Core, describe: Callable[[c.invivo_changes], None], function: str) -> None:
    changes = c.invivo_changes()
    try:
        core.library.call("changes_open", core.handle, ctypes.byref(changes))
        describe(changes)
        core.library.call(function, changes)
    except BaseException:
        core.library.changes_discard(changes)  # does nothing if it is committed
        raise
