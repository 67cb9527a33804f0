/* runtime.h: opening and closing an engine, its domains, its log, its state. */
#ifndef INVIVO_RUNTIME_H
#define INVIVO_RUNTIME_H

#include "value.h"

INVIVO_EXTERN_C_BEGIN

/* Levels of the log. ERROR: a reload was refused that no call waited for, a stop has failed. WARNING: something was accepted that
 * may not be meant, or is waited for. INFO: a reload is over; one that fails in a call of the host is that call's error, and only
 * information here. */
enum { INVIVO_LOG_TRACE = 0, INVIVO_LOG_DEBUG = 1, INVIVO_LOG_INFO = 2, INVIVO_LOG_WARNING = 3, INVIVO_LOG_ERROR = 4,
       INVIVO_LOG_SILENT = 5 };

typedef struct invivo_log_entry {
    size_t struct_size;
    uint32_t level;
    uint32_t reserved;
    const char *message;       /* complete in itself: place, key path, text */
    const char *path;          /* the key path in it once more, or "" */
    const invivo_pair *fields; /* more, typed: "reload", its cause, where observers hear of the same thing */
    uint64_t field_count;
} invivo_log_entry;

enum {
    INVIVO_DOMAIN_OPENER = 0, /* confined objects belong to the thread that opens the runtime */
    INVIVO_DOMAIN_LOOP = 1    /* ... to the runtime's loop thread */
};

enum {
    INVIVO_RUNTIME_PENDING_TARGETS = 1, /* a spec may name targets that nobody has declared yet: they wait, with a warning */
    INVIVO_RUNTIME_WITHOUT_NEEDS = 16,  /* what types declare that they need is not filled: definitions say all of it */
    INVIVO_RUNTIME_FOREIGN_FILES = 32,  /* modules and manifests may be files that other users own or can write (SECURITY.md) */
    INVIVO_RUNTIME_WITHOUT_CONTENT = 64 /* errors about documents give places and keys, and no other text of the documents. Keys are
                                           those of definitions, with the names of entries in them ("synth.voice[lead]"), paths
                                           of the configuration ("config.synth.voices") and the keys under `traits`. The name of
                                           an entry that is refused is not shown */
};

/* For `load_timeout_ms`: there is no limit. */
#define INVIVO_LOAD_UNLIMITED UINT32_MAX
/* For `commit_timeout_ms`, `start_timeout_ms` and `stop_timeout_ms`, of a runtime and of a definition: there is no limit. */
#define INVIVO_TIMEOUT_UNLIMITED UINT32_MAX
/* For `stop_grace_ms`: there is no limit. */
#define INVIVO_STOP_GRACE_UNLIMITED UINT32_MAX

typedef struct invivo_runtime_options {
    size_t struct_size;
    const char *name;          /* for threads and messages; NULL = "invivo" */
    uint32_t default_domain;   /* INVIVO_DOMAIN_OPENER or _LOOP */
    uint32_t flags;            /* INVIVO_RUNTIME_... */
    uint32_t quiet_ms;         /* settle: quiet time after the last event; UINT32_MAX = default 10 */
    uint32_t settle_max_ms;    /* settle: endless writes are cut off after this; 0 = default 250. A followed file that is open for
                                  writing is read when it is closed, or after 2 s, or after this time if it is longer. A call that
                                  reads a file waits for its writer for at most this time */
    /* How long a reload waits for a domain, for another thread's constructor, or for one other reload that is under way. Then it
     * fails; the error names what the other reload is in. Edits of followed files wait without a limit. A job not begun is withdrawn.
     * One begun is awaited until it has had 5 s, and is then left to its domain, which undoes it when it returns. Values that
     * a domain does not restore in this time are restored before anything else is done there. 0 = default 5,000.
     *
     * Constructors of shared types, observers and converters run on the thread of the reload, and no limit ends them: a
     * constructor may take long, and may use what belongs to that thread. One that does not return keeps its own reload from
     * ending; each other reload fails after this time, and resolves and views go on. Starts and stops have limits of their own. */
    uint32_t commit_timeout_ms;
    /* The least level that is logged; INVIVO_LOG_SILENT logs nothing. */
    uint32_t log_level;
    /* Called from any thread, never with a lock of the runtime held, and neither after close nor in a forked child. It must not
     * wait for a lock that another thread holds while that waits for the runtime.
     *
     * NULL = standard error gets warnings and errors, each as "NAME: LEVEL: MESSAGE", unless `log_level` is higher. They are
     * written at once, without stdio. No SIGPIPE is raised. A message that standard error does not take within 0.1 s is
     * dropped. */
    void (*log)(void *user_data, const invivo_log_entry *entry);
    void *log_user_data;
    void (*log_destroy)(void *user_data); /* once, at the end of close, after the last call of `log`. Not called when opening
                                             fails: the user data is then still the caller's. May be NULL */
    uint64_t max_document_bytes; /* a larger document is INVIVO_E_TOO_LARGE; 0 = default 1 MiB */
    /* A start that takes longer has failed, and the object is stopped again. A change set does not wait longer than this, and
     * at least 5 s, for a start that does not return: it fails, and the object is stopped when the start returns. For this a
     * change set starts and stops objects of shared types on threads of their own. 0 = default 60,000. A definition may declare
     * another limit. */
    uint32_t start_timeout_ms;
    uint32_t stop_timeout_ms;  /* a stop that takes longer is an error in the report; awaited as a start is. 0 = default 60,000 */
    /* How long a retired object without leases may wait for the references of its own language to end (`count_references`,
     * type.h). Then it is stopped all the same, and a warning names its key and type. 0 = default 30 s;
     * INVIVO_STOP_GRACE_UNLIMITED = as long as there is a reference. References that retired objects hold to each other in
     * their language count too: the objects of such a cycle wait for this time. */
    uint32_t stop_grace_ms;
    uint32_t load_timeout_ms;    /* reading and planning documents that takes longer is abandoned: INVIVO_E_TIMEOUT names them. So it
                                    is when the runtime closes. A converter is not interrupted: one that does not return holds up
                                    its reload. 0 = default 10 s; INVIVO_LOAD_UNLIMITED = no limit */
    uint64_t max_document_nodes; /* a document with more values, lists and maps is INVIVO_E_TOO_LARGE; 0 = default 50,000 */
    uint64_t max_each_entries;   /* a map or list with more entries is INVIVO_E_TOO_LARGE where a definition is for each of them;
                                    0 = default 10,000; at most 2,097,151 */
} invivo_runtime_options;

/* Fills in the defaults of the first `struct_size` bytes, and writes nothing behind them; a larger size counts as that of
 * this library. */
INVIVO_API void invivo_runtime_options_init_sized(invivo_runtime_options *options, size_t struct_size) INVIVO_NOWAIT;
/* Fills in the defaults. The function behind the macro does so up to `max_document_bytes`: programs that were compiled with
 * a shorter structure, and without the macro, call it. */
INVIVO_API void invivo_runtime_options_init(invivo_runtime_options *options) INVIVO_NOWAIT;
#define invivo_runtime_options_init(options) invivo_runtime_options_init_sized((options), sizeof(invivo_runtime_options))
/* Opens an engine. `options` may be NULL. Threads are started when the first source needs them. */
INVIVO_API invivo_status invivo_runtime_open(invivo_runtime *out, const invivo_runtime_options *options,
                                             invivo_error **error) INVIVO_WAITS;
/* Closes it: refuses new work, waits for what is being made, for a reload under way and for views, removes watches,
 * stops shared instances, each before what it depends on, disposes of them in reverse order of creation, ends the threads.
 * Stops that fail are gathered: the runtime is closed all the same, and the answer is INVIVO_E_STOP, which lists them. It
 * waits for at most 5 s in all and
 * then answers INVIVO_E_BUSY; a reload that waits for a domain which takes no jobs fails after 2 s of that with
 * INVIVO_E_CLOSED. With leases outstanding it answers INVIVO_E_BUSY and names them, with a view of the calling thread open
 * INVIVO_E_BUSY at once, from inside a callback INVIVO_E_IN_CALLBACK. A close that is refused leaves the runtime as it was:
 * calls of other threads meanwhile may have got INVIVO_E_CLOSED, and no edit is lost. After a close that succeeds no thread,
 * descriptor, object or callback is left. Call it in the opening thread when confined objects live there.
 *
 * What was injected is leased by the runtime on its user's behalf and does not count. A lease that a component takes itself
 * (invivo_object_retain, a copied value) and gives back when it is disposed does: nothing tells it from one that the
 * component hands on. Such a component uses what was injected without a lease of its own, which is there for as long as the
 * component is; or the host closes with invivo_runtime_close_deferred, which disposes of both. */
INVIVO_API invivo_status invivo_runtime_close(invivo_runtime runtime, invivo_error **error) INVIVO_WAITS;
/* The same for hosts that collect garbage: objects still leased stay valid and are disposed with their last lease. */
INVIVO_API invivo_status invivo_runtime_close_deferred(invivo_runtime runtime, invivo_error **error) INVIVO_WAITS;

/* Runs the jobs that wait for the calling thread's domain, in order. Waits up to `timeout_ms` for the first one (0 =
 * do not wait, UINT32_MAX = until one comes). `ran` (may be NULL) receives how many ran. */
INVIVO_API invivo_status invivo_runtime_poll(invivo_runtime runtime, uint32_t timeout_ms, uint32_t *ran,
                                             invivo_error **error) INVIVO_WAITS;
/* The generation that holds now, also in a thread that has a view of an older one open. */
INVIVO_API invivo_status invivo_runtime_generation(invivo_runtime runtime, uint64_t *out, invivo_error **error) INVIVO_WAITS;
/* A descriptor that is readable while jobs wait for the opening thread: for a host's own loop. Owned by the runtime. */
INVIVO_API invivo_status invivo_runtime_descriptor(invivo_runtime runtime, int *out, invivo_error **error) INVIVO_WAITS;

/* Takes a reader slot for the calling thread now, so that its first view allocates nothing. Real-time threads must. */
INVIVO_API invivo_status invivo_thread_prepare(invivo_runtime runtime, invivo_error **error) INVIVO_WAITS;

/* ---- domains of the host's --------------------------------------------------------------------------- */

enum {
    INVIVO_DOMAIN_ANY_THREAD = 1, /* its objects may be touched from any thread: the callbacks take the lock they need
                                     themselves (Python's GIL) */
    INVIVO_DOMAIN_DEFAULT = 2     /* confined types that are registered from now on and name no domain belong to it */
};

typedef struct invivo_domain_options {
    size_t struct_size;
    const char *name;
    uint32_t flags;
    uint32_t reserved;
    /* Takes a job to wherever the domain's objects may be touched, and there calls invivo_job_run once, or
     * invivo_job_drop. May run it at once. A status other than OK refuses the job. Called without locks held. */
    invivo_status (*post)(void *user_data, invivo_job job, invivo_error **error);
    void *user_data;
    void (*destroy)(void *user_data); /* once; may be NULL */
    /* For a domain that is not one thread (a dispatch queue, an actor): answers 1 where its objects may be touched, else 0.
     * Jobs of such a domain run at once where this says 1, and while code there waits inside the runtime. May be NULL.
     * Called from any thread, also with locks held: it must be quick and must not call the runtime. A call that may take a lock
     * or run host code answers INVIVO_E_IN_CALLBACK inside it, and one that returns no status does nothing. */
    uint8_t (*is_current)(void *user_data);
    /* Without it a call that waits for a job here may come from the very thread that would have to run it: also where the
     * commit timeout is unlimited, a job that is not begun after 5 s is withdrawn, and the call answers INVIVO_E_TIMEOUT. */
} invivo_domain_options;

INVIVO_API invivo_status invivo_domain_register(invivo_runtime runtime, const invivo_domain_options *options,
                                                invivo_domain *out, invivo_error **error) INVIVO_WAITS;
/* Runs a posted job on the calling thread. A job runs once: a second run, or one after its deadline or after close,
 * answers INVIVO_E_STALE and does nothing. */
INVIVO_API invivo_status invivo_job_run(invivo_job job) INVIVO_WAITS;
/* Gives a job back unrun: the reload that posted it fails and is undone. */
INVIVO_API invivo_status invivo_job_drop(invivo_job job) INVIVO_WAITS;

/* ---- forked children ----------------------------------------------------------------------------------- */

/* A child that is forked while a runtime is open reads what the runtime had built, in the generation at the fork:
 *   - views (view.h), with configuration, blocks and built shared objects; a view that is open at the fork stays open;
 *   - invivo_resolve, _resolve_name, _resolve_optional, _resolve_with and _resolve_type without arguments, and invivo_peek, of
 *     built shared objects; an object of a confined type in the thread that forked, if it is the object's own;
 *   - invivo_key_find, invivo_key_of_type with a whole key as its name or none, invivo_key_name,
 *     invivo_key_version; invivo_config_read; invivo_config_id of a path that was named before;
 *   - invivo_object_instance, _type, _key and _runtime; leases may be taken and given back.
 * Types, callables and errors belong to no runtime and work as before. Everything else answers INVIVO_E_FORKED, or nothing where
 * a function answers no status: nothing is built, changed, started or followed. No stop, disposal or other callback of the
 * parent's runtimes runs, and closing them (invivo_app_close too) is INVIVO_OK and does nothing.
 *
 * No call of a child waits for a lock of the runtime that a thread of the parent held. Locks of the Swift runtime library are not
 * covered: its lock for types that are used for the first time may be held at the fork, so call in the parent, before it forks,
 * what its children will call. A fork during a commit gives the former generation.
 * Values that the commit has already set in confined objects are not undone in the child. The child may open runtimes of its
 * own. Their threads, files and descriptors are its own; it shares the parent's descriptors as any child does. */

/* ---- state ------------------------------------------------------------------------------------------- */

typedef struct invivo_runtime_info {
    size_t struct_size;
    uint64_t generation;
    uint64_t reloads;          /* committed */
    uint64_t failures;         /* rolled back */
    uint64_t definitions;
    uint64_t objects;          /* alive, shared and not */
    uint64_t leases;           /* held by hosts */
    uint64_t targets;
    uint64_t sources;
    uint64_t retiring;         /* generations that still have readers or leases */
    uint64_t waiting_jobs;     /* posted to a domain and not yet run */
    uint64_t waiting_since_ns; /* how long the oldest of them waits; 0 when none */
    uint64_t overflows;        /* how often the kernel's queue of file events overflowed */
    uint64_t rescans;          /* how often files were looked at without an event: after an overflow, and every 2 s (0.2 s where
                                  directories cannot be watched) */
    uint64_t unannounced;      /* changes found so in files whose directories are watched */
} invivo_runtime_info;

/* Reports what the runtime is doing. Runs no code of the host: the loop thread ends what may end before, and the call waits for
 * that for at most 1 s. */
INVIVO_API invivo_status invivo_runtime_inspect(invivo_runtime runtime, invivo_runtime_info *out, invivo_error **error) INVIVO_WAITS;
/* Lists the retired objects that have not been stopped: shared objects that a reload has replaced or removed, whose type has
 * `stop`, and that are still in use. `out` becomes an owned list with one map for each of them, in order of creation:
 *
 *     key        the key that it was made for; "" when there is none
 *     type       the name of its type
 *     reason     "read": a view reads its generation. "leased": there are leases on it, or objects that use it have not ended.
 *                "referenced": at most its own language refers to it
 *     leases     the number of leases, with those of the objects that it was injected into
 *     retired_ns how long ago it was replaced or removed, in nanoseconds
 *     idle_ns    how long there has been nothing but references of its own language; 0 when there is more
 *
 * The list describes one moment; other threads go on meanwhile. Runs no code of the host, as invivo_runtime_inspect. */
INVIVO_API invivo_status invivo_runtime_retired(invivo_runtime runtime, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/* Where an object is in its life, or a key that has none. */
enum {
    INVIVO_STATE_COLD = 0,     /* nothing is made yet */
    INVIVO_STATE_BUILDING = 1, /* it is being made */
    INVIVO_STATE_MADE = 2,     /* there; of a type with start: not started yet */
    INVIVO_STATE_PREPARED = 3,
    INVIVO_STATE_STARTING = 4,
    INVIVO_STATE_STARTED = 5,
    INVIVO_STATE_STOPPING = 6,
    INVIVO_STATE_STOPPED = 7,
    INVIVO_STATE_FAILED = 8,   /* the last try to make or start it failed */
    INVIVO_STATE_DORMANT = 9   /* INVIVO_DEFINITION_WAITS: something that it needs is not there */
};

/* The states of all keys that make shared instances or are dormant, sorted by key, as an owned list of maps:
 *   key (string), state (uint32, INVIVO_STATE_...), name (string: "started"), objects (uint64: how many there are),
 *   waits (list of strings: what a dormant one waits for: keys, names of types, and
 *   paths of the configuration as "config.path"), error (string: why the last try failed, or ""). */
INVIVO_API invivo_status invivo_runtime_states(invivo_runtime runtime, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/* The documents of a runtime, in the order in which later ones win, as an owned list of maps:
 *   name (string), path (string, "" for a document in memory),
 *   follows (string): "watching" = events announce its changes; "polling" = it is looked at every `interval_ms`, for the
 *   `reason`; "memory" = it changes by calls alone,
 *   interval_ms (uint64, 0 unless polling), reason (string, "" unless polling). */
INVIVO_API invivo_status invivo_runtime_sources(invivo_runtime runtime, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/* What last went wrong outside a call of the host (a broken edit, a lost watch), or is waited for longer than 1 s: an owned error, or
 * NULL. A reload that succeeds clears it, and so does the end of a wait for what another thread creates. */
INVIVO_API invivo_status invivo_runtime_last_error(invivo_runtime runtime, invivo_error **out) INVIVO_WAITS;
/* Logs an error, and keeps it as the last one: for what goes wrong in a callback that has nobody to answer it to (an
 * observer, say). `error` stays the caller's. */
INVIVO_API invivo_status invivo_runtime_note_error(invivo_runtime runtime, const invivo_error *error) INVIVO_WAITS;

/* What is alive in this process, over all runtimes of this copy of the library: what a test compares at its end. A struct_size
 * of 0 means this version's; one that no version has leaves `out` as it is. */
typedef struct invivo_live_counts {
    size_t struct_size;
    uint64_t runtimes, objects, callables, errors, graphs, blocks, threads, descriptors;
} invivo_live_counts;
INVIVO_API void invivo_live(invivo_live_counts *out) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
