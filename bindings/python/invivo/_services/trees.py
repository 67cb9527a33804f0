"""Injection into objects that were created elsewhere: one, or a whole tree of them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import Any

from .. import _generated as c
from .._native import callbacks, strings
from .._native.leases import ObjectCell
from .._objects.objects import Objects
from .._values.foreign import Object

Children = Callable[[Any], Iterable[Any]]


class Held:
    """Python objects that are leased during an injection. Objects injected into one live as long as it does."""

    def __init__(self, core: Objects) -> None:
        self._core = core
        self._held: list[tuple[Any, ObjectCell, bool]] = []

    def add(self, thing: Any) -> c.invivo_object:
        """Returns the handle of an object. The lease is kept until the block ends."""
        known = isinstance(thing, Object) or self._core.entry_for(thing) is not None
        cell = self._core.cell()
        self._held.append((thing, cell, known))
        return self._core.lease(thing, cell)

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *_: object) -> None:
        core = self._core
        for thing, cell, known in self._held:
            entry = None if known or not cell.is_held else core.entry_for(thing)
            if entry is None or entry.record.description.stop is None or not core.lean(entry, thing, cell):
                core.drop(cell.number)


class _Walk:
    """One tree, while its objects are injected."""

    def __init__(
        self,
        core: Objects,
        children: Children | None,
        key_of: Callable[[Any], str | None] | None,
        skip: Callable[[Any], bool] | None,
    ) -> None:
        self.core, self.children, self.key_of, self.skip = core, children, key_of, skip
        self.held = Held(core)
        self.below: dict[int, list[Any]] = {}
        self.names: list[bytes] = []
        self.wrong: list[BaseException] = []


@callbacks.returns_status(c.invivo_callbacks, "tree_child", user_data=3)
def _child(walk: _Walk, parent: c.invivo_object, index: int, out: Any, _: int, error: Any) -> None:
    assert walk.children is not None
    if index == 0:
        walk.below[parent.bits] = list(walk.children(walk.core.receive(parent.bits)))
    found = walk.below[parent.bits]
    if index < len(found):
        handle = walk.held.add(found[index])
        walk.core.library.object_retain(handle)
        out[0] = handle


@callbacks.returns_status(c.invivo_callbacks, "tree_key_name", user_data=2)
def _key_name(walk: _Walk, handle: c.invivo_object, out: Any, _: int, error: Any) -> None:
    assert walk.key_of is not None
    name = walk.key_of(walk.core.receive(handle.bits))
    if name is not None:
        walk.names.append(strings.name_bytes(name, "key"))
        out[0] = walk.names[-1]


@callbacks.returns_number(c.invivo_callbacks, "tree_is_foreign", user_data=1)
def _is_foreign(walk: _Walk, handle: c.invivo_object, _: int) -> int:
    assert walk.skip is not None
    try:
        return 1 if walk.skip(walk.core.receive(handle.bits)) else 0
    except BaseException as problem:  # there is no caller to report it to
        walk.wrong.append(problem)
        return 1


def inject_tree(
    core: Objects,
    root: Any,
    key: str | None,
    children: Children | None,
    key_of: Callable[[Any], str | None] | None,
    skip: Callable[[Any], bool] | None,
    known_only: bool,
) -> None:
    walk = _Walk(core, children, key_of, skip)
    tree = c.invivo_tree()
    tree.struct_size = ctypes.sizeof(tree)
    tree.key = None if key is None else strings.name_bytes(key, "key")
    tree.flags = c.INVIVO_INTO_KNOWN if known_only else 0
    if children is not None:
        tree.child = _child.of(core.library)
    if key_of is not None:
        tree.key_name = _key_name.of(core.library)
    if skip is not None:
        tree.is_foreign = _is_foreign.of(core.library)
    tree.user_data = number = callbacks.enroll(walk)
    try:
        with walk.held as held:
            core.library.call("inject_tree", held.add(root), ctypes.byref(tree))
    finally:
        callbacks.dismiss(number)
    if walk.wrong:
        raise walk.wrong[0]
