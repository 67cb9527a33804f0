"""A C program that prints what a compiler makes of the headers: sizes, offsets, constants."""

from __future__ import annotations

from .model import Interface, Record, Variable
from .table import NOTICE

SOURCE = """\
/* Prints sizes, offsets and constants, for the comparison with layout.txt. {notice} */
#include <inttypes.h>
#include <invivo/invivo.h>
#include <stdio.h>

#define SIZE(type) printf("%s %zu\\n", #type, sizeof(type))
#define OFFSET(type, path, size) printf("%s.%s %zu %zu\\n", #type, #path, offsetof(type, path), (size_t)(size))
#define NUMBER(name) printf("%s %" PRId64 "\\n", #name, (int64_t)(name))
#define TEXT(name) printf("%s %s\\n", #name, name)

int main(void) {{
{lines}
    return 0;
}}
"""


def source(interface: Interface) -> str:
    lines: list[str] = []
    for record in interface.records.values():
        if record.fields is not None:
            spelled = record.name if record.name in typedefs(interface) else f"struct {record.name}"
            lines.append(f"SIZE({spelled});")
            lines += offsets(spelled, "", record.fields)
    for name, value in interface.constants.items():
        lines.append(f"{'TEXT' if isinstance(value, str) else 'NUMBER'}({name});")
    return SOURCE.format(notice=NOTICE, lines="\n".join("    " + line for line in lines))


def typedefs(interface: Interface) -> set[str]:
    """Structs that may be named without `struct`; the headers give each of theirs a typedef."""
    return set(interface.records) - {"invivo_table"}


def offsets(record: str, prefix: str, fields: tuple[Variable, ...]) -> list[str]:
    lines: list[str] = []
    for field in fields:
        path = prefix + field.name
        lines.append(f"OFFSET({record}, {path}, sizeof((({record} *)0)->{path}));")
        if isinstance(field.type, Record) and field.type.fields is not None and not field.type.name:
            lines += offsets(record, path + ".", field.type.fields)
    return lines
