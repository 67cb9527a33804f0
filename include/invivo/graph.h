/* graph.h: the wiring as it stands, for people and tools: what there is, what holds what, what is alive. */
#ifndef INVIVO_GRAPH_H
#define INVIVO_GRAPH_H

#include "app.h"

INVIVO_EXTERN_C_BEGIN

enum {
    INVIVO_GRAPH_FACTS = 0,   /* a list of maps, as below */
    INVIVO_GRAPH_JSON = 1,    /* the same as JSON */
    INVIVO_GRAPH_DOT = 2,     /* a digraph for Graphviz, an assembly a cluster */
    INVIVO_GRAPH_MERMAID = 3, /* a Mermaid flowchart */
    /* A function for each key, with the arguments that its definition declares: what `invivo keys` writes. Names, arguments and
     * results are then checked by the compiler (by mypy in Python). Keys of abstract and inline definitions have none. Two keys
     * that would have functions of one name are INVIVO_E_EXISTS. */
    INVIVO_GRAPH_KEYS_C = 16,     /* a C header, which C++ reads too */
    INVIVO_GRAPH_KEYS_SWIFT = 17,
    INVIVO_GRAPH_KEYS_PYTHON = 18,
    /* Of invivo_app_check alone: the values of the configuration that no definition, type, observer or id of a path reads, a line
     * each as "FILE:LINE:COLUMN: PATH". Calls that read while the program runs cannot be known. */
    INVIVO_GRAPH_UNREAD = 32
};

/* The wiring of the newest generation, an owned value: with FACTS a list, else a text. One map for each key, by key:
 *
 *     key         its name
 *     type        what it makes, a type's name
 *     scope       "singleton", "lazy singleton", ...
 *     alias       the key it stands for; only of aliases
 *     abstract    true; only where it is
 *     rank        only where it is not 0
 *     generation  the one that brought what the key has now
 *     live        how many of its objects are alive (0 of a graph that is not live)
 *     built_ns    how long making its shared instance took, with all that was made for it first; only where one is
 *     file, line, column  where it is declared, as far as it was said
 *     needs       a list of maps: key, and how it comes: "initializer", "injection" (property or method), "late" (a
 *                 provider, lazy or weak reference), "asked" (resolved while its shared instance was made), "alias"
 *
 * Counts of a moment: other threads go on meanwhile. */
INVIVO_API invivo_status invivo_graph_describe(invivo_runtime runtime, uint32_t format, invivo_value *out, invivo_error **error) INVIVO_WAITS;

/* What `invivo_app_open` would find wrong with a manifest, its modules and its specs, without making anything: the modules
 * are loaded, and no factory, initializer or hook is run. `graph` (may be NULL) receives the wiring that it describes, in
 * `format`, owned; its flag INVIVO_APP_WAIT leaves the specs unread, and INVIVO_APP_WITHOUT_MODULES the modules unloaded. */
INVIVO_API invivo_status invivo_app_check(const invivo_app_options *options, uint32_t format, invivo_value *graph,
                                          invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
