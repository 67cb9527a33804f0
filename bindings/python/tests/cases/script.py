"""Case files: lines that stand below each other by indentation, made of words."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

_TEXT = re.compile(r'[^ \t(),"=]+')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


class Unreadable(Exception):
    """A case that is written wrongly."""


@dataclasses.dataclass(frozen=True)
class Word:
    """``text``, ``"quoted text"`` or ``call(word, word)``, with a label where it says ``label=word``."""

    text: str
    label: str | None = None
    quoted: bool = False
    items: tuple[Word, ...] | None = None  # of a call

    @property
    def is_call(self) -> bool:
        return self.items is not None

    @property
    def inside(self) -> tuple[Word, ...]:
        return self.items or ()

    @property
    def event(self) -> str:
        """``Page.note(after)`` as it is heard."""
        return f"{self.text}({self.inside[0].text})" if self.inside else self.text


@dataclasses.dataclass
class Line:
    file: Path
    number: int
    words: tuple[Word, ...] = ()
    result: str | None = None  # of "result = statement"
    raw: str | None = None  # of "| text"
    below: list[Line] = dataclasses.field(default_factory=list)

    @property
    def verb(self) -> str:
        return self.words[0].text if self.words and not self.words[0].quoted else ""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.number}"

    @property
    def text(self) -> str:
        """The lines ``| text`` below."""
        return "".join(f"{each.raw}\n" for each in self.below if each.raw is not None)

    def labelled(self, label: str) -> str | None:
        """The text of the word with a label."""
        return next((each.text for each in self.words if each.label == label), None)

    def says(self, text: str) -> bool:
        return any(each.label is None and each.text == text for each in self.words[1:])


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    file: Path
    lines: tuple[Line, ...]
    left_out: str | None  # why this language leaves it out


class _Reader:
    """Reads one line from left to right."""

    def __init__(self, text: str, line: Line) -> None:
        self.text, self.line, self.at = text, line, 0

    def wrong(self, what: str) -> Unreadable:
        return Unreadable(f"{self.line.place}: {what}: {self.text[self.at :]}")

    def next(self, text: str) -> bool:
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def spaces(self) -> None:
        while self.next(" "):
            pass

    def word(self) -> Word:
        quoted = _QUOTED.match(self.text, self.at)
        if quoted is not None:
            self.at = quoted.end()
            return Word(_ESCAPED.sub(lambda one: "\n" if one[1] == "n" else one[1], quoted[1]), quoted=True)
        plain = _TEXT.match(self.text, self.at)
        if plain is None:
            raise self.wrong("a word is wanted")
        self.at = plain.end()
        if self.text[self.at : self.at + 1] == "=" and self.text[self.at + 1 : self.at + 2] not in ("", " "):
            self.at += 1
            return dataclasses.replace(self.word(), label=plain[0])
        if not self.next("("):
            return Word(plain[0])
        items = []
        self.spaces()
        while not self.next(")"):
            items.append(self.word())
            self.spaces()
            if self.next(","):
                self.spaces()
            elif not self.text.startswith(")", self.at):
                raise self.wrong("',' or ')' is wanted")
        return Word(plain[0], items=tuple(items))

    def words(self) -> None:
        words: list[Word] = []
        while self.at < len(self.text) and self.text[self.at] != "#":
            if self.text[self.at] == "=" and len(words) == 1 and self.line.result is None:
                self.line.result, words, self.at = words[0].text, [], self.at + 1
            else:
                words.append(self.word())
            if self.at < len(self.text) and self.text[self.at] != " ":
                raise self.wrong("a space is wanted")
            self.spaces()
        self.line.words = tuple(words)


def read(file: Path) -> list[Line]:
    """The lines of a file that stand below no other."""
    top: list[Line] = []
    above = [top]
    for number, text in enumerate(file.read_text().splitlines(), 1):
        bare = text.lstrip(" ")
        if not bare or bare.startswith("#"):
            continue
        line = Line(file, number)
        depth, rest = divmod(len(text) - len(bare), 4)
        if rest or depth >= len(above):
            raise Unreadable(f"{line.place}: lines are indented by four spaces: {text}")
        if bare.startswith("|"):
            line.raw = bare[1:].removeprefix(" ")
        else:
            _Reader(bare, line).words()
        above[depth].append(line)
        above[depth + 1 :] = [line.below]
    return top


def cases(file: Path, language: str) -> Iterator[Case]:
    """The cases of a file."""
    name, lines, why = "", list[Line](), None
    for line in read(file):
        texts = [each.text for each in line.words]
        if line.verb == "case":
            if len(texts) != 2:
                raise Unreadable(f"{line.place}: 'case NAME' is wanted")
            if name:
                yield Case(name, file, tuple(lines), why)
            name, lines, why = texts[1], [], None
        elif not name:
            raise Unreadable(f"{line.place}: 'case NAME' is wanted")
        elif line.verb == "not":
            if len(texts) < 4 or texts[1] != "in":
                raise Unreadable(f"{line.place}: 'not in LANGUAGE \"why\"' is wanted")
            why = texts[3] if texts[2] == language else why
        elif line.verb != "rule":
            lines.append(line)
    if name:
        yield Case(name, file, tuple(lines), why)
