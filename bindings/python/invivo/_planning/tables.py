"""Assemblies as the library takes them: a table of definitions, handed over at once."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from .. import _generated as c
from .._assemblies.assembly import AssemblyDescription, kinds_of
from .._native import strings
from .._objects.objects import Objects
from ..errors import ArgumentError
from .descriptors import defined
from .gathering import ByName
from .injections import Plan, Rename


@contextlib.contextmanager
def table(
    core: Objects,
    assembly: AssemblyDescription,
    plans: Sequence[Plan],
    collaborators: Mapping[str, Any],
    *,
    extends: bool = False,
) -> Iterator[c.invivo_assembly]:
    """Converts an assembly with its planned definitions to C, for the calls in the block."""
    own = assembly._own_name or assembly.name
    if own != assembly.name:
        rename = _inside(assembly.name, own, {plan.definition.key for plan in plans})
        plans = [plan.renamed(rename) for plan in plans]
    with contextlib.ExitStack() as stack:
        definitions = (c.invivo_definition * len(plans))()
        for slot, plan in zip(definitions, plans, strict=True):
            ctypes.pointer(slot)[0] = stack.enter_context(defined(core, plan))
        others = {
            each.name if isinstance(each, AssemblyDescription) else each._name for each in _assemblies(collaborators)
        }
        others -= {assembly.name, own}
        wanted = (c.invivo_collaborator * len(others))()
        for slot, name in zip(wanted, sorted(others), strict=True):
            slot.prefix = slot.assembly = strings.name_bytes(name)
        kinds = [strings.name_bytes(name) for name in kinds_of(type(assembly), own)]
        options = named(own)
        options.flags = c.INVIVO_ASSEMBLY_EXTENDS if extends else 0
        options.definitions, options.definition_count = definitions or None, len(plans)
        options.collaborators, options.collaborator_count = wanted, len(others)
        options.supertypes, options.supertype_count = (ctypes.c_char_p * len(kinds))(*kinds), len(kinds)
        secrets = [strings.name_bytes(path, "secrets") for path in assembly._secrets]
        options.secrets, options.secret_count = (ctypes.c_char_p * len(secrets))(*secrets) or None, len(secrets)
        file, line = assembly.__invivo_location__
        options.file, options.line = strings.name_bytes(file) if file else None, line
        yield options


def _inside(prefix: str, name: str, keys: Set[str]) -> Rename:
    """Returns the renaming for a mounted assembly. It is described under its own name; the library adds the prefix."""

    def rename(key: str) -> str:
        return name + key[len(prefix) :] if key in keys else key

    return rename


def named(name: str) -> c.invivo_assembly:
    """Returns an assembly with a name alone: the one that was described."""
    options = c.invivo_assembly()
    options.struct_size = ctypes.sizeof(options)
    options.name = strings.name_bytes(name)
    options.flags = c.INVIVO_ASSEMBLY_DESCRIBED
    return options


def remaps_of(remap: Mapping[str, str | AssemblyDescription]) -> tuple[Any, int]:
    """Returns the remaps of a mount's outer references."""
    pairs = []
    for start, to in remap.items():
        if not isinstance(to, (str, AssemblyDescription)):
            raise ArgumentError(f"{start!r} is remapped to a key, a prefix or an assembly, not to {to!r}", path=start)
        end = to if isinstance(to, str) else to.name
        pairs.append(c.invivo_remap(strings.name_bytes(start, "key"), strings.name_bytes(end, "key")))
    return (c.invivo_remap * len(pairs))(*pairs), len(pairs)


def _assemblies(collaborators: Mapping[str, Any]) -> list[AssemblyDescription | ByName]:
    return [each for each in collaborators.values() if isinstance(each, (AssemblyDescription, ByName))]
