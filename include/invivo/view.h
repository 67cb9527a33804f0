/* view.h: wait-free readings of one generation. */
#ifndef INVIVO_VIEW_H
#define INVIVO_VIEW_H

#include "base.h"

INVIVO_EXTERN_C_BEGIN

/* The structs below are laid out here for the inline functions only; their fields are not API. All of it is immutable
 * while a view is open, except `instance`, which goes from NULL to a pointer once (release / acquire). */
typedef struct invivo_cell {
    void *instance; /* of a built object of a shared type */
} invivo_cell;
typedef struct invivo_entry {
    invivo_cell *cell; /* NULL while nothing was made; read with acquire */
    const void *block;
    void *layers;
    uint64_t type; /* the bits of the invivo_type of the instance, before that is there of the definition's; 0 when there is none */
} invivo_entry;
typedef struct invivo_graph {
    uint64_t generation;
    uint32_t owner; /* the upper half of this runtime's keys */
    uint32_t count; /* keys covered */
    invivo_entry *const *chunks;
} invivo_graph;
typedef struct invivo_reader invivo_reader;

enum { INVIVO_CHUNK_SHIFT = 7, INVIVO_CHUNK_MASK = (1 << INVIVO_CHUNK_SHIFT) - 1 };

/* A reading of one generation by one thread. A small value; belongs to the thread that began it. A zeroed one is an empty view. */
typedef struct invivo_view {
    const invivo_graph *graph;
    invivo_reader *reader;
} invivo_view;

/* Begins a view: everything read through it is of one generation, and stays valid until its end. Views nest; an inner
 * one sees the generation of the outer. A view of a closed or bad runtime is empty: everything in it is NULL.
 * Wait-free once the thread has a slot (invivo_thread_prepare, or its first view, which allocates one). */
INVIVO_API invivo_view invivo_view_begin(invivo_runtime runtime) INVIVO_NOWAIT;
/* Ends a view, in the thread that began it, once. An end too many is ignored where no view of the thread is open; where one
 * is, it ends that, and what is read through it then may be gone. */
INVIVO_API void invivo_view_end(invivo_view view) INVIVO_NOWAIT;

/* Finds a key by the bytes of its name; zero when there is none. */
INVIVO_API invivo_key invivo_view_key(invivo_view view, const char *name, size_t length) INVIVO_NOWAIT;
/* The part of invivo_view_get that needs to look closer: confined objects, in their domain. */
INVIVO_API void *invivo_view_get_confined(invivo_view view, invivo_key key) INVIVO_NOWAIT;

static inline uint64_t invivo_view_generation(invivo_view view) { return view.graph ? view.graph->generation : 0; }

static inline const invivo_entry *invivo_view_entry(invivo_view view, invivo_key key) {
    uint32_t id = (uint32_t)key.bits;
    if (!view.graph || (uint32_t)(key.bits >> 32) != view.graph->owner || id >= view.graph->count) return NULL;
    return &view.graph->chunks[id >> INVIVO_CHUNK_SHIFT][id & INVIVO_CHUNK_MASK];
}

/* The cell of an entry, or NULL: it may come while the view lasts. */
static inline invivo_cell *invivo_entry_cell(const invivo_entry *entry) {
    return __atomic_load_n(&entry->cell, __ATOMIC_ACQUIRE);
}

/* The bits of the type of what an entry has; of an instance only if it is read after that. */
static inline uint64_t invivo_entry_type(const invivo_entry *entry) {
    return __atomic_load_n(&entry->type, __ATOMIC_RELAXED);
}

/* What a cell holds, or NULL: for bindings, which check the entry's type then. */
static inline void *invivo_cell_instance(const invivo_cell *cell) {
    return __atomic_load_n(&cell->instance, __ATOMIC_ACQUIRE);
}

/* The built shared instance of a key, borrowed until the view ends; NULL when it is cold (resolve it once beforehand),
 * has no shared instance, or may not be touched on this thread. */
static inline void *invivo_view_get(invivo_view view, invivo_key key) {
    const invivo_entry *entry = invivo_view_entry(view, key);
    invivo_cell *cell = entry ? invivo_entry_cell(entry) : NULL;
    void *instance;
    if (!cell) return NULL;
    instance = invivo_cell_instance(cell);
    return instance ? instance : invivo_view_get_confined(view, key);
}

/* The key's block, borrowed until the view ends; NULL when it has none. */
static inline const void *invivo_view_block(invivo_view view, invivo_key key) {
    const invivo_entry *entry = invivo_view_entry(view, key);
    return entry ? entry->block : NULL;
}

/* The built shared instance by the bytes of its key's name. */
static inline void *invivo_view_find(invivo_view view, const char *name, size_t length) {
    return invivo_view_get(view, invivo_view_key(view, name, length));
}

INVIVO_EXTERN_C_END

#endif
