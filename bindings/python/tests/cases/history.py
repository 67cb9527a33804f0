"""Statements of files, rollbacks, marks and observers."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import tempfile
from typing import Any

import invivo

from . import world
from .build import Names, Wrong
from .script import Line, Word


@dataclasses.dataclass
class Hearer:
    """Records the event ``heard(NAME/KEY/...)``, with the keys of the changes if it observes a subject."""

    name: str
    shows_keys: bool
    here: Any
    observers: list[invivo.Observer] = dataclasses.field(default_factory=list)

    def hear(self, report: invivo.Report) -> None:
        keys = [change.key for change in report.changes] if self.shows_keys else []
        self.here.event(f"heard({'/'.join([self.name, *keys])})")


class History:
    runtime: invivo.Runtime
    open: invivo.Changes | None
    sources: dict[str, invivo.Source]
    hearers: dict[str, Hearer]
    names: Names
    folder: tempfile.TemporaryDirectory[str] | None
    variables: list[str]  # of the environment; removed at the end

    def file(self, name: str) -> pathlib.Path:
        self.folder = self.folder or tempfile.TemporaryDirectory()
        return pathlib.Path(self.folder.name) / name

    def do_write(self, line: Line, name: Word) -> None:
        self.file(name.text).write_text(line.text)

    def do_follow(self, line: Line, name: Word, *_: Word) -> None:
        keep_going = line.says("keep_going")
        self.sources[name.text] = self.runtime.watch(self.file(name.text), keep_going=keep_going)

    def do_refresh(self, line: Line, name: Word, *_: Word) -> None:
        self.sources[name.text].refresh(retry=line.says("retry"))

    def do_unfollow(self, line: Line, name: Word) -> None:
        self.sources[name.text].close()

    def do_diverged(self, line: Line, *names: Word) -> None:
        diverged = sorted(pathlib.Path(each.name).name for each in self.runtime.sources if each.diverged)
        if diverged != sorted(each.text for each in names):
            raise Wrong(f"{line.place}: these have diverged: {diverged}")

    def do_setenv(self, line: Line, name: Word, value: Word) -> None:
        self.variables.append(name.text)
        os.environ[name.text] = value.text

    def do_unsetenv(self, line: Line, name: Word) -> None:
        os.environ.pop(name.text, None)

    def do_advance(self, line: Line, milliseconds: Word) -> None:
        self.runtime.advance(int(milliseconds.text) / 1000)

    def do_refresh_environment(self, line: Line) -> None:
        self.runtime.refresh_environment()

    def do_mark(self, line: Line, name: Word) -> None:
        self.runtime.mark(name.text)

    def do_unmark(self, line: Line, name: Word) -> None:
        self.runtime.unmark(name.text)

    def do_rollback(self, line: Line, to: Word) -> None:
        if self.open is not None:
            self.open.rollback(self.runtime.generation - 1 if to.text == "former" else self.runtime.marked(to.text))
        else:
            self.runtime.rollback(to=self.runtime.generation - 1 if to.text == "former" else to.text)

    def do_kept(self, line: Line, count: Word) -> None:
        kept = len(self.runtime.history)
        if kept != int(count.text):
            raise Wrong(f"{line.place}: {kept} are kept")

    def do_subscribe(self, line: Line, name: Word, *_: Word) -> None:
        given: dict[str, Any] = {label: line.labelled(label) for label in ("key", "type") if line.labelled(label)}
        if (path := line.labelled("object")) is not None:
            given["object"] = self.names.at(path)
        hearer = self.hearers.setdefault(name.text, Hearer(name.text, bool(given), world.world))
        made = self.runtime.observe(hearer.hear, **given)
        if hearer.observers and hearer.observers[0] is not made:
            raise Wrong(f"{line.place}: {name.text!r} subscribes to something else")
        hearer.observers[:] = [made]

    def do_unsubscribe(self, line: Line, name: Word) -> None:
        if name.text not in self.hearers:
            raise Wrong(f"{line.place}: nothing is subscribed as {name.text!r}")
        self.hearers.pop(name.text).observers[0].close()
