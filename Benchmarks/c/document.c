/* document.c: the cost of documents as text, of values as text, and of one change among many decisions, sections, files and variables.
 *
 *     bench-document [--quick] */
#define _GNU_SOURCE
#include "events.h"
#include <fcntl.h>
#include <invivo/invivo.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

static invivo_error *error;
static int rounds = 5;

static void must(invivo_status status) {
    if (status) exit(invivo_error_report(error));
}

typedef struct { double gain, cutoff; } part;
static const invivo_property part_properties[] = {INVIVO_FIELD(part, gain), INVIVO_FIELD(part, cutoff, .unit = "Hz", .max = 1e6)};

/* Confined objects can be tuned in place. */
static invivo_runtime open_with(const invivo_runtime_options *given, uint32_t concurrency, invivo_type *type) {
    invivo_runtime runtime;
    invivo_type_options options = {.struct_size = sizeof options, .name = "Part", .concurrency = concurrency, .size = sizeof(part),
                                   .alignment = 8, .properties = part_properties, .property_count = 2};
    must(invivo_runtime_open(&runtime, given, &error));
    must(invivo_type_register(runtime, &options, type, &error));
    return runtime;
}
static void define(invivo_changes changes, const char *key, invivo_type type) {
    invivo_definition one = {.struct_size = sizeof one, .key = key, .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    must(invivo_changes_define(changes, &one, NULL, &error));
}
static void document(invivo_runtime runtime, const char *name, const char *text) {
    invivo_changes changes;
    must(invivo_changes_open(runtime, &changes, &error));
    must(invivo_changes_document(changes, name, text, strlen(text), &error));
    must(invivo_changes_commit(changes, &error));
}

/* ---- values and documents as text -------------------------------------------------------------------------- */

/* `1.2 kHz`, read and written; beside the conversion of its number by the C library. */
static void values(long count) {
    invivo_type type;
    invivo_runtime runtime = open_with(NULL, INVIVO_CONFINED, &type);
    invivo_value cutoff = invivo_double(1200), text;
    char printed[64];
    double floor, value, sum = 0;
    volatile double number = 1.2;
    MEASURE(floor, rounds, count, { sum += strtod("1.2 kHz", NULL); KEEP(sum); });
    MEASURE(value, rounds, count, {
        invivo_value found;
        must(invivo_property_read(type, "cutoff", "1.2 kHz", 7, &found, &error));
        KEEP(found.as.number);
    });
    row("codec.read", value, "ns", "strtod", floor, "<= 1000 ns", value <= 1000);
    MEASURE(floor, rounds, count, { snprintf(printed, sizeof printed, "%.17g kHz", number); KEEP(printed); });
    MEASURE(value, rounds, count, {
        must(invivo_property_text(type, "cutoff", &cutoff, &text, &error));
        invivo_value_clear(&text);
    });
    row("codec.write", value, "ns", "snprintf", floor, "<= 2000 ns", value <= 2000);
    must(invivo_runtime_close(runtime, &error));
}

/* A live document of so many keys, written as text, in microseconds. */
static void written(int keys) {
    invivo_type type;
    invivo_changes changes;
    invivo_value text;
    char name[32];
    double value;
    invivo_runtime runtime = open_with(NULL, INVIVO_CONFINED, &type);
    size_t size = (size_t)keys * 80 + 64, length = 0;
    char *source = malloc(size);
    if (!source) exit(1);
    length += (size_t)snprintf(source, size, "traits:\n");
    must(invivo_changes_open(runtime, &changes, &error));
    for (int i = 0; i < keys; i++) {
        snprintf(name, sizeof name, "many.part%07d", i);
        define(changes, name, type);
        length += (size_t)snprintf(source + length, size - length, "  %s: [ Set: { gain: %d, cutoff: 1.2 kHz } ]\n", name, i);
    }
    must(invivo_changes_document(changes, "many.yaml", source, length, &error));
    must(invivo_changes_commit(changes, &error));
    double pass = event_pass(source, length, 4 * rounds);
    MEASURE(value, 4 * rounds, 1, {
        must(invivo_document_text(runtime, "many.yaml", INVIVO_FORMAT_YAML, &text, &error));
        invivo_value_clear(&text);
    });
    value /= 1e3;
    snprintf(name, sizeof name, "document.text.%d", keys);
    row(name, value, "us", "10 libyaml event passes: read, written, and read back", 10 * pass, "<= 1 times", value <= 10 * pass);
    MEASURE(value, 4 * rounds, 1, {
        must(invivo_traits_text(runtime, NULL, NULL, INVIVO_FORMAT_YAML, &text, &error));
        invivo_value_clear(&text);
    });
    value /= 1e3;
    snprintf(name, sizeof name, "traits.text.%d", keys);
    row(name, value, "us", "10 libyaml event passes", 10 * pass, "<= 1 times", value <= 10 * pass);
    must(invivo_runtime_close(runtime, &error));
    free(source);
}

/* ---- one change among many --------------------------------------------------------------------------------- */

enum change { TRAIT, DECISION, SECTION };
/* A document changes the traits of one of so many targets, which other documents tune; or it makes one of so many keys an alias of
   one or another definition. */
static double change_one(enum change change, int count) {
    invivo_type type;
    invivo_changes changes;
    char name[32], text[128];
    double best;
    int number = 0;
    invivo_runtime runtime = open_with(NULL, change == TRAIT ? INVIVO_CONFINED : INVIVO_SHARED, &type);
    size_t size = (size_t)count * 64 + 64, length = 0;
    char *others = malloc(size);
    if (!others) exit(1);
    length += (size_t)snprintf(others, size, "traits:\n  many.part0000003: []\n");
    must(invivo_changes_open(runtime, &changes, &error));
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "many.part%07d", i);
        define(changes, name, type);
        if (i != 3) length += (size_t)snprintf(others + length, size - length, "  %s: [ Set: { gain: 1 } ]\n", name);
    }
    if (change == TRAIT) must(invivo_changes_document(changes, "others.yaml", others, length, &error));
    must(invivo_changes_commit(changes, &error));
    EDITS(best, 20 * rounds, {
        number++;
        if (change == TRAIT) snprintf(text, sizeof text, "traits:\n  many.part0000003: [ Set: { gain: %d } ]\n", number);
        else snprintf(text, sizeof text, "wiring:\n  many.part0000003: { alias: many.part000000%d }\n", 4 + number % 2);
        document(runtime, "one.yaml", text);
    });
    must(invivo_runtime_close(runtime, &error));
    free(others);
    return best;
}
/* A value of one of so many bound sections. */
static double change_section(int count) {
    invivo_type type;
    invivo_changes changes;
    char name[32], path[32];
    double best;
    int number = 0;
    invivo_runtime runtime = open_with(NULL, INVIVO_SHARED, &type);
    must(invivo_changes_open(runtime, &changes, &error));
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "Section%d", i), snprintf(path, sizeof path, "sections.s%07d", i);
        invivo_settings settings = {.struct_size = sizeof settings, .name = name, .path = path, .fields = part_properties,
                                    .field_count = 2, .size = sizeof(part)};
        must(invivo_changes_bind_settings(changes, &settings, &error));
    }
    must(invivo_changes_commit(changes, &error));
    EDITS(best, 20 * rounds, {
        invivo_value gain = invivo_double(++number);
        must(invivo_changes_open(runtime, &changes, &error));
        must(invivo_changes_configure(changes, "sections.s0000003.gain", &gain, &error));
        must(invivo_changes_commit(changes, &error));
    });
    must(invivo_runtime_close(runtime, &error));
    return best;
}
static void one_of(enum change change, const char *label, bool quick) {
    double few = change == SECTION ? change_section(10) : change_one(change, 10);
    for (int count = 100; count <= (quick ? 1000 : 10000); count *= 10) {
        char name[64];
        double value = change == SECTION ? change_section(count) : change_one(change, count);
        snprintf(name, sizeof name, "%s.one.of.%d", label, count);
        row(name, value, "us", "one of 10", few, "<= 2 times", value <= 2 * few);
    }
}

/* A refresh after one of so many variables that set values has changed. It reads all of them. */
static double refresh(int count) {
    invivo_type type;
    invivo_runtime_options options;
    char name[32], text[32];
    double best;
    int number = 0;
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "BENCH__many__v%d", i);
        setenv(name, "1", 1);
    }
    invivo_runtime_options_init(&options);
    options.environment_prefix = "BENCH__";
    invivo_runtime runtime = open_with(&options, INVIVO_SHARED, &type);
    EDITS(best, 20 * rounds, {
        snprintf(text, sizeof text, "%d", ++number);
        setenv("BENCH__many__v3", text, 1);
        must(invivo_runtime_refresh_environment(runtime, &error));
    });
    must(invivo_runtime_close(runtime, &error));
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "BENCH__many__v%d", i);
        unsetenv(name);
    }
    return best;
}
static void variables(bool quick) {
    double few = refresh(100) / 100;
    for (int count = 100; count <= (quick ? 1000 : 10000); count *= 10) {
        char name[64];
        double each = refresh(count) / count;
        snprintf(name, sizeof name, "environment.refresh.%d", count);
        row(name, each, "us", "a variable among 100", few, "<= 1.5 times, and <= 4 us a variable", each <= 1.5 * few && each <= 4);
    }
}

static void write_file(const char *path, const char *text) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor < 0 || write(descriptor, text, strlen(text)) != (ssize_t)strlen(text)) exit(1);
    close(descriptor);
}
/* One of so many included files is written; microseconds of wall time until the new value is live: the median. */
static double include(int count, int edits) {
    char folder[] = "/tmp/invivo-bench-XXXXXX", path[64], text[64];
    invivo_type type;
    invivo_runtime_options options;
    invivo_config id;
    size_t size = (size_t)count * 24 + 64, length = 0;
    char *source = malloc(size);
    double *times = calloc((size_t)edits, sizeof *times), middle;
    if (!source || !times || !mkdtemp(folder)) exit(1);
    length += (size_t)snprintf(source, size, "include:\n");
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/f%05d.yaml", folder, i), snprintf(text, sizeof text, "config: { many: { v%d: 1 } }\n", i);
        write_file(path, text);
        length += (size_t)snprintf(source + length, size - length, "  - f%05d.yaml\n", i);
    }
    snprintf(path, sizeof path, "%s/all.yaml", folder);
    write_file(path, source);
    invivo_runtime_options_init(&options);
    options.quiet_ms = 0;
    invivo_runtime runtime = open_with(&options, INVIVO_SHARED, &type);
    must(invivo_watch(runtime, path, &error));
    must(invivo_config_id(runtime, "many.v3", INVIVO_KIND_INT64, &id, &error));
    snprintf(path, sizeof path, "%s/f00003.yaml", folder);
    for (int i = 0; i < edits; i++) {
        usleep(2000);
        snprintf(text, sizeof text, "config: { many: { v3: %d } }\n", i + 2);
        int descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (write(descriptor, text, strlen(text)) < 0) exit(1);
        double begun = wall_ns();
        close(descriptor);
        for (int64_t seen = 0; seen != i + 2;) {
            invivo_view view = invivo_view_begin(runtime);
            seen = invivo_view_config_int64(view, id, 0);
            invivo_view_end(view);
            if (wall_ns() - begun > 5e9) exit(1);
            sched_yield();
        }
        times[i] = (wall_ns() - begun) / 1e3;
    }
    must(invivo_runtime_close(runtime, &error));
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/f%05d.yaml", folder, i);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/all.yaml", folder);
    unlink(path), rmdir(folder);
    middle = median(times, (size_t)edits);
    free(source), free(times);
    return middle;
}
static void includes(bool quick) {
    int edits = quick ? 50 : 300;
    double few = include(10, edits);
    for (int count = 100; count <= 900; count *= 9) {
        char name[64];
        double value = include(count, edits);
        snprintf(name, sizeof name, "include.one.of.%d", count);
        row(name, value, "us", "one of 10", few, "<= 2 times", value <= 2 * few);
    }
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    if (quick) rounds = 3;
    values(quick ? 20000 : 200000);
    if (COUNTING) return 0; /* the rest is measured in time only */
    written(1000);
    one_of(TRAIT, "traits.document", quick);
    one_of(DECISION, "wiring.decision", quick);
    one_of(SECTION, "settings.section", quick);
    variables(quick);
    includes(quick);
    return 0;
}
