"""The function table: include/invivo/table.h, and the library's own instance of it."""

from __future__ import annotations

import re
from pathlib import Path

from .model import Function, FunctionType, Interface, Pointer, spell
from .parse import HeaderError

NOTICE = "Written by scripts/generate from the other headers; do not edit."

HEADER = """\
/** @file table.h
 * A table of all functions of these headers. {notice}
 *
 * The names have no prefix. New functions are only appended. */
#ifndef INVIVO_TABLE_H
#define INVIVO_TABLE_H

{includes}

INVIVO_EXTERN_C_BEGIN

struct invivo_table {{
    size_t struct_size;      /**< size of the table in this copy of the library; callers may know a shorter table */
    uint32_t abi_version;    /**< INVIVO_ABI_VERSION */
    uint32_t function_count;
{fields}
}};

INVIVO_EXTERN_C_END

#endif
"""

INSTANCE = """\
/* The library's function table. {notice} */
#include "../../include/invivo/invivo.h"

static const struct invivo_table instance = {{
    .struct_size = sizeof(struct invivo_table),
    .abi_version = INVIVO_ABI_VERSION,
    .function_count = {count},
{entries}
}};

const invivo_table *invivo_table_get(void) {{ return &instance; }}

invivo_status invivo_stubs_use(const invivo_table *table) {{
    return table == &instance ? INVIVO_OK : INVIVO_E_VERSION;
}}
"""


def former_order(path: Path) -> list[str]:
    """The functions of the existing table.h, in its order."""
    if not path.exists():
        return []
    body = path.read_text().partition("struct invivo_table {")[2]
    return ["invivo_" + name for name in re.findall(r"^    [^(\n]*\(\*(\w+)\)\(", body, re.M)]


def ordered(interface: Interface, former: list[str]) -> list[Function]:
    """The functions in the order of the table: existing ones keep their position, new ones follow."""
    by_name = {function.name: function for function in interface.functions}
    gone = [name for name in former if name not in by_name]
    if gone:
        raise HeaderError(f"table.h has {', '.join(gone)}, which no header declares: a table never loses a function")
    return [by_name[name] for name in former] + [f for f in interface.functions if f.name not in former]


def header(functions: list[Function]) -> str:
    includes = sorted({function.header for function in functions})
    fields = "\n".join(f"    {spell(pointer(function), function.short)};" for function in functions)
    return HEADER.format(notice=NOTICE, fields=fields, includes="\n".join(f'#include "{name}"' for name in includes))


def instance(functions: list[Function]) -> str:
    entries = "\n".join(f"    .{function.short} = {function.name}," for function in functions)
    return INSTANCE.format(notice=NOTICE, count=len(functions), entries=entries)


def pointer(function: Function) -> Pointer:
    return Pointer(FunctionType(function.result, function.parameters))
