/* Setup and teardown: effects and children that belong to objects. docs/rules/reload.md, Setup. */
/* sanitize: yes */
#include "check.h"

/* A component whose setup is a small program: one letter for each step. */
typedef struct node {
    char name[24];
    int64_t number;      /* injected by the definition */
    int64_t handed_over; /* copied from the former object, plus one */
    char program[24];
    invivo_object theme; /* borrowed */
    invivo_object children[4];
    int child_count;
} node;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char trace[8192];
static const char *fail_at; /* the event that fails: "setup:root" */
static int fail_times;      /* how often */
static int live, effects, observed, destroyed;
static invivo_runtime runtime;
static invivo_type node_type, quiet_type, keeper_type;

static bool counted_failure(void);
static invivo_status say(const char *what, const char *name, invivo_error **error) {
    char event[64];
    snprintf(event, sizeof event, "%s:%s", what, name);
    pthread_mutex_lock(&lock);
    if (strlen(trace) + strlen(event) + 2 < sizeof trace) strcat(strcat(trace, event), " ");
    bool fails = fail_times > 0 && strcmp(fail_at, event) == 0;
    if (fails) fail_times--;
    fails = fails || counted_failure();
    pthread_mutex_unlock(&lock);
    if (!fails) return INVIVO_OK;
    if (error) *error = invivo_error_make(INVIVO_E_HOST, event, NULL, NULL);
    return INVIVO_E_HOST;
}
static void fails(const char *event, int times) {
    pthread_mutex_lock(&lock);
    fail_at = event, fail_times = times;
    pthread_mutex_unlock(&lock);
}
static void clear_trace(void) {
    pthread_mutex_lock(&lock);
    trace[0] = 0;
    pthread_mutex_unlock(&lock);
}
static void expect_trace_(int line, const char *expected) {
    pthread_mutex_lock(&lock);
    if (strcmp(trace, expected) != 0) check_failed(__FILE__, line, "trace is '%s', not '%s'", trace, expected);
    trace[0] = 0;
    pthread_mutex_unlock(&lock);
}
#define expect_trace(expected) expect_trace_(__LINE__, expected)

static int64_t handed_over_last;
static invivo_status node_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    node *self = instance;
    const char *key = build->key.bits ? invivo_key_name(build->key) : "made";
    (void)user_data;
    snprintf(self->name, sizeof self->name, "%s", strchr(key, '.') ? strchr(key, '.') + 1 : key);
    if (count > 0 && arguments[0].kind == INVIVO_KIND_STRING) {
        snprintf(self->name, sizeof self->name, "%.*s", (int)arguments[0].as.string.length, arguments[0].as.string.data);
    }
    const node *former = build->former_instance;
    if (former) handed_over_last = self->handed_over = former->handed_over + 1;
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
    invivo_status status = say("init", self->name, error);
    if (status) __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
    return status;
}
static void node_deinit(void *instance, void *user_data) {
    (void)user_data;
    say("end", ((node *)instance)->name, NULL);
    __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}
static char effect_names[64][2];
static invivo_status undo_effect(void *user_data, invivo_error **error) {
    __atomic_sub_fetch(&effects, 1, __ATOMIC_SEQ_CST);
    return say("undo", user_data, error);
}
static void note_reload(void *user_data, const invivo_report *report) {
    (void)user_data, (void)report;
    __atomic_add_fetch(&observed, 1, __ATOMIC_SEQ_CST);
}
static void note_destroyed(void *user_data) {
    (void)user_data;
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}
static invivo_status add_effect(char name, invivo_error **error) {
    effect_names[name & 63][0] = name;
    __atomic_add_fetch(&effects, 1, __ATOMIC_SEQ_CST);
    return invivo_effect(runtime, undo_effect, effect_names[name & 63], error);
}
static invivo_status add_child(node *self, const char *key, const char *argument, invivo_error **error) {
    invivo_key id;
    invivo_value value = argument ? invivo_string(argument) : invivo_null();
    invivo_status status = invivo_key_find(runtime, key, &id, error);
    if (!status) status = invivo_child(runtime, id, &value, argument ? 1 : 0, &self->children[self->child_count], error);
    if (!status) self->child_count++;
    return status;
}
/* Steps: a..c an effect; l a leaf "x"; m a leaf "y"; k a child "ui.keeper"; t a node without a definition; o an observer; s a
 * submitted change set; w one that waits. */
static invivo_status node_setup(void *instance, void *user_data, invivo_error **error) {
    node *self = instance;
    invivo_status status = INVIVO_OK;
    (void)user_data;
    self->child_count = 0;
    for (const char *step = self->program; *step && !status; step++) {
        switch (*step) {
        case 'a': case 'b': case 'c': status = add_effect(*step, error); break;
        case 'l': status = add_child(self, "ui.leaf", "x", error); break;
        case 'm': status = add_child(self, "ui.leaf", "y", error); break;
        case 'k': status = add_child(self, "ui.keeper", NULL, error); break;
        case 'g': status = add_child(self, "ui.group", NULL, error); break;
        case '1': status = add_child(self, "ui.theme", NULL, error); break;
        case 't':
            status = invivo_child_make(runtime, node_type, NULL, 0, &self->children[self->child_count], error);
            if (!status) self->child_count++;
            break;
        case 'o': {
            invivo_observer_options options = {.struct_size = sizeof options, .reloaded = note_reload, .destroy = note_destroyed};
            invivo_observer observer;
            status = invivo_observe(runtime, &options, &observer, error);
            break;
        }
        }
    }
    if (status) return status;
    return say("setup", self->name, error);
}
static invivo_status node_teardown(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("teardown", ((node *)instance)->name, error);
}
static invivo_status node_refresh(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("refresh", ((node *)instance)->name, error);
}
static invivo_status node_finalize(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("finalize", ((node *)instance)->name, error);
}
static invivo_status node_start(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("start", ((node *)instance)->name, error);
}
static invivo_status node_stop(void *instance, void *user_data, invivo_error **error) {
    (void)user_data;
    return say("stop", ((node *)instance)->name, error);
}
static invivo_status set_theme(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data;
    invivo_status status = say("theme", ((node *)instance)->name, error);
    if (!status) ((node *)instance)->theme = value->kind == INVIVO_KIND_OBJECT ? value->as.object : (invivo_object){0};
    return status;
}
static invivo_status get_theme(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value value = invivo_object_value(((node *)instance)->theme);
    (void)user_data;
    return value.as.object.bits ? invivo_value_copy(out, &value, error) : INVIVO_OK;
}

static invivo_status set_nothing(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data, (void)value, (void)error;
    return INVIVO_OK;
}
static invivo_status get_nothing(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)out, (void)error;
    return INVIVO_OK;
}

static const invivo_property node_properties[] = {
    INVIVO_FIELD(node, number),
    INVIVO_FIELD(node, program),
    {.struct_size = sizeof(invivo_property), .name = "theme", .kind = INVIVO_KIND_OBJECT, .get = get_theme, .set = set_theme},
    {.struct_size = sizeof(invivo_property), .name = "any", .kind = INVIVO_KIND_ANY, .get = get_nothing, .set = set_nothing},
};
static const invivo_parameter node_parameters[] = {{.name = "name", .kind = INVIVO_KIND_STRING, .flags = INVIVO_PARAMETER_OPTIONAL}};

static invivo_type_options node_options(const char *name) {
    return (invivo_type_options){.struct_size = sizeof(invivo_type_options), .name = name, .size = sizeof(node), .alignment = 8,
                                 .init = node_init, .deinit = node_deinit, .parameters = node_parameters, .parameter_count = 1,
                                 .properties = node_properties, .property_count = 4, .setup = node_setup, .teardown = node_teardown,
                                 .refresh = node_refresh};
}
static void ignore_log(void *user_data, const invivo_log_entry *entry) { (void)user_data, (void)entry; }
static void begin(void) {
    invivo_runtime_options options = without_history();
    options.log = ignore_log;
    OK(invivo_runtime_open(&runtime, &options, E));
    clear_trace();
    fail_times = 0;
    effects = observed = destroyed = 0;
    invivo_type_options type = node_options("Node");
    OK(invivo_type_register(runtime, &type, &node_type, E));
    type = node_options("Keeper");
    type.keeps_children = 1;
    OK(invivo_type_register(runtime, &type, &keeper_type, E));
    type = node_options("Quiet");
    type.setup = type.teardown = type.refresh = NULL;
    OK(invivo_type_register(runtime, &type, &quiet_type, E));
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(effects, 0);
    clear_trace();
}

/* A change of one definition. */
typedef struct wanted {
    const char *key;
    invivo_type type;
    uint32_t scope;
    int64_t number;
    const char *program;
    const char *theme; /* a key injected as a property */
    uint32_t flags;
    bool is_named; /* has the runtime argument `name` */
    const char *file; /* its source location is line 7 there */
} wanted;
static invivo_status define_all(const wanted *all, size_t count) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    for (size_t i = 0; i < count; i++) {
        invivo_injection properties[3];
        uint64_t used = 0;
        invivo_injection name = {.how = INVIVO_INJECT_ARGUMENT, .index = 0};
        memset(properties, 0, sizeof properties);
        properties[used].name = "number";
        properties[used++].value = invivo_int64(all[i].number);
        if (all[i].program) properties[used].name = "program", properties[used++].value = invivo_string(all[i].program);
        if (all[i].theme) {
            properties[used].name = "theme", properties[used].how = INVIVO_INJECT_REFERENCE, properties[used++].reference = all[i].theme;
        }
        invivo_definition definition = {.struct_size = sizeof definition, .key = all[i].key, .type = all[i].type, .scope = all[i].scope,
                                        .flags = all[i].flags, .properties = properties, .property_count = used,
                                        .file = all[i].file, .line = all[i].file ? 7 : 0};
        if (all[i].is_named) {
            definition.parameters = node_parameters, definition.parameter_count = 1;
            definition.initializer = &name, definition.initializer_count = 1;
        }
        OK(invivo_changes_define(changes, &definition, NULL, E));
    }
    check_error = NULL;
    return invivo_changes_commit(changes, E);
}
#define define(...) define_all((const wanted[]){__VA_ARGS__}, sizeof((const wanted[]){__VA_ARGS__}) / sizeof(wanted))
#define LEAF(value) {.key = "ui.leaf", .type = node_type, .scope = INVIVO_SCOPE_PROTOTYPE, .number = value, .is_named = true}
#define ROOT(steps) {.key = "ui.root", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .program = steps}

static node *resolved(const char *key, invivo_object *object) {
    void *instance = NULL;
    OK(invivo_resolve_name(runtime, key, object, E));
    OK(invivo_object_instance(*object, (invivo_type){0}, &instance, E));
    return instance;
}
static node *child(const node *owner, int index) {
    void *instance = NULL;
    OK(invivo_object_instance(owner->children[index], (invivo_type){0}, &instance, E));
    return instance;
}

/* Vaccine's story: the root builds its tree in setup. After ten reloads there is one of everything, with the former state. */
static void ten_reloads_leave_one_of_everything(void) {
    invivo_object object;
    begin();
    OK(define(LEAF(0), ROOT("alobm")));
    node *root = resolved("ui.root", &object);
    CHECK_EQUAL(root->child_count, 2);
    clear_trace();
    for (int i = 1; i <= 10; i++) {
        OK(define(LEAF(i)));
        CHECK_EQUAL(root->child_count, 2);
        CHECK_EQUAL(child(root, 0)->number, i);
        CHECK_EQUAL(child(root, 1)->number, i);
        CHECK_TEXT(child(root, 0)->name, "x");
        CHECK_EQUAL(child(root, 0)->handed_over, i);
        CHECK_EQUAL(child(root, 1)->handed_over, i);
        CHECK_EQUAL(live, 3);
        CHECK_EQUAL(effects, 2);
        CHECK_EQUAL(destroyed, i);
        /* The observer of this setup hears of this commit, too. */
        CHECK_EQUAL(observed, i);
        expect_trace("teardown:root undo:b undo:a init:x setup:x init:y setup:y setup:root teardown:y end:y teardown:x end:x ");
    }
    OK(invivo_object_release(object));
    end();
    CHECK_EQUAL(destroyed, 11);
}

static void an_object_is_set_up_after_its_start_and_torn_down_before_its_stop(void) {
    invivo_object object;
    begin();
    invivo_type type;
    invivo_type_options options = node_options("Started");
    options.start = node_start, options.stop = node_stop, options.finalize = node_finalize;
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(define(LEAF(0), {.key = "ui.root", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .program = "albt"}));
    resolved("ui.root", &object);
    expect_trace("init:root start:root init:x setup:x init:made setup:made setup:root finalize:root ");
    OK(invivo_object_release(object));
    OK(invivo_runtime_close(runtime, E));
    expect_trace("teardown:root teardown:made end:made undo:b teardown:x end:x undo:a stop:root end:root ");
    CHECK_EQUAL(live, 0);
}

static void a_prototype_is_torn_down_with_its_last_lease(void) {
    invivo_object object;
    begin();
    OK(define(LEAF(0), {.key = "ui.panel", .type = node_type, .scope = INVIVO_SCOPE_PROTOTYPE, .program = "al"}));
    for (int i = 0; i < 3; i++) {
        resolved("ui.panel", &object);
        clear_trace();
        OK(invivo_object_release(object));
        expect_trace("teardown:panel teardown:x end:x undo:a end:panel ");
    }
    end();
}

static void a_failed_setup_undoes_what_it_registered(void) {
    invivo_object object;
    begin();
    OK(define(LEAF(0), ROOT("alb")));
    fails("setup:root", 1);
    expects_error(invivo_resolve_name(runtime, "ui.root", &object, E), INVIVO_E_HOST, "ui.root: setup:root");
    expect_trace("init:root init:x setup:x setup:root undo:b teardown:x end:x undo:a end:root ");
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(effects, 0);
    resolved("ui.root", &object);
    OK(invivo_object_release(object));
    end();
}

static uint64_t generation(void) {
    uint64_t found = 0;
    OK(invivo_runtime_generation(runtime, &found, E));
    return found;
}

static void a_reload_that_cannot_set_up_restores_the_former_setup(void) {
    invivo_object object, theme;
    begin();
    OK(define(LEAF(1), ROOT("alb"), {.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
    node *root = resolved("ui.root", &object);
    resolved("ui.theme", &theme);
    uint64_t before = generation();
    clear_trace();
    fails("setup:x", 1);
    expects_error(define(LEAF(2)), INVIVO_E_HOST, "ui.leaf: setup:x");
    CHECK_EQUAL(generation(), before);
    /* The former children stay until the former generation has new ones. */
    expect_trace("teardown:root undo:b undo:a init:x setup:x end:x undo:a init:x setup:x setup:root teardown:x end:x ");
    CHECK_EQUAL(child(root, 0)->number, 1);
    CHECK_EQUAL(child(root, 0)->handed_over, 1);
    CHECK_EQUAL(effects, 2);
    /* The teardown fails as the setup does. */
    fails("teardown:root", 1);
    expects_error(define(LEAF(2)), INVIVO_E_HOST, "ui.root: teardown:root");
    expect_trace("teardown:root undo:b undo:a init:x setup:x setup:root teardown:x end:x ");
    CHECK_EQUAL(child(root, 0)->number, 1);
    CHECK_EQUAL(child(root, 0)->handed_over, 2);
    OK(define(LEAF(3)));
    CHECK_EQUAL(child(root, 0)->number, 3);
    CHECK_EQUAL(live, 3);
    OK(invivo_object_release(object));
    OK(invivo_object_release(theme));
    end();
}

static void an_undo_that_fails_fails_the_setup_and_the_others_run(void) {
    invivo_object object;
    begin();
    OK(define(LEAF(1), ROOT("abcl")));
    node *root = resolved("ui.root", &object);
    clear_trace();
    fails("undo:b", 1);
    expects_error(define(LEAF(2)), INVIVO_E_HOST, "ui.root: an effect could not be undone: undo:b");
    expect_trace("teardown:root undo:c undo:b undo:a init:x setup:x setup:root teardown:x end:x ");
    CHECK_EQUAL(child(root, 0)->number, 1);
    CHECK_EQUAL(effects, 3);
    /* At the end of the object it is only reported. */
    OK(invivo_object_release(object));
    fails("undo:b", 1);
    expects_error(invivo_runtime_close(runtime, E), INVIVO_E_STOP,
                  "the runtime is closed, and 1 object failed while being stopped\nui.root: an effect could not be undone: undo:b");
    CHECK_EQUAL(effects, 0);
    CHECK_EQUAL(live, 0);
}

static void a_setup_that_cannot_be_restored_is_tried_again(void) {
    invivo_object object;
    begin();
    OK(define(LEAF(1), ROOT("al")));
    node *root = resolved("ui.root", &object);
    clear_trace();
    fails("setup:root", 2);
    expects_error(define(LEAF(2)), INVIVO_E_HOST,
                  "ui.root: setup:root\n"
                  "ui.root: it could not be set up again in the former generation; each later commit tries again: setup:root");
    CHECK_EQUAL(effects, 0);
    CHECK_EQUAL(live, 1);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "ui.root");
    fails("setup:root", 2);
    clear_trace();
    /* Any change tries again. A failure is a warning. */
    listener heard;
    listener_open(&heard, runtime);
    OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
    listener_wait(&heard, 1);
    CHECK_TEXT(listener_last(&heard)->warnings, "ui.root: setup:root; each later commit tries again\n");
    CHECK_EQUAL(effects, 0);
    fails("", 0);
    OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 1}));
    CHECK_EQUAL(effects, 1);
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    CHECK_EQUAL(child(root, 0)->number, 1);
    clear_trace();
    OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 2}));
    expect_trace("");
    OK(invivo_object_release(object));
    end();
    listener_end(&heard);
}

static int calls, fails_from, fails_until;
/* Whether the object has the current theme. */
static bool has_theme(const node *object) {
    invivo_object theme;
    resolved("ui.theme", &theme);
    bool is_same = theme.bits == object->theme.bits;
    OK(invivo_object_release(theme));
    return is_same;
}
static void an_injection_that_cannot_be_put_back_is_tried_again(void) {
    invivo_object objects[2];
    listener heard;
    begin();
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
              {.key = "ui.a", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .theme = "ui.theme"},
              {.key = "ui.b", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .theme = "ui.theme"}));
    node *a = resolved("ui.a", &objects[0]), *b = resolved("ui.b", &objects[1]);
    CHECK(has_theme(a) && has_theme(b));
    /* The new theme, its injection into a, the one into b, which fails, and the undo of both, which fails too. */
    calls = 0, fails_from = 3, fails_until = 6;
    expects_error(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 1}), INVIVO_E_HOST,
                  "ui.b: theme:b\nui.b: could not be undone: theme:b\nui.a: could not be undone: theme:a");
    CHECK(!has_theme(a) && has_theme(b));
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "ui.a, ui.b");
    listener_open(&heard, runtime);
    /* Any change tries again. A failure is a warning. */
    calls = 0, fails_from = 1, fails_until = 2;
    OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
    listener_wait(&heard, 1);
    CHECK_TEXT(listener_last(&heard)->warnings, "ui.a: its former injections still cannot be put back: theme:a\n");
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "ui.a");
    fails_from = fails_until = 0;
    OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 1}));
    CHECK(has_theme(a) && has_theme(b));
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    clear_trace();
    OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 2}));
    expect_trace("");
    /* An object that is replaced meanwhile is restored by that. */
    calls = 0, fails_from = 3, fails_until = 6;
    expects_error(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 1}), INVIVO_E_HOST, NULL);
    fails_from = fails_until = 0;
    OK(invivo_object_release(objects[0]));
    OK(define({.key = "ui.a", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .theme = "ui.theme", .number = 1}));
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    a = resolved("ui.a", &objects[0]);
    CHECK(has_theme(a) && has_theme(b));
    for (int i = 0; i < 2; i++) OK(invivo_object_release(objects[i]));
    end();
    listener_end(&heard);
}

static void an_injection_into_a_tracked_object_is_tried_again(void) {
    invivo_object object;
    begin();
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
              {.key = "ui.free", .type = quiet_type, .scope = INVIVO_SCOPE_PROTOTYPE, .theme = "ui.theme",
               .flags = INVIVO_DEFINITION_TRACKED}));
    const node *one = resolved("ui.free", &object);
    for (int round = 0; round < 2; round++) {
        calls = 0, fails_from = 2, fails_until = 4; /* the injection, and its undo */
        expects_error(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 1}),
                      INVIVO_E_HOST, "ui.free: theme:free\nui.free: could not be undone: theme:free");
        CHECK_TEXT(check_status_names(runtime, "unrestored"), "ui.free");
        fails_from = fails_until = 0;
        if (round == 1) break; /* and the runtime closes with it */
        clear_trace();
        OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
        expect_trace("theme:free ");
        CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
        CHECK(has_theme(one));
    }
    OK(invivo_object_release(object));
    /* An object that has ended is forgotten. */
    OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 1}));
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "");
    end();
}

static void a_runtime_closes_with_an_injection_that_cannot_be_put_back(void) {
    invivo_object objects[2], theme;
    begin();
    invivo_value argument;
    invivo_key key;
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
              {.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
    resolved("ui.other", &objects[0]);
    resolved("ui.theme", &theme);
    OK(invivo_object_release(theme));
    /* A shared instance for an object, which it has as an argument. */
    static const invivo_parameter parameters[] = {{.name = "of", .kind = INVIVO_KIND_OBJECT}};
    const invivo_injection properties[] = {{.name = "theme", .how = INVIVO_INJECT_REFERENCE, .reference = "ui.theme"}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "ui.of", .type = quiet_type,
                                    .scope = INVIVO_SCOPE_LAZY_SINGLETON, .parameters = parameters, .parameter_count = 1,
                                    .properties = properties, .property_count = 1};
    OK(invivo_define(runtime, &definition, &key, E));
    argument = invivo_object_value(objects[0]);
    OK(invivo_resolve_with(runtime, key, &argument, 1, &objects[1], E));
    calls = 0, fails_from = 2, fails_until = 4;
    expects_error(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 1}), INVIVO_E_HOST, NULL);
    fails_from = fails_until = 0;
    CHECK_TEXT(check_status_names(runtime, "unrestored"), "ui.of");
    for (int i = 0; i < 2; i++) OK(invivo_object_release(objects[i]));
    end();
}

static void a_warning_of_a_setup_has_one_source_location(void) {
    invivo_object object;
    begin();
    OK(define(LEAF(1), {.key = "ui.root", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .program = "l", .file = "app.c"}));
    resolved("ui.root", &object);
    fails("setup:root", 3);
    CHECK_EQUAL(define(LEAF(2)), INVIVO_E_HOST);
    invivo_error_release(check_error), check_error = NULL;
    listener heard;
    listener_open(&heard, runtime);
    OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
    listener_wait(&heard, 1);
    CHECK_TEXT(listener_last(&heard)->warnings, "app.c:7: ui.root: setup:root; each later commit tries again\n");
    OK(invivo_object_release(object));
    end();
    listener_end(&heard);
}

static invivo_status refuse_effect(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                   void *user_data, invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data;
    return add_effect('i', error);
}
static void *effect_elsewhere(void *unused) {
    (void)unused;
    expects_error(add_effect('e', E), INVIVO_E_ARGUMENT,
                  "invivo_effect was called outside of a setup: call it in the `setup` of the object to which the result belongs, on its thread");
    return NULL;
}
static invivo_status setup_with_thread(void *instance, void *user_data, invivo_error **error) {
    pthread_t thread;
    (void)instance, (void)user_data, (void)error;
    CHECK(pthread_create(&thread, NULL, effect_elsewhere, NULL) == 0);
    pthread_join(thread, NULL);
    return INVIVO_OK;
}
static void an_effect_outside_of_a_setup_is_undone_at_once(void) {
    invivo_object object;
    invivo_key leaf;
    invivo_type inner, outer;
    begin();
    expects_error(add_effect('o', E), INVIVO_E_ARGUMENT,
                  "invivo_effect was called outside of a setup: call it in the `setup` of the object to which the result belongs, on its thread");
    expect_trace("undo:o ");
    expects_error(invivo_effect(runtime, NULL, NULL, E), INVIVO_E_ARGUMENT, "undo is NULL");
    OK(define(LEAF(0)));
    OK(invivo_key_find(runtime, "ui.leaf", &leaf, E));
    expects_error(invivo_child(runtime, leaf, NULL, 0, &object, E), INVIVO_E_ARGUMENT,
                  "invivo_child was called outside of a setup: call it in the `setup` of the object to which the result belongs, on its thread");
    expects_error(invivo_child_make(runtime, node_type, NULL, 0, &object, E), INVIVO_E_ARGUMENT,
                  "invivo_child_make was called outside of a setup: call it in the `setup` of the object to which the result belongs, on its thread");
    /* The initializer of a child is not the setup. */
    invivo_type_options type = node_options("Inner");
    type.init = refuse_effect, type.parameter_count = 0, type.setup = type.teardown = NULL, type.deinit = NULL;
    OK(invivo_type_register(runtime, &type, &inner, E));
    OK(define({.key = "ui.keeper", .type = inner, .scope = INVIVO_SCOPE_PROTOTYPE}, ROOT("k")));
    clear_trace();
    expects_error(invivo_resolve_name(runtime, "ui.root", &object, E), INVIVO_E_ARGUMENT,
                  "ui.keeper: invivo_effect was called outside of a setup: call it in the `setup` of the object to which the result belongs, on its thread");
    type = node_options("Outer");
    type.setup = setup_with_thread;
    OK(invivo_type_register(runtime, &type, &outer, E));
    OK(invivo_object_make(runtime, outer, NULL, 0, &object, E));
    OK(invivo_object_release(object));
    end();
}

static void a_child_belongs_to_one_owner(void) {
    invivo_object object;
    begin();
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON}, ROOT("a1")));
    expects_error(invivo_resolve_name(runtime, "ui.root", &object, E), INVIVO_E_ARGUMENT,
                  "ui.theme: a child belongs to one owner, and 'ui.theme' has the scope lazy singleton: define a prototype, or resolve it");
    CHECK_EQUAL(effects, 0);
    end();
}

#define GROUP(kind, steps) {.key = "ui.group", .type = kind, .scope = INVIVO_SCOPE_PROTOTYPE, .program = steps}

static void the_nearest_owner_is_set_up_once(void) {
    invivo_object object;
    begin();
    OK(define(LEAF(0), GROUP(node_type, "lm"), ROOT("agl")));
    node *root = resolved("ui.root", &object);
    node *group = child(root, 0);
    clear_trace();
    /* The group owns two of the leaves, and the root one: the root's setup makes the group anew. */
    OK(define(LEAF(1)));
    expect_trace("teardown:root undo:a init:group init:x setup:x init:y setup:y setup:group init:x setup:x setup:root "
                 "teardown:x end:x teardown:group teardown:y end:y teardown:x end:x end:group ");
    OK(define(ROOT("ag")));
    OK(invivo_object_release(object));
    root = resolved("ui.root", &object);
    group = child(root, 0);
    clear_trace();
    OK(define(LEAF(2)));
    expect_trace("teardown:group init:x setup:x init:y setup:y setup:group teardown:y end:y teardown:x end:x ");
    CHECK(child(root, 0) == group);
    CHECK_EQUAL(child(group, 1)->handed_over, 1);
    OK(invivo_object_release(object));
    end();
}

static void an_owner_that_keeps_its_children_is_passed_over(void) {
    invivo_object object, group_object;
    begin();
    OK(define(LEAF(0), GROUP(keeper_type, "l"), ROOT("ag")));
    node *root = resolved("ui.root", &object);
    clear_trace();
    OK(define(LEAF(1)));
    expect_trace("teardown:root undo:a init:group init:x setup:x setup:group setup:root teardown:group teardown:x end:x end:group ");
    (void)root;
    /* Without another owner, the leaf itself is set up again, and its owner is refreshed. */
    node *group = resolved("ui.group", &group_object);
    node *leaf = child(group, 0);
    OK(define(ROOT("a")));
    clear_trace();
    /* The former root, which is still leased, does not follow any more. */
    OK(define(LEAF(2)));
    expect_trace("teardown:x setup:x refresh:group ");
    CHECK(child(group, 0) == leaf);
    /* A new runtime would refuse the same definitions. */
    invivo_error *error = NULL;
    expects_error(define({.key = "ui.leaf", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 3, .is_named = true}),
                  INVIVO_E_ARGUMENT, NULL);
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "ui.leaf", E));
    CHECK(invivo_changes_commit(changes, &error) == INVIVO_E_NOT_FOUND);
    CHECK(strstr(invivo_error_text(error), "its object is the child of an object that keeps its children"));
    invivo_error_release(error);
    CHECK(child(group, 0) == leaf);
    OK(invivo_object_release(group_object));
    OK(invivo_object_release(object));
    end();
}

static void an_object_that_is_injected_again_is_refreshed(void) {
    invivo_object object;
    begin();
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
              {.key = "ui.root", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .program = "a", .theme = "ui.theme"},
              {.key = "ui.other", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .program = "b"}));
    invivo_object other;
    resolved("ui.root", &object);
    resolved("ui.other", &other);
    clear_trace();
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 2}));
    expect_trace("init:theme theme:root refresh:root end:theme ");
    /* An error after the commit is a warning. */
    listener heard;
    listener_open(&heard, runtime);
    fails("refresh:root", 1);
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 3}));
    listener_wait(&heard, 1);
    CHECK_TEXT(listener_last(&heard)->warnings, "ui.root: refresh failed after the commit: refresh:root\n");
    OK(invivo_object_release(object));
    OK(invivo_object_release(other));
    end();
    listener_end(&heard);
}

static void a_tracked_object_is_set_up_when_its_definition_changes(void) {
    invivo_object object;
    begin();
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
              {.key = "ui.panel", .type = node_type, .scope = INVIVO_SCOPE_PROTOTYPE, .program = "a", .theme = "ui.theme",
               .flags = INVIVO_DEFINITION_TRACKED}));
    resolved("ui.panel", &object);
    clear_trace();
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 2}));
    expect_trace("init:theme theme:panel refresh:panel end:theme ");
    OK(define({.key = "ui.panel", .type = node_type, .scope = INVIVO_SCOPE_PROTOTYPE, .program = "b", .theme = "ui.theme", .number = 7,
               .flags = INVIVO_DEFINITION_TRACKED}));
    expect_trace("theme:panel teardown:panel undo:a setup:panel ");
    OK(invivo_object_release(object));
    end();
}

/* The former injections are back before the former setup runs. */
static void a_failed_setup_comes_after_the_injections_and_before_their_undo(void) {
    invivo_object object;
    begin();
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
              {.key = "ui.panel", .type = node_type, .scope = INVIVO_SCOPE_PROTOTYPE, .program = "a", .theme = "ui.theme",
               .flags = INVIVO_DEFINITION_TRACKED}));
    resolved("ui.panel", &object);
    clear_trace();
    fails("setup:panel", 1);
    expects_error(define({.key = "ui.panel", .type = node_type, .scope = INVIVO_SCOPE_PROTOTYPE, .program = "bc", .theme = "ui.theme",
                          .number = 7, .flags = INVIVO_DEFINITION_TRACKED}),
                  INVIVO_E_HOST, "ui.panel: setup:panel");
    expect_trace("theme:panel teardown:panel undo:a setup:panel undo:c undo:b theme:panel setup:panel ");
    CHECK_EQUAL(effects, 1);
    OK(invivo_object_release(object));
    end();
}

static void stop_and_start_by_hand_tear_down_and_set_up(void) {
    invivo_object object;
    invivo_key root;
    begin();
    OK(define(LEAF(0), ROOT("al")));
    resolved("ui.root", &object);
    OK(invivo_key_find(runtime, "ui.root", &root, E));
    clear_trace();
    OK(invivo_stop(runtime, root, E));
    expect_trace("teardown:root teardown:x end:x undo:a ");
    OK(define(LEAF(1)));
    expect_trace("");
    OK(invivo_start(runtime, root, E));
    expect_trace("init:x setup:x setup:root ");
    OK(invivo_object_release(object));
    end();
}

static void values_of_documents_are_finalized(void) {
    invivo_object object;
    begin();
    invivo_type type;
    invivo_type_options options = node_options("Final");
    options.finalize = node_finalize;
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(define({.key = "ui.final", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
    resolved("ui.final", &object);
    expect_trace("init:final setup:final finalize:final ");
    const char *document = "traits: {ui.final: [Set: {number: 4}]}\n";
    invivo_source_options text = {.struct_size = sizeof text, .name = "tuning.yaml", .text = document, .length = strlen(document)};
    invivo_source source;
    OK(invivo_source_open(runtime, &text, &source, E));
    expect_trace("finalize:final ");
    OK(invivo_source_close(source, E));
    expect_trace("finalize:final ");
    OK(invivo_object_release(object));
    end();
}

/* Every hook and function fails at its first, second, ... call, once and then for the rest of the change: the former generation
 * stays, or the new one is complete. */
static void forget_error(invivo_status status) {
    if (status) invivo_error_release(check_error), check_error = NULL;
}
static bool counted_failure(void) {
    int call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    return call >= fails_from && call < fails_until;
}
static void every_call_fails_in_turn(void) {
    for (int lasting = 0; lasting < 2; lasting++) {
        int sites = 0;
        for (int at = 1;; at++) {
            invivo_object object;
            begin();
            OK(define(LEAF(1), GROUP(node_type, "bl"), ROOT("alogcm")));
            node *root = resolved("ui.root", &object);
            uint64_t before = generation();
            clear_trace();
            calls = 0, fails_from = at, fails_until = lasting ? 1 << 30 : at + 1;
            invivo_status status = define(LEAF(2));
            int reached = calls;
            forget_error(status);
            fails_from = fails_until = 0;
            if (reached < at) {
                CHECK_EQUAL(status, INVIVO_OK);
                OK(invivo_object_release(object));
                end();
                break;
            }
            sites++;
            if (status) {
                CHECK_EQUAL(generation(), before);
                /* The former state, or an object without setup that the next commit sets up. */
                if (effects == 3) {
                    CHECK_EQUAL(live, 5);
                    CHECK_EQUAL(child(root, 0)->number, 1);
                } else {
                    CHECK_EQUAL(effects, 0);
                    CHECK_EQUAL(live, 1);
                }
            }
            OK(define(LEAF(3)));
            CHECK_EQUAL(effects, 3);
            CHECK_EQUAL(live, 5);
            for (int i = 0; i < 3; i += 2) CHECK_EQUAL(child(root, i)->number, 3);
            CHECK_EQUAL(child(child(root, 1), 0)->number, 3);
            OK(invivo_object_release(object));
            end();
        }
        CHECK(sites >= 15);
    }
}

/* Random trees, edits and failures against a model: which keys have which number, and which objects live. */
static uint32_t random_state;
static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}
static int expected_nodes, expected_effects;
static void count_tree(const node *owner, int64_t leaf_number) {
    expected_nodes++;
    for (const char *step = owner->program; *step; step++) expected_effects += strchr("abc", *step) != NULL;
    for (int i = 0; i < owner->child_count; i++) {
        const node *below = child(owner, i);
        if (strcmp(below->name, "x") == 0 || strcmp(below->name, "y") == 0) CHECK_EQUAL(below->number, leaf_number);
        count_tree(below, leaf_number);
    }
}
static void random_trees_match_a_model(void) {
    static const char *const programs[] = {"", "a", "l", "alb", "gag", "lmg", "gc", "t", "bta"};
    static const char *const groups[] = {"", "a", "l", "alb", "lml", "t"};
    for (uint32_t seed = 1; seed <= 300; seed++) {
        random_state = seed;
        int64_t number = 0;
        invivo_object object = {0};
        begin();
        bool keeps = random_below(2);
        OK(define(LEAF(0), GROUP(keeps ? keeper_type : node_type, groups[random_below(6)]), ROOT(programs[random_below(9)])));
        for (int edit = 0; edit < 12; edit++) {
            calls = 0;
            fails_from = random_below(3) == 0 ? 1 + (int)random_below(30) : 0, fails_until = fails_from + 1;
            invivo_status status;
            int64_t next = number;
            switch (random_below(3)) {
            case 0: status = define(LEAF(next = number + 1)); break;
            case 1: status = define(GROUP(keeps ? keeper_type : node_type, groups[random_below(6)])); break;
            default: status = define(ROOT(programs[random_below(9)])); break;
            }
            fails_from = fails_until = 0;
            forget_error(status);
            if (!status) number = next;
            if (object.bits) OK(invivo_object_release(object));
            node *root = resolved("ui.root", &object);
            /* Objects whose setup could not be restored are set up now. */
            OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = edit}));
            if (keeps) continue; /* children that are kept have former numbers */
            expected_nodes = expected_effects = 0;
            count_tree(root, number);
            if (!CHECK_EQUAL(live, expected_nodes) || !CHECK_EQUAL(effects, expected_effects)) {
                printf("seed %u, edit %d: %s\n", seed, edit, root->program);
            }
            clear_trace();
        }
        OK(invivo_object_release(object));
        end();
    }
}

/* An object whose setup could not be restored does not keep its replacement from coming. */
static void a_broken_object_is_replaced(void) {
    invivo_object object;
    begin();
    OK(define(LEAF(1), ROOT("al")));
    resolved("ui.root", &object);
    fails("setup:root", 2);
    CHECK_EQUAL(define(LEAF(2)), INVIVO_E_HOST);
    forget_error(INVIVO_E_HOST);
    CHECK_EQUAL(effects, 0);
    clear_trace();
    OK(define(ROOT("ab")));
    /* The former object, which is still leased, is not set up any more. */
    expect_trace("init:root setup:root ");
    CHECK_EQUAL(effects, 2);
    OK(invivo_object_release(object));
    end();
}

/* The initializer of an object without a definition is not the setup either. */
static void an_effect_in_the_initializer_of_a_made_child_is_refused(void) {
    invivo_object object;
    invivo_type inner, outer;
    begin();
    invivo_type_options type = node_options("Node2");
    type.init = refuse_effect, type.parameter_count = 0, type.setup = type.teardown = NULL, type.deinit = NULL;
    OK(invivo_type_register(runtime, &type, &inner, E));
    invivo_type kept = node_type;
    node_type = inner;
    type = node_options("Outer");
    OK(invivo_type_register(runtime, &type, &outer, E));
    OK(define({.key = "ui.root", .type = outer, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .program = "t"}));
    expects_error(invivo_resolve_name(runtime, "ui.root", &object, E), INVIVO_E_ARGUMENT,
                  "ui.root: invivo_effect was called outside of a setup: call it in the `setup` of the object to which the result belongs, on its thread");
    node_type = kept;
    CHECK_EQUAL(effects, 0);
    end();
}

/* Tracked objects without setup are refreshed whether other objects have children or not. */
static void a_tracked_object_without_setup_is_refreshed(void) {
    invivo_object root, panel;
    invivo_type type;
    begin();
    invivo_type_options options = node_options("Refreshed");
    options.setup = options.teardown = NULL;
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(define(LEAF(0), ROOT("l"), {.key = "ui.panel", .type = type, .scope = INVIVO_SCOPE_PROTOTYPE, .flags = INVIVO_DEFINITION_TRACKED}));
    resolved("ui.root", &root);
    resolved("ui.panel", &panel);
    clear_trace();
    OK(define({.key = "ui.panel", .type = type, .scope = INVIVO_SCOPE_PROTOTYPE, .number = 2, .flags = INVIVO_DEFINITION_TRACKED}));
    expect_trace("refresh:panel ");
    OK(invivo_object_release(root));
    OK(invivo_object_release(panel));
    end();
}

/* A factory method that returns an existing object gives no child. */
static invivo_object existing;
static invivo_status return_existing(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                                     invivo_error **error) {
    (void)instance, (void)user_data, (void)arguments, (void)count;
    invivo_value value = invivo_object_value(existing);
    return invivo_value_copy(result, &value, error);
}
static invivo_status set_up_existing(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data;
    invivo_key key;
    invivo_object made;
    invivo_status status = invivo_key_find(runtime, "ui.same", &key, error);
    return status ? status : invivo_child(runtime, key, NULL, 0, &made, error);
}
static void a_child_is_a_new_object(void) {
    static const invivo_method methods[] = {
        {.struct_size = sizeof(invivo_method), .name = "same", .result = INVIVO_KIND_ANY, .call = return_existing}};
    invivo_object first, second;
    invivo_type maker, owner;
    begin();
    invivo_type_options type = node_options("Maker");
    type.methods = methods, type.method_count = 1, type.setup = type.teardown = type.refresh = NULL;
    OK(invivo_type_register(runtime, &type, &maker, E));
    type = node_options("Owner");
    type.setup = set_up_existing;
    OK(invivo_type_register(runtime, &type, &owner, E));
    invivo_injection source = {.how = INVIVO_INJECT_REFERENCE, .reference = "ui.maker"};
    invivo_definition same = {.struct_size = sizeof same, .key = "ui.same", .type = quiet_type, .scope = INVIVO_SCOPE_PROTOTYPE,
                              .maker_method = "same", .maker = &source, .maker_count = 1};
    OK(define({.key = "ui.maker", .type = maker, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
              {.key = "ui.first", .type = owner, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
              {.key = "ui.second", .type = owner, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
    OK(invivo_object_make(runtime, quiet_type, NULL, 0, &existing, E));
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &same, NULL, E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_resolve_name(runtime, "ui.first", &first, E));
    expects_error(invivo_resolve_name(runtime, "ui.second", &second, E), INVIVO_E_ARGUMENT,
                  "ui.same: its creation returned an object that is an owner, or has one already: a child is a new object");
    OK(invivo_object_release(existing));
    /* The refused owner had no lease of the other one's child. */
    void *instance;
    OK(invivo_object_instance(existing, quiet_type, &instance, E));
    OK(invivo_object_release(first));
    end();
}

/* A shared type whose setup waits while `blocks`. */
static bool blocks;
static int entered;
static pthread_cond_t slow_changed = PTHREAD_COND_INITIALIZER;
static invivo_status slow_setup(void *instance, void *user_data, invivo_error **error) {
    pthread_mutex_lock(&lock);
    entered++;
    pthread_cond_broadcast(&slow_changed);
    while (blocks) pthread_cond_wait(&slow_changed, &lock);
    pthread_mutex_unlock(&lock);
    return node_setup(instance, user_data, error);
}
static void set_blocks(bool value) {
    pthread_mutex_lock(&lock);
    blocks = value;
    pthread_cond_broadcast(&slow_changed);
    pthread_mutex_unlock(&lock);
}
static void await_entered(int times) {
    pthread_mutex_lock(&lock);
    while (entered < times) pthread_cond_wait(&slow_changed, &lock);
    pthread_mutex_unlock(&lock);
}
static invivo_type slow_type, shared_leaf;
static void begin_slow(void) {
    begin();
    entered = 0, blocks = false;
    invivo_type_options type = node_options("Slow");
    type.setup = slow_setup, type.concurrency = INVIVO_SHARED;
    OK(invivo_type_register(runtime, &type, &slow_type, E));
    type = node_options("SharedLeaf");
    type.concurrency = INVIVO_SHARED, type.setup = type.teardown = type.refresh = NULL;
    OK(invivo_type_register(runtime, &type, &shared_leaf, E));
}
/* The limit of the changes that are to exceed it, and of others, which must not on a busy machine. */
static void limit_changes(uint32_t milliseconds) {
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    OK(invivo_runtime_options_read(runtime, &options, E));
    options.commit_timeout_ms = milliseconds;
    OK(invivo_runtime_options_change(runtime, &options, E));
}
#define SHARED_LEAF(value) {.key = "ui.leaf", .type = shared_leaf, .scope = INVIVO_SCOPE_PROTOTYPE, .number = value, .is_named = true}
#define SLOW_ROOT(steps) {.key = "ui.root", .type = slow_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .program = steps}
#define OTHER(value) {.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = value}

/* A setup that outlives the limit of its change: the change fails, others do not wait for it, and there is one setup at a time. */
static void a_setup_that_is_given_up_is_alone(void) {
    invivo_object object;
    begin_slow();
    OK(define(SHARED_LEAF(1), SLOW_ROOT("al")));
    node *root = resolved("ui.root", &object);
    set_blocks(true);
    limit_changes(50);
    CHECK_EQUAL(define(SHARED_LEAF(2)), INVIVO_E_TIMEOUT);
    forget_error(INVIVO_E_TIMEOUT);
    limit_changes(60000);
    await_entered(2);
    for (int i = 0; i < 3; i++) OK(define(OTHER(i)));
    pthread_mutex_lock(&lock);
    CHECK_EQUAL(entered, 2);
    pthread_mutex_unlock(&lock);
    set_blocks(false);
    /* It ends its own work, and a later change sets the object up. */
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        OK(define(OTHER(__atomic_add_fetch(&observed, 1, __ATOMIC_SEQ_CST) + 10)));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (__atomic_load_n(&entered, __ATOMIC_SEQ_CST) < 3 && now.tv_sec - begun.tv_sec < CHECK_LIMIT_SECONDS);
    CHECK_EQUAL(effects, 1);
    CHECK_EQUAL(root->child_count, 1);
    CHECK_EQUAL(child(root, 0)->number, 1);
    OK(define(SHARED_LEAF(3)));
    CHECK_EQUAL(child(root, 0)->number, 3);
    OK(invivo_object_release(object));
    end();
}

static void *define_leaf_2(void *status) {
    *(invivo_status *)status = define(SHARED_LEAF(2));
    return NULL;
}
/* An object that is stopped while it is set up is torn down when the setup returns. */
static void a_stop_during_a_setup_is_not_lost(void) {
    invivo_object object;
    invivo_key root;
    invivo_status status;
    pthread_t thread;
    begin_slow();
    OK(define(SHARED_LEAF(1), SLOW_ROOT("al")));
    resolved("ui.root", &object);
    OK(invivo_key_find(runtime, "ui.root", &root, E));
    set_blocks(true);
    CHECK(pthread_create(&thread, NULL, define_leaf_2, &status) == 0);
    await_entered(2);
    OK(invivo_stop(runtime, root, E));
    set_blocks(false);
    pthread_join(thread, NULL);
    CHECK_EQUAL(status, INVIVO_OK);
    CHECK_EQUAL(effects, 0);
    CHECK_EQUAL(live, 1);
    OK(invivo_start(runtime, root, E));
    CHECK_EQUAL(effects, 1);
    CHECK_EQUAL(live, 2);
    OK(invivo_object_release(object));
    end();
}

/* One owner does not return in time: another one that has answered is restored. */
static void an_owner_beside_one_that_is_given_up_is_restored(void) {
    invivo_object first, second;
    begin_slow();
    OK(define(LEAF(1), ROOT("al"), {.key = "ui.pane", .type = shared_leaf, .scope = INVIVO_SCOPE_PROTOTYPE, .number = 1},
              {.key = "ui.keeper", .type = shared_leaf, .scope = INVIVO_SCOPE_PROTOTYPE, .number = 1},
              {.key = "ui.slow", .type = slow_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .program = "bk"}));
    node *root = resolved("ui.root", &first);
    node *slow = resolved("ui.slow", &second);
    set_blocks(true);
    limit_changes(50);
    CHECK_EQUAL(define(LEAF(2), {.key = "ui.keeper", .type = shared_leaf, .scope = INVIVO_SCOPE_PROTOTYPE, .number = 2}), INVIVO_E_TIMEOUT);
    forget_error(INVIVO_E_TIMEOUT);
    limit_changes(60000);
    CHECK_EQUAL(child(root, 0)->number, 1);
    CHECK_EQUAL(effects, 1);
    set_blocks(false);
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        OK(define(OTHER(__atomic_add_fetch(&observed, 1, __ATOMIC_SEQ_CST))));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (__atomic_load_n(&entered, __ATOMIC_SEQ_CST) < 3 && now.tv_sec - begun.tv_sec < CHECK_LIMIT_SECONDS);
    CHECK_EQUAL(effects, 2);
    CHECK_EQUAL(child(slow, 0)->number, 1);
    OK(invivo_object_release(first));
    OK(invivo_object_release(second));
    end();
}

static invivo_status decorate_node(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data,
                                   invivo_error **error) {
    (void)object, (void)build;
    return invivo_object_make(runtime, *(invivo_type *)user_data, NULL, 0, out, error);
}
/* The former child of a decorated one is the object that the definition created. */
static void a_decorated_child_is_handed_over(void) {
    static const char *const leaf_name[] = {"Node"};
    invivo_object object;
    invivo_type cover;
    begin();
    invivo_type_options type = node_options("Cover");
    type.supertypes = leaf_name, type.supertype_count = 1, type.setup = type.teardown = type.refresh = NULL;
    OK(invivo_type_register(runtime, &type, &cover, E));
    invivo_changes changes;
    OK(define(LEAF(0), ROOT("l")));
    invivo_processor processor = {.struct_size = sizeof processor, .name = "cover", .key = "ui.leaf", .decorate = decorate_node, .user_data = &cover};
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_process(changes, &processor, E));
    OK(invivo_changes_commit(changes, E));
    node *root = resolved("ui.root", &object);
    CHECK_TEXT(child(root, 0)->name, "made");
    listener heard;
    listener_open(&heard, runtime);
    for (int i = 1; i <= 3; i++) OK(define(LEAF(i)));
    listener_wait(&heard, 3);
    CHECK_TEXT(listener_last(&heard)->warnings, "");
    CHECK_EQUAL(live, 3);
    handed_over_last = -1;
    OK(define(LEAF(4)));
    CHECK_EQUAL(handed_over_last, 4);
    OK(invivo_object_release(object));
    end();
    listener_end(&heard);
}

/* Its definition is the same, and a commit sets nothing in it. */
static void a_decorator_of_a_tracked_child_sets_its_owner_up(void) {
    static const char *const leaf_name[] = {"Node"};
    invivo_object object;
    invivo_type cover;
    invivo_changes changes;
    begin();
    invivo_type_options type = node_options("Cover");
    type.supertypes = leaf_name, type.supertype_count = 1, type.setup = type.teardown = type.refresh = NULL;
    OK(invivo_type_register(runtime, &type, &cover, E));
    OK(define({.key = "ui.leaf", .type = node_type, .scope = INVIVO_SCOPE_PROTOTYPE, .flags = INVIVO_DEFINITION_TRACKED, .is_named = true}, ROOT("l")));
    node *root = resolved("ui.root", &object);
    CHECK_TEXT(child(root, 0)->name, "x");
    invivo_processor processor = {.struct_size = sizeof processor, .name = "cover", .key = "ui.leaf", .decorate = decorate_node, .user_data = &cover};
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_process(changes, &processor, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_TEXT(child(root, 0)->name, "made");
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_unprocess(changes, "cover", E));
    OK(invivo_changes_commit(changes, E));
    CHECK_TEXT(child(root, 0)->name, "x");
    OK(invivo_object_release(object));
    end();
}

/* An alias may lead to an object that others have. */
static void a_shared_object_behind_an_alias_is_no_child(void) {
    invivo_object object;
    begin();
    invivo_changes changes;
    invivo_injection name = {.how = INVIVO_INJECT_ARGUMENT, .index = 0};
    invivo_definition alias = {.struct_size = sizeof alias, .key = "ui.leaf", .alias = "ui.named", .parameters = node_parameters,
                               .parameter_count = 1, .initializer = &name, .initializer_count = 1};
    OK(define({.key = "ui.named", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .is_named = true}, ROOT("l")));
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, &alias, NULL, E));
    OK(invivo_changes_commit(changes, E));
    CHECK_EQUAL(invivo_resolve_name(runtime, "ui.root", &object, E), INVIVO_E_ARGUMENT);
    CHECK(strstr(invivo_error_text(check_error), "a child belongs to one owner") != NULL);
    forget_error(INVIVO_E_ARGUMENT);
    end();
}

/* After a failed reload, too, `finalize` follows the setup. */
static void a_restored_setup_is_finalized(void) {
    invivo_object object;
    invivo_type type;
    begin();
    invivo_type_options options = node_options("Final");
    options.finalize = node_finalize;
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(define(LEAF(1), {.key = "ui.root", .type = type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .program = "l"}));
    resolved("ui.root", &object);
    clear_trace();
    fails("setup:root", 1);
    expects_error(define(LEAF(2)), INVIVO_E_HOST, "ui.root: setup:root");
    expect_trace("teardown:root init:x setup:x setup:root teardown:x end:x init:x setup:x setup:root finalize:root teardown:x end:x ");
    OK(invivo_object_release(object));
    end();
}

/* A tracked child keeps what its initializer received: its owner makes a new one. */
static invivo_status themed_setup(void *instance, void *user_data, invivo_error **error) {
    node *self = instance;
    (void)user_data;
    self->child_count = 0;
    invivo_status status = add_child(self, "ui.themed", NULL, error);
    return status ? status : say("setup", self->name, error);
}
static void a_tracked_child_with_a_changed_initializer_is_made_again(void) {
    static const invivo_parameter theme[] = {{.name = "theme", .kind = INVIVO_KIND_OBJECT}};
    invivo_object object;
    invivo_type themed, owner;
    begin();
    invivo_type_options type = node_options("Themed");
    type.parameters = theme, type.setup = type.teardown = type.refresh = NULL;
    OK(invivo_type_register(runtime, &type, &themed, E));
    type = node_options("Owner");
    type.setup = themed_setup;
    OK(invivo_type_register(runtime, &type, &owner, E));
    invivo_injection given = {.how = INVIVO_INJECT_REFERENCE, .reference = "ui.theme"};
    invivo_definition child_definition = {.struct_size = sizeof child_definition, .key = "ui.themed", .type = themed, .flags = INVIVO_DEFINITION_TRACKED,
                                          .scope = INVIVO_SCOPE_PROTOTYPE, .initializer = &given, .initializer_count = 1};
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
              {.key = "ui.root", .type = owner, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
    OK(invivo_define(runtime, &child_definition, NULL, E));
    resolved("ui.root", &object);
    clear_trace();
    OK(define({.key = "ui.theme", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 1}));
    expect_trace("init:theme teardown:root init:themed setup:root end:themed end:theme ");
    OK(invivo_object_release(object));
    end();
}

/* A window: a thread that runs the jobs of its domain, and is told of commits. */
static invivo_job window_jobs[64];
static int window_begun, window_done, window_ended;
static bool window_closes;
static pthread_cond_t window_changed = PTHREAD_COND_INITIALIZER;
static invivo_status window_post(void *user_data, invivo_job job, invivo_error **error) {
    (void)user_data, (void)error;
    pthread_mutex_lock(&lock);
    window_jobs[window_begun++ % 64] = job;
    pthread_cond_broadcast(&window_changed);
    pthread_mutex_unlock(&lock);
    return INVIVO_OK;
}
static void *window_run(void *unused) {
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (window_done == window_begun && !window_closes) pthread_cond_wait(&window_changed, &lock);
        if (window_done == window_begun) break;
        invivo_job job = window_jobs[window_done++ % 64];
        pthread_mutex_unlock(&lock);
        (void)invivo_job_run(job);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void freeze(void *user_data) {
    (void)user_data;
    say("begin", "window", NULL);
}
static void thaw(void *user_data) {
    (void)user_data;
    say("end", "window", NULL);
    pthread_mutex_lock(&lock);
    window_ended++;
    pthread_cond_broadcast(&window_changed);
    pthread_mutex_unlock(&lock);
}
static void await_thaw(int times) {
    pthread_mutex_lock(&lock);
    while (window_ended < times) pthread_cond_wait(&window_changed, &lock);
    pthread_mutex_unlock(&lock);
}
static void a_domain_is_notified_of_commits(void) {
    invivo_domain window;
    invivo_domain_options options = {.struct_size = sizeof options, .name = "window", .post = window_post, .begin = freeze};
    pthread_t thread;
    begin();
    window_begun = window_done = window_ended = 0, window_closes = false;
    expects_error(invivo_domain_register(runtime, &options, &window, E), INVIVO_E_ARGUMENT,
                  "options.begin and options.end belong together: give both or none");
    options.end = thaw;
    OK(invivo_domain_register(runtime, &options, &window, E));
    CHECK(pthread_create(&thread, NULL, window_run, NULL) == 0);
    invivo_type shown, hidden;
    invivo_type_options type = node_options("Shown");
    type.domain = window;
    OK(invivo_type_register(runtime, &type, &shown, E));
    type.name = "Hidden", type.setup = type.teardown = type.refresh = NULL;
    OK(invivo_type_register(runtime, &type, &hidden, E));
    OK(define({.key = "ui.theme", .type = hidden, .scope = INVIVO_SCOPE_LAZY_SINGLETON},
              {.key = "ui.leaf", .type = shown, .scope = INVIVO_SCOPE_PROTOTYPE, .is_named = true},
              {.key = "ui.root", .type = shown, .scope = INVIVO_SCOPE_SINGLETON, .program = "l", .theme = "ui.theme"}));
    await_thaw(1);
    expect_trace("begin:window init:root init:theme theme:root init:x setup:x setup:root end:window ");
    OK(define({.key = "ui.leaf", .type = shown, .scope = INVIVO_SCOPE_PROTOTYPE, .is_named = true, .number = 1}));
    await_thaw(2);
    /* The former child ends in its domain, before or after the end of the commit. */
    pthread_mutex_lock(&lock);
    CHECK(strncmp(trace, "begin:window teardown:root init:x setup:x setup:root ", 53) == 0);
    CHECK(strstr(trace, "end:window") != NULL);
    pthread_mutex_unlock(&lock);
    while (__atomic_load_n(&live, __ATOMIC_SEQ_CST) != 3) OK(invivo_runtime_poll(runtime, 1, NULL, E));
    clear_trace();
    OK(define({.key = "ui.theme", .type = hidden, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 1}));
    await_thaw(3);
    pthread_mutex_lock(&lock);
    CHECK(strncmp(trace, "begin:window init:theme theme:root refresh:root end:window ", 59) == 0);
    trace[0] = 0;
    pthread_mutex_unlock(&lock);
    fails("theme:root", 1);
    expects_error(define({.key = "ui.theme", .type = hidden, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 2}), INVIVO_E_HOST,
                  "ui.root: theme:root");
    await_thaw(4);
    /* An owner that is only refreshed. */
    type = node_options("KeptShown");
    type.domain = window, type.keeps_children = 1;
    invivo_type kept;
    OK(invivo_type_register(runtime, &type, &kept, E));
    OK(define({.key = "ui.keeper", .type = hidden, .scope = INVIVO_SCOPE_PROTOTYPE},
              {.key = "ui.kept", .type = kept, .scope = INVIVO_SCOPE_SINGLETON, .program = "k"}));
    await_thaw(5);
    clear_trace();
    OK(define({.key = "ui.keeper", .type = hidden, .scope = INVIVO_SCOPE_PROTOTYPE, .number = 1}));
    await_thaw(6);
    expect_trace("begin:window refresh:kept end:window ");
    /* Nothing to do there. */
    OK(define({.key = "ui.other", .type = quiet_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
    pthread_mutex_lock(&lock);
    CHECK_EQUAL(window_ended, 6);
    pthread_mutex_unlock(&lock);
    end();
    pthread_mutex_lock(&lock);
    window_closes = true;
    pthread_cond_broadcast(&window_changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}

/* ---- builds that a reload overtakes ---------------------------------------------------------------------- */

/* The runtime replaces an object that a reload has overtaken by a change set of its own. */
static void await_change_sets(void) {
    do OK(invivo_runtime_poll(runtime, 0, NULL, E));
    while (check_status_number(runtime, "waiting_sets") || check_status_number(runtime, "running"));
}
static int64_t number_of_child(const char *key) {
    invivo_object object;
    node *found = resolved(key, &object);
    void *part = NULL;
    if (found->theme.bits && OK(invivo_object_instance(found->theme, (invivo_type){0}, &part, E))) found = part;
    int64_t number = child(found, 0)->number;
    OK(invivo_object_release(object));
    return number;
}
#define PART {.key = "ui.part", .type = node_type, .scope = INVIVO_SCOPE_PROTOTYPE, .program = "l"}
#define HOLDER {.key = "ui.holder", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .theme = "ui.part"}
/* An object that is built for the generation of a pin has children of that generation. It is not the one of the current generation. */
static void children_of_a_pin_are_not_those_of_the_current_generation(void) {
    begin();
    OK(define(LEAF(1), ROOT("l"), PART, HOLDER));
    invivo_pin pin = invivo_pin_begin(runtime, NULL);
    OK(define(LEAF(2)));
    CHECK_EQUAL(number_of_child("ui.root"), 1);
    CHECK_EQUAL(number_of_child("ui.holder"), 1);
    await_change_sets();
    CHECK_EQUAL(number_of_child("ui.root"), 1);
    CHECK_EQUAL(number_of_child("ui.holder"), 1);
    OK(invivo_pin_end(pin));
    CHECK_EQUAL(number_of_child("ui.root"), 2);
    CHECK_EQUAL(number_of_child("ui.holder"), 2);
    end();
}
/* The same for what it owns by a provider. */
static void an_owner_of_a_pin_is_not_that_of_the_current_generation(void) {
    begin();
    OK(define({.key = "ui.theme", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON}));
    invivo_injection theme = {.how = INVIVO_INJECT_REFERENCE, .reference = "ui.theme"};
    invivo_injection any = {.name = "any", .how = INVIVO_INJECT_PROVIDER, .items = &theme, .item_count = 1, .flags = INVIVO_INJECT_OWNS};
    invivo_definition root = {.struct_size = sizeof root, .key = "ui.root", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON,
                              .properties = &any, .property_count = 1};
    OK(invivo_define(runtime, &root, NULL, E));
    invivo_pin pin = invivo_pin_begin(runtime, NULL);
    OK(define({.key = "ui.theme", .type = node_type, .scope = INVIVO_SCOPE_LAZY_SINGLETON, .number = 2}));
    invivo_object pinned, current;
    resolved("ui.root", &pinned);
    await_change_sets();
    OK(invivo_pin_end(pin));
    resolved("ui.root", &current);
    CHECK(pinned.bits != current.bits);
    OK(invivo_object_release(pinned));
    OK(invivo_object_release(current));
    end();
}
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static int gate; /* 1: a rule holds a plan, 2: it ends */
static void move_gate(int from, int to) {
    pthread_mutex_lock(&gate_lock);
    while (gate < from) pthread_cond_wait(&gate_moved, &gate_lock);
    gate = to;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}
static invivo_status hold_plan(const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)count, (void)at, (void)user_data, (void)error;
    if (values[0].as.signed_integer == 1) return INVIVO_OK;
    move_gate(0, 1);
    move_gate(2, 2);
    return INVIVO_OK;
}
static invivo_status tell_config(const char *text, int64_t leaf) {
    invivo_changes changes;
    invivo_definition definition = {.struct_size = sizeof definition, .key = "ui.leaf", .type = node_type, .scope = INVIVO_SCOPE_PROTOTYPE};
    invivo_injection number = {.name = "number", .value = invivo_int64(leaf)}, name = {.how = INVIVO_INJECT_ARGUMENT};
    definition.properties = &number, definition.property_count = 1, definition.parameters = node_parameters, definition.parameter_count = 1;
    definition.initializer = &name, definition.initializer_count = 1;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, "a", text, strlen(text), E));
    OK(invivo_changes_define(changes, &definition, NULL, E));
    return invivo_changes_commit(changes, E);
}
static void *change_leaf_slowly(void *status) {
    *(invivo_status *)status = tell_config("config: { x: 2 }", 2);
    return NULL;
}
/* The object becomes visible after the plan, which does not know it, and before the commit. */
static void children_of_a_build_beside_a_reload_are_replaced(void) {
    static const char *const inputs[] = {"/x"};
    invivo_rule rule = {.struct_size = sizeof rule, .name = "holds", .inputs = inputs, .input_count = 1, .check = hold_plan};
    invivo_runtime_options options = {.struct_size = sizeof options};
    begin();
    OK(invivo_runtime_options_read(runtime, &options, E));
    options.rule_timeout_ms = 120000;
    OK(invivo_runtime_options_change(runtime, &options, E));
    OK(define(ROOT("l"), PART, HOLDER));
    OK(tell_config("config: { x: 1 }", 1));
    OK(invivo_rule_add(runtime, &rule, E));
    gate = 0;
    pthread_t thread;
    invivo_status status = INVIVO_E_HOST;
    CHECK(pthread_create(&thread, NULL, change_leaf_slowly, &status) == 0);
    move_gate(1, 1);
    CHECK_EQUAL(number_of_child("ui.root"), 1);
    CHECK_EQUAL(number_of_child("ui.holder"), 1);
    move_gate(1, 2);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQUAL(status, INVIVO_OK);
    await_change_sets();
    CHECK_EQUAL(number_of_child("ui.root"), 2);
    CHECK_EQUAL(number_of_child("ui.holder"), 2);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(ten_reloads_leave_one_of_everything);
    RUN_TEST(an_object_is_set_up_after_its_start_and_torn_down_before_its_stop);
    RUN_TEST(a_prototype_is_torn_down_with_its_last_lease);
    RUN_TEST(a_failed_setup_undoes_what_it_registered);
    RUN_TEST(a_reload_that_cannot_set_up_restores_the_former_setup);
    RUN_TEST(an_undo_that_fails_fails_the_setup_and_the_others_run);
    RUN_TEST(a_setup_that_cannot_be_restored_is_tried_again);
    RUN_TEST(an_injection_that_cannot_be_put_back_is_tried_again);
    RUN_TEST(an_injection_into_a_tracked_object_is_tried_again);
    RUN_TEST(a_runtime_closes_with_an_injection_that_cannot_be_put_back);
    RUN_TEST(a_warning_of_a_setup_has_one_source_location);
    RUN_TEST(an_effect_outside_of_a_setup_is_undone_at_once);
    RUN_TEST(a_child_belongs_to_one_owner);
    RUN_TEST(the_nearest_owner_is_set_up_once);
    RUN_TEST(an_owner_that_keeps_its_children_is_passed_over);
    RUN_TEST(an_object_that_is_injected_again_is_refreshed);
    RUN_TEST(a_tracked_object_is_set_up_when_its_definition_changes);
    RUN_TEST(a_failed_setup_comes_after_the_injections_and_before_their_undo);
    RUN_TEST(stop_and_start_by_hand_tear_down_and_set_up);
    RUN_TEST(values_of_documents_are_finalized);
    RUN_TEST(a_broken_object_is_replaced);
    RUN_TEST(an_effect_in_the_initializer_of_a_made_child_is_refused);
    RUN_TEST(a_tracked_object_without_setup_is_refreshed);
    RUN_TEST(a_child_is_a_new_object);
    RUN_TEST(a_setup_that_is_given_up_is_alone);
    RUN_TEST(a_stop_during_a_setup_is_not_lost);
    RUN_TEST(an_owner_beside_one_that_is_given_up_is_restored);
    RUN_TEST(a_decorated_child_is_handed_over);
    RUN_TEST(a_decorator_of_a_tracked_child_sets_its_owner_up);
    RUN_TEST(a_shared_object_behind_an_alias_is_no_child);
    RUN_TEST(a_restored_setup_is_finalized);
    RUN_TEST(a_tracked_child_with_a_changed_initializer_is_made_again);
    RUN_TEST(a_domain_is_notified_of_commits);
    RUN_TEST(children_of_a_pin_are_not_those_of_the_current_generation);
    RUN_TEST(an_owner_of_a_pin_is_not_that_of_the_current_generation);
    RUN_TEST(children_of_a_build_beside_a_reload_are_replaced);
    RUN_TEST(every_call_fails_in_turn);
    RUN_TEST(random_trees_match_a_model);
    return check_end();
}
