"""Assemblies that a case declares: classes made from its lines."""

from __future__ import annotations

import types
from typing import Any

import invivo

from .build import Description, Injections, Names
from .script import Line, Unreadable


class Declared:
    """A word that stands for an assembly: its class, and the instance that is activated."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.lines: list[Line] = []
        self.cls: type[invivo.Assembly] | None = None
        self.instance: invivo.Assembly | None = None


class Assemblies:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.words: dict[str, Declared] = {}
        self.interfaces: dict[str, type] = {}
        self.active: dict[str, list[invivo.Assembly]] = {}  # by name; also those that were active

    def now(self, name: str) -> invivo.Assembly:
        """The active one, or the last one that was."""
        known = self.active[name]
        return next((each for each in known if each._core is not None), known[-1])

    def interface(self, name: str) -> type:
        return self.interfaces.setdefault(name, type(name, (), {}))

    def declare(self, line: Line) -> None:
        """Declared again, the word means another one."""
        word = line.words[1].text
        made = self.words.get(word)
        if made is None or made.cls is not None:
            made = self.words[word] = Declared(word)
        made.cls = self._class(line)
        made.lines = [each for each in line.below if each.verb == "define"]

    def _class(self, line: Line) -> type[invivo.Assembly]:
        word, name = line.words[1].text, line.labelled("name")
        bases: list[type] = []
        space: dict[str, Any] = {"__annotations__": {}}
        for part in line.below:
            texts = [each.text for each in part.words]
            if part.verb == "define":
                described = Description(part, self.names)
                if "." not in described.key:
                    space[described.key] = described.function(described.key, of_assembly=True)
            elif part.verb == "is":
                bases.insert(0, self.interface(texts[1]))
            elif part.verb == "base":
                base = self.words[texts[1]].cls
                assert base is not None
                bases.append(base)
            elif part.verb == "collaborator":
                self._collaborator(part, space)
            else:
                raise Unreadable(f"{part.place}: an assembly has no part {part.verb!r}")
        is_derived = any(issubclass(each, invivo.Assembly) for each in bases)
        if not is_derived:
            bases.append(invivo.Assembly)
        named = {"name": name or word} if name is not None or not is_derived else {}
        return types.new_class(word.capitalize(), tuple(bases), named, lambda into: into.update(space))

    def _collaborator(self, part: Line, space: dict[str, Any]) -> None:
        prefix = part.words[1].text
        wanted, table = part.labelled("is"), part.labelled("table")
        space["__annotations__"][prefix] = invivo.Assembly
        if table is not None:
            space.setdefault("_tables", {})[prefix] = self.words.setdefault(table, Declared(table))
            return
        optional = {"optional": True} if part.says("optional") else {}
        space[prefix] = invivo.collaborator(wanted or prefix, **optional)

    # ---- instances ---------------------------------------------------------------------------------------

    def instance(self, word: str) -> invivo.Assembly:
        """The one that is activated; always the same for a declaration."""
        declared = self.words[word]
        if declared.instance is None:
            declared.instance = self.another(word)
        return declared.instance

    def another(self, word: str) -> invivo.Assembly:
        declared = self.words[word]
        assert declared.cls is not None, f"{word} is not declared"
        made = declared.instance = declared.cls()
        for prefix, table in getattr(declared.cls, "_tables", {}).items():
            setattr(made, prefix, self.instance(table.word))
        for line in declared.lines:
            described = Description(line, self.names)
            if "." in described.key:
                add = made.graph if described.said.scope is None else getattr(made, described.said.scope_name)
                add(described.recipe(Injections(self.names)), name=described.key)
        return made
