"""Statements of files, rollbacks and marks."""

from __future__ import annotations

import pathlib
import tempfile

import invivo

from .build import Wrong
from .script import Line, Word


class History:
    runtime: invivo.Runtime
    open: invivo.Changes | None
    sources: dict[str, invivo.Source]
    folder: tempfile.TemporaryDirectory[str] | None

    def file(self, name: str) -> pathlib.Path:
        self.folder = self.folder or tempfile.TemporaryDirectory()
        return pathlib.Path(self.folder.name) / name

    def do_write(self, line: Line, name: Word) -> None:
        self.file(name.text).write_text(line.text)

    def do_follow(self, line: Line, name: Word) -> None:
        self.sources[name.text] = self.runtime.watch(self.file(name.text))

    def do_refresh(self, line: Line, name: Word, *_: Word) -> None:
        self.sources[name.text].refresh(retry=line.says("retry"))

    def do_unfollow(self, line: Line, name: Word) -> None:
        self.sources[name.text].close()

    def do_diverged(self, line: Line, *names: Word) -> None:
        diverged = sorted(pathlib.Path(each.name).name for each in self.runtime.sources if each.diverged)
        if diverged != sorted(each.text for each in names):
            raise Wrong(f"{line.place}: these have diverged: {diverged}")

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
