"""Injecting into objects that were made elsewhere: one, or a whole tree of them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import _generated as c
from . import _trampolines, _values
from ._objects import Object

if TYPE_CHECKING:
    from ._core import Core

Children = Callable[[Any], Iterable[Any]]


class Held:
    """Objects of ours that the library looks at: what was injected into one lives as long as it does."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._held: list[tuple[Any, c.invivo_object, bool]] = []

    def add(self, thing: Any) -> c.invivo_object:
        """Its handle; the lease is kept until the block ends."""
        known = isinstance(thing, Object) or self._core.entry_for(thing) is not None
        handle = self._core.lease(thing)
        self._held.append((thing, handle, known))
        return handle

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *_: object) -> None:
        core = self._core
        for thing, handle, known in self._held:
            entry = None if known else core.entry_for(thing)
            if entry is None or entry.record.description.stop is None or not core.lean(entry, thing):
                core.library.object_release(handle)


def inject_tree(
    core: Core,
    root: Any,
    key: str | None,
    children: Children | None,
    key_of: Callable[[Any], str | None] | None,
    skip: Callable[[Any], bool] | None,
    known_only: bool,
) -> None:
    tree = c.invivo_tree()
    tree.struct_size = ctypes.sizeof(tree)
    tree.key = None if key is None else _values.name_bytes(key, "key")
    tree.flags = c.INVIVO_INTO_KNOWN if known_only else 0
    below: dict[int, list[Any]] = {}
    names: list[bytes] = []

    def answering(field: str, body: Callable[..., None]) -> Any:
        def function(*arguments: Any) -> int:
            try:
                body(*arguments)
                return c.INVIVO_OK
            except BaseException as problem:
                return int(core.library.failures.give(problem, arguments[-1]))

        return _trampolines.signature(c.invivo_tree, field)(function)

    wrong: list[BaseException] = []
    with Held(core) as held:

        def child(parent: c.invivo_object, index: int, out: Any, _: int, error: Any) -> None:
            assert children is not None
            if index == 0:
                below[parent.bits] = list(children(core.receive(parent.bits)))
            found = below[parent.bits]
            if index < len(found):
                handle = held.add(found[index])
                core.library.object_retain(handle)
                out[0] = handle

        def key_name(handle: c.invivo_object, out: Any, _: int, error: Any) -> None:
            assert key_of is not None
            said = key_of(core.receive(handle.bits))
            if said is not None:
                names.append(_values.name_bytes(said, "key"))
                out[0] = names[-1]

        def is_foreign(handle: c.invivo_object, _: int) -> int:
            assert skip is not None
            try:
                return 1 if skip(core.receive(handle.bits)) else 0
            except BaseException as problem:  # it has nobody to tell here
                wrong.append(problem)
                return 1

        if children is not None:
            tree.child = answering("child", child)
        if key_of is not None:
            tree.key_name = answering("key_name", key_name)
        if skip is not None:
            tree.is_foreign = _trampolines.signature(c.invivo_tree, "is_foreign")(is_foreign)
        core.library.call("inject_tree", held.add(root), ctypes.byref(tree))
        if wrong:
            raise wrong[0]
