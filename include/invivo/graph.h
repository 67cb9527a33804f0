/** @file graph.h
 * Descriptions of the current wiring for people and tools. */
#ifndef INVIVO_GRAPH_H
#define INVIVO_GRAPH_H

#include "app.h"

INVIVO_EXTERN_C_BEGIN

enum {
    INVIVO_GRAPH_FACTS = 0,   /**< a list of maps, see invivo_graph_describe */
    INVIVO_GRAPH_JSON = 1,    /**< the same as JSON */
    INVIVO_GRAPH_DOT = 2,     /**< a digraph for Graphviz with one cluster per assembly */
    INVIVO_GRAPH_MERMAID = 3, /**< a Mermaid flowchart */
    /** Typed functions, one per key, with the declared runtime arguments. `invivo keys` writes them.
     * The compiler (mypy for Python) then checks names, arguments and results. Abstract and inline definitions have no
     * function. Two keys with the same function name are INVIVO_E_EXISTS. */
    INVIVO_GRAPH_KEYS_C = 16,     /**< a C header, also valid C++ */
    INVIVO_GRAPH_KEYS_SWIFT = 17,
    INVIVO_GRAPH_KEYS_PYTHON = 18,
    /** The JSON Schema (draft 2020-12) of the spec files of this application: keys, properties, trait types, settings and choices.
     * `invivo schema` writes it, for editors and checks. Waits for the reload that runs, and is refused in a callback. */
    INVIVO_GRAPH_SCHEMA = 24,
    /** For invivo_app_check only: the configuration values that no definition, type, observer or path id reads, and the keys in
     * `traits:` that begin with a dot and that nothing inherits (as "traits.KEY"). One line each: "FILE:LINE:COLUMN: PATH". Reads by function calls at run time are unknown to this check. */
    INVIVO_GRAPH_UNREAD = 32
};

/** Describes the wiring of the newest generation.
 *
 * The result is owned: a list for INVIVO_GRAPH_FACTS, otherwise a string. The list has one map per key, sorted by key:
 *
 *     key         the key
 *     type        the type of its objects
 *     scope       "singleton", "lazy singleton", ...
 *     alias       the target; only for aliases
 *     abstract    true; only for abstract definitions
 *     rank        only if it is not 0
 *     generation  the generation that last changed the key
 *     live        the number of live objects (0 for a graph that is not live)
 *     built_ns    duration of the build of the shared instance with the objects built for it first; only if it is built
 *     file, line, column  the source location of the declaration, as far as it is known
 *     spec_key    the key whose traits apply to its objects, or "none"; only if its definition names one
 *     wired       true; only if a document has decided about the definition (`wiring:`): the location is that of its entry
 *     needs       a list of maps, one for each dependency: its key; how it is received ("how"): "initializer",
 *                 "injection" (property or method), "late" (a provider, lazy or weak reference), "asked" (resolved while
 *                 the shared instance was built), "alias", "configuration" (the key is a path); "on_change" ("keep",
 *                 "rebuild", "refuse") if that is declared; "kept_since" if the object keeps a former object or value: the
 *                 generation that first replaced it; "secret": true for a path whose value, or a part of it, is secret
 *
 * The counts are a snapshot; other threads may change them meanwhile. */
INVIVO_API invivo_status invivo_graph_describe(invivo_runtime runtime, uint32_t format, invivo_value *out, invivo_error **error) INVIVO_WAITS;

/** Checks a manifest, its modules and its spec files, and returns the errors that invivo_app_open would return.
 *
 * Loads the modules, but creates no object and runs no factory, initializer or hook. With INVIVO_APP_WAIT it does not
 * read the spec files. With INVIVO_APP_WITHOUT_MODULES it loads no module.
 *
 * @param format the format of `graph`: INVIVO_GRAPH_...
 * @param graph receives the wiring that the manifest describes, owned; may be NULL */
INVIVO_API invivo_status invivo_app_check(const invivo_app_options *options, uint32_t format, invivo_value *graph,
                                          invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
