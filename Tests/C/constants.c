/* Constants of all kinds are injected exactly into properties, parameters and arguments, or the definition is refused
 * with its source location and nothing is created. */
#include "check.h"

typedef struct inner { double depth; int64_t steps; } inner;
typedef struct all {
    bool flag;
    int8_t i8; int16_t i16; int32_t i32; int64_t i64;
    uint8_t u8; uint16_t u16; uint32_t u32; uint64_t u64;
    float single; double number;
    char text[8];
    uint8_t bytes[4];
    uint8_t wave;
    inner nested;
    invivo_value given; /* the value that the initializer, a method or a property function received */
} all;

static int made;
static invivo_status keep(all *self, const invivo_value *value, invivo_error **error) {
    invivo_value_clear(&self->given);
    return invivo_value_copy(&self->given, value, error);
}
static invivo_status all_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                              void *user_data, invivo_error **error) {
    (void)build, (void)user_data;
    made++;
    for (size_t i = 0; i < count; i++)
        if (arguments[i].kind != INVIVO_KIND_NULL) return keep(instance, &arguments[i], error);
    return INVIVO_OK;
}
static void all_deinit(void *instance, void *user_data) { (void)user_data, invivo_value_clear(&((all *)instance)->given); }
static invivo_status get_given(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)user_data;
    return invivo_value_copy(out, &((all *)instance)->given, error);
}
static invivo_status set_given(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)user_data;
    return keep(instance, value, error);
}
static invivo_status take(void *instance, void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                          invivo_error **error) {
    (void)user_data, (void)result;
    return count ? keep(instance, &arguments[0], error) : INVIVO_OK;
}

static const invivo_choice waves[] = {{"sine", 0}, {"saw", 200}};
static const invivo_property inner_fields[] = {INVIVO_FIELD(inner, depth), INVIVO_FIELD(inner, steps, .min = 0, .max = 9)};
#define GIVEN(its_name, its_kind) {.struct_size = sizeof(invivo_property), .name = its_name, .kind = its_kind, .get = get_given, .set = set_given}
static const invivo_property properties[] = {
    INVIVO_FIELD(all, flag), INVIVO_FIELD(all, i8), INVIVO_FIELD(all, i16), INVIVO_FIELD(all, i32), INVIVO_FIELD(all, i64),
    INVIVO_FIELD(all, u8), INVIVO_FIELD(all, u16), INVIVO_FIELD(all, u32), INVIVO_FIELD(all, u64), INVIVO_FIELD(all, single),
    INVIVO_FIELD(all, number), INVIVO_FIELD(all, text),
    {.struct_size = sizeof(invivo_property), .name = "bytes", .kind = INVIVO_KIND_BYTES, .offset = offsetof(all, bytes), .size = 4},
    {.struct_size = sizeof(invivo_property), .name = "wave", .kind = INVIVO_KIND_UINT8, .offset = offsetof(all, wave), .size = 1,
     .choices = waves, .choice_count = 2},
    {.struct_size = sizeof(invivo_property), .name = "nested", .kind = INVIVO_KIND_MAP, .offset = offsetof(all, nested),
     .size = sizeof(inner), .fields = inner_fields, .field_count = 2},
    GIVEN("any", INVIVO_KIND_ANY), GIVEN("list", INVIVO_KIND_LIST), GIVEN("map", INVIVO_KIND_MAP), GIVEN("type", INVIVO_KIND_TYPE),
    GIVEN("callable", INVIVO_KIND_CALLABLE),
};
/* Parameters of each kind, and methods with one. */
static invivo_parameter parameters[INVIVO_KIND_COUNT];
static invivo_method methods[INVIVO_KIND_COUNT];

static invivo_runtime runtime;
static invivo_type type;

static void begin(void) {
    for (uint32_t kind = 1; kind < INVIVO_KIND_COUNT; kind++) {
        parameters[kind] = (invivo_parameter){.name = invivo_kind_name(kind), .kind = kind, .flags = INVIVO_PARAMETER_OPTIONAL};
        methods[kind] = (invivo_method){.struct_size = sizeof(invivo_method), .name = parameters[kind].name,
                                        .parameters = &parameters[kind], .parameter_count = 1, .call = take};
    }
    const invivo_type_options options = {
        .struct_size = sizeof options, .name = "All", .concurrency = INVIVO_SHARED, .size = sizeof(all), .alignment = _Alignof(all),
        .init = all_init, .deinit = all_deinit, .properties = properties, .property_count = sizeof properties / sizeof *properties,
        .parameters = &parameters[1], .parameter_count = INVIVO_KIND_COUNT - 1, .methods = &methods[1], .method_count = INVIVO_KIND_COUNT - 1};
    const invivo_runtime_options runtime_options = without_history();
    OK(invivo_runtime_open(&runtime, &runtime_options, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    made = 0;
}
static void end(void) { OK(invivo_runtime_close_deferred(runtime, E)); }

static invivo_status define(const invivo_definition *said, invivo_error **error) {
    invivo_definition definition = *said;
    definition.struct_size = sizeof definition, definition.key = "a.all", definition.type = type;
    definition.scope = INVIVO_SCOPE_LAZY_SINGLETON, definition.file = "host.c", definition.line = 7;
    return invivo_define(runtime, &definition, NULL, error);
}
static invivo_status set(const char *property, invivo_value value, invivo_error **error) {
    const invivo_injection injection = {.name = property, .how = INVIVO_INJECT_VALUE, .value = value};
    return define(&(invivo_definition){.properties = &injection, .property_count = 1}, error);
}
/* The object of the current definition; its lease is released: the graph holds it. */
static all *get(void) {
    static all none;
    invivo_object object;
    void *instance = NULL;
    if (!OK(invivo_resolve_name(runtime, "a.all", &object, E))) return &none;
    OK(invivo_object_instance(object, type, &instance, E));
    OK(invivo_object_release(object));
    return instance;
}

#define GOES(property, given, expected) (OK(set(#property, given, E)), CHECK(get()->property == (expected)))
#define REFUSED(property, given, status, text) expects_error(set(property, given, E), status, "host.c:7: a.all: the property '" property "': " text)

static void numbers_go_in_exactly_up_to_their_limits(void) {
    begin();
    GOES(flag, invivo_bool(true), true);
    GOES(i8, invivo_int64(-128), -128), GOES(i8, invivo_uint64(127), 127), GOES(i8, invivo_double(-1), -1);
    GOES(i16, invivo_int64(-32768), -32768), GOES(i16, invivo_int64(32767), 32767);
    GOES(i32, invivo_int64(INT32_MIN), INT32_MIN), GOES(i32, invivo_int64(INT32_MAX), INT32_MAX);
    GOES(i64, invivo_int64(INT64_MIN), INT64_MIN), GOES(i64, invivo_uint64(INT64_MAX), INT64_MAX);
    GOES(u8, invivo_int64(255), 255), GOES(u16, invivo_int64(65535), 65535), GOES(u32, invivo_int64(UINT32_MAX), UINT32_MAX);
    GOES(u64, invivo_uint64(UINT64_MAX), UINT64_MAX), GOES(u64, invivo_int64(0), 0u);
    GOES(single, invivo_float(0.1f), 0.1f), GOES(single, invivo_double(0.1), 0.1f), GOES(single, invivo_int64(1 << 24), 16777216.f);
    GOES(number, invivo_double(0.1), 0.1), GOES(number, invivo_float(0.5f), 0.5), GOES(number, invivo_int64(1LL << 53), 9007199254740992.);
    end();
}

static void lossy_constants_are_refused_and_nothing_is_created(void) {
    begin();
    REFUSED("i8", invivo_int64(128), INVIVO_E_RANGE, "128 is outside -128...127 (int8)");
    REFUSED("i8", invivo_int64(-129), INVIVO_E_RANGE, "-129 is outside -128...127 (int8)");
    REFUSED("i16", invivo_int64(32768), INVIVO_E_RANGE, "32768 is outside -32768...32767 (int16)");
    REFUSED("i32", invivo_double(2147483648.), INVIVO_E_RANGE, "2147483648 is outside -2147483648...2147483647 (int32)");
    REFUSED("u8", invivo_int64(256), INVIVO_E_RANGE, "256 is outside 0...255 (uint8)");
    REFUSED("u16", invivo_int64(-1), INVIVO_E_RANGE, "-1 is outside 0...65535 (uint16)");
    REFUSED("u32", invivo_uint64(4294967296), INVIVO_E_RANGE, "4294967296 is outside 0...4294967295 (uint32)");
    CHECK_EQUAL(set("i64", invivo_uint64(1ull << 63), NULL), INVIVO_E_RANGE);
    CHECK_EQUAL(set("i64", invivo_double(0.5), NULL), INVIVO_E_RANGE);
    CHECK_EQUAL(set("u64", invivo_int64(-1), NULL), INVIVO_E_RANGE);
    CHECK_EQUAL(set("single", invivo_double(1e300), NULL), INVIVO_E_RANGE);
    CHECK_EQUAL(set("single", invivo_int64((1 << 24) + 1), NULL), INVIVO_E_RANGE);
    CHECK_EQUAL(set("number", invivo_int64((1LL << 53) + 1), NULL), INVIVO_E_RANGE);
    CHECK_EQUAL(set("text", invivo_string("too long"), NULL), INVIVO_E_RANGE); /* and a NUL */
    CHECK_EQUAL(set("bytes", invivo_bytes((const uint8_t *)"five!", 5), NULL), INVIVO_E_RANGE);
    /* No other kind is read as this one. */
    REFUSED("i8", invivo_string("5"), INVIVO_E_TYPE, "'5' (a string) is not a whole number");
    CHECK_EQUAL(set("flag", invivo_int64(1), NULL), INVIVO_E_TYPE);
    CHECK_EQUAL(set("i32", invivo_bool(true), NULL), INVIVO_E_TYPE);
    CHECK_EQUAL(set("number", invivo_null(), NULL), INVIVO_E_NULL);
    CHECK_EQUAL(set("text", invivo_int64(5), NULL), INVIVO_E_TYPE);
    CHECK_EQUAL(set("list", invivo_int64(5), NULL), INVIVO_E_TYPE);
    CHECK_EQUAL(set("type", invivo_string("All"), NULL), INVIVO_E_TYPE);
    CHECK_EQUAL(set("callable", invivo_type_value(type), NULL), INVIVO_E_TYPE);
    CHECK_EQUAL(made, 0);
    end();
}

static void texts_bytes_enumerations_and_structs_go_in_whole(void) {
    const invivo_value saw = {.kind = INVIVO_KIND_ENUMERATION, .as.enumeration = {.number = 0, .name = "saw"}};
    const invivo_value square = {.kind = INVIVO_KIND_ENUMERATION, .as.enumeration = {.number = 0, .name = "square"}};
    invivo_pair fields[] = {{.name = "depth", .length = 5, .value = invivo_double(0.25)}, {.name = "steps", .length = 5, .value = invivo_int64(9)}};
    begin();
    OK(set("text", invivo_string("seven b"), E));
    CHECK_TEXT(get()->text, "seven b");
    OK(set("bytes", invivo_bytes((const uint8_t *)"\0\xff\1\2", 4), E));
    CHECK(memcmp(get()->bytes, "\0\xff\1\2", 4) == 0);
    GOES(wave, saw, 200), GOES(wave, invivo_string("saw"), 200), GOES(wave, invivo_int64(200), 200);
    CHECK_EQUAL(set("wave", square, NULL), INVIVO_E_RANGE);
    CHECK_EQUAL(set("wave", invivo_int64(7), NULL), INVIVO_E_RANGE);
    OK(set("nested", invivo_map(fields, 2), E));
    CHECK(get()->nested.depth == 0.25 && get()->nested.steps == 9);
    fields[1].value = invivo_int64(10);
    CHECK_EQUAL(set("nested", invivo_map(fields, 2), NULL), INVIVO_E_RANGE);
    CHECK_EQUAL(get()->nested.steps, 9); /* a refused definition changed nothing */
    end();
}

static invivo_status answer(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result, invivo_error **error) {
    (void)user_data, (void)arguments, (void)count, (void)error;
    *result = invivo_int64(42);
    return INVIVO_OK;
}
static int destroyed;
static void count_destroyed(void *user_data) { (void)user_data, destroyed++; }

/* The same value in a property of any kind, a parameter of its kind, and a method argument: it arrives unchanged. */
static void every_kind_arrives_unchanged_at_every_target(void) {
    begin();
    invivo_callable callable;
    invivo_object object;
    const invivo_callable_options options = {.struct_size = sizeof options, .name = "answer", .invoke = answer, .destroy = count_destroyed};
    OK(invivo_callable_make(runtime, &options, &callable, E));
    OK(invivo_object_make(runtime, type, NULL, 0, &object, E));
    made = 0, destroyed = 0;
    const invivo_value items[] = {invivo_int64(1), invivo_string("two"), invivo_object_value(object)};
    const invivo_pair pairs[] = {{.name = "x", .length = 1, .value = invivo_list(items, 3)}};
#define SIGNED(of, number) {.kind = INVIVO_KIND_##of, .as.signed_integer = number}
#define UNSIGNED(of, number) {.kind = INVIVO_KIND_##of, .as.unsigned_integer = number}
    const invivo_value values[] = {
        invivo_bool(true), SIGNED(INT8, -8), SIGNED(INT16, -16), SIGNED(INT32, -32), SIGNED(INT64, INT64_MIN), UNSIGNED(UINT8, 8),
        UNSIGNED(UINT16, 16), UNSIGNED(UINT32, 32), UNSIGNED(UINT64, UINT64_MAX), invivo_float(0.1f), invivo_double(0.1),
        invivo_string_n("a\0b", 3), invivo_bytes((const uint8_t *)"\0\xff", 2), invivo_list(items, 3), invivo_map(pairs, 1),
        invivo_object_value(object), invivo_type_value(type), invivo_callable_value(callable),
        {.kind = INVIVO_KIND_ENUMERATION, .as.enumeration = {.number = 3, .name = "three"}},
    };
    enum { COUNT = sizeof values / sizeof *values };
    CHECK_EQUAL(COUNT, INVIVO_KIND_COUNT - 1); /* all but null */
    for (uint32_t i = 0; i < COUNT; i++) {
        const invivo_value *said = &values[i];
        const char *kind = invivo_kind_name(said->kind);
        const invivo_injection any = {.name = "any", .how = INVIVO_INJECT_VALUE, .value = *said};
        const invivo_injection parameter = {.name = kind, .how = INVIVO_INJECT_VALUE, .value = *said};
        const invivo_injection argument = {.how = INVIVO_INJECT_VALUE, .value = *said};
        const invivo_invocation call = {.method = kind, .arguments = &argument, .argument_count = 1};
        const invivo_definition ways[] = {{.properties = &any, .property_count = 1}, {.initializer = &parameter, .initializer_count = 1},
                                          {.methods = &call, .method_count = 1}};
        for (int way = 0; way < 3; way++) {
            if (!OK(define(&ways[way], E))) fprintf(stderr, "    %s, way %d\n", kind, way);
            const invivo_value *came = &get()->given;
            if (!CHECK_EQUAL(came->kind, said->kind)) fprintf(stderr, "    %s, way %d\n", kind, way);
            switch (said->kind) {
            case INVIVO_KIND_STRING: CHECK(came->as.string.length == 3 && memcmp(came->as.string.data, "a\0b", 3) == 0); break;
            case INVIVO_KIND_BYTES: CHECK(came->as.bytes.length == 2 && memcmp(came->as.bytes.data, "\0\xff", 2) == 0); break;
            case INVIVO_KIND_LIST: CHECK(came->as.list.count == 3 && came->as.list.items[2].as.object.bits == object.bits); break;
            case INVIVO_KIND_MAP: CHECK(came->as.map.count == 1 && came->as.map.pairs[0].value.as.list.count == 3); break;
            case INVIVO_KIND_ENUMERATION: CHECK_EQUAL(came->as.enumeration.number, 3); CHECK_TEXT(came->as.enumeration.name, "three"); break;
            case INVIVO_KIND_BOOL: CHECK(came->as.boolean); break;
            case INVIVO_KIND_FLOAT: CHECK(came->as.single == 0.1f); break;
            default: CHECK(came->as.unsigned_integer == said->as.unsigned_integer);
            }
        }
    }
    CHECK_EQUAL(made, 3 * COUNT);
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "a.all", E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_callable_release(callable));
    CHECK_EQUAL(destroyed, 1); /* definitions held it, and no longer do */
    OK(invivo_object_release(object));
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(numbers_go_in_exactly_up_to_their_limits);
    RUN_TEST(lossy_constants_are_refused_and_nothing_is_created);
    RUN_TEST(texts_bytes_enumerations_and_structs_go_in_whole);
    RUN_TEST(every_kind_arrives_unchanged_at_every_target);
    return check_end();
}
