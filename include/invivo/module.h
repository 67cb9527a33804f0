/* module.h: code that is loaded, and several languages in one process on one runtime. */
#ifndef INVIVO_MODULE_H
#define INVIVO_MODULE_H

#include "base.h"

INVIVO_EXTERN_C_BEGIN

/* Every function of these headers, as a table: how code that does not link the library reaches it. Generated in
 * table.h; only ever appended to, so an older module works with a newer host. */
typedef struct invivo_table invivo_table;

/* The table of this copy of the library; in module code, the one it was handed. */
INVIVO_API const invivo_table *invivo_table_get(void) INVIVO_NOWAIT;

/* ---- modules ----------------------------------------------------------------------------------------- */

#define INVIVO_ABI_VERSION 1u

/* A module is a shared library that does not link libinvivo but the stub library (InvivoModule, invivo_stubs), and
 * exports an entry, which registers types. The stub library adds a note, which is read from the file before it is loaded. */
#define INVIVO_MODULE_NOTE_NAME "Invivo"
typedef invivo_status (*invivo_module_entry_function)(const invivo_table *table, invivo_runtime runtime, invivo_error **error);
#define INVIVO_MODULE_ENTRY_NAME "invivo_module_entry"

/* Loads a module and runs its entry. The file is checked first (a regular file, ELF of this machine, the note's ABI
 * version) and loaded from a private copy. `out` may be NULL. Loaded modules stay until the runtime closes. */
INVIVO_API invivo_status invivo_module_load(invivo_runtime runtime, const char *path, invivo_module *out, invivo_error **error) INVIVO_WAITS;

/* In a module: defines the entry. The body registers types and returns a status:
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

/* Only in the stub library: from now on its functions are those of the table. A table older than the stubs need
 * answers INVIVO_E_VERSION. In the library itself it accepts its own table alone. */
INVIVO_API invivo_status invivo_stubs_use(const invivo_table *table) INVIVO_NOWAIT;

/* ---- sharing ----------------------------------------------------------------------------------------- */

#define INVIVO_TOKEN_MAGIC 0x6f76697669766e49u /* "Invivivo" in memory */

/* What one language hands another in the same process so that both work on one runtime: pass its address. */
typedef struct invivo_token {
    uint64_t magic; /* INVIVO_TOKEN_MAGIC; checked by attach */
    const invivo_table *table;
    invivo_runtime runtime;
} invivo_token;

/* The token of a runtime, borrowed until the runtime closes. */
INVIVO_API invivo_status invivo_share(invivo_runtime runtime, const invivo_token **out, invivo_error **error) INVIVO_WAITS;
/* Joins the runtime of a token. The runtime's functions are those of the token's table: stubs, the Swift package and
 * the Python package switch to it. Linked against the library itself, this works only for a token of the same copy,
 * and answers INVIVO_E_HANDLE for another's. A runtime attached is not closed by who attached. */
INVIVO_API invivo_status invivo_attach(const invivo_token *token, invivo_runtime *out, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
