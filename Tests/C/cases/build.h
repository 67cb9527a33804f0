/* build.h: converts the words of a case to values, injections, definitions and assemblies of the C API. */
#ifndef INVIVO_TESTS_BUILD_H
#define INVIVO_TESTS_BUILD_H

#include "world.h"

/* ---- the runtimes and names of a case ------------------------------------------------------------------ */

static invivo_runtime runtimes[4], runtime; /* the runtime of the statements */
static char *runtime_names[4];
static size_t runtime_count, runtime_number;

typedef struct named { const char *name; invivo_value value; } named;
static named names[128];
static size_t name_count;

static named *named_find(const char *name, size_t length) {
    for (size_t i = 0; i < name_count; i++)
        if (strlen(names[i].name) == length && !strncmp(names[i].name, name, length)) return &names[i];
    return NULL;
}

/* The source location for a failing check. */
static const char *case_file;
static const line *case_line;
#define WRONG(...) check_failed(case_file, case_line ? case_line->number : 0, __VA_ARGS__)

/* ---- values -------------------------------------------------------------------------------------------- */

/* The value of "one.left.number": a name, then properties, list indices, map keys. Owned. */
static invivo_value value_at(const char *path) {
    size_t length = strcspn(path, ".");
    named *start = named_find(path, length);
    invivo_value now = invivo_null();
    if (!start) {
        WRONG("'%s' is neither a value nor a name of this case", path);
        return now;
    }
    invivo_value_copy(&now, &start->value, NULL);
    for (path += length; *path == '.'; path += length) {
        char step[64];
        invivo_value next = invivo_null();
        invivo_error *error = NULL;
        length = strcspn(++path, ".");
        snprintf(step, sizeof step, "%.*s", (int)length, path);
        if (now.kind == INVIVO_KIND_OBJECT) {
            if (invivo_object_get(now.as.object, step, &next, &error)) WRONG("%s: %s", step, invivo_error_text(error));
            invivo_error_release(error);
        } else if (now.kind == INVIVO_KIND_LIST && (uint64_t)atoi(step) < now.as.list.count) {
            invivo_value_copy(&next, &now.as.list.items[atoi(step)], NULL);
        } else if (now.kind == INVIVO_KIND_MAP) {
            for (uint64_t i = 0; i < now.as.map.count; i++)
                if (now.as.map.pairs[i].length == length && !memcmp(now.as.map.pairs[i].name, step, length))
                    invivo_value_copy(&next, &now.as.map.pairs[i].value, NULL);
        } else {
            WRONG("there is no '%s' in it", step);
        }
        invivo_value_clear(&now);
        now = next;
    }
    return now;
}

static bool is_number(const char *text) {
    char *end;
    strtod(text, &end);
    return (isdigit((unsigned char)*text) || *text == '-') && !*end;
}
/* Owned; its contents are copied. */
static invivo_value value_of(const part *word) {
    invivo_value made = invivo_null(), parts;
    if (word->quoted) {
        parts = invivo_string(word->text);
    } else if (word->call) {
        invivo_value items[32];
        invivo_pair pairs[32];
        for (size_t i = 0; i < word->count && i < 32; i++) {
            items[i] = value_of(&word->items[i]);
            const char *label = word->items[i].label;
            if (label) pairs[i] = (invivo_pair){.name = label, .length = strlen(label), .value = items[i]};
        }
        parts = strcmp(word->text, "map") ? invivo_list(items, word->count) : invivo_map(pairs, word->count);
        invivo_value_copy(&made, &parts, NULL);
        for (size_t i = 0; i < word->count && i < 32; i++) invivo_value_clear(&items[i]);
        return made;
    } else if (is_number(word->text)) {
        return strchr(word->text, '.') ? invivo_double(strtod(word->text, NULL)) : invivo_int64(strtoll(word->text, NULL, 10));
    } else if (!strcmp(word->text, "null")) {
        return made;
    } else if (!strcmp(word->text, "true") || !strcmp(word->text, "false")) {
        return invivo_bool(*word->text == 't');
    } else {
        return value_at(word->text);
    }
    invivo_value_copy(&made, &parts, NULL);
    return made;
}

static bool number_of(const invivo_value *value, double *out) {
    if (value->kind >= INVIVO_KIND_INT8 && value->kind <= INVIVO_KIND_INT64) *out = (double)value->as.signed_integer;
    else if (value->kind >= INVIVO_KIND_UINT8 && value->kind <= INVIVO_KIND_UINT64) *out = (double)value->as.unsigned_integer;
    else if (value->kind == INVIVO_KIND_FLOAT) *out = value->as.single;
    else if (value->kind == INVIVO_KIND_DOUBLE) *out = value->as.number;
    else return false;
    return true;
}
static bool values_equal(const invivo_value *one, const invivo_value *other) {
    double left, right;
    if (number_of(one, &left)) return number_of(other, &right) && left == right;
    if (one->kind != other->kind) return false;
    switch (one->kind) {
    case INVIVO_KIND_NULL: return true;
    case INVIVO_KIND_BOOL: return one->as.boolean == other->as.boolean;
    case INVIVO_KIND_STRING:
        return one->as.string.length == other->as.string.length &&
               !memcmp(one->as.string.data, other->as.string.data, one->as.string.length);
    case INVIVO_KIND_OBJECT: return one->as.object.bits == other->as.object.bits;
    case INVIVO_KIND_LIST:
        if (one->as.list.count != other->as.list.count) return false;
        for (uint64_t i = 0; i < one->as.list.count; i++)
            if (!values_equal(&one->as.list.items[i], &other->as.list.items[i])) return false;
        return true;
    case INVIVO_KIND_MAP:
        if (one->as.map.count != other->as.map.count) return false;
        for (uint64_t i = 0; i < one->as.map.count; i++) {
            const invivo_pair *pair = &one->as.map.pairs[i], *found = NULL;
            for (uint64_t j = 0; j < other->as.map.count; j++)
                if (!strcmp(other->as.map.pairs[j].name, pair->name)) found = &other->as.map.pairs[j];
            if (!found || !values_equal(&pair->value, &found->value)) return false;
        }
        return true;
    default: return false;
    }
}
static char *value_said(const invivo_value *value, char *out, size_t size) {
    double number;
    if (number_of(value, &number)) snprintf(out, size, "%.17g", number);
    else if (value->kind == INVIVO_KIND_STRING) snprintf(out, size, "\"%.*s\"", (int)value->as.string.length, value->as.string.data);
    else if (value->kind == INVIVO_KIND_BOOL) snprintf(out, size, "%s", value->as.boolean ? "true" : "false");
    else if (value->kind == INVIVO_KIND_LIST) snprintf(out, size, "a list of %llu", (unsigned long long)value->as.list.count);
    else snprintf(out, size, "%s", value->kind == INVIVO_KIND_NULL ? "null" : invivo_kind_name(value->kind));
    return out;
}

/* ---- injections ---------------------------------------------------------------------------------------- */

static const invivo_definition *inline_definition(const part *word);

/* Constants of injections; released at the end of the case. */
static invivo_value constants[512];
static size_t constant_count;

static invivo_injection injection_of(const part *word);
static void injections_of(const part *words, size_t count, const invivo_injection **out, uint64_t *out_count) {
    invivo_injection *made = script_memory((count + 1) * sizeof *made);
    for (size_t i = 0; i < count; i++) made[i] = injection_of(&words[i]);
    *out = made, *out_count = count;
}
static invivo_injection injection_of(const part *word) {
    static const struct { const char *word; uint32_t how; int first; } ways[] = {
        /* `first`: 1: the first item is the reference, the others are items; 2: it may be missing; 0: all are items. */
        {"ref", INVIVO_INJECT_REFERENCE, 1}, {"type", INVIVO_INJECT_TYPE, 1}, {"all", INVIVO_INJECT_ALL, 1},
        {"args", INVIVO_INJECT_ARGUMENTS, 0}, {"list", INVIVO_INJECT_LIST, 0}, {"set", INVIVO_INJECT_SET, 0},
        {"map", INVIVO_INJECT_MAP, 0}, {"provider", INVIVO_INJECT_PROVIDER, 0}, {"lazy", INVIVO_INJECT_LAZY, 0}, {"weak", INVIVO_INJECT_WEAK, 0},
        {"resolver", INVIVO_INJECT_RESOLVER, 0}, {"asker", INVIVO_INJECT_ASKER, 0}, {"config", INVIVO_INJECT_CONFIG, 1},
        {"entry", INVIVO_INJECT_ENTRY, 2}, {"entry_name", INVIVO_INJECT_ENTRY_NAME, 0}, {"path", INVIVO_INJECT_PATH, 1},
    };
    static const struct { const char *word; uint32_t flag; } flags[] = {
        {"optional", INVIVO_INJECT_OPTIONAL}, {"exact", INVIVO_INJECT_EXACT}, {"greedy", INVIVO_INJECT_GREEDY},
        {"keep", INVIVO_INJECT_KEEP}, {"rebuild", INVIVO_INJECT_REBUILD}, {"refuse", INVIVO_INJECT_REFUSE},
        {"owns", INVIVO_INJECT_OWNS}};
    invivo_injection made = {.name = word->label};
    if (!word->call) {
        made.value = value_of(word);
        if (constant_count < sizeof constants / sizeof *constants) constants[constant_count++] = made.value;
        return made;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(word->text, flags[i].word) || word->count != 1) continue;
        made = injection_of(&word->items[0]);
        made.name = word->label, made.flags |= flags[i].flag;
        return made;
    }
    if (!strcmp(word->text, "arg") && word->count == 1) {
        made.how = INVIVO_INJECT_ARGUMENT, made.index = strtoull(word->items[0].text, NULL, 10);
        return made;
    }
    if (!strcmp(word->text, "context") && word->count > 0) { /* context(key, default, kind=K) */
        made.how = INVIVO_INJECT_CONTEXT, made.reference = word->items[0].text;
        for (size_t i = 1; i < word->count; i++) {
            if (word->items[i].label && !strcmp(word->items[i].label, "kind")) made.value = invivo_string(word->items[i].text);
            else injections_of(&word->items[i], 1, &made.items, &made.item_count);
        }
        return made;
    }
    if (!strcmp(word->text, "inline")) {
        made.how = INVIVO_INJECT_REFERENCE, made.definition = inline_definition(word);
        return made;
    }
    if (!strcmp(word->text, "text") && word->count == 2) { /* text(what, converter) */
        made.how = INVIVO_INJECT_TEXT, made.reference = word->items[1].text;
        if (word->items[0].call) injections_of(word->items, 1, &made.items, &made.item_count);
        else made.value = injection_of(&word->items[0]).value;
        return made;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(word->text, ways[i].word)) continue;
        size_t first = ways[i].first == 1 || (ways[i].first == 2 && word->count > 0);
        made.how = ways[i].how;
        if (first && word->count == 0) break;
        if (first) made.reference = word->items[0].text;
        injections_of(word->items + first, word->count - first, &made.items, &made.item_count);
        return made;
    }
    WRONG("no injection is written '%s(...)' with %zu items", word->text, word->count);
    return made;
}

/* ---- definitions --------------------------------------------------------------------------------------- */

static const struct { const char *word; uint32_t scope, flag; } definition_words[] = {
    {"prototype", INVIVO_SCOPE_PROTOTYPE, 0}, {"graph", INVIVO_SCOPE_GRAPH, 0}, {"singleton", INVIVO_SCOPE_SINGLETON, 0},
    {"lazy", INVIVO_SCOPE_LAZY_SINGLETON, 0}, {"weak", INVIVO_SCOPE_WEAK_SINGLETON, 0}, {"thread", INVIVO_SCOPE_THREAD, 0},
    {"in", INVIVO_SCOPE_HOST, 0}, {"abstract", 0, INVIVO_DEFINITION_ABSTRACT}, {"hidden_class", 0, INVIVO_DEFINITION_HIDDEN_CLASS},
    {"hidden_interface", 0, INVIVO_DEFINITION_HIDDEN_INTERFACE}, {"nullable", 0, INVIVO_DEFINITION_NULLABLE},
    {"exclusive", 0, INVIVO_DEFINITION_EXCLUSIVE}, {"waits", 0, INVIVO_DEFINITION_WAITS}, {"tracked", 0, INVIVO_DEFINITION_TRACKED},
    {"restart", 0, INVIVO_DEFINITION_RESTART}};

static uint32_t scope_of(const char *word) {
    for (size_t i = 0; i < sizeof definition_words / sizeof *definition_words; i++)
        if (!strcmp(word, definition_words[i].word) && definition_words[i].scope) return definition_words[i].scope;
    WRONG("'%s' is no scope", word);
    return 0;
}
static const char *changes_of_a_definition[] = {"follow", "keep", "rebuild", "refuse"}; /* from INVIVO_ON_CHANGE_FOLLOW on */

static void definition_word(invivo_definition *made, const part *word) {
    for (uint32_t i = 0; i < 4 && !strcmp(word->text, "on_change"); i++) {
        if (word->count < 1 || strcmp(word->items[0].text, changes_of_a_definition[i])) continue;
        made->on_change = INVIVO_ON_CHANGE_FOLLOW + i, made->on_change_reason = word->count > 1 ? word->items[1].text : NULL;
        return;
    }
    if (!strcmp(word->text, "spec_key") && word->count == 1) {
        made->spec_key = word->items[0].text;
        return;
    }
    if (isupper((unsigned char)*word->text)) {
        made->type_name = word->text;
        return;
    }
    for (size_t i = 0; i < sizeof definition_words / sizeof *definition_words; i++) {
        if (strcmp(word->text, definition_words[i].word)) continue;
        if (definition_words[i].scope) made->scope = definition_words[i].scope;
        made->flags |= definition_words[i].flag;
        if (made->scope == INVIVO_SCOPE_HOST && word->count == 1) made->scope_name = word->items[0].text;
        return;
    }
    WRONG("a definition is not '%s'", word->text);
}

/* The code of definitions with `factory` or `inject`, and the line of that word. */
typedef struct code { const line *factory, *inject; } code;

static invivo_status resolve_by_code(const line *said, const invivo_build *build, invivo_object *out, invivo_error **error) {
    *out = (invivo_object){0};
    for (size_t i = 1; i < said->count; i++) {
        if (said->words[i].label) continue;
        if (out->bits) invivo_object_release(*out);
        invivo_status status = invivo_resolve_name(build->runtime, said->words[i].text, out, error);
        if (status) return status;
    }
    return INVIVO_OK;
}
static invivo_status code_factory(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                  void *user_data, invivo_error **error) {
    const char *name = invivo_type_name(build->type);
    invivo_object got;
    invivo_status status = event(error, "%s.make", name);
    if (!status) status = resolve_by_code(((code *)user_data)->factory, build, &got, error);
    if (!status) status = thing_init(*instance, build, arguments, count, kind_named(name), error);
    if (status) return status;
    thing *self = *instance;
    self->held = got;
    const part *copied = script_labelled(((code *)user_data)->factory, "former");
    const thing *former = build->former_instance;
    if (copied && strcmp(copied->text, "number")) WRONG("'%s' is not copied from the former object", copied->text);
    if (copied && former) self->number = former->number + 1;
    return INVIVO_OK;
}
static invivo_status code_inject(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    thing *self = instance;
    (void)arguments, (void)count;
    invivo_status status = event(error, "%s.inject", self->kind->name);
    invivo_object got = {0};
    if (!status) status = resolve_by_code(((code *)user_data)->inject, build, &got, error);
    if (status) return status;
    if (self->held.bits) invivo_object_release(self->held);
    self->right = self->held = got;
    return status;
}

static void add_invocation(const line *said, const invivo_invocation **table, uint64_t *count) {
    invivo_invocation *made = script_more(*table, *count, sizeof *made);
    made[*count] = (invivo_invocation){.method = said->words[1].text};
    injections_of(said->words + 2, said->count - 2, &made[*count].arguments, &made[*count].argument_count);
    *table = made, ++*count;
}
static invivo_kind kind_of_word(const char *word) {
    for (invivo_kind kind = 0; kind < INVIVO_KIND_COUNT; kind++) if (!strcmp(invivo_kind_name(kind), word)) return kind;
    if (strcmp(word, "any")) WRONG("'%s' is no kind of value", word);
    return INVIVO_KIND_ANY;
}

/* The property `any` of a type with a setup: its steps, as strings. */
static invivo_injection setup_of(const line *said) {
    static const char *const steps[] = {"effect", "child", "make", "observe"};
    invivo_value items[16], made = invivo_null();
    size_t count = 0;
    for (size_t i = 1; i < said->count && count < 16; i++) {
        const part *step = &said->words[i];
        char text[128];
        bool is_known = false;
        for (size_t j = 0; j < 4; j++) is_known = is_known || !strcmp(step->text, steps[j]);
        if (!is_known || !step->count) WRONG("a setup has no step '%s' of %zu words", step->text, step->count);
        snprintf(text, sizeof text, "%s", step->text);
        for (size_t j = 0; j < step->count; j++) strncat(strcat(text, " "), step->items[j].text, 32);
        items[count++] = invivo_string(script_text(text, strlen(text)));
    }
    invivo_value list = invivo_list(items, count);
    invivo_value_copy(&made, &list, NULL);
    if (constant_count < sizeof constants / sizeof *constants) constants[constant_count++] = made;
    return (invivo_injection){.name = "any", .value = made};
}

static void definition_part(invivo_definition *made, code *code, const line *said) {
    case_line = said;
    const part *words = said->words;
    const char *verb = said->count ? words[0].text : "";
    if (!strcmp(verb, "init")) {
        injections_of(words + 1, said->count - 1, &made->initializer, &made->initializer_count);
    } else if (!strcmp(verb, "set") && said->count >= 3) {
        invivo_injection *table = script_more(made->properties, made->property_count, sizeof *table);
        invivo_injection *one = &table[made->property_count];
        *one = injection_of(&words[2]), one->name = words[1].text;
        const part *added = script_labelled(said, "added"), *removed = script_labelled(said, "removed");
        if (added) one->added = added->text;
        if (removed) one->removed = removed->text;
        made->properties = table, made->property_count++;
    } else if (!strcmp(verb, "call") && said->count >= 2) {
        add_invocation(said, &made->methods, &made->method_count);
    } else if (!strcmp(verb, "before") && said->count >= 2) {
        add_invocation(said, &made->before, &made->before_count);
    } else if (!strcmp(verb, "after") && said->count >= 2) {
        add_invocation(said, &made->after, &made->after_count);
    } else if (!strcmp(verb, "after_all") && said->count >= 2) {
        add_invocation(said, &made->after_all, &made->after_all_count);
    } else if (!strcmp(verb, "parameter") && said->count >= 3) {
        const part *other = script_labelled(said, "default");
        invivo_value *defaults = script_more(made->defaults, made->parameter_count, sizeof *defaults);
        defaults[made->parameter_count] = other ? injection_of(other).value : invivo_null();
        made->defaults = defaults;
        invivo_parameter *table = script_more(made->parameters, made->parameter_count, sizeof *table);
        table[made->parameter_count] = (invivo_parameter){.name = words[1].text, .kind = kind_of_word(words[2].text)};
        if (said->count > 3 && !strcmp(words[3].text, "optional")) table[made->parameter_count].flags = INVIVO_PARAMETER_OPTIONAL;
        made->parameters = table, made->parameter_count++;
    } else if (!strcmp(verb, "maker") && said->count >= 3) {
        made->maker_method = words[1].text;
        injections_of(words + 2, said->count - 2, &made->maker, &made->maker_count);
    } else if (!strcmp(verb, "parent") && said->count == 2) {
        made->parent = words[1].text;
    } else if (!strcmp(verb, "alias") && said->count >= 2) {
        made->alias = words[1].text;
        injections_of(words + 2, said->count - 2, &made->initializer, &made->initializer_count);
    } else if (!strcmp(verb, "constant") && said->count == 2) {
        made->constant = injection_of(&words[1]).value.as.object;
    } else if (!strcmp(verb, "rank") && said->count == 2) {
        made->rank = atoi(words[1].text);
    } else if (!strcmp(verb, "generic") && said->count == 2) {
        made->generic = words[1].text;
    } else if (!strcmp(verb, "each") && said->count == 2) {
        made->each = words[1].text;
    } else if (!strcmp(verb, "deadline") && said->count == 3) {
        *(!strcmp(words[1].text, "stop") ? &made->stop_timeout_ms : &made->start_timeout_ms) = (uint32_t)atoi(words[2].text);
    } else if (!strcmp(verb, "factory")) {
        code->factory = said, made->factory = code_factory;
    } else if (!strcmp(verb, "inject")) {
        code->inject = said, made->inject = code_inject;
    } else if (!strcmp(verb, "setup")) {
        invivo_injection *table = script_more(made->properties, made->property_count, sizeof *table);
        table[made->property_count++] = setup_of(said);
        made->properties = table;
    } else if (!strcmp(verb, "choose") && said->count == 2) {
        invivo_injection *chooser = script_memory(sizeof *chooser);
        *chooser = injection_of(&words[1]);
        made->chooser = chooser;
    } else if (!strcmp(verb, "when") && said->count >= 2) {
        static const char *const whens[] = {"equal", "exact", "kind", "named", "otherwise"};
        invivo_option *table = script_more(made->options, made->option_count, sizeof *table), *one = &table[made->option_count];
        while (one->when < 5 && strcmp(whens[one->when], words[1].text)) one->when++;
        if (one->when == INVIVO_WHEN_EQUAL && said->count > 2) one->value = injection_of(&words[2]).value;
        if ((one->when == INVIVO_WHEN_EXACT || one->when == INVIVO_WHEN_KIND) && said->count > 2) one->name = words[2].text;
        if (one->when != INVIVO_WHEN_NAMED) one->use = injection_of(&words[said->count - 1]);
        made->options = table, made->option_count++;
    } else if (strcmp(verb, "fails") && strcmp(verb, "finds")) {
        WRONG("a definition has no part '%s' of %zu words", verb, said->count);
    }
}

/* From the word of its key on. */
static const invivo_definition *definition_of(const line *said, size_t from) {
    invivo_definition *made = script_memory(sizeof *made);
    code *code = script_memory(sizeof *code);
    made->struct_size = sizeof *made, made->key = said->words[from].text, made->user_data = code;
    for (size_t i = from + 1; i < said->count; i++) definition_word(made, &said->words[i]);
    for (size_t i = 0; i < said->below_count; i++) definition_part(made, code, said->below[i]);
    case_line = said;
    return made;
}
static const invivo_definition *inline_definition(const part *word) { /* inline(Quest, graph, left=ref(x)) */
    invivo_definition *made = script_memory(sizeof *made);
    made->struct_size = sizeof *made;
    for (size_t i = 0; i < word->count; i++) {
        if (!word->items[i].label) {
            definition_word(made, &word->items[i]);
            continue;
        }
        invivo_injection *table = script_more(made->properties, made->property_count, sizeof *table);
        table[made->property_count++] = injection_of(&word->items[i]);
        made->properties = table;
    }
    return made;
}

/* ---- assemblies ---------------------------------------------------------------------------------------- */

typedef struct table_of { const char *name; invivo_assembly *assembly; } table_of;
static table_of tables[64];
static size_t table_count;

static invivo_assembly *assembly_named(const char *name) {
    for (size_t i = table_count; i-- > 0;) if (!strcmp(tables[i].name, name)) return tables[i].assembly;
    invivo_assembly *made = script_memory(sizeof *made);
    made->struct_size = sizeof *made;
    if (table_count < sizeof tables / sizeof *tables) tables[table_count++] = (table_of){name, made};
    return made;
}
/* The table may already be referred to. */
static void assembly_fill(invivo_assembly *made, const line *said) {
    const part *name = script_labelled(said, "name");
    made->name = name ? name->text : NULL;
    for (size_t i = 0; i < said->below_count; i++) {
        const line *below = said->below[i];
        case_line = below;
        if (script_is(below, "define")) {
            invivo_definition *table = script_more(made->definitions, made->definition_count, sizeof *table);
            table[made->definition_count++] = *definition_of(below, 1);
            made->definitions = table;
        } else if (script_is(below, "is")) {
            const char **table = script_more(made->supertypes, made->supertype_count, sizeof *table);
            table[made->supertype_count++] = below->words[1].text;
            made->supertypes = table;
        } else if (script_is(below, "collaborator")) {
            invivo_collaborator *table = script_more(made->collaborators, made->collaborator_count, sizeof *table);
            const part *wanted = script_labelled(below, "is"), *other = script_labelled(below, "table");
            table[made->collaborator_count] = (invivo_collaborator){
                .prefix = below->words[1].text, .assembly = wanted ? wanted->text : NULL, .table = other ? assembly_named(other->text) : NULL,
                .flags = script_says(below, 2, "optional") ? INVIVO_COLLABORATOR_OPTIONAL : 0};
            made->collaborators = table, made->collaborator_count++;
        } else if (script_is(below, "base")) {
            made->base = assembly_named(below->words[1].text);
        } else {
            WRONG("an assembly has no part '%s'", below->count ? below->words[0].text : "|");
        }
    }
    if (!made->name && !made->base) made->name = said->words[1].text;
}

#endif
