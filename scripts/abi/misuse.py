"""Calls of every function with misused arguments from a table: Tests/C/calls.h."""

from __future__ import annotations

from .model import Function, FunctionType, Interface, Named, Pointer, Type, Variable, spell
from .table import NOTICE

SOURCE = """\
/* calls.h: one call of each function, with arguments by their types. {notice} */
#ifndef INVIVO_TESTS_CALLS_H
#define INVIVO_TESTS_CALLS_H

#include <invivo/invivo.h>
#include <stddef.h>
#include <string.h>

/* What a call is given for each type of parameter. `outs`: NULL, or {room} bytes for each out parameter. */
typedef struct arguments {{
    uint64_t {handles};
    invivo_view view;
    const char *text;
    const char *const *texts;
    const invivo_value *value;
    const invivo_error *failure;
    char *record;       /* a struct with a struct_size; NULL for none */
    size_t record_size; /* of it; 0 = what the headers say */
    char *outs;
    uint64_t number;
    void (*function)(void);
    invivo_error **error;
}} arguments;

enum {{ ROOM = {room} }};

/* What a function takes and answers. */
enum {{
    ANSWERS_STATUS = 1, /* of the call itself */
    TAKES_HANDLE = 2,
    TAKES_RECORD = 4, /* a struct with a struct_size */
    TAKES_ERROR = 8
}};

typedef struct every_call {{
    const char *name;
    invivo_status (*call)(const arguments *use);
    unsigned flags;
    const char *handle; /* the kind of its first handle; "" when it takes none */
    const size_t *cuts; /* struct sizes that end within a field of its struct, up to a zero; NULL when it takes none */
    uint32_t outs;      /* a bit for each out parameter whose first word is zero after a failure */
}} every_call;

static inline char *out_of(const arguments *use, int index) {{
    return use->outs ? use->outs + (size_t)index * ROOM : NULL;
}}
static inline char *record_of(const arguments *use, size_t size) {{
    if (use->record) memcpy(use->record, use->record_size ? &use->record_size : &size, sizeof size);
    return use->record;
}}

#define CUT(type, field) (offsetof(type, field) + sizeof(((type *)0)->field) / 2)
{cuts}

{functions}

static const every_call every_calls[] = {{
{rows}
}};

#endif
"""

# Their status is a value, not the outcome of the call.
READS_A_STATUS = {"invivo_error_code", "invivo_report_status"}
# A number that is a time to wait.
TIMES = {"timeout_ms"}
ROOM = 1024


def is_handle(name: str, interface: Interface) -> bool:
    record = interface.records.get(name)
    return record is not None and record.fields == (Variable("bits", Named("uint64_t")),)


def begins_with_size(name: str, interface: Interface) -> bool:
    record = interface.records.get(name)
    return bool(record and record.fields and record.fields[0] == Variable("struct_size", Named("size_t")))


def is_function(type: Type, interface: Interface) -> bool:
    if isinstance(type, Named) and type.name in interface.aliases:
        return is_function(interface.aliases[type.name], interface)
    return isinstance(type, Pointer) and isinstance(type.target, FunctionType)


def is_number(type: Type, interface: Interface) -> bool:
    return isinstance(type, Named) and type.name not in interface.records and not is_function(type, interface)


def argument(parameter: Variable, index: int, interface: Interface) -> str:
    """The C expression for a parameter."""
    type = parameter.type
    cast = f"({spell(type)})"
    if is_function(type, interface):
        return f"{cast}use->function"
    match type:
        case Named(name) if is_handle(name, interface):
            return f"({name}){{use->{short(name)}}}"
        case Named("invivo_view"):
            return "use->view"
        case Named() if is_number(type, interface):
            return "0" if parameter.name in TIMES else f"{cast}use->number"
        case Pointer(Pointer(Named("invivo_error"))) if parameter.name == "error":
            return "use->error"
        case Pointer(Named("invivo_error", True)):
            return "use->failure"
        case Pointer(Named("invivo_error" | "invivo_report")):
            return "NULL"  # taken over, or available in callbacks only
        case Pointer(Named("char", True)):
            return "use->text"
        case Pointer(Pointer(Named("char", True), True)):
            return "use->texts"
        case Pointer(Named("invivo_value", True)):
            return "use->value"
        case Pointer(Named(name)) if begins_with_size(name, interface):
            return f"{cast}record_of(use, sizeof({name}))"
        case Pointer(Pointer(Named(_, True), True)):
            return "NULL"  # a list of structs
        case Pointer(Named(_, True)):
            return "NULL"
        case Pointer():
            return f"{cast}out_of(use, {index})"
    raise TypeError(f"no argument for {spell(type, parameter.name)}")


def short(name: str) -> str:
    return name.removeprefix("invivo_")


def is_zeroed(parameter: Variable, interface: Interface) -> bool:
    match parameter.type:
        case Pointer(Named(name, False)):
            return is_handle(name, interface)
    return False


def call(function: Function, interface: Interface) -> tuple[str, str]:
    """The C function that makes the call, and its row."""
    arguments = [argument(parameter, i, interface) for i, parameter in enumerate(function.parameters)]
    text = f"{function.name}({', '.join(arguments)})"
    flags = []
    is_status = function.result == Named("invivo_status") and function.name not in READS_A_STATUS
    if is_status:
        flags.append("ANSWERS_STATUS")
        body = f"return {text};"
    elif function.result == Named("void"):
        body = f"{text};\n    return INVIVO_OK;"
    elif function.result == Named("invivo_view"):
        body = f"invivo_view_end({text});\n    return INVIVO_OK;"
    elif spell(function.result) == "invivo_error *":
        body = f"invivo_error_release({text});\n    return INVIVO_OK;"
    else:
        body = f"(void){text};\n    return INVIVO_OK;"
    types = [parameter.type for parameter in function.parameters]
    handles = [type.name for type in types if isinstance(type, Named) and is_handle(type.name, interface)]
    if handles:
        flags.append("TAKES_HANDLE")
    if any("record_of(" in each for each in arguments):
        flags.append("TAKES_RECORD")
    if "use->error" in arguments:
        flags.append("TAKES_ERROR")
    outs = sum(1 << i for i, parameter in enumerate(function.parameters) if is_zeroed(parameter, interface))
    unused = "" if "use->" in body or "(use," in body else "    (void)use;\n"
    definition = f"static invivo_status call_{function.short}(const arguments *use) {{\n{unused}    {body}\n}}"
    first = short(handles[0]) if handles else ""
    records = [name for name in map(record, types) if name and begins_with_size(name, interface)]
    cuts = f"cuts_of_{short(records[0])}" if records else "NULL"
    row = f'    {{"{function.name}", call_{function.short}, {" | ".join(flags) or "0"}, "{first}", {cuts}, {outs}}},'
    return definition, row


def record(type: Type) -> str:
    """The name of the struct that a pointer leads to, or nothing."""
    return type.target.name if isinstance(type, Pointer) and isinstance(type.target, Named) else ""


def cuts(name: str, interface: Interface) -> str:
    fields = interface.records[name].fields or ()
    rows = ", ".join(f"CUT({name}, {field.name})" for field in fields)
    return f"static const size_t cuts_of_{short(name)}[] = {{{rows}, 0}};"


def source(functions: list[Function], interface: Interface) -> str:
    kinds = [short(name) for name in interface.records if is_handle(name, interface)]
    calls = [call(function, interface) for function in functions]
    types = [parameter.type for function in functions for parameter in function.parameters]
    sized = dict.fromkeys(name for name in map(record, types) if name and begins_with_size(name, interface))
    return SOURCE.format(
        notice=NOTICE,
        room=ROOM,
        handles=", ".join(kinds),
        cuts="\n".join(cuts(name, interface) for name in sized),
        functions="\n".join(definition for definition, _ in calls),
        rows="\n".join(row for _, row in calls),
    )
