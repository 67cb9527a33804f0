"""Change sets in the library: their contents are planned and written."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

from .. import _generated as c
from .._assemblies.assembly import AssemblyDescription
from .._assemblies.definitions import Definition
from .._native import strings
from .._planning import processing, tables
from .._planning.after import After
from .._planning.descriptors import define
from .._planning.findings import combined, is_because
from .._planning.injections import Plan
from .._planning.wiring import plan_all
from ..errors import Error
from .contents import Contents
from .core import Core


class Written:
    """The definitions of a change set that has been written."""

    def __init__(self, defined: dict[str, Definition], removed: list[str]) -> None:
        self.defined, self.removed = defined, removed


def fill(core: Core, contents: Contents, handle: c.invivo_changes) -> Written:
    """Plans the contents and writes them into a new set of the library.

    The caller discards it, also if this raises: a signal handler may do that at any time.
    """
    core.library.call("changes_open", core.handle, ctypes.byref(handle))
    return write(core, contents, handle)


def write(core: Core, contents: Contents, handle: c.invivo_changes) -> Written:
    """Plans the contents and writes them into a set of the library."""
    return _write(core, contents, handle, _planned(core, contents))


def describe(core: Core, contents: Contents) -> Written:
    """Gives the library descriptions of the assemblies, which are not activated."""
    plans = plan(core, contents)
    alone, together = by_assembly(contents, plans)
    assert not alone
    for assembly, its in together.items():
        with tables.table(core, assembly, its, contents.activated[assembly].collaborators) as options:
            core.library.call("assembly_describe", core.handle, ctypes.byref(options))
    return Written({each.definition.key: each.definition for each in plans}, [])


def plan(core: Core, contents: Contents, wrong: list[Error] | None = None) -> list[Plan]:
    """Plans the definitions. ``wrong`` gets the errors instead of one being raised."""
    known = core.types.known
    known.update({made.made: made.makes for made in contents.definitions.values() if isinstance(made.makes, type)})
    remaps = {
        each.name: {start: to if isinstance(to, str) else to.name for start, to in remap.items()}
        for each, remap in contents.mounted.items()
    }
    staying = (each for each in core.active.all() if each not in contents.deactivated)
    return plan_all(
        contents.definitions.values(),
        After(core, contents.definitions, contents.removed),
        known,
        core.find_type,
        marked=core.fills_marked,
        remaps=remaps,
        assemblies=[*contents.activated, *staying],
        wrong=wrong,
    )


def by_assembly(contents: Contents, plans: Iterable[Plan]) -> tuple[list[Plan], dict[AssemblyDescription, list[Plan]]]:
    """Separates definitions that stand alone from those that are added with an assembly."""
    plans = list(plans)
    alone: list[Plan] = []
    together: dict[AssemblyDescription, list[Plan]] = {each: [] for each in contents.activated}
    known = {each.definition.key: each.definition for each in plans}
    for each in plans:
        outermost = each.definition
        while (owner := known.get(outermost.owner)) is not None:
            outermost = owner
        home = contents.homes.get(outermost.key)
        (alone if home is None else together.setdefault(home, [])).append(each)
    return alone, together


def _planned(core: Core, contents: Contents) -> list[Plan]:
    """Plans the definitions, or raises all errors, many of which only the library can find."""
    wrong: list[Error] = []
    plans = plan(core, contents, wrong)
    if not wrong:
        return plans
    left_out = contents.definitions.keys() - {each.definition.key for each in plans}
    found = [each for each in _findings(core, contents, plans) if not is_because(each, wrong, left_out)]
    raise combined([*wrong, *found])


def _findings(core: Core, contents: Contents, plans: list[Plan]) -> list[Error]:
    """Returns the errors that the library finds in a set of these definitions."""
    handle = c.invivo_changes()
    try:
        core.library.call("changes_open", core.handle, ctypes.byref(handle))
        try:
            _write(core, contents, handle, plans)
        except Error:  # it is found again when the others are corrected
            return []
        try:
            core.library.call("changes_check", handle)
        except Error as problem:
            return problem.errors
        return []
    finally:
        core.library.changes_discard(handle)


def _write(core: Core, contents: Contents, handle: c.invivo_changes, plans: list[Plan]) -> Written:
    library = core.library
    removed = [key for key in contents.removed if key not in contents.withdrawn or _is_defined(core, key)]
    for key in removed:
        library.call("changes_remove", handle, strings.name_bytes(key, "key"))
    for name in _ended(core, contents):
        library.call("changes_deactivate", handle, strings.name_bytes(name))
    alone, together = by_assembly(contents, plans)
    for each in alone:
        define(core, handle, each)
    for assembly, its in together.items():
        _write_assembly(core, contents, handle, assembly, its)
    for assembly in contents.described:
        library.call("changes_activate", handle, ctypes.byref(tables.named(assembly.name)), None)
    for name in contents.unprocessed:
        library.call("changes_unprocess", handle, strings.name_bytes(name))
    for processor in contents.processors:
        processing.give(core, processor, handle)
    for apply in contents.others:
        apply(handle)
    return Written({each.definition.key: each.definition for each in plans}, removed)


def _is_defined(core: Core, key: str) -> bool:
    found, name = c.invivo_key(), strings.name_bytes(key, "key")
    status: int = core.library.key_find(core.handle, name, ctypes.byref(found), None)
    return status == c.INVIVO_OK


def _ended(core: Core, contents: Contents) -> list[str]:
    """Returns the names of which no assembly is left, neither an active nor a new one."""
    again = {each.name for each in contents.activated}
    names = dict.fromkeys(each.name for each in contents.deactivated)
    return [name for name in names if name not in again and not _is_staying(core, contents, name)]


def _is_staying(core: Core, contents: Contents, name: str) -> bool:
    return any(each not in contents.deactivated for each in core.active.by_name.get(name, []))


def _write_assembly(
    core: Core, contents: Contents, handle: c.invivo_changes, assembly: AssemblyDescription, plans: list[Plan]
) -> None:
    first = next((each for each in contents.activated if each.name == assembly.name), None)
    extends = assembly is not first or _is_staying(core, contents, assembly.name)
    activation = contents.activated.get(assembly)
    collaborators = {} if activation is None else activation.collaborators
    with tables.table(core, assembly, plans, collaborators, extends=extends) as options:
        if assembly in contents.mounted:
            pairs, count = tables.remaps_of(contents.mounted[assembly])
            prefix = strings.name_bytes(assembly.name)
            core.library.call("changes_mount", handle, ctypes.byref(options), prefix, pairs, count)
        else:
            core.library.call("changes_activate", handle, ctypes.byref(options), None)
