/* The text cases of Tests/Cases, run by the public C interface: `c_cases FILE.case... [CASE...]`. Each statement of a case is one call,
 * or a few; what is expected stands in the case. Tests/Cases/README.md says what may be written. */
#include "cases/build.h"

/* ---- statements that run elsewhere --------------------------------------------------------------------- */

typedef struct answer {
    invivo_status status;
    invivo_error *error;
    invivo_value value;
} answer;

static invivo_status perform(const line *said, size_t from, invivo_value *out, invivo_error **error);

typedef struct job {
    const char *name;
    pthread_t thread;
    const line *said;
    size_t from;
    answer answer;
    pthread_barrier_t *start;
    int done;
} job;
static job jobs[16];
static size_t job_count;

static void *job_run(void *argument) {
    job *self = argument;
    if (self->start) pthread_barrier_wait(self->start);
    self->answer.status = perform(self->said, self->from, &self->answer.value, &self->answer.error);
    __atomic_store_n(&self->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}
/* What it does may need this thread: objects of its domain are made here. */
static void job_wait(job *self) {
    while (!__atomic_load_n(&self->done, __ATOMIC_SEQ_CST)) invivo_runtime_poll(runtime, 2, NULL, NULL);
    pthread_join(self->thread, NULL);
}

/* ---- change sets --------------------------------------------------------------------------------------- */

static invivo_changes changes; /* of `begin` */
static bool is_open;

/* The open change set, or one of its own that is committed at once. */
#define IN_CHANGES(call)                                                                          \
    do {                                                                                          \
        invivo_changes set = changes;                                                             \
        invivo_status status = is_open ? INVIVO_OK : invivo_changes_open(runtime, &set, error);   \
        if (status) return status;                                                                \
        status = (call);                                                                          \
        if (is_open) return status;                                                               \
        if (!status) return invivo_changes_commit(set, error);                                    \
        invivo_changes_discard(set);                                                              \
        return status;                                                                            \
    } while (0)

#define STATEMENT(name)                                                                                        \
    static invivo_status do_##name(const line *said, const part *words, size_t count, invivo_value *out, invivo_error **error)
#define UNUSED (void)said, (void)words, (void)count, (void)out, (void)error

/* "Page.note(after)" as it is heard. */
static const char *event_of(const part *word) {
    static __thread char text[128];
    snprintf(text, sizeof text, word->call ? "%s(%s)" : "%s", word->text, word->count ? word->items[0].text : "");
    return text;
}

STATEMENT(begin) {
    UNUSED;
    invivo_status status = invivo_changes_open(runtime, &changes, error);
    is_open = !status;
    return status;
}
STATEMENT(commit) {
    UNUSED;
    is_open = false;
    return invivo_changes_commit(changes, error);
}
STATEMENT(discard) {
    UNUSED;
    is_open = false;
    invivo_changes_discard(changes);
    return INVIVO_OK;
}
STATEMENT(check) {
    UNUSED;
    return invivo_changes_check(changes, error);
}
STATEMENT(define) {
    UNUSED;
    const invivo_definition *definition = definition_of(said, 1);
    IN_CHANGES(invivo_changes_define(set, definition, NULL, error));
}
STATEMENT(remove) {
    UNUSED;
    IN_CHANGES(invivo_changes_remove(set, words[1].text, error));
}
STATEMENT(document) {
    UNUSED;
    const char *text = count > 2 && !strcmp(words[2].text, "none") ? NULL : script_raw(said);
    IN_CHANGES(invivo_changes_document(set, words[1].text, text, text ? strlen(text) : 0, error));
}
STATEMENT(configure) {
    UNUSED;
    invivo_value value = value_of(&words[2]);
    constants[constant_count++] = value;
    IN_CHANGES(invivo_changes_configure(set, words[1].text, &value, error));
}
STATEMENT(unconfigure) {
    UNUSED;
    IN_CHANGES(invivo_changes_configure(set, words[1].text, NULL, error));
}
STATEMENT(reset) {
    UNUSED;
    uint32_t flags = script_says(said, 2, "dependencies") ? INVIVO_RESET_DEPENDENCIES : 0;
    IN_CHANGES(invivo_changes_reset(set, words[1].text, flags, error));
}
STATEMENT(reset_scope) {
    UNUSED;
    IN_CHANGES(invivo_changes_reset_scope(set, scope_of(words[1].text), error));
}

/* ---- assemblies ---------------------------------------------------------------------------------------- */

STATEMENT(assembly) {
    UNUSED;
    /* A second one of the name is another one; the first may have been referred to before. */
    invivo_assembly *table = assembly_named(words[1].text);
    if (table->name || table->base) {
        table = script_memory(sizeof *table);
        table->struct_size = sizeof *table;
        tables[table_count++] = (table_of){words[1].text, table};
    }
    assembly_fill(table, said);
    return INVIVO_OK;
}
STATEMENT(describe) {
    UNUSED;
    for (size_t i = 1; i < count; i++) {
        invivo_status status = invivo_assembly_describe(runtime, assembly_named(words[i].text), error);
        if (status) return status;
    }
    return INVIVO_OK;
}
STATEMENT(activate) {
    UNUSED;
    const invivo_assembly *given[16];
    for (size_t i = 1; i < count && i <= 16; i++) given[i - 1] = assembly_named(words[i].text);
    if (!is_open) return invivo_activate(runtime, given, count - 1, NULL, error);
    for (size_t i = 1; i < count; i++) {
        invivo_status status = invivo_changes_activate(changes, given[i - 1], NULL, error);
        if (status) return status;
    }
    return INVIVO_OK;
}
STATEMENT(deactivate) {
    UNUSED;
    const char *given[16];
    for (size_t i = 1; i < count && i <= 16; i++) given[i - 1] = words[i].text;
    return invivo_deactivate(runtime, given, count - 1, error);
}
STATEMENT(mount) {
    UNUSED;
    invivo_remap remaps[16];
    size_t length = 0;
    for (size_t i = 0; i < said->below_count && length < 16; i++)
        if (script_is(said->below[i], "remap")) remaps[length++] = (invivo_remap){said->below[i]->words[1].text, said->below[i]->words[2].text};
    return invivo_mount(runtime, assembly_named(words[1].text), words[2].text, remaps, length, error);
}
STATEMENT(activity) {
    static const char *const states[] = {"unknown", "inactive", "active"};
    UNUSED;
    uint32_t state;
    invivo_status status = invivo_assembly_state(runtime, words[1].text, &state, error);
    if (!status && strcmp(states[state], words[2].text)) WRONG("'%s' is %s", words[1].text, states[state]);
    return status;
}

/* ---- asking for objects -------------------------------------------------------------------------------- */

static size_t arguments_of(const part *words, size_t count, invivo_value *out) {
    size_t length = 0;
    for (size_t i = 0; i < count && length < 16; i++) if (!words[i].label) out[length++] = value_of(&words[i]);
    return length;
}
static void arguments_clear(invivo_value *values, size_t count) {
    for (size_t i = 0; i < count; i++) invivo_value_clear(&values[i]);
}
/* Takes the lease over. */
static invivo_status answer_object(invivo_status status, invivo_object object, invivo_value *out) {
    if (!status && object.bits) {
        invivo_value borrowed = invivo_object_value(object);
        invivo_value_copy(out, &borrowed, NULL);
        invivo_object_release(object);
    }
    return status;
}

STATEMENT(resolve) {
    UNUSED;
    invivo_value arguments[16];
    invivo_key key;
    invivo_object object = {0};
    if (count == 2) return answer_object(invivo_resolve_name(runtime, words[1].text, &object, error), object, out);
    invivo_status status = invivo_key_find(runtime, words[1].text, &key, error);
    if (status) return status;
    size_t length = arguments_of(words + 2, count - 2, arguments);
    status = invivo_resolve_with(runtime, key, arguments, length, &object, error);
    arguments_clear(arguments, length);
    return answer_object(status, object, out);
}
STATEMENT(optional) {
    UNUSED;
    invivo_value arguments[16];
    invivo_key key;
    invivo_object object = {0};
    invivo_status status = invivo_key_intern(runtime, words[1].text, &key, error);
    if (status) return status;
    size_t length = arguments_of(words + 2, count - 2, arguments);
    status = invivo_resolve_optional(runtime, key, arguments, length, &object, error);
    arguments_clear(arguments, length);
    return answer_object(status, object, out);
}
STATEMENT(find) {
    UNUSED;
    invivo_object object = {0};
    const part *name = script_labelled(said, "named");
    uint32_t flags = (script_says(said, 1, "exact") ? INVIVO_LOOKUP_EXACT : 0) | (script_says(said, 1, "optional") ? INVIVO_LOOKUP_OPTIONAL : 0);
    return answer_object(invivo_resolve_type(runtime, words[1].text, name ? name->text : NULL, flags, &object, error), object, out);
}
STATEMENT(all) {
    UNUSED;
    return invivo_resolve_all(runtime, words[1].text, script_says(said, 1, "exact") ? INVIVO_LOOKUP_EXACT : 0, out, error);
}
STATEMENT(make) {
    UNUSED;
    invivo_value arguments[16];
    invivo_object object = {0};
    kind *kind = kind_named(words[1].text);
    size_t length = arguments_of(words + 2, count - 2, arguments);
    invivo_status status = kind ? invivo_object_make(runtime, kind->type[runtime_number], arguments, length, &object, error) : INVIVO_E_TYPE;
    arguments_clear(arguments, length);
    return answer_object(status, object, out);
}
STATEMENT(own) { /* an object that the host made: nothing is injected */
    UNUSED;
    kind *kind = kind_named(words[1].text);
    const part *given = script_labelled(said, "given");
    invivo_value arguments[3] = {invivo_null(), invivo_null(), given ? invivo_string(given->text) : invivo_null()};
    thing *instance = script_memory(sizeof *instance);
    invivo_object object = {0};
    if (!kind) return INVIVO_E_TYPE;
    invivo_status status = thing_init(instance, NULL, arguments, 3, kind, error);
    instance->runtime = runtime;
    if (!status) status = invivo_object_wrap(runtime, kind->type[runtime_number], instance, &object, error);
    return answer_object(status, object, out);
}
STATEMENT(call) {
    UNUSED;
    invivo_value arguments[16], object = value_at(words[1].text);
    size_t length = arguments_of(words + 3, count - 3, arguments);
    invivo_status status = invivo_object_call(object.as.object, words[2].text, arguments, length, out, error);
    arguments_clear(arguments, length);
    invivo_value_clear(&object);
    return status;
}
STATEMENT(invoke) { /* a provider, lazy or resolver */
    UNUSED;
    invivo_value arguments[16], callable = value_at(words[1].text);
    size_t length = arguments_of(words + 2, count - 2, arguments);
    if (callable.kind != INVIVO_KIND_CALLABLE) WRONG("%s is no callable", words[1].text);
    invivo_status status = invivo_callable_call(callable.as.callable, arguments, length, out, error);
    arguments_clear(arguments, length);
    invivo_value_clear(&callable);
    return status;
}
STATEMENT(release) {
    UNUSED;
    for (size_t i = 1; i < count; i++) {
        named *found = named_find(words[i].text, strlen(words[i].text));
        if (!found) {
            WRONG("'%s' is no name of this case", words[i].text);
            continue;
        }
        invivo_value_clear(&found->value);
        *found = names[--name_count];
    }
    return INVIVO_OK;
}

typedef struct awaited { pthread_mutex_t lock; int done; answer answer; } awaited;
static void async_resolved(void *user_data, invivo_object object, const invivo_error *error) {
    awaited *self = user_data;
    self->answer.status = invivo_error_code(error);
    if (error) self->answer.error = invivo_error_make(invivo_error_code(error), invivo_error_text(error), NULL, NULL);
    answer_object(self->answer.status, object, &self->answer.value);
    __atomic_store_n(&self->done, 1, __ATOMIC_SEQ_CST);
}
STATEMENT(async) {
    UNUSED;
    invivo_key key;
    awaited self = {.answer = {.value = invivo_null()}};
    invivo_status status = invivo_key_find(runtime, words[1].text, &key, error);
    if (!status) status = invivo_resolve_async(runtime, key, NULL, 0, async_resolved, &self, (invivo_domain){0}, error);
    if (status) return status;
    while (!__atomic_load_n(&self.done, __ATOMIC_SEQ_CST)) invivo_runtime_poll(runtime, 2, NULL, NULL);
    *out = self.answer.value, *error = self.answer.error;
    return self.answer.status;
}

/* ---- injecting into the host's objects ----------------------------------------------------------------- */

static uint8_t tree_is_foreign(invivo_object object, void *user_data) {
    return object.bits == ((invivo_object *)user_data)->bits;
}
STATEMENT(inject) {
    UNUSED;
    invivo_key key = {0};
    invivo_value object = value_at(words[1].text);
    const part *named_key = script_labelled(said, "key");
    invivo_status status = named_key ? invivo_key_find(runtime, named_key->text, &key, error) : INVIVO_OK;
    if (!status) status = invivo_inject_with(object.as.object, key, script_says(said, 2, "shared") ? INVIVO_INTO_SHARED : 0, error);
    invivo_value_clear(&object);
    return status;
}
STATEMENT(inject_tree) {
    UNUSED;
    invivo_value object = value_at(words[1].text), other = invivo_null();
    const part *key = script_labelled(said, "key"), *foreign = script_labelled(said, "foreign");
    invivo_tree tree = {.struct_size = sizeof tree, .key = key ? key->text : NULL, .flags = script_says(said, 2, "known") ? INVIVO_INTO_KNOWN : 0};
    if (foreign) other = value_at(foreign->text), tree.is_foreign = tree_is_foreign, tree.user_data = &other.as.object;
    invivo_status status = invivo_inject_tree(object.as.object, &tree, error);
    invivo_value_clear(&object);
    invivo_value_clear(&other);
    return status;
}

/* ---- overrides, processors, converters ----------------------------------------------------------------- */

STATEMENT(override) {
    UNUSED;
    invivo_override handle;
    invivo_status status = invivo_override_begin(runtime, definition_of(said, 1), &handle, error);
    if (!status) *out = invivo_uint64(handle.bits);
    return status;
}
STATEMENT(restore) {
    UNUSED;
    named *found = named_find(words[1].text, strlen(words[1].text));
    if (!found) return INVIVO_E_ARGUMENT;
    return invivo_override_end((invivo_override){found->value.as.unsigned_integer}, error);
}

/* Wraps: another one of the same type, whose input is the former. */
static invivo_status decorate_native(invivo_object object, const invivo_build *build, invivo_object *out, void *user_data, invivo_error **error) {
    invivo_type type;
    invivo_status status = invivo_object_type(object, &type, error);
    invivo_value arguments[] = {invivo_object_value(object), invivo_int64((int64_t)(intptr_t)user_data)};
    return status ? status : invivo_object_make(build->runtime, type, arguments, 2, out, error);
}
static invivo_processor processor_of(const line *said) {
    const part *key = script_labelled(said, "key"), *type = script_labelled(said, "type"), *priority = script_labelled(said, "priority");
    return (invivo_processor){.struct_size = sizeof(invivo_processor), .name = said->words[1].text, .key = key ? key->text : NULL,
                              .type = type ? type->text : NULL, .priority = priority ? atoi(priority->text) : 0};
}
STATEMENT(decorate) {
    UNUSED;
    invivo_processor processor = processor_of(said);
    const part *by = script_labelled(said, "by"), *method = script_labelled(said, "method"), *number = script_labelled(said, "number");
    if (by) processor.component = by->text, processor.method = method ? method->text : NULL;
    else processor.decorate = decorate_native, processor.user_data = (void *)(intptr_t)(number ? atoi(number->text) : 0);
    IN_CHANGES(invivo_changes_process(set, &processor, error));
}
static invivo_status process_native(const invivo_definition *described, invivo_changes into, void *user_data, invivo_error **error) {
    invivo_definition made = *described;
    const line *said = user_data;
    made.properties = NULL, made.property_count = 0;
    for (uint64_t i = 0; i < described->property_count; i++) {
        bool is_said = false;
        for (size_t j = 0; j < said->below_count; j++)
            if (script_is(said->below[j], "set") && !strcmp(said->below[j]->words[1].text, described->properties[i].name)) is_said = true;
        if (is_said) continue;
        invivo_injection *table = script_more(made.properties, made.property_count, sizeof *table);
        table[made.property_count++] = described->properties[i];
        made.properties = table;
    }
    code unused;
    for (size_t i = 0; i < said->below_count; i++) definition_part(&made, &unused, said->below[i]);
    return invivo_changes_define(into, &made, NULL, error);
}
STATEMENT(process) {
    UNUSED;
    invivo_processor processor = processor_of(said);
    processor.process = process_native, processor.user_data = (void *)(uintptr_t)said;
    IN_CHANGES(invivo_changes_process(set, &processor, error));
}
STATEMENT(unprocess) {
    UNUSED;
    IN_CHANGES(invivo_changes_unprocess(set, words[1].text, error));
}

static invivo_status convert_length(void *user_data, const char *text, uint64_t length, invivo_value *out, invivo_error **error) {
    (void)user_data;
    if (length == 0) {
        *error = invivo_error_make_at(INVIVO_E_CONVERSION, "an empty text has no length here", NULL, NULL, 1, 1, NULL);
        return INVIVO_E_CONVERSION;
    }
    (void)text;
    *out = invivo_int64((int64_t)length);
    return INVIVO_OK;
}
STATEMENT(converter) { /* reads a text as the number of its bytes */
    UNUSED;
    invivo_converter_options options = {.struct_size = sizeof options, .name = words[1].text, .convert = convert_length};
    return invivo_converter_register(runtime, &options, error);
}
STATEMENT(unconverter) {
    UNUSED;
    return invivo_converter_unregister(runtime, words[1].text, error);
}
STATEMENT(convert) {
    UNUSED;
    return invivo_convert(runtime, words[1].text, words[2].text, strlen(words[2].text), out, error);
}

/* ---- configuration and reloads ------------------------------------------------------------------------- */

STATEMENT(configured) {
    UNUSED;
    return invivo_config_read(runtime, words[1].text, out, error);
}
static void config_changed(void *user_data, const char *path, const invivo_value *value, uint64_t generation) {
    (void)user_data, (void)value, (void)generation;
    event(NULL, "changed(%s)", path);
}
STATEMENT(observe) {
    UNUSED;
    invivo_observer observer;
    invivo_config_observer_options options = {.struct_size = sizeof options, .changed = config_changed};
    return invivo_config_observe(runtime, words[1].text, &options, &observer, error);
}

static invivo_view view;
static bool in_view;
STATEMENT(read) { /* in a view: a path of the configuration, and what is there */
    UNUSED;
    invivo_config id;
    invivo_status status = invivo_config_id(runtime, words[1].text, INVIVO_KIND_ANY, &id, error);
    if (status) return status;
    if (!in_view) WRONG("'read' stands in a view");
    const invivo_value *value = in_view ? invivo_view_config(view, id) : NULL;
    return value ? invivo_value_copy(out, value, error) : INVIVO_OK;
}
static void run(const line *said);
STATEMENT(view) {
    UNUSED;
    invivo_config unused;
    for (size_t i = 0; i < said->below_count; i++) /* an id is made before the view that reads by it */
        if (script_is(said->below[i], "read")) OK(invivo_config_id(runtime, said->below[i]->words[1].text, INVIVO_KIND_ANY, &unused, E));
    view = invivo_view_begin(runtime), in_view = true;
    for (size_t i = 0; i < said->below_count; i++) run(said->below[i]);
    invivo_view_end(view), in_view = false;
    return INVIVO_OK;
}

static void case_reloaded(void *user_data, const invivo_report *report) {
    static const char *const what[] = {"defined", "removed", "remade", "reinjected", "tuned", "pending", "configured", "dormant", "cleared"};
    (void)user_data;
    pthread_mutex_lock(&world_lock);
    texts_clear(&reported);
    for (size_t i = 0; i < invivo_report_count(report); i++) {
        char text[256];
        const char *property = invivo_report_property(report, i);
        snprintf(text, sizeof text, "%s%s%s %s", invivo_report_key(report, i), *property ? ":" : "", property, what[invivo_report_change(report, i)]);
        texts_add(&reported, text);
    }
    texts_sort(&reported);
    pthread_mutex_unlock(&world_lock);
}

/* ---- life, scopes, pools ------------------------------------------------------------------------------- */

STATEMENT(start) {
    UNUSED;
    invivo_key key;
    invivo_status status = invivo_key_find(runtime, words[1].text, &key, error);
    return status ? status : invivo_start(runtime, key, error);
}
STATEMENT(stop) {
    UNUSED;
    invivo_key key;
    invivo_status status = invivo_key_find(runtime, words[1].text, &key, error);
    return status ? status : invivo_stop(runtime, key, error);
}
STATEMENT(close) {
    UNUSED;
    invivo_status status = invivo_runtime_close(runtime, error);
    if (!status || status == INVIVO_E_STOP) runtimes[runtime_number] = runtime = (invivo_runtime){0};
    return status;
}

static struct { const char *name; uint64_t place; } places[8];
static size_t place_count;
static invivo_status place_find(void *user_data, uint64_t *place, invivo_error **error) {
    (void)error;
    *place = places[(size_t)user_data].place;
    return INVIVO_OK;
}
static void place_keep(void *user_data, uint64_t place, invivo_key key, invivo_object object) {
    (void)place, (void)object;
    event(NULL, "%s.keep(%s)", places[(size_t)user_data].name, invivo_key_name(key));
}
static void place_drop(void *user_data, uint64_t place, invivo_key key, invivo_object object) {
    (void)place, (void)object;
    event(NULL, "%s.drop(%s)", places[(size_t)user_data].name, invivo_key_name(key));
}
STATEMENT(scope) {
    UNUSED;
    invivo_scope_options options = {.struct_size = sizeof options, .name = words[1].text, .find = place_find, .keep = place_keep,
                                    .drop = place_drop, .user_data = (void *)place_count};
    places[place_count].place = 0, places[place_count++].name = words[1].text;
    return invivo_scope_register(runtime, &options, error);
}
STATEMENT(place) {
    UNUSED;
    for (size_t i = 0; i < place_count; i++) if (!strcmp(places[i].name, words[1].text)) places[i].place = strtoull(words[2].text, NULL, 10);
    return INVIVO_OK;
}
STATEMENT(end_place) {
    UNUSED;
    return invivo_scope_end(runtime, words[1].text, strtoull(words[2].text, NULL, 10), error);
}

static invivo_status pool_make(void *user_data, const invivo_value *key, invivo_object *out, invivo_error **error) {
    (void)key;
    return invivo_object_make(runtime, ((kind *)user_data)->type[runtime_number], NULL, 0, out, error);
}
STATEMENT(pool) {
    UNUSED;
    const char *verb = words[1].text, *name = words[2].text;
    invivo_pool pool;
    invivo_object object = {0};
    if (!strcmp(verb, "open")) {
        kind *made = count > 3 ? kind_named(words[3].text) : NULL;
        invivo_pool_options options = {.struct_size = sizeof options, .name = name, .make = made ? pool_make : NULL, .user_data = made};
        return invivo_pool_open(runtime, &options, &pool, error);
    }
    invivo_status status = invivo_pool_find(runtime, name, &pool, error);
    if (status) return status;
    if (!strcmp(verb, "clear")) return invivo_pool_clear(pool, NULL, error);
    if (!strcmp(verb, "count")) {
        uint64_t alive = 0;
        status = invivo_pool_count(pool, &alive, error);
        if (!status && alive != strtoull(words[3].text, NULL, 10)) WRONG("%llu are in the pool", (unsigned long long)alive);
        return status;
    }
    invivo_value key = value_of(&words[3]);
    if (!strcmp(verb, "get")) {
        status = answer_object(invivo_pool_get(pool, &key, NULL, NULL, &object, error), object, out);
    } else if (!strcmp(verb, "peek")) {
        status = answer_object(invivo_pool_peek(pool, &key, &object), object, out);
    } else if (!strcmp(verb, "put")) {
        invivo_value given = value_at(words[4].text);
        status = invivo_pool_put(pool, &key, given.as.object, error);
        invivo_value_clear(&given);
    } else if (!strcmp(verb, "remove")) {
        status = invivo_pool_remove(pool, &key, error);
    } else {
        WRONG("a pool does not '%s'", verb);
    }
    invivo_value_clear(&key);
    return status;
}

/* ---- runtimes, threads, events ------------------------------------------------------------------------- */

static invivo_status runtime_open(const char *name, uint32_t flags) {
    invivo_runtime_options options;
    invivo_observer observer;
    invivo_observer_options watching = {.struct_size = sizeof watching, .reloaded = case_reloaded};
    invivo_runtime_options_init(&options);
    options.flags |= flags;
    OK(invivo_runtime_open(&runtime, &options, E));
    world_register(runtime, (int)runtime_count);
    OK(invivo_observe(runtime, &watching, &observer, E));
    runtime_number = runtime_count++;
    runtimes[runtime_number] = runtime, runtime_names[runtime_number] = (char *)(uintptr_t)name;
    return INVIVO_OK;
}
STATEMENT(runtime) {
    UNUSED;
    for (size_t i = 0; i < runtime_count; i++) {
        if (strcmp(runtime_names[i], words[1].text)) continue;
        runtime = runtimes[i], runtime_number = i;
        return INVIVO_OK;
    }
    return runtime_open(words[1].text, script_says(said, 2, "without_needs") ? INVIVO_RUNTIME_WITHOUT_NEEDS : 0);
}

STATEMENT(spawn) {
    UNUSED;
    job *made = &jobs[job_count++];
    *made = (job){.name = said->result, .said = said, .from = 1, .answer = {.value = invivo_null()}};
    if (pthread_create(&made->thread, NULL, job_run, made)) WRONG("no thread");
    return INVIVO_OK;
}
STATEMENT(join) {
    UNUSED;
    for (size_t i = 0; i < job_count; i++) {
        if (!jobs[i].name || strcmp(jobs[i].name, words[1].text)) continue;
        job_wait(&jobs[i]);
        jobs[i].name = NULL;
        *out = jobs[i].answer.value, *error = jobs[i].answer.error;
        return jobs[i].answer.status;
    }
    WRONG("nothing was spawned as '%s'", words[1].text);
    return INVIVO_OK;
}
STATEMENT(threads) { /* the same by several threads at the same time: a list of what they got */
    UNUSED;
    enum { MOST = 64 };
    static job workers[MOST];
    invivo_value items[MOST];
    pthread_barrier_t start;
    size_t many = strtoull(words[1].text, NULL, 10);
    invivo_status status = INVIVO_OK;
    if (many == 0 || many > MOST) return INVIVO_E_RANGE;
    pthread_barrier_init(&start, NULL, (unsigned)many);
    for (size_t i = 0; i < many; i++) {
        workers[i] = (job){.said = said, .from = 2, .answer = {.value = invivo_null()}, .start = &start};
        if (pthread_create(&workers[i].thread, NULL, job_run, &workers[i])) WRONG("no thread");
    }
    for (size_t i = 0; i < many; i++) {
        job_wait(&workers[i]);
        if (!status && workers[i].answer.status) status = workers[i].answer.status, *error = workers[i].answer.error;
        else invivo_error_release(workers[i].answer.error);
        items[i] = workers[i].answer.value;
    }
    pthread_barrier_destroy(&start);
    invivo_value list = invivo_list(items, many);
    if (!status) invivo_value_copy(out, &list, NULL);
    arguments_clear(items, many);
    return status;
}

STATEMENT(repeat) {
    UNUSED;
    invivo_status status = INVIVO_OK;
    for (unsigned long long i = strtoull(words[1].text, NULL, 10); i > 0 && !status; i--) {
        invivo_value value;
        status = perform(said, (size_t)(words - said->words) + 2, &value, error);
        invivo_value_clear(&value);
    }
    return status;
}

STATEMENT(fail) {
    UNUSED;
    const part *times = script_labelled(said, "times");
    pthread_mutex_lock(&world_lock);
    rule_make(event_of(&words[1]))->fails = times ? atoi(times->text) : -1;
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}
STATEMENT(mend) {
    UNUSED;
    pthread_mutex_lock(&world_lock);
    rule_make(event_of(&words[1]))->fails = 0;
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}
STATEMENT(hold) {
    UNUSED;
    pthread_mutex_lock(&world_lock);
    rule_of_event *rule = rule_make(event_of(&words[1]));
    rule->holds = true, rule->arrived = 0;
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}
STATEMENT(await) {
    UNUSED;
    pthread_mutex_lock(&world_lock);
    rule_of_event *rule = rule_make(event_of(&words[1]));
    WORLD_WAIT(rule->arrived > 0);
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}
STATEMENT(let) {
    UNUSED;
    pthread_mutex_lock(&world_lock);
    rule_make(event_of(&words[1]))->holds = false;
    pthread_cond_broadcast(&world_changed);
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}
STATEMENT(slow) {
    UNUSED;
    pthread_mutex_lock(&world_lock);
    rule_make(event_of(&words[1]))->takes = atoi(words[2].text);
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}
STATEMENT(meet) {
    UNUSED;
    pthread_mutex_lock(&world_lock);
    rule_of_event *rule = rule_make(event_of(&words[1]));
    rule->meets = atoi(words[2].text), rule->arrived = 0;
    pthread_mutex_unlock(&world_lock);
    return INVIVO_OK;
}

/* ---- what is expected ---------------------------------------------------------------------------------- */

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
        for (; place > 0 && strcmp(sorted[place - 1].text, words[i].text) > 0; place--) sorted[place] = sorted[place - 1];
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
STATEMENT(report) { /* pairs of a key and what happened to it */
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
STATEMENT(alive) {
    UNUSED;
    int alive = 0;
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (count < 3 || !strcmp(words[2].text, kinds[i].name)) alive += __atomic_load_n(&kinds[i].alive, __ATOMIC_SEQ_CST);
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
STATEMENT(state) { /* of a key: its state, and what it waits for */
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

/* ---- running ------------------------------------------------------------------------------------------- */

static const struct statement {
    const char *verb;
    size_t least; /* words, with the verb */
    invivo_status (*run)(const line *said, const part *words, size_t count, invivo_value *out, invivo_error **error);
} statements[] = {
    {"begin", 1, do_begin}, {"commit", 1, do_commit}, {"discard", 1, do_discard}, {"check", 1, do_check}, {"define", 2, do_define},
    {"remove", 2, do_remove}, {"document", 2, do_document}, {"configure", 3, do_configure}, {"unconfigure", 2, do_unconfigure},
    {"reset", 2, do_reset}, {"reset_scope", 2, do_reset_scope}, {"assembly", 2, do_assembly}, {"describe", 2, do_describe},
    {"activate", 2, do_activate}, {"deactivate", 2, do_deactivate}, {"mount", 3, do_mount}, {"activity", 3, do_activity},
    {"resolve", 2, do_resolve}, {"optional", 2, do_optional}, {"find", 2, do_find}, {"all", 2, do_all}, {"make", 2, do_make},
    {"own", 2, do_own}, {"call", 3, do_call}, {"invoke", 2, do_invoke}, {"release", 2, do_release}, {"async", 2, do_async},
    {"inject", 2, do_inject}, {"inject_tree", 2, do_inject_tree}, {"override", 2, do_override}, {"restore", 2, do_restore},
    {"decorate", 2, do_decorate}, {"process", 2, do_process}, {"unprocess", 2, do_unprocess}, {"converter", 2, do_converter},
    {"unconverter", 2, do_unconverter}, {"convert", 3, do_convert}, {"configured", 2, do_configured}, {"observe", 2, do_observe},
    {"read", 2, do_read}, {"view", 1, do_view}, {"start", 2, do_start}, {"stop", 2, do_stop}, {"close", 1, do_close},
    {"scope", 2, do_scope}, {"place", 3, do_place}, {"end_place", 3, do_end_place}, {"pool", 3, do_pool}, {"runtime", 2, do_runtime},
    {"spawn", 2, do_spawn}, {"join", 2, do_join}, {"threads", 3, do_threads}, {"fail", 2, do_fail}, {"mend", 2, do_mend},
    {"hold", 2, do_hold}, {"await", 2, do_await}, {"let", 2, do_let}, {"meet", 3, do_meet}, {"slow", 3, do_slow}, {"repeat", 3, do_repeat}, {"log", 1, do_log},
    {"log_in_any_order", 1, do_log_in_any_order}, {"disposed", 1, do_disposed}, {"report", 1, do_report}, {"alive", 2, do_alive},
    {"same", 3, do_same}, {"different", 3, do_different}, {"is", 3, do_is}, {"types", 2, do_types}, {"distinct", 3, do_distinct},
    {"size", 3, do_size}, {"state", 2, do_state}, {"listed", 4, do_listed},
};

static invivo_status perform(const line *said, size_t from, invivo_value *out, invivo_error **error) {
    const part *words = said->words + from;
    size_t count = said->count - from;
    *out = invivo_null(), *error = NULL;
    for (size_t i = 0; count && i < sizeof statements / sizeof *statements; i++)
        if (!strcmp(words[0].text, statements[i].verb) && count >= statements[i].least) return statements[i].run(said, words, count, out, error);
    WRONG("nothing is said by '%s' with %zu words", count ? words[0].text : "", count);
    return INVIVO_OK;
}

/* `fails STATUS TEXT...`: the status, and what the whole text contains. `finds RULE TEXT...`: of several errors, one. */
static void expect_failure(const line *said, invivo_status status, invivo_error *error) {
    size_t finds = 0;
    bool expected = false;
    for (size_t i = 0; i < said->below_count; i++) {
        const line *below = said->below[i];
        bool is_finds = script_is(below, "finds");
        if (!is_finds && !script_is(below, "fails")) continue;
        expected = true, finds += is_finds;
        case_line = below;
        char name[64] = "INVIVO_E_";
        for (const char *at = below->words[1].text; *at; at++) strncat(name, (char[]){(char)toupper((unsigned char)*at), 0}, 1);
        if (!is_finds && strcmp(name, invivo_status_name(status))) WRONG("it answers %s: %s", invivo_status_name(status), invivo_error_text(error));
        bool found = false;
        for (size_t j = 0; j < invivo_error_count(error) && !found; j++) {
            const invivo_error *one = is_finds ? invivo_error_at(error, j) : error;
            found = !is_finds || !strcmp(invivo_error_rule(one), below->words[1].text);
            for (size_t k = 2; k < below->count && found; k++)
                found = strstr(invivo_error_text(one), below->words[k].text) || strstr(invivo_error_needed_by(one), below->words[k].text);
        }
        if (!found && (is_finds || below->count > 2)) WRONG("it says: %s", invivo_error_text(error));
    }
    case_line = said;
    if (finds && finds != invivo_error_count(error)) WRONG("%zu errors are found: %s", invivo_error_count(error), invivo_error_text(error));
    if (!expected && status) WRONG("it answers %s: %s", invivo_status_name(status), invivo_error_text(error));
}

static void run(const line *said) {
    invivo_value value;
    invivo_error *error;
    case_line = said;
    invivo_status status = perform(said, 0, &value, &error);
    case_line = said;
    expect_failure(said, status, error);
    invivo_error_release(error);
    if (said->result && !script_is(said, "spawn")) {
        named *found = named_find(said->result, strlen(said->result));
        if (found) invivo_value_clear(&found->value);
        else if (name_count < sizeof names / sizeof *names) found = &names[name_count++], found->name = said->result;
        if (found) found->value = value;
    } else {
        invivo_value_clear(&value);
    }
}

/* Everything that a case leaves is taken away; then nothing of it may be left. */
static void finish(void) {
    if (is_open) invivo_changes_discard(changes), is_open = false;
    while (name_count) invivo_value_clear(&names[--name_count].value);
    while (constant_count) invivo_value_clear(&constants[--constant_count]);
    for (size_t i = 0; i < runtime_count; i++)
        if (runtimes[i].bits) OK(invivo_runtime_close_deferred(runtimes[i], E));
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (kinds[i].alive) WRONG("%d objects of %s are left", kinds[i].alive, kinds[i].name);
        kinds[i].alive = 0;
    }
    runtime_count = job_count = rule_count = place_count = table_count = 0;
    texts_clear(&heard), texts_clear(&disposed), texts_clear(&reported);
}

static bool run_case(const script *script, size_t from, size_t to) {
    int before = check_failures;
    bool is_begun = false;
    for (size_t i = from + 1; i < to; i++) {
        const line *said = script->top.below[i];
        if (script_is(said, "rule")) continue;
        if (script_is(said, "not")) {
            if (said->count < 4 || strcmp(said->words[1].text, "in")) WRONG("'not in LANGUAGE \"why\"' is wanted");
            if (said->count > 2 && !strcmp(said->words[2].text, "c")) return true;
            continue;
        }
        if (!is_begun && !script_is(said, "runtime")) runtime_open("main", 0);
        is_begun = true;
        run(said);
    }
    case_line = script->top.below[from];
    finish();
    return check_failures == before;
}

static size_t run_file(const char *path, char **chosen, size_t chosen_count) {
    script script = script_read(path);
    size_t ran = 0;
    case_file = path;
    for (size_t i = 0; i < script.top.below_count; i++) {
        const line *said = script.top.below[i];
        size_t end = i + 1;
        bool wanted = chosen_count == 0;
        if (!script_is(said, "case") || said->count != 2) script_number = said->number, script_wrong("'case NAME' is wanted", "");
        while (end < script.top.below_count && !script_is(script.top.below[end], "case")) end++;
        for (size_t k = 0; k < chosen_count; k++) wanted = wanted || !strcmp(chosen[k], said->words[1].text);
        if (wanted) ran++, printf("%s %s\n", run_case(&script, i, end) ? "passed" : "FAILED", said->words[1].text);
        i = end - 1;
    }
    script_free();
    return ran;
}

int main(int count, char **arguments) {
    int files = 1;
    size_t ran = 0;
    while (files < count && strlen(arguments[files]) > 5 && !strcmp(arguments[files] + strlen(arguments[files]) - 5, ".case")) files++;
    if (files == 1) return fprintf(stderr, "usage: %s FILE.case... [CASE...]\n", arguments[0]), 2;
    check_begin();
    for (int i = 1; i < files; i++) ran += run_file(arguments[i], arguments + files, (size_t)(count - files));
    if (ran == 0) check_failed(arguments[1], 1, "no such case");
    return check_end();
}
