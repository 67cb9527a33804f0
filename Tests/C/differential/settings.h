/* settings.h: bindings of settings, one of a struct and one of a string that the host creates. */
#ifndef INVIVO_TESTS_DIFFERENTIAL_SETTINGS_H
#define INVIVO_TESTS_DIFFERENTIAL_SETTINGS_H

#include "world.h"

/* The versions of trait types and of bindings: what they do depends on it. */
enum { VERSIONS = 3 };
static const int versions[VERSIONS + 1] = {0, 1, 2, 3};

typedef struct section_fields { int64_t x, y; double more; } section_fields;
static _Atomic int bindings_alive, section_texts_alive;

static void forget_binding(void *user_data) {
    (void)user_data;
    bindings_alive--;
}
/* Version 3 refuses y below x. */
static invivo_status check_section(const void *value, const invivo_value *values, size_t count, size_t *at, void *user_data, invivo_error **error) {
    const section_fields *self = value;
    (void)values, (void)count;
    if (falls()) return fail("a check of settings fails on purpose", error);
    if (*(const int *)user_data < 3 || self->x <= self->y) return INVIVO_OK;
    *at = 1;
    return fail("y is below x", error);
}
static void write_section(char *into, size_t *used, size_t room, const invivo_value *value) {
    if (*used + 64 > room) return;
    if (value->kind == INVIVO_KIND_MAP) {
        *used += (size_t)snprintf(into + *used, room - *used, "{");
        for (uint64_t shown = 0, last = UINT64_MAX; shown < value->as.map.count; shown++) {
            uint64_t next = UINT64_MAX;
            for (uint64_t i = 0; i < value->as.map.count; i++) {
                const char *name = value->as.map.pairs[i].name;
                if (last != UINT64_MAX && strcmp(name, value->as.map.pairs[last].name) <= 0) continue;
                if (next == UINT64_MAX || strcmp(name, value->as.map.pairs[next].name) < 0) next = i;
            }
            last = next;
            *used += (size_t)snprintf(into + *used, room - *used, " %s: ", value->as.map.pairs[last].name);
            write_section(into, used, room, &value->as.map.pairs[last].value);
        }
        *used += (size_t)snprintf(into + *used, room - *used, "}");
    } else if (value->kind == INVIVO_KIND_LIST) {
        for (uint64_t i = 0; i < value->as.list.count; i++) *used += (size_t)snprintf(into + *used, room - *used, " -"), write_section(into, used, room, &value->as.list.items[i]);
    } else if (value->kind == INVIVO_KIND_INT64) {
        *used += (size_t)snprintf(into + *used, room - *used, "%lld", (long long)value->as.signed_integer);
    } else {
        *used += (size_t)snprintf(into + *used, room - *used, "kind %d", (int)value->kind);
    }
}
/* The section as a string, after the version. Version 3 refuses a section with mode 2. */
static invivo_status create_text(const invivo_section *section, void **out, void *user_data, invivo_error **error) {
    enum { ROOM = 1024 };
    if (falls()) return fail("the creation of settings fails on purpose", error);
    for (uint64_t i = 0; i < section->value->as.map.count && *(const int *)user_data == 3; i++) {
        const invivo_pair *pair = &section->value->as.map.pairs[i];
        if (!strcmp(pair->name, "mode") && pair->value.kind == INVIVO_KIND_INT64 && pair->value.as.signed_integer == 2) {
            *error = invivo_error_make(INVIVO_E_RANGE, "mode 2 is refused", "mode", NULL);
            return INVIVO_E_RANGE;
        }
    }
    char *text = malloc(ROOM);
    size_t used = (size_t)snprintf(text, ROOM, "version %d of ", *(const int *)user_data);
    write_section(text, &used, ROOM, section->value);
    section_texts_alive++;
    *out = text;
    return INVIVO_OK;
}
static void release_text(void *value, void *user_data) {
    (void)user_data;
    free(value);
    section_texts_alive--;
}
/* Of another version, the fields have other defaults and ranges. */
static void add_binding(invivo_changes changes, int number, const binding *binding) {
    const invivo_property fields[] = {INVIVO_FIELD(section_fields, x, .initial = binding->version), INVIVO_FIELD(section_fields, y, .initial = 4, .min = 0, .max = 3 + binding->version),
                                      INVIVO_FIELD(section_fields, more, .initial = 0.5)};
    invivo_settings settings = {.struct_size = sizeof settings, .name = binding_names[number], .path = sections[binding->section],
                                .user_data = (void *)(uintptr_t)&versions[binding->version], .destroy = forget_binding};
    if (number == 0) settings.fields = fields, settings.field_count = 3, settings.size = sizeof(section_fields), settings.check = check_section;
    else settings.create = create_text, settings.release = release_text;
    if (MUST(invivo_changes_bind_settings(changes, &settings, E))) bindings_alive++;
}

/* The value of each binding, as a view shows it. */
static void print_settings(const twin *twin, char *into, size_t room) {
    size_t used = 0;
    invivo_view view = invivo_view_begin(twin->runtime);
    into[0] = 0;
    for (int i = 0; i < BINDINGS; i++) {
        invivo_config id = {0};
        const void *value = invivo_settings_id(twin->runtime, binding_names[i], &id, NULL) ? NULL : invivo_view_settings(view, id);
        const section_fields *read = value;
        used += (size_t)snprintf(into + used, room - used, "%s: ", binding_names[i]);
        if (!value) used += (size_t)snprintf(into + used, room - used, "none\n");
        else if (i == 0) used += (size_t)snprintf(into + used, room - used, "x %lld y %lld more %g\n", (long long)read->x, (long long)read->y, read->more);
        else used += (size_t)snprintf(into + used, room - used, "%s\n", (const char *)value);
    }
    invivo_view_end(view);
}

#endif
