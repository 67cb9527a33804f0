/* pools.h: weak pools as several threads see them. Tables are read without locks and replaced as a whole; the memory of a replaced
 * table is freed when no reader can see it anymore (RetiredMemory.swift). */
#ifndef INVIVO_POOLS_H
#define INVIVO_POOLS_H

#include "hot.h"

/* One entry. A slot keeps its key as long as its table lives: the word is written before the head is published, and neither
 * changes. */
struct iv_pool_slot {
    uint64_t head;  /* 0 = free; the hash in the low 32 bits, kind and length of the key in the others (PoolKey.swift) */
    uint64_t word;  /* a number or up to 8 bytes; otherwise the address of the bytes */
    uint64_t value; /* as EntryWord.swift packs it */
};

/* Bytes of keys, freed with the table. */
struct iv_pool_text { struct iv_pool_text *next; uint32_t size, used; };

struct iv_pool_table {
    struct iv_pool_text *texts; /* first, as data for writers only: see iv_reader */
    uint32_t capacity;
    uint32_t limit; /* of used slots, below the capacity: a search ends at a free one */
    uint32_t used, weak;
};
static inline struct iv_pool_slot *iv_pool_slots(struct iv_pool_table *table) { return (struct iv_pool_slot *)(table + 1); }
static inline char *iv_pool_bytes(struct iv_pool_text *text) { return (char *)(text + 1); }

/* Writers of different shards do not wait for each other. Only the lock of retired memory is taken inside it. It is never held while host code runs. */
struct iv_pool_shard {
    struct iv_pool_table *table;
    pthread_mutex_t mutex;
    uint64_t padding[2];
};
enum { IV_POOL_SHARDS = 64 };

struct iv_pool {
    uint64_t seed;
    void *owner; /* the Swift Pool, unretained: its runtime's Pools hold it */
    struct iv_pool_shard *shards;
    /* About how many entries of each shard have ended since its table was rebuilt. */
    uint64_t ended[IV_POOL_SHARDS];
};
/* By the index in the pools' handles; NULL for a closed pool. Replaced as a whole when it grows. */
struct iv_pool_list { uint64_t count; struct iv_pool_list *former; /* readers may still see it */ };
static inline struct iv_pool **iv_pool_items(struct iv_pool_list *list) { return (struct iv_pool **)(list + 1); }

/* A weak reference to an instance whose type counts references itself. */
struct iv_pool_weak {
    uint64_t references; /* of the table and of threads that use it; at 0 it is freed */
    uint64_t object;     /* the last handle of the instance, which may be stale */
    uint64_t ended;      /* 1 when the instance was found gone */
    uint64_t thread;     /* the owner of the object, as in its record */
    void *weak;
    void *type; /* the ObjectType, retained */
};

static inline struct iv_pool_list *iv_core_pools(const struct iv_core *core) { return __atomic_load_n(&core->pools, __ATOMIC_ACQUIRE); }
static inline void iv_core_set_pools(struct iv_core *core, struct iv_pool_list *list) { __atomic_store_n(&core->pools, list, __ATOMIC_RELEASE); }
static inline uint64_t *iv_core_pool_epoch(struct iv_core *core) { return &core->pool_epoch; }
static inline struct iv_pool *iv_pool_at(struct iv_pool_list *list, uint32_t index) { return __atomic_load_n(&iv_pool_items(list)[index], __ATOMIC_ACQUIRE); }
static inline void iv_pool_put(struct iv_pool_list *list, uint32_t index, struct iv_pool *pool) { __atomic_store_n(&iv_pool_items(list)[index], pool, __ATOMIC_RELEASE); }
static inline struct iv_pool_table *iv_pool_table_of(const struct iv_pool_shard *shard) { return __atomic_load_n(&shard->table, __ATOMIC_ACQUIRE); }
static inline void iv_pool_publish(struct iv_pool_shard *shard, struct iv_pool_table *table) { __atomic_store_n(&shard->table, table, __ATOMIC_RELEASE); }
static inline void iv_pool_lock(struct iv_pool_shard *shard) { (void)pthread_mutex_lock(&shard->mutex); }
static inline void iv_pool_unlock(struct iv_pool_shard *shard) { (void)pthread_mutex_unlock(&shard->mutex); }
static inline bool iv_pool_try_lock(struct iv_pool_shard *shard) { return pthread_mutex_trylock(&shard->mutex) == 0; }
static inline void iv_pool_shard_begin(struct iv_pool_shard *shard) { (void)pthread_mutex_init(&shard->mutex, NULL); }
static inline void iv_pool_shard_end(struct iv_pool_shard *shard) { (void)pthread_mutex_destroy(&shard->mutex); }
static inline uint64_t *iv_pool_slot_head(struct iv_pool_slot *slot) { return &slot->head; }
static inline uint64_t *iv_pool_slot_value(struct iv_pool_slot *slot) { return &slot->value; }
static inline uint64_t *iv_pool_weak_references(struct iv_pool_weak *weak) { return &weak->references; }
static inline uint64_t *iv_pool_weak_object(struct iv_pool_weak *weak) { return &weak->object; }
static inline uint64_t *iv_pool_weak_ended(struct iv_pool_weak *weak) { return &weak->ended; }
static inline uint64_t *iv_pool_ended(struct iv_pool *pool, uint64_t shard) { return &pool->ended[shard & (IV_POOL_SHARDS - 1)]; }

#endif
