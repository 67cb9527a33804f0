"""Binding: the Python objects of definitions and assemblies are connected to what the library has of them.

The library keeps the definitions. Kept here are the objects that it cannot keep: the assemblies, whose members resolve
while they are active, the declarations of runtime arguments, and the functions of processors.
"""

from __future__ import annotations

from collections.abc import Callable

from .._assemblies.active import State
from .contents import Contents
from .core import Core
from .writing import Written


def bind(core: Core, contents: Contents, written: Written) -> Callable[[], None]:
    """Binds the contents of a change set, before it is committed: its constructors may already use other definitions.

    Returns a function that undoes it.
    """
    declared = core.keys.declared
    # The library removes definitions that stand in others together with those, and nothing refers to them by key.
    own = {key: made for key, made in written.defined.items() if not made.owner}
    former = {key: declared.get(key) for key in (*written.removed, *own)}
    assemblies = {name: list(several) for name, several in core.active.by_name.items()}
    states = [
        (each, each._core, each._collaborators, each.members) for each in (*contents.activated, *contents.deactivated)
    ]
    before = [State(each) for each in (*contents.activated, *contents.deactivated)]
    generation = core.generation() if before else 0
    mounted = [(each, each.name) for each in contents.deactivated if each._own_name is not None]
    for key in former:
        declared.pop(key, None)
    declared.update(own)
    processors = dict(core.processors)
    for name in contents.unprocessed:
        core.processors.pop(name, None)
    core.processors.update({each.name: each for each in contents.processors})
    for each in contents.deactivated:
        core.active.by_name[each.name].remove(each)
        core.active.described.discard(each)
        each._core, each._collaborators, each.members = None, {}, ()
        each._unmount()
    for each, activation in contents.activated.items():
        core.active.by_name.setdefault(each.name, []).append(each)
        each._core, each._collaborators, each.members = core, dict(activation.collaborators), activation.members
    if before:
        core.active.note(generation, before)
    core.outdate()

    def undo() -> None:
        if before:
            core.active.drop(before)
        for key, made in former.items():
            declared.pop(key, None)
            if made is not None:
                declared[key] = made
        core.processors.clear()
        core.processors.update(processors)
        core.active.by_name.clear()
        core.active.by_name.update(assemblies)
        for each, active, found, members in states:
            each._core, each._collaborators, each.members = active, found, members
        for each, prefix in mounted:
            each._mount(prefix)
        core.outdate()

    return undo


def roll_back(core: Core, generation: int) -> None:
    """After a rollback: the assemblies are bound as they were in that generation."""
    if core.active.roll_back(generation, core.generation() - 1):
        core.outdate()
