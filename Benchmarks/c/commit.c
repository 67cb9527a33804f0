/* commit.c: commits that change one thing: a definition, a trait, a setting, an object with a setup. The rows of one thread
 * are also counted in instructions (Benchmarks/instructions.py).
 *
 *     bench-commit [--quick] */
#define _GNU_SOURCE
#include "row.h"
#include <invivo/invivo.h>
#include <string.h>

static invivo_error *error;
static invivo_runtime runtime;
static int rounds = 5;

static void must(invivo_status status) {
    if (status) exit(invivo_error_report(error));
}

/* ---- one definition, trait or setting among 100 definitions ---------------------------------------------- */

typedef struct { double gain, cutoff; } part;
static const invivo_property part_properties[] = {INVIVO_FIELD(part, gain), INVIVO_FIELD(part, cutoff)};

static void define_one(invivo_type type, double number) {
    invivo_injection gain = {.name = "gain", .value = invivo_double(number)};
    invivo_definition one = {.struct_size = sizeof one, .key = "many.k50", .type = type, .scope = INVIVO_SCOPE_SINGLETON,
                             .properties = &gain, .property_count = 1};
    must(invivo_define(runtime, &one, NULL, &error));
}
static void tune_one(int number) {
    char text[64];
    invivo_changes changes;
    int length = snprintf(text, sizeof text, "traits:\n  many.k51: [ Set: { gain: %d } ]\n", number);
    must(invivo_changes_open(runtime, &changes, &error));
    must(invivo_changes_document(changes, "one.yaml", text, (uint64_t)length, &error));
    must(invivo_changes_commit(changes, &error));
}
static void set_one(int number) {
    invivo_value value = invivo_int64(number);
    invivo_changes changes;
    must(invivo_changes_open(runtime, &changes, &error));
    must(invivo_changes_configure(changes, "many.level", &value, &error));
    must(invivo_changes_commit(changes, &error));
}
/* Returns the time of a commit of one trait. */
static double small_commits(long count) {
    invivo_type shared, tuned;
    invivo_changes changes;
    int number = 0;
    double value;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Shared", .concurrency = INVIVO_SHARED, .size = sizeof(part),
                                   .alignment = 8, .properties = part_properties, .property_count = 2};
    must(invivo_runtime_open(&runtime, NULL, &error));
    must(invivo_type_register(runtime, &options, &shared, &error));
    options.name = "Tuned", options.concurrency = INVIVO_CONFINED;
    must(invivo_type_register(runtime, &options, &tuned, &error));
    must(invivo_changes_open(runtime, &changes, &error));
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "many.k%d", i);
        invivo_injection level = {.name = "gain", .how = INVIVO_INJECT_CONFIG, .reference = "level"};
        invivo_definition one = {.struct_size = sizeof one, .key = name, .type = i == 51 || i == 52 ? tuned : shared, .scope = INVIVO_SCOPE_SINGLETON};
        if (i == 52) one.properties = &level, one.property_count = 1;
        must(invivo_changes_define(changes, &one, NULL, &error));
    }
    must(invivo_changes_configure(changes, "many.level", &(invivo_value){.kind = INVIVO_KIND_INT64}, &error));
    must(invivo_changes_commit(changes, &error));
    MEASURE(value, rounds, count, define_one(shared, ++number));
    row("commit.define", value, "ns", "none", 0, "recorded", true);
    double trait;
    MEASURE(value, rounds, count, tune_one(++number));
    trait = value;
    row("commit.trait", value, "ns", "none", 0, "recorded", true);
    MEASURE(value, rounds, count, set_one(++number));
    row("commit.setting", value, "ns", "none", 0, "recorded", true);
    must(invivo_runtime_close(runtime, &error));
    return trait;
}

/* ---- traits that run code, and properties that move -------------------------------------------------------- */

static invivo_status take_back(invivo_object target, void *instance, void *data, invivo_error **e) {
    (void)target, (void)data, (void)e;
    ((part *)instance)->cutoff--;
    return INVIVO_OK;
}
static long applied;
static invivo_status add_one(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                             invivo_reversal *reversal, void *user_data, invivo_error **e) {
    (void)target, (void)fields, (void)values, (void)count, (void)user_data, (void)e;
    ((part *)instance)->cutoff++;
    reversal->revert = take_back;
    applied++;
    return INVIVO_OK;
}
enum { TRAITS = 64 };
/* A list of so many traits that run code, and of a `Set` above or below them. Of a `Set` below, an edit reverses and applies all of
   them; of one above, none. */
static void list_code(int traits, bool is_below, int number) {
    char text[4096], *end = text + sprintf(text, "traits:\n  bench.part:");
    invivo_changes changes;
    if (is_below) end += sprintf(end, "\n    - Set: { gain: %d }", number);
    for (int i = 0; i < traits; i++) end += sprintf(end, "\n    - bench.Code: {}");
    if (!is_below) end += sprintf(end, "\n    - Set: { gain: %d }", number);
    must(invivo_changes_open(runtime, &changes, &error));
    must(invivo_changes_document(changes, "code.yaml", text, (uint64_t)(end - text), &error));
    must(invivo_changes_commit(changes, &error));
}
/* An edit of the `Set`, in nanoseconds. */
static double edit_with_code(int traits, bool is_below, long count) {
    double value;
    int number = 0;
    list_code(traits, is_below, ++number);
    long before = applied;
    MEASURE(value, rounds, count, list_code(traits, is_below, ++number));
    if (applied - before != (is_below ? (long)(number - 1) * traits : 0)) exit(1);
    return value;
}
/* Attaching and detaching an object with the traits of the document, in nanoseconds. */
static double attach(invivo_object object, long count) {
    double value;
    MEASURE(value, rounds, count, {
        invivo_target target;
        must(invivo_target_attach(object, "bench.part", &target, &error));
        must(invivo_target_detach(target, &error));
    });
    return value;
}
static void code_traits(long count) {
    static const char *const targets[] = {"Part"};
    static part own;
    invivo_type type;
    invivo_object object;
    invivo_target target;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .size = sizeof(part), .alignment = 8,
                                   .properties = part_properties, .property_count = 2};
    invivo_trait code = {.struct_size = sizeof code, .name = "bench.Code", .targets = targets, .target_count = 1, .apply = add_one};
    must(invivo_runtime_open(&runtime, NULL, &error));
    must(invivo_type_register(runtime, &options, &type, &error));
    must(invivo_target_declare(runtime, "bench.part", type, &error));
    must(invivo_trait_add(runtime, &code, &error));
    must(invivo_object_wrap(runtime, type, &own, &object, &error));
    must(invivo_target_attach(object, "bench.part", &target, &error));
    double above = edit_with_code(TRAITS, false, count), below = edit_with_code(TRAITS, true, count);
    double each = (below - above) / TRAITS;
    row("trait.code.apply", each, "ns", "an edit above the traits, for each", above / TRAITS, "<= 1000 ns, applied and reversed", each <= 1000);
    must(invivo_target_detach(target, &error));
    double all = attach(object, count);
    list_code(0, true, 0);
    row("trait.code.attach", (all - attach(object, count)) / TRAITS, "ns", "none", 0, "recorded: a trait of a target, planned, applied and reversed", true);
    must(invivo_object_release(object));
    must(invivo_runtime_close(runtime, &error));
}

typedef struct { double level; } moving;
static const invivo_property block_properties[] = {INVIVO_BLOCK_FIELD(moving, level)};
static const invivo_property object_properties[] = {INVIVO_FIELD(moving, level)};
/* One step of so many properties, each in a block or an object of its own, in nanoseconds. */
static double step_all(int count, bool in_blocks, long steps) {
    invivo_type type;
    invivo_changes changes;
    char *text = malloc(80 * (size_t)count + 16), *end = text + sprintf(text, "traits:\n");
    double value;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Moving", .properties = object_properties, .property_count = 1};
    if (in_blocks) options.properties = block_properties, options.block_size = sizeof(moving), options.concurrency = INVIVO_SHARED;
    else options.size = sizeof(moving), options.alignment = 8;
    invivo_runtime_options manual;
    invivo_runtime_options_init(&manual);
    manual.ramp_tick_ms = INVIVO_RAMP_TICK_MANUAL;
    must(invivo_runtime_open(&runtime, &manual, &error));
    must(invivo_type_register(runtime, &options, &type, &error));
    must(invivo_changes_open(runtime, &changes, &error));
    for (int i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "many.b%d", i);
        invivo_definition one = {.struct_size = sizeof one, .key = name, .type = type, .scope = INVIVO_SCOPE_SINGLETON};
        must(invivo_changes_define(changes, &one, NULL, &error));
    }
    must(invivo_changes_commit(changes, &error));
    for (int i = 0; i < count; i++) end += sprintf(end, "  many.b%d: [{ Ramp: { to: { level: 1e9 }, over: 1000 s } }]\n", i);
    must(invivo_changes_open(runtime, &changes, &error));
    must(invivo_changes_document(changes, "ramps.yaml", text, strlen(text), &error));
    must(invivo_changes_commit(changes, &error));
    MEASURE(value, rounds, steps, must(invivo_runtime_advance(runtime, 1000, &error)));
    must(invivo_runtime_close(runtime, &error));
    free(text);
    return value;
}
static void ramps(long steps, double commit) {
    double one = step_all(1, true, steps), all = step_all(1000, true, steps / 10), floor = 300 * 1000 + commit;
    row("ramp.tick", all / 1e3, "us", "300 ns a property + one commit", floor / 1e3, "<= 1 times", all <= floor);
    row("ramp.tick.1", one, "ns", "none", 0, "recorded: one property in one block", true);
    one = step_all(1, false, steps), all = step_all(1000, false, steps / 10);
    row("ramp.tick.objects", all / 1e3, "us", "300 ns a property + one commit", floor / 1e3, "<= 1 times", all <= floor);
    row("ramp.tick.object", one, "ns", "none", 0, "recorded: one property of one object", true);
}

/* ---- setups ---------------------------------------------------------------------------------------------- */

typedef struct { int64_t number; } owner;
static const invivo_property owner_properties[] = {INVIVO_FIELD(owner, number)};
static long set_up, torn_down;
static invivo_key child_keys[2];

static invivo_status undo(void *user_data, invivo_error **e) {
    (void)user_data, (void)e;
    torn_down++;
    return INVIVO_OK;
}
/* The owner with the number 1 has the child that the commits change. */
static invivo_status owner_setup(void *instance, void *user_data, invivo_error **e) {
    invivo_object child;
    (void)user_data;
    set_up++;
    invivo_status status = invivo_effect(runtime, undo, NULL, e);
    return status ? status : invivo_child(runtime, child_keys[((owner *)instance)->number], NULL, 0, &child, e);
}
static void define_child(invivo_changes changes, invivo_type type, int which, int64_t number, invivo_key *key) {
    invivo_injection value = {.name = "number", .value = invivo_int64(number)};
    invivo_definition child = {.struct_size = sizeof child, .key = which ? "child.one" : "child.other", .type = type,
                               .scope = INVIVO_SCOPE_PROTOTYPE, .properties = &value, .property_count = 1};
    must(invivo_changes_define(changes, &child, key, &error));
}
/* A commit that changes the child of one owner among so many, in microseconds: the minimum of several. */
static double set_up_again(int owners, long count) {
    invivo_type owner_type, child_type;
    invivo_changes changes;
    double best = 1e300;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Child", .size = sizeof(owner), .alignment = 8,
                                   .properties = owner_properties, .property_count = 1};
    must(invivo_runtime_open(&runtime, NULL, &error));
    must(invivo_type_register(runtime, &options, &child_type, &error));
    options.name = "Owner", options.setup = owner_setup;
    must(invivo_type_register(runtime, &options, &owner_type, &error));
    must(invivo_changes_open(runtime, &changes, &error));
    for (int i = 0; i < 2; i++) define_child(changes, child_type, i, 0, &child_keys[i]);
    must(invivo_changes_commit(changes, &error));
    must(invivo_changes_open(runtime, &changes, &error));
    for (int i = 0; i < owners; i++) {
        char name[24];
        snprintf(name, sizeof name, "owner.k%d", i);
        invivo_injection number = {.name = "number", .value = invivo_int64(i == owners / 2)};
        invivo_definition one = {.struct_size = sizeof one, .key = name, .type = owner_type, .scope = INVIVO_SCOPE_SINGLETON,
                                 .properties = &number, .property_count = 1};
        must(invivo_changes_define(changes, &one, NULL, &error));
    }
    must(invivo_changes_commit(changes, &error));
    set_up = torn_down = 0;
    for (int round = 0; round < rounds; round++) {
        double begun = wall_ns();
        for (long i = 0; i < count; i++) {
            must(invivo_changes_open(runtime, &changes, &error));
            define_child(changes, child_type, 1, i, NULL);
            must(invivo_changes_commit(changes, &error));
        }
        best = fmin(best, (wall_ns() - begun) / (double)count);
    }
    if (set_up != rounds * count || torn_down != set_up) exit(1);
    must(invivo_runtime_close(runtime, &error));
    return best / 1e3;
}
static void setups(bool quick) {
    long count = quick ? 200 : 2000;
    double few = set_up_again(10, count), one = set_up_again(1, count);
    row("reload.setup", one, "us", "none", 0, "recorded: one object with an effect and a child", true);
    for (int owners = 1000; owners <= (quick ? 1000 : 10000); owners *= 10) {
        char name[64];
        double value = set_up_again(owners, count);
        snprintf(name, sizeof name, "reload.setup.one.of.%d", owners);
        row(name, value, "us", "one of 10", few, "<= 2 times", value <= 2 * few);
    }
}

/* ---- observers and status ------------------------------------------------------------------------------ */

static long heard;
static void hear(void *user_data, const invivo_report *report) {
    (void)user_data;
    if (invivo_report_count(report) != 1) exit(1);
    heard++;
}
static void never(void *user_data, const char *path, const invivo_value *value, uint64_t generation) {
    (void)user_data, (void)path, (void)value, (void)generation;
    exit(1);
}
/* Reading the options, and changing one. Without a log function nothing is written. */
static void changed_options(void) {
    invivo_runtime_options options = {.struct_size = sizeof options};
    double read = 1e300, change = 1e300;
    must(invivo_runtime_open(&runtime, NULL, &error));
    for (int round = 0; round < rounds; round++) {
        double begun = wall_ns();
        for (int i = 0; i < 1000; i++) must(invivo_runtime_options_read(runtime, &options, &error));
        read = fmin(read, (wall_ns() - begun) / 1e6);
        options.revision = 0;
        begun = wall_ns();
        for (int i = 0; i < 1000; i++) {
            options.quiet_ms = 10 + (uint32_t)i % 2;
            must(invivo_runtime_options_change(runtime, &options, &error));
        }
        change = fmin(change, (wall_ns() - begun) / 1e6);
    }
    must(invivo_runtime_close(runtime, &error));
    row("runtime.options.read", read, "us", "none", 0, "recorded", true);
    row("runtime.options.change", change, "us", "none", 0, "recorded", true);
}
static uint64_t phases;
static void progress(void *user_data, const invivo_progress *progress) {
    (void)user_data, (void)progress;
    phases++;
}
/* A commit of a lazy definition with an observer of phases, in microseconds: the minimum of several. `plain`: without it. */
static double commit_with_phases(long count, double *plain) {
    invivo_type type;
    invivo_changes changes;
    invivo_observer observer;
    double best[2] = {1e300, 1e300};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Observed", .size = sizeof(owner), .alignment = 8,
                                   .properties = owner_properties, .property_count = 1};
    invivo_observer_options given = {.struct_size = sizeof given, .progress = progress};
    must(invivo_runtime_open(&runtime, NULL, &error));
    must(invivo_type_register(runtime, &options, &type, &error));
    for (int round = 0; round < 2 * rounds; round++) {
        bool observes = round % 2;
        if (observes) must(invivo_observe(runtime, &given, &observer, &error));
        double begun = wall_ns();
        for (long i = 0; i < count; i++) {
            must(invivo_changes_open(runtime, &changes, &error));
            define_child(changes, type, 0, i, NULL);
            must(invivo_changes_commit(changes, &error));
        }
        best[observes] = fmin(best[observes], (wall_ns() - begun) / (double)count);
        if (observes) must(invivo_observer_close(observer, &error));
    }
    if (phases < 3 * (uint64_t)(rounds * count)) exit(1);
    must(invivo_runtime_close(runtime, &error));
    *plain = best[0] / 1e3;
    return best[1] / 1e3;
}
/* A commit of a lazy definition with one observer, and so many observers of other keys, types and paths; in microseconds: the minimum of
   several. `status`: of invivo_runtime_status. */
static double observed_commit(int others, long count, double *status) {
    invivo_type type;
    invivo_changes changes;
    invivo_observer observer;
    double best = 1e300;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Observed", .size = sizeof(owner), .alignment = 8,
                                   .properties = owner_properties, .property_count = 1};
    must(invivo_runtime_open(&runtime, NULL, &error));
    must(invivo_type_register(runtime, &options, &type, &error));
    for (int i = 0; i <= others; i++) {
        char name[24];
        snprintf(name, sizeof name, "child.k%d", i);
        invivo_observer_options given = {.struct_size = sizeof given, .reloaded = hear, .key = i ? name : "child.other"};
        if (i > 0 && i % 3 == 1) given.key = NULL, given.type = name;
        invivo_config_observer_options path = {.struct_size = sizeof path, .changed = never};
        if (i > 0 && i % 3 == 2) must(invivo_config_observe(runtime, name, &path, &observer, &error));
        else must(invivo_observe(runtime, &given, &observer, &error));
    }
    heard = 0;
    for (int round = 0; round < rounds; round++) {
        double begun = wall_ns();
        for (long i = 0; i < count; i++) {
            must(invivo_changes_open(runtime, &changes, &error));
            define_child(changes, type, 0, i, NULL);
            must(invivo_changes_commit(changes, &error));
        }
        best = fmin(best, (wall_ns() - begun) / (double)count);
    }
    if (heard != rounds * count) exit(1);
    double begun = wall_ns();
    for (int i = 0; i < 1000; i++) {
        invivo_value found;
        must(invivo_runtime_status(runtime, &found, &error));
        invivo_value_clear(&found);
    }
    *status = (wall_ns() - begun) / 1e6;
    must(invivo_runtime_close(runtime, &error));
    return best / 1e3;
}
static void observers(bool quick) {
    long count = quick ? 200 : 2000;
    double status, few = observed_commit(10, count, &status);
    row("runtime.status", status, "us", "none", 0, "recorded: nothing is open", true);
    for (int others = 1000; others <= (quick ? 1000 : 10000); others *= 10) {
        char name[64];
        double value = observed_commit(others, count, &status);
        snprintf(name, sizeof name, "reload.observer.one.of.%d", others);
        row(name, value, "us", "one of 10", few, "<= 1.5 times", value <= 1.5 * few);
    }
    double plain, value = commit_with_phases(count, &plain);
    row("reload.observer.phases", value, "us", "without one", plain, "<= 1.5 times", value <= 1.5 * plain);
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    if (quick) rounds = 3;
    double commit = small_commits(quick ? 1000 : 10000);
    if (COUNTING) return 0; /* the rest is measured in time only */
    code_traits(quick ? 200 : 2000);
    ramps(quick ? 1000 : 5000, commit);
    setups(quick);
    observers(quick);
    changed_options();
    return 0;
}
