"""Facts about keys, as the library has them: what overrides, replaces or removes a definition counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _generated as c
from ._describe import Parameter
from ._exact import Exact
from ._hints import Hint
from .errors import ArityError

if TYPE_CHECKING:
    from ._core import Core
    from ._definitions import Definition

Known: TypeAlias = "After"
Target: TypeAlias = "Definition | Facts"


@dataclasses.dataclass(frozen=True)
class Facts:
    """The definition that is in force for a key."""

    key: str
    makes: type | str | None  # a class, or the name of another language's type
    scope: int  # INVIVO_SCOPE_...
    making: str
    file: str
    line: int
    arguments: tuple[Parameter, ...]  # the runtime arguments
    stays: bool  # only objects of Python receive the runtime arguments

    @property
    def is_shared(self) -> bool:
        """Whether the graph holds its object."""
        return self.scope in (c.INVIVO_SCOPE_SINGLETON, c.INVIVO_SCOPE_LAZY_SINGLETON)

    def bind(self, positional: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Runtime arguments in order. The library completes arguments that are left out at the end."""
        given = list(positional)
        if not named:
            return given
        names = [each.name for each in self.arguments]
        left = dict(named)
        last = max((names.index(name) for name in named if name in names), default=-1)
        for index, each in enumerate(self.arguments[len(given) : last + 1], len(given)):
            if each.name in left:
                given.append(left.pop(each.name))
            elif each.optional:
                given.append(each.default.fresh() if isinstance(each.default, Exact) else each.default)
            else:
                raise self._misfit(f"missing a required argument: {each.name!r}")
            assert len(given) == index + 1
        for name in left:
            twice = name in names
            raise self._misfit(
                f"multiple values for argument {name!r}" if twice else f"got an unexpected keyword argument {name!r}"
            )
        return given

    def _misfit(self, problem: str) -> ArityError:
        said = ", ".join(each.name for each in self.arguments)
        return ArityError(f"{self.key}({said}): {problem}", path=self.key, file=self.file, line=self.line)


def described(core: Core, key: str, said: Mapping[str, Any], written: Definition | None) -> Facts:
    """What `invivo_key_describe` says. ``written``: what Python last wrote for the key, which has more to say of the
    runtime arguments if it is the definition in force."""
    arguments = tuple(_parameter(core, each) for each in said["parameters"])
    if (
        written is not None
        and (written.file, written.line) == (said["file"], said["line"])
        and [each.name for each in written.arguments] == [each.name for each in arguments]
    ):
        arguments = tuple(
            dataclasses.replace(each, hint=own.hint) for each, own in zip(arguments, written.arguments, strict=True)
        )
    kind, receivers = said["type"], said["receivers"]
    return Facts(
        key,
        kind if kind is None or isinstance(kind, type) else kind.name,
        said["scope"],
        said["making"],
        said["file"],
        said["line"],
        arguments,
        receivers is not None and all(isinstance(each, type) for each in receivers),
    )


def _parameter(core: Core, said: Mapping[str, Any]) -> Parameter:
    hint = Hint(kind=said["kind"], optional=said["optional"], wanted=core.names.get(said["type"] or ""))
    return Parameter(said["name"], hint, "default" in said, False, said.get("default"))


class After:
    """Keys as they will be when some definitions have been added and others removed."""

    def __init__(self, core: Core, new: Mapping[str, Definition], gone: Iterable[str] = ()) -> None:
        self._core, self._new, self._gone = core, new, set(gone)

    def get(self, key: str) -> Target | None:
        found = self._new.get(key)
        return found if found is not None or key in self._gone else self._core.facts(key)
