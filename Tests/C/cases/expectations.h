/* expectations.h: statements with expectations. */
#ifndef INVIVO_TESTS_CASES_EXPECTATIONS_H
#define INVIVO_TESTS_CASES_EXPECTATIONS_H

#include "life.h"

static void compare_texts(texts *found, const part *words, size_t count) {
    char expected[4096] = "", there[4096] = "";
    for (size_t i = 0; i < count; i++) {
        strncat(strncat(expected, event_of(&words[i]), sizeof expected - strlen(expected) - 2), " ", 2);
    }
    for (size_t i = 0; i < found->count; i++) strncat(strncat(there, found->items[i], sizeof there - strlen(there) - 2), " ", 2);
    if (strcmp(expected, there)) WRONG("what is expected\n    %s\nwhat came\n    %s", expected, there);
    texts_clear(found);
}
STATEMENT(log) {
    UNUSED;
    pthread_mutex_lock(&world_lock);
    compare_texts(&heard, words + 1, count - 1);
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}
STATEMENT(log_in_any_order) { /* both sides sorted */
    UNUSED;
    part sorted[64];
    for (size_t i = 1; i < count && i <= 64; i++) {
        size_t place = i - 1;
        char text[128];
        snprintf(text, sizeof text, "%s", event_of(&words[i]));
        for (; place > 0 && strcmp(event_of(&sorted[place - 1]), text) > 0; place--) sorted[place] = sorted[place - 1];
        sorted[place] = words[i];
    }
    pthread_mutex_lock(&world_lock);
    texts_sort(&heard);
    compare_texts(&heard, sorted, count - 1);
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}
STATEMENT(disposed) {
    UNUSED;
    pthread_mutex_lock(&world_lock);
    compare_texts(&disposed, words + 1, count - 1);
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}
STATEMENT(report) { /* pairs of a key and its change */
    UNUSED;
    texts expected = {.count = 0};
    for (size_t i = 1; i + 1 < count; i += 2) {
        char text[256];
        snprintf(text, sizeof text, "%s %s", words[i].text, words[i + 1].text);
        texts_add(&expected, text);
    }
    texts_sort(&expected);
    pthread_mutex_lock(&world_lock);
    bool same = expected.count == reported.count;
    for (size_t i = 0; same && i < expected.count; i++) same = !strcmp(expected.items[i], reported.items[i]);
    if (!same) {
        WRONG("the report says something else:");
        for (size_t i = 0; i < reported.count; i++) fprintf(stderr, "    %s\n", reported.items[i]);
    }
    pthread_mutex_unlock(&world_lock);
    texts_clear(&expected);
    return INVIVO_OK;
}
STATEMENT(warns) { /* texts that the warnings contain, one each */
    UNUSED;
    pthread_mutex_lock(&world_lock);
    bool same = warned.count == count - 1;
    for (size_t i = 0; same && i < warned.count; i++) same = strstr(warned.items[i], words[i + 1].text) != NULL;
    if (!same) {
        WRONG("the warnings are others:");
        for (size_t i = 0; i < warned.count; i++) fprintf(stderr, "    %s\n", warned.items[i]);
    }
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}
STATEMENT(alive) {
    UNUSED;
    int alive = 0;
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (count < 3 || !strcmp(words[2].text, kinds[i].name)) alive += __atomic_load_n(&kinds[i].alive, __ATOMIC_SEQ_CST);
    if (!isdigit((unsigned char)words[1].text[0])) WRONG("'%s' is no number", words[1].text);
    if (alive != atoi(words[1].text)) WRONG("%d are alive", alive);
    return INVIVO_OK;
}
static void expect_identity(const part *words, size_t count, bool same) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            invivo_value one = value_at(words[i].text), other = value_at(words[j].text);
            if (one.kind != INVIVO_KIND_OBJECT || other.kind != INVIVO_KIND_OBJECT)
                WRONG("%s and %s are a %s and a %s, not objects", words[i].text, words[j].text, invivo_kind_name(one.kind), invivo_kind_name(other.kind));
            else if ((one.as.object.bits == other.as.object.bits) != same)
                WRONG("%s and %s are %s", words[i].text, words[j].text, same ? "different objects" : "the same object");
            invivo_value_clear(&one);
            invivo_value_clear(&other);
        }
    }
}
STATEMENT(same) {
    UNUSED;
    expect_identity(words + 1, count - 1, true);
    return INVIVO_OK;
}
STATEMENT(different) {
    UNUSED;
    expect_identity(words + 1, count - 1, false);
    return INVIVO_OK;
}
STATEMENT(is) {
    UNUSED;
    char found_said[256], wanted_said[256];
    invivo_value found = value_at(words[1].text), wanted = value_of(&words[2]);
    if (!values_equal(&found, &wanted))
        WRONG("%s is %s, not %s", words[1].text, value_said(&found, found_said, sizeof found_said), value_said(&wanted, wanted_said, sizeof wanted_said));
    invivo_value_clear(&found);
    invivo_value_clear(&wanted);
    return INVIVO_OK;
}
/* The items of a list, or the value itself. */
static uint64_t items_of(const invivo_value *value, const invivo_value **items) {
    *items = value->kind == INVIVO_KIND_LIST ? value->as.list.items : value;
    return value->kind == INVIVO_KIND_LIST ? value->as.list.count : 1;
}
STATEMENT(types) {
    UNUSED;
    const invivo_value *items;
    invivo_value value = value_at(words[1].text);
    texts found = {.count = 0};
    uint64_t length = items_of(&value, &items);
    for (uint64_t i = 0; i < length; i++) {
        invivo_type type = {0};
        if (items[i].kind == INVIVO_KIND_OBJECT) invivo_object_type(items[i].as.object, &type, NULL);
        texts_add(&found, type.bits ? invivo_type_name(type) : invivo_kind_name(items[i].kind));
    }
    compare_texts(&found, words + 2, count - 2);
    invivo_value_clear(&value);
    return INVIVO_OK;
}
STATEMENT(distinct) {
    UNUSED;
    const invivo_value *items;
    invivo_value value = value_at(words[1].text);
    uint64_t length = items_of(&value, &items), different = 0;
    for (uint64_t i = 0; i < length; i++) {
        uint64_t before = 0;
        while (before < i && items[before].as.object.bits != items[i].as.object.bits) before++;
        different += before == i;
    }
    if (different != strtoull(words[2].text, NULL, 10)) WRONG("%llu are distinct", (unsigned long long)different);
    invivo_value_clear(&value);
    return INVIVO_OK;
}
STATEMENT(size) {
    UNUSED;
    invivo_value value = value_at(words[1].text);
    uint64_t length = value.kind == INVIVO_KIND_LIST ? value.as.list.count : value.kind == INVIVO_KIND_MAP ? value.as.map.count : 1;
    if (length != strtoull(words[2].text, NULL, 10)) WRONG("%s has %llu items", words[1].text, (unsigned long long)length);
    invivo_value_clear(&value);
    return INVIVO_OK;
}
STATEMENT(state) { /* of a key: its state, and its missing dependencies */
    UNUSED;
    invivo_value states;
    char there[1024] = "", wanted[1024] = "";
    invivo_status status = invivo_runtime_states(runtime, &states, error);
    if (status) return status;
    for (uint64_t i = 0; i < states.as.list.count; i++) {
        const invivo_value *one = &states.as.list.items[i];
        bool is_it = false;
        for (uint64_t j = 0; j < one->as.map.count; j++) {
            const invivo_pair *pair = &one->as.map.pairs[j];
            if (!strcmp(pair->name, "key")) is_it = pair->value.as.string.length == strlen(words[1].text) && !memcmp(pair->value.as.string.data, words[1].text, pair->value.as.string.length);
        }
        for (uint64_t j = 0; is_it && j < one->as.map.count; j++) {
            const invivo_pair *pair = &one->as.map.pairs[j];
            if (!strcmp(pair->name, "name")) strncat(there, pair->value.as.string.data, pair->value.as.string.length);
        }
        for (uint64_t j = 0; is_it && j < one->as.map.count; j++) {
            const invivo_pair *pair = &one->as.map.pairs[j];
            for (uint64_t k = 0; !strcmp(pair->name, "waits") && k < pair->value.as.list.count; k++) {
                const invivo_value *text = &pair->value.as.list.items[k];
                strncat(strcat(there, " "), text->as.string.data, text->as.string.length);
            }
        }
    }
    for (size_t i = 2; i < count; i++) strcat(strcat(wanted, i > 2 ? " " : ""), words[i].text);
    if (strcmp(there, wanted)) WRONG("%s is '%s', not '%s'", words[1].text, there, wanted);
    invivo_value_clear(&states);
    return INVIVO_OK;
}

static const invivo_value *field_of(const invivo_value *map, const char *name) {
    for (uint64_t i = 0; i < map->as.map.count; i++) if (!strcmp(map->as.map.pairs[i].name, name)) return &map->as.map.pairs[i].value;
    return NULL;
}
static void texts_add_field(texts *self, const invivo_value *map, const char *name) {
    const invivo_value *field = field_of(map, name);
    char text[128];
    if (field && field->kind == INVIVO_KIND_STRING) texts_add(self, thing_text(field, text, sizeof text));
}
/* `listed KEY TYPE SCOPE [NEEDED...]`, `listed KEY alias TARGET`. */
STATEMENT(listed) {
    UNUSED;
    invivo_value nodes;
    texts found = {.count = 0}, needed = {.count = 0};
    invivo_status status = invivo_graph_describe(runtime, INVIVO_GRAPH_FACTS, &nodes, error);
    if (status) return status;
    for (uint64_t i = 0; i < nodes.as.list.count; i++) {
        const invivo_value *node = &nodes.as.list.items[i], *key = field_of(node, "key"), *needs = field_of(node, "needs");
        if (key->as.string.length != strlen(words[1].text) || memcmp(key->as.string.data, words[1].text, key->as.string.length)) continue;
        if (field_of(node, "alias")) {
            texts_add(&found, "alias");
            texts_add_field(&found, node, "alias");
            break;
        }
        texts_add_field(&found, node, "type");
        texts_add_field(&found, node, "scope");
        for (uint64_t j = 0; needs && j < needs->as.list.count; j++) texts_add_field(&needed, &needs->as.list.items[j], "key");
    }
    texts_sort(&needed);
    for (size_t i = 0; i < needed.count; i++) texts_add(&found, needed.items[i]);
    compare_texts(&found, words + 2, count - 2);
    texts_clear(&needed);
    invivo_value_clear(&nodes);
    return INVIVO_OK;
}

#endif
