"""Deferred references: annotations for parameters that receive a callable instead of the object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic

from .recipes import T_co


class Provider(Generic[T_co]):
    """Creates or finds a ``T`` each time it is called. Its arguments are those of the definition behind it."""

    def __call__(self, *arguments: Any) -> T_co:
        raise TypeError("an invivo.Provider comes from a runtime: annotate a parameter or an attribute with it")


class Lazy(Generic[T_co]):
    """A ``T`` that is resolved at its first use, and again after a reload has changed it."""

    __slots__ = ("_resolve",)

    def __init__(self, resolve: Callable[[], T_co]) -> None:
        self._resolve = resolve

    @property
    def value(self) -> T_co:
        return self._resolve()

    def __call__(self) -> T_co:
        return self._resolve()

    def __repr__(self) -> str:
        return "<invivo.Lazy>"


class Weak(Generic[T_co]):
    """Returns the existing ``T`` when it is called, or None. Its arguments are those of the definition behind it.

    It creates nothing and keeps nothing alive.
    """

    def __call__(self, *arguments: Any) -> T_co | None:
        raise TypeError("an invivo.Weak comes from a runtime: annotate a parameter or an attribute with it")


class Resolver:
    """Resolves the key that it is called with. Further arguments are passed on."""

    def __call__(self, key: str, *arguments: Any) -> Any:
        raise TypeError("an invivo.Resolver comes from a runtime: annotate a parameter or an attribute with it")
