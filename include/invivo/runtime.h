/** @file runtime.h
 * Runtimes: opening, closing, domains, log, state. */
#ifndef INVIVO_RUNTIME_H
#define INVIVO_RUNTIME_H

#include "value.h"

INVIVO_EXTERN_C_BEGIN

/** Log levels.
 * - ERROR: a reload failed that no call waited for, or a stop failed.
 * - WARNING: the runtime accepted something that is probably a mistake, or waits unusually long.
 * - INFO: a reload is done. A reload that fails in a call is reported by that call, and logged as INFO. */
enum { INVIVO_LOG_TRACE = 0, INVIVO_LOG_DEBUG = 1, INVIVO_LOG_INFO = 2, INVIVO_LOG_WARNING = 3, INVIVO_LOG_ERROR = 4,
       INVIVO_LOG_SILENT = 5 };

/** One message of the log. */
typedef struct invivo_log_entry {
    size_t struct_size;
    uint32_t level;
    uint32_t reserved;
    const char *message;       /**< complete: source location, key path, text */
    const char *path;          /**< the key path in the message, or "" */
    const invivo_pair *fields; /**< typed details; "reload" is the cause of a reload that observers also receive */
    uint64_t field_count;
} invivo_log_entry;

enum {
    INVIVO_DOMAIN_OPENER = 0, /**< confined objects belong to the thread that opens the runtime */
    INVIVO_DOMAIN_LOOP = 1    /**< confined objects belong to the loop thread of the runtime */
};

enum {
    INVIVO_RUNTIME_PENDING_TARGETS = 1, /**< spec files may name unknown targets; their traits are pending, with a warning */
    INVIVO_RUNTIME_WITHOUT_NEEDS = 16,  /**< type needs are not injected; definitions declare all injections */
    INVIVO_RUNTIME_FOREIGN_FILES = 32,  /**< modules and manifests may belong to, or be writable by, other users (SECURITY.md) */
    /** Errors contain source locations and keys, but no other text of a document.
     * Keys are those of definitions, with the names of their entries ("synth.voice[lead]"), configuration paths
     * ("config.synth.voices") and the keys under `traits`. The name of a refused entry is not shown. */
    INVIVO_RUNTIME_WITHOUT_CONTENT = 64
};

/** For `load_timeout_ms`: no limit. */
#define INVIVO_LOAD_UNLIMITED UINT32_MAX
/** For `commit_timeout_ms`, `start_timeout_ms`, `stop_timeout_ms` and `end_timeout_ms`, of a runtime or a definition: no limit. */
#define INVIVO_TIMEOUT_UNLIMITED UINT32_MAX
/** For `stop_grace_ms`: no limit. */
#define INVIVO_STOP_GRACE_UNLIMITED UINT32_MAX

/** For `pin_max_age_ms`: no limit. */
#define INVIVO_PIN_AGE_UNLIMITED UINT32_MAX

/** For `ramp_tick_ms`: the host advances the clock, by invivo_runtime_advance. */
#define INVIVO_RAMP_TICK_MANUAL UINT32_MAX

/** For `history`: no former generation is kept, except those with marks. */
#define INVIVO_HISTORY_NONE UINT32_MAX

/** Options of invivo_runtime_open. Initialize them with invivo_runtime_options_init.
 * invivo_runtime_options_change changes them while the runtime is open, except those up to `flags`, the log functions and
 * `environment_prefix`. */
typedef struct invivo_runtime_options {
    size_t struct_size;
    const char *name;          /**< for threads and messages; NULL = "invivo" */
    uint32_t default_domain;   /* INVIVO_DOMAIN_OPENER or _LOOP */
    uint32_t flags;            /* INVIVO_RUNTIME_... */
    uint32_t quiet_ms;         /**< quiet time after the last file event before a file is read; UINT32_MAX = default 10 */
    /** Maximum time that events can delay the reading of a file; 0 = default 250.
     * A followed file that is open for writing is read when its writer closes it, at the latest after 2 s or this time,
     * whichever is longer. A call that reads a file waits at most this time for its writer. */
    uint32_t settle_max_ms;
    /** Maximum time that a reload waits for a domain, for the constructor of another thread, or for one other reload.
     *
     * Then the reload fails, and the error names the operation of the other reload. Edits of followed files wait
     * without limit. A job that has not begun is withdrawn. A job that has begun gets up to 5 s. It is then left to its
     * domain, which undoes it when it returns. Values that a domain does not restore in time are restored before other
     * work in that domain. 0 = default 5,000.
     *
     * Constructors of shared types, observers and converters run on the thread of the reload, and have no time limit.
     * If one does not return, its own reload does not end, and each further reload fails after this time. Resolves and
     * views continue. Starts and stops have their own limits. */
    uint32_t commit_timeout_ms;
    /** The lowest level that is logged. INVIVO_LOG_SILENT logs nothing. */
    uint32_t log_level;
    /** Receives log messages. NULL = standard error.
     *
     * Called on any thread, without locks of the runtime, and never after close or in a forked child. It must not wait
     * for a lock whose holder waits for the runtime.
     *
     * The default writes warnings and errors to standard error, each as "NAME: LEVEL: MESSAGE", unless `log_level` is
     * higher. It writes at once, without stdio, and raises no SIGPIPE. It drops a message that standard error does not
     * accept within 0.1 s. */
    void (*log)(void *user_data, const invivo_log_entry *entry);
    void *log_user_data;
    /** Called once, at the end of close, after the last call of `log`. Not called if opening fails: the caller then
     * keeps the user data. May be NULL. */
    void (*log_destroy)(void *user_data);
    uint64_t max_document_bytes; /**< a larger document is INVIVO_E_TOO_LARGE; 0 = default 1 MiB */
    /** Maximum duration of a start. A longer start has failed, and the object is stopped. 0 = default 60,000.
     * A change set waits for a start at most this time, but at least 5 s. It then fails, and the object is stopped when
     * its start returns. For this reason, change sets start and stop objects of shared types on separate threads. A
     * definition may declare another limit. */
    uint32_t start_timeout_ms;
    /** maximum duration of a stop; a longer stop is an error in the report, see start_timeout_ms. 0 = default 60,000 */
    uint32_t stop_timeout_ms;
    /** Maximum time that a retired object without leases is kept because its own language refers to it
     * (`count_references`, type.h). Then it is stopped, and a warning names its key and type. 0 = default 30 s;
     * INVIVO_STOP_GRACE_UNLIMITED = no limit. References between retired objects count, too, so a cycle of retired
     * objects is kept for this whole time. */
    uint32_t stop_grace_ms;
    /** Maximum time for reading and planning documents. Then INVIVO_E_TIMEOUT names them; the same happens at close.
     * A converter is not interrupted: one that does not return blocks its reload. 0 = default 10 s;
     * INVIVO_LOAD_UNLIMITED = no limit. */
    uint32_t load_timeout_ms;
    /** A document with more values, lists and maps is INVIVO_E_TOO_LARGE, and so are more traits that keys inherit together.
     * 0 = default 50,000. */
    uint64_t max_document_nodes;
    /** a map or list with more entries for a definition with `each` is INVIVO_E_TOO_LARGE; 0 = default 10,000; at most
     * 2,097,151 */
    uint64_t max_each_entries;
    /** The age at which an open pin is logged, once, as a warning with the place where it began. 0 = default 60 s;
     * INVIVO_PIN_AGE_UNLIMITED = never. */
    uint32_t pin_max_age_ms;
    /** The number of former generations to which a rollback is possible, beside those with marks (history.h). 0 = default 16; at most
     * 1,000; INVIVO_HISTORY_NONE = none. */
    uint32_t history;
    /** Maximum time for the rules of a change set together (rule.h). Then INVIVO_E_TIMEOUT names the rule. 0 = default 1,000. */
    uint32_t rule_timeout_ms;
    /** The number of changes of the options, from invivo_runtime_options_read. With it, invivo_runtime_options_change fails with
     * INVIVO_E_STALE if they were changed meanwhile. 0 = the change is made in any case. Not used at opening. */
    uint32_t revision;
    /** Variables of the environment whose names begin with this string set configuration paths: with "INVIVO__", the variable
     * INVIVO__audio__rate sets `audio.rate`. These values override all documents, and runtime settings override them. NULL = none.
     * See invivo_runtime_refresh_environment. Cannot change while the runtime is open. */
    const char *environment_prefix;
    /** Directories whose files spec files may read by `include:` and `file:`, beside those of their own directory. Relative paths
     * count from the working directory at opening. A document in memory finds relative paths in the first one. NULL = none. */
    const char *const *document_roots;
    uint64_t document_root_count;
    /** The time between two steps of a property that moves to its value (the trait Ramp, docs/rules/traits.md). 0 = default 10; at
     * most 10,000; INVIVO_RAMP_TICK_MANUAL = the clock stands until invivo_runtime_advance. Cannot change while the runtime is open. */
    uint32_t ramp_tick_ms;
    /** Maximum time for the end of a context, with the builds that it waits for and all its stops (context.h). 0 = default 5,000;
     * INVIVO_TIMEOUT_UNLIMITED = no limit. */
    uint32_t end_timeout_ms;
} invivo_runtime_options;

/** Sets the defaults in the first `struct_size` bytes of the options.
 * Writes nothing behind them. A size larger than that of this library is treated as the library's size. */
INVIVO_API void invivo_runtime_options_init_sized(invivo_runtime_options *options, size_t struct_size) INVIVO_NOWAIT;
/** Sets the defaults of all options.
 * A macro of the same name sets all of them. The function itself, for programs that were compiled with a shorter struct,
 * sets those up to `max_document_bytes`. */
INVIVO_API void invivo_runtime_options_init(invivo_runtime_options *options) INVIVO_NOWAIT;
#define invivo_runtime_options_init(options) invivo_runtime_options_init_sized((options), sizeof(invivo_runtime_options))
/** Opens a runtime. `options` may be NULL. Threads start when the first source needs them. */
INVIVO_API invivo_status invivo_runtime_open(invivo_runtime *out, const invivo_runtime_options *options,
                                             invivo_error **error) INVIVO_WAITS;
/** Fills the first `out->struct_size` bytes with the options in force (0: all of this version).
 *
 * An option that was left to its default has the number in use. `INVIVO_..._UNLIMITED` and INVIVO_HISTORY_NONE stay as they
 * are. `default_domain`, `flags` and the log functions are as given. `name`, `environment_prefix` and `document_roots` are borrowed
 * until the runtime closes.
 * `log_level` is as given, too: without a log function, nothing below WARNING is written. Runs no host code. */
INVIVO_API invivo_status invivo_runtime_options_read(invivo_runtime runtime, invivo_runtime_options *out, invivo_error **error) INVIVO_WAITS;
/** Changes options of an open runtime. All changes take effect together, or none if the call fails.
 *
 * Begin with invivo_runtime_options_read, and change fields. A value means the same as in invivo_runtime_open, also if it
 * stands for a default, and the same values are refused. Fields behind `struct_size` stay as they are. `name`, `default_domain`,
 * `flags`, the log functions, `environment_prefix`, `document_roots` and `ramp_tick_ms` cannot change: INVIVO_E_ARGUMENT names the field that
 * differs. The change is no generation and no reload. INVIVO_E_STALE: another thread has changed the options since they were read (`revision`); read
 * them again, or set `revision` to 0. It is logged as INFO, at the new level: "options: quiet_ms 10 -> 2, history 16 -> 4".
 *
 * The call does not wait for a reload. It may be made on any thread, and in callbacks of the runtime except rules. A log function that
 * changes options receives the message about it before the call returns. New values take effect as follows. An operation that
 * has begun ends with the former ones.
 *
 *     quiet_ms, settle_max_ms    at once, also for files that have changed and are not read yet
 *     commit_timeout_ms          with the next wait; each reload reads it when it begins to wait, and when it begins its commit
 *     log_level                  with the next message
 *     max_document_bytes, max_document_nodes, max_each_entries
 *                                with the next document that is read, or the next reload that is planned. Live documents stay. A
 *                                file that was too large is read again when it changes, or with invivo_source_refresh; one
 *                                with too many values, with the next reload, too. A rollback reads the former
 *                                documents again
 *     start_timeout_ms, stop_timeout_ms
 *                                with the next start or stop
 *     end_timeout_ms             with the next end of a context
 *     stop_grace_ms              at once, also for objects that are retired already
 *     load_timeout_ms, rule_timeout_ms
 *                                with the next reload
 *     pin_max_age_ms             at once, also for open pins. A pin that has been logged is not logged again
 *     history                    at once: a lower number drops the oldest generations without marks, which may call destroy
 *                                functions of their definitions. A higher number keeps more from now on */
INVIVO_API invivo_status invivo_runtime_options_change(invivo_runtime runtime, const invivo_runtime_options *options,
                                                       invivo_error **error) INVIVO_WAITS;
/** Copies the environment of the process again, and updates everything that depends on it.
 *
 * A runtime copies the environment when it opens and in this call, on the calling thread, and reads it at no other time. No
 * other thread may change the environment meanwhile. The copy gives the values of `${NAME}` in documents
 * (docs/rules/spec-files.md), and of paths (`environment_prefix`).
 *
 * If a variable has changed, the call commits one change set: documents that name a changed variable are read again, from
 * their live content, and the values of paths change. If it fails, nothing changes, and the former copy stays. Errors name the
 * variable, and do not show its value. A rollback brings the copy of its generation back. */
INVIVO_API invivo_status invivo_runtime_refresh_environment(invivo_runtime runtime, invivo_error **error) INVIVO_WAITS;
/** Closes a runtime.
 *
 * Close refuses new work. It waits for builds, for a running reload and for views. It removes file watches, stops the
 * shared instances, each before its dependencies, disposes of them in reverse order of creation, and ends the threads.
 * If stop functions fail, the runtime is closed and the result is INVIVO_E_STOP with all errors. Call it on the opening
 * thread if confined objects belong to that thread.
 *
 * Close waits at most 5 s in all, then it returns INVIVO_E_BUSY. A reload that waits for an unresponsive domain fails
 * after 2 s of that time with INVIVO_E_CLOSED. Outstanding leases are INVIVO_E_BUSY; the error names them. An open view
 * of the calling thread is INVIVO_E_BUSY at once. A call from a callback is INVIVO_E_IN_CALLBACK. A refused close
 * leaves the runtime open, and no edit is lost, but calls on other threads may have returned INVIVO_E_CLOSED meanwhile.
 * After a successful close no thread, descriptor, object or callback remains.
 *
 * The runtime holds leases on injected objects for their holders; these leases do not count. A lease that a component
 * takes itself (invivo_object_retain, a copied value) does count, even if the component releases it at its disposal,
 * because the component may have passed it on. Such a component can use injected objects without a lease, as they live
 * as long as it does. Otherwise close with invivo_runtime_close_deferred: it disposes of the component, which then
 * releases the object. */
INVIVO_API invivo_status invivo_runtime_close(invivo_runtime runtime, invivo_error **error) INVIVO_WAITS;
/** Closes a runtime with outstanding leases. For hosts with garbage collection.
 * Objects with leases stay valid, and are disposed of with their last lease. Otherwise as invivo_runtime_close. */
INVIVO_API invivo_status invivo_runtime_close_deferred(invivo_runtime runtime, invivo_error **error) INVIVO_WAITS;

/** Runs the pending jobs of the calling thread's domain, in order.
 *
 * @param timeout_ms maximum time to wait for the first job; 0 = do not wait, UINT32_MAX = no limit
 * @param ran receives the number of jobs that ran; may be NULL */
INVIVO_API invivo_status invivo_runtime_poll(invivo_runtime runtime, uint32_t timeout_ms, uint32_t *ran,
                                             invivo_error **error) INVIVO_WAITS;
/** Advances the clock of the properties that move to their values, and sets these values.
 *
 * For hosts that render faster or slower than real time, and for tests. The runtime must have the option `ramp_tick_ms` =
 * INVIVO_RAMP_TICK_MANUAL, otherwise INVIVO_E_UNSUPPORTED. Waits for the domains of the objects, each at most `commit_timeout_ms`; the
 * other objects move all the same. A value of a block is set before the first object moves.
 *
 * Blocks and objects move while a reload is under way, as with the clock of the runtime. The call waits for the reload, at most
 * `commit_timeout_ms`, only if objects move in a domain with INVIVO_DOMAIN_ANY_THREAD and without `is_current`, such as that of
 * Python: nothing else keeps a step and a commit apart there. These objects move last. INVIVO_E_WOULD_WAIT in a callback.
 *
 * @param nanoseconds how much time has passed. One call is one step, however long. */
INVIVO_API invivo_status invivo_runtime_advance(invivo_runtime runtime, uint64_t nanoseconds, invivo_error **error) INVIVO_WAITS;
/** Returns the current generation, even if the calling thread has a view of an older one. */
INVIVO_API invivo_status invivo_runtime_generation(invivo_runtime runtime, uint64_t *out, invivo_error **error) INVIVO_WAITS;
/** Returns a descriptor that is readable while jobs for the opening thread are pending.
 * For the event loop of the host. The runtime owns the descriptor. */
INVIVO_API invivo_status invivo_runtime_descriptor(invivo_runtime runtime, int *out, invivo_error **error) INVIVO_WAITS;

/** Allocates the reader slot of the calling thread. Its first view then allocates nothing.
 * Real-time threads must call it before their first view. */
INVIVO_API invivo_status invivo_thread_prepare(invivo_runtime runtime, invivo_error **error) INVIVO_WAITS;

/* ---- domains of the host ------------------------------------------------------------------------------- */

enum {
    /** its objects may be used on any thread: the callbacks take the necessary lock themselves (Python's GIL) */
    INVIVO_DOMAIN_ANY_THREAD = 1,
    INVIVO_DOMAIN_DEFAULT = 2     /**< the default domain of confined types that are registered later */
};

/** Options of invivo_domain_register. */
typedef struct invivo_domain_options {
    size_t struct_size;
    const char *name;
    uint32_t flags;
    uint32_t reserved;
    /** Posts a job to the domain. Called without locks held.
     * The domain calls invivo_job_run once, or invivo_job_drop; it may do so at once. A status other than INVIVO_OK
     * refuses the job. */
    invivo_status (*post)(void *user_data, invivo_job job, invivo_error **error);
    void *user_data;
    void (*destroy)(void *user_data); /**< called once; may be NULL */
    /** Returns 1 if the calling code is in the domain, else 0. For domains that are not one thread (a dispatch queue, an
     * actor).
     * If it returns 1, the runtime runs jobs of the domain at once on the calling thread, also while that thread waits
     * inside the runtime. May be NULL.
     * Called on any thread, also with locks held: it must be fast and must not call the runtime. Inside it, a call that
     * may take a lock or run host code returns INVIVO_E_IN_CALLBACK, and one without a status does nothing. */
    uint8_t (*is_current)(void *user_data);
    /** Called in the domain before a commit changes or calls anything there, and after the commit or its undo: once each
     * for a commit with work in this domain. A toolkit can freeze its windows meanwhile. Both or none.
     * `end` comes when the new generation is visible, `refresh` and `finalize` have run; it is not waited for. Neither may wait
     * for a reload. A commit that gives up an unresponsive domain calls `end` when the domain answers. */
    void (*begin)(void *user_data);
    void (*end)(void *user_data);
    /* Without `is_current`, the thread that waits for a job may be the one that must run it. Therefore a job that has
     * not begun after 5 s is withdrawn, even without a commit timeout, and the call returns INVIVO_E_TIMEOUT. */
} invivo_domain_options;

/** Registers a domain of the host. */
INVIVO_API invivo_status invivo_domain_register(invivo_runtime runtime, const invivo_domain_options *options,
                                                invivo_domain *out, invivo_error **error) INVIVO_WAITS;
/** Runs a posted job on the calling thread.
 * A job runs once. A second run, or a run after its timeout or after close, returns INVIVO_E_STALE and does nothing. */
INVIVO_API invivo_status invivo_job_run(invivo_job job) INVIVO_WAITS;
/** Returns a job without running it. Its reload fails and is undone. */
INVIVO_API invivo_status invivo_job_drop(invivo_job job) INVIVO_WAITS;

/* ---- forked children ----------------------------------------------------------------------------------- */

/* A child process that is forked while a runtime is open can read the generation at the time of the fork:
 *
 * - views (view.h) with configuration, settings (invivo_view_settings), blocks and built shared objects; a view that is open
 *   at the fork stays open
 * - built shared objects, through invivo_resolve, _resolve_name, _resolve_optional, _resolve_with and _resolve_type
 *   without arguments, and invivo_peek; a confined object only on the thread that forked, if it belongs to that thread
 * - invivo_key_find, invivo_key_of_type with a whole key as name or without name, invivo_key_name, invivo_key_version,
 *   invivo_config_read, invivo_config_is_secret, invivo_config_id of a path that was used before, and invivo_settings_id
 *   and invivo_settings_typed_id of a name that was bound before; the latter does not check the type
 * - invivo_object_instance, _type, _key and _runtime; leases can be taken and released
 *
 * Types, callables and errors do not belong to a runtime and work as before. All other functions return
 * INVIVO_E_FORKED, or do nothing if they return no status. This includes invivo_settings_read, which serves factories and
 * hooks: a child uses invivo_view_settings. The child builds, changes, starts and follows nothing. No
 * stop, disposal or other callback of the parent's runtimes runs in the child. Closing them (also with
 * invivo_app_close) returns INVIVO_OK and does nothing.
 *
 * No call in a child waits for a runtime lock that a thread of the parent held. This does not cover locks of the Swift
 * runtime library, such as its lock for the first use of a type. Therefore call the functions that children will use in
 * the parent first. After a fork during a commit, the child sees the former generation. Values that the commit has
 * already set in confined objects stay set in the child. The child may open its own runtimes, with their own threads,
 * files and descriptors. It shares the parent's descriptors like any child process. */

/* ---- state ------------------------------------------------------------------------------------------- */

/** The state of a runtime. */
typedef struct invivo_runtime_info {
    size_t struct_size;
    uint64_t generation;
    uint64_t reloads;          /* committed */
    uint64_t failures;         /* rolled back */
    uint64_t definitions;
    uint64_t objects;          /**< live objects, shared or not */
    uint64_t leases;           /**< held by the host */
    uint64_t targets;
    uint64_t sources;
    uint64_t retiring;         /**< former generations that still have readers or leases */
    uint64_t waiting_jobs;     /**< posted to a domain and not run yet */
    uint64_t waiting_since_ns; /**< how long the oldest pending job has been waiting; 0 if there is none */
    uint64_t overflows;        /**< number of overflows of the kernel's queue of file events */
    /** number of scans without an event: after an overflow, and every 2 s (0.2 s if directories cannot be watched) */
    uint64_t rescans;
    uint64_t unannounced;      /**< changes that such scans found in files whose directories are watched */
} invivo_runtime_info;

/** Returns the state of a runtime. Runs no host code.
 * The loop thread first retires what can be retired; the call waits at most 1 s for it. */
INVIVO_API invivo_status invivo_runtime_inspect(invivo_runtime runtime, invivo_runtime_info *out, invivo_error **error) INVIVO_WAITS;
/** Returns the reasons why changes take effect late, or not at all. `out` becomes an owned map:
 *
 *     generation, reloads, failures   as in invivo_runtime_info
 *     last_error    as invivo_runtime_last_error: a map with "status" ("INVIVO_E_..."), "message", "path", "file", "line"
 *                   and "column"; null if there is none
 *     running       the reload that runs, as text; null without one
 *     step          the number of steps that properties have moved in this generation (the trait Ramp)
 *     moving        the number of blocks and objects with properties that move
 *     waiting_sets  the number of submitted change sets that no reload has begun with
 *     waiting_jobs  the number of jobs that wait for a domain
 *     diverged      the names of the documents whose files have other bytes than the live content, since a rollback
 *     kept          the dependencies of which objects keep the former object or value (INVIVO_ON_CHANGE_KEEP): maps with "key",
 *                   "dependency" and "since", the generation that replaced what is kept
 *     restart       the changes that take effect when an object is next created (INVIVO_DEFINITION_RESTART,
 *                   INVIVO_PROPERTY_RESTART): maps with "key", "property" ("" for the definition) and "since", the generation
 *                   that made the change. Properties are those of shared objects
 *     unrestored    the keys of objects that a failed commit could not restore or set up again; each commit tries again
 *     former        the former generations that are read, pinned, or whose objects are in use, the oldest first: maps with
 *                   "generation", "age_ns" since it was replaced, "objects", "bytes" of their instances, and "threads", the
 *                   kernel's ids of those that read it now. Of a generation with steps, one for each step that is kept
 *     pins          the open pins, including those of invivo_pin_enter, the oldest first: maps with "generation", "age_ns", "thread" and "place" ("server.c:12", or "")
 *
 * Counts are of kind INVIVO_KIND_UINT64. A snapshot, while other threads go on. Runs no host code, like
 * invivo_runtime_inspect. invivo_runtime_retired lists the objects that are still leased. */
INVIVO_API invivo_status invivo_runtime_status(invivo_runtime runtime, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/** Lists the retired objects that are not stopped yet.
 *
 * These are shared objects that a reload replaced or removed, whose type has `stop`, and that are still in use. `out`
 * becomes an owned list with one map per object, in order of creation:
 *
 *     key        the key for which it was created; "" if there is none
 *     type       the name of its type
 *     reason     "read": a view reads its generation. "leased": it has leases, or objects that use it have not
 *                ended. "referenced": only its own language refers to it
 *     leases     the number of leases, including those of the objects that it was injected into
 *     retired_ns time since it was replaced or removed, in nanoseconds
 *     idle_ns    time since only its own language refers to it; 0 if there are other uses
 *
 * The list is a snapshot. Runs no host code, like invivo_runtime_inspect. */
INVIVO_API invivo_status invivo_runtime_retired(invivo_runtime runtime, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/** States of an object, or of a key without one. */
enum {
    INVIVO_STATE_COLD = 0,     /**< no object exists */
    INVIVO_STATE_BUILDING = 1, /**< the object is being created */
    INVIVO_STATE_MADE = 2,     /**< created; not started yet, if its type has `start` */
    INVIVO_STATE_PREPARED = 3,
    INVIVO_STATE_STARTING = 4,
    INVIVO_STATE_STARTED = 5,
    INVIVO_STATE_STOPPING = 6,
    INVIVO_STATE_STOPPED = 7,
    INVIVO_STATE_FAILED = 8,   /**< the last attempt to create or start it failed */
    INVIVO_STATE_DORMANT = 9   /**< blocked on missing dependencies (INVIVO_DEFINITION_WAITS) */
};

/** Lists the states of all keys that have shared instances or are blocked.
 * The result is an owned list of maps, sorted by key: key (string), state (uint32, INVIVO_STATE_...), name (string,
 * such as "started"), objects (uint64, their number), waits (list of strings: missing dependencies of a blocked key:
 * keys, type names, and configuration paths as "config.path"), error (string: the last failure, or ""). */
INVIVO_API invivo_status invivo_runtime_states(invivo_runtime runtime, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/** Lists the documents of a runtime.
 * The result is an owned list of maps. Later documents override earlier ones. The maps have: name (string), path
 * (string, "" for a document in memory), follows (string), interval_ms (uint64, 0 unless polling), reason (string, ""
 * unless polling), diverged (bool), live_hash and file_hash (strings, "" unless diverged). `follows` is "watching" (events announce
 * changes), "polling" (checked every `interval_ms`, for the `reason`), "memory" (changed by calls only) or "closed" (a rollback has
 * brought the content of a closed source back). `diverged`: the file has bytes that a rollback refused (history.h). role (string) is
 * "source", "include" (a file that spec files include) or "value" (a file that is the value of a string, `file:`). refused (bool):
 * the present content of the file was refused and is not live: it is tried again in each change set. */
INVIVO_API invivo_status invivo_runtime_sources(invivo_runtime runtime, invivo_value *out, invivo_error **error) INVIVO_WAITS;
/** Returns the last error of a reload or of the runtime's own threads, owned, or NULL.
 * Such errors are failed reloads, lost file watches, and waits longer than 1 s. The error of a failed reload is kept even
 * if a caller has received it. A successful reload clears the error, and so does the end of the wait. */
INVIVO_API invivo_status invivo_runtime_last_error(invivo_runtime runtime, invivo_error **out) INVIVO_WAITS;
/** Logs an error and stores it as the last error. The caller keeps `error`.
 * For failures in callbacks that cannot return an error, such as observers. */
INVIVO_API invivo_status invivo_runtime_note_error(invivo_runtime runtime, const invivo_error *error) INVIVO_WAITS;

/** Counts of all live objects in the process, for all runtimes of this copy of the library.
 * Tests compare them at their end. A struct_size of 0 means this version; a size of no version leaves `out` unchanged. */
typedef struct invivo_live_counts {
    size_t struct_size;
    uint64_t runtimes, objects, callables, errors, graphs, blocks, threads, descriptors;
    uint64_t contexts; /**< open contexts */
} invivo_live_counts;
/** Returns the counts of live objects in the process. */
INVIVO_API void invivo_live(invivo_live_counts *out) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
