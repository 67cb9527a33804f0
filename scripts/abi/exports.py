"""The linker's list of what libinvivo exports: the functions of the headers, and nothing else."""

from __future__ import annotations

from .model import Function
from .table import NOTICE


def version_script(functions: list[Function]) -> str:
    names = "\n".join(f"        {function.name};" for function in functions)
    return f"/* What libinvivo exports. {NOTICE} */\n{{\n    global:\n{names}\n    local:\n        *;\n}};\n"
