"""Resolving by key, by class, all of a class, at once or for asyncio."""

from __future__ import annotations

import builtins
import ctypes
import threading
import typing
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar, overload

from .. import _generated as c
from .._assemblies.members import Bound
from .._classes.annotations import CLASSES
from .._native import strings
from .._native.leases import ObjectCell
from .._native.pins import entered
from .._services import asynchronous
from .._state.core import Core
from .._values import conversion
from ..errors import NotFoundError, WrongTypeError
from .base import RuntimeBase

T = TypeVar("T")


class Resolving(RuntimeBase):
    """A runtime that resolves objects."""

    @overload
    def __getitem__(self, key: type[T]) -> T: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        """The object of a class, or of a key: ``runtime[Player]``, ``runtime["synth.player"]``."""
        try:
            return self._kept[key]
        except KeyError:
            pass  # the resolve is not an error's context
        make = self._ready.get(key)
        return self._resolve(key) if make is None else make(self)

    def _resolve(self, key: Any) -> Any:
        core = self._open()
        epoch = core.epoch
        name = self._name(key)
        # While the epoch is odd, a pin may keep a former generation, and a plan creates objects of the current one.
        plan = None if epoch & 1 else core.plans.find(name)
        if plan is not None and not (core.activity.planning or core.activity.calling):
            if not plan.takes:
                core.plans.serve(key, plan, epoch)
                return plan.make(self)
            given = plan.completed(())
            if given is not None:
                return plan.make(self, *given)
        handle, word = core.keys.handle(name)
        before, uses = word.value, core.activity.uses
        found = core.cell()
        try:
            core.library.call("resolve", core.handle, handle, ctypes.byref(found))
            thing, shared = self._resolved(core, handle, found)
        except BaseException:
            core.drop(found.number)
            raise
        if shared:
            # Kept only if no commit has become visible since before the resolve, or is about to. A commit first changes
            # the epoch and then purges, and the purge takes this lock: it comes later, or the epoch is another.
            # A constructor must resolve through the library, which so learns the dependencies: nothing is kept then.
            with self._lock:
                kept = epoch == core.epoch and not epoch & 1
                if kept and not self._gone and not core.closed and not core.activity.calling:
                    self._kept[key] = thing
        else:
            core.plans.consider(key, name, handle, word, before, uses, epoch)
        return thing

    def _unplanned(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """Resolves the object of a build plan that is outdated, or cannot be used here."""
        plans = self._core.plans
        if plans.find(name) is None:
            plans.purge()
        return self._resolve_with(name, arguments, planned=False) if arguments else self._resolve(name)

    def _gave_up(self, version: int, name: str, arguments: tuple[Any, ...]) -> Any:
        """Resolves the object of a build plan that was given up. This version of the key gets no plan any more."""
        core = self._core
        core.activity.given_up.discard(threading.get_ident())
        core.plans.refuse(name, version)
        return self._resolve_with(name, arguments) if arguments else self._resolve(name)

    def _resolved(self, core: Core, handle: c.invivo_key, found: ObjectCell) -> tuple[Any, bool]:
        peeked = core.cell()
        try:
            entered(core.library, core.library.peek, core.handle, handle, ctypes.byref(peeked))
            shared = bool(found.bits) and peeked.bits == found.bits
        finally:
            core.drop(peeked.number)
        return core.take(found, shared=shared), shared

    def _resolve_in(self, context: c.invivo_context, key: Any) -> Any:
        """Resolves a key or class with a context as the current one."""
        core = self._open()
        handle, _ = core.keys.handle(self._name(key))
        found = core.cell()
        try:
            core.library.call("context_resolve", context, handle, ctypes.byref(found))
            return self._take(core, found)
        except BaseException:
            core.drop(found.number)
            raise

    def _name(self, key: Any) -> str:
        if isinstance(key, str):
            return key
        if isinstance(key, Bound):  # camelot.knight
            return key.key
        if not isinstance(key, type) and isinstance(key, Hashable):
            key = CLASSES.get(key, key)
        if not isinstance(key, type) and not isinstance(typing.get_origin(key), type):  # Repository[User]
            raise WrongTypeError(f"a key is a class, a name or a member of an assembly, not {key!r}")
        return self._core.types.key_of(key)

    @overload
    def resolve(self, key: type[T], *arguments: Any, **named: Any) -> T: ...
    @overload
    def resolve(self, key: str, *arguments: Any, **named: Any) -> Any: ...
    def resolve(self, key: Any, *arguments: Any, **named: Any) -> Any:
        """Like ``runtime[key]``; with runtime arguments, by position or name."""
        if not arguments and not named:
            return self[key]
        plan = None if named or self._core.epoch & 1 else self._taking.get(key)
        if plan is not None and plan.takes == len(arguments):
            return plan.make(self, *arguments)
        core = self._open()
        name = self._name(key)
        return self._resolve_with(name, core.keys.bind(name, arguments, named))

    def _resolve_with(self, name: str, arguments: Sequence[Any], *, planned: bool = True) -> Any:
        core = self._core
        plan = self._taking.get(name) if planned and not core.epoch & 1 else None
        given = None if plan is None else plan.completed(arguments)
        if plan is not None and given is not None:
            return plan.make(self, *given)
        core.check()
        handle, word = core.keys.handle(name)
        before, uses = word.value, core.activity.uses
        thing = self._ask("resolve_with", handle, name, arguments)
        core.plans.consider(None, name, handle, word, before, uses)
        return thing

    def _ask(self, function: str, handle: c.invivo_key, name: str, arguments: Iterable[Any]) -> Any:
        core = self._core
        found = core.cell()
        try:
            with conversion.Packer(core) as packer:
                array, count = core.keys.pack(packer, name, arguments)
                core.library.call(function, core.handle, handle, array, count, ctypes.byref(found))
            return self._take(core, found)
        except BaseException:
            core.drop(found.number)
            raise

    def _take(self, core: Core, found: ObjectCell) -> Any:
        """Returns the object of a leased handle."""
        key = c.invivo_key()
        if not found.bits or core.library.object_key(found, ctypes.byref(key), None) or not key.bits:
            return core.take(found)
        return self._resolved(core, key, found)[0]

    @overload
    def resolve_optional(self, key: type[T], *arguments: Any, **named: Any) -> T | None: ...
    @overload
    def resolve_optional(self, key: str, *arguments: Any, **named: Any) -> Any: ...
    def resolve_optional(self, key: Any, *arguments: Any, **named: Any) -> Any:
        """Does the same, but returns None if there is no such definition, or if its factory returns None."""
        core = self._open()
        try:
            name = self._name(key)
        except NotFoundError:
            return None
        handle, text = c.invivo_key(), strings.name_bytes(name, "key")
        # A name that is only looked up is not kept.
        find = core.library.key_find
        if entered(core.library, find, core.handle, text, ctypes.byref(handle), None) == c.INVIVO_E_NOT_FOUND:
            return None
        if not handle.bits:
            core.library.call("key_find", core.handle, text, ctypes.byref(handle))
        return self._ask("resolve_optional", handle, name, core.keys.bind(name, arguments, named))

    @overload
    def resolve_type(self, of: builtins.type[T], name: str | None = None, *, exact: bool = False) -> T: ...
    @overload
    def resolve_type(
        self, of: builtins.type[T], name: str | None = None, *, exact: bool = False, optional: bool
    ) -> T | None: ...
    def resolve_type(
        self, of: builtins.type[T], name: str | None = None, *, exact: bool = False, optional: bool = False
    ) -> T | None:
        """The object of the one definition whose class is, or derives from, ``of``; ``name``: with this key, or the end
        of it. ``optional``: None where there is none."""
        core = self._open()
        wanted = None if name is None else strings.name_bytes(name)
        flags = (c.INVIVO_LOOKUP_EXACT if exact else 0) | (c.INVIVO_LOOKUP_OPTIONAL if optional else 0)
        kind = strings.name_bytes(core.types.query(of))
        found = core.cell()
        try:
            core.library.call("resolve_type", core.handle, kind, wanted, flags, ctypes.byref(found))
            thing: T | None = self._take(core, found)
        except BaseException:
            core.drop(found.number)
            raise
        return thing

    def resolve_all(self, of: builtins.type[T], *, exact: bool = False) -> list[T]:
        """Returns one object of each definition of a class, by rank, then in order of declaration.

        Without definitions the list is empty. Objects of graph scope are shared within the call.
        """
        core = self._open()
        flags = c.INVIVO_LOOKUP_EXACT if exact else 0
        kind = strings.name_bytes(core.types.query(of))
        things: list[T] = conversion.ask(core, "resolve_all", core.handle, kind, flags)
        return things

    @overload
    async def aresolve(self, key: builtins.type[T], *arguments: Any, **named: Any) -> T: ...
    @overload
    async def aresolve(self, key: str, *arguments: Any, **named: Any) -> Any: ...
    async def aresolve(self, key: Any, *arguments: Any, **named: Any) -> Any:
        """Like `resolve`, for asyncio: the object is resolved where it belongs, and the event loop continues meanwhile.

        If the opening thread awaits it, the loop runs the jobs that wait for that thread.
        """
        core = self._open()
        name = self._name(key)
        handle, _ = core.keys.handle(name)
        given = core.keys.bind(name, arguments, named)
        return await asynchronous.resolve(core, handle, name, given, lambda: self.poll(0))

    def __contains__(self, key: object) -> bool:
        core, found = self._open(), c.invivo_key()
        try:
            name = strings.name_bytes(self._name(key), "key")
            core.library.call("key_find", core.handle, name, ctypes.byref(found))
        except (NotFoundError, WrongTypeError):
            return False
        return True
