"""The field offsets of each struct that begins with its size: Sources/InvivoBase/StructFields.swift."""

from __future__ import annotations

from .misuse import begins_with_size
from .model import Interface, Record
from .table import NOTICE

SOURCE = """\
// The fields of every struct that begins with its struct_size.
// {notice}
public import CInvivo

{extensions}
"""
# Names of fields that Swift reserves.
RESERVED = {"default", "in", "init", "internal", "operator", "private", "public", "repeat", "self", "where"}
EXTENSION = """\
extension {name}: SizedStruct {{
    public static let fieldRanges: [Range<Int>] = [
{rows}
    ]
}}"""


def extension(record: Record) -> str:
    names = [f"`{field.name}`" if field.name in RESERVED else field.name for field in record.fields or ()]
    rows = "\n".join(f"        fieldRange(of: \\{record.name}.{name})," for name in names)
    return EXTENSION.format(name=record.name, rows=rows)


def source(interface: Interface) -> str:
    records = [record for name, record in interface.records.items() if begins_with_size(name, interface)]
    return SOURCE.format(notice=NOTICE, extensions="\n\n".join(extension(record) for record in records))
