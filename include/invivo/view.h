/** @file view.h
 * Views: wait-free reads of one generation. */
#ifndef INVIVO_VIEW_H
#define INVIVO_VIEW_H

#include "base.h"

INVIVO_EXTERN_C_BEGIN

/* These structs are declared for the inline functions only; their fields are not API. They are immutable while a view
 * is open, except `instance`, which changes once from NULL to a pointer (release / acquire). */
typedef struct invivo_cell {
    void *instance; /**< the instance of a built object of a shared type, else NULL */
} invivo_cell;
typedef struct invivo_entry {
    invivo_cell *cell; /**< NULL until an object was created; read with acquire */
    const void *block;
    void *layers;
    uint64_t type; /**< the bits of the instance's type; without an instance, of the definition's type; 0 = none */
} invivo_entry;
typedef struct invivo_graph {
    uint64_t generation;
    uint32_t owner; /**< the upper half of the runtime's keys */
    uint32_t count; /**< number of keys covered */
    invivo_entry *const *chunks;
} invivo_graph;
typedef struct invivo_reader invivo_reader;

enum { INVIVO_CHUNK_SHIFT = 7, INVIVO_CHUNK_MASK = (1 << INVIVO_CHUNK_SHIFT) - 1 };

/** A read of one generation by one thread.
 * It belongs to the thread that began it. A zeroed view is empty. */
typedef struct invivo_view {
    const invivo_graph *graph;
    invivo_reader *reader;
} invivo_view;

/** Begins a view. All reads through it see one generation, and stay valid until its end.
 * Views nest; an inner view sees the generation of the outer one. A view of a closed or invalid runtime is empty: all
 * reads return NULL. Wait-free if the thread has a reader slot (invivo_thread_prepare); else its first view takes a lock
 * and allocates one. */
INVIVO_API invivo_view invivo_view_begin(invivo_runtime runtime) INVIVO_NOWAIT;
/** Ends a view. Call it exactly once, on the thread that began the view.
 * A second call ends another open view of the thread, if there is one; results of that view may then be invalid. */
INVIVO_API void invivo_view_end(invivo_view view) INVIVO_NOWAIT;

/** Finds a key by the bytes of its name; zero if there is none. */
INVIVO_API invivo_key invivo_view_key(invivo_view view, const char *name, size_t length) INVIVO_NOWAIT;
/** The slow path of invivo_view_get, for confined objects in their domain. */
INVIVO_API void *invivo_view_get_confined(invivo_view view, invivo_key key) INVIVO_NOWAIT;

/** Returns the generation of a view; 0 for an empty view. */
static inline uint64_t invivo_view_generation(invivo_view view) { return view.graph ? view.graph->generation : 0; }

/** Returns the entry of a key, or NULL. For the inline functions. */
static inline const invivo_entry *invivo_view_entry(invivo_view view, invivo_key key) {
    uint32_t id = (uint32_t)key.bits;
    if (!view.graph || (uint32_t)(key.bits >> 32) != view.graph->owner || id >= view.graph->count) return NULL;
    return &view.graph->chunks[id >> INVIVO_CHUNK_SHIFT][id & INVIVO_CHUNK_MASK];
}

/** Returns the cell of an entry, or NULL. The result may change once during a view, from NULL to the cell. */
static inline invivo_cell *invivo_entry_cell(const invivo_entry *entry) {
    return __atomic_load_n(&entry->cell, __ATOMIC_ACQUIRE);
}

/** Returns the type bits of an entry. For the type of an instance, read it after the instance. */
static inline uint64_t invivo_entry_type(const invivo_entry *entry) {
    return __atomic_load_n(&entry->type, __ATOMIC_RELAXED);
}

/** Returns the instance of a cell, or NULL. For bindings, which check the type of the entry afterwards. */
static inline void *invivo_cell_instance(const invivo_cell *cell) {
    return __atomic_load_n(&cell->instance, __ATOMIC_ACQUIRE);
}

/** Returns the built shared instance of a key, borrowed until the view ends.
 * NULL if it is not built (resolve it once before), not shared, or not usable on this thread, and for a
 * choice, which has no object of its own: view the key that it selects. */
static inline void *invivo_view_get(invivo_view view, invivo_key key) {
    const invivo_entry *entry = invivo_view_entry(view, key);
    invivo_cell *cell = entry ? invivo_entry_cell(entry) : NULL;
    void *instance;
    if (!cell) return NULL;
    instance = invivo_cell_instance(cell);
    return instance ? instance : invivo_view_get_confined(view, key);
}

/** Returns the block of a key, borrowed until the view ends; NULL if it has none. */
static inline const void *invivo_view_block(invivo_view view, invivo_key key) {
    const invivo_entry *entry = invivo_view_entry(view, key);
    return entry ? entry->block : NULL;
}

/** Returns the built shared instance by the bytes of its key's name. See invivo_view_get. */
static inline void *invivo_view_find(invivo_view view, const char *name, size_t length) {
    return invivo_view_get(view, invivo_view_key(view, name, length));
}

INVIVO_EXTERN_C_END

#endif
