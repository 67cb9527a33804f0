/* contexts.h: contexts as several threads see them (InvivoContexts). Read without locks; memory that is removed is freed when no reader
 * can see it anymore. Writers of one tree hold its lock. */
#ifndef INVIVO_CONTEXTS_H
#define INVIVO_CONTEXTS_H

#include "hot.h"

/* The content of one context under one key, from one version of its tree to the next. Immutable once it is published. */
struct iv_context_version {
    /* First: see iv_reader. Of a lower version; not followed by readers that know this one. An inline version is the first of its key,
     * which no reader goes beyond: it has its context here. */
    struct iv_context_version *older;
    uint64_t number; /* of the tree's clock; 0: from the opening on */
    uint32_t key;
    uint16_t what;   /* IV_CONTEXT_... */
    uint16_t is_inline; /* in the allocation of its context */
    uint64_t value[3]; /* an invivo_value */
};
enum { IV_CONTEXT_VALUE = 0, IV_CONTEXT_REMOVED = 1, IV_CONTEXT_HIDDEN = 2 };

struct iv_context_entry { uint64_t key; /* id + 1; 0 = free */ struct iv_context_version *newest; };
/* Open addressing with linear search. Replaced as a whole when it is full. */
struct iv_context_table { uint32_t capacity, used; };
static inline struct iv_context_entry *iv_context_entries(struct iv_context_table *table) {
    return (struct iv_context_entry *)(table + 1);
}

/* A context. Freed when it has ended and no context below it is left.
 * Immutable: parent, root, core, index, kind, flags, object and the place. Guarded by the lock of the tree: the list of children.
 * Atomic: the rest. */
struct iv_context {
    /* Kept as memory, also after its end. Of a context that has ended and that no reader sees as open: its root. First: see iv_reader. */
    struct iv_context *parent;
    struct iv_context *root;
    struct iv_context_table *table;
    uint64_t clock;      /* of a root: the version of the newest change of the tree that is visible */
    uint64_t ended;      /* the version of the tree in which it ended; 0: it is open */
    uint64_t references; /* to its memory: 1 until it has ended, and 1 for each context below it */
    uint64_t holders;    /* and 1 until it has ended */
    uint64_t work;       /* IV_CONTEXT_ENDING, IV_CONTEXT_HAS_OBJECTS, IV_CONTEXT_STAY for each build in it, IV_CONTEXT_INSIDE for each enter */
    struct iv_context *first_child, *next, *previous; /* the open contexts that hold it strongly, the newest first */
    struct iv_core *core;
    uint64_t object;     /* a lease, or 0 */
    uint64_t since;      /* monotonic nanoseconds */
    const char *file;
    uint32_t line, thread;
    uint32_t index;      /* of its slot */
    uint16_t kind;       /* 1 + the index of its kind; 0: none */
    uint8_t flags;       /* IV_CONTEXT_... */
    uint8_t is_observed; /* atomic: an observer may want its changes */
};
enum { IV_CONTEXT_STRONG = 1 };
/* ENDING: no work begins in it, and no context is opened in it. HAS_OBJECTS: objects live in it, which its end stops or releases. */
enum { IV_CONTEXT_ENDING = 1, IV_CONTEXT_HAS_OBJECTS = 2, IV_CONTEXT_STAY = 256 };
#define IV_CONTEXT_INSIDE (1ull << 36)

/* A slot outlives every context. state: the generation of the handle in the upper 40 bits, the index of the core, IV_CONTEXT_OPEN. */
struct iv_context_slot { uint64_t state; struct iv_context *context; };
#define IV_CONTEXT_OPEN 1ull
enum { IV_CONTEXT_CORE_SHIFT = 8, IV_CONTEXT_GENERATION_SHIFT = 24 };
/* A handle: the generation in the upper 40 bits, the index of the slot in the lower 24. */
enum { IV_CONTEXT_INDEX_BITS = 24, IV_CONTEXT_CHUNK_SHIFT = 10, IV_CONTEXT_CHUNKS = 1 << (IV_CONTEXT_INDEX_BITS - IV_CONTEXT_CHUNK_SHIFT) };
extern struct iv_context_slot *iv_context_chunks[IV_CONTEXT_CHUNKS];
static inline struct iv_context_slot *iv_context_slot_at(uint32_t index) {
    uint32_t chunk = index >> IV_CONTEXT_CHUNK_SHIFT;
    struct iv_context_slot *slots = chunk < IV_CONTEXT_CHUNKS ? __atomic_load_n(&iv_context_chunks[chunk], __ATOMIC_ACQUIRE) : 0;
    return slots ? &slots[index & ((1u << IV_CONTEXT_CHUNK_SHIFT) - 1)] : 0;
}
static inline void iv_context_chunk_set(uint32_t chunk, struct iv_context_slot *slots) {
    __atomic_store_n(&iv_context_chunks[chunk], slots, __ATOMIC_RELEASE);
}

/* The locks of trees: the one of a tree follows from the index of its root. */
enum { IV_CONTEXT_LOCKS = 64 };
struct iv_context_lock { pthread_mutex_t mutex; uint64_t padding[3]; };
static inline void iv_context_lock_begin(struct iv_context_lock *lock) { (void)pthread_mutex_init(&lock->mutex, NULL); }
static inline void iv_context_lock_end(struct iv_context_lock *lock) { (void)pthread_mutex_destroy(&lock->mutex); }
static inline void iv_context_lock_take(struct iv_context_lock *lock) { (void)pthread_mutex_lock(&lock->mutex); }
static inline void iv_context_lock_leave(struct iv_context_lock *lock) { (void)pthread_mutex_unlock(&lock->mutex); }

static inline uint64_t *iv_context_slot_state(struct iv_context_slot *slot) { return &slot->state; }
static inline struct iv_context *iv_context_slot_context(const struct iv_context_slot *slot) { return __atomic_load_n(&slot->context, __ATOMIC_ACQUIRE); }
static inline void iv_context_slot_set(struct iv_context_slot *slot, struct iv_context *context) { __atomic_store_n(&slot->context, context, __ATOMIC_RELEASE); }
static inline uint64_t *iv_context_clock(struct iv_context *root) { return &root->clock; }
static inline uint64_t *iv_context_ended(struct iv_context *context) { return &context->ended; }
static inline uint64_t *iv_context_references(struct iv_context *context) { return &context->references; }
static inline uint64_t *iv_context_holders(struct iv_context *context) { return &context->holders; }
static inline uint64_t *iv_context_work(struct iv_context *context) { return &context->work; }
static inline int iv_context_is_observed(const struct iv_context *context) { return __atomic_load_n(&context->is_observed, __ATOMIC_RELAXED); }
static inline void iv_context_set_observed(struct iv_context *context, int is) { __atomic_store_n(&context->is_observed, (uint8_t)is, __ATOMIC_RELAXED); }
static inline struct iv_context_table *iv_context_table_of(const struct iv_context *context) { return __atomic_load_n(&context->table, __ATOMIC_ACQUIRE); }
static inline void iv_context_publish(struct iv_context *context, struct iv_context_table *table) { __atomic_store_n(&context->table, table, __ATOMIC_RELEASE); }
static inline uint64_t iv_context_entry_key(const struct iv_context_entry *entry) { return __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE); }
static inline void iv_context_entry_set_key(struct iv_context_entry *entry, uint64_t key) { __atomic_store_n(&entry->key, key, __ATOMIC_RELEASE); }
static inline struct iv_context_version *iv_context_entry_newest(const struct iv_context_entry *entry) { return __atomic_load_n(&entry->newest, __ATOMIC_ACQUIRE); }
static inline void iv_context_entry_set(struct iv_context_entry *entry, struct iv_context_version *version) { __atomic_store_n(&entry->newest, version, __ATOMIC_RELEASE); }

/* The context in whose allocation a version is; NULL: it has an allocation of its own. */
static inline struct iv_context *iv_context_version_home(const struct iv_context_version *version) {
    return version->is_inline ? (struct iv_context *)version->older : 0;
}
static inline void iv_context_version_set_home(struct iv_context_version *version, struct iv_context *home) {
    version->is_inline = 1;
    version->older = (struct iv_context_version *)home;
}

static inline uint32_t iv_context_hash(uint32_t key) { return (key * 0x9E3779B1u) >> 8; }

/* The content of `context` under `key` at the time `now` of its tree; NULL: it has nothing then. In a reading section that began before
 * `now` was read. */
static inline const struct iv_context_version *iv_context_look(const struct iv_context *context, uint32_t key, uint64_t now) {
    struct iv_context_table *table = iv_context_table_of(context);
    if (!table) return 0;
    struct iv_context_entry *entries = iv_context_entries(table);
    uint32_t mask = table->capacity - 1, at = iv_context_hash(key) & mask;
    for (uint64_t wanted = (uint64_t)key + 1, found; (found = iv_context_entry_key(&entries[at])) != 0; at = (at + 1) & mask) {
        if (found != wanted) continue;
        const struct iv_context_version *version = iv_context_entry_newest(&entries[at]);
        while (version && version->number > now) version = version->older;
        return version && version->what != IV_CONTEXT_REMOVED ? version : 0;
    }
    return 0;
}

/* The outcome of a look from `context` upward: FOUND and HIDDEN have `*out`. */
enum { IV_CONTEXT_FOUND = 0, IV_CONTEXT_NOTHING = 1, IV_CONTEXT_IS_HIDDEN = 2, IV_CONTEXT_ORPHANED = 3, IV_CONTEXT_OVER = 4 };
static inline int iv_context_search(struct iv_context *context, uint32_t key, const struct iv_context_version **out) {
    uint64_t now = __atomic_load_n(&context->root->clock, __ATOMIC_ACQUIRE);
    for (struct iv_context *level = context; level; level = level->parent) {
        uint64_t ended = __atomic_load_n(&level->ended, __ATOMIC_ACQUIRE);
        if (ended != 0 && ended <= now) return level == context ? IV_CONTEXT_OVER : IV_CONTEXT_ORPHANED;
        const struct iv_context_version *version = iv_context_look(level, key, now);
        if (!version) continue;
        *out = version;
        return version->what == IV_CONTEXT_HIDDEN ? IV_CONTEXT_IS_HIDDEN : IV_CONTEXT_FOUND;
    }
    return IV_CONTEXT_NOTHING;
}
/* The same in `context` alone. */
static inline int iv_context_search_local(struct iv_context *context, uint32_t key, const struct iv_context_version **out) {
    uint64_t now = __atomic_load_n(&context->root->clock, __ATOMIC_ACQUIRE), ended = __atomic_load_n(&context->ended, __ATOMIC_ACQUIRE);
    if (ended != 0 && ended <= now) return IV_CONTEXT_OVER;
    *out = iv_context_look(context, key, now);
    if (!*out) return IV_CONTEXT_NOTHING;
    return (*out)->what == IV_CONTEXT_HIDDEN ? IV_CONTEXT_IS_HIDDEN : IV_CONTEXT_FOUND;
}

#endif
