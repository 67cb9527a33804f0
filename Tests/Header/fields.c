/* The results of INVIVO_FIELD and INVIVO_BLOCK for a struct, one line each: equal in C and C++. */
#include <invivo/invivo.h>
#include <stdio.h>

enum wave { SINE, SAW };
enum sign { MINUS = -1, PLUS = 1 };
typedef struct { double x, y; } point;
typedef struct { uint8_t r, g, b, a; } color;
typedef struct {
    bool flag;
    signed char c8;
    short s16;
    int i32;
    long l;
    long long ll;
    int64_t i64;
    unsigned char u8;
    unsigned short u16;
    unsigned u32;
    unsigned long ul;
    unsigned long long ull;
    uint64_t u64;
    size_t size;
    float single;
    double number;
    const double constant;
    volatile int32_t volatile_number;
    char text[8];
    const char constant_text[8];
    uint8_t bytes[4];
    enum wave wave;
    enum sign sign;
    point where;
    color tint;
} all;

static const invivo_choice choices[] = {{"sine", SINE}, {"saw", SAW}};
static const invivo_property point_fields[] = {INVIVO_FIELD(point, x), INVIVO_FIELD(point, y, .min = 0, .max = 1)};
static const invivo_property properties[] = {
    INVIVO_FIELD(all, flag, .initial = 1),
    INVIVO_FIELD(all, c8),
    INVIVO_FIELD(all, s16),
    INVIVO_FIELD(all, i32, .initial = 5, .min = 1, .max = 9, .step = 2, .unit = "Hz", .text = "a number"),
    INVIVO_FIELD(all, l),
    INVIVO_FIELD(all, ll),
    INVIVO_FIELD(all, i64),
    INVIVO_FIELD(all, u8),
    INVIVO_FIELD(all, u16),
    INVIVO_FIELD(all, u32),
    INVIVO_FIELD(all, ul),
    INVIVO_FIELD(all, ull),
    INVIVO_FIELD(all, u64),
    INVIVO_FIELD(all, size),
    INVIVO_FIELD(all, single),
    INVIVO_FIELD(all, number),
    INVIVO_FIELD(all, constant),
    INVIVO_FIELD(all, volatile_number),
    INVIVO_FIELD(all, text, .initial_text = "lead"),
    INVIVO_FIELD(all, constant_text),
    INVIVO_FIELD(all, bytes),
    INVIVO_FIELD(all, wave, .initial_text = "saw", .choices = choices, .choice_count = 2),
    INVIVO_FIELD(all, sign),
    INVIVO_BLOCK_FIELD(all, where, .fields = point_fields, .field_count = 2),
    INVIVO_FLAGGED_FIELD(all, INVIVO_PROPERTY_RESTART, tint),
};

static void tell_block(const invivo_block_options *block) {
    printf("%s %u %u", block->type_name, (unsigned)block->size, (unsigned)block->property_count);
    /* C++ uses the default member initializers, C has none: it begins with zeros. */
    for (size_t i = 0; i < block->size; i++) printf(" %02x", block->initial ? ((const unsigned char *)block->initial)[i] : 0);
    printf("\n");
}

int main(void) {
    static const point start = {1, 2};
    for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
        const invivo_property *one = &properties[i];
        printf("%s kind %u flags %u at %u size %u: %g in %g...%g step %g %s %s %s, %u choices, %u fields\n", one->name,
               (unsigned)one->kind, (unsigned)one->flags, (unsigned)one->offset, (unsigned)one->size, one->initial, one->min,
               one->max, one->step, one->initial_text ? one->initial_text : "-", one->unit ? one->unit : "-",
               one->text ? one->text : "-", (unsigned)one->choice_count, (unsigned)one->field_count);
    }
    tell_block(INVIVO_BLOCK(point, point_fields));
    tell_block(INVIVO_BLOCK_FROM(point, point_fields, &start));
    return 0;
}
