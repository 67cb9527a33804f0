/* world.h: the types of the cases, and their events. Tests/Cases/README.md describes each of them. The runners of the
 * other languages have the same. */
#ifndef INVIVO_TESTS_WORLD_H
#define INVIVO_TESTS_WORLD_H

#include "script.h"

/* ---- events -------------------------------------------------------------------------------------------- */

typedef struct texts { char *items[4096]; size_t count; } texts;

static void texts_add(texts *self, const char *text) {
    if (self->count < sizeof self->items / sizeof *self->items) self->items[self->count++] = strdup(text);
}
static void texts_clear(texts *self) {
    while (self->count) free(self->items[--self->count]);
}
static int texts_compare(const void *one, const void *other) { return strcmp(*(char *const *)one, *(char *const *)other); }
static void texts_sort(texts *self) { qsort(self->items, self->count, sizeof *self->items, texts_compare); }

/* The behavior that a case declares for an event: it fails, waits until it is released, or waits for others. */
typedef struct rule_of_event {
    char event[64];
    int fails;  /* how often it still fails; -1: always */
    bool holds;
    int meets, arrived;
    int takes; /* milliseconds */
} rule_of_event;

static pthread_mutex_t world_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t world_changed = PTHREAD_COND_INITIALIZER;
static texts heard, disposed, reported, warned;
static rule_of_event rules[32];
static size_t rule_count;

static rule_of_event *rule_of(const char *event) { /* with the lock */
    for (size_t i = 0; i < rule_count; i++) if (!strcmp(rules[i].event, event)) return &rules[i];
    return NULL;
}
static rule_of_event *rule_make(const char *event) {
    rule_of_event *rule = rule_of(event);
    if (rule || rule_count == sizeof rules / sizeof *rules) return rule;
    rule = &rules[rule_count++];
    memset(rule, 0, sizeof *rule);
    snprintf(rule->event, sizeof rule->event, "%.*s", (int)sizeof rule->event - 1, event);
    return rule;
}
static struct timespec world_limit(void) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_LIMIT_SECONDS;
    return limit;
}
/* With the lock. */
#define WORLD_WAIT(condition)                                                                                   \
    do {                                                                                                        \
        struct timespec limit = world_limit();                                                                  \
        while (!(condition) && pthread_cond_timedwait(&world_changed, &world_lock, &limit) == 0) {}             \
        if (!(condition)) check_failed(__FILE__, __LINE__, "waited too long: %s", #condition);                  \
    } while (0)

static double world_seconds(void) { /* of the clock for deadlines */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
static invivo_status event(invivo_error **error, const char *format, ...) {
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&world_lock);
    texts_add(&heard, text);
    rule_of_event *rule = rule_of(text);
    bool fails = false;
    int takes = 0;
    if (rule) {
        rule->arrived++;
        pthread_cond_broadcast(&world_changed);
        if (rule->holds) WORLD_WAIT(!rule->holds);
        if (rule->meets) WORLD_WAIT(rule->arrived >= rule->meets);
        fails = rule->fails != 0;
        if (rule->fails > 0) rule->fails--;
        takes = rule->takes;
    }
    pthread_mutex_unlock(&world_lock);
    for (double end = world_seconds() + takes * 1e-3; takes && world_seconds() < end;) sched_yield(); /* busy until then */
    if (!fails) return INVIVO_OK;
    strncat(text, " fails on purpose", sizeof text - strlen(text) - 1);
    if (error) *error = invivo_error_make(INVIVO_E_HOST, text, NULL, NULL);
    return INVIVO_E_HOST;
}

/* ---- types --------------------------------------------------------------------------------------------- */

/* The properties of a type, beside those that all have. */
typedef enum more { MORE_NONE, MORE_LAMP, MORE_LABEL, MORE_GAP } more;

typedef struct kind {
    const char *name;
    const char *supertypes[4], *stands_for;
    bool shared, hooks, life, prepares, needs, children, strict, setup, finalize, keeps;
    more more;
    int alive;
    invivo_type type[4]; /* in each runtime of the case */
} kind;

static kind kinds[] = {
    {.name = "Knight", .supertypes = {"Thing"}},
    {.name = "Squire", .supertypes = {"Knight", "Thing"}},
    {.name = "Quest", .supertypes = {"Thing"}},
    {.name = "Sword", .supertypes = {"Weapon", "Thing"}},
    {.name = "Lance", .supertypes = {"Weapon", "Thing"}},
    {.name = "Page", .supertypes = {"Thing"}, .hooks = true},
    {.name = "Needy", .supertypes = {"Thing"}, .needs = true},
    {.name = "Strict", .supertypes = {"Thing"}, .strict = true},
    {.name = "Branch", .supertypes = {"Thing"}, .hooks = true, .children = true},
    {.name = "Port", .supertypes = {"Thing"}, .life = true},
    {.name = "Castle", .supertypes = {"Thing"}, .shared = true},
    {.name = "Tower", .supertypes = {"Thing"}, .shared = true},
    {.name = "Mill", .supertypes = {"Thing"}, .shared = true, .life = true},
    {.name = "Pump", .supertypes = {"Thing"}, .shared = true, .life = true},
    {.name = "Loom", .supertypes = {"Thing"}, .shared = true, .life = true, .prepares = true},
    {.name = "Chest", .supertypes = {"Thing"}},
    {.name = "Ledger", .supertypes = {"Chest", "Chest[Quest]", "Thing"}},
    {.name = "Vault", .supertypes = {"Chest", "Thing"}, .stands_for = "Chest"},
    {.name = "Camp", .supertypes = {"Thing"}, .setup = true},
    {.name = "Tent", .supertypes = {"Thing"}, .setup = true},
    {.name = "Court", .supertypes = {"Thing"}, .setup = true, .keeps = true},
    {.name = "Forge", .supertypes = {"Thing"}, .setup = true, .life = true, .finalize = true},
    {.name = "Lamp", .supertypes = {"Thing"}, .more = MORE_LAMP},
    {.name = "Label", .supertypes = {"Thing"}, .more = MORE_LABEL},
    {.name = "Gap", .supertypes = {"Thing"}, .more = MORE_GAP},
    {.name = "Inn", .supertypes = {"Thing"}, .shared = true, .setup = true},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static kind *kind_named(const char *name) {
    for (size_t i = 0; i < KIND_COUNT; i++) if (!strcmp(kinds[i].name, name)) return &kinds[i];
    return NULL;
}

typedef struct thing {
    kind *kind;
    invivo_runtime runtime;
    invivo_object left, right, input; /* borrowed: the runtime holds leases on injected objects */
    invivo_object held;               /* its own lease on an object that code injected */
    int64_t number;
    int child_count;                  /* of its setup: in `left` and `right` */
    invivo_value any, given;
    double gain, share, after;        /* of a lamp */
    int64_t color;
    invivo_value frame, place;
    double radius, opacity, size;     /* of a label */
    bool masks;
    int64_t shadow, background;
    invivo_value offset, font, text_color, columns;
    double constant;                  /* of a gap */
    invivo_object below[16];
    size_t below_count;
    char key_name[64];
} thing;

static invivo_status thing_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    thing *self = instance;
    invivo_status status;
    self->kind = user_data;
    if (build) self->runtime = build->runtime;
    if ((status = event(error, "%s.init", self->kind->name))) return status;
    if (count > 0 && arguments[0].kind == INVIVO_KIND_OBJECT) self->input = arguments[0].as.object;
    if (count > 1 && arguments[1].kind == INVIVO_KIND_INT64) self->number = arguments[1].as.signed_integer;
    if (count > 2) invivo_value_copy(&self->given, &arguments[2], NULL);
    __atomic_add_fetch(&self->kind->alive, 1, __ATOMIC_SEQ_CST);
    return INVIVO_OK;
}
static void thing_deinit(void *instance, void *user_data) {
    thing *self = instance;
    (void)user_data;
    pthread_mutex_lock(&world_lock);
    texts_add(&disposed, self->kind->name);
    pthread_mutex_unlock(&world_lock);
    invivo_value *const values[] = {&self->any, &self->given, &self->frame, &self->place, &self->offset, &self->font, &self->text_color};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) invivo_value_clear(values[i]);
    if (self->held.bits) invivo_object_release(self->held);
    __atomic_sub_fetch(&self->kind->alive, 1, __ATOMIC_SEQ_CST);
}

/* Hooks of injection and life cycle report their name. */
#define THING_SAYS(function, word)                                                             \
    static invivo_status function(void *instance, void *user_data, invivo_error **error) {     \
        (void)user_data;                                                                       \
        return event(error, "%s." word, ((thing *)instance)->kind->name);                      \
    }
THING_SAYS(thing_will, "will")
THING_SAYS(thing_did, "did")
THING_SAYS(thing_prepare, "prepare")
THING_SAYS(thing_start, "start")
THING_SAYS(thing_stop, "stop")

/* ---- properties and methods ---------------------------------------------------------------------------- */

static invivo_status thing_get_object(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(*(invivo_object *)((char *)instance + (size_t)user_data));
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status thing_set_object(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    size_t offset = (size_t)user_data;
    invivo_status status = event(error, "%s.%s", ((thing *)instance)->kind->name, offset == offsetof(thing, left) ? "left" : "right");
    if (!status) *(invivo_object *)((char *)instance + offset) = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return status;
}
static invivo_status thing_get_value(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    return invivo_value_copy(out, (invivo_value *)((char *)instance + (size_t)user_data), error);
}
static invivo_status thing_set_value(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    invivo_value *field = (invivo_value *)((char *)instance + (size_t)user_data);
    invivo_value_clear(field);
    return invivo_value_copy(field, value, error);
}
static invivo_status thing_verify_even(void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data;
    if (value->as.signed_integer % 2 == 0) return INVIVO_OK;
    *error = invivo_error_make(INVIVO_E_RANGE, "expected an even number", NULL, NULL);
    return INVIVO_E_RANGE;
}
#define OBJECT_PROPERTY(field)                                                                                  \
    {.struct_size = sizeof(invivo_property), .name = #field, .kind = INVIVO_KIND_OBJECT, .get = thing_get_object, \
     .set = thing_set_object, .user_data = (void *)offsetof(thing, field)}
#define VALUE_PROPERTY(field, its_kind, its_codec)                                                                  \
    {.struct_size = sizeof(invivo_property), .name = #field, .kind = INVIVO_KIND_##its_kind, .get = thing_get_value, \
     .set = thing_set_value, .user_data = (void *)offsetof(thing, field), .codec = INVIVO_CODEC_##its_codec}
#define THING_PROPERTIES                                                                                             \
    OBJECT_PROPERTY(left), OBJECT_PROPERTY(right), VALUE_PROPERTY(any, ANY, NONE), INVIVO_FIELD(thing, number),      \
    {.struct_size = sizeof(invivo_property), .name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PROPERTY_READ_ONLY, \
     .get = thing_get_object, .user_data = (void *)offsetof(thing, input)},                                          \
    {.struct_size = sizeof(invivo_property), .name = "given", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PROPERTY_READ_ONLY, \
     .get = thing_get_value, .user_data = (void *)offsetof(thing, given)}
static const invivo_property thing_properties[] = {THING_PROPERTIES};
static const invivo_property lamp_properties[] = {
    THING_PROPERTIES,
    INVIVO_FIELD(thing, gain, .codec = INVIVO_CODEC_DECIBEL),
    INVIVO_FIELD(thing, share, .codec = INVIVO_CODEC_PERCENT),
    INVIVO_FIELD(thing, after, .codec = INVIVO_CODEC_DURATION),
    INVIVO_FIELD(thing, color, .codec = INVIVO_CODEC_COLOR),
    VALUE_PROPERTY(frame, MAP, SIZE),
    VALUE_PROPERTY(place, MAP, POINT),
};
static const invivo_property label_properties[] = {
    THING_PROPERTIES,
    INVIVO_FIELD(thing, radius),
    INVIVO_FIELD(thing, masks),
    INVIVO_FIELD(thing, shadow, .codec = INVIVO_CODEC_COLOR),
    VALUE_PROPERTY(offset, MAP, SIZE),
    INVIVO_FIELD(thing, opacity, .min = 0, .max = 1),
    INVIVO_FIELD(thing, background, .codec = INVIVO_CODEC_COLOR),
    VALUE_PROPERTY(font, STRING, NONE),
    INVIVO_FIELD(thing, size),
    VALUE_PROPERTY(text_color, STRING, NONE),
    {.struct_size = sizeof(invivo_property), .name = "columns", .kind = INVIVO_KIND_INT64, .get = thing_get_value,
     .set = thing_set_value, .user_data = (void *)offsetof(thing, columns), .verify = thing_verify_even},
};
static const invivo_property gap_properties[] = {THING_PROPERTIES, INVIVO_FIELD(thing, constant)};
#define TABLE(properties) {properties, sizeof properties / sizeof *properties}
static const struct { const invivo_property *items; size_t count; } property_tables[] = {
    [MORE_NONE] = TABLE(thing_properties), [MORE_LAMP] = TABLE(lamp_properties), [MORE_LABEL] = TABLE(label_properties),
    [MORE_GAP] = TABLE(gap_properties)};
#undef TABLE

#define THING_METHOD(function)                                                                                               \
    static invivo_status function(void *instance, void *user_data, const invivo_value *arguments, size_t count,              \
                                  invivo_value *result, invivo_error **error)
static char *thing_text(const invivo_value *value, char *out, size_t size) {
    snprintf(out, size, "%.*s", (int)value->as.string.length, value->as.string.data);
    return out;
}
THING_METHOD(thing_note) {
    char text[64];
    (void)user_data, (void)result, (void)count;
    return event(error, "%s.note(%s)", ((thing *)instance)->kind->name, thing_text(&arguments[0], text, sizeof text));
}
THING_METHOD(thing_add) {
    thing *self = instance;
    (void)user_data, (void)result, (void)count;
    invivo_status status = event(error, "%s.add(%lld)", self->kind->name, (long long)arguments[0].as.signed_integer);
    if (!status) self->number += arguments[0].as.signed_integer;
    return status;
}
THING_METHOD(thing_resolve) {
    thing *self = instance;
    char text[64];
    invivo_object object;
    (void)user_data, (void)result, (void)count;
    invivo_status status = event(error, "%s.resolve", self->kind->name);
    if (!status) status = invivo_resolve_name(self->runtime, thing_text(&arguments[0], text, sizeof text), &object, error);
    if (!status) invivo_object_release(object);
    return status;
}
static invivo_status thing_answer(invivo_runtime runtime, invivo_type type, const invivo_value *arguments, size_t count,
                                  invivo_value *result, invivo_error **error) {
    invivo_object made;
    invivo_status status = invivo_object_make(runtime, type, arguments, count, &made, error);
    if (status) return status;
    invivo_value borrowed = invivo_object_value(made);
    status = invivo_value_copy(result, &borrowed, error);
    invivo_object_release(made);
    return status;
}
THING_METHOD(thing_make) { /* a Quest of the number, or null for 0 */
    invivo_type type;
    (void)user_data, (void)count;
    if (arguments[0].as.signed_integer == 0) return INVIVO_OK;
    invivo_runtime runtime = ((thing *)instance)->runtime;
    invivo_status status = invivo_type_find(runtime, "Quest", &type, error);
    return status ? status : thing_answer(runtime, type, (invivo_value[]){invivo_null(), arguments[0]}, 2, result, error);
}
THING_METHOD(thing_wrap) { /* another object of its type, with the object as its input and this one's number */
    invivo_runtime runtime;
    invivo_type type;
    (void)user_data, (void)count;
    invivo_status status = invivo_object_type(arguments[0].as.object, &type, error);
    if (!status) status = invivo_object_runtime(arguments[0].as.object, &runtime, error);
    return status ? status : thing_answer(runtime, type, (invivo_value[]){arguments[0], invivo_int64(((thing *)instance)->number)}, 2, result, error);
}
THING_METHOD(thing_come) {
    (void)user_data, (void)count, (void)arguments, (void)result;
    return event(error, "%s.come", ((thing *)instance)->kind->name);
}
THING_METHOD(thing_go) {
    (void)user_data, (void)count, (void)arguments, (void)result;
    return event(error, "%s.go", ((thing *)instance)->kind->name);
}
THING_METHOD(thing_grow) {
    thing *self = instance;
    (void)user_data, (void)count, (void)result, (void)error;
    if (self->below_count == sizeof self->below / sizeof *self->below) return INVIVO_E_TOO_LARGE;
    self->below[self->below_count++] = arguments[0].as.object;
    return INVIVO_OK;
}
static const invivo_parameter one_text[] = {{.name = "text", .kind = INVIVO_KIND_STRING}};
static const invivo_parameter one_number[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
static const invivo_parameter one_object[] = {{.name = "object", .kind = INVIVO_KIND_OBJECT}};
#define METHOD(its_name, its_parameter, its_result)                                                             \
    {.struct_size = sizeof(invivo_method), .name = #its_name, .parameters = its_parameter, .parameter_count = 1, \
     .result = INVIVO_KIND_##its_result, .call = thing_##its_name}
static const invivo_method thing_methods[] = {
    METHOD(note, one_text, NULL), METHOD(add, one_number, NULL),  METHOD(resolve, one_text, NULL), METHOD(make, one_number, ANY),
    METHOD(wrap, one_object, OBJECT), METHOD(come, one_object, NULL), METHOD(go, one_object, NULL), METHOD(grow, one_object, NULL),
};

/* ---- trees --------------------------------------------------------------------------------------------- */

static invivo_status thing_child(void *instance, void *user_data, uint64_t index, invivo_object *out, invivo_error **error) {
    thing *self = instance;
    (void)user_data, (void)error;
    if (index >= self->below_count) return INVIVO_OK;
    *out = self->below[index];
    return invivo_object_retain(*out);
}
/* A branch stands in the object of its property `left`. */
static invivo_status thing_parent(void *instance, void *user_data, invivo_object *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = ((thing *)instance)->left;
    return out->bits ? invivo_object_retain(*out) : INVIVO_OK;
}
static invivo_status thing_key_name(void *instance, void *user_data, const char **out, invivo_error **error) {
    thing *self = instance;
    (void)user_data, (void)error;
    if (self->given.kind == INVIVO_KIND_STRING) *out = thing_text(&self->given, self->key_name, sizeof self->key_name);
    return INVIVO_OK;
}

/* ---- setups -------------------------------------------------------------------------------------------- */

static invivo_status undo_effect(void *user_data, invivo_error **error) {
    invivo_status status = event(error, "undo(%s)", (char *)user_data);
    free(user_data);
    return status;
}
static invivo_status add_effect(invivo_runtime runtime, const char *name, invivo_error **error) {
    invivo_status status = event(error, "effect(%s)", name);
    return status ? status : invivo_effect(runtime, undo_effect, strdup(name), error);
}
static void note_reload(void *user_data, const invivo_report *report) {
    (void)report;
    event(NULL, "reloaded(%s)", (char *)user_data);
}
static invivo_status add_child(invivo_runtime runtime, const char *key_name, const char *argument, invivo_object *out, invivo_error **error) {
    invivo_key key;
    invivo_value value = invivo_string(argument);
    invivo_status status = invivo_key_find(runtime, key_name, &key, error);
    return status ? status : invivo_child(runtime, key, &value, *argument ? 1 : 0, out, error);
}
/* A step of a setup: "effect a", "child a.tent x", "make Tent", "observe a". */
static invivo_status setup_step(thing *self, const invivo_value *said, invivo_error **error) {
    char text[128], verb[32] = "", name[64] = "", argument[32] = "";
    invivo_object child = {0};
    invivo_status status;
    sscanf(thing_text(said, text, sizeof text), "%31s %63s %31s", verb, name, argument);
    if (!strcmp(verb, "effect")) return add_effect(self->runtime, name, error);
    if (!strcmp(verb, "observe")) {
        invivo_observer observer;
        invivo_observer_options options = {.struct_size = sizeof options, .reloaded = note_reload, .destroy = free, .user_data = strdup(name)};
        return invivo_observe(self->runtime, &options, &observer, error);
    }
    if (!strcmp(verb, "child")) {
        status = add_child(self->runtime, name, argument, &child, error);
    } else {
        invivo_type type;
        status = invivo_type_find(self->runtime, name, &type, error);
        if (!status) status = invivo_child_make(self->runtime, type, NULL, 0, &child, error);
    }
    if (!status) *(self->child_count++ ? &self->right : &self->left) = child;
    return status;
}
static invivo_status thing_setup(void *instance, void *user_data, invivo_error **error) {
    thing *self = instance;
    (void)user_data;
    invivo_status status = event(error, "%s.setup", self->kind->name);
    if (self->child_count) self->left = self->right = (invivo_object){0};
    self->child_count = 0;
    for (uint64_t i = 0; self->any.kind == INVIVO_KIND_LIST && i < self->any.as.list.count && !status; i++) {
        status = setup_step(self, &self->any.as.list.items[i], error);
    }
    return status;
}
THING_SAYS(thing_teardown, "teardown")
THING_SAYS(thing_refresh, "refresh")
THING_SAYS(thing_finalize, "finalize")

/* ---- registration -------------------------------------------------------------------------------------- */

static const invivo_parameter thing_parameters[] = {
    {.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "given", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_parameter strict_parameters[] = {
    {.name = "input", .kind = INVIVO_KIND_OBJECT},
    {.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL},
    {.name = "given", .kind = INVIVO_KIND_ANY, .flags = INVIVO_PARAMETER_OPTIONAL},
};
static const invivo_injection needy_needs[] = {{.name = "left", .how = INVIVO_INJECT_TYPE, .reference = "Sword"}};

static void world_register(invivo_runtime runtime, int number) {
    for (size_t i = 0; i < KIND_COUNT; i++) {
        kind *kind = &kinds[i];
        invivo_type_options options = {.struct_size = sizeof options, .name = kind->name, .size = sizeof(thing),
                                       .alignment = _Alignof(thing), .init = thing_init, .deinit = thing_deinit, .user_data = kind,
                                       .parameters = kind->strict ? strict_parameters : thing_parameters, .parameter_count = 3,
                                       .properties = property_tables[kind->more].items, .methods = thing_methods, .supertypes = kind->supertypes};
        options.concurrency = kind->shared ? INVIVO_SHARED : INVIVO_CONFINED;
        options.lookup_name = kind->stands_for;
        options.property_count = property_tables[kind->more].count;
        options.method_count = sizeof thing_methods / sizeof *thing_methods;
        while (kind->supertypes[options.supertype_count]) options.supertype_count++;
        if (kind->hooks) options.will_inject = thing_will, options.did_inject = thing_did;
        if (kind->life) options.start = thing_start, options.stop = thing_stop;
        if (kind->prepares) options.prepare = thing_prepare;
        if (kind->needs) options.needs = needy_needs, options.need_count = 1;
        if (kind->children) options.child = thing_child, options.key_name = thing_key_name, options.parent = thing_parent;
        if (kind->setup) options.setup = thing_setup, options.teardown = thing_teardown, options.refresh = thing_refresh;
        if (kind->finalize) options.finalize = thing_finalize;
        options.keeps_children = kind->keeps;
        OK(invivo_type_register(runtime, &options, &kind->type[number], E));
    }
}

#endif
