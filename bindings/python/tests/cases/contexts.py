"""The statements of contexts."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any

import invivo

from . import world
from .build import Names, Wrong
from .script import Line, Unreadable, Word

KINDS: dict[str, Any] = {
    "bool": bool,
    "int32": invivo.Int32,
    "int64": int,
    "double": float,
    "string": str,
    "bytes": bytes,
    "list": list,
    "map": dict,
}


class Holder:
    """An object that a context is attached to: one more holder."""


class Contexts:
    """The contexts of a case, by their names."""

    contexts: dict[str, invivo.Context]
    holders: dict[str, list[Holder]]
    runtime: invivo.Runtime
    names: Names

    def run(self, line: Line) -> None: ...

    def do_context(self, line: Line, verb: Word, *words: Word) -> Any:
        statement = getattr(self, f"context_{verb.text}", None)
        if statement is None:
            raise Unreadable(f"{line.place}: a context does not {verb.text!r}")
        return statement(line, *words)

    def known(self, name: Word) -> invivo.Context:
        if name.text not in self.contexts:
            raise Wrong(f"'{name.text}' is no context of this case")
        return self.contexts[name.text]

    def expected(self, found: invivo.Context | None, name: Word) -> None:
        """Expects a context by its name, or none."""
        if found is not (None if name.text == "none" else self.known(name)):
            names = [each for each, context in self.contexts.items() if context is found]
            raise Wrong(f"it is the context {names or found}, not {name.text}")

    def parts(self, line: Line) -> list[Line]:
        """The lines below, without those that expect an error."""
        return [each for each in line.below if each.verb not in ("fails", "finds")]

    def given(self, lines: Iterable[Line]) -> list[tuple[str, Any]]:
        return [(each.words[1].text, self.names.value(each.words[2])) for each in lines]

    # ---- life --------------------------------------------------------------------------------------------

    def context_open(self, line: Line, name: Word, *_: Word) -> None:
        kind, below, thing = (line.labelled(each) for each in ("kind", "below", "object"))
        parent: Any = ... if below is None else self.known(Word(below))
        for each in self.parts(line):
            if each.verb != "set":
                raise Unreadable(f"{each.place}: a context is not opened with {each.verb!r}")
        self.contexts[name.text] = self.runtime.context(
            kind,
            parent=None if line.says("detached") else parent,
            holds_parent=True if line.says("strong") else False if line.says("weak") else None,
            object=None if thing is None else self.names.at(thing),
            values=self.given(self.parts(line)),
        )

    def context_end(self, line: Line, name: Word) -> None:
        self.known(name).end()

    def context_hold(self, line: Line, name: Word) -> None:
        holder = Holder()
        self.known(name).attach(holder)
        self.holders.setdefault(name.text, []).append(holder)

    def context_release(self, line: Line, name: Word) -> None:
        if self.holders.get(name.text):
            self.holders[name.text].pop()
            gc.collect()
        else:
            self.known(name).release()

    def context_kind(self, line: Line, name: Word, *words: Word) -> None:
        given = {each.text: [key.text for key in each.inside] for each in words}
        if not given.keys() <= {"provides", "live"}:
            raise Unreadable(f"{line.place}: a kind has no {sorted(given)}")
        self.runtime.declare_contexts(
            invivo.ContextKind(name.text, provides=given.get("provides", ()), live=given.get("live", ()))
        )

    def context_key(self, line: Line, key: Word, *words: Word) -> None:
        kind, of = line.labelled("kind"), line.labelled("type")
        cls = KINDS[kind] if kind is not None else object if of is None else world.kind(of)
        defaults = [self.names.value(each) for each in words if each.label == "default"]
        declared = invivo.ContextKey(key.text, cls, **({"default": defaults[0]} if defaults else {}))
        with self.runtime.context(parent=None) as context:
            context.get(declared)

    # ---- values ------------------------------------------------------------------------------------------

    def context_get(self, line: Line, name: Word, key: Word) -> Any:
        return self.known(name)[key.text]

    def context_local(self, line: Line, name: Word, key: Word) -> Any:
        return self.known(name).local(key.text)

    def context_set(self, line: Line, name: Word, key: Word, value: Word) -> None:
        self.known(name)[key.text] = self.names.value(value)

    def context_remove(self, line: Line, name: Word, key: Word) -> None:
        del self.known(name)[key.text]

    def context_hide(self, line: Line, name: Word, key: Word) -> None:
        self.known(name).hide(key.text)

    def context_change(self, line: Line, name: Word) -> None:
        parts = self.parts(line)
        for each in parts:
            if each.verb not in ("set", "remove", "hide"):
                raise Unreadable(f"{each.place}: a change of a context does not {each.verb!r}")
        self.known(name).update(
            self.given(each for each in parts if each.verb == "set"),
            remove=[each.words[1].text for each in parts if each.verb == "remove"],
            hide=[each.words[1].text for each in parts if each.verb == "hide"],
        )

    def context_entries(self, line: Line, name: Word, *_: Word) -> Any:
        found = self.known(name).entries(local=line.says("local"))
        return [[each.key, each.value, each.distance] for each in found]

    def context_observe(self, line: Line, name: Word, key: Word) -> None:
        here = world.world
        self.known(name).observe(key.text, lambda value: here.event(f"changed({name.text}/{key.text})"))

    # ---- the chain, and objects ----------------------------------------------------------------------------

    def context_parent(self, line: Line, name: Word, parent: Word) -> None:
        self.expected(self.known(name).parent, parent)

    def context_kind_of(self, line: Line, name: Word, kind: Word) -> None:
        found = self.known(name).kind
        if found != (None if kind.text == "none" else kind.text):
            raise Wrong(f"the kind of '{name.text}' is {found}")

    def context_object(self, line: Line, name: Word) -> Any:
        return self.known(name).object

    def context_find(self, line: Line, name: Word, expected: Word, *_: Word) -> None:
        kind, of = line.labelled("kind"), line.labelled("type")
        found = self.known(name).find(
            None if of is None else world.kind(of), kind=kind, exact=line.says("exact"), above=line.says("above")
        )
        self.expected(found, expected)

    def context_inside(self, line: Line, name: Word) -> None:
        with self.known(name).entered():
            for each in self.parts(line):
                self.run(each)

    def context_current(self, line: Line, name: Word) -> None:
        self.expected(self.runtime.current_context, name)

    def context_attach(self, line: Line, name: Word, path: Word) -> None:
        self.known(name).attach(self.names.at(path.text))

    def context_detach(self, line: Line, path: Word) -> None:
        self.runtime.detach_context(self.names.at(path.text))

    def context_of(self, line: Line, path: Word, name: Word) -> None:
        self.expected(self.runtime.context_of(self.names.at(path.text)), name)
