/* tell.h: edits of documents in memory, and their errors. Included after `runtime`. */
#ifndef INVIVO_TESTS_TELL_H
#define INVIVO_TESTS_TELL_H

#include "check.h"

static char last_error[2048];

/* Edits or removes a document in a change set of its own. */
static inline invivo_status tell(const char *name, const char *text) {
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, name, text, text ? strlen(text) : 0, E));
    invivo_error *error = NULL;
    invivo_status status = invivo_changes_commit(set, &error);
    snprintf(last_error, sizeof last_error, "%s", error ? invivo_error_text(error) : "");
    invivo_error_release(error);
    return status;
}
/* The last error has this text. */
#define SAYS(text)                                                                                 \
    do {                                                                                           \
        if (!strstr(last_error, text)) fprintf(stderr, "missing '%s' in: %s\n", text, last_error); \
        CHECK(strstr(last_error, text));                                                           \
    } while (0)

#endif
