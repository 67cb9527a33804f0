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
/* Replaces the text of a document in memory: one reload, done when this returns. */
INVIVO_API invivo_status invivo_source_update(invivo_source source, const char *text, uint64_t length, invivo_error **error) INVIVO_WAITS;
/* Looks at a file now, without waiting for an event; done when this returns. */
INVIVO_API invivo_status invivo_source_refresh(invivo_source source, invivo_error **error) INVIVO_WAITS;
/* Stops following and takes the document's layers away, as a reload. */
INVIVO_API invivo_status invivo_source_close(invivo_source source, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
