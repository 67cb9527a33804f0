"""Numbers of enumerations that Python has no class for."""

from __future__ import annotations


class Enumeration(int):
    """A named number of an enumeration that Python has no class for: an ``int`` with a ``name``."""

    name: str | None

    def __new__(cls, number: int, name: str | None = None) -> Enumeration:
        self = super().__new__(cls, number)
        self.name = name
        return self

    def __repr__(self) -> str:
        return f"Enumeration({int(self)}, {self.name!r})"
