/* Everything that can fail fails in turn: each call of a hook, setter, method, factory, rule, trait, converter, binding of settings and domain, and
 * each system call for files, watches and threads, at its first, second, third call in a step, once and until the step
 * ends, with every error. After a step that fails the runtime is as before; after one that succeeds it is as in a run
 * without a fault; then the step is repeated without a fault and succeeds. At the end everything is closed and gone.
 * Allocations are not among the system calls: the Swift runtime ends the process if there is no memory. Neither is
 * eventfd: without it libuv 1.44 keeps its epoll descriptor.
 * Usage: every_fault [--all]   without --all, each call fails with one error */
/* sanitize: no, it replaces functions of the system */
#include "check.h"

#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

/* ---- faults --------------------------------------------------------------------------------------------- */

typedef struct fault {
    const char *name;
    int64_t code; /* an errno, or a status */
    bool is_silent; /* a status without an error object */
} fault;
static const fault host_faults[] = {{"HOST", INVIVO_E_HOST, false},         {"without an error", INVIVO_E_HOST, true},
                                    {"ARGUMENT", INVIVO_E_ARGUMENT, false}, {"NOT_FOUND", INVIVO_E_NOT_FOUND, false},
                                    {"TIMEOUT", INVIVO_E_TIMEOUT, false},   {"CLOSED", INVIVO_E_CLOSED, false},
                                    {"STALE", INVIVO_E_STALE, false},       {"REFUSED", INVIVO_E_REFUSED, true},
                                    {"DORMANT", INVIVO_E_DORMANT, false},   {"CYCLE", INVIVO_E_CYCLE, true},
                                    {"unknown", 31999, true}};
static const fault system_faults[] = {{"EIO", EIO, false},       {"EACCES", EACCES, false}, {"ENOENT", ENOENT, false},
                                      {"EMFILE", EMFILE, false}, {"ENFILE", ENFILE, false}, {"ENOMEM", ENOMEM, false},
                                      {"ENOSPC", ENOSPC, false}, {"EAGAIN", EAGAIN, false}, {"ELOOP", ELOOP, false},
                                      {"EPERM", EPERM, false},   {"ENAMETOOLONG", ENAMETOOLONG, false}};
enum { HOST_FAULTS = sizeof host_faults / sizeof *host_faults, SYSTEM_FAULTS = sizeof system_faults / sizeof *system_faults };

/* The fault of this run. `counting` is set during a step. */
static const fault *injected;
static bool in_system, lasts;
static int failing, counting, host_count, system_count, failed_calls;
static char reached[64]; /* the name of the call that failed first in the step */
static const char *const all_calls[] = {"init", "factory", "start", "stop", "will_inject", "did_inject", "inject", "setup", "effect",
                                        "teardown", "undo", "refresh", "finalize", "number", "get number", "base", "take", "convert",
                                        "rule", "check", "create", "layers", "apply", "revert", "post", "open", "openat", "pread", "stat", "lstat", "fstat", "readlink", "inotify_init1",
                                        "inotify_add_watch", "epoll_create1", "pthread_create"};
enum { ALL_CALLS = sizeof all_calls / sizeof *all_calls };
static int counts[ALL_CALLS];
static void count_call(const char *what) {
    for (int i = 0; i < ALL_CALLS; i++)
        if (strcmp(all_calls[i], what) == 0) __atomic_add_fetch(&counts[i], 1, __ATOMIC_RELAXED);
}

static bool fails_now(const char *what, const char *name, int *count, bool is_mine) {
    if (!__atomic_load_n(&counting, __ATOMIC_ACQUIRE)) return false;
    int number = __atomic_add_fetch(count, 1, __ATOMIC_ACQ_REL);
    if (!is_mine || !(lasts ? number >= failing : number == failing)) return false;
    if (number == failing) snprintf(reached, sizeof reached, "%s%s%s", what, *name ? ":" : "", name);
    __atomic_add_fetch(&failed_calls, 1, __ATOMIC_ACQ_REL);
    count_call(what);
    return true;
}
static bool system_fails(const char *what) {
    if (!fails_now(what, "", &system_count, in_system)) return false;
    errno = (int)injected->code;
    return true;
}
/* A call of the host's code. */
static invivo_status host(const char *what, const char *name, invivo_error **error) {
    if (!fails_now(what, name, &host_count, !in_system)) return INVIVO_OK;
    if (error && !injected->is_silent) *error = invivo_error_make((invivo_status)injected->code, what, NULL, NULL);
    return (invivo_status)injected->code;
}

/* These replace the functions of libc, for this program and the library. */
int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return system_fails("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int openat(int directory, const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return system_fails("openat") ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode);
}
ssize_t pread(int file, void *to, size_t length, off_t offset) {
    return system_fails("pread") ? -1 : syscall(SYS_pread64, file, to, length, offset);
}
ssize_t pread64(int file, void *to, size_t length, off64_t offset) {
    return system_fails("pread") ? -1 : syscall(SYS_pread64, file, to, length, offset);
}
int stat(const char *path, struct stat *facts) { return system_fails("stat") ? -1 : fstatat(AT_FDCWD, path, facts, 0); }
int lstat(const char *path, struct stat *facts) {
    return system_fails("lstat") ? -1 : fstatat(AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat *facts) { return system_fails("fstat") ? -1 : fstatat(file, "", facts, AT_EMPTY_PATH); }
ssize_t readlink(const char *path, char *to, size_t length) {
    return system_fails("readlink") ? -1 : syscall(SYS_readlink, path, to, length);
}
int inotify_init1(int flags) { return system_fails("inotify_init1") ? -1 : (int)syscall(SYS_inotify_init1, flags); }
int inotify_add_watch(int file, const char *path, uint32_t mask) {
    return system_fails("inotify_add_watch") ? -1 : (int)syscall(SYS_inotify_add_watch, file, path, mask);
}
int epoll_create1(int flags) { return system_fails("epoll_create1") ? -1 : (int)syscall(SYS_epoll_create1, flags); }
typedef int thread_maker(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*body)(void *), void *user_data) {
    if (system_fails("pthread_create")) return EAGAIN;
    return ((thread_maker *)dlsym(RTLD_NEXT, "pthread_create"))(out, attributes, body, user_data);
}

/* ---- the program ---------------------------------------------------------------------------------------- */

typedef struct part {
    char name[16];
    int64_t serial; /* the identity */
    int64_t number;
    int64_t level;
    int64_t taken; /* the serial of the object that `base` or `take` received */
    invivo_object base, child, made;
} part;
typedef struct levels { int64_t low, high; } levels;
typedef struct section { int64_t x, y; } section;

static invivo_runtime runtime;
static invivo_type plain, component, confined;
static invivo_domain domain;
static invivo_source document, file;
static invivo_object parent; /* a target */
static invivo_target target;
static int64_t serials;
static int live, effects, rules, definitions, traits, applications, bindings, created;

static int64_t serial_of(const invivo_value *value) {
    void *instance = NULL;
    if (value->kind != INVIVO_KIND_OBJECT) return 0;
    if (invivo_object_instance(value->as.object, (invivo_type){0}, &instance, NULL) != INVIVO_OK) return -1;
    return ((part *)instance)->serial;
}
static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    part *self = instance;
    const char *key = build->key.bits ? invivo_key_name(build->key) : "s.free";
    (void)user_data;
    snprintf(self->name, sizeof self->name, "%s", key + 2);
    self->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_SEQ_CST);
    if (count > 0) self->taken = serial_of(&arguments[0]);
    const part *former = build->former_instance;
    invivo_status status = former && memcmp(former->name, self->name, sizeof self->name) != 0 ? INVIVO_E_INTERNAL : host("init", self->name, error);
    if (!status) __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return status;
}
static void part_deinit(void *instance, void *user_data) {
    (void)user_data;
    memset(instance, 0x5a, sizeof(part));
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static invivo_status part_factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                  void *user_data, invivo_error **error) {
    invivo_status status = host("factory", "", error);
    return status ? status : part_init(*instance, build, arguments, count, user_data, error);
}
#define HOOK(what) \
    static invivo_status part_##what(void *instance, void *user_data, invivo_error **error) { \
        (void)user_data; \
        return host(#what, ((part *)instance)->name, error); \
    }
HOOK(start) HOOK(stop) HOOK(will_inject) HOOK(did_inject) HOOK(teardown) HOOK(refresh) HOOK(finalize)
static invivo_status part_inject(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data;
    return host("inject", ((part *)instance)->name, error);
}
static invivo_status undo(void *user_data, invivo_error **error) {
    __atomic_sub_fetch(&effects, 1, __ATOMIC_SEQ_CST);
    return host("undo", user_data, error);
}
static void reloaded(void *user_data, const invivo_report *report) { (void)user_data, (void)report; }
static invivo_status add_effect(char *name, invivo_error **error) {
    invivo_status status = host("effect", name, error);
    if (status) return status;
    __atomic_add_fetch(&effects, 1, __ATOMIC_SEQ_CST);
    return invivo_effect(runtime, undo, name, error);
}
static invivo_status part_setup(void *instance, void *user_data, invivo_error **error) {
    part *self = instance;
    invivo_key leaf;
    invivo_observer observer;
    invivo_observer_options observers = {.struct_size = sizeof observers, .reloaded = reloaded};
    (void)user_data;
    invivo_status status = add_effect("first", error);
    if (!status && strcmp(self->name, "root") == 0) {
        status = invivo_key_find(runtime, "s.leaf", &leaf, error);
        if (!status) status = invivo_child(runtime, leaf, NULL, 0, &self->child, error);
        if (!status) status = add_effect("second", error);
        if (!status) status = invivo_child_make(runtime, component, NULL, 0, &self->made, error);
        if (!status) status = invivo_observe(runtime, &observers, &observer, error);
    }
    return status ? status : host("setup", self->name, error);
}
static invivo_status set_number(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    part *self = instance;
    (void)user_data;
    invivo_status status = host("number", self->name, error);
    if (!status) self->number = value->as.signed_integer;
    return status;
}
static invivo_status get_number(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    part *self = instance;
    (void)user_data;
    invivo_status status = host("get number", self->name, error);
    if (!status) *out = invivo_int64(self->number);
    return status;
}
static invivo_status set_base(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    part *self = instance;
    (void)user_data;
    invivo_status status = host("base", self->name, error);
    if (!status) self->taken = serial_of(value), self->base = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return status;
}
static invivo_status get_base(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value value = invivo_object_value(((part *)instance)->base);
    (void)user_data;
    return value.as.object.bits ? invivo_value_copy(out, &value, error) : INVIVO_OK;
}
static invivo_status take(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                          invivo_error **error) {
    part *self = instance;
    (void)user_data, (void)count, (void)result;
    invivo_status status = host("take", self->name, error);
    if (!status) self->taken = serial_of(&arguments[0]);
    return status;
}
static invivo_status convert(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    (void)user_data;
    invivo_status status = host("convert", "", error);
    if (!status) *out = invivo_int64(length > 0 ? text[0] : 0);
    return status;
}
static invivo_status low_below_high(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)user_data, (void)at;
    invivo_status status = host("rule", "", error);
    if (status) return status;
    return count == 2 && values[0].as.signed_integer < values[1].as.signed_integer ? INVIVO_OK : INVIVO_E_RANGE;
}
static void rule_gone(void *user_data) { (void)user_data, __atomic_sub_fetch(&rules, 1, __ATOMIC_SEQ_CST); }
/* Settings: a struct, and a value that the host creates. Their version is the user data. */
static void binding_gone(void *user_data) { (void)user_data, __atomic_sub_fetch(&bindings, 1, __ATOMIC_SEQ_CST); }
static invivo_status check_section(const void *value, const invivo_value *values, size_t count, size_t *at, void *user_data,
                                   invivo_error **error) {
    (void)value, (void)values, (void)count, (void)at, (void)user_data;
    return host("check", "", error);
}
static invivo_status create_section(const invivo_section *from, void **out, void *user_data, invivo_error **error) {
    invivo_status status = host("create", "", error);
    if (status) return status;
    section *made = calloc(1, sizeof *made);
    made->y = *(const int *)user_data;
    for (uint64_t i = 0; i < from->value->as.map.count; i++)
        if (strcmp(from->value->as.map.pairs[i].name, "x") == 0) made->x = from->value->as.map.pairs[i].value.as.signed_integer;
    __atomic_add_fetch(&created, 1, __ATOMIC_SEQ_CST);
    *out = made;
    return INVIVO_OK;
}
static void release_section(void *value, void *user_data) {
    (void)user_data;
    free(value);
    __atomic_sub_fetch(&created, 1, __ATOMIC_SEQ_CST);
}
/* Trait types: of layers, and of code. Their version is the user data. */
static void trait_gone(void *user_data) { (void)user_data, __atomic_sub_fetch(&traits, 1, __ATOMIC_SEQ_CST); }
static invivo_status declare_layers(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data,
                                    invivo_error **error) {
    (void)fields, (void)values, (void)count;
    invivo_status status = host("layers", "", error);
    return status ? status : invivo_layers_offset(layers, "level", *(const int *)user_data, error);
}
static void application_gone(void *data) { (void)data, __atomic_sub_fetch(&applications, 1, __ATOMIC_SEQ_CST); }
/* A reversal that fails has reversed nevertheless: the rest of it would be a change by other code. */
static invivo_status revert_code(invivo_object object, void *instance, void *data, invivo_error **error) {
    part *self = instance;
    (void)object;
    self->level -= 1000 * *(const int *)data;
    return host("revert", self->name, error);
}
static invivo_status apply_code(invivo_object object, void *instance, const void *fields, const invivo_value *values, size_t count,
                                invivo_reversal *reversal, void *user_data, invivo_error **error) {
    part *self = instance;
    (void)object, (void)fields, (void)values, (void)count;
    invivo_status status = host("apply", self->name, error);
    if (status) return status;
    __atomic_add_fetch(&applications, 1, __ATOMIC_SEQ_CST);
    self->level += 1000 * *(const int *)user_data;
    reversal->revert = revert_code, reversal->data = user_data, reversal->destroy = application_gone;
    return INVIVO_OK;
}
static void definition_gone(void *user_data) { (void)user_data, __atomic_sub_fetch(&definitions, 1, __ATOMIC_SEQ_CST); }
static invivo_status post(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data;
    invivo_status status = host("post", "", error);
    return status ? status : invivo_job_run(job);
}
static void begin_or_end(void *user_data) { (void)user_data; }
static void ignore_log(void *user_data, const invivo_log_entry *entry) { (void)user_data, (void)entry; }

static const invivo_property part_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "number", .kind = INVIVO_KIND_INT64, .get = get_number, .set = set_number},
    INVIVO_FIELD(part, level),
    {.struct_size = sizeof(invivo_property), .name = "base", .kind = INVIVO_KIND_OBJECT, .get = get_base, .set = set_base}};
static const invivo_parameter part_parameters[] = {{.name = "base", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_method part_methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "take", .parameters = part_parameters, .parameter_count = 1, .call = take}};
static const invivo_property level_properties[] = {INVIVO_FIELD(levels, low), INVIVO_FIELD(levels, high)};

static void write_file(int64_t item) {
    char text[256];
    /* Its edit reads the included file, and the file of a value, too. */
    if (access("more.yaml", F_OK) != 0) write_text("more.yaml", "config:\n  more: 'file:value'\n"), write_text("value", "1");
    int length = snprintf(text, sizeof text, "include: more.yaml\nconfig:\n  file: %ld\ntraits:\n  s.side:\n    - Set: { level: %ld }\n", (long)item, (long)item);
    int made = (int)syscall(SYS_openat, AT_FDCWD, "next.yaml", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CHECK(write(made, text, (size_t)length) == length);
    close(made);
    CHECK(rename("next.yaml", "tuning.yaml") == 0);
}

/* A definition. */
typedef struct made {
    const char *key;
    invivo_type *type;
    uint32_t scope;
    int64_t number;
    const char *argument, *property, *method; /* the keys that they receive */
    uint32_t on_change;                       /* flags of the property */
    uint32_t flags;
    bool has_factory, has_inject;
    const char *config; /* the path of `level` */
    const char *each;
} made;
static invivo_status define(invivo_changes changes, const made *all, size_t count, invivo_error **error) {
    for (size_t i = 0; i < count; i++) {
        const made *each = &all[i];
        invivo_injection properties[3] = {{.name = "number", .value = invivo_int64(each->number)}}, argument = {.how = INVIVO_INJECT_REFERENCE, .reference = each->argument};
        invivo_injection taken = {.how = INVIVO_INJECT_REFERENCE, .reference = each->method};
        invivo_invocation call = {.method = "take", .arguments = &taken, .argument_count = 1};
        size_t used = 1;
        if (each->property)
            properties[used++] = (invivo_injection){.name = "base", .how = INVIVO_INJECT_REFERENCE, .flags = each->on_change, .reference = each->property};
        if (each->config) properties[used++] = (invivo_injection){.name = "level", .how = INVIVO_INJECT_CONFIG, .reference = each->config};
        if (each->each) properties[used++] = (invivo_injection){.name = "level", .how = INVIVO_INJECT_ENTRY};
        invivo_definition definition = {.struct_size = sizeof definition, .key = each->key, .type = *each->type, .scope = each->scope,
                                        .flags = each->flags, .properties = properties, .property_count = used,
                                        .initializer = &argument, .initializer_count = each->argument != NULL,
                                        .methods = &call, .method_count = each->method != NULL, .each = each->each,
                                        .factory = each->has_factory ? part_factory : NULL,
                                        .inject = each->has_inject ? part_inject : NULL, .destroy = definition_gone};
        __atomic_add_fetch(&definitions, 1, __ATOMIC_SEQ_CST);
        invivo_status status = invivo_changes_define(changes, &definition, NULL, error);
        if (status) {
            __atomic_sub_fetch(&definitions, 1, __ATOMIC_SEQ_CST);
            return status;
        }
    }
    return INVIVO_OK;
}
static invivo_status commit(const made *all, size_t count, invivo_error **error) {
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    if (!status) status = define(changes, all, count, error);
    if (status) {
        invivo_changes_discard(changes);
        return status;
    }
    return invivo_changes_commit(changes, error);
}
#define LAZY INVIVO_SCOPE_LAZY_SINGLETON
#define BASE(value) {"s.base", &plain, LAZY, value, .config = "/color"}
static const made everything[] = {
    BASE(1),
    {"s.init", &plain, LAZY, 2, .argument = "s.base"},
    {"s.side", &plain, LAZY, 3, .property = "s.base"},
    {"s.called", &plain, LAZY, 4, .method = "s.base"},
    {"s.made", &plain, LAZY, 5, .property = "s.init", .has_factory = true, .has_inject = true},
    {"s.keep", &plain, LAZY, 6, .property = "s.base", .on_change = INVIVO_INJECT_KEEP},
    {"s.rebuild", &component, LAZY, 7, .property = "s.base", .on_change = INVIVO_INJECT_REBUILD},
    {"s.alone", &plain, LAZY, 8, .config = "/low", .flags = INVIVO_DEFINITION_EXCLUSIVE},
    {"s.home", &confined, LAZY, 9, .property = "s.base", .config = "/high"},
    {"s.fresh", &component, LAZY, 14, .property = "s.base"},
    {"s.leaf", &component, INVIVO_SCOPE_PROTOTYPE, 10, .property = "s.base"},
    {"s.root", &component, LAZY, 11, .property = "s.base", .on_change = INVIVO_INJECT_OWNS},
    {"s.each", &plain, LAZY, 12, .each = "/items"},
    {"s.next", &plain, LAZY, 13, .flags = INVIVO_DEFINITION_RESTART},
};
static const char *const names[] = {"s.base", "s.init", "s.side", "s.called", "s.made", "s.keep", "s.rebuild", "s.alone", "s.home", "s.fresh",
                                    "s.root", "s.next", "s.each[a]", "s.each[b]", "s.each[c]"};
enum { NAMES = sizeof names / sizeof *names };

static const char *const texts[] = {
    "config: { low: 1, high: 9, color: red, items: { a: 1, b: 2 }, sec: { x: 1 } }\ntraits:\n  s.side:\n    - Set: { number: 30 }\n",
    "config: { low: 2, high: 8, color: blue, items: { b: 3, c: 4 }, sec: { x: 2 } }\ntraits:\n  s.side:\n    - Set: { number: 31 }\n"
    "  s.home:\n    - Set: { number: 90 }\n    - t.Code: {}\n    - t.Layers: {}\n  s.levels:\n    - Set: { low: 5 }\n"
    "  s.target:\n    - Set: { number: 70, level: 71 }\n    - t.Code: {}\n    - Scale: { level: 2 }\n    - t.Code: {}\n",
    "config: { low: 3, high: 7, color: green, items: { c: 5 }, sec: { x: 3 } }\ntraits:\n  s.levels:\n    - Set: { low: 6, high: 7 }\n"
    "  s.target:\n    - Set: { number: 72 }\n    - t.Code: {}\n    - t.Layers: {}\n"};

/* ---- the steps ------------------------------------------------------------------------------------------ */

static invivo_status register_types(invivo_error **error) {
    invivo_domain_options domains = {.struct_size = sizeof domains, .post = post, .flags = INVIVO_DOMAIN_ANY_THREAD,
                                     .begin = begin_or_end, .end = begin_or_end};
    invivo_type_options options = {.struct_size = sizeof options, .size = sizeof(part), .alignment = 8, .init = part_init,
                                   .deinit = part_deinit, .parameters = part_parameters, .parameter_count = 1,
                                   .properties = part_properties, .property_count = 3, .methods = part_methods,
                                   .method_count = 1, .start = part_start, .stop = part_stop, .will_inject = part_will_inject,
                                   .did_inject = part_did_inject};
    invivo_converter_options converter = {.struct_size = sizeof converter, .name = "number", .convert = convert};
    invivo_status status = invivo_domain_register(runtime, &domains, &domain, error);
    options.name = "Plain";
    if (!status) status = invivo_type_register(runtime, &options, &plain, error);
    options.name = "Confined";
    options.domain = domain;
    if (!status) status = invivo_type_register(runtime, &options, &confined, error);
    options.name = "Component";
    options.domain = (invivo_domain){0};
    options.setup = part_setup, options.teardown = part_teardown, options.refresh = part_refresh, options.finalize = part_finalize;
    if (!status) status = invivo_type_register(runtime, &options, &component, error);
    if (!status) status = invivo_converter_unregister(runtime, "number", error);
    if (!status) status = invivo_converter_register(runtime, &converter, error);
    if (!status) status = invivo_define_block(runtime, "s.levels", INVIVO_BLOCK(levels, level_properties), NULL, error);
    return status;
}

static bool is_open;
static invivo_status open_runtime(invivo_error **error) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log = ignore_log;
    options.flags |= INVIVO_RUNTIME_PENDING_TARGETS;
    options.ramp_tick_ms = INVIVO_RAMP_TICK_MANUAL;
    invivo_status status = invivo_runtime_open(&runtime, &options, error);
    is_open = status == INVIVO_OK;
    return status;
}
static invivo_status update(int which, invivo_error **error) {
    return invivo_source_update(document, texts[which], strlen(texts[which]), error);
}
static invivo_status open_document(invivo_error **error) {
    invivo_source_options options = {.struct_size = sizeof options, .name = "m.yaml", .text = texts[0], .length = strlen(texts[0])};
    return invivo_source_open(runtime, &options, &document, error);
}
static invivo_status define_everything(invivo_error **error) {
    return commit(everything, sizeof everything / sizeof *everything, error);
}
static invivo_status resolve_everything(invivo_error **error) {
    for (int i = 0; i < NAMES; i++) {
        invivo_object object;
        if (strcmp(names[i], "s.each[c]") == 0) continue;
        invivo_status status = invivo_resolve_name(runtime, names[i], &object, error);
        if (status) return status;
        invivo_object_release(object);
    }
    return INVIVO_OK;
}
static invivo_status add_rule(invivo_error **error) {
    static const char *const inputs[] = {"/low", "/high"};
    invivo_rule rule = {.struct_size = sizeof rule, .name = "order", .inputs = inputs, .input_count = 2, .check = low_below_high,
                        .destroy = rule_gone};
    __atomic_add_fetch(&rules, 1, __ATOMIC_SEQ_CST);
    return invivo_rule_add(runtime, &rule, error);
}
static const int versions[] = {1, 2};
static invivo_status bind_settings(const int *version, invivo_error **error) {
    const invivo_property fields[] = {INVIVO_FIELD(section, x), INVIVO_FIELD(section, y, .initial = *version)};
    invivo_settings all[] = {{.struct_size = sizeof *all, .name = "Fields", .path = "sec", .fields = fields, .field_count = 2,
                              .size = sizeof(section), .check = check_section},
                             {.struct_size = sizeof *all, .name = "Created", .path = "sec", .create = create_section, .release = release_section}};
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    for (int i = 0; i < 2 && !status; i++) {
        all[i].user_data = (void *)(uintptr_t)version, all[i].destroy = binding_gone;
        status = invivo_changes_bind_settings(changes, &all[i], error);
        if (!status) __atomic_add_fetch(&bindings, 1, __ATOMIC_SEQ_CST);
    }
    return status ? status : invivo_changes_commit(changes, error);
}
static invivo_status settings_1(invivo_error **error) { return bind_settings(&versions[0], error); }
static invivo_status settings_2(invivo_error **error) { return bind_settings(&versions[1], error); }
static invivo_status no_settings(invivo_error **error) {
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    if (!status) status = invivo_changes_unbind_settings(changes, "Fields", error);
    if (!status) status = invivo_changes_unbind_settings(changes, "Created", error);
    return status ? status : invivo_changes_commit(changes, error);
}
/* Properties that move: of objects with and without a domain, of one that is finalized after each step, and of a block. */
static invivo_status set_ramps(const char *text, invivo_error **error) {
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    if (!status) status = invivo_changes_document(changes, "ramps.yaml", text, text ? strlen(text) : 0, error);
    return status ? status : invivo_changes_commit(changes, error);
}
static invivo_status ramps(invivo_error **error) {
    return set_ramps("traits:\n  s.side:\n    - Ramp: { to: { number: 130 }, over: 40 ms }\n"
                     "  s.home:\n    - Ramp: { to: { level: 140, number: 190 }, over: 40 ms }\n"
                     "  s.fresh:\n    - Ramp: { to: { number: 150 }, over: 40 ms }\n"
                     "  s.levels:\n    - Ramp: { to: { high: 160 }, over: 40 ms }\n", error);
}
static invivo_status advance(invivo_error **error) { return invivo_runtime_advance(runtime, 10000000, error); }
static invivo_status configure(invivo_error **error) {
    invivo_value value = invivo_int64(1);
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    if (!status) status = invivo_changes_configure(changes, "unrelated", &value, error);
    return status ? status : invivo_changes_commit(changes, error);
}
static invivo_status advance_far(invivo_error **error) { return invivo_runtime_advance(runtime, 1000000000, error); }
static invivo_status no_ramps(invivo_error **error) { return set_ramps(NULL, error); }
static invivo_status add_traits(const int *version, invivo_error **error) {
    static const char *const targets[] = {"*"};
    invivo_trait all[] = {{.struct_size = sizeof *all, .name = "t.Layers", .targets = targets, .target_count = 1, .layers = declare_layers},
                          {.struct_size = sizeof *all, .name = "t.Code", .targets = targets, .target_count = 1, .apply = apply_code}};
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    for (int i = 0; i < 2 && !status; i++) {
        all[i].user_data = (void *)(uintptr_t)version, all[i].destroy = trait_gone;
        status = invivo_changes_add_trait(changes, &all[i], error);
        if (!status) __atomic_add_fetch(&traits, 1, __ATOMIC_SEQ_CST);
    }
    return status ? status : invivo_changes_commit(changes, error);
}
static invivo_status traits_1(invivo_error **error) { return add_traits(&versions[0], error); }
static invivo_status traits_2(invivo_error **error) { return add_traits(&versions[1], error); }
static invivo_status make_target(invivo_error **error) {
    return parent.bits ? INVIVO_OK : invivo_object_make(runtime, plain, NULL, 0, &parent, error);
}
static invivo_status attach(invivo_error **error) { return invivo_target_attach(parent, "s.target", &target, error); }
static invivo_status mark(invivo_error **error) { return invivo_mark(runtime, "good", NULL, error); }
static invivo_status edit_1(invivo_error **error) { return update(1, error); }
static invivo_status edit_2(invivo_error **error) { return update(2, error); }
static invivo_status base_2(invivo_error **error) { return commit((const made[]){BASE(2)}, 1, error); }
static invivo_status leaf_2(invivo_error **error) {
    return commit((const made[]){{"s.leaf", &component, INVIVO_SCOPE_PROTOTYPE, 20, .property = "s.base"}}, 1, error);
}
static invivo_status restart_2(invivo_error **error) {
    return commit((const made[]){{"s.next", &plain, LAZY, 130, .flags = INVIVO_DEFINITION_RESTART}}, 1, error);
}
static invivo_status reset_all(invivo_error **error) {
    invivo_changes changes;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    if (!status) status = invivo_changes_reset(changes, "s.next", 0, error);
    if (!status) status = invivo_changes_reset(changes, "s.alone", 0, error);
    if (!status) status = invivo_changes_reset(changes, "s.base", 0, error);
    return status ? status : invivo_changes_commit(changes, error);
}
/* A reload during a pin, and a resolve of the former generation. */
static invivo_status base_3_pinned(invivo_error **error) {
    invivo_pin pin = invivo_pin_begin(runtime, NULL);
    invivo_status status = commit((const made[]){BASE(3)}, 1, error);
    invivo_object object;
    if (invivo_resolve_name(runtime, "s.init", &object, NULL) == INVIVO_OK) invivo_object_release(object);
    CHECK_EQUAL(invivo_pin_end(pin), INVIVO_OK);
    return status;
}
/* Several changes as one. */
static invivo_status several(invivo_error **error) {
    invivo_changes changes;
    invivo_value value = invivo_int64(4);
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    if (!status) status = define(changes, (const made[]){BASE(4), {"s.side", &component, LAZY, 33, .argument = "s.base"}}, 2, error);
    if (!status) status = invivo_changes_remove(changes, "s.keep", error);
    if (!status) status = invivo_changes_configure(changes, "low", &value, error);
    return status ? status : invivo_changes_commit(changes, error);
}
static invivo_status roll_back(invivo_error **error) {
    uint64_t generation;
    invivo_status status = invivo_marked(runtime, "good", &generation, error);
    return status ? status : invivo_rollback(runtime, generation, error);
}
static invivo_status open_file(invivo_error **error) {
    invivo_source_options options = {.struct_size = sizeof options, .path = "tuning.yaml"};
    return invivo_source_open(runtime, &options, &file, error);
}
static invivo_status edit_file(invivo_error **error) {
    write_file(300);
    return invivo_source_refresh(file, error);
}
static invivo_status close_file(invivo_error **error) { return invivo_source_close(file, error); }
static invivo_status detach(invivo_error **error) { return invivo_target_detach(target, error); }
static invivo_status remove_rule(invivo_error **error) { return invivo_rule_remove(runtime, "order", error); }

/* What a step that fails leaves. */
enum {
    SAME,      /* everything as before */
    MORE,      /* also objects that did not exist before */
    MOVED,     /* as before, except properties that move */
    ANYWHERE   /* as before or as after: an event of the file may have come meanwhile */
};
typedef struct step {
    const char *name;
    invivo_status (*run)(invivo_error **error);
    int leaves;
} step;
static const step steps[] = {{"open", open_runtime, SAME},
                             {"types", register_types, MORE},
                             {"document", open_document, SAME},
                             {"define", define_everything, SAME},
                             {"resolve", resolve_everything, MORE},
                             {"rule", add_rule, SAME},
                             {"traits", traits_1, SAME},
                             {"settings", settings_1, SAME},
                             {"target", make_target, SAME},
                             {"attach", attach, SAME},
                             {"mark", mark, SAME},
                             {"edit", edit_1, SAME},
                             {"ramps", ramps, SAME},
                             {"advance", advance, MOVED},
                             {"configure", configure, SAME},
                             {"advance again", advance, MOVED},
                             {"advance to the end", advance_far, MOVED},
                             {"no ramps", no_ramps, SAME},
                             {"base", base_2, SAME},
                             {"traits again", traits_2, SAME},
                             {"settings again", settings_2, SAME},
                             {"leaf", leaf_2, SAME},
                             {"restart", restart_2, SAME},
                             {"edit again", edit_2, SAME},
                             {"reset", reset_all, SAME},
                             {"pin", base_3_pinned, SAME},
                             {"several", several, SAME},
                             {"rollback", roll_back, SAME},
                             {"resolve again", resolve_everything, MORE},
                             {"file", open_file, SAME},
                             {"edit file", edit_file, ANYWHERE},
                             {"close file", close_file, ANYWHERE},
                             {"detach", detach, SAME},
                             {"no settings", no_settings, SAME},
                             {"remove rule", remove_rule, SAME}};
enum { STEPS = sizeof steps / sizeof *steps };

/* ---- the state ------------------------------------------------------------------------------------------ */

typedef struct state {
    char values[2048];    /* what a run without a fault has, too */
    char moving[512];     /* the values of properties that move, which a run without a fault has, too, when they are at rest */
    int64_t serials[NAMES]; /* 0 = no object */
    uint64_t generation;
    bool is_at_rest;
    bool is_whole; /* no object waits for its setup or for a former value */
} state;

static void write_part(char *to, size_t room, const char *name, const part *self, int64_t base) {
    size_t used = strlen(to);
    snprintf(to + used, room - used, "%s number %ld level %ld%s\n", name, (long)self->number, (long)self->level,
             self->taken == 0 ? "" : self->taken == base ? " with the base" : " with a former base");
}
static uint64_t number_in_status(const char *name) {
    invivo_value facts;
    uint64_t found = 0;
    OK(invivo_runtime_status(runtime, &facts, E));
    for (uint64_t i = 0; i < facts.as.map.count; i++)
        if (strcmp(facts.as.map.pairs[i].name, name) == 0) found = (uint64_t)facts.as.map.pairs[i].value.as.signed_integer;
    invivo_value_clear(&facts);
    return found;
}
static void read_state(state *out) {
    memset(out, 0, sizeof *out);
    if (!is_open) return;
    invivo_value low = {0};
    invivo_view view;
    OK(invivo_runtime_generation(runtime, &out->generation, E));
    part *parts[NAMES] = {0};
    for (int i = 0; i < NAMES; i++) {
        invivo_key key;
        invivo_object object;
        if (invivo_key_find(runtime, names[i], &key, NULL) != INVIVO_OK) continue;
        invivo_status found = invivo_peek(runtime, key, &object);
        if (found != INVIVO_OK || !object.bits) continue;
        void *instance = NULL;
        OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
        parts[i] = instance;
        OK(invivo_object_release(object));
    }
    for (int i = 0; i < NAMES; i++) {
        if (!parts[i]) continue;
        out->serials[i] = parts[i]->serial;
        /* An object that keeps a former base may have it or the new one, by what failed before. */
        part copy = *parts[i];
        if (strcmp(names[i], "s.keep") == 0) copy.taken = 0;
        int64_t base = strcmp(names[i], "s.made") == 0 ? (parts[1] ? parts[1]->serial : -1) : parts[0] ? parts[0]->serial : -1;
        bool moves = strcmp(names[i], "s.side") == 0 || strcmp(names[i], "s.home") == 0 || strcmp(names[i], "s.fresh") == 0;
        if (moves) write_part(out->moving, sizeof out->moving, names[i], &copy, base);
        else write_part(out->values, sizeof out->values, names[i], &copy, base);
    }
    if (parent.bits) {
        void *instance = NULL;
        OK(invivo_object_instance(parent, (invivo_type){0}, &instance, E));
        write_part(out->values, sizeof out->values, "s.target", instance, 0);
    }
    size_t used = strlen(out->values);
    if (invivo_config_read(runtime, "/low", &low, NULL) == INVIVO_OK && low.kind == INVIVO_KIND_INT64)
        used += (size_t)snprintf(out->values + used, sizeof out->values - used, "low %ld\n", (long)low.as.signed_integer);
    invivo_value_clear(&low);
    view = invivo_view_begin(runtime);
    invivo_key key = invivo_view_key(view, "s.levels", 8);
    const levels *block = key.bits ? invivo_view_block(view, key) : NULL;
    size_t moved = strlen(out->moving);
    if (block) snprintf(out->moving + moved, sizeof out->moving - moved, "levels %ld %ld\n", (long)block->low, (long)block->high);
    for (int i = 0; i < 2; i++) {
        invivo_config id;
        const section *read = invivo_settings_id(runtime, i ? "Created" : "Fields", &id, NULL) ? NULL : invivo_view_settings(view, id);
        if (read) used += (size_t)snprintf(out->values + used, sizeof out->values - used, "settings %ld %ld\n", (long)read->x, (long)read->y);
    }
    invivo_view_end(view);
    out->is_at_rest = number_in_status("moving") == 0;
    out->is_whole = *check_status_names(runtime, "unrestored") == 0;
    if (out->is_whole) snprintf(out->values + used, sizeof out->values - used, "effects %d rules %d\n", __atomic_load_n(&effects, __ATOMIC_SEQ_CST), __atomic_load_n(&rules, __ATOMIC_SEQ_CST));
}

/* ---- runs ----------------------------------------------------------------------------------------------- */

static state expected[STEPS];
static char *known[65536];
static int known_count, failures_seen, successes_seen;

/* Notes a distinct pair of site and error. */
static void note_site(const char *step_name) {
    char text[160];
    snprintf(text, sizeof text, "%s, call %d, %s: %s", step_name, failing, reached, injected->name);
    for (int i = known_count - 1; i >= 0 && i > known_count - 4096; i--)
        if (strcmp(known[i], text) == 0) return;
    if (known_count < (int)(sizeof known / sizeof *known)) known[known_count++] = strdup(text);
}
static void wrong(const step *at, const char *what, const state *found, const state *wanted) {
    check_failed(__FILE__, __LINE__, "%s, call %d (%s) fails %s with %s: %s\n--- found, generation %llu\n%s%s--- expected, generation %llu\n%s%s", at->name, failing,
                 reached, lasts ? "until the step ends" : "once", injected->name, what, (unsigned long long)found->generation,
                 found->values, found->moving, (unsigned long long)wanted->generation, wanted->values, wanted->moving);
}
static void check_unchanged(const step *at, const state *before, const state *after, const state *wanted) {
    bool is_same = before->generation == after->generation && strcmp(before->values, after->values) == 0 &&
                   (at->leaves == MOVED || strcmp(before->moving, after->moving) == 0) &&
                   memcmp(before->serials, after->serials, sizeof before->serials) == 0;
    /* The exception: an object without its setup, or with a value that could not be restored, which later commits restore. */
    if (!after->is_whole) return;
    if (at->leaves == ANYWHERE) is_same = is_same || (strcmp(after->values, wanted->values) == 0 && strcmp(after->moving, wanted->moving) == 0);
    if (at->leaves == MORE) {
        is_same = before->generation == after->generation;
        for (int i = 0; i < NAMES; i++) is_same = is_same && (!before->serials[i] || before->serials[i] == after->serials[i]);
    }
    if (!is_same) wrong(at, "the step fails, and not everything is as before", after, before);
}

/* One run. Returns whether a step had that many calls. */
static bool once(void) {
    bool came = false;
    live = effects = rules = definitions = traits = applications = bindings = created = 0;
    parent.bits = 0;
    is_open = false;
    write_file(200);
    for (int i = 0; i < STEPS; i++) {
        state before, after;
        invivo_error *error = NULL;
        read_state(&before);
        host_count = system_count = failed_calls = 0;
        reached[0] = 0;
        __atomic_store_n(&counting, failing > 0, __ATOMIC_RELEASE);
        invivo_status status = steps[i].run(&error);
        __atomic_store_n(&counting, 0, __ATOMIC_RELEASE);
        if (failing == 0 && status) check_failed(__FILE__, __LINE__, "%s without a fault: %s", steps[i].name, invivo_error_text(error));
        if (status && !error) check_failed(__FILE__, __LINE__, "%s fails without an error", steps[i].name);
        invivo_error_release(error);
        error = NULL;
        bool has_failed = __atomic_load_n(&failed_calls, __ATOMIC_ACQUIRE) > 0;
        came = came || has_failed;
        if (has_failed) note_site(steps[i].name);
        read_state(&after);
        if (failing == 0) {
            expected[i] = after;
            continue;
        }
        if (status) {
            failures_seen++;
            if (!has_failed) check_failed(__FILE__, __LINE__, "%s fails without a fault in it (call %d)", steps[i].name, failing);
            check_unchanged(&steps[i], &before, &after, &expected[i]);
            status = steps[i].run(&error);
            if (status) {
                check_failed(__FILE__, __LINE__, "%s, call %d (%s, %s%s): again without a fault: %s", steps[i].name, failing, reached,
                             injected->name, lasts ? ", lasting" : "", invivo_error_text(error));
                invivo_error_release(error);
                break;
            }
            read_state(&after);
        } else if (has_failed) {
            successes_seen++;
        }
        bool is_expected = strcmp(after.values, expected[i].values) == 0 && (!expected[i].is_at_rest || strcmp(after.moving, expected[i].moving) == 0);
        if (after.is_whole && !is_expected) wrong(&steps[i], "the step succeeds", &after, &expected[i]);
    }
    if (is_open) {
        if (parent.bits) OK(invivo_object_release(parent));
        invivo_error *error = NULL;
        host_count = system_count = failed_calls = 0;
        reached[0] = 0;
        __atomic_store_n(&counting, failing > 0, __ATOMIC_RELEASE);
        invivo_status status = invivo_runtime_close(runtime, &error);
        __atomic_store_n(&counting, 0, __ATOMIC_RELEASE);
        bool has_failed = __atomic_load_n(&failed_calls, __ATOMIC_ACQUIRE) > 0;
        came = came || has_failed;
        if (has_failed) note_site("close");
        if (status != INVIVO_OK && status != INVIVO_E_STOP)
            check_failed(__FILE__, __LINE__, "close, call %d (%s): %s", failing, reached, invivo_error_text(error));
        invivo_error_release(error);
    }
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(effects, 0);
    CHECK_EQUAL(rules, 0);
    CHECK_EQUAL(definitions, 0);
    CHECK_EQUAL(traits, 0);
    CHECK_EQUAL(applications, 0);
    CHECK_EQUAL(bindings, 0);
    CHECK_EQUAL(created, 0);
    return came;
}

int main(int count, char **arguments) {
    bool all = count > 1 && strcmp(arguments[1], "--all") == 0;
    check_begin();
    check_directory();
    once();
    for (in_system = false;; in_system = true) {
        const fault *faults = in_system ? system_faults : host_faults;
        int number_of_faults = in_system ? SYSTEM_FAULTS : HOST_FAULTS, calls = 0;
        for (failing = 1; failing < 2000; failing++) {
            bool came = false;
            for (int i = 0; i < (all ? number_of_faults : 1); i++) {
                injected = &faults[all ? i : failing % number_of_faults];
                for (int mode = 0; mode < 2; mode++) {
                    lasts = mode;
                    came = once() || came;
                }
            }
            if (!came) break;
            calls = failing;
        }
        CHECK(calls > 8 && calls < 1999);
        printf("%s calls: up to %d in a step\n", in_system ? "system" : "host", calls);
        if (in_system) break;
    }
    printf("%d pairs of site and error; %d steps failed, %d succeeded all the same\n", known_count, failures_seen, successes_seen);
    for (int i = 0; i < ALL_CALLS; i++) {
        if (counts[i] == 0) check_failed(__FILE__, __LINE__, "never failed: %s", all_calls[i]);
    }
    CHECK(known_count >= (all ? 2000 : 400));
    for (int i = 0; i < known_count; i++) free(known[i]);
    return check_end();
}
