/* A C host whose runtime outlives its embedded Python: callbacks of Python are disabled and never called again.
 * Argument: libpython. */
#include <invivo/invivo.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int failures;
#define CHECK(condition) \
    if (!(condition)) failures++, fprintf(stderr, "outlive.c:%d: %s\n", __LINE__, #condition)

static int (*run_python)(const char *text);
static void python(const char *text) { CHECK(run_python(text) == 0); }

static const char program[] =
    "import invivo, typing\n"
    "class Voice:\n"
    "    gain: float = invivo.tunable(1.0, max=9)\n"
    "    @invivo.on_start\n"
    "    def begin(self): print('start', flush=True)\n"
    "    @invivo.on_stop\n"
    "    def end(self): print('stop', flush=True)\n"
    "    def twice(self) -> float: return 2 * self.gain\n"
    "    def function(self) -> typing.Any: return lambda: 5\n"
    "def make() -> Voice: return Voice()\n"
    "runtime = invivo.attach(%llu)\n"
    "runtime.define(Voice, 'a.voice', 'singleton')\n"
    "runtime.define(make, 'a.made', 'lazy_singleton')\n"
    "runtime.define(Voice, 'a.new', 'prototype')\n"
    "runtime.observe(print)\n"
    "target = Voice()\n"
    "runtime.attach_target(target, 'b.voice')\n";

/* Requests everything from Python again. */
static void ask(invivo_runtime runtime, invivo_object voice, invivo_callable function, invivo_status expected) {
    invivo_object object;
    invivo_value value;
    invivo_error *error = NULL;
    CHECK(invivo_object_get(voice, "gain", &value, NULL) == expected);
    CHECK(invivo_object_call(voice, "twice", NULL, 0, &value, &error) == expected);
    invivo_error_release(error);
    CHECK(invivo_callable_call(function, NULL, 0, &value, NULL) == expected);
    if (!invivo_resolve_name(runtime, "a.new", &object, NULL)) {
        CHECK(expected == INVIVO_OK);
        invivo_object_release(object);
    } else {
        CHECK(expected != INVIVO_OK);
    }
    invivo_source source;
    static const char text[] = "traits: { a.voice: [Set: { gain: 2 }] }";
    invivo_source_options options = {.struct_size = sizeof options, .name = "a.yaml", .text = text, .length = sizeof text - 1};
    CHECK(invivo_source_open(runtime, &options, &source, NULL) == expected);
    if (!expected) CHECK(invivo_source_close(source, NULL) == INVIVO_OK);
}

/* One lifetime of an interpreter within the lifetime of a runtime. */
static void live_once(void *libpython, invivo_runtime runtime, const invivo_token *token) {
    char text[2048];
    invivo_object voice;
    invivo_value function;
    ((void (*)(int))dlsym(libpython, "Py_InitializeEx"))(0);
    snprintf(text, sizeof text, program, (unsigned long long)(uintptr_t)token);
    python(text);
    CHECK(invivo_resolve_name(runtime, "a.voice", &voice, NULL) == INVIVO_OK);
    CHECK(invivo_object_call(voice, "function", NULL, 0, &function, NULL) == INVIVO_OK);
    ask(runtime, voice, function.as.callable, INVIVO_OK);
    CHECK(((int (*)(void))dlsym(libpython, "Py_FinalizeEx"))() == 0);
    ask(runtime, voice, function.as.callable, INVIVO_E_CLOSED);
    invivo_value_clear(&function);
    invivo_object_release(voice);
}

int main(int count, char **arguments) {
    invivo_live_counts before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    void *libpython = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!libpython) return 2;
    run_python = (int (*)(const char *))dlsym(libpython, "PyRun_SimpleString");
    invivo_live(&before);
    invivo_runtime runtime;
    const invivo_token *token;
    CHECK(invivo_runtime_open(&runtime, NULL, NULL) == INVIVO_OK);
    CHECK(invivo_share(runtime, &token, NULL) == INVIVO_OK);
    /* Python can be started again; its former callbacks stay disabled. */
    for (int life = 0; life < 2; life++) live_once(libpython, runtime, token);
    invivo_error *error = NULL;
    if (invivo_runtime_close(runtime, &error)) failures += invivo_error_report(error);
    invivo_live(&after);
    CHECK(!memcmp(&before, &after, sizeof before));
    puts(failures ? "failed" : "closed");
    return failures ? 1 : 0;
}
