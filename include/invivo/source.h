/* source.h: where documents come from, and following their changes. */
#ifndef INVIVO_SOURCE_H
#define INVIVO_SOURCE_H

#include "base.h"

INVIVO_EXTERN_C_BEGIN

enum {
    INVIVO_SOURCE_WAIT = 1 /* the file need not be there or be good yet: it takes effect when it is */
};

typedef struct invivo_source_options {
    size_t struct_size;
    const char *path;  /* a file, followed through renames, links and re-creation; or NULL: a document in memory */
    const char *name;  /* for messages and reports; NULL = the path */
    uint32_t flags;    /* INVIVO_SOURCE_... */
    uint32_t reserved;
    const char *text;  /* of a document in memory */
    uint64_t length;
} invivo_source_options;

/* Opens a source. Its document is read, checked and committed before this returns; when that fails the error says why
 * and nothing is left running. Later documents win over earlier ones. */
INVIVO_API invivo_status invivo_source_open(invivo_runtime runtime, const invivo_source_options *options, invivo_source *out,
                                            invivo_error **error) INVIVO_WAITS;
/* Follows a file for the life of the runtime: invivo_source_open with a path alone. */
INVIVO_API invivo_status invivo_watch(invivo_runtime runtime, const char *path, invivo_error **error) INVIVO_WAITS;
/* Adds a file to a change set, to be followed from the commit on. The commit reads the file as part of the same reload: required
 * values, the entries of an `each`, choices, and traits for keys that the set defines may come from it. If the file is missing or
 * not valid, or the set is refused because of it, the commit fails. With INVIVO_SOURCE_WAIT the rest of the set is committed then,
 * and the file takes effect when it is good. A set that fails or is discarded follows nothing. invivo_changes_check and
 * invivo_changes_commit read a file that is open for writing as invivo_source_open does; a check follows nothing.
 *   options   those of invivo_source_open, with a path. A relative path is resolved by this call. The same file twice is two
 *             documents. Of documents that are opened by one set, the later call wins.
 *   out       receives the source, which may be closed like any other; may be NULL. Until the set is committed,
 *             invivo_source_refresh answers INVIVO_E_NOT_READY. A source that is closed before the set is committed or submitted
 *             is an error of the commit, submit or check (INVIVO_E_ARGUMENT). One that is closed while a submitted set waits
 *             takes the file out of the set. When the set has failed or was discarded, the handle is stale.
 * May be called from inside callbacks, except with the set that a processor is given (INVIVO_E_ARGUMENT). */
INVIVO_API invivo_status invivo_changes_watch(invivo_changes changes, const invivo_source_options *options, invivo_source *out,
                                              invivo_error **error) INVIVO_WAITS;
/* Replaces the text of a document in memory: one reload, done when this returns. */
INVIVO_API invivo_status invivo_source_update(invivo_source source, const char *text, uint64_t length, invivo_error **error) INVIVO_WAITS;
/* Looks at a file now, without waiting for an event; done when this returns. */
INVIVO_API invivo_status invivo_source_refresh(invivo_source source, invivo_error **error) INVIVO_WAITS;
/* Stops following and takes the document's layers away, as a reload. */
INVIVO_API invivo_status invivo_source_close(invivo_source source, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
