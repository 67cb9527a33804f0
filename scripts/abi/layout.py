"""A C program that prints the layout of the headers: sizes, offsets, constants."""

from __future__ import annotations

from .model import Function, Interface, Record, Variable
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


def source(functions: list[Function], interface: Interface) -> str:
    lines: list[str] = []
    for record in interface.records.values():
        if record.fields is not None:
            lines.append(f"SIZE({record.name});")
            lines += offsets(record.name, "", record.fields)
    for name, value in interface.constants.items():
        lines.append(f"{'TEXT' if isinstance(value, str) else 'NUMBER'}({name});")
    # The order of the table, which older programs and modules were built with.
    lines.append("SIZE(invivo_table);")
    lines += [f"OFFSET(invivo_table, {function.short}, sizeof(void (*)(void)));" for function in functions]
    return SOURCE.format(notice=NOTICE, lines="\n".join("    " + line for line in lines))


def offsets(record: str, prefix: str, fields: tuple[Variable, ...]) -> list[str]:
    lines: list[str] = []
    for field in fields:
        path = prefix + field.name
        lines.append(f"OFFSET({record}, {path}, sizeof((({record} *)0)->{path}));")
        if isinstance(field.type, Record) and field.type.fields is not None and not field.type.name:
            lines += offsets(record, path + ".", field.type.fields)
    return lines
