/** @file app.h
 * Running an application manifest. `invivo run` and `python3 -m invivo run` use these functions. */
#ifndef INVIVO_APP_H
#define INVIVO_APP_H

#include "runtime.h"

INVIVO_EXTERN_C_BEGIN

/** Options of invivo_app_open. */
typedef struct invivo_app_options {
    size_t struct_size;
    const char *manifest;                  /**< path of the manifest */
    const invivo_runtime_options *runtime; /**< may be NULL: the default domain is then the loop thread */
    uint32_t flags;                        /* INVIVO_APP_... */
    uint32_t reserved;
    /** Loads a module that is not a shared library (a .py file). NULL: such a module is INVIVO_E_UNSUPPORTED. */
    invivo_status (*load_module)(void *user_data, invivo_runtime runtime, const char *name, const char *path,
                                 invivo_error **error);
    void *user_data;
    /** Chooses the active assemblies instead of the manifest's `assemblies`. May be NULL.
     * Called once, after the modules are loaded. It fills the change set with invivo_changes_activate,
     * invivo_changes_mount or invivo_changes_define and does not commit it. Assemblies from both the manifest and this
     * function are INVIVO_E_EXISTS. */
    invivo_status (*assemblies)(void *user_data, invivo_runtime runtime, invivo_changes changes, invivo_error **error);
} invivo_app_options;

enum {
    INVIVO_APP_WAIT = 1,           /**< spec files may be missing or invalid at first */
    /** For invivo_app_check: loads no module, so no code of the manifest runs. Checks only the form of the manifest, of its
     * spec files and of the files that they include or refer to, and nothing that needs a type. */
    INVIVO_APP_WITHOUT_MODULES = 2
};

/** Opens an application.
 *
 * Reads the manifest, loads its modules, activates the listed assemblies, defines and builds the components, follows
 * the spec files, and starts the objects. On failure it reports all errors, and nothing remains open.
 *
 * A manifest is code: it names shared libraries and Python files, which run with the rights of the process. Anyone who
 * can write the manifest, a module, or a directory on the path to one of them controls that code. A file is unsafe if
 * group or others can write it, or can write such a directory. It is also unsafe if the file or such a directory belongs
 * to a user other than this user and root.
 * A sticky directory such as /tmp is safe if the entry below it belongs to this user or root. A process of root refuses
 * an unsafe file with INVIVO_E_FILE; other processes log a warning. INVIVO_RUNTIME_FOREIGN_FILES permits such files,
 * for containers that mount files of other users. A spec file is not code: it sets properties and selects options
 * within the limits of the program (SECURITY.md). */
INVIVO_API invivo_status invivo_app_open(invivo_app *out, const invivo_app_options *options, invivo_error **error) INVIVO_WAITS;
/** Returns the runtime of an application, borrowed while the application is open. */
INVIVO_API invivo_status invivo_app_runtime(invivo_app app, invivo_runtime *out, invivo_error **error) INVIVO_WAITS;
/** Stops the started objects in reverse order and closes the runtime.
 * Objects with leases stay valid until their last lease ends. If stop functions fail, the application is closed and the
 * call returns INVIVO_E_STOP with all errors. After any other error the application is still open. */
INVIVO_API invivo_status invivo_app_close(invivo_app app, invivo_error **error) INVIVO_WAITS;
/** Reports whether a manifest names modules that only Python can load. Runs no code of the manifest. */
INVIVO_API invivo_status invivo_app_needs_python(const char *manifest, bool *out, invivo_error **error) INVIVO_WAITS;

INVIVO_EXTERN_C_END

#endif
