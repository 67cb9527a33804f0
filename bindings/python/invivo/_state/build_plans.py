"""Build plans: graphs of Python objects, each created by a generated function, without the library.

A key that is resolved a second time gets a build plan if the library can outline its graph (`invivo_key_outline`). The
outline becomes the source of a Python function, compiled once for a version of the key. Shared objects are constants of
the function, so a plan creates graphs of one generation and is dropped with it. The library resolves everything that a
plan cannot do. A constructor that uses the runtime must find the objects that its graph shares, so a plan that meets
such a constructor is given up.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import _generated as c
from .._classes.annotations import is_protocol
from .._classes.callables import Parameter, is_left_out
from .._classes.hints import Hint, same
from .._native import callbacks, signals
from .._native.activity import FILE, GivenUp, position
from .._objects.objects import Objects
from .._planning.descriptors import FactoryItem, factory_address, may_answer
from .._values import conversion
from .._values.exact import Exact, copied
from ..errors import BusyError, Error, WrongTypeError, error_class

if TYPE_CHECKING:
    Make = Callable[..., Any]

_TRIES = 8
_PATIENCE = 5.0  # seconds
_PLAIN = frozenset((bool, float, bytes))
_MUTABLE = (list, dict, set, bytearray)


class Unplanned(Exception):
    """The reason why there can be no build plan."""


class Plan:
    """A generated function, and the version of the key for which it is valid."""

    __slots__ = ("defaults", "make", "takes", "version", "word")

    def __init__(
        self, make: Make, takes: int, word: ctypes.c_uint64, version: int, defaults: tuple[Any, ...] = ()
    ) -> None:
        self.make, self.takes, self.word, self.version = make, takes, word, version
        self.defaults = defaults  # of the last runtime arguments

    def completed(self, arguments: Sequence[Any]) -> Sequence[Any] | None:
        """Returns runtime arguments with the defaults of missing ones, or None if there are too few or too many."""
        missing = self.takes - len(arguments)
        if not missing:
            return arguments
        if not 0 < missing <= len(self.defaults):
            return None
        return [*arguments, *map(_arrived, self.defaults[len(self.defaults) - missing :])]

    @property
    def holds(self) -> bool:
        return bool(self.word.value == self.version)


def _arrived(default: Any) -> Any:
    """Returns the value of a default as its receiver gets it."""
    return default.fresh() if isinstance(default, Exact) else copied(default)


class Plans:
    """The build plans of one runtime."""

    def __init__(self, core: Objects, epoch: Callable[[], int]) -> None:
        self.core, self._epoch = core, epoch
        self.ready: dict[Any, Make] = {}  # by the requested class or name
        self.taking: dict[str, Plan] = {}  # those with runtime arguments, by name
        self.by_name: dict[str, Plan] = {}
        self.tried: dict[str, tuple[int, int]] = {}  # the version, and how often
        self.over = False

    def find(self, name: str) -> Plan | None:
        plan = self.by_name.get(name)
        return plan if plan is not None and plan.holds else None

    def purge(self) -> None:
        """Drops plans that are outdated."""
        self.ready.clear()
        for name, plan in list(self.by_name.items()):
            if not plan.holds:
                self._drop(name, plan)

    def _drop(self, name: str, plan: Plan) -> None:
        for table in (self.by_name, self.taking):
            if table.get(name) is plan:
                table.pop(name, None)

    def refuse(self, name: str, version: int) -> None:
        """Prevents a plan for this version of the key."""
        self.tried[name] = version, _TRIES
        plan = self.by_name.get(name)
        if plan is not None:
            self._drop(name, plan)
        self.ready.clear()

    def serve(self, key: Any, plan: Plan, epoch: int) -> None:
        """Lets a plan create the objects of a key or class, unless its meaning has changed since an epoch of the
        runtime.
        """
        if epoch & 1:  # a pin may keep a former generation
            return
        self.ready[key] = plan.make
        if epoch != self._epoch():  # counted up before the table is emptied
            self.ready.pop(key, None)

    def consider(
        self,
        key: Any,
        name: str,
        handle: c.invivo_key,
        word: ctypes.c_uint64,
        version: int,
        uses: int,
        epoch: int = 0,
    ) -> None:
        """Creates a plan for a key that was resolved a second time.

        ``uses``: how often the runtime had been used when the resolve began; ``epoch``: the epoch of the runtime at
        that time.
        """
        core = self.core
        known = self.find(name)
        if known is not None:
            if key is not None and not known.takes:
                self.serve(key, known, epoch)
            return
        former, count = self.tried.get(name, (0, 0))
        if former != version:
            count = 0
        self.tried[name] = version, min(count + 1, _TRIES)
        if (
            count == 0
            or count >= _TRIES
            or core.activity.uses != uses
            or core.activity.planning
            or core.activity.calling
            or self.over
            or self._epoch() & 1
        ):
            return
        if core.closed or not core.domain.bits:
            return
        plan = self._compiled(name, handle, word, version)
        if plan is None or not plan.holds:
            return
        self.by_name[name] = plan
        if plan.takes:
            self.taking[name] = plan
        elif key is not None:
            self.serve(key, plan, epoch)
        if not plan.holds or self.over:  # a commit, or close, came in between, and its purge too
            self.purge()

    def _compiled(self, name: str, handle: c.invivo_key, word: ctypes.c_uint64, version: int) -> Plan | None:
        core = self.core
        try:
            outline = conversion.ask(core, "key_outline", core.handle, handle, wrapped=True)
        except Error:
            return None
        if outline is None:
            return None
        try:
            make = Writer(core, name, version, word, outline).function()
        except Exception as problem:  # an unusual class is no reason to fail: the library resolves it
            signals.pass_on(problem)
            self.tried[name] = version, _TRIES
            return None
        parameters = outline["parameters"]
        defaults = tuple(each["default"] for each in parameters if "default" in each)
        return Plan(make, len(parameters), word, version, defaults)

    def forked(self) -> None:
        """In a forked child: prevents further plans."""
        self.over = True
        self.ready.clear()
        self.taking.clear()
        self.by_name.clear()

    def end(self) -> None:
        """Prevents further plans, and waits until none is running."""
        planning = self.core.activity.planning
        if planning and position(planning) == "plan":
            raise error_class(c.INVIVO_E_IN_CALLBACK)("a runtime cannot be closed by code that is creating its objects")
        self.over = True
        self.ready.clear()
        self.taking.clear()
        self.by_name.clear()
        deadline = time.monotonic() + _PATIENCE
        while planning:
            if time.monotonic() > deadline:
                self.over = False
                raise BusyError("the runtime is still making objects, in a constructor that does not return")
            time.sleep(0.001)


class Step:
    """The purpose of a line of a plan, for messages: creating an object, or setting one of its properties."""

    __slots__ = ("file", "key", "line", "outer")

    def __init__(self, key: str, file: str, line: int) -> None:
        self.key, self.file, self.line = key, file, line
        self.outer: Step | None = None  # the step of the object that it is created for


class Failing:
    """Turns an exception of a constructor in a plan into the error that a resolve would have raised."""

    def __init__(self, core: Objects, lines: dict[int, Step]) -> None:
        self.core, self.lines = core, lines

    def __call__(self, problem: BaseException) -> Error | None:
        """Returns None for an exception that is raised as it is: no `Exception`, or raised by a signal handler."""
        if not isinstance(problem, Exception) or problem.__traceback__ is None or signals.is_from_handler(problem):
            return None
        step = self.lines.get(problem.__traceback__.tb_lineno)
        if step is None:
            return None
        needs, outer = [], step.outer
        while outer is not None:
            needs.append((outer.key, outer.file, outer.line))
            outer = outer.outer
        return self.core.library.failures.located(problem, (step.key, step.file, step.line), needs)


class Writer:
    """Writes the function of an outline."""

    def __init__(self, core: Objects, name: str, version: int, word: ctypes.c_uint64, outline: dict[str, Any]) -> None:
        self.core = core
        self.steps: dict[int, Step] = {}  # by the number of the object
        self.described: dict[int, Any] = {}  # the classes of those that have properties
        self.lines: dict[int, Step] = {}  # by the line of the source
        self.source: list[str] = []
        self.bound: dict[int, str] = {}
        self.parameters: list[dict[str, Any]] = outline["parameters"]
        self.space: dict[str, Any] = {
            "__builtins__": {"BaseException": BaseException, "isinstance": isinstance, "type": type},
            "word": word,
            "planning": core.activity.planning,
            "calling": core.activity.calling,
            "push": core.activity.planning.append,
            "pop": core.activity.planning.pop,
            "position": position,
            "given_up": core.activity.given_up,
            "activity": core.activity,
            "is_whole": core.activity.is_whole,
            "GivenUp": GivenUp,
            "failure": Failing(core, self.lines),
            "not_made": not_made,
            "runtimes": core.runtimes,
        }
        arguments = [f"a{index}" for index in range(len(self.parameters))]
        self._line(f"def make({', '.join(['runtime', *arguments])}):", 0)
        checks = [self._check(each, argument) for each, argument in zip(self.parameters, arguments, strict=True)]
        refused = "".join(f" or not ({check})" for check in checks)
        given = f"{name!r}, ({''.join(f'{each}, ' for each in arguments)})"
        self._line(f"if word.value != {version} or (planning or calling) and position(planning){refused}:", 1)
        self._line(f"return runtime._unplanned({given})", 2)
        self._line("try:", 1)
        self._line("push(None)", 2)
        self.space["first"] = len(self.source)
        self._number(outline["steps"])
        for step in outline["steps"]:
            if "make" in step:
                self._make(step)
            else:
                self._set(step)
        self._line("if not given_up or is_whole():", 2)
        self._line("return o0", 3)
        self.space["last"] = len(self.source)
        self._line("except GivenUp:", 1)
        self._line("pass", 2)
        self._line("except BaseException as problem:", 1)
        self._line("error = failure(problem)", 2)
        self._line("if error is None:", 2)
        self._line("raise", 3)
        self._line("raise error from problem", 2)
        self._line("finally:", 1)
        self._line("pop()", 2)
        self._line(f"return runtime._gave_up({version}, {given})", 1)

    def function(self) -> Make:
        exec(compile("\n".join(self.source), FILE, "exec"), self.space)
        make: Make = self.space.pop("make")  # or it would hold itself
        return make

    def _line(self, text: str, depth: int, step: Step | None = None) -> None:
        self.source.append("    " * depth + text)
        if step is not None:
            self.lines[len(self.source)] = step

    def _bind(self, thing: Any) -> str:
        """A name for a thing in the source."""
        if thing is None or type(thing) in (bool, int, str, bytes):
            return repr(thing)
        return self._name(thing)

    def _name(self, thing: Any) -> str:
        name = self.bound.get(id(thing))
        if name is None:
            name = self.bound[id(thing)] = f"t{len(self.bound)}"
            self.space[name] = thing
        return name

    # ---- runtime arguments -------------------------------------------------------------------------------

    def _check(self, parameter: dict[str, Any], name: str) -> str:
        """Returns the condition for an argument to arrive unchanged. The library converts, copies or refuses all
        others.
        """
        kind, wanted = parameter["kind"], parameter["type"]
        match kind:
            case c.INVIVO_KIND_BOOL:
                return f"{name} is True or {name} is False"
            case c.INVIVO_KIND_INT64:
                return f"type({name}) is {self._bind_type(int)} and {-(1 << 63)} <= {name} < {1 << 63}"
            case c.INVIVO_KIND_DOUBLE:
                return f"type({name}) is {self._bind_type(float)}"
            case c.INVIVO_KIND_STRING:
                return f"type({name}) is {self._bind_type(str)} and {name}.isascii()"
            case c.INVIVO_KIND_BYTES:
                return f"type({name}) is {self._bind_type(bytes)}"
            case c.INVIVO_KIND_OBJECT:
                types = self._bind(self.core.types.records)
                if wanted is None:
                    return f"type({name}) in {types}"
                cls = self.core.types.class_named(wanted)
                if cls is None or self.core.types.known_name(cls) != wanted:
                    raise Unplanned("the type of an argument is of another language")
                return f"type({name}) in {types} and isinstance({name}, {self._bind(cls)})"
            case c.INVIVO_KIND_ANY:
                types, plain = self._bind(self.core.types.records), self._bind(_PLAIN)
                whole = f"type({name}) is {self._bind_type(int)} and {-(1 << 63)} <= {name} < {1 << 63}"
                text = f"type({name}) is {self._bind_type(str)} and {name}.isascii()"
                return f"type({name}) in {plain} or {whole} or {text} or type({name}) in {types}"
        raise Unplanned("an argument is copied on its way")

    def _bind_type(self, cls: type) -> str:
        self.space[cls.__name__] = cls
        return cls.__name__

    # ---- values ------------------------------------------------------------------------------------------

    def _expression(self, source: dict[str, Any]) -> str:
        ((how, what),) = source.items()
        match how:
            case "value":
                return self._constant(what)
            case "object":
                return f"o{what}"
            case "argument":
                return f"a{what}"
            case "list":
                return f"[{', '.join(map(self._expression, what))}]"
            case "map":
                return f"{{{', '.join(f'{name!r}: {self._expression(each)}' for name, each in what.items())}}}"
        raise Unplanned(f"a source {how!r} is not known here")

    def _constant(self, value: Any) -> str:
        """Returns the source of a constant. A list or map is created for each object; a subclass is an object."""
        if isinstance(value, Exact):
            return self._name(value.value) if value.is_fixed else f"{self._bind(value.fresh)}()"
        if type(value) is list:
            return f"[{', '.join(map(self._constant, value))}]"
        if type(value) is dict:
            return f"{{{', '.join(f'{name!r}: {self._constant(each)}' for name, each in value.items())}}}"
        return self._bind(value)

    def _arriving(self, source: dict[str, Any], hint: Hint) -> str:
        """Returns the source of a value as the target with this hint gets it."""
        if "argument" in source:
            declared = self.parameters[source["argument"]]
            if hint.kind not in (c.INVIVO_KIND_ANY, declared["kind"]):
                raise Unplanned("an argument is converted on its way")
            wanted = hint.wanted
            if (
                wanted is not None
                and not is_protocol(wanted)
                and wanted is not self.core.types.class_named(declared["type"])
            ):
                raise Unplanned("an argument is checked on its way")
        if hint.decode is same:
            return self._expression(source)
        if "value" in source and not isinstance(source["value"], Exact):
            value = hint.decode(source["value"])
            if not isinstance(value, _MUTABLE):
                return self._bind(value)
        return f"{self._bind(hint.decode)}({self._expression(source)})"

    def _arguments(self, parameters: tuple[Parameter, ...], sources: list[dict[str, Any]]) -> str:
        """Returns the source of arguments, arranged as by `callables.call`."""
        sources = list(sources)
        for index, each in enumerate(parameters):
            if each.hint.late == "runtime":
                sources += [{"left_out": None}] * (index + 1 - len(sources))
        parts = []
        by_name = False
        for index, source in enumerate(sources):
            if index >= len(parameters):
                if by_name:
                    raise Unplanned("an argument has no name")
                parts.append(self._expression(source))
                continue
            parameter = parameters[index]
            if parameter.hint.late == "runtime":
                text = "runtimes[0]"
            elif ("left_out" in source or is_left_out(source.get("value"))) and parameter.has_default:
                by_name = True
                continue
            elif "left_out" in source or source.get("value", source) is None:
                text = "None"
            elif parameter.hint.secret:
                raise Unplanned("the library masks the errors of a function that receives a secret")
            else:
                text = self._arriving(source, parameter.hint)
            parts.append(f"{parameter.name}={text}" if parameter.keyword or by_name else text)
        return ", ".join(parts)

    # ---- steps -------------------------------------------------------------------------------------------

    def _number(self, steps: list[dict[str, Any]]) -> None:
        making = [each for each in steps if "make" in each]
        for each in making:
            self.steps[each["make"]] = Step(each["key"], each["file"], each["line"])
        for each in making:
            self.steps[each["make"]].outer = self.steps.get(each["for"])

    def _make(self, outline: dict[str, Any]) -> None:
        number, kind = outline["make"], outline["type"]
        step = self.steps[number]
        record = self.core.types.records.get(kind) if isinstance(kind, type) else None
        if record is None:
            raise Unplanned("it is of another language")
        self.described[number] = record.description
        made, sources = f"o{number}", outline["arguments"]
        if not outline["function"]:
            parameters = record.description.parameters
            call = f"{self._bind(record.description.cls)}({self._arguments(parameters, sources)})"
            self._line(f"{made} = {call}", 2, step)
            return
        item = callbacks.item_of(outline["data"])
        if not isinstance(item, FactoryItem) or item.core is not self.core:
            raise Unplanned("its factory is of another language")
        if outline["function"] != factory_address(self.core.library):
            raise Unplanned("its factory is of another language")
        definition = item.plan.definition
        if definition.constant is not None:
            self._line(f"{made} = {self._bind(definition.constant.value)}", 2, step)
            return
        call = f"{self._bind(definition.factory)}({self._arguments(item.plan.parameters, sources)})"
        self._line(f"{made} = {call}", 2, step)
        makes = definition.makes
        if definition.factory is not makes and isinstance(makes, type) and not may_answer(None, makes):
            check = f"if not isinstance({made}, {self._bind(makes)}):"
            self._line(check, 2, step)
            self._line(f"not_made({made}, {definition.made!r})", 3, step)
        elif definition.factory is not makes:
            self._line(f"if {made} is None:", 2, step)
            self._line(f"not_made({made}, {definition.made!r})", 3, step)

    def _set(self, outline: dict[str, Any]) -> None:
        number, name = outline["set"], outline["property"]
        prop = self.described[number].tunables[name]
        if "argument" in outline["to"] and (
            prop.hint.choices or prop.tunable.min is not None or prop.tunable.max is not None
        ):
            raise Unplanned("an argument is checked on its way")
        self._line(f"o{number}.{name} = {self._arriving(outline['to'], prop.hint)}", 2, self.steps[number])


def not_made(thing: Any, wanted: str) -> None:
    """Refuses the result of a factory that has another type than declared."""
    raise WrongTypeError(f"the factory returned {thing!r}, but declares that it creates a {wanted}")
