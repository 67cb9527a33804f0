/* pools.h: weak pools as several threads see them. Tables are read without locks and replaced whole; what is taken away is freed
 * when no reader can see it any more (Pool+Retire.swift). */
#ifndef INVIVO_POOLS_H
#define INVIVO_POOLS_H

#include "hot.h"

/* One entry. A slot has one key for as long as its table lives: head and word are written before the head is published, and
 * never change. */
struct iv_pool_slot {
    uint64_t head;  /* 0 = free; hash in the low 32 bits, what the key is and its length in the others */
    uint64_t word;  /* a number or up to 8 bytes themselves; otherwise where the bytes are */
    uint64_t value; /* 0 = nobody; an object's handle; or by its top 4 bits a struct of below */
};
#define IV_POOL_WEAK (0xfull << 60)
#define IV_POOL_MAKING (0xeull << 60)
#define IV_POOL_POINTER ((1ull << 60) - 1)

/* Bytes of keys, freed with the table. */
struct iv_pool_text { struct iv_pool_text *next; uint32_t size, used; };

struct iv_pool_table {
    struct iv_pool_text *texts; /* first, as what only writers touch: see iv_reader */
    uint32_t capacity;
    uint32_t limit; /* of used slots, below the capacity: a search ends at a free one */
    uint32_t used, weak;
};
static inline struct iv_pool_slot *iv_pool_slots(struct iv_pool_table *table) { return (struct iv_pool_slot *)(table + 1); }
static inline char *iv_pool_bytes(struct iv_pool_text *text) { return (char *)(text + 1); }

/* Shards keep writers out of each other's way; the lock is a leaf, and held for no host code. */
struct iv_pool_shard {
    struct iv_pool_table *table;
    pthread_mutex_t mutex;
    uint64_t padding[2];
};
enum { IV_POOL_SHARDS = 64 };

struct iv_pool {
    uint64_t seed;
    void *owner; /* the Swift Pool, unretained: the container holds it */
    struct iv_pool_shard *shards;
    /* How many entries of each shard have ended since it was last looked through, about. */
    uint64_t ended[IV_POOL_SHARDS];
};
/* Replaced whole when it grows; a closed pool's place stays empty. */
struct iv_pool_list { uint64_t count; };
static inline struct iv_pool **iv_pool_items(struct iv_pool_list *list) { return (struct iv_pool **)(list + 1); }

/* An entry whose instance is counted elsewhere. */
struct iv_pool_weak {
    uint64_t references; /* the table's, and of who is asking for the instance; at 0 the weak reference is freed */
    uint64_t object;     /* the handle by which it was last known, which may be stale */
    uint64_t ended;      /* 1 when the instance was found gone */
    uint64_t thread;     /* whose the object is, as in its record */
    void *weak;
    void *type; /* the ObjectType, retained */
};

/* An entry being made, on the stack of who makes it. */
struct iv_pool_making {
    struct iv_pool_making *outer; /* first: see iv_reader */
    void *ticket;    /* the Swift Ticket of those who wait, retained; under the monitor and the shard's lock */
    void *chain;     /* the Build of what is resolved meanwhile, retained; made when first needed */
    void *container; /* unretained */
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
