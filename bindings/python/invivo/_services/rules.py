"""Rules: functions of values that each generation satisfies."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from .. import _generated as c
from .._classes.callables import check_callback, place_of
from .._native import callbacks, strings
from .._objects.objects import Objects
from .._values import conversion
from .._values.fields import dataclass
from ..errors import ArgumentError, Refused, WrongTypeError


@dataclass(frozen=True, eq=False)
class Rule:
    name: str
    inputs: tuple[str, ...]
    function: Callable[..., Any]

    def give(self, core: Objects, changes: c.invivo_changes) -> None:
        """Adds it to a change set of the library."""
        options = c.invivo_rule()
        options.struct_size = ctypes.sizeof(options)
        options.name = strings.name_bytes(self.name)
        names = (ctypes.c_char_p * len(self.inputs))(*(strings.name_bytes(each, "input") for each in self.inputs))
        options.inputs = ctypes.cast(names, type(options.inputs))
        options.input_count = len(self.inputs)
        options.check, options.destroy = _check.of(core.library), callbacks.destroy.of(core.library)
        options.user_data = number = callbacks.enroll(_Item(core, self))
        try:
            core.library.call("changes_add_rule", changes, ctypes.byref(options))
        except BaseException:
            callbacks.dismiss(number)
            raise


def rule(name: str | None, inputs: Sequence[str], function: Callable[..., Any]) -> Rule:
    """Describes a rule. Its name is by default that of the function, with its module."""
    if isinstance(inputs, str) or not all(isinstance(each, str) for each in inputs):
        raise ArgumentError(f"the inputs of a rule are names in a list, such as ['audio.rate'], not {inputs!r}")
    advice = "a rule must return its answer at once: give a function that only looks at its arguments"
    check_callback(function, tuple(inputs), "a rule", advice)
    return Rule(str(name if name is not None else _name_of(function)), tuple(inputs), function)


def _name_of(function: Any) -> str:
    """Returns the name of a function that no other function of the program has."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}".replace("<locals>.", "")


def check_answer(answer: Any, what: str, function: Any) -> None:
    """Checks the answer of a rule or check: None or True accepts the values, False refuses them."""
    if answer is None:
        return
    if type(answer).__name__ not in ("bool", "bool_"):  # the latter is that of numpy
        raise WrongTypeError(
            f"the {what} returned {answer!r}; expected None or True to accept the values, or False to refuse them "
            "(raise invivo.Refused to give a reason)",
            **place_of(function),
        )
    if not answer:
        raise Refused(f"the {what} does not hold")


class _Item:
    def __init__(self, core: Objects, rule: Rule) -> None:
        self.core, self.rule = core, rule


@callbacks.returns_status(c.invivo_rule, "check", user_data=3, is_located=True)
def _check(item: _Item, values: Any, count: int, at: Any, _: int, error: Any) -> None:
    rule = item.rule
    try:
        answer = rule.function(*(conversion.read(item.core, values[index]) for index in range(count)))
    except Refused as refused:
        if isinstance(refused.input, int):
            at[0] = max(refused.input, 0)
        elif refused.input in rule.inputs:
            at[0] = rule.inputs.index(refused.input)
        raise
    check_answer(answer, "rule", rule.function)
