"""The stub library: every function calls through the table that the module received."""

from __future__ import annotations

from .model import Function, Interface, Named, Pointer, Record, Type, Variable, spell, spell_parameters
from .table import NOTICE

SOURCE = """\
/* What module code is linked with instead of the library. {notice}
 *
 * Each function goes through the table that the module was handed. Before it is handed one, a function that answers
 * a status answers INVIVO_E_NOT_READY, and every other a neutral value. Nothing here is visible outside the image that
 * it is linked into: two modules, or a module and the library, never see each other's. */
#include <string.h>

#pragma GCC visibility push(hidden)
#include "include/invivo_stubs.h"
#undef invivo_runtime_options_init /* defined below, as a function */

/* The note by which a file is known as a module before it is loaded: name, type 1, the ABI version. */
#if defined(__ELF__)
__attribute__((used, section(".note.invivo"), aligned(4))) static const struct {{
    uint32_t name_size, data_size, type;
    char name[8];
    uint32_t abi_version;
}} note = {{sizeof(INVIVO_MODULE_NOTE_NAME), 4, 1, INVIVO_MODULE_NOTE_NAME, INVIVO_ABI_VERSION}};
#endif

/* ---- before a table is there ---------------------------------------------------------------------------- */

{not_ready}

static const struct invivo_table not_ready = {{
    .struct_size = sizeof(struct invivo_table),
    .abi_version = INVIVO_ABI_VERSION,
    .function_count = {count},
{entries}
}};

/* Set once as a rule, by the module's entry, before anything else of the module runs. */
static const struct invivo_table *current = &not_ready;

static const struct invivo_table *functions(void) {{ return __atomic_load_n(&current, __ATOMIC_ACQUIRE); }}

/* ---- the table ------------------------------------------------------------------------------------------ */

const invivo_table *invivo_table_get(void) {{
    const struct invivo_table *table = functions();
    return table == &not_ready ? NULL : table;
}}

invivo_status invivo_stubs_use(const invivo_table *table) {{
    if (!table) return INVIVO_E_ARGUMENT;
    if (table->abi_version != INVIVO_ABI_VERSION || table->struct_size < sizeof(struct invivo_table))
        return INVIVO_E_VERSION;
    __atomic_store_n(&current, table, __ATOMIC_RELEASE);
    return INVIVO_OK;
}}

/* Joining a runtime means joining the copy of the library that it belongs to. */
invivo_status invivo_attach(const invivo_token *token, invivo_runtime *out, invivo_error **error) {{
    invivo_status status;
    if (out) out->bits = 0;
    if (error) *error = NULL;
    if (!token) return INVIVO_E_ARGUMENT;
    if (token->magic != INVIVO_TOKEN_MAGIC) return INVIVO_E_HANDLE;
    status = invivo_stubs_use(token->table);
    return status ? status : functions()->attach(token, out, error);
}}

/* ---- everything else ------------------------------------------------------------------------------------ */

{stubs}

#pragma GCC visibility pop
"""

# These are written by hand above.
OWN = {"invivo_table_get", "invivo_stubs_use", "invivo_attach"}

# An empty view has a graph without keys: the inline functions of view.h read it.
EMPTY_VIEW = """\
static const invivo_graph no_graph = {0, 0, 0, NULL};

static invivo_view not_ready_view_begin(invivo_runtime runtime) {
    invivo_view view = {&no_graph, NULL};
    (void)runtime;
    return view;
}"""


def source(functions: list[Function], interface: Interface) -> str:
    return SOURCE.format(
        notice=NOTICE,
        not_ready="\n\n".join(not_ready(function, interface) for function in functions),
        count=len(functions),
        entries="\n".join(f"    .{function.short} = not_ready_{function.short}," for function in functions),
        stubs="\n\n".join(stub(function) for function in functions if function.name not in OWN),
    )


def signature(function: Function, name: str) -> str:
    return spell(function.result, f"{name}({spell_parameters(function.parameters)})")


def stub(function: Function) -> str:
    arguments = ", ".join(parameter.name for parameter in function.parameters)
    answer = "" if is_void(function.result) else "return "
    return f"{signature(function, function.name)} {{\n    {answer}functions()->{function.short}({arguments});\n}}"


def not_ready(function: Function, interface: Interface) -> str:
    if function.name == "invivo_view_begin":
        return EMPTY_VIEW
    lines = [neutral_parameter(parameter, interface) for parameter in function.parameters]
    match function.result:
        case Named("void"):
            pass
        case Named("invivo_status"):
            lines.append("return INVIVO_E_NOT_READY;")
        case Pointer(Named("char", True)):
            lines.append('return "";')
        case Named(name) if isinstance(interface.aliases.get(name), Record) or name in interface.records:
            lines += [f"{name} none;", "memset(&none, 0, sizeof(none));", "return none;"]
        case _:
            lines.append("return 0;")
    body = "\n    ".join(lines)
    return f"static {signature(function, 'not_ready_' + function.short)} {{\n    {body}\n}}"


def neutral_parameter(parameter: Variable, interface: Interface) -> str:
    """A failing call zeroes out parameters, except structs with their own size."""
    name = parameter.name
    if name not in ("out", "result", "error") or not isinstance(parameter.type, Pointer):
        return f"(void){name};"
    target: Type = parameter.type.target
    if isinstance(target, Named):
        record = interface.records.get(target.name)
        sized = record is not None and record.fields is not None and record.fields[0].name == "struct_size"
        if target.const or sized or (record is not None and record.fields is None):
            return f"(void){name};"
    return f"if ({name}) memset({name}, 0, sizeof(*{name}));"


def is_void(type: Type) -> bool:
    return type == Named("void")
