"""The handles of one runtime, as the conversion of values needs them."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from .._native.leases import CallableCell, ObjectCell
from .._native.session import Session
from .exact import Exact


class Handles(Session):
    """Gives handles for Python's objects, types and functions, and returns the Python objects of handles."""

    # ---- to the library ----------------------------------------------------------------------------------

    @abc.abstractmethod
    def is_object(self, thing: Any) -> bool:
        """Whether the library knows the object, or objects of its class."""

    @abc.abstractmethod
    def lease(self, thing: Any, cell: ObjectCell) -> ObjectCell:
        """Returns a handle for any object, with a lease in the cell."""

    @abc.abstractmethod
    def known_exact(self, exact: Exact) -> Exact:
        """Returns the wrapper of an equal value that the library has, so that it finds runtime arguments equal."""

    @abc.abstractmethod
    def lease_callable(self, function: Callable[..., Any], cell: CallableCell) -> CallableCell:
        """Returns a handle for a function, with a lease in the cell."""

    @abc.abstractmethod
    def is_type(self, thing: Any) -> bool:
        """Whether it is the handle of a type."""

    @abc.abstractmethod
    def type_bits(self, thing: Any) -> int:
        """Returns the number of a type, by its Python class or handle."""

    # ---- from the library --------------------------------------------------------------------------------

    @abc.abstractmethod
    def receive(self, bits: int) -> Any:
        """Returns the Python object of a borrowed handle."""

    @abc.abstractmethod
    def receive_value(self, bits: int) -> Any:
        """Does the same for a value: an object that crossed as a wrapper is unwrapped."""

    @abc.abstractmethod
    def receive_type(self, bits: int) -> Any:
        """Returns the class of a type, or the handle of a type of another language."""

    @abc.abstractmethod
    def receive_callable(self, bits: int) -> Callable[..., Any] | None:
        """Returns the function of a borrowed handle."""

    @abc.abstractmethod
    def take(self, cell: ObjectCell, *, shared: bool = False) -> Any:
        """Returns the Python object of a leased handle. ``shared``: the graph holds the object too."""

    @abc.abstractmethod
    def key_of_object(self, bits: int) -> str:
        """Returns the key that an object was created for, or ""."""
