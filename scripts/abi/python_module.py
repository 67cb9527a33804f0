"""The Python declarations: ctypes structures, function prototypes, constants."""

from __future__ import annotations

from .model import Function, FunctionType, Interface, Named, Pointer, Record, Type, Variable
from .table import NOTICE

SOURCE = '''\
"""The C ABI as ctypes sees it. {notice}

A `const char *` that a length follows is data without a closing NUL: such a field is a `c_void_p`, read by
`ctypes.string_at(pointer, length)`. Opaque structs are `c_void_p`. A text that the caller owns (`char *`) is a
`c_void_p`, so that it can be given back.
"""

# fmt: off
# ruff: noqa: E501, N801

from __future__ import annotations

import ctypes
from typing import Any

# ---- constants -----------------------------------------------------------------------------------------

{constants}

# (name, number, text) of every status code.
STATUS: list[tuple[str, int, str]] = [
{status}
]

# (name, number) of every kind of value.
KINDS: list[tuple[str, int]] = [
{kinds}
]

# ---- structures ----------------------------------------------------------------------------------------

{declarations}

{layouts}

# Every structure, for the test that compares them with what a C compiler says.
STRUCTURES: list[type[ctypes.Structure | ctypes.Union]] = [
{structures}
]

# ---- functions -----------------------------------------------------------------------------------------

# name: (restype, argtypes, NOWAIT). Only a NOWAIT function may be called while the GIL is held (PyDLL).
FUNCTIONS: dict[str, tuple[Any, list[Any], bool]] = {{
{functions}
}}

# The function table's entries, in its order.
TABLE: list[str] = [
{table}
]


class invivo_table(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("abi_version", ctypes.c_uint32),
        ("function_count", ctypes.c_uint32),
        *((name.removeprefix("invivo_"), ctypes.c_void_p) for name in TABLE),
    ]
'''

SCALARS = {
    "void": "None",
    "bool": "ctypes.c_bool",
    "char": "ctypes.c_char",
    "int": "ctypes.c_int",
    "size_t": "ctypes.c_size_t",
    "float": "ctypes.c_float",
    "double": "ctypes.c_double",
    **{f"{sign}int{bits}_t": f"ctypes.c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


def source(functions: list[Function], interface: Interface) -> str:
    writer = Writer(interface)
    complete = [
        record for record in writer.records.values() if record.fields is not None and record.name != "invivo_table"
    ]
    layouts = [writer.layout(record) for record in complete]
    rows = interface.tables
    return SOURCE.format(
        notice=NOTICE,
        constants="\n".join(
            f"{name} = {value!r}" if isinstance(value, int) else f'{name} = "{value}"'
            for name, value in interface.constants.items()
        ),
        status="\n".join(
            f'    ("INVIVO_{name}", {number}, {text}),' for name, number, text in rows["INVIVO_STATUS_TABLE"]
        ),
        kinds="\n".join(f'    ("INVIVO_KIND_{name}", {number}),' for name, number in rows["INVIVO_KIND_TABLE"]),
        declarations="\n\n\n".join(writer.class_line(record) for record in complete),
        layouts="\n".join(layouts),
        structures="\n".join(f"    {record.name}," for record in complete),
        functions="\n".join(writer.function(function) for function in functions),
        table="\n".join(f'    "{function.name}",' for function in functions),
    )


class Writer:
    def __init__(self, interface: Interface) -> None:
        self.interface = interface
        self.records: dict[str, Record] = {}
        for record in interface.records.values():
            self.collect(record)

    def collect(self, record: Record) -> None:
        """Structures, each after those that it contains; unnamed ones get a name."""
        fields = []
        for field in record.fields or ():
            type = field.type
            if isinstance(type, Record) and not type.name:
                type = Record(f"{record.name}_{field.name}", type.union, type.fields)
                self.collect(type)
                type = Named(type.name)
            elif isinstance(type, Named) and type.name in self.interface.records:
                self.collect(self.interface.records[type.name])
            fields.append(Variable(field.name, type))
        if record.name not in self.records:
            self.records[record.name] = Record(
                record.name, record.union, None if record.fields is None else tuple(fields)
            )

    @staticmethod
    def class_line(record: Record) -> str:
        return f"class {record.name}(ctypes.{'Union' if record.union else 'Structure'}):\n    pass"

    def layout(self, record: Record) -> str:
        fields = record.fields or ()
        lines = []
        for index, field in enumerate(fields):
            followed = index + 1 < len(fields) and fields[index + 1].name == "length"
            if followed and isinstance(field.type, Pointer) and isinstance(field.type.target, Named):
                spelled = "ctypes.c_void_p"
            else:
                spelled = self.spell(field.type)
            lines.append(f'    ("{field.name}", {spelled}),')
        return f"{record.name}._fields_ = [\n" + "\n".join(lines) + "\n]"

    def function(self, function: Function) -> str:
        arguments = ", ".join(self.spell(parameter.type) for parameter in function.parameters)
        return f'    "{function.name}": ({self.spell(function.result)}, [{arguments}], {function.nowait}),'

    def spell(self, type: Type) -> str:
        match type:
            case Named(name):
                if name in SCALARS:
                    return SCALARS[name]
                alias = self.interface.aliases.get(name)
                return name if alias is None else self.spell(alias)
            case Pointer(Named("void")):
                return "ctypes.c_void_p"
            case Pointer(Named("char", const)):
                return "ctypes.c_char_p" if const else "ctypes.c_void_p"
            case Pointer(FunctionType(result, parameters)):
                return f"ctypes.CFUNCTYPE({', '.join(map(self.spell, (result, *(p.type for p in parameters))))})"
            case Pointer(Named(name) | Record(name)) if self.opaque(name):
                return "ctypes.c_void_p"
            case Pointer(target):
                return f"ctypes.POINTER({self.spell(target)})"
        raise TypeError(f"no ctypes spelling for {type!r}")

    def opaque(self, name: str) -> bool:
        record = self.interface.records.get(name)
        return name == "invivo_table" or (record is not None and record.fields is None)
