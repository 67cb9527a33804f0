/* beside.c: a commit beside many things that it does not concern: blocked files, attached objects, conditions, readers,
 * pins, observers, files. One of many attached objects.
 *
 *     bench-beside [--quick] [ROW [COUNT [EDITS]]] (among.h) */
#define _GNU_SOURCE
#include "among.h"

#include <unistd.h>

static double commits(void) {
    double best;
    int number = 0;
    EDITS(best, edits, set_unrelated(++number));
    return best;
}
static double closed(double best) {
    must(invivo_runtime_close(runtime, &error));
    return best;
}

/* ---- documents and conditions ------------------------------------------------------------------------------ */

/* So many keys with traits: lines of a document. */
static double traits(int count, const char *head, const char *line) {
    open_runtime();
    invivo_changes changes = opened();
    char *text = lines(head, line, count);
    define_parts(changes, count);
    add_document(changes, "traits.yaml", text);
    commit(changes);
    free(text);
    return closed(commits());
}
static double conditions(int count) {
    return traits(count, "config: { others: { on: 0 } }\ntraits:\n",
                  "  many.part%07d: [ When: { config: others.on, is: 1, traits: [ Set: { gain: 2 } ] } ]\n");
}
static double inherits(int count) {
    return traits(count, "traits:\n  .quiet: [ Set: { gain: 2 } ]\n", "  many.part%07d: [ Inherit: { traits: .quiet } ]\n");
}

/* ---- attached objects -------------------------------------------------------------------------------------- */

static part *parts;
static invivo_object *objects;

/* So many objects, attached to one key with a trait. */
static void attach_parts(int count) {
    open_runtime();
    must(invivo_target_declare(runtime, "bench.part", type, &error));
    must(invivo_target_declare(runtime, "bench.other", type, &error));
    invivo_changes changes = opened();
    add_document(changes, "d.yaml", "traits: { bench.part: [ Set: { gain: 2 } ], bench.other: [ Set: { gain: 3 } ] }");
    commit(changes);
    parts = calloc((size_t)count + 1, sizeof *parts);
    objects = calloc((size_t)count + 1, sizeof *objects);
    if (!parts || !objects) exit(1);
    for (int i = 0; i <= count; i++) {
        must(invivo_object_wrap(runtime, type, &parts[i], &objects[i], &error));
        if (i < count) must(invivo_target_attach(objects[i], "bench.part", NULL, &error));
    }
}
static double detached(int count, double best) {
    for (int i = 0; i <= count; i++) must(invivo_object_release(objects[i]));
    best = closed(best);
    free(parts);
    free(objects);
    return best;
}
static double attached(int count) {
    attach_parts(count);
    return detached(count, commits());
}
static double attach_one(int count) {
    double best;
    attach_parts(count);
    EDITS(best, edits, {
        invivo_target target;
        must(invivo_target_attach(objects[count], "bench.part", &target, &error));
        must(invivo_target_detach(target, &error));
    });
    return detached(count, best);
}
static double edit_other(int count) {
    double best;
    int number = 3;
    attach_parts(count);
    must(invivo_target_attach(objects[count], "bench.other", NULL, &error));
    EDITS(best, edits, {
        char text[100];
        snprintf(text, sizeof text, "traits: { bench.part: [ Set: { gain: 2 } ], bench.other: [ Set: { gain: %d } ] }", ++number);
        invivo_changes changes = opened();
        add_document(changes, "d.yaml", text);
        commit(changes);
    });
    if (parts[count].gain != number) exit(1);
    return detached(count, best);
}

/* ---- readers, pins, observers, files ----------------------------------------------------------------------- */

static double patterns(int count) {
    open_runtime();
    invivo_changes changes = opened();
    for (int i = 0; i < count; i++) {
        invivo_definition one = {.struct_size = sizeof one, .key = name_of("many.each%07d", i), .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                                 .each = name_of("entries.e%07d", i)};
        must(invivo_changes_define(changes, &one, NULL, &error));
    }
    commit(changes);
    return closed(commits());
}
static double reads(int count) {
    open_runtime();
    for (int i = 0; i < count; i++) must(invivo_config_id(runtime, name_of("read.v%07d", i), INVIVO_KIND_ANY, &(invivo_config){0}, &error));
    return closed(commits());
}
static double pins(int count) {
    invivo_pin *open = calloc((size_t)count, sizeof *open);
    if (!open) exit(1);
    open_runtime();
    for (int i = 0; i < count; i++) open[i] = invivo_pin_hold(runtime, NULL);
    double best = commits();
    for (int i = 0; i < count; i++) must(invivo_pin_end(open[i]));
    free(open);
    return closed(best);
}
static void hear(void *user_data, const char *path, const invivo_value *value, uint64_t generation) {
    (void)user_data, (void)path, (void)value, (void)generation;
}
static double observers(int count) {
    open_runtime();
    for (int i = 0; i < count; i++) {
        invivo_config_observer_options options = {.struct_size = sizeof options, .changed = hear, .user_data = (void *)(uintptr_t)(i + 1)};
        must(invivo_config_observe(runtime, name_of("read.v%07d", i), &options, NULL, &error));
    }
    return closed(commits());
}
/* So many files, each with this text and the number of the file. */
static double among_files(int count, const char *text) {
    char directory[] = "/tmp/bench-beside-XXXXXX", path[120];
    if (!mkdtemp(directory)) exit(1);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/f%07d.yaml", directory, i);
        FILE *file = fopen(path, "w");
        if (!file) exit(1);
        fprintf(file, text, i);
        fclose(file);
        invivo_source_options options = {.struct_size = sizeof options, .path = path};
        must(invivo_source_open(runtime, &options, NULL, &error));
    }
    double best = closed(commits());
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/f%07d.yaml", directory, i);
        unlink(path);
    }
    rmdir(directory);
    return best;
}
static double files(int count) {
    open_runtime();
    return among_files(count, "config: { f%07d: { on: 1 } }\n");
}
/* Files that wait for a trait type. */
static double blocked(int count) {
    open_runtime();
    invivo_changes changes = opened();
    define_parts(changes, count);
    commit(changes);
    return among_files(count, "traits: { many.part%07d: [ later.Trait: {} ] }\n");
}

static const operation operations[] = {
    {"commit.beside.conditions", conditions},
    {"commit.beside.inherits", inherits},
    {"commit.beside.attached", attached},
    {"commit.beside.patterns", patterns},
    {"commit.beside.reads", reads},
    {"commit.beside.pins", pins},
    {"commit.beside.observers", observers},
    {"commit.beside.files", files},
    {"commit.beside.files.blocked", blocked},
    {"attach.one.of.attached", attach_one},
    {"trait.edit.beside.attached", edit_other},
};

int main(int argc, char **argv) { return run_all(operations, sizeof operations / sizeof *operations, argc, argv); }
