/* hot.h: the raw memory that hot paths and several threads share, as plain C structs, and the process-wide tables.
 * Swift reads and writes them through pointers: no reference counting, no exclusivity checks. */
#ifndef INVIVO_HOT_H
#define INVIVO_HOT_H

#include "hooks.h"
#include "platform.h"

/* ---- readers (docs/architecture.md: Reading) --------------------------------------------------------- */

/* A reader's slot: what the reads of one thread in one runtime use and hold. Written by its thread, except `source` and `pins`, which
 * close resets when no thread is inside; read by the reclaimer. `epoch` is 0 while idle, else 1 + a generation not newer than the
 * current one. `graph` is the generation being read; NULL while idle, and for a moment after the epoch was stored. Slots are never
 * freed; a slot of an ended thread is reused. The words of the hot paths come first, in one cache line. */
struct iv_pin;
struct iv_reader {
    uint64_t depth; /* first: Swift's sanitizer treats any write through the struct as one of its first word */
    uint64_t epoch;
    const void *graph;
    const void **source; /* where a read finds its graph: `current` of the core, or `graph` of the thread's innermost pin */
    uint64_t building; /* outermost builds of this thread; close waits for them while the runtime is still open */
    uint64_t builds_from; /* 0, else a generation not newer than the oldest that one of them builds with */
    uint64_t pooling;  /* 0, else 1 + an epoch of pools not newer than the thread's read in a pool (pools.h) */
    struct iv_pin *pins;      /* the pins that this thread is in, the innermost first */
    struct iv_pin *free_pins; /* unused pins, for the next ones of this thread */
    struct iv_reader *next;
    uint32_t thread;   /* the kernel's thread id, 0 = free */
    uint32_t entered_count, entered_capacity;
    uint64_t *entered; /* the contexts that the thread has entered, the outermost first (InvivoContexts); freed with the slot's thread */
};

/* A pin: it keeps one generation (docs/architecture.md: Reading). Never freed; belongs to its core. `state`: the generation of the
 * handle in the upper 44 bits, IV_PIN_OPEN until it is ended, and the number of its holders: the pin itself, and threads that are
 * copying it. While that is not 0, `graph` is kept. The handle: the generation in the upper 44 bits, `index` in the lower 20. */
struct iv_pin {
    struct iv_pin *outer;     /* the next pin that the thread is in; while unused, the next unused one. First: see iv_reader */
    uint64_t state;
    const void *graph;
    const void **source;      /* of the reads in it: its `graph`; for a section of code outside of all pins, `current` of the core */
    struct iv_reader *reader; /* the slot of the thread that is in it; NULL: it belongs to no thread */
    struct iv_pin *next;      /* in the list of all pins of the core */
    struct iv_core *core;
    uint64_t tag;             /* of the runtime */
    uint64_t since;           /* monotonic nanoseconds */
    const char *file;         /* where it was begun; not owned */
    uint32_t line, thread;    /* the kernel's id of the thread that began it */
    uint32_t index;
    uint32_t is_reported;     /* its age was logged; belongs to the thread that looks for old pins */
};
enum { IV_PIN_SHIFT = 20, IV_PIN_CHUNK_SHIFT = 8, IV_PIN_CHUNKS = 1 << (IV_PIN_SHIFT - IV_PIN_CHUNK_SHIFT) };
#define IV_PIN_OPEN (1ull << 19)
#define IV_PIN_HOLDERS (IV_PIN_OPEN - 1)

/* The part of a runtime that outlives it. Cores are never freed: a new runtime takes a free core, with a new tag. `tag` is
 * the upper half of the runtime's handle while it is open, and 0 otherwise. Order of a commit: current, then epoch (release); a membarrier before anything is freed. */
struct iv_pool_list;
struct iv_creation;
struct iv_context;
struct iv_core {
    uint64_t tag;
    const void *current;
    uint64_t epoch;
    struct iv_reader *readers; /* grows at the head, by compare-and-swap under the registry's lock */
    void *engine;              /* the Container, retained while tag != 0 or a reader is inside */
    uint32_t index;
    uint32_t state; /* IV_CORE_... */
    uint64_t closing; /* IV_CLOSING_... */
    struct iv_pool_list *pools; /* of this runtime's weak pools, or NULL */
    uint64_t pool_epoch;        /* incremented when something that readers of pools may see is removed */
    void (*object_ended)(uint64_t owner); /* called with the owner word of a slot with a mark (ObjectTable.mark), or NULL */
    struct iv_pin *pins;      /* all pins that were ever needed; grows at the head, under the lock of pins */
    struct iv_pin *free_pins; /* unused ones that no thread keeps; under the same lock */
    uint64_t pin_moves;       /* incremented when a reader or another pin takes over the generation of a pin */
    uint64_t pins_watched;    /* whether a look for old pins is planned */
    void *contexts;           /* the Contexts, unretained: the Container keeps it while a reader is inside */
    struct iv_context *context_defaults; /* the declared defaults of keys, as a context; NULL without one */
};

enum { IV_CORE_FREE = 0, IV_CORE_OPEN = 1, IV_CORE_FORKED = 3 };
/* Flags of `closing`. BUILDS: no outermost build may begin; a close that fails clears it. FORKED: the core is the parent
 * process's, and no build may begin in the child. */
enum { IV_CLOSING_BUILDS = 1, IV_CLOSING_FORKED = 2 };
enum { IV_CORES = 4096 };

/* ---- cells ------------------------------------------------------------------------------------------- */

/* The shared instance of one definition. The first word is public (invivo_cell). The first two are written under the
 * engine's monitor, published with release, and read by anyone inside a view; the third belongs to the monitor. */
struct iv_cell {
    void *shared_instance; /* of shared types: any thread */
    uint64_t object;       /* handle bits of the object, 0 while cold; IV_CELL_... */
    uint64_t made;         /* the build state, for the Swift Cell alone */
};
/* Flags in `object`, in the bits of a handle's kind. The flag of a cell that creates a new object each time is set
 * when the cell is created. */
#define IV_CELL_CONFINED (1ull << 63) /* the cell is an iv_confined_cell */
#define IV_CELL_MAKES (1ull << 62)    /* the cell is an iv_making_cell, and there is no object */
struct iv_confined_cell {
    struct iv_cell cell;
    void *instance;  /* for the threads that `thread` permits */
    uint64_t thread; /* 0 = any thread, else the id of the only one */
};
struct iv_making_cell {
    struct iv_cell cell;
    struct iv_type *prototype; /* for a prototype without dependencies: created from its type alone */
    struct iv_program *program; /* its build plan, if its whole graph is known; set once, released by the Cell */
    uint64_t id; /* of the key whose cell it is; aliases lead here with keys of their own */
};
static inline bool iv_word_is_plain(uint64_t object) { return (object & (IV_CELL_CONFINED | IV_CELL_MAKES)) == 0; }
static inline uint64_t iv_word_confined(uint64_t object) { return object | IV_CELL_CONFINED; }
static inline uint64_t iv_word_object(uint64_t object) { return object & ~(IV_CELL_CONFINED | IV_CELL_MAKES); }
static inline void iv_cell_start_making(struct iv_cell *cell) { cell->object = IV_CELL_MAKES; }
/* The cell as the kind that its `object` states; NULL for another kind. */
static inline struct iv_confined_cell *iv_word_confined_cell(uint64_t object, struct iv_cell *cell) {
    return object & IV_CELL_CONFINED ? (struct iv_confined_cell *)cell : 0;
}
static inline struct iv_making_cell *iv_word_making_cell(uint64_t object, struct iv_cell *cell) {
    return object & IV_CELL_MAKES ? (struct iv_making_cell *)cell : 0;
}
/* For a cell that is not marked yet, but was allocated with that size. */
static inline struct iv_confined_cell *iv_cell_as_confined(struct iv_cell *cell) { return (struct iv_confined_cell *)cell; }

/* The data of a type for creating and disposing of plain objects. Belongs to the Swift ObjectType. */
struct iv_type {
    void *owner;       /* the ObjectType, unretained */
    void *container;   /* the Container, unretained: lives as long as the type */
    uint64_t size;     /* 0: the type brings its own memory */
    uint64_t offset;   /* of the instance from the start of its record */
    const void *image; /* `size` bytes an instance starts with; NULL = zeroes */
    int32_t (*init)(void *, const void *, const void *, size_t, void *, void **);
    void (*end)(void *, void *); /* deinit or release */
    void *user_data;
    uint64_t thread;   /* 0 = any, .max = only by jobs, else the only thread that may touch instances */
    uint64_t handle;
    uint32_t is_plain; /* simple, and made by init without arguments */
    uint32_t is_simple; /* sized, made by init alone, without start, hooks or alignment above 16 */
    uint32_t has_stop;
    uint32_t has_weak; /* its instances are counted elsewhere, and it has weak references to them */
};

/* A graph of simple objects whose shape is known when it is planned (InvivoWiring/Program.swift). Immutable except for `checked`.
 * Its cell owns it, so that a view or a pin of the generation in which it was found keeps it. */
enum { IV_ARGUMENT_CONSTANT = 0, IV_ARGUMENT_NODE = 1, IV_ARGUMENT_SHARED = 2 };
struct iv_argument {
    uint32_t what;       /* IV_ARGUMENT_... */
    uint32_t node;       /* of NODE: which one */
    const void *thing;   /* of CONSTANT: an invivo_value; of SHARED: the iv_cell */
};
/* One object of a build plan. Objects come before the objects that receive them. Offsets are bytes from the start of the
 * block. */
struct iv_node {
    struct iv_type *type;
    const void *build; /* the invivo_build that its init receives */
    uint64_t key;      /* a handle */
    uint32_t id;
    uint32_t first, count; /* its arguments */
    uint32_t leases;       /* its leases: one for each argument that it is, and one for the caller of the last node */
    uint32_t record, instance;
    uint32_t edges;        /* the leases on those of its arguments that are objects */
};
struct iv_program {
    uint64_t size;    /* of the block that contains all its objects */
    uint64_t thread;  /* 0 = any, else the only one that may run it */
    uint64_t checked; /* 1 + the last generation found without documents for any of its keys */
    uint32_t node_count, argument_count;
    uint32_t has_shared; /* whether an argument is SHARED */
    struct iv_node *nodes;
    struct iv_argument *arguments;
    const void *image; /* the initial content of every block, except the addresses of its instances, their slots and their edges */
    void *owner; /* the owner of the constants and cells, retained */
};

/* A graph: the public part (invivo_graph) and the part for the runtime alone. */
struct iv_graph {
    uint64_t generation;
    uint32_t owner;
    uint32_t count;
    void *const *chunks; /* of invivo_entry */
    const struct iv_keys *keys;
    void *graph; /* the Swift Graph, unretained */
    uint64_t step;  /* the number of graphs before it that have the same generation */
    uint64_t order; /* greater than that of each graph before it; the epoch of its readers is greater by 1 */
};

/* The names of keys, for lookups without a lock. Each name is stored in a chunk that never moves: the id (4 bytes), the
 * length (1 byte; 255 = 255 or more), the bytes, a NUL. A hash table with open addressing finds it. A slot of the table is
 * the upper half of the name's hash and the offset of the name, written last with release; 0 = free. A larger table is
 * published in place of a full one. */
enum { IV_TEXT_SHIFT = 12, IV_TEXT_LONG = 255 };
struct iv_names { uint64_t mask; uint64_t *slots; };
struct iv_keys { struct iv_names *names; char **texts; uint64_t prefix; };
static inline struct iv_names *iv_keys_names(const struct iv_keys *keys) { return __atomic_load_n(&keys->names, __ATOMIC_ACQUIRE); }
static inline void iv_keys_publish(struct iv_keys *keys, struct iv_names *names) { __atomic_store_n(&keys->names, names, __ATOMIC_RELEASE); }
static inline void iv_keys_publish_texts(struct iv_keys *keys, char **texts) { __atomic_store_n(&keys->texts, texts, __ATOMIC_RELEASE); }
static inline const char *iv_keys_text(const struct iv_keys *keys, uint32_t at) {
    return __atomic_load_n(&keys->texts, __ATOMIC_ACQUIRE)[at >> IV_TEXT_SHIFT] + (at & ((1u << IV_TEXT_SHIFT) - 1));
}
static inline uint32_t iv_text_id(const char *text) { uint32_t id; __builtin_memcpy(&id, text, 4); return id; }
static inline const char *iv_text_name(const char *text) { return text + 5; }
static inline size_t iv_text_length(const char *text) {
    unsigned char length = (unsigned char)text[4];
    return length < IV_TEXT_LONG ? length : __builtin_strlen(text + 5);
}

/* ---- objects ----------------------------------------------------------------------------------------- */

/* A slot outlives every runtime, so that a stale handle can be checked. state: leases in the low 32 bits, IV_HOLD
 * while the graph holds it, IV_DYING from the moment nobody does, the handle's 28-bit generation on top. */
struct iv_slot {
    uint64_t state;
    struct iv_record *record; /* valid while the generation fits and IV_DYING is not set, or for the disposing thread */
    uint64_t owner;           /* the core's tag: whose object it is */
};

#define IV_LEASES 0xffffffffull
#define IV_HOLD (1ull << 32)
#define IV_DYING (1ull << 33)
/* The object is part of a reference cycle, which is searched when a claim ends. */
#define IV_CYCLE (1ull << 34)
/* With IV_DYING: the object is on trial, to find out whether only its cycle holds it. A lease cancels the trial. */
#define IV_TRIAL (1ull << 35)
#define IV_GENERATION_SHIFT 36

/* The control block; the instance of a sized type follows it. */
struct iv_record {
    struct iv_type *type; /* lives as long as the runtime; users that outlive it retain it */
    void *instance;
    void *extra;      /* Unmanaged<ObjectExtra>, retained, or NULL */
    uint64_t sequence; /* order of creation, process-wide; 0 for plain prototypes. The upper 16 bits count the leases on
                          what was injected, handles that follow the instance (or the record, where that is elsewhere).
                          For an object of a build plan, the lower 32 bits are the offset in its block */
    uint64_t thread;   /* 0 = any; .max = jobs of its domain only; else the thread that may use it: that of its type's domain,
                          or its creator's while it is neither shared nor attached */
    uint32_t slot;
    uint32_t key;     /* id + 1; 0 = created without a definition */
};

enum { IV_EDGES_SHIFT = 48, IV_IN_BLOCK_SHIFT = 47 };
/* The memory of all objects of one run of a build plan; freed with the last of them. */
struct iv_block { uint64_t live, padding; };
static inline uint64_t *iv_block_live(struct iv_block *block) { return &block->live; }
static inline int iv_record_in_block(const struct iv_record *record) { return record->sequence >> IV_IN_BLOCK_SHIFT & 1; }
static inline struct iv_block *iv_record_block(const struct iv_record *record) {
    return (struct iv_block *)((char *)record - (uint32_t)record->sequence);
}
static inline uint32_t iv_record_edge_count(const struct iv_record *record) { return (uint32_t)(record->sequence >> IV_EDGES_SHIFT); }
static inline uint64_t *iv_record_edges(const struct iv_record *record, uint64_t size) {
    return size ? (uint64_t *)((char *)record->instance + ((size + 7) & ~(uint64_t)7)) : (uint64_t *)(record + 1);
}
/* 0 for a record with an allocation of its own and no leases. Lowest bit set: the record is in a block. Otherwise it has
 * leases, which are released one after the other when it has ended. */
static inline uint64_t iv_record_holding(const struct iv_record *record) { return record->sequence >> IV_IN_BLOCK_SHIFT; }
static inline void iv_record_set_edge_count(struct iv_record *record, uint32_t count) {
    record->sequence = (record->sequence & (((uint64_t)1 << IV_EDGES_SHIFT) - 1)) | (uint64_t)count << IV_EDGES_SHIFT;
}
/* The order of creation alone. For objects of a build plan, a number larger than all others. */
static inline uint64_t iv_record_order(const struct iv_record *record) {
    return iv_record_in_block(record) ? record->sequence : record->sequence & (((uint64_t)1 << IV_IN_BLOCK_SHIFT) - 1);
}
static inline void iv_record_set_order(struct iv_record *record, uint64_t order) {
    record->sequence = (record->sequence >> IV_EDGES_SHIFT << IV_EDGES_SHIFT) | order;
}

enum { IV_SLOT_CHUNK_SHIFT = 14, IV_SLOT_CHUNKS = 1 << 16 };
extern struct iv_slot *iv_slot_chunks[IV_SLOT_CHUNKS];

static inline struct iv_slot *iv_slot_at(uint32_t index) {
    uint32_t chunk = index >> IV_SLOT_CHUNK_SHIFT;
    struct iv_slot *slots;
    if (chunk >= IV_SLOT_CHUNKS) return 0;
    slots = __atomic_load_n(&iv_slot_chunks[chunk], __ATOMIC_ACQUIRE);
    return slots ? &slots[index & ((1u << IV_SLOT_CHUNK_SHIFT) - 1)] : 0;
}
static inline void iv_slot_chunk_set(uint32_t chunk, struct iv_slot *slots) {
    __atomic_store_n(&iv_slot_chunks[chunk], slots, __ATOMIC_RELEASE);
}

/* A build plan that a thread runs, for resolves of its initializers. */
struct iv_running {
    struct iv_program *program;
    const void *graph;   /* the iv_graph it was found in: held by nothing, for comparison only */
    uint64_t *objects;   /* handles of the nodes made so far */
    uint32_t made;
    void *container;     /* unretained: the reader slot's `building` keeps the runtime open */
    void *build;         /* the Build that a resolve needed, retained; NULL mostly */
};

/* ---- threads ----------------------------------------------------------------------------------------- */

enum { IV_MAGAZINE = 32 };

struct iv_seat { struct iv_core *core; struct iv_reader *reader; };

/* Objects that lose their last claim while another object is disposed of: a queue through `thread` of their records.
 * They end one after the other, not recursively, because a chain may be longer than the stack. */
struct iv_ending { struct iv_record *first, *last; uint64_t is_open; };

/* One for each thread; freed by its end. */
struct iv_block;
/* The operations that enclose the current one, on the stack of a thread: a build may lead from one runtime through others
 * and back. */
struct iv_around {
    void *build, *engine; /* as in iv_thread */
    struct iv_around *outer;
};
/* A creation without a definition, such as an entry of a pool; on the stack of the thread that runs its function. */
struct iv_creation {
    struct iv_creation *outer; /* first: see iv_reader */
    void *pending;   /* the Swift PendingCreation of the threads that wait for it, retained, or NULL */
    void *build;     /* the Build of its function's resolves, retained; created on demand */
    void *container; /* unretained */
};

struct iv_thread {
    struct iv_core *core;     /* the last one read, and its slot */
    struct iv_reader *reader;
    struct iv_seat *seats;    /* all of them */
    uint32_t seat_count, seat_capacity;
    uint64_t id;              /* never reused; 0 until its first use */
    void *build;              /* the build that this thread is in, as a ThreadBuild; unretained */
    void *engine;             /* the engine whose reload or job this thread is running, unretained */
    struct iv_around *around; /* the enclosing operations, the innermost first */
    struct iv_block *block;   /* the block whose objects an outer call disposes of; `block_gone`: how many it has disposed of */
    uint64_t block_gone;
    struct iv_ending ending;
    struct iv_creation *creation; /* the innermost creation without a definition on this thread */
    uint32_t magazine_count;  /* free object slots kept by this thread */
    uint32_t prepared;
    uint32_t magazine[IV_MAGAZINE];
    uint32_t locks;           /* monitors that it holds */
    uint32_t asking;          /* calls of `is_current` under way; the runtime refuses calls from them */
    void *postponed;          /* work for the time after the last unlock: a Postponed, retained; usually NULL */
    uint32_t without_content; /* what errors about documents do not quote: see ContentQuoting */
    uint64_t load_deadline;   /* the time limit for reading and planning documents; 0: no limit */
    uint64_t barred;          /* the tag of the runtime whose rules this thread runs, and which it cannot call; 0: none */
    void *recorder;           /* notes the properties that a trait sets: a SetRecorder, unretained; NULL outside of one */
    void *declarations;       /* takes the layers that a trait type declares: a LayerDeclarations, unretained; NULL outside */
};

extern __thread struct iv_thread iv_thread_state __attribute__((tls_model("initial-exec")));
static inline struct iv_thread *iv_thread(void) { return &iv_thread_state; }

extern struct iv_core *iv_cores[IV_CORES];
static inline struct iv_core *iv_core_at(uint32_t index) {
    return index < IV_CORES ? __atomic_load_n(&iv_cores[index], __ATOMIC_ACQUIRE) : 0;
}
static inline void iv_core_set(uint32_t index, struct iv_core *core) { __atomic_store_n(&iv_cores[index], core, __ATOMIC_RELEASE); }
static inline struct iv_reader *iv_readers(struct iv_core *core) { return __atomic_load_n(&core->readers, __ATOMIC_ACQUIRE); }
static inline void iv_readers_push(struct iv_core *core, struct iv_reader *reader) {
    reader->next = core->readers;
    __atomic_store_n(&core->readers, reader, __ATOMIC_RELEASE);
}
static inline uint32_t iv_reader_thread(struct iv_reader *reader) { return __atomic_load_n(&reader->thread, __ATOMIC_ACQUIRE); }
static inline void iv_reader_set_thread(struct iv_reader *reader, uint32_t thread) { __atomic_store_n(&reader->thread, thread, __ATOMIC_RELEASE); }

static inline const void *iv_reader_graph(const struct iv_reader *reader) { return __atomic_load_n(&reader->graph, __ATOMIC_ACQUIRE); }
static inline void iv_reader_set_graph(struct iv_reader *reader, const void *graph) { __atomic_store_n(&reader->graph, graph, __ATOMIC_RELEASE); }

/* The graph that a read of this slot's thread begins with. */
static inline const void *iv_reader_begin(const struct iv_reader *reader) {
    return __atomic_load_n(__atomic_load_n(&reader->source, __ATOMIC_RELAXED), __ATOMIC_ACQUIRE);
}
static inline void iv_reader_set_source(struct iv_reader *reader, const void **source) {
    __atomic_store_n(&reader->source, source, __ATOMIC_RELAXED);
}
/* For a slot of `core`: its thread is in no pin. */
static inline void iv_reader_reset(struct iv_reader *reader, struct iv_core *core) {
    __atomic_store_n(&reader->pins, (struct iv_pin *)0, __ATOMIC_RELAXED);
    iv_reader_set_source(reader, &core->current);
}
static inline struct iv_pin *iv_reader_pins(const struct iv_reader *reader) { return __atomic_load_n(&reader->pins, __ATOMIC_RELAXED); }
static inline void iv_reader_set_pins(struct iv_reader *reader, struct iv_pin *pin) { __atomic_store_n(&reader->pins, pin, __ATOMIC_RELAXED); }
/* Whether the thread of the slot is in a pin. */
static inline int iv_reader_is_pinned(const struct iv_reader *reader, const struct iv_core *core) {
    return __atomic_load_n(&reader->source, __ATOMIC_RELAXED) != (const void **)&core->current;
}

extern struct iv_pin *iv_pin_chunks[IV_PIN_CHUNKS];
static inline struct iv_pin *iv_pin_at(uint32_t index) {
    uint32_t chunk = index >> IV_PIN_CHUNK_SHIFT;
    struct iv_pin *pins = chunk < IV_PIN_CHUNKS ? __atomic_load_n(&iv_pin_chunks[chunk], __ATOMIC_ACQUIRE) : 0;
    return pins ? &pins[index & ((1u << IV_PIN_CHUNK_SHIFT) - 1)] : 0;
}
static inline void iv_pin_chunk_set(uint32_t chunk, struct iv_pin *pins) { __atomic_store_n(&iv_pin_chunks[chunk], pins, __ATOMIC_RELEASE); }
static inline struct iv_pin *iv_core_pins(const struct iv_core *core) { return __atomic_load_n(&core->pins, __ATOMIC_ACQUIRE); }
static inline void iv_core_push_pin(struct iv_core *core, struct iv_pin *pin) {
    pin->next = core->pins;
    __atomic_store_n(&core->pins, pin, __ATOMIC_RELEASE);
}
static inline const void *iv_pin_graph(const struct iv_pin *pin) { return __atomic_load_n(&pin->graph, __ATOMIC_ACQUIRE); }
static inline void iv_pin_set_graph(struct iv_pin *pin, const void *graph) { __atomic_store_n(&pin->graph, graph, __ATOMIC_RELEASE); }
static inline struct iv_reader *iv_pin_reader(const struct iv_pin *pin) { return __atomic_load_n(&pin->reader, __ATOMIC_ACQUIRE); }
static inline void iv_pin_set_reader(struct iv_pin *pin, struct iv_reader *reader) { __atomic_store_n(&pin->reader, reader, __ATOMIC_RELEASE); }
static inline uint64_t *iv_pin_state(struct iv_pin *pin) { return &pin->state; }
static inline uint64_t *iv_pin_tag(struct iv_pin *pin) { return &pin->tag; }
static inline void iv_pin_read_own(struct iv_pin *pin) { pin->source = &pin->graph; }
static inline void iv_pin_read_current(struct iv_pin *pin, struct iv_core *core) { pin->source = &core->current; }
static inline uint64_t *iv_core_pin_moves(struct iv_core *core) { return &core->pin_moves; }
static inline uint64_t *iv_core_pins_watched(struct iv_core *core) { return &core->pins_watched; }

static inline void *iv_core_contexts(const struct iv_core *core) { return __atomic_load_n(&core->contexts, __ATOMIC_ACQUIRE); }
static inline void iv_core_set_contexts(struct iv_core *core, void *contexts) { __atomic_store_n(&core->contexts, contexts, __ATOMIC_RELEASE); }
static inline struct iv_context *iv_core_context_defaults(const struct iv_core *core) { return __atomic_load_n(&core->context_defaults, __ATOMIC_ACQUIRE); }
static inline void iv_core_set_context_defaults(struct iv_core *core, struct iv_context *defaults) { __atomic_store_n(&core->context_defaults, defaults, __ATOMIC_RELEASE); }

static inline const void *iv_core_current(const struct iv_core *core) { return __atomic_load_n(&core->current, __ATOMIC_ACQUIRE); }
static inline void iv_core_publish(struct iv_core *core, const void *graph, uint64_t epoch) {
    __atomic_store_n(&core->current, graph, __ATOMIC_RELEASE);
    __atomic_store_n(&core->epoch, epoch, __ATOMIC_RELEASE);
}

/* The graph of a view on an invalid runtime: no keys. */
const struct iv_graph *iv_no_graph(void);
/* The version of every key of the parent process in a forked child: no commit changes it. */
const uint64_t *iv_version_of_forked_keys(void);

/* Sets the function that a thread's end calls with its iv_thread. */
void iv_at_thread_exit(void (*function)(struct iv_thread *));
void iv_thread_exit_arm(void);
/* Installs the handlers of forks: a forked child first marks every open core. */
void iv_at_fork_install(void);
/* How many forks lie between this process and the first one that used the library. */
extern uint64_t iv_fork_count;
static inline uint64_t iv_forks(void) { return __atomic_load_n(&iv_fork_count, __ATOMIC_ACQUIRE); }
/* A lock of the whole process, held across fork, so that no child finds it locked by a thread that the child does not
 * have. No thread takes one of these while it holds another. Never freed. */
struct iv_held { pthread_mutex_t *mutex; struct iv_held *next; };
void iv_hold_across_fork(struct iv_held *held);

/* ---- live objects ------------------------------------------------------------------------------------- */

struct iv_live {
    uint64_t runtimes, objects, callables, errors, graphs, blocks, threads, descriptors, leases, contexts;
    uint64_t sequence; /* of creation */
    uint64_t thread_ids;
};
extern struct iv_live iv_live;
static inline uint64_t *iv_live_runtimes(void) { return &iv_live.runtimes; }
static inline uint64_t *iv_live_graphs(void) { return &iv_live.graphs; }
static inline uint64_t *iv_live_blocks(void) { return &iv_live.blocks; }
static inline uint64_t *iv_live_threads(void) { return &iv_live.threads; }
static inline uint64_t *iv_live_descriptors(void) { return &iv_live.descriptors; }
static inline uint64_t *iv_live_contexts(void) { return &iv_live.contexts; }
static inline uint64_t *iv_live_sequence(void) { return &iv_live.sequence; }
static inline uint64_t *iv_live_thread_ids(void) { return &iv_live.thread_ids; }

/* ---- addresses of shared words ----------------------------------------------------------------------- */

/* Swift takes `&pointer.pointee.word` for a modifying access of its own; the address alone is none. */
static inline uint64_t *iv_reader_epoch(struct iv_reader *reader) { return &reader->epoch; }
static inline uint64_t *iv_reader_building(struct iv_reader *reader) { return &reader->building; }
static inline uint64_t *iv_reader_builds_from(struct iv_reader *reader) { return &reader->builds_from; }
static inline uint64_t *iv_reader_pooling(struct iv_reader *reader) { return &reader->pooling; }
static inline uint64_t *iv_core_closing(struct iv_core *core) { return &core->closing; }
static inline uint32_t *iv_core_state(struct iv_core *core) { return &core->state; }
static inline uint64_t *iv_core_tag(struct iv_core *core) { return &core->tag; }
static inline uint64_t *iv_core_epoch(struct iv_core *core) { return &core->epoch; }
static inline void iv_core_set_object_ended(struct iv_core *core, void (*function)(uint64_t)) {
    __atomic_store_n(&core->object_ended, function, __ATOMIC_RELEASE);
}
static inline void iv_core_object_ended(struct iv_core *core, uint64_t owner) {
    void (*function)(uint64_t) = __atomic_load_n(&core->object_ended, __ATOMIC_ACQUIRE);
    if (function) function(owner);
}
static inline void **iv_record_extra(struct iv_record *record) { return &record->extra; }
static inline uint64_t *iv_slot_owner(struct iv_slot *slot) { return &slot->owner; }
static inline uint64_t *iv_slot_state(struct iv_slot *slot) { return &slot->state; }
static inline struct iv_program *iv_making_program(struct iv_making_cell *cell) { return __atomic_load_n(&cell->program, __ATOMIC_ACQUIRE); }
static inline void iv_making_set_program(struct iv_making_cell *cell, struct iv_program *program) { __atomic_store_n(&cell->program, program, __ATOMIC_RELEASE); }
static inline uint64_t *iv_program_checked(struct iv_program *program) { return &program->checked; }
static inline uint64_t *iv_cell_object(struct iv_cell *cell) { return &cell->object; }
static inline void **iv_cell_shared(struct iv_cell *cell) { return &cell->shared_instance; }
static inline void **iv_confined_instance(struct iv_confined_cell *cell) { return &cell->instance; }
static inline uint64_t *iv_confined_thread(struct iv_confined_cell *cell) { return &cell->thread; }

/* Condition variables on the monotonic clock. */
int iv_condition_init(pthread_cond_t *condition);

#endif
