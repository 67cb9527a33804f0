/* The value under a layer is restored exactly, even if setters move, refuse or clamp values, or other code changes a
 * neighboring field. */
#include "check.h"

typedef struct { double x, y; } point;
typedef struct { point from, to; } line;

typedef struct {
    double max, value;    /* by function: max clamps value, value is clamped by max */
    double twin;          /* two fields share its memory */
    char label[8];
    bool mute;
    point where;
    line path;
    point moved;          /* by function, as a map */
    double g, h;          /* by function: h refuses while `refuses` says so */
    int refuses;          /* how many calls of h's setter fail */
    bool unreadable;
    double p, q, r;       /* plain fields that share no byte with others */
} limits;

static invivo_status get_limit(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    limits *self = instance;
    if (self->unreadable && (size_t)user_data == offsetof(limits, h)) {
        *error = invivo_error_make(INVIVO_E_HOST, "h cannot be read", NULL, NULL);
        return INVIVO_E_HOST;
    }
    *out = invivo_double(*(double *)((char *)instance + (size_t)user_data));
    return INVIVO_OK;
}
static invivo_status set_limit(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    limits *self = instance;
    double number = value->as.number;
    switch ((size_t)user_data) {
    case offsetof(limits, max):
        self->max = number;
        if (self->value > number) self->value = number;
        break;
    case offsetof(limits, value): self->value = number > self->max ? self->max : number; break;
    case offsetof(limits, g): self->g = number; break;
    default:
        if (self->refuses > 0) {
            self->refuses--;
            *error = invivo_error_make(INVIVO_E_HOST, "h refuses", "a.path.of.the.host", NULL);
            return INVIVO_E_HOST;
        }
        self->h = number;
    }
    return INVIVO_OK;
}
#define LIMIT(field)                                                                                             \
    {.struct_size = sizeof(invivo_property), .name = #field, .kind = INVIVO_KIND_DOUBLE, .get = get_limit,       \
     .set = set_limit, .user_data = (void *)offsetof(limits, field)}

static invivo_status get_moved(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    limits *self = instance;
    invivo_pair pairs[] = {{.name = "x", .length = 1, .value = invivo_double(self->moved.x)},
                           {.name = "y", .length = 1, .value = invivo_double(self->moved.y)}};
    invivo_value lent = {.kind = INVIVO_KIND_MAP};
    (void)user_data, (void)error;
    lent.as.map.pairs = pairs;
    lent.as.map.count = 2;
    return invivo_value_copy(out, &lent, error);
}
static invivo_status set_moved(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    limits *self = instance;
    (void)user_data, (void)error;
    for (uint64_t i = 0; i < value->as.map.count; i++) {
        *(value->as.map.pairs[i].name[0] == 'x' ? &self->moved.x : &self->moved.y) = value->as.map.pairs[i].value.as.number;
    }
    return INVIVO_OK;
}

static const invivo_property point_fields[] = {INVIVO_FIELD(point, x), INVIVO_FIELD(point, y)};
static const invivo_property line_fields[] = {INVIVO_FIELD(line, from, .fields = point_fields, .field_count = 2),
                                              INVIVO_FIELD(line, to, .fields = point_fields, .field_count = 2)};
static const invivo_property properties[] = {
    LIMIT(max), LIMIT(value), LIMIT(g), LIMIT(h),
    INVIVO_FIELD(limits, twin),
    {.struct_size = sizeof(invivo_property), .name = "other", .kind = INVIVO_KIND_DOUBLE, .offset = offsetof(limits, twin), .size = 8},
    INVIVO_FIELD(limits, label), INVIVO_FIELD(limits, mute),
    INVIVO_FIELD(limits, where, .fields = point_fields, .field_count = 2),
    INVIVO_FIELD(limits, path, .fields = line_fields, .field_count = 2),
    INVIVO_FIELD(limits, p), INVIVO_FIELD(limits, q), INVIVO_FIELD(limits, r),
    {.struct_size = sizeof(invivo_property), .name = "moved", .kind = INVIVO_KIND_MAP, .fields = point_fields, .field_count = 2,
     .get = get_moved, .set = set_moved},
};

static invivo_runtime runtime;
static invivo_object object;
static limits *self;
static char log_text[4096];

static void note(void *user_data, const invivo_log_entry *entry) {
    (void)user_data;
    if (entry->level == INVIVO_LOG_WARNING) snprintf(log_text, sizeof(log_text), "%s", entry->message);
}

static void begin(void) {
    invivo_runtime_options options;
    invivo_type type;
    void *instance = NULL;
    invivo_type_options limits_type = {.struct_size = sizeof(limits_type), .name = "Limits", .size = sizeof(limits),
                                       .properties = properties, .property_count = sizeof(properties) / sizeof(properties[0])};
    invivo_runtime_options_init(&options);
    options.log = note;
    log_text[0] = 0;
    OK(invivo_runtime_open(&runtime, &options, E));
    OK(invivo_type_register(runtime, &limits_type, &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    OK(invivo_object_instance(object, type, &instance, E));
    self = instance;
    self->max = 10, self->value = 8, self->twin = 4, self->g = 1, self->h = 2;
    OK(invivo_target_attach(object, "a.t", NULL, E));
}
static void end(void) {
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
}

static invivo_status say(const char *name, const char *text, invivo_error **error) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, name, text, text ? strlen(text) : 0, E));
    return invivo_changes_commit(changes, error);
}
#define SET(set) "traits: { a.t: [Set: { " set " }] }"

static void values_moved_by_another_setter_are_restored(void) {
    static const char *const sets[] = {SET("max: 5, value: 3"), SET("value: 3, max: 5"), SET("max: 2, value: 3"),
                                       SET("value: 20, max: 30"), SET("max: 20, value: 15")};
    begin();
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        OK(say("a.yaml", sets[i], E));
        OK(say("a.yaml", "{}", E));
        CHECK_EQUAL(self->max, 10);
        CHECK_EQUAL(self->value, 8);
    }
    /* A value that a later setter makes possible is set again. */
    OK(say("a.yaml", SET("value: 20, max: 30"), E));
    CHECK_EQUAL(self->max, 30);
    CHECK_EQUAL(self->value, 20);
    /* A remaining layer is applied again as soon as possible. */
    OK(say("a.yaml", SET("value: 20, max: 15"), E));
    CHECK_EQUAL(self->value, 15);
    OK(say("a.yaml", SET("value: 20, max: 25"), E));
    CHECK_EQUAL(self->value, 20);
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->max, 10);
    CHECK_EQUAL(self->value, 8);
    /* A failed reload restores both too. */
    self->refuses = 1;
    expects_error(say("a.yaml", SET("max: 5, value: 3, h: 1"), E), INVIVO_E_HOST, "a.yaml:1:45: a.t.h: h refuses");
    CHECK_EQUAL(self->max, 10);
    CHECK_EQUAL(self->value, 8);
    /* Two properties of one field: the later one wins, and the base is the field's. */
    OK(say("a.yaml", SET("twin: 1, other: 3"), E));
    CHECK_EQUAL(self->twin, 3);
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->twin, 4);
    end();
}

static void a_refused_removal_keeps_the_base(void) {
    begin();
    OK(say("a.yaml", SET("g: 5, h: 6"), E));
    self->refuses = 1;
    expects_error(say("a.yaml", "{}", E), INVIVO_E_HOST, "a.t.h: h refuses");
    CHECK_EQUAL(self->g, 5);
    CHECK_EQUAL(self->h, 6);
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->g, 1);
    CHECK_EQUAL(self->h, 2);
    end();
}

/* The setter accepts the value, and refuses the former one. */
static invivo_status get_sticky(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data, (void)error;
    *out = invivo_double(((limits *)instance)->g);
    return INVIVO_OK;
}
static bool sticky = true;
static invivo_status set_sticky(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data;
    if (sticky && value->as.number == 1) {
        *error = invivo_error_make(INVIVO_E_HOST, "it sticks", NULL, NULL);
        return INVIVO_E_HOST;
    }
    ((limits *)instance)->g = value->as.number;
    return INVIVO_OK;
}

static void values_that_could_not_be_undone_are_restored_by_the_next_change(void) {
    invivo_property table[] = {{.struct_size = sizeof(invivo_property), .name = "g", .kind = INVIVO_KIND_DOUBLE, .get = get_sticky,
                                .set = set_sticky}, LIMIT(h)};
    invivo_type_options sticky_type = {.struct_size = sizeof(sticky_type), .name = "Sticky", .size = sizeof(limits),
                                       .properties = table, .property_count = 2};
    invivo_type type;
    invivo_object stuck;
    void *instance = NULL;
    begin();
    OK(invivo_type_register(runtime, &sticky_type, &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &stuck, E));
    OK(invivo_object_instance(stuck, type, &instance, E));
    limits *other = instance;
    other->g = 1, other->h = 2;
    OK(invivo_target_attach(stuck, "b.t", NULL, E));
    sticky = true;
    other->refuses = 1;
    expects_error(say("a.yaml", "traits: { b.t: [Set: { g: 5, h: 6 }] }", E), INVIVO_E_HOST,
                  "a.yaml:1:33: b.t.h: h refuses\n"
                  "a.yaml:1:27: b.t.g: could not be undone: it sticks");
    CHECK_EQUAL(other->g, 5);
    CHECK_EQUAL(other->h, 2);
    /* It is tried again at every change, and no change fails because of it. */
    OK(say("a.yaml", SET("g: 7"), E));
    CHECK_EQUAL(self->g, 7);
    CHECK_EQUAL(other->g, 5);
    CHECK_TEXT(log_text, "b.t.g: its former value still cannot be restored: it sticks");
    sticky = false;
    OK(say("a.yaml", SET("g: 8"), E));
    CHECK_EQUAL(other->g, 1);
    /* Nothing is left to restore: no reload is needed. */
    invivo_runtime_info before = {.struct_size = sizeof(before)}, after = before;
    invivo_definition part = {.struct_size = sizeof(part), .key = "part", .scope = INVIVO_SCOPE_PROTOTYPE, .type = type};
    invivo_assembly parts = {.struct_size = sizeof(parts), .name = "parts", .definitions = &part, .definition_count = 1};
    const invivo_assembly *assemblies[] = {&parts};
    OK(invivo_activate(runtime, assemblies, 1, NULL, E));
    OK(invivo_runtime_inspect(runtime, &before, E));
    OK(invivo_activate(runtime, assemblies, 1, NULL, E));
    OK(say("a.yaml", SET("g: 8"), E));
    OK(invivo_runtime_inspect(runtime, &after, E));
    CHECK_EQUAL(after.generation, before.generation);
    CHECK_EQUAL(after.reloads, before.reloads);
    OK(invivo_object_release(stuck));
    end();
}

static void the_error_of_a_getter_names_property_and_location(void) {
    begin();
    self->unreadable = true;
    expects_error(say("a.yaml", SET("g: 5, h: 6"), E), INVIVO_E_HOST, "a.yaml:1:33: a.t.h: h cannot be read");
    CHECK_EQUAL(self->g, 1);
    end();
}

static void each_field_of_a_struct_has_layers_of_its_own(void) {
    begin();
    self->where = (point){1, 2};
    self->moved = (point){1, 2};
    self->path = (line){{1, 2}, {3, 4}};
    OK(say("a.yaml", SET("where: { x: 10 }, moved: { x: 10 }, path: { from: { x: 10 }, to: { y: 40 } }"), E));
    /* Other code owns the neighboring field. */
    self->where.y = 99, self->moved.y = 99, self->path.from.y = 99;
    OK(say("b.yaml", SET("where: { y: 20 }, path: { to: { x: 30 } }"), E));
    CHECK_EQUAL(self->where.y, 20);
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->where.x, 1);
    CHECK_EQUAL(self->where.y, 20);
    CHECK_EQUAL(self->moved.x, 1);
    CHECK_EQUAL(self->moved.y, 99);
    CHECK_EQUAL(self->path.from.x, 1);
    CHECK_EQUAL(self->path.from.y, 99);
    CHECK_EQUAL(self->path.to.x, 30);
    CHECK_EQUAL(self->path.to.y, 4);
    OK(say("b.yaml", "{}", E));
    CHECK_EQUAL(self->where.y, 99);
    CHECK_EQUAL(self->path.to.x, 3);
    /* A value that other code changed under the layer stays; the rest is restored. */
    OK(say("a.yaml", SET("where: { x: 10, y: 20 }"), E));
    self->where.x = 11;
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->where.x, 11);
    CHECK_EQUAL(self->where.y, 99);
    CHECK_TEXT(log_text, "a.t.where.x: other code changed it from 10 to 11; that value stays");
    end();
}

static void a_change_of_other_code_stays_through_later_changes(void) {
    begin();
    OK(say("a.yaml", SET("g: 5, max: 12"), E));
    self->g = 6;
    OK(say("a.yaml", SET("g: 5, max: 13"), E)); /* its layer has not changed */
    CHECK_EQUAL(self->g, 6);
    OK(say("a.yaml", "{}", E));
    CHECK_EQUAL(self->g, 6);
    CHECK_EQUAL(self->max, 10);
    end();
}

static void bytes_that_are_no_text_come_back(void) {
    static const char labels[][9] = {"\xff\xfeok\0abc", "zzzzzzzz", "ab\0cd\0\0", "plain", ""};
    begin();
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        memcpy(self->label, labels[i], 8);
        *(unsigned char *)&self->mute = (unsigned char)i;
        OK(say("a.yaml", SET("label: hi, mute: false"), E));
        CHECK_TEXT(self->label, "hi");
        /* A failed change keeps the value under the layer. */
        self->refuses = 1;
        expects_error(say("a.yaml", SET("label: ho, h: 1"), E), INVIVO_E_HOST, NULL);
        CHECK_TEXT(self->label, "hi");
        OK(say("a.yaml", "{}", E));
        CHECK(memcmp(self->label, labels[i], 8) == 0);
        CHECK_EQUAL(*(unsigned char *)&self->mute, i);
        /* So does a change that fails without any layer. */
        self->refuses = 1;
        expects_error(say("a.yaml", SET("label: ho, h: 1"), E), INVIVO_E_HOST, NULL);
        CHECK(memcmp(self->label, labels[i], 8) == 0);
    }
    end();
}

/* The objects belong to the host and live on. */
static void attached_objects_get_their_values_back_at_close(void) {
    begin();
    OK(say("a.yaml", SET("g: 5, max: 5, value: 3, label: hi"), E));
    CHECK_EQUAL(self->value, 3);
    OK(invivo_runtime_close_deferred(runtime, E));
    CHECK_EQUAL(self->g, 1);
    CHECK_EQUAL(self->max, 10);
    CHECK_EQUAL(self->value, 8);
    CHECK_TEXT(self->label, "");
    OK(invivo_object_release(object));
}

/* A target is released where waiting is refused. */
static invivo_target to_let_go;
static invivo_status let_go(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    if (to_let_go.bits) {
        expects_error(invivo_target_detach(to_let_go, E), INVIVO_E_WOULD_WAIT, NULL);
        OK(invivo_target_detach_later(to_let_go, E));
        to_let_go.bits = 0;
    }
    *out = invivo_double(0);
    return INVIVO_OK;
}
static invivo_status take(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)value, (void)error;
    return INVIVO_OK;
}

static void a_target_is_let_go_inside_a_callback(void) {
    invivo_property table[] = {{.struct_size = sizeof(invivo_property), .name = "it", .kind = INVIVO_KIND_DOUBLE, .get = let_go, .set = take}};
    invivo_type_options options = {.struct_size = sizeof(options), .name = "LetsGo", .size = 8, .properties = table, .property_count = 1};
    invivo_type type;
    invivo_object other;
    struct timespec now;
    time_t limit;
    begin();
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &other, E));
    OK(invivo_target_attach(other, "b.t", NULL, E));
    OK(invivo_target_attach(object, "a.t", &to_let_go, E));
    OK(say("a.yaml", SET("g: 5"), E));
    OK(say("b.yaml", "traits: { b.t: [Set: { it: 1 }] }", E));
    clock_gettime(CLOCK_MONOTONIC, &now);
    limit = now.tv_sec + CHECK_LIMIT_SECONDS;
    while (self->g != 1 && now.tv_sec < limit) {
        invivo_runtime_poll(runtime, 100, NULL, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    CHECK_EQUAL(self->g, 1);
    OK(say("a.yaml", SET("g: 6"), E));
    CHECK_EQUAL(self->g, 1);
    invivo_runtime_info let_go_info = {.struct_size = sizeof(let_go_info)};
    OK(invivo_runtime_inspect(runtime, &let_go_info, E));
    CHECK_EQUAL(let_go_info.targets, 1);
    /* An object that is attached again before that follows its new key only. */
    OK(invivo_target_attach(object, "a.t", &to_let_go, E));
    CHECK_EQUAL(self->g, 6);
    OK(invivo_target_detach_later(to_let_go, E));
    OK(invivo_target_attach(object, "a.t", &to_let_go, E));
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    OK(invivo_runtime_inspect(runtime, &info, E));
    CHECK_EQUAL(info.targets, 2);
    for (int i = 0; i < 3; i++) OK(say("b.yaml", i % 2 ? "{}" : "traits: { b.t: [Set: { it: 2 }] }", E));
    to_let_go.bits = 0;
    OK(invivo_object_release(other));
    end();
}

/* A close need not wait for the runtime's own thread. */
static void a_runtime_closes_with_a_target_being_let_go(void) {
    for (int i = 0; i < 100; i++) {
        invivo_target target;
        begin();
        OK(say("a.yaml", SET("g: 5"), E));
        OK(invivo_target_attach(object, "a.t", &target, E));
        OK(invivo_target_detach_later(target, E));
        OK(invivo_object_release(object));
        OK(invivo_runtime_close(runtime, E));
    }
}

/* Several plain fields with layers: applied, removed, changed by other code, and rolled back by a reload that fails for
 * another object. */
static void several_plain_fields_come_back(void) {
    invivo_type type;
    invivo_object other;
    void *instance = NULL;
    begin();
    OK(invivo_type_find(runtime, "Limits", &type, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &other, E));
    OK(invivo_object_instance(other, type, &instance, E));
    OK(invivo_target_attach(other, "a.u", NULL, E));
    limits *second = instance;
    self->p = 1, self->q = 2, self->r = 3;
#define HAS(one, two, three) (CHECK_EQUAL(self->p, one), CHECK_EQUAL(self->q, two), CHECK_EQUAL(self->r, three))
    for (int i = 0; i < 3; i++) {
        OK(say("a.yaml", SET("r: 30, p: 10, q: 20"), E));
        HAS(10, 20, 30);
        OK(say("a.yaml", "{}", E));
        HAS(1, 2, 3);
    }
    /* One of them is removed, another is edited. */
    OK(say("a.yaml", SET("p: 10, q: 20, r: 30"), E));
    OK(say("a.yaml", SET("p: 10, r: 31"), E));
    HAS(10, 2, 31);
    OK(say("a.yaml", "{}", E));
    HAS(1, 2, 3);
    /* A value of other code stays, and is reported. */
    OK(say("a.yaml", SET("p: 10, q: 20, r: 30"), E));
    self->q = 5;
    OK(say("a.yaml", "{}", E));
    HAS(1, 5, 3);
    CHECK_TEXT(log_text, "a.t.q: other code changed it from 20 to 5; that value stays");
    self->q = 2;
    /* Reloads that fail for the other object restore all of it, in either order of the objects. */
    for (int i = 0; i < 2; i++) {
        const char *const names[] = {"a.yaml", "b.yaml"};
        const char *const layers[] = {SET("p: 10, q: 20, r: 30"), "traits: { a.u: [Set: { h: 7, g: 5 }] }"};
        invivo_changes changes;
        second->refuses = 1;
        OK(invivo_changes_open(runtime, &changes, E));
        for (int j = 0; j < 2; j++) OK(invivo_changes_document(changes, names[i ^ j], layers[i ^ j], strlen(layers[i ^ j]), E));
        expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, "b.yaml:1:27: a.u.h: h refuses");
        HAS(1, 2, 3);
        OK(say("a.yaml", layers[0], E));
        HAS(10, 20, 30);
        second->refuses = 1;
        OK(invivo_changes_open(runtime, &changes, E));
        for (int j = 0; j < 2; j++) {
            const char *text = i ^ j ? layers[1] : "{}";
            OK(invivo_changes_document(changes, names[i ^ j], text, strlen(text), E));
        }
        expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, "b.yaml:1:27: a.u.h: h refuses");
        HAS(10, 20, 30);
        /* Restored values still have their layers. */
        OK(say("a.yaml", "{}", E));
        HAS(1, 2, 3);
    }
    OK(invivo_object_release(other));
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(values_moved_by_another_setter_are_restored);
    RUN_TEST(several_plain_fields_come_back);
    RUN_TEST(a_refused_removal_keeps_the_base);
    RUN_TEST(values_that_could_not_be_undone_are_restored_by_the_next_change);
    RUN_TEST(the_error_of_a_getter_names_property_and_location);
    RUN_TEST(each_field_of_a_struct_has_layers_of_its_own);
    RUN_TEST(a_change_of_other_code_stays_through_later_changes);
    RUN_TEST(bytes_that_are_no_text_come_back);
    RUN_TEST(attached_objects_get_their_values_back_at_close);
    RUN_TEST(a_target_is_let_go_inside_a_callback);
    RUN_TEST(a_runtime_closes_with_a_target_being_let_go);
    return check_end();
}
