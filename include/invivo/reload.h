/* reload.h: hearing of reloads. */
#ifndef INVIVO_RELOAD_H
#define INVIVO_RELOAD_H

#include "base.h"

INVIVO_EXTERN_C_BEGIN

enum {
    INVIVO_CHANGED_DEFINED = 0,    /* a new definition */
    INVIVO_CHANGED_REMOVED = 1,    /* a definition is gone */
    INVIVO_CHANGED_REMADE = 2,     /* the shared instance is a new one */
    INVIVO_CHANGED_REINJECTED = 3, /* the instance is the same, something injected into it is new */
    INVIVO_CHANGED_TUNED = 4,      /* a property of the instance or block has another value */
    INVIVO_CHANGED_PENDING = 5,    /* takes effect when the object is next made, or when its target comes */
    INVIVO_CHANGED_CONFIGURED = 6, /* the configuration says something else at the path that stands for the key */
    INVIVO_CHANGED_DORMANT = 7,    /* the definition waits for something that is not there (any more) */
    INVIVO_CHANGED_CLEARED = 8     /* a pool has forgotten its entries; the key is the pool's name */
};

enum {
    INVIVO_PHASE_DETECT = 0, /* from the first event (or the file's own time of change) to the last */
    INVIVO_PHASE_SETTLE = 1,
    INVIVO_PHASE_STAGE = 2,
    INVIVO_PHASE_PLAN = 3,
    INVIVO_PHASE_COMMIT = 4,
    INVIVO_PHASE_TOTAL = 5,  /* from the file's change (or the call) to applied */
    INVIVO_PHASE_OUTAGE = 6, /* from the moment an exclusive object was stopped until the new one was there for everybody, or
                                the former one was started again; 0 when there was none */
    INVIVO_PHASE_COUNT = 7
};

/* What happened in one reload. Borrowed: valid during the observer's call. */
typedef struct invivo_report invivo_report;

/* The generation that holds now: the new one, or after a failure the one that stays. */
INVIVO_API uint64_t invivo_report_generation(const invivo_report *report) INVIVO_NOWAIT;
/* INVIVO_OK when it was committed. */
INVIVO_API invivo_status invivo_report_status(const invivo_report *report) INVIVO_NOWAIT;
/* What set it off: "tuning.yaml", "define synth.lead", ... */
INVIVO_API const char *invivo_report_cause(const invivo_report *report) INVIVO_NOWAIT;
/* Why it failed, borrowed; NULL when it did not. */
INVIVO_API const invivo_error *invivo_report_error(const invivo_report *report) INVIVO_NOWAIT;
/* What failed while replaced objects were stopped, all of it, borrowed; NULL when nothing did. The reload is committed all the
 * same. Objects that views or leases still hold are stopped later: that is told in the log. */
INVIVO_API const invivo_error *invivo_report_stop_error(const invivo_report *report) INVIVO_NOWAIT;
/* The warnings, each as one text, borrowed: "a.yaml:2:10: 'audio.volum' is not read by anything; did you mean 'audio.volume'?".
 * The log gets those that the last reload of the document did not have. */
INVIVO_API size_t invivo_report_warning_count(const invivo_report *report) INVIVO_NOWAIT;
INVIVO_API const char *invivo_report_warning(const invivo_report *report, size_t index) INVIVO_NOWAIT;
INVIVO_API size_t invivo_report_count(const invivo_report *report) INVIVO_NOWAIT;
/* One change: its key, what (INVIVO_CHANGED_...), and for a property its name ("" otherwise). */
INVIVO_API const char *invivo_report_key(const invivo_report *report, size_t index) INVIVO_NOWAIT;
INVIVO_API uint32_t invivo_report_change(const invivo_report *report, size_t index) INVIVO_NOWAIT;
INVIVO_API const char *invivo_report_property(const invivo_report *report, size_t index) INVIVO_NOWAIT;
/* How many objects live on that a change's key had made before, of prototype or graph scope, which no reload follows
 * (INVIVO_DEFINITION_TRACKED): they keep what they got. Counted when it is first asked of a report, which costs what the runtime
 * has alive; 0 for what is shared. */
INVIVO_API uint64_t invivo_report_untracked(const invivo_report *report, size_t index) INVIVO_WAITS;
/* Nanoseconds a phase took (INVIVO_PHASE_...). */
INVIVO_API uint64_t invivo_report_nanoseconds(const invivo_report *report, uint32_t phase) INVIVO_NOWAIT;
/* One line for people: "generation 7: tuning.yaml: synth.lead.gain tuned, 1.3 ms". */
INVIVO_API const char *invivo_report_text(const invivo_report *report) INVIVO_NOWAIT;

typedef struct invivo_observer_options {
    size_t struct_size;
    /* Called after every reload, committed or failed, in order, on the thread that ran it, without locks held. */
    void (*reloaded)(void *user_data, const invivo_report *report);
    void *user_data;
    void (*destroy)(void *user_data); /* once; may be NULL */
    invivo_domain domain;             /* where to call it; zero = the thread that ran the reload */
    /* For a cache of resolved objects. Called twice for each commit that gives a key another object: with `published` 0 right
     * before the new generation becomes visible, with 1 right after. The first call empties the cache, and until the second
     * one the cache keeps nothing; then it is never older than what the runtime answers. Called on the committing thread,
     * whatever `domain` is, without locks held. It must not call the runtime, except for functions tagged INVIVO_NOWAIT.
     * May be NULL; with it, `reloaded` may be NULL. An observer that is opened during a commit is called from the next
     * commit on. */
    void (*publishing)(void *user_data, uint32_t published);
} invivo_observer_options;

INVIVO_API invivo_status invivo_observe(invivo_runtime runtime, const invivo_observer_options *options, invivo_observer *out,
                                        invivo_error **error) INVIVO_WAITS;
/* After it returns the observer is not called again (a call under way on another thread is awaited). */
INVIVO_API invivo_status invivo_observer_close(invivo_observer observer, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
