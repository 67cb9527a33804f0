/* The driver of the pairs, in C: attaches to a runtime by its token and exercises a probe of any language. */
#include <invivo/invivo.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static invivo_runtime runtime;
static const char *component;
static int checks, failures;
static invivo_status outcome; /* of the checked call: it sets `error` before that is read */

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define CHECK(...) check((__VA_ARGS__), __LINE__, #__VA_ARGS__)

static bool check(bool holds, int line, const char *what) {
    checks++;
    if (!holds) {
        failures++;
        fprintf(stderr, "pair C->%s: driver.c:%d: does not hold: %s\n", component, line, what);
    }
    return holds;
}

/* Whether a call succeeded; prints its error if not. Releases the error. */
static bool good(invivo_status status, invivo_error *error, int line, const char *what) {
    if (status) fprintf(stderr, "  %s: %s\n", invivo_status_name(status), invivo_error_text(error));
    invivo_error_release(error);
    return check(status == INVIVO_OK, line, what);
}
#define GOOD(call) (error = NULL, outcome = (call), good(outcome, error, __LINE__, #call))

/* Whether a call failed with this code, as the status and in its error. */
static bool refused(invivo_status status, invivo_error *error, invivo_status wanted, int line, const char *what) {
    bool as_wanted = status == wanted && invivo_error_code(error) == wanted && *invivo_error_message(error);
    if (!as_wanted)
        fprintf(stderr, "  wanted %s, got %s: %s\n", invivo_status_name(wanted), invivo_status_name(status),
                invivo_error_text(error));
    invivo_error_release(error);
    return check(as_wanted, line, what);
}
#define REFUSED(code, call) (error = NULL, outcome = (call), refused(outcome, error, (code), __LINE__, #call))

/* ---- values ---------------------------------------------------------------------------------------------- */

static bool is_signed(invivo_kind kind) { return INVIVO_KIND_INT8 <= kind && kind <= INVIVO_KIND_INT64; }
static bool is_unsigned(invivo_kind kind) { return INVIVO_KIND_UINT8 <= kind && kind <= INVIVO_KIND_UINT64; }

static bool same_integer(const invivo_value *a, const invivo_value *b) {
    if (is_signed(a->kind) == is_signed(b->kind)) return a->as.unsigned_integer == b->as.unsigned_integer;
    return a->as.unsigned_integer == b->as.unsigned_integer && a->as.signed_integer >= 0;
}

static const invivo_value *named(const invivo_value *map, const invivo_pair *like) {
    for (uint64_t i = 0; i < map->as.map.count; i++) {
        const invivo_pair *pair = &map->as.map.pairs[i];
        if (pair->length == like->length && (!like->length || !memcmp(pair->name, like->name, like->length))) return &pair->value;
    }
    return NULL;
}

/* Equal content; an undeclared integer may have another width, a map another order. */
static bool same(const invivo_value *a, const invivo_value *b) {
    if ((is_signed(a->kind) || is_unsigned(a->kind)) && (is_signed(b->kind) || is_unsigned(b->kind))) return same_integer(a, b);
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case INVIVO_KIND_NULL: return true;
    case INVIVO_KIND_BOOL: return a->as.boolean == b->as.boolean;
    case INVIVO_KIND_FLOAT: return !memcmp(&a->as.single, &b->as.single, sizeof a->as.single);
    case INVIVO_KIND_DOUBLE: return !memcmp(&a->as.number, &b->as.number, sizeof a->as.number);
    case INVIVO_KIND_STRING:
    case INVIVO_KIND_BYTES:
        return a->as.bytes.length == b->as.bytes.length
               && (!a->as.bytes.length || !memcmp(a->as.bytes.data, b->as.bytes.data, a->as.bytes.length));
    case INVIVO_KIND_LIST:
        if (a->as.list.count != b->as.list.count) return false;
        for (uint64_t i = 0; i < a->as.list.count; i++)
            if (!same(&a->as.list.items[i], &b->as.list.items[i])) return false;
        return true;
    case INVIVO_KIND_MAP:
        if (a->as.map.count != b->as.map.count) return false;
        for (uint64_t i = 0; i < a->as.map.count; i++) {
            const invivo_value *other = named(b, &a->as.map.pairs[i]);
            if (!other || !same(&a->as.map.pairs[i].value, other)) return false;
        }
        return true;
    case INVIVO_KIND_ENUMERATION:
        return a->as.enumeration.number == b->as.enumeration.number && a->as.enumeration.name && b->as.enumeration.name
               && !strcmp(a->as.enumeration.name, b->as.enumeration.name);
    default: return a->as.object.bits == b->as.object.bits; /* object, type, callable: the identical one */
    }
}

static invivo_value of(invivo_kind kind, int64_t number) {
    invivo_value value = invivo_int64(number);
    value.kind = kind;
    return value;
}
static invivo_value wave(int64_t number, const char *name) {
    invivo_value value = invivo_null();
    value.kind = INVIVO_KIND_ENUMERATION, value.as.enumeration.number = number, value.as.enumeration.name = name;
    return value;
}

/* Through a property, a method of that kind, and a method and a property of any kind. */
static void round_trip(invivo_object probe, const char *member, const invivo_value *value) {
    char method[64];
    invivo_value back;
    invivo_error *error;
    snprintf(method, sizeof method, "echo_%s", member);
    if (GOOD(invivo_object_set(probe, member, value, &error)) && GOOD(invivo_object_get(probe, member, &back, &error))) {
        if (!CHECK(back.kind == value->kind && same(&back, value))) fprintf(stderr, "  property %s\n", member);
        invivo_value_clear(&back);
    }
    if (GOOD(invivo_object_call(probe, method, value, 1, &back, &error))) {
        if (!CHECK(back.kind == value->kind && same(&back, value))) fprintf(stderr, "  %s\n", method);
        invivo_value_clear(&back);
    }
    if (GOOD(invivo_object_call(probe, "echo", value, 1, &back, &error))) {
        if (!CHECK(same(&back, value))) fprintf(stderr, "  echo of %s\n", member);
        invivo_value_clear(&back);
    }
    if (GOOD(invivo_object_set(probe, "anything", value, &error)) && GOOD(invivo_object_get(probe, "anything", &back, &error))) {
        if (!CHECK(same(&back, value))) fprintf(stderr, "  anything as %s\n", member);
        invivo_value_clear(&back);
    }
}

/* Values that must be refused, as a property and as an argument. */
static void refuse(invivo_object probe, const char *member, invivo_value value, invivo_status code) {
    char method[64];
    invivo_value back;
    invivo_error *error;
    snprintf(method, sizeof method, "echo_%s", member);
    if (!REFUSED(code, invivo_object_set(probe, member, &value, &error))) fprintf(stderr, "  property %s\n", member);
    if (!REFUSED(code, invivo_object_call(probe, method, &value, 1, &back, &error))) fprintf(stderr, "  %s\n", method);
}

/* ---- callables of the driver --------------------------------------------------------------------------- */

static int destroyed;

static invivo_status plus_one(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                              invivo_error **error) {
    invivo_value number;
    invivo_status status;
    (void)user_data;
    if (count != 1) return INVIVO_E_ARITY;
    status = invivo_value_convert(&number, &arguments[0], INVIVO_KIND_INT64, error);
    if (!status) *result = invivo_int64(number.as.signed_integer + 1);
    return status;
}

static invivo_status failing(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                             invivo_error **error) {
    (void)user_data, (void)arguments, (void)count, (void)result;
    if (error)
        *error = invivo_error_make_at(INVIVO_E_TIMEOUT, "too late", "driver.clock", "driver.mid", 2, 5,
                                      invivo_error_make(INVIVO_E_BUSY, "the clock said so", NULL, NULL));
    return INVIVO_E_TIMEOUT;
}

static void destroy(void *user_data) { ++*(int *)user_data; }

static invivo_callable function(invivo_status (*invoke)(void *, const invivo_value *, size_t, invivo_value *, invivo_error **)) {
    invivo_callable_options options = {
        .struct_size = sizeof options, .name = "of driver.c", .invoke = invoke, .user_data = &destroyed, .destroy = destroy};
    invivo_callable made = {0};
    invivo_error *error;
    GOOD(invivo_callable_make(runtime, &options, &made, &error));
    return made;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static int64_t count_of(invivo_object probe, const char *name) {
    invivo_value value;
    int64_t number = -1;
    invivo_error *error;
    if (GOOD(invivo_object_get(probe, name, &value, &error))) {
        CHECK(value.kind == INVIVO_KIND_INT64);
        number = value.as.signed_integer;
        invivo_value_clear(&value);
    }
    return number;
}

static void integers(invivo_object probe) {
    static const struct { const char *member; invivo_kind kind; int64_t low, high; } widths[] = {
        {"i8", INVIVO_KIND_INT8, INT8_MIN, INT8_MAX},     {"i16", INVIVO_KIND_INT16, INT16_MIN, INT16_MAX},
        {"i32", INVIVO_KIND_INT32, INT32_MIN, INT32_MAX}, {"i64", INVIVO_KIND_INT64, INT64_MIN, INT64_MAX},
        {"u8", INVIVO_KIND_UINT8, 0, UINT8_MAX},          {"u16", INVIVO_KIND_UINT16, 0, UINT16_MAX},
        {"u32", INVIVO_KIND_UINT32, 0, UINT32_MAX},       {"u64", INVIVO_KIND_UINT64, 0, -1},
    };
    for (size_t i = 0; i < LENGTH(widths); i++) {
        const char *member = widths[i].member;
        invivo_value low = of(widths[i].kind, widths[i].low), high = of(widths[i].kind, widths[i].high);
        round_trip(probe, member, &low);
        round_trip(probe, member, &high);
        if (widths[i].kind == INVIVO_KIND_UINT64) CHECK(high.as.unsigned_integer == UINT64_MAX);
        refuse(probe, member, is_signed(widths[i].kind) ? invivo_uint64((uint64_t)INT64_MAX + 1) : invivo_int64(-1), INVIVO_E_RANGE);
        if (widths[i].high >= 0 && widths[i].high < INT64_MAX)
            refuse(probe, member, invivo_int64(widths[i].high + 1), INVIVO_E_RANGE);
        if (widths[i].low < 0 && widths[i].low > INT64_MIN)
            refuse(probe, member, invivo_int64(widths[i].low - 1), INVIVO_E_RANGE);
        refuse(probe, member, invivo_double(0.5), INVIVO_E_RANGE);
        refuse(probe, member, invivo_string("7"), INVIVO_E_TYPE);
    }
    refuse(probe, "u8", invivo_int64(300), INVIVO_E_RANGE);
}

static void plain_values(invivo_object probe) {
    static const float singles[] = {0.5f, -FLT_MAX, FLT_TRUE_MIN, -0.0f, INFINITY};
    static const double numbers[] = {0.1, DBL_MAX, -DBL_MIN, DBL_TRUE_MIN, -0.0, -INFINITY};
    static const uint8_t bytes[] = {0, 255, 1, 0};
    invivo_value empty = invivo_list(NULL, 0), values[] = {
        invivo_null(), invivo_bool(true), invivo_int64(INT64_MIN), invivo_uint64(UINT64_MAX), invivo_double(0.5),
        invivo_string("x"), invivo_bytes(bytes, 3), invivo_list(&empty, 1), invivo_map(NULL, 0)};
    invivo_pair inner = {"b", 1, invivo_list(values, LENGTH(values))};
    invivo_pair pairs[] = {{"a", 1, invivo_map(&inner, 1)}, {"", 0, invivo_int64(1)}, {"\xc3\xa4", 2, invivo_null()}};
    invivo_value of_text[] = {invivo_string(""), invivo_string("text \xf0\x9f\x8e\xb9"), invivo_string_n("a\0b", 3)};
    invivo_value of_bytes[] = {invivo_bytes(NULL, 0), invivo_bytes(bytes, sizeof bytes)};
    invivo_value of_lists[] = {invivo_list(NULL, 0), invivo_list(values, LENGTH(values))};
    invivo_value of_maps[] = {invivo_map(NULL, 0), invivo_map(pairs, LENGTH(pairs))};
    for (int flag = 0; flag < 2; flag++) {
        invivo_value value = invivo_bool(flag);
        round_trip(probe, "flag", &value);
    }
    for (size_t i = 0; i < LENGTH(singles); i++) {
        invivo_value value = invivo_float(singles[i]), back;
        invivo_error *error;
        if (GOOD(invivo_object_set(probe, "single", &value, &error)) && GOOD(invivo_object_get(probe, "single", &back, &error)))
            CHECK(same(&back, &value));
        if (GOOD(invivo_object_call(probe, "echo_single", &value, 1, &back, &error))) CHECK(same(&back, &value));
    }
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        invivo_value value = invivo_double(numbers[i]);
        round_trip(probe, "number", &value);
    }
    for (size_t i = 0; i < LENGTH(of_text); i++) round_trip(probe, "label", &of_text[i]);
    for (size_t i = 0; i < LENGTH(of_bytes); i++) round_trip(probe, "data", &of_bytes[i]);
    for (size_t i = 0; i < LENGTH(of_lists); i++) round_trip(probe, "items", &of_lists[i]);
    for (size_t i = 0; i < LENGTH(of_maps); i++) round_trip(probe, "table", &of_maps[i]);
    refuse(probe, "single", invivo_double(1e300), INVIVO_E_RANGE);
    refuse(probe, "number", invivo_uint64(UINT64_MAX), INVIVO_E_RANGE);
    refuse(probe, "flag", invivo_int64(1), INVIVO_E_TYPE);
    refuse(probe, "label", invivo_int64(1), INVIVO_E_TYPE);
    refuse(probe, "items", invivo_map(NULL, 0), INVIVO_E_TYPE);
}

static void enumerations(invivo_object probe) {
    static const struct { int64_t number; const char *name; } waves[] = {{0, "sine"}, {1, "saw"}, {7, "square"}};
    invivo_value back, by_number = wave(7, NULL), by_name = wave(99, "saw");
    invivo_error *error;
    for (size_t i = 0; i < LENGTH(waves); i++) {
        invivo_value value = wave(waves[i].number, waves[i].name);
        round_trip(probe, "wave", &value);
    }
    if (GOOD(invivo_object_set(probe, "wave", &by_number, &error)) && GOOD(invivo_object_get(probe, "wave", &back, &error))) {
        CHECK(back.as.enumeration.number == 7 && !strcmp(back.as.enumeration.name, "square"));
        invivo_value_clear(&back);
    }
    if (GOOD(invivo_object_set(probe, "wave", &by_name, &error)) && GOOD(invivo_object_get(probe, "wave", &back, &error))) {
        CHECK(back.as.enumeration.number == 1 && !strcmp(back.as.enumeration.name, "saw"));
        invivo_value_clear(&back);
    }
    by_name = wave(0, "noise"), by_number = wave(5, NULL);
    REFUSED(INVIVO_E_RANGE, invivo_object_set(probe, "wave", &by_name, &error));
    REFUSED(INVIVO_E_RANGE, invivo_object_set(probe, "wave", &by_number, &error));
}

static void handles(invivo_object probe, invivo_type type) {
    invivo_value self = invivo_object_value(probe), kind = invivo_type_value(type), null = invivo_null(), back;
    invivo_callable ours = function(plus_one);
    invivo_value arguments[] = {invivo_callable_value(ours), invivo_int64(41)};
    invivo_error *error;
    int before = destroyed;
    round_trip(probe, "other", &self);
    round_trip(probe, "kind", &kind);
    if (GOOD(invivo_object_call(probe, "apply", arguments, 2, &back, &error))) CHECK(same_integer(&back, &(invivo_value){.kind = INVIVO_KIND_INT64, .as.signed_integer = 42}));
    if (GOOD(invivo_object_set(probe, "function", arguments, &error))
        && GOOD(invivo_object_get(probe, "function", &back, &error))) {
        invivo_value result;
        CHECK(back.kind == INVIVO_KIND_CALLABLE);
        CHECK(invivo_callable_user_data(back.as.callable, plus_one) == &destroyed);
        if (GOOD(invivo_callable_call(back.as.callable, arguments + 1, 1, &result, &error))) CHECK(result.as.signed_integer == 42);
        invivo_value_clear(&back);
    }
    if (GOOD(invivo_object_call(probe, "echo_function", arguments, 1, &back, &error))) {
        CHECK(back.kind == INVIVO_KIND_CALLABLE && back.as.callable.bits == ours.bits);
        invivo_value_clear(&back);
    }
    if (GOOD(invivo_object_call(probe, "doubler", NULL, 0, &back, &error))) {
        invivo_value result, number = invivo_int64(21);
        CHECK(back.kind == INVIVO_KIND_CALLABLE);
        if (GOOD(invivo_callable_call(back.as.callable, &number, 1, &result, &error))) CHECK(result.as.signed_integer == 42);
        invivo_value_clear(&back);
    }
    /* Null removes them again: a probe in a cycle with itself is never disposed of. */
    GOOD(invivo_object_set(probe, "function", &null, &error));
    GOOD(invivo_object_set(probe, "other", &null, &error));
    GOOD(invivo_object_set(probe, "kind", &null, &error));
    GOOD(invivo_object_set(probe, "anything", &null, &error));
    CHECK(destroyed == before);
    CHECK(invivo_callable_release(ours) == INVIVO_OK);
    CHECK(destroyed == before + 1);
}

static void errors(invivo_object probe) {
    invivo_callable ours = function(failing);
    invivo_value arguments[] = {invivo_callable_value(ours), invivo_null(), invivo_null()}, back, number = invivo_int64(1);
    invivo_error *error = NULL;
    CHECK(invivo_object_call(probe, "fail", NULL, 0, &back, &error) == INVIVO_E_RANGE);
    CHECK(invivo_error_code(error) == INVIVO_E_RANGE);
    CHECK(!strcmp(invivo_error_message(error), "too loud"));
    CHECK(!strcmp(invivo_error_path(error), "probe.gain"));
    CHECK(!strcmp(invivo_error_file(error), "probe.wav"));
    CHECK(invivo_error_line(error) == 3 && invivo_error_column(error) == 7);
    CHECK(invivo_error_code(invivo_error_cause(error)) == INVIVO_E_BUSY);
    CHECK(!strcmp(invivo_error_message(invivo_error_cause(error)), "the amplifier said so"));
    CHECK(invivo_error_cause(invivo_error_cause(error)) == NULL);
    CHECK(back.kind == INVIVO_KIND_NULL);
    invivo_error_release(error);
    error = NULL; /* a callable of the driver, through the other language and back */
    CHECK(invivo_object_call(probe, "apply", arguments, 2, &back, &error) == INVIVO_E_TIMEOUT);
    CHECK(invivo_error_code(error) == INVIVO_E_TIMEOUT);
    CHECK(!strcmp(invivo_error_message(error), "too late"));
    CHECK(!strcmp(invivo_error_path(error), "driver.clock"));
    CHECK(!strcmp(invivo_error_file(error), "driver.mid"));
    CHECK(invivo_error_line(error) == 2 && invivo_error_column(error) == 5);
    CHECK(invivo_error_code(invivo_error_cause(error)) == INVIVO_E_BUSY);
    CHECK(!strcmp(invivo_error_message(invivo_error_cause(error)), "the clock said so"));
    invivo_error_release(error);
    CHECK(invivo_object_call(probe, "fail", NULL, 0, NULL, NULL) == INVIVO_E_RANGE);
    REFUSED(INVIVO_E_PROPERTY, invivo_object_get(probe, "nowhere", &back, &error));
    REFUSED(INVIVO_E_PROPERTY, invivo_object_set(probe, "nowhere", &number, &error));
    REFUSED(INVIVO_E_READ_ONLY, invivo_object_set(probe, "made", &number, &error));
    REFUSED(INVIVO_E_METHOD, invivo_object_call(probe, "nowhere", NULL, 0, &back, &error));
    REFUSED(INVIVO_E_ARITY, invivo_object_call(probe, "echo", arguments, 3, &back, &error));
    REFUSED(INVIVO_E_ARITY, invivo_object_call(probe, "echo_u8", NULL, 0, &back, &error));
    CHECK(invivo_callable_release(ours) == INVIVO_OK);
}

static const char *const members[] = {"label", "flag", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
                                      "single", "number", "data", "items", "table", "other", "kind", "function", "wave", "anything"};

static void constructor(invivo_object probe, invivo_type type) {
    static const uint8_t bytes[] = {0, 255};
    invivo_value item = invivo_uint64(UINT64_MAX), back;
    invivo_pair pair = {"a", 1, item};
    invivo_callable ours = function(plus_one);
    invivo_value arguments[] = {
        invivo_string("made"), invivo_bool(true), of(INVIVO_KIND_INT8, INT8_MIN), of(INVIVO_KIND_INT16, INT16_MIN),
        of(INVIVO_KIND_INT32, INT32_MIN), invivo_int64(INT64_MIN), of(INVIVO_KIND_UINT8, UINT8_MAX),
        of(INVIVO_KIND_UINT16, UINT16_MAX), of(INVIVO_KIND_UINT32, UINT32_MAX), invivo_uint64(UINT64_MAX), invivo_float(0.25f),
        invivo_double(0.1), invivo_bytes(bytes, 2), invivo_list(&item, 1), invivo_map(&pair, 1), invivo_object_value(probe),
        invivo_type_value(type), invivo_callable_value(ours), wave(7, "square"), item};
    invivo_object made;
    invivo_error *error;
    if (GOOD(invivo_object_make(runtime, type, arguments, LENGTH(arguments), &made, &error))) {
        for (size_t i = 0; i < LENGTH(arguments); i++) {
            if (!GOOD(invivo_object_get(made, members[i], &back, &error))) continue;
            if (i == 17)
                CHECK(back.kind == INVIVO_KIND_CALLABLE && invivo_callable_user_data(back.as.callable, plus_one) == &destroyed);
            else if (!CHECK(same(&back, &arguments[i])))
                fprintf(stderr, "  argument %s\n", members[i]);
            invivo_value_clear(&back);
        }
        CHECK(invivo_object_release(made) == INVIVO_OK);
    }
    arguments[6] = invivo_int64(300);
    REFUSED(INVIVO_E_RANGE, invivo_object_make(runtime, type, arguments, LENGTH(arguments), &made, &error));
    arguments[6] = invivo_string("7");
    REFUSED(INVIVO_E_TYPE, invivo_object_make(runtime, type, arguments, LENGTH(arguments), &made, &error));
    invivo_callable_release(ours);
}

static void disposal(invivo_object witness, invivo_type type) {
    int64_t made = count_of(witness, "made"), stopped = count_of(witness, "stopped"), disposed = count_of(witness, "disposed");
    invivo_object probes[8];
    invivo_error *error;
    for (size_t i = 0; i < LENGTH(probes); i++) GOOD(invivo_object_make(runtime, type, NULL, 0, &probes[i], &error));
    invivo_value last = invivo_object_value(probes[7]);
    GOOD(invivo_object_set(probes[0], "other", &last, &error)); /* the first holds the last */
    CHECK(invivo_object_retain(probes[1]) == INVIVO_OK);
    for (size_t i = LENGTH(probes); i-- > 0;) CHECK(invivo_object_release(probes[i]) == INVIVO_OK);
    CHECK(count_of(witness, "made") == made + 8);
    CHECK(count_of(witness, "disposed") == disposed + 7);
    CHECK(invivo_object_release(probes[1]) == INVIVO_OK);
    CHECK(invivo_object_release(probes[1]) == INVIVO_E_HANDLE);
    CHECK(count_of(witness, "disposed") == disposed + 8);
    CHECK(count_of(witness, "stopped") == stopped + 8);
}

/* A nested plain struct and fields of fixed size: only C has them. */
static void plain_struct(invivo_object probe) {
    static const uint8_t block[] = {1, 0, 255, 4};
    invivo_pair pairs[] = {{"x", 1, invivo_double(0.1)}, {"y", 1, of(INVIVO_KIND_INT32, INT32_MIN)}};
    invivo_value spot = invivo_map(pairs, 2), bytes = invivo_bytes(block, 4), text = invivo_string("short"), back;
    invivo_error *error;
    if (GOOD(invivo_object_set(probe, "spot", &spot, &error)) && GOOD(invivo_object_get(probe, "spot", &back, &error))) {
        CHECK(same(&back, &spot));
        invivo_value_clear(&back);
    }
    pairs[1].value = invivo_int64((int64_t)INT32_MAX + 1);
    REFUSED(INVIVO_E_RANGE, invivo_object_set(probe, "spot", &spot, &error));
    if (GOOD(invivo_object_set(probe, "block", &bytes, &error)) && GOOD(invivo_object_get(probe, "block", &back, &error))) {
        CHECK(same(&back, &bytes));
        invivo_value_clear(&back);
    }
    if (GOOD(invivo_object_set(probe, "short_label", &text, &error)) && GOOD(invivo_object_get(probe, "short_label", &back, &error))) {
        CHECK(same(&back, &text));
        invivo_value_clear(&back);
    }
    text = invivo_string("longer than its sixteen bytes");
    REFUSED(INVIVO_E_RANGE, invivo_object_set(probe, "short_label", &text, &error));
}

/* Returns the number of successful checks, or minus the number of failed ones. */
__attribute__((visibility("default"))) int pairs_drive_c(const invivo_token *token, const char *name) {
    invivo_error *error = NULL;
    invivo_type type;
    invivo_object probe;
    component = name, checks = failures = 0;
    if (!GOOD(invivo_attach(token, &runtime, &error)) || !GOOD(invivo_type_find(runtime, name, &type, &error))
        || !GOOD(invivo_object_make(runtime, type, NULL, 0, &probe, &error)))
        return -1;
    CHECK(!strcmp(invivo_type_name(type), name));
    integers(probe);
    plain_values(probe);
    enumerations(probe);
    handles(probe, type);
    errors(probe);
    constructor(probe, type);
    disposal(probe, type);
    if (!strcmp(name, "CProbe")) plain_struct(probe);
    CHECK(invivo_object_release(probe) == INVIVO_OK);
    return failures ? -failures : checks;
}
