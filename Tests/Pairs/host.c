/* A C host that embeds Python and loads a Swift library: one runtime, the same objects for all. Arguments: the build
 * directory, and libpython. */
#include <invivo/invivo.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int (*run_python)(const char *text);
static int failures;

static void *function(void *library, const char *name) {
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "host.c: no %s: %s\n", name, dlerror());
        failures++;
    }
    return found;
}

static bool good(invivo_status status, invivo_error *error) {
    if (!status) return true;
    failures++;
    invivo_error_report(error);
    return false;
}

static void *open_built(const char *directory, const char *name, int flags) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return dlopen(path, flags);
}

/* Runs a driver on the probes of all languages. */
static void drive(const char *directory, const char *library, const char *name, const char *language, const invivo_token *token) {
    static const char *const components[] = {"C", "Swift", "Python"};
    int (*run)(const invivo_token *, const char *) =
        (int (*)(const invivo_token *, const char *))function(open_built(directory, library, RTLD_NOW | RTLD_LOCAL), name);
    for (size_t i = 0; run && i < 3; i++) {
        char component[32];
        int checks;
        snprintf(component, sizeof component, "%sProbe", components[i]);
        checks = run(token, component);
        printf(checks > 0 ? "pair %s->%s: ok, %d checks\n" : "pair %s->%s: FAILED, %d\n", language, components[i], checks);
        failures += checks <= 0;
    }
    fflush(stdout);
}

static void python(const char *text) {
    if (run_python(text)) failures++;
}

int main(int count, char **arguments) {
    invivo_live_counts before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    invivo_runtime runtime;
    invivo_error *error = NULL;
    const invivo_token *token;
    char text[4200];
    if (count != 3) return 2;
    void *libpython = dlopen(arguments[2], RTLD_NOW | RTLD_GLOBAL);
    void (*initialize)(int) = (void (*)(int))function(libpython, "Py_InitializeEx");
    int (*finalize)(void) = (int (*)(void))function(libpython, "Py_FinalizeEx");
    run_python = (int (*)(const char *))function(libpython, "PyRun_SimpleString");
    if (failures) return 1;
    invivo_live(&before);
    if (!good(invivo_runtime_open(&runtime, NULL, &error), error)) return 1;
    snprintf(text, sizeof text, "%s/libprobe.so", arguments[1]);
    good(invivo_module_load(runtime, text, NULL, &error), error);
    snprintf(text, sizeof text, "%s/libPairsModule.so", arguments[1]);
    good(invivo_module_load(runtime, text, NULL, &error), error);
    if (!good(invivo_share(runtime, &token, &error), error)) return 1;
    initialize(0);
    snprintf(text, sizeof text, "import embedded; embedded.begin(%llu)", (unsigned long long)(uintptr_t)token);
    python(text);
    drive(arguments[1], "libdriver.so", "pairs_drive_c", "C", token);
    drive(arguments[1], "libPairsDriver.so", "pairs_drive_swift", "Swift", token);
    python("embedded.drive()");
    python("embedded.end()");
    good(invivo_runtime_close(runtime, &error), error);
    if (finalize()) failures++;
    invivo_live(&after);
    if (memcmp(&before, &after, sizeof before)) {
        fprintf(stderr, "something is left: %llu objects, %llu callables, %llu runtimes\n", (unsigned long long)after.objects,
                (unsigned long long)after.callables, (unsigned long long)after.runtimes);
        failures++;
    }
    return failures ? 1 : 0;
}
