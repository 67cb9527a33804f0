"""The kinds of changes, causes, warnings and phases of reloads: the constants of C, by their names in lower case.

"unknown" stands for a constant that only a newer library has; for a warning that is "other".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from .. import _generated as c

CauseKind = Literal[
    "file",
    "document",
    "close",
    "define",
    "remove",
    "set",
    "configure",
    "reset",
    "reset_scope",
    "override",
    "override_end",
    "activate",
    "deactivate",
    "mount",
    "attach",
    "detach",
    "clear",
    "process",
    "unprocess",
    "rule",
    "rule_remove",
    "rollback",
    "type",
    "manifest",
    "overtaken",
    "more",
    "trait",
    "trait_remove",
    "environment",
    "bind",
    "unbind",
    "unknown",
]
ChangeKind = Literal[
    "defined",
    "removed",
    "remade",
    "reinjected",
    "tuned",
    "pending",
    "configured",
    "dormant",
    "cleared",
    "kept",
    "unknown",
]
NoticeKind = Literal[
    "other",
    "kept",
    "adjusted",
    "foreign",
    "unread",
    "renamed",
    "no_target",
    "refused",
    "unrestored",
    "setup",
    "retyped",
    "diverged",
    "unknown_trait",
    "skipped",
]
Origin = Literal[
    "none", "file", "document", "call", "assembly", "manifest", "override", "rollback", "environment", "unknown"
]
ProgressPhase = Literal["detected", "planned", "committed", "refused", "unchanged", "retired", "unknown"]


def _named(prefix: str) -> dict[int, Any]:
    return {
        number: name.removeprefix(prefix).lower()
        for name, number in vars(c).items()
        if name.startswith(prefix) and not name.endswith("_COUNT")
    }


CAUSES: Final[Mapping[int, CauseKind]] = _named("INVIVO_CAUSE_")
CHANGES: Final[Mapping[int, ChangeKind]] = _named("INVIVO_CHANGED_")
NOTICES: Final[Mapping[int, NoticeKind]] = _named("INVIVO_WARNING_")
ORIGINS: Final[Mapping[int, Origin]] = _named("INVIVO_ORIGIN_")
PHASES: Final[Mapping[int, str]] = _named("INVIVO_PHASE_")
PROGRESS: Final[Mapping[int, ProgressPhase]] = _named("INVIVO_PROGRESS_")
