"""The declarations of the C headers as data."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Named:
    """A type by name: `double`, `invivo_value`."""

    name: str
    const: bool = False


@dataclass(frozen=True)
class Pointer:
    target: Type
    const: bool = False


@dataclass(frozen=True)
class FunctionType:
    result: Type
    parameters: tuple[Variable, ...]


@dataclass(frozen=True)
class Record:
    """A struct or union; `fields` is None while it is only declared."""

    name: str
    union: bool
    fields: tuple[Variable, ...] | None


Type = Named | Pointer | FunctionType | Record


@dataclass(frozen=True)
class Variable:
    """A field or a parameter."""

    name: str
    type: Type


@dataclass(frozen=True)
class Function:
    name: str
    result: Type
    parameters: tuple[Variable, ...]
    nowait: bool
    header: str

    @property
    def short(self) -> str:
        return self.name.removeprefix("invivo_")


@dataclass
class Interface:
    """Everything the headers declare, in their order."""

    functions: list[Function] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    aliases: dict[str, Type] = field(default_factory=dict)
    constants: dict[str, int | str] = field(default_factory=dict)
    tables: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)

    def merge(self, other: Interface) -> None:
        self.functions += other.functions
        for name, record in other.records.items():
            if record.fields is not None or name not in self.records:
                self.records.pop(name, None)
                self.records[name] = record
        self.aliases.update(other.aliases)
        self.constants.update(other.constants)
        self.tables.update(other.tables)


def spell(type: Type, name: str = "") -> str:
    """The C declaration of `name` with this type; the type alone when `name` is empty."""
    match type:
        case Named(text, const):
            return f"{'const ' if const else ''}{text}{' ' if name else ''}{name}"
        case Pointer(FunctionType() as function, _):
            inner = spell_parameters(function.parameters)
            return spell(function.result, f"(*{name})({inner})")
        case Pointer(target, const):
            return spell(target, f"*{'const ' if const else ''}{name}".rstrip())
        case Record():
            return f"struct {type.name}{' ' if name else ''}{name}"
        case FunctionType():
            return spell(type.result, f"{name}({spell_parameters(type.parameters)})")
    raise TypeError(f"no C spelling for {type!r}")


def spell_parameters(parameters: tuple[Variable, ...]) -> str:
    return ", ".join(spell(parameter.type, parameter.name) for parameter in parameters) or "void"
