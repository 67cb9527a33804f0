/* Rollbacks: the content of a former generation is live again, as a reload. Files keep their bytes, which are refused. */
/* sanitize: yes */
#include "thing.h"

static invivo_runtime runtime;
static listener *heard;

static void begin_with(const invivo_runtime_options *options) {
    things = 0, runtime = thing_runtime_with(options);
    heard = malloc(sizeof *heard);
    listener_open(heard, runtime);
}
static void begin(void) { begin_with(NULL); }
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(things, 0);
    listener_end(heard), free(heard);
    unlink("a.yaml"), unlink("b.yaml");
}

/* ---- changes ------------------------------------------------------------------------------------------ */

static invivo_changes open_set(void) {
    invivo_changes changes = {0};
    OK(invivo_changes_open(runtime, &changes, E));
    return changes;
}
static void commit(invivo_changes changes) { OK(invivo_changes_commit(changes, E)); }

#define DEFINITION(given_key, ...)                                                                               \
    &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key, .type_name = "Thing",       \
                         .scope = INVIVO_SCOPE_LAZY_SINGLETON, __VA_ARGS__}
#define NUMBER(given) \
    .properties = &(invivo_injection){.name = "number", .how = INVIVO_INJECT_VALUE, .value = invivo_int64(given)}, .property_count = 1

static void define(const char *key, int64_t number) { OK(invivo_define(runtime, DEFINITION(key, NUMBER(number)), NULL, E)); }
static void configure(const char *path, int64_t number) {
    invivo_changes changes = open_set();
    invivo_value value = invivo_int64(number);
    OK(invivo_changes_configure(changes, path, &value, E));
    commit(changes);
}
static void say(const char *name, const char *text) {
    invivo_changes changes = open_set();
    OK(invivo_changes_document(changes, name, text, text ? strlen(text) : 0, E));
    commit(changes);
}
static uint64_t generation(void) {
    uint64_t number = 0;
    OK(invivo_runtime_generation(runtime, &number, E));
    return number;
}
static void roll_back(uint64_t to) { OK(invivo_rollback(runtime, to, E)); }

/* ---- content ------------------------------------------------------------------------------------------ */

static int64_t number_of(const char *key) {
    invivo_object object = {0};
    if (invivo_resolve_name(runtime, key, &object, NULL)) return -1;
    int64_t number = thing_of(object)->number;
    OK(invivo_object_release(object));
    return number;
}
static int64_t configured(const char *path) {
    invivo_value found = invivo_null();
    if (invivo_config_read(runtime, path, &found, NULL)) return -1;
    int64_t number = found.as.signed_integer;
    invivo_value_clear(&found);
    return number;
}

typedef struct { char *data; size_t length; } text;
static void add(text *to, const char *format, ...) {
    char piece[512];
    va_list arguments;
    va_start(arguments, format);
    size_t length = (size_t)vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (length >= sizeof piece) length = sizeof piece - 1;
    to->data = realloc(to->data, to->length + length + 1);
    memcpy(to->data + to->length, piece, length + 1);
    to->length += length;
}
static void add_value(text *to, const invivo_value *value) {
    switch (value->kind) {
    case INVIVO_KIND_BOOL: add(to, value->as.boolean ? "true" : "false"); break;
    case INVIVO_KIND_STRING: add(to, "'%.*s'", (int)value->as.string.length, value->as.string.data); break;
    case INVIVO_KIND_DOUBLE: add(to, "%.17g", value->as.number); break;
    case INVIVO_KIND_LIST:
        for (uint64_t i = 0; i < value->as.list.count; i++) add(to, "["), add_value(to, &value->as.list.items[i]), add(to, "]");
        break;
    case INVIVO_KIND_MAP:
        for (uint64_t i = 0; i < value->as.map.count; i++) {
            const char *name = value->as.map.pairs[i].name;
            /* What is live, not what is described. */
            if (!strcmp(name, "generation") || !strcmp(name, "live") || !strcmp(name, "built_ns")) continue;
            add(to, "%s=", name), add_value(to, &value->as.map.pairs[i].value), add(to, " ");
        }
        break;
    default: add(to, "%lld", (long long)value->as.signed_integer);
    }
}
/* Everything that a rollback brings back: the wiring with the order of the definitions, their objects, the configuration. */
static char *content(void) {
    text found = {0};
    invivo_value value = invivo_null();
    OK(invivo_graph_describe(runtime, INVIVO_GRAPH_FACTS, &value, E));
    for (uint64_t i = 0; i < value.as.list.count; i++) add_value(&found, &value.as.list.items[i]), add(&found, "\n");
    invivo_value_clear(&value);
    if (!invivo_config_read(runtime, "", &value, NULL)) add_value(&found, &value);
    invivo_value_clear(&value);
    add(&found, "\n");
    OK(invivo_resolve_all(runtime, "Thing", 0, &value, E));
    for (uint64_t i = 0; i < value.as.list.count; i++) {
        const thing *each = thing_of(value.as.list.items[i].as.object);
        add(&found, "%s: %lld %s\n", each->key, (long long)each->number, each->left.bits ? thing_of(each->left)->key : "-");
    }
    invivo_value_clear(&value);
    return found.data;
}

/* ---- random changes ----------------------------------------------------------------------------------- */

static uint64_t seed;
static uint32_t chance(uint32_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}
static const char *const keys[] = {"k.a", "k.b", "k.c", "k.p", "k.q"};
#define ANY_KEY (keys[chance(sizeof keys / sizeof *keys)])

static const invivo_definition first_table[] = {
    INVIVO_LAZY_SINGLETON("p", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(1)))),
    INVIVO_LAZY_SINGLETON("q", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("p")))),
    INVIVO_LAZY_SINGLETON("r", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_ENTRY(NULL))), .each = "tones")};
static const invivo_definition second_table[] = {
    INVIVO_LAZY_SINGLETON("q", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(2)))), INVIVO_LAZY_SINGLETON("p", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("number", INVIVO_INT(1)))),
    INVIVO_LAZY_SINGLETON("s", "Thing", INVIVO_PROPERTIES(INVIVO_NAMED("left", INVIVO_REF("q"))))};
static const invivo_assembly first_assembly = INVIVO_ASSEMBLY("k", first_table, .flags = 0);
static const invivo_assembly second_assembly = INVIVO_ASSEMBLY("k", second_table, .flags = 0);

/* Some change, which may be refused. */
static void change(void) {
    invivo_changes changes = open_set();
    char written[256];
    const char *key = ANY_KEY, *other = ANY_KEY;
    int64_t number = chance(1000);
    invivo_value value = invivo_int64(number);
    invivo_error *error = NULL;
    switch (chance(15)) {
    case 0: OK(invivo_changes_define(changes, DEFINITION(key, NUMBER(number), .rank = (int32_t)chance(2)), NULL, E)); break;
    case 1: {
        const invivo_injection left[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = other}};
        OK(invivo_changes_define(changes, DEFINITION(key, .properties = left, .property_count = 1), NULL, E));
        break;
    }
    case 2: OK(invivo_changes_remove(changes, key, E)); break;
    case 3: OK(invivo_changes_set(changes, key, "number", &value, E)); break;
    case 4: {
        const invivo_definition held = {.struct_size = sizeof held, .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON, NUMBER(number)};
        const invivo_injection left[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .definition = &held}};
        OK(invivo_changes_define(changes, DEFINITION(key, .properties = left, .property_count = 1), NULL, E));
        break;
    }
    case 5:
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .alias = other}, NULL, E));
        break;
    case 6: {
        const invivo_injection entry[] = {{.name = "number", .how = INVIVO_INJECT_ENTRY}};
        OK(invivo_changes_define(changes, DEFINITION(key, .properties = entry, .property_count = 1, .each = "tones"), NULL, E));
        break;
    }
    case 7:
        OK(invivo_changes_define(changes, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = key, .parent = other,
                                                               .flags = 0, NUMBER(number)}, NULL, E));
        break;
    case 8:
        snprintf(written, sizeof written, "config: { tones: { t%u: %lld, x: 3 }, n: %u }\n", chance(3), (long long)number, chance(9));
        OK(invivo_changes_document(changes, chance(2) ? "one.yaml" : "two.yaml", written, strlen(written), E));
        break;
    case 9: OK(invivo_changes_document(changes, chance(2) ? "one.yaml" : "two.yaml", NULL, 0, E)); break;
    case 10: case 11: {
        const invivo_assembly *described = chance(2) ? &first_assembly : &second_assembly;
        OK(invivo_changes_activate(changes, described, NULL, E));
        break;
    }
    case 12: OK(invivo_changes_deactivate(changes, "k", E)); break;
    case 13: OK(invivo_changes_configure(changes, chance(2) ? "tones.s" : "n", chance(3) ? &value : NULL, E)); break;
    default:
        snprintf(written, sizeof written, "traits:\n  %s:\n    - Set: { number: %lld }\n", key, (long long)number);
        OK(invivo_changes_document(changes, "traits.yaml", chance(4) ? written : NULL, chance(4) ? strlen(written) : 0, E));
    }
    (void)invivo_changes_commit(changes, &error);
    invivo_error_release(error);
}

enum { STEPS = 40 };
static void every_kept_generation_comes_back_as_it_was(void) {
    int sequences = getenv("INVIVO_SEQUENCES") ? atoi(getenv("INVIVO_SEQUENCES")) : 100, back = 0;
    for (int sequence = 0; sequence < sequences; sequence++) {
        invivo_runtime_options options;
        invivo_runtime_options_init(&options);
        options.history = 2 * STEPS, options.log_level = INVIVO_LOG_SILENT;
        things = 0, seed = 1000 + (uint64_t)sequence;
        runtime = thing_runtime_with(&options);
        char *known[4 * STEPS] = {0};
        known[0] = content();
        for (int step = 0; step < STEPS; step++) {
            if (chance(4) == 0 && generation() > 0) {
                uint64_t to = chance((uint32_t)generation());
                if (!known[to]) continue;
                invivo_error *error = NULL;
                invivo_status status = invivo_rollback(runtime, to, &error);
                if (status == INVIVO_E_NOT_FOUND) { /* settings that became one entry */
                    CHECK(strstr(invivo_error_text(error), "is not kept"));
                } else if (status) {
                    check_failed(__FILE__, __LINE__, "sequence %d: rollback to %llu: %s", sequence, (unsigned long long)to,
                                 invivo_error_text(error));
                } else {
                    char *now = content();
                    if (!CHECK_TEXT(now, known[to])) fprintf(stderr, "    sequence %d, generation %llu\n", sequence, (unsigned long long)to);
                    free(now), back++;
                }
                invivo_error_release(error);
            } else {
                change();
            }
            uint64_t number = generation();
            if (!known[number]) known[number] = content();
        }
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) free(known[i]);
        OK(invivo_runtime_close(runtime, E));
        CHECK_EQUAL(things, 0);
    }
    CHECK(back > sequences);
    printf("%d rollbacks in %d sequences\n", back, sequences);
}

int main(void) {
    check_begin();
    check_directory();
    every_kept_generation_comes_back_as_it_was();
    return check_end();
}
