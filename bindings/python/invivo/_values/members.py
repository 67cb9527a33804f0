"""Members of enumerations as documents write them: by their values, else by their names. The nearest of names."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

_WRITTEN = (bool, int, float, str)


class Members:
    """Finds the members of one class."""

    __slots__ = ("_values", "cls", "names", "words")

    def __init__(self, cls: type[enum.Enum]) -> None:
        self.cls, self.names = cls, cls.__members__
        self._values: dict[Any, enum.Enum] = {}
        for each in cls:
            for base in _WRITTEN:  # the value of a member may be of a class of its own
                if isinstance(each.value, base):
                    self._values.setdefault((base, base(each.value)), each)
                    break
        values = [value for kind, value in self._values if kind is str]
        # The strings that stand for members.
        self.words = [*values, *(name for name in self.names if name not in values)]

    def find(self, written: Any) -> enum.Enum | None:
        """Returns the member with a value, else the one with a name; None without one."""
        if not isinstance(written, _WRITTEN):
            return None
        found = self._values.get((type(written), written))
        if found is None and type(written) is int:
            found = self._values.get((float, written))
        return self.names.get(written) if found is None and isinstance(written, str) else found

    @property
    def accepted(self) -> str:
        """The values that a document may contain, for errors: ``'r', 'g' (or by name: RED, GREEN)``."""
        values = [repr(value) for _, value in self._values]
        names = [name for name in self.names if (str, name) not in self._values]
        if not values:
            return ", ".join(names)
        return ", ".join(values) + (f" (or by name: {', '.join(names)})" if names else "")

    def choices(self, numbers: dict[str, int]) -> tuple[tuple[str, int], ...]:
        """Returns the strings that stand for members, with the numbers of the members. ``numbers``: by the names.

        The first string of each member comes first: its name, unless that is the value of another member.
        """
        first: dict[str, int] = {}
        further: dict[str, int] = {}
        for each in self.cls:
            mine = [word for word in (each.name, each.value) if isinstance(word, str) and self.find(word) is each]
            first.setdefault(str(mine[0]) if mine else f"{each.name}={each.value}", numbers[each.name])
            further.update((str(word), numbers[each.name]) for word in mine[1:])
        for name, each in self.names.items():
            if name != each.name and self.find(name) is each:  # another name of the member
                further[name] = numbers[each.name]
        return tuple((first | {word: number for word, number in further.items() if word not in first}).items())


def nearest(name: Any, known: Iterable[Any]) -> str:
    """Returns "; did you mean 'x'?", or nothing."""
    if not isinstance(name, str):
        return ""
    import difflib  # for messages alone

    found = difflib.get_close_matches(name, [each for each in known if isinstance(each, str)], 1)
    return f"; did you mean {found[0]!r}?" if found else ""
