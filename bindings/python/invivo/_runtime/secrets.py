"""Secret paths in change sets."""

from __future__ import annotations

from typing import Any

from .._native import strings


class SecretChanges:
    """The changes of a set that concern secrets."""

    def _other(self, function: str, *arguments: Any) -> None:
        raise NotImplementedError

    def add_secret(self, path: str) -> None:
        """Declares a configuration path as secret, with everything below it.

        Errors, warnings, reports, logs and graphs show its values as ``<secret>``, and messages of rules and validators
        about them are dropped. Reads and injections give the values.
        """
        self._other("changes_add_secret", strings.name_bytes(path, "path"))

    def remove_secret(self, path: str) -> None:
        """Revokes `add_secret`."""
        self._other("changes_remove_secret", strings.name_bytes(path, "path"))
