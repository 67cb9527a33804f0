/** @file reload.h
 * Observers and reports of reloads. */
#ifndef INVIVO_RELOAD_H
#define INVIVO_RELOAD_H

#include "base.h"

INVIVO_EXTERN_C_BEGIN

enum {
    INVIVO_CHANGED_DEFINED = 0,    /**< a definition was added or replaced */
    INVIVO_CHANGED_REMOVED = 1,    /**< a definition was removed */
    INVIVO_CHANGED_REMADE = 2,     /**< the shared instance was replaced */
    INVIVO_CHANGED_REINJECTED = 3, /**< the instance is the same, but an injected object changed */
    INVIVO_CHANGED_TUNED = 4,      /**< a property of the instance or block has a new value */
    INVIVO_CHANGED_PENDING = 5,    /**< takes effect when the object is next created, or when its target is attached */
    INVIVO_CHANGED_CONFIGURED = 6, /**< the configuration at the path in the key changed */
    INVIVO_CHANGED_DORMANT = 7,    /**< the definition is blocked on missing dependencies */
    INVIVO_CHANGED_CLEARED = 8,    /**< a pool was cleared; the key is the name of the pool */
    INVIVO_CHANGED_KEPT = 9        /**< the instance keeps a former object or value (INVIVO_ON_CHANGE_KEEP) */
};

enum {
    INVIVO_PHASE_DETECT = 0, /**< from the first event (or the modification time of the file) to the last */
    INVIVO_PHASE_SETTLE = 1,
    INVIVO_PHASE_STAGE = 2,
    INVIVO_PHASE_PLAN = 3,
    INVIVO_PHASE_COMMIT = 4,
    INVIVO_PHASE_TOTAL = 5,  /**< from the change of the file (or the call) to the commit */
    /** Time without a started exclusive object: from the stop of the old one until the new one is available, or the old
     * one is started again; 0 if there was none. */
    INVIVO_PHASE_OUTAGE = 6,
    INVIVO_PHASE_COUNT = 7
};

/** One part of the cause of a reload. The comment states the name (invivo_report_cause_name). */
enum {
    INVIVO_CAUSE_FILE = 0,         /**< a file was opened, edited or read again: the name of its source */
    INVIVO_CAUSE_DOCUMENT = 1,     /**< a call opened or changed a document in memory: its name */
    INVIVO_CAUSE_CLOSE = 2,        /**< a source was closed: its name */
    INVIVO_CAUSE_DEFINE = 3,       /**< the key */
    INVIVO_CAUSE_REMOVE = 4,       /**< the key */
    INVIVO_CAUSE_SET = 5,          /**< a base value was set: "key.property" */
    INVIVO_CAUSE_CONFIGURE = 6,    /**< a runtime setting: the path */
    INVIVO_CAUSE_RESET = 7,        /**< the key */
    INVIVO_CAUSE_RESET_SCOPE = 8,  /**< the scope */
    INVIVO_CAUSE_OVERRIDE = 9,     /**< an override began: the key */
    INVIVO_CAUSE_OVERRIDE_END = 10, /**< an override ended: the key */
    INVIVO_CAUSE_ACTIVATE = 11,    /**< the assembly */
    INVIVO_CAUSE_DEACTIVATE = 12,  /**< the assembly */
    INVIVO_CAUSE_MOUNT = 13,       /**< an assembly was mounted: the prefix */
    INVIVO_CAUSE_ATTACH = 14,      /**< a target was attached: the key */
    INVIVO_CAUSE_DETACH = 15,      /**< a target was detached, or its object has ended: the key */
    INVIVO_CAUSE_CLEAR = 16,       /**< the pool */
    INVIVO_CAUSE_PROCESS = 17,     /**< a processor was added: its name */
    INVIVO_CAUSE_UNPROCESS = 18,   /**< a processor was removed: its name */
    INVIVO_CAUSE_RULE = 19,        /**< a rule was added: its name */
    INVIVO_CAUSE_RULE_REMOVE = 20, /**< a rule was removed: its name */
    INVIVO_CAUSE_ROLLBACK = 21,    /**< the number of the generation whose content came back */
    INVIVO_CAUSE_TYPE = 22,        /**< a type was registered that definitions were blocked on: its name */
    INVIVO_CAUSE_MANIFEST = 23,    /**< an application was started: the file of the manifest */
    INVIVO_CAUSE_OVERTAKEN = 24,   /**< an object was built while a reload replaced its definition: "" */
    INVIVO_CAUSE_MORE = 25,        /**< further parts were omitted: "" */
    INVIVO_CAUSE_TRAIT = 26,       /**< a trait type was added: its name */
    INVIVO_CAUSE_TRAIT_REMOVE = 27, /**< a trait type was removed: its name */
    INVIVO_CAUSE_ENVIRONMENT = 28, /**< the copy of the environment was refreshed: "" */
    INVIVO_CAUSE_BIND = 29,        /**< a section was bound to settings: the name of the binding */
    INVIVO_CAUSE_UNBIND = 30       /**< a binding was removed: its name */
};

/** The origin of the new value or definition of a change. The comment states the layer (invivo_report_layer). */
enum {
    INVIVO_ORIGIN_NONE = 0,     /**< there is no new value or definition, or the object's own value is back: "" */
    INVIVO_ORIGIN_FILE = 1,     /**< a file that is followed or was opened: the name of its source */
    INVIVO_ORIGIN_DOCUMENT = 2, /**< a document in memory: its name */
    INVIVO_ORIGIN_CALL = 3,     /**< a call: a definition, a runtime setting or a base value; "" */
    INVIVO_ORIGIN_ASSEMBLY = 4, /**< a definition of an assembly: the name under which it is active */
    INVIVO_ORIGIN_MANIFEST = 5, /**< the manifest of the application: its file */
    INVIVO_ORIGIN_OVERRIDE = 6, /**< the definition of an override: "" */
    /** A rollback brought the value or definition back: the former layer, if it is known. The location is the one in the
     * former content. */
    INVIVO_ORIGIN_ROLLBACK = 7,
    /** A variable of the environment (`environment_prefix`): the prefix. The file of the location is the name of the variable. */
    INVIVO_ORIGIN_ENVIRONMENT = 8
};

enum {
    INVIVO_WARNING_OTHER = 0,
    INVIVO_WARNING_KEPT = 1,        /**< an object keeps a former dependency (INVIVO_ON_CHANGE_KEEP) */
    INVIVO_WARNING_ADJUSTED = 2,    /**< a setter clamped or ignored the value of a document */
    INVIVO_WARNING_FOREIGN = 3,     /**< other code changed a property; its value stays */
    /** Nothing reads a configuration value that resembles one that is read; or a rule or a condition reads a path that nothing defines
     * and that resembles a defined one; or a profile is not active and resembles an active one; or nothing inherits the traits of a key
     * that begins with a dot and resembles another key. */
    INVIVO_WARNING_UNREAD = 4,
    INVIVO_WARNING_RENAMED = 5,     /**< a document uses the former name of a property */
    INVIVO_WARNING_NO_TARGET = 6,   /**< traits wait for a target with their key */
    INVIVO_WARNING_REFUSED = 7,     /**< the bytes of a file are still refused; the rest was committed */
    INVIVO_WARNING_UNRESTORED = 8,  /**< a former value still cannot be restored */
    INVIVO_WARNING_SETUP = 9,       /**< `setup`, `refresh` or `finalize` of an object failed */
    INVIVO_WARNING_RETYPED = 10,    /**< the type of a key changed: the new object has no former object */
    INVIVO_WARNING_DIVERGED = 11,   /**< a file has other bytes than the content that a rollback brought back */
    INVIVO_WARNING_UNKNOWN_TRAIT = 12, /**< a live document uses a trait type that was removed */
    INVIVO_WARNING_SKIPPED = 13     /**< a trait with an error was skipped (INVIVO_SOURCE_KEEP_GOING) */
};

/** A report about one reload. Valid during the call of the observer. */
typedef struct invivo_report invivo_report;

/** Returns the current generation: the new one, or the unchanged one after a failure. */
INVIVO_API uint64_t invivo_report_generation(const invivo_report *report) INVIVO_NOWAIT;
/** Returns INVIVO_OK if the reload was committed, else its status. */
INVIVO_API invivo_status invivo_report_status(const invivo_report *report) INVIVO_NOWAIT;
/** Returns the cause: "tuning.yaml", "define synth.lead", ... */
INVIVO_API const char *invivo_report_cause(const invivo_report *report) INVIVO_NOWAIT;
/** Returns the number of parts of the cause. Change sets that became one reload have their parts one after the other. */
INVIVO_API size_t invivo_report_cause_count(const invivo_report *report) INVIVO_NOWAIT;
/** Returns the kind of a part of the cause (INVIVO_CAUSE_...). */
INVIVO_API uint32_t invivo_report_cause_kind(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the name in a part of the cause: see the kinds. */
INVIVO_API const char *invivo_report_cause_name(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the error of a failed reload, borrowed, or NULL. */
INVIVO_API const invivo_error *invivo_report_error(const invivo_report *report) INVIVO_NOWAIT;
/** Returns the errors of stop functions of replaced objects, borrowed, or NULL. The reload is committed nevertheless.
 * Objects with views or leases are stopped later; the log reports errors of these stops. */
INVIVO_API const invivo_error *invivo_report_stop_error(const invivo_report *report) INVIVO_NOWAIT;
/** Returns the number of warnings.
 * A warning is logged once, until a reload of the document no longer has it. */
INVIVO_API size_t invivo_report_warning_count(const invivo_report *report) INVIVO_NOWAIT;
/** Returns a warning, borrowed: "a.yaml:2:10: 'audio.volum' is not read by anything; did you mean 'audio.volume'?". */
INVIVO_API const char *invivo_report_warning(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the kind of a warning (INVIVO_WARNING_...). */
INVIVO_API uint32_t invivo_report_warning_kind(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the file of the location that a warning is about, or "". */
INVIVO_API const char *invivo_report_warning_file(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the line of that location, from 1; 0 if it is unknown. */
INVIVO_API uint32_t invivo_report_warning_line(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the column of that location, from 1; 0 if it is unknown. */
INVIVO_API uint32_t invivo_report_warning_column(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the number of changes. */
INVIVO_API size_t invivo_report_count(const invivo_report *report) INVIVO_NOWAIT;
/** Returns the key of a change. */
INVIVO_API const char *invivo_report_key(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the kind of a change (INVIVO_CHANGED_...). */
INVIVO_API uint32_t invivo_report_change(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the property of a change, or "". */
INVIVO_API const char *invivo_report_property(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns where the new value or definition of a change is written: "tuning.yaml:3:12"; "" if there is none, or if a call
 * gave it without a location (invivo_definition.file). */
INVIVO_API const char *invivo_report_location(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the origin of the new value or definition of a change (INVIVO_ORIGIN_...). */
INVIVO_API uint32_t invivo_report_origin(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the name of the layer that the new value or definition belongs to: see the origins. */
INVIVO_API const char *invivo_report_layer(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the file of the location of a change, or "". */
INVIVO_API const char *invivo_report_file(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the line of the location of a change, from 1; 0 if it is unknown. */
INVIVO_API uint32_t invivo_report_line(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the column of the location of a change, from 1; 0 if it is unknown. */
INVIVO_API uint32_t invivo_report_column(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/** Returns the number of live prototype or graph-scope objects that were created for the key of a change before it.
 * Reloads do not follow them (see INVIVO_DEFINITION_TRACKED). The first call for a report counts; the cost is
 * proportional to the live objects. 0 for shared objects. */
INVIVO_API uint64_t invivo_report_untracked(const invivo_report *report, size_t index) INVIVO_WAITS;
/** Returns the duration of a phase in nanoseconds (INVIVO_PHASE_...). */
INVIVO_API uint64_t invivo_report_nanoseconds(const invivo_report *report, uint32_t phase) INVIVO_NOWAIT;
/** Returns a summary in one line: "generation 7: tuning.yaml: synth.lead.gain tuned, 1.3 ms". */
INVIVO_API const char *invivo_report_text(const invivo_report *report) INVIVO_NOWAIT;
/** Returns the number of changes that a report of invivo_runtime_reports does not contain: it has the first 1000. 0 for
 * the report of an observer. */
INVIVO_API uint64_t invivo_report_omitted(const invivo_report *report) INVIVO_NOWAIT;

/** A function that receives a report, valid during the call. */
typedef void (*invivo_report_visit)(void *user_data, const invivo_report *report);
/** Calls `visit` with the reports of the last reloads, committed or failed, the oldest first.
 * The runtime keeps the last 64, and fewer if they need more than 1 MiB; the newest one is always kept. Reloads that
 * found nothing to change have no report. Called on the calling thread, without locks held. */
INVIVO_API invivo_status invivo_runtime_reports(invivo_runtime runtime, invivo_report_visit visit, void *user_data,
                                                invivo_error **error) INVIVO_WAITS;

enum {
    /** An edit of a followed file was noticed, before its quiet time has passed; or a call or the runtime has begun a
     * reload, before its turn. Several files of one burst have one number, and one call each. */
    INVIVO_PROGRESS_DETECTED = 0,
    /** The plan is complete, and no object was created yet. Comes again if the change set is planned again: for example,
     * without the files that were refused before. */
    INVIVO_PROGRESS_PLANNED = 1,
    /** The new generation is visible. Comes before the objects of the former one are stopped. */
    INVIVO_PROGRESS_COMMITTED = 2,
    /** The reload has failed, and the generation stays, also if it failed before its turn. A call that is itself an error (a
     * wrong handle, a call that may not wait) begins no reload. */
    INVIVO_PROGRESS_REFUSED = 3,
    /** Nothing was to change: the files have the former content, or are not open any more. */
    INVIVO_PROGRESS_UNCHANGED = 4,
    /** A former generation has ended: no view, pin, build or lookup uses it any more. The objects that end with it were
     * stopped, or their domain has the job to stop them. Objects with leases, and those to which their language still
     * refers, live on: see invivo_runtime_retired. */
    INVIVO_PROGRESS_RETIRED = 5
};

/** One phase of a reload, or the end of a former generation. */
typedef struct invivo_progress {
    size_t struct_size;
    uint32_t phase;    /**< INVIVO_PROGRESS_... */
    uint32_t reserved; /**< 0 */
    /** The number of the reload, the same in all its phases, and larger than those of earlier ones. Change sets and edits
     * that become one reload keep their numbers: each phase comes for each of them. 0 for RETIRED. */
    uint64_t reload;
    /** The current generation: for COMMITTED the new one. For RETIRED the one that has ended. */
    uint64_t generation;
    /** The cause, as in a report; for DETECTED of a file its name; "" for RETIRED, and for edits that are UNCHANGED, or refused by
     * close. Valid during the call. */
    const char *cause;
    const invivo_error *error; /**< of REFUSED, borrowed; otherwise NULL */
} invivo_progress;

/** Options of invivo_observe. */
typedef struct invivo_observer_options {
    size_t struct_size;
    /** Called after each reload, committed or failed, in order, on the thread of the reload, without locks held. */
    void (*reloaded)(void *user_data, const invivo_report *report);
    void *user_data;
    void (*destroy)(void *user_data); /**< called once; may be NULL */
    invivo_domain domain;             /**< the domain of the calls; zero = the thread of the reload */
    /** For caches of resolved objects and of typed settings. May be NULL; with it, `reloaded` may be NULL.
     *
     * Called twice for each commit that changes the object of a key or typed settings: with `published` 0 before the new
     * generation becomes visible, with 1 after that. The first call empties the cache. The cache stores nothing until the
     * second call, and is therefore never older than the runtime. While pins keep former generations, the second call is
     * postponed until the last of them has ended, and there are no further first calls: a cache does not know in which pin
     * its caller is. Called on the committing thread, or on the loop thread after a pin, regardless of `domain`, without
     * locks held. The commit waits for it. It may call what `progress` may call; before the publication, resolves and reads
     * answer from the former generation. An observer that is added during a commit is called from the next commit on. */
    void (*publishing)(void *user_data, uint32_t published);
    /** The observed part of the runtime: at most one of `key`, `type` and `object`, not with `publishing`. `reloaded` is
     * then called after the commits that change it, with a report of these changes alone. Without one, after each reload,
     * committed or failed.
     *
     * `key`: its definition, object or value. It need not be defined. NULL = not given. */
    const char *key;
    /** The keys whose objects have this type, a subtype of it, or had it before the commit. NULL = not given. */
    const char *type;
    /** An object: a commit injected into it again, changed its properties, or replaced it. Not leased. The observer ends some time after the
     * object. Zero = not given. */
    invivo_object object;
    /** Called once, before `reloaded` for the same reload: with the generation after the first commit of the runtime, or
     * with the error of its first reload if that fails; borrowed. If one of them has happened when the observer is added,
     * the call follows on the loop thread, or in `domain`; a reload that ends meanwhile is reported there, too, after it. An observer that is closed before is not called. May be NULL; with it,
     * `reloaded` may be NULL. */
    void (*ready)(void *user_data, uint64_t generation, const invivo_error *error);
    /** Called for the phases of each reload, and for the end of each former generation. May be NULL; with it, `reloaded`
     * may be NULL. Not with `key`, `type` or `object`.
     *
     * A reload begins with DETECTED and ends with exactly one of COMMITTED, REFUSED and UNCHANGED, which comes before
     * `reloaded`. The close of the runtime refuses the reloads that wait for the worker. An observer is called for the
     * reloads that begin after it was added. RETIRED comes once for each former generation, in the order in which they
     * end. Called on the thread that does the work, regardless of `domain`, without locks held.
     *
     * That work waits for the callback, which should return soon. It may call functions that do not wait for a reload: those
     * tagged INVIVO_NOWAIT, resolves (of a confined object only in its domain), reads of the configuration and of the state,
     * invivo_changes_submit, invivo_runtime_options_change, invivo_observe, and the close of its own observer. Calls that
     * would wait for a reload return INVIVO_E_WOULD_WAIT, and invivo_runtime_close INVIVO_E_IN_CALLBACK. While the runtime
     * closes, calls return INVIVO_E_CLOSED. */
    void (*progress)(void *user_data, const invivo_progress *progress);
} invivo_observer_options;

/** Adds an observer of reloads. Calls nothing, except `publishing` with 0 while pins keep former generations.
 *
 * Observers of types are called first, then those of objects, then all others, each in the order in which they were added. An
 * observer that is equal to one that is there (functions, `user_data`, `domain` and what is observed) is the same
 * observer: `out` is its handle, `destroy` of the new options is not called, and one close ends it. In the setups of
 * different objects they are different observers.
 *
 * @param out borrowed until invivo_observer_close, the close of the runtime, the end of the observed object, or the teardown of the
 *     object whose setup added it */
INVIVO_API invivo_status invivo_observe(invivo_runtime runtime, const invivo_observer_options *options, invivo_observer *out,
                                        invivo_error **error) INVIVO_WAITS;
/** Returns the generation that was current when an observer was added, or became current just then: it is notified of the commits of later ones. */
INVIVO_API invivo_status invivo_observer_generation(invivo_observer observer, uint64_t *out, invivo_error **error) INVIVO_NOWAIT;
/** Removes an observer. It is not called after this function returns; a running call on another thread is awaited. */
INVIVO_API invivo_status invivo_observer_close(invivo_observer observer, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
