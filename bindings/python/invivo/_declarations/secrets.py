"""The mark of secret values in annotations."""

from __future__ import annotations

from typing import Annotated, Final, TypeVar

T = TypeVar("T")


class SecretMark:
    """The class of `secret`."""

    def __repr__(self) -> str:
        return "invivo.secret"


secret: Final = SecretMark()
"""In ``Annotated[str, invivo.secret]``: errors, warnings and reports do not show the value."""

Secret = Annotated[T, secret]
"""``password: invivo.Secret[str]`` is ``password: Annotated[str, invivo.secret]``: a string that nothing shows.

It marks a field of settings. The value itself is a plain one, which the program must not print.
"""
