/* The usual traits of user interfaces over plain objects: corner radius, drop shadow, font, background color, and the constant of a
 * constraint. Each type exists twice: as layers, and as code. Whatever it changes is put back. docs/rules/traits.md. */
/* sanitize: yes */
#include "check.h"

static invivo_runtime runtime;
#include "tell.h"

typedef struct view {
    double radius, opacity;
    bool masks;
    struct { double width, height; } offset;
    char shadow[16], background[16], font[24], text_color[16];
    double size;
} view;
typedef struct constraint { double constant; } constraint;
static const invivo_property offset_fields[] = {
    {.struct_size = sizeof(invivo_property), .name = "width", .kind = INVIVO_KIND_DOUBLE, .offset = 0, .size = 8},
    {.struct_size = sizeof(invivo_property), .name = "height", .kind = INVIVO_KIND_DOUBLE, .offset = 8, .size = 8}};
static const invivo_property view_properties[] = {
    INVIVO_FIELD(view, radius), INVIVO_FIELD(view, opacity, .min = 0, .max = 1), INVIVO_FIELD(view, masks),
    {.struct_size = sizeof(invivo_property), .name = "offset", .kind = INVIVO_KIND_MAP, .offset = offsetof(view, offset), .size = 16,
     .fields = offset_fields, .field_count = 2},
    INVIVO_FIELD(view, shadow), INVIVO_FIELD(view, background), INVIVO_FIELD(view, font), INVIVO_FIELD(view, text_color), INVIVO_FIELD(view, size)};
static const invivo_property constraint_properties[] = {INVIVO_FIELD(constraint, constant)};

/* The base values are not those of an empty object, so a trait that only clears them is noticed. */
static const view base = {.radius = 5, .opacity = 0.25, .offset = {1, 2}, .shadow = "gray", .background = "white", .font = "Avenir",
                          .text_color = "black", .size = 12};
static view label;
static constraint gap;
static invivo_object objects[2];

/* ---- trait types ------------------------------------------------------------------------------------------- */

/* A trait sets properties. What it sets is the same for both forms. */
typedef invivo_status set_function(void *into, const char *property, const invivo_value *value, invivo_error **error);
static invivo_status set_layer(void *into, const char *property, const invivo_value *value, invivo_error **error) {
    return invivo_layers_set(into, property, value, error);
}
static invivo_status set_object(void *into, const char *property, const invivo_value *value, invivo_error **error) {
    return invivo_object_set(*(invivo_object *)into, property, value, error);
}
typedef invivo_status body(const invivo_value *values, set_function *set, void *into, invivo_error **error);
static invivo_status corner_radius(const invivo_value *values, set_function *set, void *into, invivo_error **error) {
    invivo_value masks = invivo_bool(true);
    invivo_status status = set(into, "radius", &values[0], error);
    return status ? status : set(into, "masks", &masks, error);
}
static invivo_status drop_shadow(const invivo_value *values, set_function *set, void *into, invivo_error **error) {
    invivo_value zero = invivo_double(0);
    const invivo_pair pairs[] = {{.name = "width", .length = 5, .value = values[1].kind == INVIVO_KIND_NULL ? zero : values[1]},
                                 {.name = "height", .length = 6, .value = values[2].kind == INVIVO_KIND_NULL ? zero : values[2]}};
    invivo_value offset = invivo_map(pairs, 2);
    invivo_status status = set(into, "shadow", &values[0], error);
    if (!status) status = set(into, "offset", &offset, error);
    return status ? status : set(into, "opacity", &values[3], error);
}
static invivo_status font(const invivo_value *values, set_function *set, void *into, invivo_error **error) {
    invivo_status status = set(into, "font", &values[0], error);
    if (!status) status = set(into, "size", &values[1], error);
    return status || values[2].kind == INVIVO_KIND_NULL ? status : set(into, "text_color", &values[2], error);
}
static invivo_status background(const invivo_value *values, set_function *set, void *into, invivo_error **error) {
    return set(into, "background", &values[0], error);
}
static invivo_status constant(const invivo_value *values, set_function *set, void *into, invivo_error **error) {
    return set(into, "constant", &values[0], error);
}
static invivo_status check_font(const void *fields, const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    (void)fields, (void)count, (void)user_data;
    if (values[0].as.string.length) return INVIVO_OK;
    *at = 0;
    *error = invivo_error_make(INVIVO_E_ARGUMENT, "a font has a name", NULL, NULL);
    return INVIVO_E_ARGUMENT;
}
static invivo_status declare(const void *fields, const invivo_value *values, size_t count, invivo_layers *layers, void *user_data, invivo_error **error) {
    (void)fields, (void)count;
    return (*(body **)user_data)(values, set_layer, layers, error);
}
/* Without a reversal: what it sets through the runtime is put back. */
static invivo_status apply(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                           invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)instance, (void)fields, (void)count, (void)reversal;
    return (*(body **)user_data)(values, set_object, &target, error);
}

#define FIELD(text, type, ...) {.struct_size = sizeof(invivo_property), .name = text, .kind = type, __VA_ARGS__}
static const invivo_property radius_fields[] = {FIELD("radius", INVIVO_KIND_DOUBLE, .flags = INVIVO_PROPERTY_REQUIRED)};
static const invivo_property shadow_fields[] = {FIELD("color", INVIVO_KIND_STRING, .initial_text = "black"), FIELD("width", INVIVO_KIND_DOUBLE),
                                                FIELD("height", INVIVO_KIND_DOUBLE), FIELD("opacity", INVIVO_KIND_DOUBLE, .initial = 0.5)};
static const invivo_property font_fields[] = {FIELD("name", INVIVO_KIND_STRING, .flags = INVIVO_PROPERTY_REQUIRED),
                                              FIELD("size", INVIVO_KIND_DOUBLE, .initial = 10), FIELD("color", INVIVO_KIND_STRING)};
static const invivo_property color_fields[] = {FIELD("color", INVIVO_KIND_STRING, .flags = INVIVO_PROPERTY_REQUIRED)};
static const invivo_property constant_fields[] = {FIELD("constant", INVIVO_KIND_DOUBLE, .flags = INVIVO_PROPERTY_REQUIRED)};
static const struct kind { const char *name; body *body; const invivo_property *fields; uint64_t count; bool is_of_views, checks; } kinds[] = {
    {"view.CornerRadius", corner_radius, radius_fields, 1, true, false}, {"view.DropShadow", drop_shadow, shadow_fields, 4, true, false},
    {"view.Font", font, font_fields, 3, true, true},                     {"view.Background", background, color_fields, 1, true, false},
    {"view.Constraint", constant, constant_fields, 1, false, false}};

static void begin(bool is_code) {
    static const char *const views[] = {"View"}, *const constraints[] = {"Constraint"};
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type types[2];
    invivo_type_options made = {.struct_size = sizeof made, .name = "View", .size = sizeof(view), .properties = view_properties,
                                .property_count = sizeof view_properties / sizeof *view_properties};
    OK(invivo_type_register(runtime, &made, &types[0], E));
    made.name = "Constraint", made.size = sizeof(constraint), made.properties = constraint_properties, made.property_count = 1;
    OK(invivo_type_register(runtime, &made, &types[1], E));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        invivo_trait trait = {.struct_size = sizeof trait, .name = kinds[i].name, .targets = kinds[i].is_of_views ? views : constraints, .target_count = 1,
                              .fields = kinds[i].fields, .field_count = kinds[i].count, .user_data = (void *)&kinds[i].body};
        if (kinds[i].checks) trait.check = check_font;
        if (is_code) trait.apply = apply;
        else trait.layers = declare;
        OK(invivo_trait_add(runtime, &trait, E));
    }
    label = base, gap = (constraint){8};
    static const char *const keys[] = {"article.label", "article.gap"};
    void *const instances[] = {&label, &gap};
    for (int i = 0; i < 2; i++) {
        invivo_target target;
        OK(invivo_target_declare(runtime, keys[i], types[i], E));
        OK(invivo_object_wrap(runtime, types[i], instances[i], &objects[i], E));
        OK(invivo_target_attach(objects[i], keys[i], &target, E));
    }
}
static void end(void) {
    for (int i = 0; i < 2; i++) OK(invivo_object_release(objects[i]));
    OK(invivo_runtime_close(runtime, E));
}
static bool is_base(void) {
    return label.radius == base.radius && label.opacity == base.opacity && label.masks == base.masks && label.offset.width == base.offset.width &&
           label.offset.height == base.offset.height && !strcmp(label.shadow, base.shadow) && !strcmp(label.background, base.background) &&
           !strcmp(label.font, base.font) && !strcmp(label.text_color, base.text_color) && label.size == base.size && gap.constant == 8;
}
#define IN_BOTH_FORMS for (int is_code = 0; is_code < 2; is_code++)
#define LABEL(traits) "traits: { article.label: [" traits "] }"

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void a_corner_radius_also_masks(void) {
    IN_BOTH_FORMS {
        begin(is_code);
        OK(tell("a", LABEL("view.CornerRadius: { radius: 88 }")));
        CHECK(label.radius == 88 && label.masks);
        OK(tell("a", LABEL("view.CornerRadius: { radius: 9 }")));
        CHECK(label.radius == 9 && label.masks);
        OK(tell("a", NULL));
        CHECK(is_base());
        CHECK(tell("a", LABEL("view.CornerRadius: {}")) == INVIVO_E_SPEC || *last_error);
        SAYS("the field 'radius' of the trait 'view.CornerRadius' is missing");
        CHECK(is_base());
        end();
    }
}
static void a_drop_shadow_has_a_color_an_offset_and_an_opacity(void) {
    IN_BOTH_FORMS {
        begin(is_code);
        OK(tell("a", LABEL("view.DropShadow: { color: red, width: 5, height: 6, opacity: 0.75 }")));
        CHECK_TEXT(label.shadow, "red");
        CHECK(label.offset.width == 5 && label.offset.height == 6 && label.opacity == 0.75);
        OK(tell("a", LABEL("view.DropShadow: {}")));
        CHECK_TEXT(label.shadow, "black");
        CHECK(label.offset.width == 0 && label.offset.height == 0 && label.opacity == 0.5);
        CHECK(tell("a", LABEL("view.DropShadow: { opacity: 7 }")) == INVIVO_E_RANGE);
        CHECK(label.opacity == 0.5);
        OK(tell("a", NULL));
        CHECK(is_base());
        end();
    }
}
static void a_font_has_a_name(void) {
    IN_BOTH_FORMS {
        begin(is_code);
        OK(tell("a", LABEL("view.Font: { name: Courier, size: 20, color: blue }")));
        CHECK_TEXT(label.font, "Courier");
        CHECK_TEXT(label.text_color, "blue");
        CHECK(label.size == 20);
        /* Without a color, the color stays. */
        OK(tell("a", LABEL("view.Font: { name: Menlo }")));
        CHECK_TEXT(label.font, "Menlo");
        CHECK_TEXT(label.text_color, "black");
        CHECK(label.size == 10);
        CHECK(tell("a", LABEL("view.Font: { name: '' }")) != INVIVO_OK);
        SAYS("a font has a name");
        CHECK_TEXT(label.font, "Menlo");
        OK(tell("a", NULL));
        CHECK(is_base());
        end();
    }
}
static void a_constraint_and_a_background_have_one_value(void) {
    IN_BOTH_FORMS {
        begin(is_code);
        OK(tell("a", "traits: { article.gap: [view.Constraint: { constant: 40 }], article.label: [view.Background: { color: green }] }"));
        CHECK(gap.constant == 40);
        CHECK_TEXT(label.background, "green");
        OK(tell("a", "traits: { article.gap: [view.Constraint: { constant: 4 }], article.label: [view.Background: { color: red }] }"));
        CHECK(gap.constant == 4);
        CHECK_TEXT(label.background, "red");
        CHECK(tell("a", LABEL("view.Constraint: { constant: 3 }")) != INVIVO_OK);
        SAYS("view.Constraint");
        CHECK(gap.constant == 4);
        OK(tell("a", NULL));
        CHECK(is_base());
        end();
    }
}
/* The lists are those of all keys; two traits of one property end at the base value. */
static void traits_are_inherited_and_stack(void) {
    IN_BOTH_FORMS {
        begin(is_code);
        OK(tell("a", "traits:\n  .round: [view.CornerRadius: { radius: 8 }]\n"
                     "  .card: [Inherit: { traits: .round }, view.DropShadow: { color: red }, view.CornerRadius: { radius: 10 }]\n"
                     "  article.label: [Inherit: { traits: .card }, view.Background: { color: green }]\n"));
        CHECK(label.radius == 10 && label.masks);
        CHECK_TEXT(label.shadow, "red");
        CHECK_TEXT(label.background, "green");
        CHECK(tell("a", "traits:\n  .round: [view.CornerRadius: { radius: 8 }]\n  article.label: [Inherit: { traits: [.round, .none] }]\n") != INVIVO_OK);
        SAYS(".none");
        CHECK(tell("a", "traits:\n  .a: [Inherit: { traits: .b }]\n  .b: [Inherit: { traits: .a }]\n  article.label: [Inherit: { traits: .a }]\n") != INVIVO_OK);
        SAYS(".b");
        CHECK(label.radius == 10);
        OK(tell("a", "traits:\n  .round: [view.CornerRadius: { radius: 3 }]\n  article.label: [Inherit: { traits: .round }]\n"));
        CHECK(label.radius == 3 && label.masks);
        CHECK_TEXT(label.shadow, "gray");
        OK(tell("a", NULL));
        CHECK(is_base());
        end();
    }
}

int main(void) {
    check_begin();
    RUN_TEST(a_corner_radius_also_masks);
    RUN_TEST(a_drop_shadow_has_a_color_an_offset_and_an_opacity);
    RUN_TEST(a_font_has_a_name);
    RUN_TEST(a_constraint_and_a_background_have_one_value);
    RUN_TEST(traits_are_inherited_and_stack);
    return check_end();
}
