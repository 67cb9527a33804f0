/* Updates in place: lists whose holder is notified of added and removed candidates, and tracked prototypes. */
#include "check.h"

typedef struct part { int serial; invivo_object helper; } part;
typedef struct mixer { int count, sets; int held[16]; } mixer;
static int serials, live;
static char trace[4096];
static const char *fail_at;

static invivo_status part_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    ((part *)instance)->serial = ++serials, live++;
    return INVIVO_OK;
}
static void part_deinit(void *instance, void *user_data) {
    (void)instance, (void)user_data;
    live--;
}
static int serial_of(const invivo_value *value) {
    void *instance = NULL;
    if (value->kind != INVIVO_KIND_OBJECT || invivo_object_instance(value->as.object, (invivo_type){0}, &instance, NULL)) return -1;
    return ((part *)instance)->serial;
}
static invivo_status get_voices(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    *out = invivo_null();
    return INVIVO_OK;
}
static invivo_status set_voices(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    mixer *self = instance;
    (void)user_data, (void)error;
    self->sets++, self->count = 0;
    for (uint64_t i = 0; i < value->as.list.count; i++) self->held[self->count++] = serial_of(&value->as.list.items[i]);
    return INVIVO_OK;
}
static invivo_status hear(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                          invivo_error **error) {
    mixer *self = instance;
    bool comes = user_data != NULL;
    int serial = serial_of(&arguments[0]), found = -1;
    char event[32];
    (void)count, (void)result;
    snprintf(event, sizeof event, "%c%d", comes ? '+' : '-', serial);
    strcat(strcat(trace, event), " ");
    if (fail_at && strcmp(fail_at, event) == 0) {
        *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
        return INVIVO_E_HOST;
    }
    for (int i = 0; i < self->count; i++)
        if (self->held[i] == serial) found = i;
    CHECK(comes ? found < 0 : found >= 0);
    if (comes) self->held[self->count++] = serial;
    else if (found >= 0) memmove(&self->held[found], &self->held[found + 1], (size_t)(--self->count - found) * sizeof self->held[0]);
    return INVIVO_OK;
}
static invivo_status get_helper(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    invivo_value object = invivo_object_value(((part *)instance)->helper);
    (void)user_data;
    return object.as.object.bits ? invivo_value_copy(out, &object, error) : INVIVO_OK;
}
static invivo_status set_helper(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data, (void)error;
    ((part *)instance)->helper = value->as.object;
    return INVIVO_OK;
}
static const invivo_property part_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "helper", .kind = INVIVO_KIND_OBJECT, .get = get_helper, .set = set_helper}};
static const invivo_parameter input[] = {{.name = "input", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_property mixer_properties[] = {
    {.struct_size = sizeof(invivo_property), .name = "voices", .kind = INVIVO_KIND_ANY, .get = get_voices, .set = set_voices}};
static const invivo_parameter one[] = {{.name = "voice", .kind = INVIVO_KIND_OBJECT}};
static const invivo_method mixer_methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "add", .parameters = one, .parameter_count = 1, .call = hear, .user_data = (void *)1},
    {.struct_size = sizeof(invivo_method), .name = "remove", .parameters = one, .parameter_count = 1, .call = hear},
};

static invivo_runtime runtime;
static invivo_type voice_type, part_type, mixer_type, shared_mixer;
static listener *heard;

static void begin(void) {
    invivo_type_options voices = {.struct_size = sizeof voices, .name = "Voice", .size = sizeof(part), .alignment = 8,
                                  .concurrency = INVIVO_SHARED, .init = part_init, .deinit = part_deinit};
    invivo_type_options parts = {.struct_size = sizeof parts, .name = "Part", .size = sizeof(part), .alignment = 8, .init = part_init,
                                 .deinit = part_deinit, .parameters = input, .parameter_count = 1,
                                 .properties = part_properties, .property_count = 1};
    invivo_type_options mixers = {.struct_size = sizeof mixers, .name = "Mixer", .size = sizeof(mixer), .alignment = 8,
                                  .properties = mixer_properties, .property_count = 1, .methods = mixer_methods, .method_count = 2};
    serials = live = 0, trace[0] = 0, fail_at = NULL;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &voices, &voice_type, E));
    OK(invivo_type_register(runtime, &parts, &part_type, E));
    OK(invivo_type_register(runtime, &mixers, &mixer_type, E));
    mixers.name = "SharedMixer", mixers.concurrency = INVIVO_SHARED;
    OK(invivo_type_register(runtime, &mixers, &shared_mixer, E));
    heard = malloc(sizeof *heard);
    listener_open(heard, runtime);
}
static void end(void) {
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(live, 0);
    listener_end(heard), free(heard);
}
#define DEFINITION(given_key, given_scope, given_type, ...) \
    (&(invivo_definition){.struct_size = sizeof(invivo_definition), .key = given_key, .scope = INVIVO_SCOPE_##given_scope, .type = given_type, __VA_ARGS__})
#define DEFINE(...) OK(invivo_define(runtime, DEFINITION(__VA_ARGS__), NULL, E))
static void removes(const char *key) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, key, E));
    OK(invivo_changes_commit(changes, E));
}
static invivo_object resolve(const char *key) {
    invivo_object object = {0};
    OK(invivo_resolve_name(runtime, key, &object, E));
    return object;
}
static void *at(invivo_object object) {
    void *instance = NULL;
    if (object.bits) OK(invivo_object_instance(object, (invivo_type){0}, &instance, E));
    return instance;
}
static const invivo_injection voices[] = {{.name = "voices", .how = INVIVO_INJECT_ALL, .reference = "Voice", .added = "add", .removed = "remove"}};

static void a_holder_hears_what_comes_and_goes(invivo_type *type) {
    begin();
    DEFINE("m.one", LAZY_SINGLETON, voice_type);
    DEFINE("m.mixer", SINGLETON, *type, .properties = voices, .property_count = 1);
    invivo_object object = resolve("m.mixer");
    mixer *self = at(object);
    CHECK_EQUAL(self->sets, 1);
    CHECK_EQUAL(self->count, 1);
    DEFINE("m.two", LAZY_SINGLETON, voice_type);
    CHECK_TEXT(trace, "+2 ");
    CHECK_TEXT(listener_last(heard)->changes, "m.two defined; m.mixer reinjected");
    DEFINE("m.one", LAZY_SINGLETON, voice_type); /* replaced */
    CHECK_TEXT(trace, "+2 -1 +3 ");
    CHECK_EQUAL(live, 2);
    removes("m.two");
    CHECK_TEXT(trace, "+2 -1 +3 -2 ");
    CHECK_EQUAL(live, 1);
    /* Two at once; the second is refused: the first is rolled back. */
    trace[0] = 0, fail_at = "+5";
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_define(changes, DEFINITION("m.three", LAZY_SINGLETON, voice_type), NULL, E));
    OK(invivo_changes_define(changes, DEFINITION("m.four", LAZY_SINGLETON, voice_type), NULL, E));
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    CHECK_TEXT(trace, "+4 +5 -4 ");
    CHECK_EQUAL(self->count, 1);
    CHECK_EQUAL(live, 1);
    CHECK_EQUAL(self->sets, 1); /* never as a whole list again */
    invivo_object again = resolve("m.mixer");
    CHECK(again.bits == object.bits);
    OK(invivo_object_release(again));
    OK(invivo_object_release(object));
    end();
}
/* Each resolve of a prototype creates a new object: the one in the list stays as long as its definition. */
static void an_unchanged_candidate_stays(void) {
    begin();
    DEFINE("a.one", PROTOTYPE, voice_type);
    DEFINE("a.two", PROTOTYPE, voice_type);
    invivo_object mixer = {0};
    DEFINE("a.mixer", LAZY_SINGLETON, shared_mixer, .properties = voices, .property_count = 1);
    OK(invivo_resolve_name(runtime, "a.mixer", &mixer, E));
    trace[0] = 0;
    DEFINE("a.three", PROTOTYPE, voice_type);
    CHECK_TEXT(trace, "+3 ");
    trace[0] = 0;
    DEFINE("a.two", PROTOTYPE, part_type);
    CHECK_TEXT(trace, "-2 ");
    OK(invivo_object_release(mixer));
    end();
}
static void a_reload_that_fails_leaves_a_list_in_its_order(invivo_type *type) {
    begin();
    DEFINE("m.one", LAZY_SINGLETON, voice_type);
    DEFINE("m.two", LAZY_SINGLETON, voice_type);
    DEFINE("m.three", LAZY_SINGLETON, voice_type);
    DEFINE("m.mixer", SINGLETON, *type, .properties = voices, .property_count = 1);
    invivo_object object = resolve("m.mixer");
    mixer *self = at(object);
    for (int round = 0; round < 3; round++) {
        trace[0] = 0, fail_at = round ? "+5" : "+4", serials = 3;
        invivo_changes changes;
        OK(invivo_changes_open(runtime, &changes, E));
        OK(invivo_changes_remove(changes, "m.two", E));
        OK(invivo_changes_define(changes, DEFINITION("m.four", LAZY_SINGLETON, voice_type), NULL, E));
        OK(invivo_changes_define(changes, DEFINITION("m.five", LAZY_SINGLETON, voice_type), NULL, E));
        expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
        CHECK_TEXT(trace, round ? "-2 +4 +5 -4 -3 +2 +3 " : "-2 +4 -3 +2 +3 ");
        CHECK_EQUAL(self->count, 3);
        for (int i = 0; i < 3; i++) CHECK_EQUAL(self->held[i], i + 1);
        CHECK_EQUAL(live, 3);
    }
    fail_at = NULL, trace[0] = 0;
    removes("m.two");
    CHECK_TEXT(trace, "-2 ");
    OK(invivo_object_release(object));
    end();
}
static void candidates_need_two_methods_and_a_list(void) {
    begin();
    invivo_injection wrong[] = {{.name = "voices", .how = INVIVO_INJECT_ALL, .reference = "Voice", .added = "add"}};
    expects_error(invivo_define(runtime, DEFINITION("m.mixer", SINGLETON, mixer_type, .properties = wrong, .property_count = 1), NULL, E), INVIVO_E_ARGUMENT,
                  "m.mixer: properties[0]: added and removed are given together, and only for a list of all objects of a type");
    wrong[0].removed = "remvoe";
    expects_error(invivo_define(runtime, DEFINITION("m.mixer", SINGLETON, mixer_type, .properties = wrong, .property_count = 1), NULL, E), INVIVO_E_METHOD,
                  "m.mixer: Mixer has no method 'remvoe'; did you mean 'remove'?");
    end();
}

static void a_tracked_prototype_follows(void) {
    begin();
    invivo_injection helped[] = {{.name = "helper", .how = INVIVO_INJECT_REFERENCE, .reference = "t.base"}};
    DEFINE("t.base", LAZY_SINGLETON, voice_type);
    DEFINE("t.tracked", PROTOTYPE, part_type, .flags = INVIVO_DEFINITION_TRACKED, .properties = helped, .property_count = 1);
    DEFINE("t.untracked", PROTOTYPE, part_type, .properties = helped, .property_count = 1);
    invivo_object followers[100], left = resolve("t.untracked");
    for (int i = 0; i < 100; i++) followers[i] = resolve("t.tracked");
    for (int i = 50; i < 100; i++) OK(invivo_object_release(followers[i]));
    uint64_t former = ((part *)at(left))->helper.bits;
    for (int round = 0; round < 3; round++) {
        DEFINE("t.base", LAZY_SINGLETON, voice_type);
        invivo_object base = resolve("t.base");
        for (int i = 0; i < 50; i++)
            if (!CHECK(((part *)at(followers[i]))->helper.bits == base.bits)) break;
        OK(invivo_object_release(base));
    }
    CHECK(((part *)at(left))->helper.bits == former); /* it keeps its object */
    CHECK_EQUAL(live, 50 + 1 + 2);
    /* Redefined ones follow too. */
    DEFINE("t.other", LAZY_SINGLETON, voice_type);
    helped[0].reference = "t.other";
    DEFINE("t.tracked", PROTOTYPE, part_type, .flags = INVIVO_DEFINITION_TRACKED, .properties = helped, .property_count = 1);
    invivo_object other = resolve("t.other");
    CHECK(((part *)at(followers[7]))->helper.bits == other.bits);
    OK(invivo_object_release(other));
    for (int i = 0; i < 50; i++) OK(invivo_object_release(followers[i]));
    OK(invivo_object_release(left));
    expects_error(invivo_define(runtime, DEFINITION("t.wrong", PROTOTYPE, voice_type, .flags = INVIVO_DEFINITION_TRACKED), NULL, E), INVIVO_E_ARGUMENT,
                  "t.wrong: objects of the shared type 'Voice' are never changed, so none can be tracked");
    expects_error(invivo_define(runtime, DEFINITION("t.wrong", LAZY_SINGLETON, part_type, .flags = INVIVO_DEFINITION_TRACKED), NULL, E), INVIVO_E_ARGUMENT, NULL);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST_WITH(a_holder_hears_what_comes_and_goes, &mixer_type);
    RUN_TEST_WITH(a_holder_hears_what_comes_and_goes, &shared_mixer);
    RUN_TEST(an_unchanged_candidate_stays);
    RUN_TEST_WITH(a_reload_that_fails_leaves_a_list_in_its_order, &mixer_type);
    RUN_TEST_WITH(a_reload_that_fails_leaves_a_list_in_its_order, &shared_mixer);
    RUN_TEST(candidates_need_two_methods_and_a_list);
    RUN_TEST(a_tracked_prototype_follows);
    return check_end();
}
