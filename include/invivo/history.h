/** @file history.h
 * Former generations: rollbacks and marks. */
#ifndef INVIVO_HISTORY_H
#define INVIVO_HISTORY_H

#include "value.h"

INVIVO_EXTERN_C_BEGIN

/* A rollback brings the content of a former generation back: documents, runtime settings, assemblies and definitions. It is an
 * ordinary reload: complete or not at all, with a report, and a rollback can undo it. Everything else stays as it is: types,
 * converters, processors, rules, scopes, overrides, targets, observers and pools. Instances follow as in any reload. The content must
 * satisfy the rules of now.
 *
 * The runtime keeps the last generations, as many as the option `history` says, and fewer if they need more than 2 MiB; of these the
 * newest is always kept, unless the option is INVIVO_HISTORY_NONE. It keeps of each what differs from the next one. A commit that
 * changes no content, as of a target that is attached, makes a generation with the same content, which does not count. Consecutive
 * commits of settings within 1 s are one entry, and cannot be undone one by one. A kept generation keeps its definitions: the `destroy` of a replaced one is called when the last kept generation with it is
 * dropped.
 *
 * Files are not written. If a followed file has other bytes than the content that a rollback has brought back, these bytes are
 * refused: they are not tried again by events, by polling, or with another change. The log warns, and invivo_runtime_sources shows
 * both hashes. Other bytes end this state, and so do bytes that equal the live content, and invivo_source_retry. A restarted process
 * reads the file as it is. */

/** Rolls back to a kept generation. Returns when the reload is done.
 * Rolling back to a generation with the current content changes nothing. Errors: INVIVO_E_NOT_FOUND if the generation is not kept
 * or does not exist yet, INVIVO_E_WOULD_WAIT in a callback (see invivo_changes_rollback), and those of a reload. */
INVIVO_API invivo_status invivo_rollback(invivo_runtime runtime, uint64_t generation, invivo_error **error) INVIVO_WAITS;
/** Makes a change set roll back to a kept generation. For invivo_changes_submit, which does not wait, and invivo_changes_check.
 * Such a set changes nothing else (INVIVO_E_ARGUMENT when its reload begins), and is a reload of its own. It may expect a generation
 * (invivo_changes_expect). */
INVIVO_API invivo_status invivo_changes_rollback(invivo_changes changes, uint64_t generation, invivo_error **error) INVIVO_WAITS;
/** Lists the kept generations, the oldest first; the last one is the current one.
 * The result is an owned list of maps: generation (uint64), first (uint64: the first of several generations with this content), cause
 * (string: of the commit that made it; "" for the first), time_ns (uint64: when, since 1970 UTC), marks (list of strings). */
INVIVO_API invivo_status invivo_runtime_history(invivo_runtime runtime, invivo_value *out, invivo_error **error) INVIVO_WAITS;

/** Marks the current generation: it is kept until the mark ends, whatever the option `history` and the limit of 2 MiB say. It costs
 * the memory of what has changed since.
 * A mark of the same name moves to it. `out` receives the generation; may be NULL. INVIVO_E_ARGUMENT if the name is empty. */
INVIVO_API invivo_status invivo_mark(invivo_runtime runtime, const char *name, uint64_t *out, invivo_error **error) INVIVO_WAITS;
/** Ends a mark. INVIVO_E_NOT_FOUND if there is none. */
INVIVO_API invivo_status invivo_unmark(invivo_runtime runtime, const char *name, invivo_error **error) INVIVO_WAITS;
/** Returns the generation with a mark. INVIVO_E_NOT_FOUND if there is none. */
INVIVO_API invivo_status invivo_marked(invivo_runtime runtime, const char *name, uint64_t *out, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
