"""The errors of the tool: as lines that look like those of compilers, or as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Error
from .app import explain

VERSION = 1  # of the JSON form: members are only added to it; any other change has another number


def diagnostic(error: BaseException) -> str:
    """``FILE:LINE:COLUMN: error: PATH: MESSAGE [RULE]``, or ``invivo: error: ...`` without a file."""
    place, rest = _parts(error)
    rule = getattr(error, "rule", "")
    return f"{f'{place}: ' if place else 'invivo: '}error: {rest}" + (f" [{rule}]" if rule else "")


def diagnostics(problem: BaseException) -> list[str]:
    """A line for each error."""
    return [diagnostic(each) for each in _errors(problem)]


@dataclass(frozen=True)
class Warned:
    """An entry of the log of a check."""

    level: str
    message: str
    fields: Mapping[str, Any]

    @property
    def diagnostic(self) -> str:
        """``FILE:LINE:COLUMN: warning: MESSAGE``, or ``invivo: warning: MESSAGE`` without a file."""
        if place := self._place:
            return f"{place}{self.level}: {self.message.removeprefix(place)}"
        more = "".join(f" {name}={value}" for name, value in sorted(self.fields.items()))
        return f"invivo: {self.level}: {self.message}{more}"

    @property
    def entry(self) -> dict[str, Any]:
        """The members in JSON."""
        place = {name: self.fields.get(name) or None for name in ("file", "line", "column")}
        return place | {"message": self.message.removeprefix(self._place)}

    @property
    def _place(self) -> str:
        parts = [str(part) for name in ("file", "line", "column") if (part := self.fields.get(name))]
        return ":".join(parts) + ": " if parts else ""


def as_json(
    problem: BaseException | None = None,
    unread: Sequence[str] | None = None,
    warnings: Sequence[Warned] | None = None,
) -> str:
    """All errors as one JSON object. ``unread``: lines ``FILE:LINE:COLUMN: PATH``."""
    found: dict[str, Any] = {"version": VERSION, "errors": []}
    if problem is not None:
        found["errors"] = [_entry(each) for each in _errors(problem)]
    if warnings is not None:
        found["warnings"] = [each.entry for each in warnings]
    if unread is not None:
        found["unread"] = [_value(line) for line in unread]
    return json.dumps(found, ensure_ascii=False)


def _errors(problem: BaseException) -> Sequence[BaseException]:
    return problem.errors if isinstance(problem, Error) else [problem]


def _parts(error: BaseException) -> tuple[str, str]:
    """The source location, and the rest of the text."""
    if not isinstance(error, Error):
        return "", explain(error)
    place = ":".join(str(part) for part in (error.file, error.line, error.column) if part) if error.file else ""
    text = explain(error)
    return (place, text.removeprefix(f"{place}: ")) if place else ("", text)


def _entry(error: BaseException) -> dict[str, Any]:
    rest = _parts(error)[1]
    if not isinstance(error, Error):
        place: dict[str, Any] = dict.fromkeys(("file", "line", "column", "path"))
        return place | {"code": "host", "rule": None, "message": rest}
    return {
        "file": error.file or None,
        "line": error.line or None,
        "column": error.column or None,
        "path": error.path or None,
        "code": error.constant.removeprefix("INVIVO_E_").lower(),
        "rule": error.rule or None,
        "message": rest.removeprefix(f"{error.path}: ") if error.path else rest,
    }


def _value(line: str) -> dict[str, Any]:
    match = re.match(r"(.*?)(?::([0-9]+):([0-9]+))?: (.*)", line)
    file, number, column, path = match.groups() if match else (None, None, None, line)
    return {
        "file": file or None,
        "line": int(number) if number else None,
        "column": int(column) if column else None,
        "path": path,
    }
