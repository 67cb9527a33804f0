/* The component of the pairs, in C: a struct described by offsets, and by functions for fields that are not plain. Its
 * members are those of Probe.swift and probe.py. */
#include <invivo/invivo.h>

#include <string.h>

typedef struct {
    double x;
    int32_t y;
} place;

typedef struct {
    bool flag;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float single;
    double number;
    char short_label[16];
    uint8_t block[4];
    place spot;
    uint8_t wave;
    invivo_value label, data, items, table, other, kind, function, anything;
} probe;

static invivo_runtime home;
static int64_t made, stopped, disposed;

static invivo_value counted(int64_t *count) { return invivo_int64(__atomic_load_n(count, __ATOMIC_RELAXED)); }

static const invivo_choice waves[] = {{"sine", 0}, {"saw", 1}, {"square", 7}};

/* ---- members with values of any size ------------------------------------------------------------------- */

static invivo_value *held(void *instance, void *offset) { return (invivo_value *)((char *)instance + (size_t)offset); }

static invivo_status get_held(void *instance, void *offset, invivo_value *out, invivo_error **error) {
    return invivo_value_copy(out, held(instance, offset), error);
}

static invivo_status set_held(void *instance, void *offset, const invivo_value *value, invivo_error **error) {
    invivo_value copy, *place = held(instance, offset), former;
    invivo_status status = invivo_value_copy(&copy, value, error);
    if (status) return status;
    former = *place;
    *place = copy;
    invivo_value_clear(&former); /* last: it may end an object, which runs other code */
    return INVIVO_OK;
}

static invivo_status get_counter(void *instance, void *counter, invivo_value *out, invivo_error **error) {
    (void)instance, (void)error;
    *out = counted(counter);
    return INVIVO_OK;
}

/* ---- life cycle ---------------------------------------------------------------------------------------- */

enum { LABEL, FLAG, I8, I16, I32, I64, U8, U16, U32, U64, SINGLE, NUMBER, DATA, ITEMS, TABLE, OTHER, KIND, FUNCTION, WAVE,
       ANYTHING, PARAMETERS };

static void probe_deinit(void *instance, void *user_data) {
    probe *self = instance;
    invivo_value *all[] = {&self->label, &self->data,  &self->items,    &self->table,
                           &self->other, &self->kind, &self->function, &self->anything};
    (void)user_data;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) invivo_value_clear(all[i]);
    __atomic_add_fetch(&disposed, 1, __ATOMIC_RELAXED);
}

static invivo_status keep(invivo_value *place, const invivo_value *value, invivo_error **error) {
    return value->kind == INVIVO_KIND_NULL ? INVIVO_OK : invivo_value_copy(place, value, error);
}

static invivo_status probe_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                void *user_data, invivo_error **error) {
    static const invivo_value none = {0};
    const invivo_value *given[PARAMETERS];
    probe *self = instance;
    invivo_status status;
    (void)build, (void)user_data;
    for (size_t i = 0; i < PARAMETERS; i++) given[i] = i < count ? &arguments[i] : &none;
    self->label = invivo_string(""), self->data = invivo_bytes(NULL, 0);
    self->items = invivo_list(NULL, 0), self->table = invivo_map(NULL, 0);
    self->flag = given[FLAG]->as.boolean;
    self->i8 = (int8_t)given[I8]->as.signed_integer;
    self->i16 = (int16_t)given[I16]->as.signed_integer;
    self->i32 = (int32_t)given[I32]->as.signed_integer;
    self->i64 = given[I64]->as.signed_integer;
    self->u8 = (uint8_t)given[U8]->as.unsigned_integer;
    self->u16 = (uint16_t)given[U16]->as.unsigned_integer;
    self->u32 = (uint32_t)given[U32]->as.unsigned_integer;
    self->u64 = given[U64]->as.unsigned_integer;
    self->single = given[SINGLE]->kind ? given[SINGLE]->as.single : 0;
    self->number = given[NUMBER]->kind ? given[NUMBER]->as.number : 0;
    if (given[WAVE]->kind == INVIVO_KIND_ENUMERATION && given[WAVE]->as.enumeration.name) {
        size_t i = 0;
        while (i < 3 && strcmp(waves[i].name, given[WAVE]->as.enumeration.name)) i++;
        if (i == 3) {
            if (error) *error = invivo_error_make(INVIVO_E_RANGE, "no such wave", "wave", NULL);
            return INVIVO_E_RANGE;
        }
        self->wave = (uint8_t)waves[i].number;
    }
    if ((status = keep(&self->label, given[LABEL], error)) || (status = keep(&self->data, given[DATA], error))
        || (status = keep(&self->items, given[ITEMS], error)) || (status = keep(&self->table, given[TABLE], error))
        || (status = keep(&self->other, given[OTHER], error)) || (status = keep(&self->kind, given[KIND], error))
        || (status = keep(&self->function, given[FUNCTION], error))
        || (status = keep(&self->anything, given[ANYTHING], error)))
        return status;
    __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    return INVIVO_OK;
}

static invivo_status probe_stop(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    __atomic_add_fetch(&stopped, 1, __ATOMIC_RELAXED);
    return INVIVO_OK;
}

/* ---- methods -------------------------------------------------------------------------------------------- */

#define BODY(name)                                                                                              \
    static invivo_status probe_##name(void *instance, void *user_data, const invivo_value *arguments, size_t count, \
                                      invivo_value *result, invivo_error **error)

BODY(echo) {
    (void)instance, (void)user_data, (void)count;
    return invivo_value_copy(result, &arguments[0], error);
}

BODY(apply) {
    (void)instance, (void)user_data;
    return invivo_callable_call(arguments[0].as.callable, arguments + 1, count - 1, result, error);
}

static invivo_status twice(void *user_data, const invivo_value *arguments, size_t count, invivo_value *result,
                           invivo_error **error) {
    invivo_value number;
    invivo_status status;
    (void)user_data;
    if (count != 1) return INVIVO_E_ARITY;
    status = invivo_value_convert(&number, &arguments[0], INVIVO_KIND_INT64, error);
    if (!status) *result = invivo_int64(2 * number.as.signed_integer);
    return status;
}

BODY(doubler) {
    invivo_callable_options options = {.struct_size = sizeof options, .name = "twice", .invoke = twice};
    invivo_callable function;
    invivo_value value;
    invivo_status status = invivo_callable_make(home, &options, &function, error);
    (void)instance, (void)user_data, (void)arguments, (void)count;
    if (status) return status;
    value = invivo_callable_value(function);
    status = invivo_value_copy(result, &value, error);
    invivo_callable_release(function);
    return status;
}

BODY(fail) {
    (void)instance, (void)user_data, (void)arguments, (void)count, (void)result;
    if (error)
        *error = invivo_error_make_at(INVIVO_E_RANGE, "too loud", "probe.gain", "probe.wav", 3, 7,
                                      invivo_error_make(INVIVO_E_BUSY, "the amplifier said so", NULL, NULL));
    return INVIVO_E_RANGE;
}

/* ---- the description ------------------------------------------------------------------------------------ */

#define HELD(NAME, KIND)                                                                                        \
    {.struct_size = sizeof(invivo_property), .name = #NAME, .kind = INVIVO_KIND_##KIND, .get = get_held,        \
     .set = set_held, .user_data = (void *)offsetof(probe, NAME)}
#define COUNTER(NAME)                                                                                           \
    {.struct_size = sizeof(invivo_property), .name = #NAME, .kind = INVIVO_KIND_INT64, .get = get_counter,      \
     .flags = INVIVO_PROPERTY_READ_ONLY, .user_data = &NAME}

static const invivo_property place_fields[] = {INVIVO_FIELD(place, x), INVIVO_FIELD(place, y)};

static const invivo_property properties[] = {
    HELD(label, STRING),      INVIVO_FIELD(probe, flag), INVIVO_FIELD(probe, i8),  INVIVO_FIELD(probe, i16),
    INVIVO_FIELD(probe, i32), INVIVO_FIELD(probe, i64),  INVIVO_FIELD(probe, u8),  INVIVO_FIELD(probe, u16),
    INVIVO_FIELD(probe, u32), INVIVO_FIELD(probe, u64),  INVIVO_FIELD(probe, single), INVIVO_FIELD(probe, number),
    HELD(data, BYTES),        HELD(items, LIST),         HELD(table, MAP),         HELD(other, ANY),
    HELD(kind, ANY),          HELD(function, ANY),       INVIVO_FIELD(probe, wave, .choices = waves, .choice_count = 3),
    HELD(anything, ANY),      COUNTER(made),             COUNTER(stopped),         COUNTER(disposed),
    INVIVO_FIELD(probe, short_label, .initial_text = "plain"),
    INVIVO_FIELD(probe, block),
    INVIVO_FIELD(probe, spot, .fields = place_fields, .field_count = 2),
};

#define WISH(NAME, KIND) {.name = NAME, .kind = INVIVO_KIND_##KIND, .flags = INVIVO_PARAMETER_OPTIONAL}
static const invivo_parameter making[PARAMETERS] = {
    WISH("label", STRING), WISH("flag", BOOL),   WISH("i8", INT8),     WISH("i16", INT16),         WISH("i32", INT32),
    WISH("i64", INT64),    WISH("u8", UINT8),    WISH("u16", UINT16),  WISH("u32", UINT32),        WISH("u64", UINT64),
    WISH("single", FLOAT), WISH("number", DOUBLE), WISH("data", BYTES), WISH("items", LIST),       WISH("table", MAP),
    WISH("other", OBJECT), WISH("kind", TYPE),   WISH("function", CALLABLE), WISH("wave", ENUMERATION), WISH("anything", ANY),
};

#define MUST(KIND) {{.name = "value", .kind = INVIVO_KIND_##KIND}}
static const invivo_parameter one[][1] = {MUST(STRING), MUST(BOOL),   MUST(INT8),  MUST(INT16),  MUST(INT32),    MUST(INT64),
                                          MUST(UINT8),  MUST(UINT16), MUST(UINT32), MUST(UINT64), MUST(FLOAT),   MUST(DOUBLE),
                                          MUST(BYTES),  MUST(LIST),   MUST(MAP),   MUST(OBJECT), MUST(TYPE),     MUST(CALLABLE),
                                          MUST(ENUMERATION)};
static const invivo_parameter any[] = {WISH("value", ANY)};
static const invivo_parameter applying[] = {{.name = "function", .kind = INVIVO_KIND_CALLABLE}, WISH("value", ANY)};

#define METHOD(NAME, FUNCTION, PARAMETERS, COUNT, RESULT)                                                       \
    {.struct_size = sizeof(invivo_method), .name = NAME, .parameters = PARAMETERS, .parameter_count = COUNT,    \
     .result = INVIVO_KIND_##RESULT, .call = FUNCTION}
#define ECHO(NAME, INDEX, RESULT) METHOD("echo_" NAME, probe_echo, one[INDEX], 1, RESULT)

static const invivo_method methods[] = {
    ECHO("label", LABEL, STRING), ECHO("flag", FLAG, BOOL),     ECHO("i8", I8, INT8),          ECHO("i16", I16, INT16),
    ECHO("i32", I32, INT32),      ECHO("i64", I64, INT64),      ECHO("u8", U8, UINT8),         ECHO("u16", U16, UINT16),
    ECHO("u32", U32, UINT32),     ECHO("u64", U64, UINT64),     ECHO("single", SINGLE, FLOAT), ECHO("number", NUMBER, DOUBLE),
    ECHO("data", DATA, BYTES),    ECHO("items", ITEMS, LIST),   ECHO("table", TABLE, MAP),     ECHO("other", OTHER, OBJECT),
    ECHO("kind", KIND, TYPE),     ECHO("function", FUNCTION, CALLABLE), ECHO("wave", WAVE, ENUMERATION),
    METHOD("echo", probe_echo, any, 1, ANY),
    METHOD("apply", probe_apply, applying, 2, ANY),
    METHOD("doubler", probe_doubler, NULL, 0, CALLABLE),
    METHOD("fail", probe_fail, NULL, 0, NULL),
};

INVIVO_MODULE(runtime, error) {
    invivo_type_options options = {
        .struct_size = sizeof options,
        .name = "CProbe",
        .size = sizeof(probe),
        .alignment = _Alignof(probe),
        .init = probe_init,
        .deinit = probe_deinit,
        .stop = probe_stop,
        .parameters = making,
        .parameter_count = PARAMETERS,
        .properties = properties,
        .property_count = sizeof properties / sizeof *properties,
        .methods = methods,
        .method_count = sizeof methods / sizeof *methods,
    };
    home = runtime;
    return invivo_type_register(runtime, &options, NULL, error);
}
