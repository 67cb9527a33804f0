"""The mark of secret values in annotations."""

from __future__ import annotations

import typing
from typing import Annotated, Any, Final, TypeVar

T = TypeVar("T")


class SecretMark:
    """The class of `secret`."""

    def __repr__(self) -> str:
        return "invivo.secret"


secret: Final = SecretMark()
"""In ``Annotated[str, invivo.secret]``: errors, warnings and reports do not show the value."""

Secret = Annotated[T, secret]
"""``password: invivo.Secret[str]`` is ``password: Annotated[str, invivo.secret]``: a string that nothing shows.

It marks a field of settings, a tunable, an attribute or a parameter of a constructor. The value itself is a plain one,
which the program must not print.
"""


def is_secret_class(cls: Any) -> bool:
    """Whether a class is one for secrets (`pydantic.SecretStr`, `pydantic.SecretBytes`)."""
    return hasattr(cls, "get_secret_value")


def has_secret(annotation: Any) -> bool:
    """Whether an annotation, or a part of it, is marked as secret."""
    if any(isinstance(note, SecretMark) for note in getattr(annotation, "__metadata__", ())):
        return True
    return is_secret_class(annotation) or any(map(has_secret, typing.get_args(annotation)))
