/* reload.c: the cost of reloads, and their effect on readers. */
#define _GNU_SOURCE
#include "row.h"
#include <fcntl.h>
#include <invivo/invivo.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <yaml.h>

typedef struct { double gain, cutoff; } voice;
static const invivo_property voice_properties[] = {
    INVIVO_FIELD(voice, gain, .initial = 1, .min = 0, .max = 1e9),
    INVIVO_FIELD(voice, cutoff, .initial = 800, .min = 20, .max = 20000, .unit = "Hz"),
};
typedef struct { double stamp; } stamped;
static const invivo_property stamped_properties[] = {INVIVO_FIELD(stamped, stamp)};
/* Sets a stamp that is invalid for objects: every third reload fails on it. */
static invivo_status stamped_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t n, void *user, invivo_error **error) {
    (void)build, (void)user;
    ((stamped *)instance)->stamp = n ? arguments[0].as.number : 0;
    if (n == 2) {
        *error = invivo_error_make(INVIVO_E_HOST, "refused on purpose", NULL, NULL);
        return INVIVO_E_HOST;
    }
    return INVIVO_OK;
}
static const invivo_parameter stamped_parameters[] = {
    {"stamp", INVIVO_KIND_DOUBLE, INVIVO_PARAMETER_OPTIONAL, NULL}, {"fails", INVIVO_KIND_BOOL, INVIVO_PARAMETER_OPTIONAL, NULL}};

static void must(invivo_status status, invivo_error *error) {
    if (status) exit(invivo_error_report(error));
}
static void pin(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}
static int ascending(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

/* ---- readers while reloads commit -------------------------------------------------------------------- */

enum { BATCH = 64, BATCHES = 40000 };
static invivo_runtime runtime;
static invivo_key keys[4]; /* first, second, chosen (an alias of one of them), block */
static atomic_int stop_reader, split;
static double times[BATCHES];
static long batches, mixed, missing;
static bool resolves; /* whether the reader resolves instead of using views */

/* One batch of resolves of one key, because two resolves may belong to two generations. */
static void resolve_batch(void) {
    for (int i = 0; i < BATCH; i++) {
        invivo_object object;
        if (invivo_resolve(runtime, keys[i % 3], &object, NULL)) missing++;
        else invivo_object_release(object);
    }
}

static void *reader(void *context) {
    long wanted = *(long *)context;
    pin(0);
    must(invivo_thread_prepare(runtime, NULL), NULL);
    for (; (wanted == 0 || batches < wanted) && !stop_reader; batches++) {
        double begun = wall_ns();
        if (resolves) resolve_batch();
        for (int i = 0; i < BATCH && !resolves; i++) {
            invivo_view view = invivo_view_begin(runtime);
            const stamped *a = invivo_view_get(view, keys[0]), *b = invivo_view_get(view, keys[1]), *c = invivo_view_get(view, keys[2]);
            const voice *d = invivo_view_block(view, keys[3]);
            if (!a || !b || !c || !d) missing++;
            else if (a->stamp != b->stamp || a->stamp != c->stamp || a->stamp != d->gain) mixed++;
            invivo_view_end(view);
        }
        times[batches % BATCHES] = (wall_ns() - begun) / BATCH;
    }
    return NULL;
}

/* One change set: two shared objects, the block and the alias, all with one stamp. `split` divides it on purpose, which
 * the reader must detect. */
static invivo_status stamp_all(double stamp, bool fails, invivo_type type) {
    invivo_changes changes;
    invivo_error *error = NULL;
    invivo_value values[2] = {invivo_double(stamp), invivo_bool(true)};
    invivo_injection given[2] = {{.how = INVIVO_INJECT_VALUE, .value = values[0]}, {.how = INVIVO_INJECT_VALUE, .value = values[1]}};
    must(invivo_changes_open(runtime, &changes, &error), error);
    for (int i = 0; i < 2; i++) {
        invivo_definition definition = {.struct_size = sizeof definition, .key = i ? "s.second" : "s.first", .type = type,
                                        .scope = INVIVO_SCOPE_SINGLETON, .initializer = given, .initializer_count = fails && i ? 2 : 1};
        must(invivo_changes_define(changes, &definition, stamp == 1 ? &keys[i] : NULL, &error), error);
    }
    if (split) {
        must(invivo_changes_commit(changes, &error), error);
        must(invivo_changes_open(runtime, &changes, &error), error);
    }
    invivo_definition chosen = {.struct_size = sizeof chosen, .key = "s.chosen", .alias = (long)stamp % 2 ? "s.first" : "s.second"};
    must(invivo_changes_define(changes, &chosen, stamp == 1 ? &keys[2] : NULL, &error), error);
    char text[128];
    int length = snprintf(text, sizeof text, "traits:\n  s.block:\n    - Set: { gain: %.0f }\n", stamp);
    must(invivo_changes_document(changes, "stamp.yaml", text, (uint64_t)length, &error), error);
    invivo_status status = invivo_changes_commit(changes, &error);
    invivo_error_release(error);
    return status;
}

static const double at[4] = {0.5, 0.99, 0.999, 1};
static double stamp_now = 1;

/* The percentiles of the reader alone, or during `busy` seconds of reloads. */
static double read_for(long wanted, double busy, invivo_type type, double *figures, long *failures) {
    pthread_t thread;
    long reloads = 0;
    stop_reader = 0;
    batches = 0;
    pthread_create(&thread, NULL, reader, &wanted);
    double begun = wall_ns();
    while (busy > 0 && wall_ns() - begun < busy * 1e9) {
        stamp_now++;
        if (stamp_all(stamp_now, reloads % 3 == 2, type)) ++*failures;
        reloads++;
    }
    double seconds = (wall_ns() - begun) / 1e9;
    if (busy > 0) stop_reader = 1;
    pthread_join(thread, NULL);
    long kept = batches < BATCHES ? batches : BATCHES;
    qsort(times, (size_t)kept, sizeof *times, ascending);
    for (int i = 0; i < 4; i++) figures[i] = times[(size_t)(at[i] * (double)(kept - 1))];
    return busy > 0 ? (double)reloads / seconds : 0;
}

static void read_beside_reloads(bool quick, invivo_type type, const char *name) {
    double before[4], busy[4], after[4], idle[4];
    long failures = 0, wanted = quick ? 4000 : BATCHES;
    char label[64];
    mixed = missing = 0;
    read_for(wanted, 0, type, before, &failures); /* warms up */
    read_for(wanted, 0, type, before, &failures);
    double first = stamp_now, rate = read_for(0, quick ? 1 : 4, type, busy, &failures);
    double reloads = stamp_now - first;
    read_for(wanted, 0, type, after, &failures);
    for (int i = 0; i < 4; i++) idle[i] = fmin(before[i], after[i]);
    snprintf(label, sizeof label, "%s.p50", name), row(label, busy[0], "ns", "idle, before and after", idle[0], "recorded", true);
    snprintf(label, sizeof label, "%s.p99", name);
    row(label, busy[1], "ns", "idle, before and after", idle[1], "<= 2 x idle, 0 failures, 0 mixed, 1,000 reloads",
        busy[1] <= 2 * idle[1] && !mixed && !missing && reloads >= 1000);
    snprintf(label, sizeof label, "%s.p999", name), row(label, busy[2], "ns", "idle, before and after", idle[2], "recorded", true);
    snprintf(label, sizeof label, "%s.max", name), row(label, busy[3], "ns", "idle, before and after", idle[3], "recorded", true);
    if (resolves) return;
    row("reload.reader.reloads", rate, "1/s", "none", 0, ">= 1000 attempted", rate >= 1000);
    row("reload.reader.undone", (double)failures, "reloads", "every third", floor(reloads / 3), "every third fails", failures == (long)(reloads / 3));
    row("reload.reader.mixed", (double)mixed, "views", "none", 0, "0", mixed == 0);
    row("reload.reader.missing", (double)missing, "views", "none", 0, "0", missing == 0);
}

static void readers(bool quick) {
    invivo_error *error = NULL;
    invivo_type type;
    must(invivo_runtime_open(&runtime, NULL, &error), error);
    invivo_type_options options = {.struct_size = sizeof options, .name = "Stamped", .concurrency = INVIVO_SHARED, .size = sizeof(stamped),
                                   .alignment = 8, .init = stamped_init, .parameters = stamped_parameters, .parameter_count = 2,
                                   .properties = stamped_properties, .property_count = 1};
    must(invivo_type_register(runtime, &options, &type, &error), error);
    must(invivo_define_block(runtime, "s.block", INVIVO_BLOCK(voice, voice_properties), &keys[3], &error), error);
    must(stamp_all(1, false, type), NULL);
    pin(1);
    for (int how = 0; how < 2; how++) {
        resolves = how == 1;
        read_beside_reloads(quick, type, how ? "reload.reader.resolve" : "reload.reader");
    }
    resolves = false;
    pthread_t thread;
    long wanted;
    /* The same checker must detect the intentional split. */
    stop_reader = 0;
    split = 1;
    batches = mixed = missing = wanted = 0;
    pthread_create(&thread, NULL, reader, &wanted);
    for (int i = 0; i < 3000 && !mixed; i++) stamp_all(++stamp_now, false, type);
    stop_reader = 1;
    pthread_join(thread, NULL);
    row("reload.reader.control", (double)mixed, "views", "none", 0, "> 0 when split on purpose", mixed > 0);
    must(invivo_runtime_close(runtime, &error), error);
}

/* ---- reloads per second, one key among many ------------------------------------------------------------ */

static double reload_time(int definitions, long count) {
    invivo_error *error = NULL;
    invivo_runtime own;
    invivo_type type;
    must(invivo_runtime_open(&own, NULL, &error), error);
    invivo_type_options options = {.struct_size = sizeof options, .name = "T", .concurrency = INVIVO_SHARED, .size = 16, .alignment = 8};
    must(invivo_type_register(own, &options, &type, &error), error);
    invivo_changes changes;
    must(invivo_changes_open(own, &changes, &error), error);
    for (int i = 0; i < definitions; i++) {
        char name[48];
        snprintf(name, sizeof name, "many.k%06d", i);
        invivo_definition definition = {.struct_size = sizeof definition, .key = name, .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
        must(invivo_changes_define(changes, &definition, NULL, &error), error);
    }
    must(invivo_changes_commit(changes, &error), error);
    invivo_definition one = {.struct_size = sizeof one, .key = "many.k000050", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    invivo_key key;
    invivo_object object;
    must(invivo_define(own, &one, &key, &error), error);
    double best = 1e300;
    for (int round = 0; round < 3; round++) {
        double begun = wall_ns();
        for (long i = 0; i < count; i++) {
            must(invivo_resolve(own, key, &object, &error), error);
            invivo_object_release(object);
            must(invivo_define(own, &one, NULL, &error), error);
        }
        double each = (wall_ns() - begun) / (double)count;
        if (each < best) best = each;
    }
    must(invivo_runtime_close(own, &error), error);
    return best / 1e3;
}

static void rate(bool quick) {
    invivo_error *error = NULL;
    invivo_runtime own;
    invivo_key key;
    must(invivo_runtime_open(&own, NULL, &error), error);
    must(invivo_define_block(own, "r.block", INVIVO_BLOCK(voice, voice_properties), &key, &error), error);
    invivo_source_options options = {.struct_size = sizeof options, .name = "rate.yaml", .text = "{}", .length = 2};
    invivo_source source;
    must(invivo_source_open(own, &options, &source, &error), error);
    long count = quick ? 5000 : 50000;
    double begun = wall_ns();
    for (long i = 0; i < count; i++) {
        char text[96];
        int length = snprintf(text, sizeof text, "traits:\n  r.block:\n    - Set: { gain: %ld }\n", i);
        must(invivo_source_update(source, text, (uint64_t)length, &error), error);
    }
    double value = (double)count / ((wall_ns() - begun) / 1e9);
    row("reload.rate", value, "1/s", "none", 0, ">= 20000 /s", value >= 20000);
    must(invivo_runtime_close(own, &error), error);
    double few = reload_time(100, quick ? 500 : 3000), many = reload_time(100000, quick ? 200 : 1000);
    row("reload.one.of.100k", many, "us", "one of 100", few, "<= 2 x one of 100", many <= 2 * few);
}

/* ---- from the write of a file to the new value --------------------------------------------------------- */

typedef struct { const char *path; int rounds, notify; double gain; } raw_watch;

/* The number of the last scalar, from libyaml's events. */
static double raw_parse(const char *text, size_t length) {
    yaml_parser_t parser;
    yaml_event_t event;
    double number = 0;
    bool more = true;
    if (!yaml_parser_initialize(&parser)) return 0;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (more && yaml_parser_parse(&parser, &event)) {
        if (event.type == YAML_SCALAR_EVENT) number = strtod((const char *)event.data.scalar.value, NULL);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return number;
}

static void *raw_watcher(void *context) {
    raw_watch *watch = context;
    for (int i = 0; i < watch->rounds; i++) {
        char buffer[4096];
        if (read(watch->notify, buffer, sizeof buffer) <= 0) exit(1);
        int descriptor = open(watch->path, O_RDONLY | O_CLOEXEC);
        ssize_t got = read(descriptor, buffer, sizeof buffer - 1);
        buffer[got > 0 ? got : 0] = 0;
        close(descriptor);
        double gain = raw_parse(buffer, got > 0 ? (size_t)got : 0);
        __atomic_store(&watch->gain, &gain, __ATOMIC_RELEASE);
    }
    return NULL;
}

static invivo_status gain_is_small(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)count, (void)at, (void)user_data, (void)error;
    return values[0].as.number < 1e9 ? INVIVO_OK : INVIVO_E_RANGE;
}

/* The times from the write of a file to the new value of a block and of a confined target, with a rule over the first or without. */
static void live_edits(const char *path, int rounds, bool has_rule, double *times) {
    invivo_error *error = NULL;
    FILE *file = fopen(path, "w");
    fputs("{}\n", file), fclose(file);
    invivo_runtime own;
    invivo_key key;
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.quiet_ms = 0;
    must(invivo_runtime_open(&own, &options, &error), error);
    must(invivo_define_block(own, "l.block", INVIVO_BLOCK(voice, voice_properties), &key, &error), error);
    /* A confined object of this thread: a job sets its property when the thread polls. */
    invivo_type_options targets = {.struct_size = sizeof targets, .name = "Target", .size = sizeof(voice), .alignment = 8,
                                   .properties = voice_properties, .property_count = 2};
    invivo_type target_type;
    invivo_object object;
    void *instance;
    must(invivo_type_register(own, &targets, &target_type, &error), error);
    must(invivo_object_make(own, target_type, NULL, 0, &object, &error), error);
    must(invivo_target_attach(object, "l.target", NULL, &error), error);
    must(invivo_object_instance(object, target_type, &instance, &error), error);
    const voice *target = instance;
    must(invivo_watch(own, path, &error), error);
    const char *input = "l.block.gain";
    const invivo_rule rule = {.struct_size = sizeof rule, .name = "gain", .inputs = &input, .input_count = 1, .check = gain_is_small};
    if (has_rule) must(invivo_rule_add(own, &rule, &error), error);
    for (int i = 0; i < rounds; i++) {
        char text[160];
        int length = snprintf(text, sizeof text, "traits:\n  l.block:\n    - Set: { gain: %d }\n  l.target:\n    - Set: { gain: %d }\n", i + 2, i + 2);
        usleep(2000);
        int descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (write(descriptor, text, (size_t)length) != length) exit(1);
        double begun = wall_ns();
        close(descriptor);
        for (;;) {
            invivo_view view = invivo_view_begin(own);
            double gain = ((const voice *)invivo_view_block(view, key))->gain;
            invivo_view_end(view);
            if (gain == i + 2 && target->gain == i + 2) break;
            if (wall_ns() - begun > 5e9) exit(1);
            must(invivo_runtime_poll(own, 0, NULL, &error), error);
            sched_yield();
        }
        times[i] = (wall_ns() - begun) / 1e3;
    }
    invivo_object_release(object);
    must(invivo_runtime_close(own, &error), error);
}

static void live(bool quick) {
    char folder[] = "/tmp/invivo-bench-XXXXXX", path[64];
    if (!mkdtemp(folder)) exit(1);
    snprintf(path, sizeof path, "%s/live.yaml", folder);
    int rounds = quick ? 100 : 1000;
    double *ours = calloc((size_t)rounds, sizeof *ours), *ruled = calloc((size_t)rounds, sizeof *ruled), *raw = calloc((size_t)rounds, sizeof *raw);
    if (!ours || !ruled || !raw) exit(1);
    live_edits(path, rounds, false, ours);
    live_edits(path, rounds, true, ruled);
    /* The floor: one thread that sleeps in read() on an inotify descriptor, reads the file, parses it with libyaml, and
     * stores. */
    raw_watch watch = {.path = path, .rounds = rounds, .notify = inotify_init1(IN_CLOEXEC)};
    inotify_add_watch(watch.notify, folder, IN_CLOSE_WRITE);
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, raw_watcher, &watch)) exit(1);
    for (int i = 0; i < rounds; i++) {
        char text[160];
        int length = snprintf(text, sizeof text, "traits:\n  l.block:\n    - Set: { gain: %d }\n  l.target:\n    - Set: { gain: %d }\n", i + 2, i + 2);
        usleep(2000);
        int descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (write(descriptor, text, (size_t)length) != length) exit(1);
        double begun = wall_ns();
        close(descriptor);
        for (;;) {
            double gain;
            __atomic_load(&watch.gain, &gain, __ATOMIC_ACQUIRE);
            if (gain == i + 2) break;
            if (wall_ns() - begun > 5e9) exit(1);
            sched_yield();
        }
        raw[i] = (wall_ns() - begun) / 1e3;
    }
    pthread_join(watcher, NULL);
    close(watch.notify);
    qsort(ours, (size_t)rounds, sizeof *ours, ascending);
    qsort(ruled, (size_t)rounds, sizeof *ruled, ascending);
    qsort(raw, (size_t)rounds, sizeof *raw, ascending);
    double p50 = ours[rounds / 2], p99 = ours[rounds * 99 / 100], floor = raw[rounds / 2];
    row("spec.live.p50", p50, "us", "raw inotify, read, parse on one thread", floor, "<= 3 x", p50 <= 3 * floor);
    row("spec.live.p99", p99, "us", "raw inotify, read, parse on one thread", raw[rounds * 99 / 100], "<= 2000 us", p99 <= 2000);
    row("spec.live.rule", ruled[rounds / 2], "us", "spec.live.p50", p50, "<= 1.5 x", ruled[rounds / 2] <= 1.5 * p50);
    free(ours), free(ruled), free(raw);
    unlink(path), rmdir(folder);
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    rate(quick);
    live(quick);
    readers(quick);
    return 0;
}
