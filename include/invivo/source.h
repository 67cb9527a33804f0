/** @file source.h
 * Sources of documents, and following their changes. */
#ifndef INVIVO_SOURCE_H
#define INVIVO_SOURCE_H

#include "value.h"

INVIVO_EXTERN_C_BEGIN

enum {
    INVIVO_SOURCE_WAIT = 1, /**< the file may be missing or invalid; it takes effect once it is valid */
    /** Traits with errors are skipped, with a warning each (INVIVO_WARNING_SKIPPED), and the rest of the document applies. Errors
     * of form, of the configuration and of the wiring still refuse the document, and so do errors that only applying a trait
     * shows. Included files belong to their source; a file of several sources, to the lowest of them. */
    INVIVO_SOURCE_KEEP_GOING = 2
};

/** Options of invivo_source_open and invivo_changes_watch. */
typedef struct invivo_source_options {
    size_t struct_size;
    const char *path;  /**< a file, followed through renames, links and re-creation; NULL = a document in memory */
    const char *name;  /**< for messages and reports; NULL = the path */
    uint32_t flags;    /* INVIVO_SOURCE_... */
    uint32_t reserved;
    const char *text;  /**< text of a document in memory */
    uint64_t length;
} invivo_source_options;

/** Opens a source.
 * The document is read, checked and committed before this function returns. On failure nothing remains open, and the
 * error gives the reason. Later documents override earlier ones. */
INVIVO_API invivo_status invivo_source_open(invivo_runtime runtime, const invivo_source_options *options, invivo_source *out,
                                            invivo_error **error) INVIVO_WAITS;
/** Follows a file until the runtime closes.
 * Equivalent to invivo_source_open with a path only. */
INVIVO_API invivo_status invivo_watch(invivo_runtime runtime, const char *path, invivo_error **error) INVIVO_WAITS;
/** Adds a file to a change set. The file is followed from the commit on.
 *
 * The commit reads the file as part of the same reload. The file can contain required values, entries of an `each`,
 * choices, and traits for keys that the set defines. If the file is missing or invalid, or if the set is refused
 * because of it, the commit fails. With INVIVO_SOURCE_WAIT, the rest of the set is committed then, and the file takes
 * effect once it is valid. A set that fails or is discarded follows no file. A check (invivo_changes_check) reads the
 * file but does not follow it. A file that is open for writing is read as in invivo_source_open.
 *
 * May be called from callbacks, except with the set that a processor receives (INVIVO_E_ARGUMENT).
 *
 * @param options as for invivo_source_open, with a path. A relative path is resolved by this call. The same file twice
 *     makes two documents. Among the documents of one set, the last one wins.
 * @param out receives the source; may be NULL. Until the commit, invivo_source_refresh returns INVIVO_E_NOT_READY. A
 *     source that is closed before its set is committed, submitted or checked makes that call fail (INVIVO_E_ARGUMENT).
 *     A source that is closed while a submitted set is pending removes the file from the set. After a failed commit or
 *     a discard, the handle is stale. */
INVIVO_API invivo_status invivo_changes_watch(invivo_changes changes, const invivo_source_options *options, invivo_source *out,
                                              invivo_error **error) INVIVO_WAITS;
/** Replaces the text of a document in memory, as one reload. Returns when the reload is done. */
INVIVO_API invivo_status invivo_source_update(invivo_source source, const char *text, uint64_t length, invivo_error **error) INVIVO_WAITS;
/** Checks a file for changes now. Returns when the resulting reload is done.
 *
 * If a reload is refused, the content of its files takes part in every later change set, because that may bring what was missing.
 * If only this makes a set fail, the rest of the set is committed, and its report warns. A file for which an exclusive object was
 * stopped is tried again only when its content changes, or by this function. */
INVIVO_API invivo_status invivo_source_refresh(invivo_source source, invivo_error **error) INVIVO_WAITS;
/** As invivo_source_refresh. Bytes that a rollback has refused are tried again (history.h). */
INVIVO_API invivo_status invivo_source_retry(invivo_source source, invivo_error **error) INVIVO_WAITS;
/** Closes a source: stops following it and removes the layers of its document, as a reload. */
INVIVO_API invivo_status invivo_source_close(invivo_source source, invivo_error **error) INVIVO_WAITS;

/* ---- documents as text --------------------------------------------------------------------------------- */

enum {
    INVIVO_FORMAT_YAML = 0,
    INVIVO_FORMAT_JSON = 1 /**< on one line */
};

/** Writes a live document as text.
 *
 * The text contains references (`file:`), environment variables (`${NAME}`) and the names of included files as they are
 * written in the document, never their values. Comments are dropped. Reading the text gives an equal document. Relative
 * paths in it belong to the folder of the document.
 *
 * @param name the name of a document or source; of several ones with the name, the one that wins. An unknown name is
 *     INVIVO_E_NOT_FOUND.
 * @param format INVIVO_FORMAT_.... JSON cannot express infinities and NaN (INVIVO_E_RANGE), nor a variable without quotes,
 *     whose value may be a number (INVIVO_E_UNSUPPORTED).
 * @param out the text, an owned string. */
INVIVO_API invivo_status invivo_document_text(invivo_runtime runtime, const char *name, uint32_t format, invivo_value *out,
                                              invivo_error **error) INVIVO_WAITS;
/** Writes the traits of live documents as a document, as invivo_document_text does: `traits: { KEY: [...] }`.
 * Traits of several documents for one key become one list, the later documents on top.
 *
 * @param key the key; NULL: all keys with traits. A key without traits has an empty list.
 * @param document the name of the only document to take traits from; NULL: all live documents. */
INVIVO_API invivo_status invivo_traits_text(invivo_runtime runtime, const char *key, const char *document, uint32_t format,
                                            invivo_value *out, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
