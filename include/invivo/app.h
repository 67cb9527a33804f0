/* app.h: an application manifest, run. What `invivo run` and `python3 -m invivo run` share. */
#ifndef INVIVO_APP_H
#define INVIVO_APP_H

#include "runtime.h"

INVIVO_EXTERN_C_BEGIN

typedef struct invivo_app_options {
    size_t struct_size;
    const char *manifest;                  /* path of APP.yaml */
    const invivo_runtime_options *runtime; /* may be NULL; the default domain is then the loop thread */
    uint32_t flags;                        /* INVIVO_APP_... */
    uint32_t reserved;
    /* Loads a module that is not a shared library (a .py file). NULL: such a module is INVIVO_E_UNSUPPORTED. */
    invivo_status (*load_module)(void *user_data, invivo_runtime runtime, const char *name, const char *path,
                                 invivo_error **error);
    void *user_data;
    /* The assemblies that are active from the start, in the place of the manifest's `assemblies`: called once, when the modules
     * are loaded, with a change set that it fills by invivo_changes_activate, _mount or _define and does not commit. Assemblies
     * from both are INVIVO_E_EXISTS. May be NULL. */
    invivo_status (*assemblies)(void *user_data, invivo_runtime runtime, invivo_changes changes, invivo_error **error);
} invivo_app_options;

enum {
    INVIVO_APP_WAIT = 1,           /* spec files need not be good yet */
    INVIVO_APP_WITHOUT_MODULES = 2 /* for invivo_app_check: no module is loaded, so that no code of the manifest's runs. The form of
                                      the manifest and of its specs is checked, and nothing that needs a type */
};

/* A manifest is code: it names the shared libraries and Python files that are loaded, and they run with the rights of the process.
 * Whoever can write the manifest, a module, or a directory on the way to one of them decides what runs. Where other users can
 * (writable by group or others, or owned by a user other than this one and root; a sticky directory such as /tmp is safe if the
 * entry in it is this user's or root's), a process of root's refuses it with INVIVO_E_FILE, and others log a warning.
 * INVIVO_RUNTIME_FOREIGN_FILES permits it: containers mount files of other users. A spec file is not code: its writer tunes and selects
 * what the program offers, within the limits of the runtime's options (SECURITY.md).
 *
 * Reads the manifest, loads its modules, activates those of the assemblies described by them that it lists, defines and builds its
 * components, follows its specs, starts what has a start.
 * Any failure reports every error and leaves nothing running. */
INVIVO_API invivo_status invivo_app_open(invivo_app *out, const invivo_app_options *options, invivo_error **error) INVIVO_WAITS;
/* Its runtime, borrowed while the app is open. */
INVIVO_API invivo_status invivo_app_runtime(invivo_app app, invivo_runtime *out, invivo_error **error) INVIVO_WAITS;
/* Stops what was started, in reverse, and closes the runtime; objects still leased stay valid and are disposed of with their last
 * lease. Stops that fail are gathered: it is closed all the same, and the answer is INVIVO_E_STOP. After another error it is still
 * open. */
INVIVO_API invivo_status invivo_app_close(invivo_app app, invivo_error **error) INVIVO_WAITS;
/* Whether a manifest names modules that only Python can load, without running anything. */
INVIVO_API invivo_status invivo_app_needs_python(const char *manifest, bool *out, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
