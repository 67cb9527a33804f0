"""Definitions that Python has given the library, for what the library does not keep of them.

Which definition is in force for a key, the library knows (`_facts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._definitions import Definition


class Given:
    """Definitions that Python has written."""

    def __init__(self) -> None:
        self._by_key: dict[str, Definition] = {}
        self.inline: dict[str, Definition] = {}  # what stands in the recipe of another

    def get(self, key: str) -> Definition | None:
        return self._by_key.get(key)

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def put(self, made: Definition) -> None:
        self.drop(made.key)
        self._by_key[made.key] = made
        if made.owner:
            self.inline[made.key] = made

    def drop(self, key: str) -> None:
        self._by_key.pop(key, None)
        self.inline.pop(key, None)

    def clear(self) -> None:
        self._by_key.clear()
        self.inline.clear()
