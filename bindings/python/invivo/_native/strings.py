"""Strings as the library takes and gives them: UTF-8, mostly terminated by NUL."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from ..errors import EncodingError, WrongTypeError

T = TypeVar("T")


def text_bytes(text: str, what: str = "text") -> bytes:
    """Returns a string as UTF-8. A lone surrogate is an error, not a replacement."""
    if not isinstance(text, str):
        raise WrongTypeError(f"{what} is a str, not {text!r}")
    try:
        return text.encode()
    except UnicodeEncodeError as problem:
        raise EncodingError(f"{what} {text!r} cannot be written as UTF-8: {problem.reason}") from None


def name_bytes(text: str, what: str = "name") -> bytes:
    """Returns a string for a NUL-terminated parameter. A NUL inside would cut it, so that is an error."""
    if isinstance(text, str) and "\0" in text:
        raise EncodingError(f"{what} {text!r} has a NUL in it")
    return text_bytes(text, what)


def listed(given: Iterable[T], what: str, example: str) -> list[T]:
    """Returns the items of a list. A single string is an error, because it would be taken as its letters."""
    if isinstance(given, (str, bytes, os.PathLike)) or not isinstance(given, Iterable):
        raise WrongTypeError(f"{what} is a list, such as {example}, not {given!r}")
    return list(given)


def path_bytes(path: str | os.PathLike[str]) -> bytes:
    """Returns a path in the encoding of the file system."""
    data = os.fsencode(path)
    if b"\0" in data:
        raise EncodingError(f"the path {os.fspath(path)!r} has a NUL in it")
    return data


def text(data: bytes | None) -> str:
    """Decodes a string of the library; NULL is empty."""
    return data.decode("utf-8", "replace") if data else ""


def encode(value: str) -> bytes:
    """Encodes a message for the library. Every string is accepted."""
    return value.replace("\0", "\\0").encode("utf-8", "backslashreplace")
