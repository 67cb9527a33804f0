"""Changes of the configuration in a change set: values and secret paths."""

from __future__ import annotations

from typing import Any

from .._native import strings
from .._services import config
from .._state.contents import Contents
from .._state.core import Core


class ConfigChanges:
    """The changes of a set that concern the configuration."""

    _core: Core
    _contents: Contents

    def _open(self) -> None:
        raise NotImplementedError

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

    def configure(self, path: str, value: Any) -> None:
        """Sets the configuration at a whole path, above the documents; None removes the value that is there."""
        self._open()
        self._contents.others.append(
            lambda changes: config.configure(self._core, changes, path, value, is_described=True)
        )

    def unconfigure(self, path: str) -> None:
        """Reverts `configure` for the path and everything below it: the documents count again."""
        self._open()
        self._contents.others.append(
            lambda changes: config.configure(self._core, changes, path, None, is_described=False)
        )
