"""The mark of parameters and attributes that receive values of contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from .context_kinds import ContextKind, Key, kind_of, name_of

T = TypeVar("T")


class FromContextMark:
    """Marks a parameter or attribute that receives a value of the context in which its object lives::

        class Handler:
            def __init__(self, user: FromContext[User], theme: Annotated[str, FromContext("ui.theme")] = "light"): ...

    The key is that of the mark, else the name of the parameter or attribute. ``kind``: the value is that of the nearest
    context of this kind. A default of the parameter applies where no context has the value. A missing value is an
    error, except for an optional one (``User | None``), which is None.
    """

    __slots__ = ("key", "kind")

    def __init__(self, key: Key | None = None, *, kind: str | ContextKind | None = None) -> None:
        if key is not None:
            name_of(key)  # which checks it
        self.key = key
        self.kind = None if kind is None else kind_of(kind).name

    def __class_getitem__(cls, annotation: Any) -> Any:
        return Annotated[annotation, cls()]

    def key_for(self, name: str) -> Key:
        """Returns the key for a parameter or attribute of this name."""
        return name if self.key is None else self.key


if TYPE_CHECKING:
    FromContext = Annotated[T, FromContextMark()]
else:
    FromContext = FromContextMark
    FromContext.__name__ = FromContext.__qualname__ = "FromContext"
