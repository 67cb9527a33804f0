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
/* Files are read by calls alone. */
static void begin_without_events(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.quiet_ms = options.settle_max_ms = 3600000;
    begin_with(&options);
}
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

/* Whether a rollback to this generation is possible. */
static bool is_kept(uint64_t number) {
    invivo_value value = invivo_null();
    bool found = false;
    OK(invivo_runtime_history(runtime, &value, E));
    for (uint64_t i = 0; i < value.as.list.count; i++) {
        const invivo_pair *pairs = value.as.list.items[i].as.map.pairs;
        found = found || (pairs[1].value.as.unsigned_integer <= number && number <= pairs[0].value.as.unsigned_integer);
    }
    invivo_value_clear(&value);
    return found;
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
        const invivo_injection inner[] = {{.name = "number", .how = INVIVO_INJECT_ENTRY}};
        const invivo_definition held = {.struct_size = sizeof held, .type_name = "Thing", .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                                        .properties = inner, .property_count = 1};
        const invivo_injection entry[] = {inner[0], {.name = "left", .how = INVIVO_INJECT_REFERENCE, .definition = &held}};
        const uint64_t count = 1 + chance(2);
        OK(invivo_changes_define(changes, DEFINITION(key, .properties = entry, .property_count = count, .each = "tones"), NULL, E));
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
    int sequences = getenv("INVIVO_SEQUENCES") ? atoi(getenv("INVIVO_SEQUENCES")) : 100, back = 0, lost = 0;
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
                bool was_kept = is_kept(to);
                invivo_status status = invivo_rollback(runtime, to, &error);
                lost += !was_kept;
                CHECK_EQUAL(was_kept, status != INVIVO_E_NOT_FOUND);
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
    CHECK(back >= sequences);
    /* Few settings follow each other. */
    CHECK(lost * 10 <= back);
    printf("%d rollbacks in %d sequences\n", back, sequences);
}


/* ---- which generations are kept ------------------------------------------------------------------------ */

/* "2, 3 'mark', 4 to 6": the kept generations with their marks. */
static const char *kept(void) {
    static char found[2048];
    invivo_value value = invivo_null();
    size_t length = 0;
    found[0] = 0;
    OK(invivo_runtime_history(runtime, &value, E));
    for (uint64_t i = 0; i < value.as.list.count; i++) {
        const invivo_pair *pairs = value.as.list.items[i].as.map.pairs;
        CHECK_TEXT(pairs[0].name, "generation"), CHECK_TEXT(pairs[1].name, "first"), CHECK_TEXT(pairs[4].name, "marks");
        uint64_t last = pairs[0].value.as.unsigned_integer, first = pairs[1].value.as.unsigned_integer;
        length += (size_t)snprintf(found + length, sizeof found - length, "%s%llu", i ? ", " : "", (unsigned long long)first);
        if (last != first) length += (size_t)snprintf(found + length, sizeof found - length, " to %llu", (unsigned long long)last);
        for (uint64_t j = 0; j < pairs[4].value.as.list.count; j++)
            length += (size_t)snprintf(found + length, sizeof found - length, " '%s'", pairs[4].value.as.list.items[j].as.string.data);
    }
    invivo_value_clear(&value);
    return found;
}

static void the_last_generations_are_kept(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.history = 3;
    begin_with(&options);
    for (int i = 1; i <= 5; i++) define("k.a", i);
    CHECK_TEXT(kept(), "2, 3, 4, 5");
    expects_error(invivo_rollback(runtime, 1, E), INVIVO_E_NOT_FOUND,
                  "generation 1 is not kept: kept are 2, 3, 4. The option history keeps more; a mark keeps one for long; changes of "
                  "settings within 1 s are one entry");
    expects_error(invivo_rollback(runtime, 6, E), INVIVO_E_NOT_FOUND, "there is no generation 6 yet: the current one is 5");
    CHECK_EQUAL(number_of("k.a"), 5);
    roll_back(3);
    CHECK_EQUAL(number_of("k.a"), 3);
    CHECK_EQUAL(generation(), 6);
    CHECK_TEXT(listener_last(heard)->cause, "rollback to generation 3");
    roll_back(5);
    CHECK_EQUAL(number_of("k.a"), 5);
    roll_back(5); /* the content is current already */
    CHECK_TEXT(kept(), "4, 5, 6, 7");
    end();
    options.history = 1001;
    invivo_runtime other;
    expects_error(invivo_runtime_open(&other, &options, E), INVIVO_E_ARGUMENT,
                  "options.history is 1001: at most 1,000 generations are kept, or none (INVIVO_HISTORY_NONE)");
}

static void a_mark_keeps_a_generation(void) {
    invivo_runtime_options options = without_history();
    uint64_t number = 0;
    begin_with(&options);
    define("k.a", 1);
    CHECK_TEXT(kept(), "1");
    expects_error(invivo_rollback(runtime, 0, E), INVIVO_E_NOT_FOUND,
                  "generation 0 is not kept: none is kept. The option history keeps more; a mark keeps one for long; changes of "
                  "settings within 1 s are one entry");
    OK(invivo_mark(runtime, "good", &number, E));
    CHECK_EQUAL(number, 1);
    for (int i = 2; i <= 9; i++) define("k.a", i), define("k.b", i);
    CHECK_TEXT(kept(), "1 'good', 17");
    OK(invivo_marked(runtime, "good", &number, E));
    CHECK_EQUAL(number, 1);
    roll_back(number);
    CHECK_EQUAL(number_of("k.a"), 1);
    CHECK_EQUAL(number_of("k.b"), -1);
    /* A mark moves. What lies between two of them is part of the older one. */
    OK(invivo_mark(runtime, "other", NULL, E));
    define("k.a", 20), define("k.a", 21);
    OK(invivo_mark(runtime, "good", &number, E));
    CHECK_EQUAL(number, 20);
    CHECK_TEXT(kept(), "18 'other', 20 'good'");
    define("k.c", 22), define("k.a", 23);
    roll_back(18);
    CHECK_EQUAL(number_of("k.a"), 1);
    CHECK_EQUAL(number_of("k.c"), -1);
    OK(invivo_unmark(runtime, "other", E));
    expects_error(invivo_unmark(runtime, "other", E), INVIVO_E_NOT_FOUND, "no generation is marked 'other'");
    expects_error(invivo_marked(runtime, "gold", &number, E), INVIVO_E_NOT_FOUND, "no generation is marked 'gold'; did you mean 'good'?");
    expects_error(invivo_mark(runtime, "", NULL, E), INVIVO_E_ARGUMENT, "a mark needs a name");
    OK(invivo_unmark(runtime, "good", E));
    CHECK_TEXT(kept(), "23");
    expects_error(invivo_marked(runtime, "good", &number, E), INVIVO_E_NOT_FOUND, "no generation is marked 'good'; none is marked");
    end();
}

/* Of a document, what differs is kept: of many edits it becomes one difference. */
static void a_mark_outlives_many_edits_of_a_document(void) {
    invivo_runtime_options options = without_history();
    begin_with(&options);
    seed = 7;
    for (int round = 0; round < 2; round++) {
        char written[2048];
        for (int i = 0; i < 300; i++) {
            size_t length = (size_t)snprintf(written, sizeof written, "config:\n");
            for (unsigned j = 0, most = 1 + chance(40); j < most; j++)
                length += (size_t)snprintf(written + length, sizeof written - length, "  n%u: %u\n", j, chance(1000));
            invivo_changes changes = open_set();
            OK(invivo_changes_document(changes, "d.yaml", written, length, E));
            commit(changes);
            if (i == 100) OK(invivo_mark(runtime, "good", NULL, E));
            if (i == 150) OK(invivo_mark(runtime, "better", NULL, E));
            if (i == 100 || i == 150) {
                char *now = content();
                uint64_t number = generation();
                invivo_changes other = open_set();
                OK(invivo_changes_document(other, "d.yaml", NULL, 0, E));
                commit(other);
                roll_back(number);
                char *again = content();
                CHECK_TEXT(again, now);
                free(now), free(again);
            }
        }
        uint64_t good = 0, better = 0;
        OK(invivo_marked(runtime, "good", &good, E));
        OK(invivo_marked(runtime, "better", &better, E));
        char *last = content();
        OK(invivo_mark(runtime, "last", NULL, E));
        roll_back(good);
        char *first = content();
        roll_back(better);
        roll_back(good);
        char *again = content();
        CHECK_TEXT(again, first);
        CHECK(strcmp(first, last) != 0);
        uint64_t number = 0;
        OK(invivo_marked(runtime, "last", &number, E));
        roll_back(number);
        free(again), again = content();
        CHECK_TEXT(again, last);
        free(first), free(last), free(again);
    }
    end();
}

/* Each of these documents has other bytes than the one before, 300 KB of them. */
static void kept_generations_are_bounded_in_bytes(void) {
    enum { LENGTH = 300000 };
    char *written = malloc(LENGTH + 1);
    begin();
    for (int i = 0; i < 12; i++) {
        memset(written, 'a' + i, LENGTH);
        memcpy(written, "n: \"", 4), memcpy(written + LENGTH - 2, "\"\n", 3);
        char *text = malloc(LENGTH + 64);
        int length = snprintf(text, LENGTH + 64, "config: { %.*s }\n", LENGTH - 1, written);
        invivo_changes changes = open_set();
        OK(invivo_changes_document(changes, "d.yaml", text, (uint64_t)length, E));
        commit(changes);
        free(text);
    }
    free(written);
    CHECK(!is_kept(2));
    CHECK(is_kept(11));
    CHECK_EQUAL(invivo_rollback(runtime, 2, NULL), INVIVO_E_NOT_FOUND);
    OK(invivo_mark(runtime, "large", NULL, E));
    for (int i = 0; i < 20; i++) define("k.a", i);
    roll_back(12);
    CHECK(is_kept(12));
    end();
}

static void a_commit_without_other_content_takes_no_place(void) {
    begin();
    define("k.a", 1);
    for (int i = 0; i < 40; i++) {
        invivo_changes changes = open_set();
        OK(invivo_changes_reset(changes, "k.a", 0, E));
        commit(changes);
    }
    CHECK_TEXT(kept(), "0, 1 to 41");
    roll_back(20); /* has the current content */
    CHECK_EQUAL(generation(), 41);
    define("k.a", 2);
    roll_back(7);
    CHECK_EQUAL(number_of("k.a"), 1);
    end();
}

static void settings_within_a_second_are_one_entry(void) {
    begin();
    define("k.a", 1);
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int i = 2; i <= 6; i++) configure("n", i);
    clock_gettime(CLOCK_MONOTONIC, &now);
    /* Not on a machine that needs longer. */
    if (now.tv_sec - begun.tv_sec < 1 || (now.tv_sec - begun.tv_sec == 1 && now.tv_nsec < begun.tv_nsec)) CHECK_TEXT(kept(), "0, 1, 6");
    define("k.a", 7);
    configure("n", 8);
    CHECK(strstr(kept(), "6, 7, 8")); /* another change ends the entry */
    roll_back(6);
    CHECK_EQUAL(configured("n"), 6);
    roll_back(1);
    CHECK_EQUAL(configured("n"), -1);
    roll_back(7);
    CHECK_EQUAL(configured("n"), 6);
    CHECK_EQUAL(number_of("k.a"), 7);
    end();
}

/* ---- what stays ---------------------------------------------------------------------------------------- */

static int ended;
static void count_end(void *user_data) { (void)user_data, ended++; }
static void define_owning(const char *key) {
    OK(invivo_define(runtime, DEFINITION(key, .user_data = &ended, .destroy = count_end), NULL, E));
}

static void a_definition_ends_with_the_last_kept_generation(void) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.history = 2, ended = 0;
    begin_with(&options);
    define_owning("k.a"); /* 1 */
    define("k.a", 2);
    define("k.a", 3);
    CHECK_EQUAL(ended, 0); /* generations 1 and 2 are kept */
    define("k.a", 4);
    CHECK_EQUAL(ended, 1);
    define_owning("k.b");
    OK(invivo_mark(runtime, "owning", NULL, E));
    for (int i = 0; i < 5; i++) define("k.b", i);
    CHECK_EQUAL(ended, 1);
    roll_back(5);
    define("k.b", 9), define("k.b", 10), define("k.b", 11), define("k.b", 12);
    CHECK_EQUAL(ended, 1);
    OK(invivo_unmark(runtime, "owning", E));
    CHECK_EQUAL(ended, 2);
    define_owning("k.c");
    define("k.c", 1);
    end();
    CHECK_EQUAL(ended, 3);
}

static invivo_status count_up(const invivo_definition *described, invivo_changes given, void *user_data, invivo_error **error) {
    invivo_definition mine = *described;
    invivo_injection number = {.name = "number", .how = INVIVO_INJECT_VALUE};
    (void)user_data;
    if (described->property_count != 1) return INVIVO_OK;
    number.value = invivo_int64(described->properties[0].value.as.signed_integer + 1000);
    mine.properties = &number;
    return invivo_changes_define(given, &mine, NULL, error);
}

static void processors_and_overrides_stay(void) {
    invivo_override override = {0};
    begin();
    define("k.a", 1), define("k.b", 1); /* 1, 2 */
    define("k.a", 2), define("k.b", 2); /* 3, 4 */
    invivo_changes changes = open_set();
    OK(invivo_changes_process(changes, &(invivo_processor){.struct_size = sizeof(invivo_processor), .name = "up", .type = "Thing",
                                                           .process = count_up}, E));
    commit(changes);
    OK(invivo_override_begin(runtime, DEFINITION("k.b", NUMBER(7)), &override, E));
    CHECK_EQUAL(number_of("k.a"), 1002);
    roll_back(2);
    CHECK_EQUAL(number_of("k.a"), 1001); /* the processor of now visits the definition of then */
    CHECK_EQUAL(number_of("k.b"), 7);
    OK(invivo_override_end(override, E));
    CHECK_EQUAL(number_of("k.b"), 1001);
    changes = open_set();
    OK(invivo_changes_unprocess(changes, "up", E));
    commit(changes);
    CHECK_EQUAL(number_of("k.a"), 1);
    CHECK_EQUAL(number_of("k.b"), 1);
    end();
}

static void base_values_are_set_in_the_kept_object(void) {
    thing_concurrency = INVIVO_CONFINED;
    begin();
    thing_concurrency = INVIVO_SHARED;
    define("k.a", 1);
    invivo_object object = {0}, again = {0};
    OK(invivo_resolve_name(runtime, "k.a", &object, E));
    invivo_changes changes = open_set();
    invivo_value value = invivo_int64(5);
    OK(invivo_changes_set(changes, "k.a", "number", &value, E));
    commit(changes);
    CHECK_EQUAL(thing_of(object)->number, 5);
    uint64_t with_base = generation();
    value = invivo_int64(6);
    changes = open_set();
    OK(invivo_changes_set(changes, "k.a", "number", &value, E));
    commit(changes);
    CHECK_EQUAL(thing_of(object)->number, 6);
    roll_back(with_base);
    CHECK_EQUAL(thing_of(object)->number, 5);
    OK(invivo_resolve_name(runtime, "k.a", &again, E));
    CHECK(again.bits == object.bits);
    OK(invivo_object_release(object)), OK(invivo_object_release(again));
    end();
}

/* Its value from before is not known any more. */
static void an_object_that_loses_a_base_value_is_created_again(void) {
    thing_concurrency = INVIVO_CONFINED;
    begin();
    thing_concurrency = INVIVO_SHARED;
    const invivo_definition definition = {.struct_size = sizeof definition, .key = "k.a", .type_name = "Thing",
                                          .scope = INVIVO_SCOPE_LAZY_SINGLETON};
    OK(invivo_define(runtime, &definition, NULL, E));
    CHECK_EQUAL(number_of("k.a"), 0);
    uint64_t without = generation();
    for (int64_t number = 5; number < 8; number++) {
        invivo_changes changes = open_set();
        invivo_value value = invivo_int64(number);
        OK(invivo_changes_set(changes, "k.a", "number", &value, E));
        const char *text = "traits: { k.a: [{ Offset: { number: 100 } }] }";
        OK(invivo_changes_document(changes, "traits.yaml", text, strlen(text), E));
        commit(changes);
        CHECK_EQUAL(number_of("k.a"), 100 + number);
    }
    uint64_t with = generation();
    roll_back(without);
    CHECK_EQUAL(number_of("k.a"), 0);
    roll_back(with);
    CHECK_EQUAL(number_of("k.a"), 107);
    roll_back(without);
    CHECK_EQUAL(number_of("k.a"), 0);
    end();
}

/* The definitions of former generations hold leases on their constants: they are none of the host's. */
static void constants_of_former_definitions_do_not_hinder_close(void) {
    begin();
    define("k.a", 1);
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, "k.a", &object, E));
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "k.same",
                                                   .scope = INVIVO_SCOPE_LAZY_SINGLETON, .constant = object}, NULL, E));
    uint64_t number = generation();
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "k.same", .alias = "k.a"}, NULL, E));
    define("k.a", 2);
    OK(invivo_object_release(object));
    roll_back(number);
    CHECK_EQUAL(number_of("k.same"), 1);
    CHECK_EQUAL(number_of("k.a"), 1);
    define("k.same", 3), define("k.a", 4);
    end();
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

static bool fails;
static invivo_status may_fail(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                              invivo_error **error) {
    if (!fails) return thing_init(*instance, build, arguments, count, user_data, error);
    *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}

static void a_rollback_that_fails_changes_nothing(void) {
    begin();
    OK(invivo_define(runtime, DEFINITION("k.a", .factory = may_fail), NULL, E));
    define("k.b", 1); /* 2 */
    CHECK_EQUAL(number_of("k.a"), 0);
    define("k.a", 3), define("k.b", 4);
    CHECK_EQUAL(number_of("k.a"), 3);
    char *before = content();
    fails = true;
    expects_error(invivo_rollback(runtime, 2, E), INVIVO_E_HOST, NULL);
    fails = false;
    char *after = content();
    CHECK_TEXT(after, before);
    free(before), free(after);
    CHECK_EQUAL(generation(), 4);
    CHECK_EQUAL(number_of("k.b"), 4);
    roll_back(2);
    CHECK_EQUAL(number_of("k.b"), 1);
    end();
}

static void a_set_with_a_rollback_changes_nothing_else(void) {
    const char *said = "a change set with a rollback changes nothing else: commit the other changes before or after it";
    begin();
    define("k.a", 1), define("k.a", 2);
    for (int way = 0; way < 4; way++) {
        invivo_changes changes = open_set();
        invivo_value value = invivo_int64(1);
        OK(invivo_changes_rollback(changes, 1, E));
        switch (way) {
        case 0: OK(invivo_changes_define(changes, DEFINITION("k.b", NUMBER(1)), NULL, E)); break;
        case 1: OK(invivo_changes_configure(changes, "n", &value, E)); break;
        case 2: OK(invivo_changes_document(changes, "d.yaml", "config: {n: 1}", 14, E)); break;
        default: OK(invivo_changes_reset(changes, "k.a", 0, E));
        }
        expects_error(invivo_changes_check(changes, E), INVIVO_E_ARGUMENT, said);
        expects_error(invivo_changes_commit(changes, E), INVIVO_E_ARGUMENT, said);
    }
    invivo_changes changes = open_set();
    OK(invivo_changes_rollback(changes, 1, E));
    OK(invivo_changes_check(changes, E));
    CHECK_EQUAL(number_of("k.a"), 2);
    OK(invivo_changes_expect(changes, 1, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_STALE, NULL);
    changes = open_set();
    OK(invivo_changes_rollback(changes, 1, E));
    OK(invivo_changes_expect(changes, 2, E));
    commit(changes);
    CHECK_EQUAL(number_of("k.a"), 1);
    end();
}

/* An observer that finds a generation bad cannot wait for a rollback, and submits it. */
static int statuses[3];
static void roll_back_the_bad_one(void *user_data, const invivo_report *report) {
    (void)user_data;
    if (strcmp(invivo_report_cause(report), "define k.bad") != 0) return;
    invivo_changes changes;
    statuses[0] = invivo_rollback(runtime, invivo_report_generation(report) - 1, NULL);
    statuses[1] = invivo_changes_open(runtime, &changes, NULL);
    statuses[2] = invivo_changes_rollback(changes, invivo_report_generation(report) - 1, NULL);
    OK(invivo_changes_submit(changes, E));
}
static void an_observer_submits_a_rollback(void) {
    invivo_observer observer;
    begin();
    OK(invivo_observe(runtime, &(invivo_observer_options){.struct_size = sizeof(invivo_observer_options), .reloaded = roll_back_the_bad_one},
                      &observer, E));
    define("k.a", 1);
    define("k.bad", 2);
    listener_wait(heard, 3);
    CHECK_EQUAL(statuses[0], INVIVO_E_WOULD_WAIT);
    CHECK_EQUAL(statuses[1], INVIVO_OK);
    CHECK_EQUAL(statuses[2], INVIVO_OK);
    CHECK_TEXT(heard->reports[2].cause, "rollback to generation 1");
    CHECK_EQUAL(number_of("k.bad"), -1);
    CHECK_EQUAL(number_of("k.a"), 1);
    end();
}

/* ---- files --------------------------------------------------------------------------------------------- */

static invivo_source follow(const char *path) {
    invivo_source source = {0};
    OK(invivo_source_open(runtime, &(invivo_source_options){.struct_size = sizeof(invivo_source_options), .path = path}, &source, E));
    return source;
}
static void write_n(const char *path, const char *name, int number) {
    char written[128];
    snprintf(written, sizeof written, "config: { %s: %d }\n", name, number);
    write_text(path, written);
}
static void await_reports(size_t count) { listener_wait(heard, count); }
/* "a.yaml diverged, b.yaml": the sources. */
static const char *sources(void) {
    static char found[512];
    invivo_value value = invivo_null();
    size_t length = 0;
    found[0] = 0;
    OK(invivo_runtime_sources(runtime, &value, E));
    for (uint64_t i = 0; i < value.as.list.count; i++) {
        const invivo_pair *pairs = value.as.list.items[i].as.map.pairs;
        CHECK_TEXT(pairs[5].name, "diverged"), CHECK_TEXT(pairs[6].name, "live_hash"), CHECK_TEXT(pairs[7].name, "file_hash");
        bool diverged = pairs[5].value.as.boolean;
        CHECK_EQUAL(pairs[7].value.as.string.length, diverged ? 32 : 0);
        length += (size_t)snprintf(found + length, sizeof found - length, "%s%s%s", i ? ", " : "", pairs[0].value.as.string.data,
                                   diverged ? " diverged" : "");
        if (strcmp(pairs[2].value.as.string.data, "closed") == 0) length += (size_t)snprintf(found + length, sizeof found - length, " closed");
    }
    invivo_value_clear(&value);
    return found;
}

static void bytes_that_a_rollback_refused_are_not_tried_again(void) {
    begin();
    write_n("a.yaml", "n", 1), write_n("b.yaml", "m", 1);
    invivo_source a = follow("a.yaml");
    (void)follow("b.yaml");
    write_n("a.yaml", "n", 2);
    OK(invivo_source_refresh(a, E));
    CHECK_EQUAL(configured("n"), 2);
    uint64_t bad = generation();
    roll_back(bad - 1);
    CHECK_EQUAL(configured("n"), 1);
    CHECK_TEXT(sources(), "a.yaml diverged, b.yaml");
    CHECK(strstr(check_status_names(runtime, "diverged"), "a.yaml") != NULL && !strchr(check_status_names(runtime, "diverged"), ','));
    CHECK(strstr(listener_last(heard)->warnings, "a.yaml: the rollback has brought former content back, and the file has other bytes"));
    /* Neither by reading it again, nor with another file, nor with another change. */
    size_t count = listener_count(heard);
    OK(invivo_source_refresh(a, E));
    CHECK_EQUAL(listener_count(heard), count);
    write_n("a.yaml", "n", 2);
    write_n("b.yaml", "m", 2);
    await_reports(count + 1);
    define("k.a", 1);
    CHECK_EQUAL(configured("m"), 2);
    CHECK_EQUAL(configured("n"), 1);
    CHECK_TEXT(sources(), "a.yaml diverged, b.yaml");
    /* A rollback of another file leaves that as it is. */
    roll_back(generation() - 2);
    CHECK_EQUAL(configured("m"), 1);
    CHECK_TEXT(sources(), "a.yaml diverged, b.yaml diverged");
    roll_back(generation() - 1);
    CHECK_EQUAL(configured("m"), 2);
    CHECK_TEXT(sources(), "a.yaml diverged, b.yaml");
    /* Other bytes end the state, */
    count = listener_count(heard);
    write_n("a.yaml", "n", 3);
    await_reports(count + 1);
    CHECK_EQUAL(configured("n"), 3);
    CHECK_TEXT(sources(), "a.yaml, b.yaml");
    /* and then the refused ones are ordinary bytes. */
    write_n("a.yaml", "n", 2);
    await_reports(count + 2);
    CHECK_EQUAL(configured("n"), 2);
    end();
}

static void refused_bytes_are_tried_again_on_request(void) {
    begin_without_events();
    write_n("a.yaml", "n", 1);
    invivo_source a = follow("a.yaml"); /* 1 */
    write_n("a.yaml", "n", 2);
    OK(invivo_source_refresh(a, E)); /* 2 */
    roll_back(1);
    OK(invivo_source_refresh(a, E));
    CHECK_EQUAL(configured("n"), 1);
    OK(invivo_source_retry(a, E));
    CHECK_EQUAL(configured("n"), 2);
    CHECK_TEXT(sources(), "a.yaml");
    roll_back(1);
    CHECK_TEXT(sources(), "a.yaml diverged");
    roll_back(2); /* the file has these bytes */
    CHECK_TEXT(sources(), "a.yaml");
    /* Bytes that equal the live content end it silently. */
    roll_back(1);
    size_t count = listener_count(heard);
    write_n("a.yaml", "n", 1);
    OK(invivo_source_refresh(a, E));
    CHECK_TEXT(sources(), "a.yaml");
    CHECK_EQUAL(listener_count(heard), count);
    /* A rollback to before the file was opened: it has no content, and its bytes are refused. */
    roll_back(0);
    CHECK_EQUAL(configured("n"), -1);
    CHECK_TEXT(sources(), "a.yaml diverged");
    OK(invivo_source_retry(a, E));
    CHECK_EQUAL(configured("n"), 1);
    end();
}

static void content_of_a_closed_source_comes_back(void) {
    begin_without_events();
    write_n("a.yaml", "n", 1);
    invivo_source a = follow("a.yaml"); /* 1 */
    OK(invivo_source_close(a, E));      /* 2 */
    CHECK_EQUAL(configured("n"), -1);
    roll_back(1);
    CHECK_EQUAL(configured("n"), 1);
    CHECK_TEXT(sources(), "a.yaml closed");
    CHECK_EQUAL(invivo_source_refresh(a, NULL), INVIVO_E_HANDLE);
    define("k.a", 1);
    CHECK_EQUAL(configured("n"), 1);
    roll_back(2);
    CHECK_EQUAL(configured("n"), -1);
    CHECK_TEXT(sources(), "");
    roll_back(1);
    end();
}

/* ---- files that were refused --------------------------------------------------------------------------- */

static void a_refused_file_takes_part_in_every_later_change_set(void) {
    thing_concurrency = INVIVO_CONFINED;
    begin_without_events();
    thing_concurrency = INVIVO_SHARED;
    write_text("a.yaml", "traits: {}\n");
    invivo_source a = follow("a.yaml");
    write_text("a.yaml", "traits:\n  k.late:\n    - Set: { number: 5 }\n");
    expects_error(invivo_source_refresh(a, E), INVIVO_E_SPEC, NULL);
    /* A change that does not help is committed without it, and the refusal is reported again. */
    define("k.other", 1);
    CHECK_EQUAL(number_of("k.other"), 1);
    CHECK_EQUAL(listener_last(heard)->status, INVIVO_OK);
    CHECK(strstr(listener_last(heard)->warnings, "still refused: no target has the key 'k.late'"));
    CHECK(strstr(listener_last(heard)->warnings, "a.yaml:2:3"));
    invivo_error *error = NULL;
    OK(invivo_runtime_last_error(runtime, &error));
    CHECK(error && strstr(invivo_error_text(error), "no target has the key 'k.late'"));
    invivo_error_release(error);
    /* One that brings what was missing takes it along. */
    define("k.late", 1);
    CHECK_EQUAL(number_of("k.late"), 5);
    CHECK_TEXT(listener_last(heard)->warnings, "");
    CHECK_TEXT(listener_last(heard)->cause, "define k.late, a.yaml");
    OK(invivo_runtime_last_error(runtime, &error));
    CHECK(error == NULL);
    /* Bytes that cannot be parsed are not live, either. */
    write_text("a.yaml", "traits: [");
    expects_error(invivo_source_refresh(a, E), INVIVO_E_SYNTAX, NULL);
    define("k.other", 2);
    CHECK(strstr(listener_last(heard)->warnings, "still refused"));
    CHECK_EQUAL(number_of("k.late"), 5);
    CHECK_EQUAL(number_of("k.other"), 2);
    /* A set that fails by itself fails with its own error. */
    invivo_changes changes = open_set();
    OK(invivo_changes_remove(changes, "k.none", E));
    expects_error(invivo_changes_check(changes, E), INVIVO_E_NOT_FOUND, NULL);
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_NOT_FOUND, NULL);
    end();
}

static void a_refused_file_joins_the_change_of_another(void) {
    thing_concurrency = INVIVO_CONFINED;
    begin_without_events();
    thing_concurrency = INVIVO_SHARED;
    write_text("a.yaml", "traits: {}\n"), write_text("b.yaml", "config: { m: 1 }\n");
    invivo_source a = follow("a.yaml"), b = follow("b.yaml");
    const invivo_injection entry[] = {{.name = "number", .how = INVIVO_INJECT_ENTRY, .reference = NULL}};
    OK(invivo_define(runtime, DEFINITION("k.a", .properties = entry, .property_count = 1, .each = "tones"), NULL, E));
    /* The entry is traits of one file and configuration of another. */
    write_text("a.yaml", "traits:\n  k.a[x]:\n    - Set: { number: 5 }\n");
    expects_error(invivo_source_refresh(a, E), INVIVO_E_SPEC, NULL);
    write_text("b.yaml", "config: { k: { tones: { x: 4 } } }\n");
    OK(invivo_source_refresh(b, E));
    CHECK_EQUAL(number_of("k.a[x]"), 5);
    end();
}

/* An exclusive object is not stopped by each later change set because a file asks for one that does not start. */
static _Atomic int starts, stops;
static invivo_status start_positive(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    if (((thing *)instance)->number >= 0) {
        starts++;
        return INVIVO_OK;
    }
    *error = invivo_error_make(INVIVO_E_HOST, "below zero", NULL, NULL);
    return INVIVO_E_HOST;
}
static invivo_status stop_it(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    stops++;
    return INVIVO_OK;
}
static void a_refused_file_with_an_outage_is_not_tried_again(void) {
    const invivo_injection number[] = {{.name = "number", .how = INVIVO_INJECT_CONFIG, .reference = "n"}};
    begin_without_events();
    const invivo_type_options options = {
        .struct_size = sizeof options, .name = "Device", .size = sizeof(thing), .alignment = _Alignof(thing), .concurrency = INVIVO_SHARED,
        .init = thing_init, .deinit = thing_deinit, .properties = thing_properties, .property_count = 2, .start = start_positive,
        .stop = stop_it};
    OK(invivo_type_register(runtime, &options, &(invivo_type){0}, E));
    starts = stops = 0;
    write_text("a.yaml", "config: { k: { n: 1 } }\n");
    invivo_source a = follow("a.yaml");
    OK(invivo_define(runtime, &(invivo_definition){.struct_size = sizeof(invivo_definition), .key = "k.device", .type_name = "Device",
                                                   .scope = INVIVO_SCOPE_SINGLETON, .flags = INVIVO_DEFINITION_EXCLUSIVE,
                                                   .properties = number, .property_count = 1}, NULL, E));
    CHECK_EQUAL(starts, 1);
    write_text("a.yaml", "config: { k: { n: -1 } }\n");
    expects_error(invivo_source_refresh(a, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(stops, starts - 1); /* it was stopped, and started again */
    int before = stops;
    CHECK(before > 0);
    define("k.a", 1), configure("m", 2);
    CHECK_EQUAL(stops, before);
    CHECK_EQUAL(configured("k.n"), 1);
    expects_error(invivo_source_refresh(a, E), INVIVO_E_HOST, NULL); /* on request */
    CHECK(stops > before);
    write_text("a.yaml", "config: { k: { n: 3 } }\n");
    OK(invivo_source_refresh(a, E));
    CHECK_EQUAL(number_of("k.device"), 3);
    end();
}

static void a_rollback_does_not_try_a_refused_file(void) {
    begin_without_events();
    write_n("a.yaml", "n", 1);
    invivo_source a = follow("a.yaml"); /* 1 */
    write_n("a.yaml", "n", 2);
    OK(invivo_source_refresh(a, E)); /* 2 */
    write_text("a.yaml", "config: [");
    expects_error(invivo_source_refresh(a, E), INVIVO_E_SYNTAX, NULL);
    roll_back(1);
    CHECK_TEXT(sources(), "a.yaml diverged");
    size_t count = listener_count(heard);
    define("k.a", 1);
    CHECK_TEXT(listener_last(heard)->warnings, "");
    CHECK_EQUAL(listener_count(heard), count + 1);
    end();
}

/* ---- threads ------------------------------------------------------------------------------------------- */

static bool is_over;
static void *mark_and_list(void *user_data) {
    const char *name = user_data;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        uint64_t number = 0, found = 0;
        OK(invivo_mark(runtime, name, &number, E));
        OK(invivo_marked(runtime, name, &found, E));
        CHECK(found >= number); /* a commit without other content moves it */
        CHECK(strlen(kept()) > 0);
        OK(invivo_unmark(runtime, name, E));
    }
    return NULL;
}
static void *define_and_roll_back(void *unused) {
    (void)unused;
    for (int i = 0; i < 200; i++) {
        define("k.a", i);
        invivo_status status = invivo_rollback(runtime, generation() - 1, NULL);
        CHECK(status == INVIVO_OK || status == INVIVO_E_NOT_FOUND);
    }
    return NULL;
}
static void marks_and_rollbacks_under_threads(void) {
    pthread_t marking, committing[2];
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.history = 4, options.commit_timeout_ms = 60000, is_over = false;
    begin_with(&options);
    pthread_create(&marking, NULL, mark_and_list, "good");
    for (int i = 0; i < 2; i++) pthread_create(&committing[i], NULL, define_and_roll_back, NULL);
    for (int i = 0; i < 2; i++) pthread_join(committing[i], NULL);
    __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    pthread_join(marking, NULL);
    end();
}

int main(void) {
    check_begin();
    check_directory();
    RUN_TEST(every_kept_generation_comes_back_as_it_was);
    RUN_TEST(the_last_generations_are_kept);
    RUN_TEST(a_mark_keeps_a_generation);
    RUN_TEST(a_mark_outlives_many_edits_of_a_document);
    RUN_TEST(kept_generations_are_bounded_in_bytes);
    RUN_TEST(a_commit_without_other_content_takes_no_place);
    RUN_TEST(settings_within_a_second_are_one_entry);
    RUN_TEST(a_definition_ends_with_the_last_kept_generation);
    RUN_TEST(processors_and_overrides_stay);
    RUN_TEST(constants_of_former_definitions_do_not_hinder_close);
    RUN_TEST(base_values_are_set_in_the_kept_object);
    RUN_TEST(an_object_that_loses_a_base_value_is_created_again);
    RUN_TEST(a_rollback_that_fails_changes_nothing);
    RUN_TEST(a_set_with_a_rollback_changes_nothing_else);
    RUN_TEST(an_observer_submits_a_rollback);
    RUN_TEST(bytes_that_a_rollback_refused_are_not_tried_again);
    RUN_TEST(refused_bytes_are_tried_again_on_request);
    RUN_TEST(content_of_a_closed_source_comes_back);
    RUN_TEST(a_refused_file_takes_part_in_every_later_change_set);
    RUN_TEST(a_refused_file_joins_the_change_of_another);
    RUN_TEST(a_refused_file_with_an_outage_is_not_tried_again);
    RUN_TEST(a_rollback_does_not_try_a_refused_file);
    RUN_TEST(marks_and_rollbacks_under_threads);
    return check_end();
}
