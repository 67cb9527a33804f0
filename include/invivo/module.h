/** @file module.h
 * Loadable modules, and several languages in one process with one runtime. */
#ifndef INVIVO_MODULE_H
#define INVIVO_MODULE_H

#include "base.h"

INVIVO_EXTERN_C_BEGIN

/** A table of all functions in these headers.
 * Code that does not link the library calls through it. It is generated in table.h. New functions are only appended, so
 * an older module works with a newer host. */
typedef struct invivo_table invivo_table;

/** Returns the table of this copy of the library; in a module, the table that the module received. */
INVIVO_API const invivo_table *invivo_table_get(void) INVIVO_NOWAIT;

/* ---- modules ----------------------------------------------------------------------------------------- */

#define INVIVO_ABI_VERSION 1u

/* Modules. A module is a shared library that links the stub library (InvivoModule, invivo_stubs) and not libinvivo.
 * It exports an entry function, which registers types. The stub library adds an ELF note, which the runtime reads
 * before it loads the file. */
#define INVIVO_MODULE_NOTE_NAME "Invivo"
typedef invivo_status (*invivo_module_entry_function)(const invivo_table *table, invivo_runtime runtime, invivo_error **error);
#define INVIVO_MODULE_ENTRY_NAME "invivo_module_entry"

/** Loads a module and runs its entry function.
 * The file is checked first: a regular file, ELF for this machine, a matching ABI version in the note. It is loaded
 * from a private copy. `out` may be NULL. Modules stay loaded until the runtime closes. */
INVIVO_API invivo_status invivo_module_load(invivo_runtime runtime, const char *path, invivo_module *out, invivo_error **error) INVIVO_WAITS;

/** Defines the entry function of a module. The body registers types and returns a status.
 *
 *     INVIVO_MODULE(runtime, error) { return invivo_type_register(runtime, &oscillator, NULL, error); } */
#if defined(__cplusplus)
#define INVIVO_MODULE_LINKAGE_ extern "C"
#else
#define INVIVO_MODULE_LINKAGE_
#endif
#define INVIVO_MODULE(runtime, error)                                                                           \
    static invivo_status invivo_module_body_(invivo_runtime runtime, invivo_error **error);                     \
    INVIVO_MODULE_LINKAGE_ __attribute__((visibility("default"))) invivo_status invivo_module_entry(            \
        const invivo_table *table, invivo_runtime runtime, invivo_error **error);                               \
    invivo_status invivo_module_entry(const invivo_table *table, invivo_runtime runtime, invivo_error **error) { \
        invivo_status status = invivo_stubs_use(table);                                                         \
        return status ? status : invivo_module_body_(runtime, error);                                           \
    }                                                                                                           \
    static invivo_status invivo_module_body_(invivo_runtime runtime, invivo_error **error)

/** Makes the stub library call through a table.
 * A table that is too old for the stubs is INVIVO_E_VERSION. In the library itself, only its own table is accepted. */
INVIVO_API invivo_status invivo_stubs_use(const invivo_table *table) INVIVO_NOWAIT;

/* ---- sharing ----------------------------------------------------------------------------------------- */

#define INVIVO_TOKEN_MAGIC 0x6f76697669766e49u /**< the bytes "Invivivo" */

/** A reference to a runtime that one language passes to another in the same process.
 * Pass its address. Both languages then use the same runtime. */
typedef struct invivo_token {
    uint64_t magic; /* INVIVO_TOKEN_MAGIC; checked by attach */
    const invivo_table *table;
    invivo_runtime runtime;
} invivo_token;

/** Returns the token of a runtime, borrowed until the runtime closes. */
INVIVO_API invivo_status invivo_share(invivo_runtime runtime, const invivo_token **out, invivo_error **error) INVIVO_WAITS;
/** Attaches to the runtime of a token.
 * The stubs, the Swift package and the Python package then call the functions of the token's table. Code that links the
 * library itself can attach only to a token of the same copy; another token is INVIVO_E_HANDLE. The code that attached
 * must not close the runtime. */
INVIVO_API invivo_status invivo_attach(const invivo_token *token, invivo_runtime *out, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
