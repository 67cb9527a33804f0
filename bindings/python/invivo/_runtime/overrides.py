"""Overrides: another recipe, or an object, replaces the definition of a key for a while."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

from .. import _generated as c
from .._assemblies.definitions import Definition
from .._native import strings
from .._planning.after import After
from .._planning.descriptors import defined
from .._planning.wiring import plan_all
from .._state.core import Core
from ..errors import ArgumentError, StaleError


class Override:
    """One override. A ``with`` block ends it, also if the block raises."""

    def __init__(self, core: Core, made: Definition | None, key: str, instance: Any) -> None:
        self._core, self.key = core, key
        self._handle = c.invivo_override()
        try:
            if made is None:
                self._put_instance(key, instance)
            else:
                self._put(made, key)
        except BaseException:
            self.end()  # it has begun, and a signal handler raised afterwards
            raise

    def _put(self, made: Definition, key: str) -> None:
        core = self._core
        existing = After(core, {key: made})
        plans = plan_all(
            [made], existing, core.types.known, core.find_type, marked=core.fills_marked, assemblies=core.active.all()
        )
        if len(plans) > 1:
            raise ArgumentError("an override has no inline definitions: define them by keys of their own", path=key)
        with defined(core, plans[0]) as options:
            core.library.call("override_begin", core.handle, ctypes.byref(options), ctypes.byref(self._handle))

    def _put_instance(self, key: str, instance: Any) -> None:
        core = self._core
        options = c.invivo_definition()
        options.struct_size = ctypes.sizeof(options)
        options.key = strings.name_bytes(key, "key")
        held = core.cell()
        try:
            options.constant = core.lease(instance, held)
            kind = c.invivo_type()
            core.library.call("object_type", held, ctypes.byref(kind))
            options.type = kind
            core.library.call("override_begin", core.handle, ctypes.byref(options), ctypes.byref(self._handle))
        finally:
            core.drop(held.number)

    def end(self) -> None:
        """Ends the override, in any order. May be called again, also after an error: the override then stays."""
        if not self._handle.bits or self._core.closed:
            return
        with contextlib.suppress(StaleError):  # a signal handler raised after it had ended
            self._core.library.call("override_end", self._handle)
        self._handle = c.invivo_override()

    def __enter__(self) -> Override:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __repr__(self) -> str:
        return f"<invivo.Override of {self.key}{'' if self._handle.bits else ', taken back'}>"
