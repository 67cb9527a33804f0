/* Traits of live objects against a model without transactions: each property is a base value and a stack of layers.
 *
 *   trait_model                         the sequences of each test run
 *   trait_model --seed N --sequences N  N sequences with consecutive seeds
 *   trait_model ... --trace             prints all operations
 *
 * A sequence attaches, detaches and ends objects, edits and removes documents, writes properties as other code does, advances the
 * clock of properties that move, begins and ends pins, and rolls back. After each operation each property has the value of the
 * model, byte for byte. At the end all layers are removed. In some sequences another thread reads the block all the time: it sees
 * states of the model alone, in their order. In some of them it also makes steps, without passing time. */
/* sanitize: yes */
#include "parts.h"
#include <math.h>
#include <sched.h>

enum { OBJECTS = 3, KEYS = 2, DOCUMENTS = 2, PROPERTIES = 3, MOST = 4, OPERATIONS = 40, GENERATIONS = 64, BLOCK = KEYS };
enum what { SET, SCALE, OFFSET, RAMP, CODE };
typedef struct voice { double gain, pan; int64_t steps; int64_t code; } voice;
typedef struct tone { double gain, pan; int64_t steps; } tone;
static const char *const names[PROPERTIES] = {"gain", "pan", "steps"};
static const char *const keys[KEYS + 1] = {"t.one", "t.two", "t.block"};

typedef struct trait { enum what what; int property, number; int milliseconds; } trait;
typedef struct list { int count; trait traits[MOST]; } list;
typedef struct document { bool is_there; int order; list lists[KEYS + 1]; } document; /* a document that comes again is the last one */

/* ---- the model ----------------------------------------------------------------------------------------------- */

/* The layers of a property: their operations, or the end value and the time of a movement. */
typedef struct layer { bool is_there, moves; int count, operations[2 * DOCUMENTS * MOST]; double end; int milliseconds; } layer;
typedef struct property {
    double base, value, seen, wanted; /* integers are exact */
    layer layer;
    bool moves;
    double from;
    int64_t begun;
} property;
typedef struct model { property properties[PROPERTIES]; int64_t code; } model;

static document documents[DOCUMENTS], former[GENERATIONS][DOCUMENTS];
static uint64_t generations[GENERATIONS];
static model objects[OBJECTS], block;
static int key_of_object[OBJECTS]; /* -1: none */
static int64_t now;
static int last_order;
static bool with_code, is_tracing;
static uint64_t seed, state;

static int below(int count) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)((state >> 16) % (uint64_t)count);
}
static bool chance(int percent) { return below(100) < percent; }
static void note(const char *format, ...) {
    va_list arguments;
    if (!is_tracing) return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

static double rounded(int property, double value) { return property == 2 ? round(value) + 0.0 : value; }
static double applied(int property, int what, int number, double value) {
    switch (what) {
    case SET: return number;
    case SCALE: return rounded(property, value * (number / 2.0));
    default: return value + number;
    }
}
static double value_of(const layer *layer, int property, double base) {
    for (int i = 0; i < layer->count; i++) base = applied(property, layer->operations[i] % 8, layer->operations[i] / 8 - 500, base);
    return base;
}
static const document *in_order(int position) {
    bool is_second = documents[0].order > documents[1].order;
    const document *found = &documents[is_second ? 1 - position : position];
    return found->is_there ? found : NULL;
}
/* The layers of one property. False if code lies above a movement. */
static bool layers_of(int key, int property, layer *out) {
    *out = (layer){0};
    bool any_moves = false;
    for (int d = 0; d < DOCUMENTS; d++) {
        if (!in_order(d)) continue;
        const list *list = &in_order(d)->lists[key];
        for (int i = 0; i < list->count; i++) {
            const trait *trait = &list->traits[i];
            if (trait->what == RAMP) any_moves = true;
            if (trait->what == CODE && any_moves) return false;
            if (trait->what == CODE || trait->property != property) continue;
            out->is_there = true;
            if (trait->what == SET) out->moves = false, out->count = 0;
            if (trait->what == RAMP) out->moves = true, out->count = 0, out->milliseconds = trait->milliseconds;
            out->operations[out->count++] = (trait->number + 500) * 8 + (trait->what == RAMP ? SET : (int)trait->what);
        }
    }
    /* What no longer depends on the base is one value. */
    if (out->count && out->operations[0] % 8 == SET) {
        out->end = value_of(out, property, 0);
        out->count = 1, out->operations[0] = -1;
    }
    return true;
}
static bool is_same(const layer *a, const layer *b) {
    if (a->is_there != b->is_there || a->moves != b->moves || a->count != b->count || a->end != b->end) return false;
    if (a->moves && a->milliseconds != b->milliseconds) return false;
    return !memcmp(a->operations, b->operations, sizeof(int) * (size_t)a->count);
}
static double moved(int property, const struct property *p, int64_t time) {
    int64_t passed = time - p->begun;
    if (passed <= 0) return p->from;
    if (passed >= p->layer.milliseconds) return p->wanted;
    double part = (double)(passed * 1000000) / (double)((int64_t)p->layer.milliseconds * 1000000);
    return rounded(property, p->from * (1 - part) + p->wanted * part);
}
static void change(int index, property *p, const layer *next, bool is_new) {
    if (!next->is_there) {
        if (p->layer.is_there) p->value = p->value == p->seen ? p->base : p->value;
        p->layer.is_there = p->moves = false, p->base = p->seen = p->value;
        return;
    }
    if (!p->layer.is_there) p->base = p->value;
    bool had = p->layer.is_there, is_ours = !had || p->value == p->seen;
    if (had && is_same(&p->layer, next)) {
        if (!is_ours) p->moves = false;
        return;
    }
    double former_end = p->wanted;
    bool moved_before = p->moves;
    p->wanted = next->operations[0] == -1 ? next->end : value_of(next, index, p->base);
    p->layer = *next, p->moves = false;
    if (next->moves && !is_new && p->value != p->wanted && next->milliseconds > 0) {
        p->moves = true, p->from = p->value, p->begun = now;
        p->seen = p->value;
        return;
    }
    /* The value that the former layer had, too, is not set again. */
    if (had && former_end == p->wanted && !(moved_before && is_ours)) return;
    p->value = p->seen = p->wanted;
}
static void change_all(model *of, int key, bool is_new) {
    layer next;
    for (int i = 0; i < PROPERTIES; i++) {
        if (key < 0) next = (layer){0};
        else layers_of(key, i, &next);
        change(i, &of->properties[i], &next, is_new);
    }
    of->code = 0;
    for (int d = 0; d < DOCUMENTS && key >= 0; d++)
        for (int i = 0; in_order(d) && i < in_order(d)->lists[key].count; i++)
            if (in_order(d)->lists[key].traits[i].what == CODE) of->code = of->code * 3 + in_order(d)->lists[key].traits[i].number;
}
static void step(model *of) {
    for (int i = 0; i < PROPERTIES; i++) {
        property *p = &of->properties[i];
        if (!p->moves) continue;
        if (p->value != p->seen) {
            p->moves = false;
            continue;
        }
        p->value = p->seen = moved(i, p, now);
        if (now - p->begun >= p->layer.milliseconds) p->moves = false;
    }
}

/* ---- the runtime ------------------------------------------------------------------------------------------------- */

static voice voices[OBJECTS];
static invivo_object handles[OBJECTS];
static invivo_target targets[OBJECTS];
static invivo_type voice_handle;
static invivo_key block_key;
static invivo_pin pin;
static tone pinned;

static const invivo_property voice_properties[] = {INVIVO_FIELD(voice, gain), INVIVO_FIELD(voice, pan), INVIVO_FIELD(voice, steps)};
static const invivo_property tone_properties[] = {INVIVO_BLOCK_FIELD(tone, gain, .initial = 1), INVIVO_BLOCK_FIELD(tone, pan, .initial = 2),
                                                  INVIVO_BLOCK_FIELD(tone, steps, .initial = 3)};

typedef struct undo { int64_t code; } undo;
static invivo_status put_back(invivo_object target, void *instance, void *data, invivo_error **error) {
    (void)target, (void)error;
    ((voice *)instance)->code = ((undo *)data)->code;
    return INVIVO_OK;
}
static invivo_status apply_code(invivo_object target, void *instance, const void *fields, const invivo_value *values, size_t count,
                                invivo_reversal *reversal, void *user_data, invivo_error **error) {
    (void)target, (void)fields, (void)count, (void)user_data, (void)error;
    voice *self = instance;
    undo *kept = malloc(sizeof *kept);
    kept->code = self->code;
    self->code = self->code * 3 + values[0].as.signed_integer;
    reversal->revert = put_back, reversal->data = kept, reversal->destroy = free;
    return INVIVO_OK;
}
static void open_all(void) {
    static const char *const accepted[] = {"Voice"};
    static const invivo_property fields[] = {{.struct_size = sizeof(invivo_property), .name = "by", .kind = INVIVO_KIND_INT64}};
    invivo_runtime_options options;
    invivo_runtime_options_init(&options);
    options.log_level = INVIVO_LOG_SILENT, options.ramp_tick_ms = INVIVO_RAMP_TICK_MANUAL;
    OK(invivo_runtime_open(&runtime, &options, E));
    invivo_type type;
    invivo_type_options voice_type = {.struct_size = sizeof voice_type, .name = "Voice", .size = sizeof(voice),
                                      .properties = voice_properties, .property_count = 3};
    OK(invivo_type_register(runtime, &voice_type, &voice_handle, E));
    invivo_type_options tone_type = {.struct_size = sizeof tone_type, .name = "Tone", .block_size = sizeof(tone),
                                     .concurrency = INVIVO_SHARED, .properties = tone_properties, .property_count = 3};
    OK(invivo_type_register(runtime, &tone_type, &type, E));
    for (int key = 0; key < KEYS; key++) OK(invivo_target_declare(runtime, keys[key], voice_handle, E));
    invivo_definition shape = {.struct_size = sizeof shape, .key = keys[BLOCK], .type_name = "Tone", .scope = INVIVO_SCOPE_SINGLETON};
    OK(invivo_define(runtime, &shape, &block_key, E));
    invivo_trait code = {.struct_size = sizeof code, .name = "t.Code", .targets = accepted, .target_count = 1, .fields = fields,
                         .field_count = 1, .apply = apply_code};
    OK(invivo_trait_add(runtime, &code, E));
}

static tone read_block(void) {
    tone found = {-1, -1, -1};
    invivo_view view = invivo_view_begin(runtime);
    const tone *here = invivo_view_block(view, block_key);
    if (here) found = *here;
    invivo_view_end(view);
    return found;
}
/* ---- another thread ------------------------------------------------------------------------------------------- */

/* The states of the block after each operation, and those that the other thread has seen, each without repetitions in a row. */
enum { MOST_SEEN = 4096 };
static tone shown[OPERATIONS + 16], read_states[MOST_SEEN];
static int shown_count, read_count;
static _Atomic bool is_over, has_ended;
static bool with_reader, makes_steps;
static pthread_t reader;

static bool is_same_tone(const tone *a, const tone *b) { return a->gain == b->gain && a->pan == b->pan && a->steps == b->steps; }
static void *read_always(void *unused) {
    (void)unused;
    for (int i = 0; !is_over; i++) {
        tone found = read_block();
        if (read_count < MOST_SEEN && (!read_count || !is_same_tone(&found, &read_states[read_count - 1]))) read_states[read_count++] = found;
        if (makes_steps && i % 32 == 0) OK(invivo_runtime_advance(runtime, 0, E));
        else sched_yield();
    }
    has_ended = true;
    return NULL;
}
static void begin_reading(void) {
    is_over = false;
    has_ended = false;
    shown_count = read_count = 0;
    if (with_reader) CHECK(pthread_create(&reader, NULL, read_always, NULL) == 0);
}
static void note_state(void) {
    shown[shown_count++] = (tone){block.properties[0].value, block.properties[1].value, (int64_t)block.properties[2].value};
}
static int wrong;
static void end_reading(void) {
    if (!with_reader) return;
    is_over = true;
    /* Its steps need this thread. */
    while (!has_ended) OK(invivo_runtime_poll(runtime, 1, NULL, E));
    CHECK(pthread_join(reader, NULL) == 0);
    for (int i = 0, at = 0; i < read_count && !wrong; i++) {
        while (at < shown_count && !is_same_tone(&shown[at], &read_states[i])) at++;
        if (at < shown_count) continue;
        fprintf(stderr, "seed %llu: another thread reads %.17g, %.17g, %lld, which is no state of the model, or a former one\n",
                (unsigned long long)seed, read_states[i].gain, read_states[i].pan, (long long)read_states[i].steps);
        wrong++;
    }
}

static void check_value(const char *of, int property, double found, double expected) {
    if (!memcmp(&found, &expected, sizeof found)) return;
    fprintf(stderr, "seed %llu: %s.%s is %.17g, and in the model %.17g\n", (unsigned long long)seed, of, names[property], found, expected);
    wrong++;
}
static void compare(void) {
    for (int i = 0; i < OBJECTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "object %d", i);
        for (int p = 0; p < PROPERTIES; p++)
            check_value(name, p, p == 2 ? (double)voices[i].steps : p ? voices[i].pan : voices[i].gain, objects[i].properties[p].value);
        if (voices[i].code != objects[i].code) {
            fprintf(stderr, "seed %llu: the code of %s has left %lld, and in the model %lld\n", (unsigned long long)seed, name,
                    (long long)voices[i].code, (long long)objects[i].code);
            wrong++;
        }
    }
    if (pin.bits) OK(invivo_pin_generation(pin) ? INVIVO_OK : INVIVO_E_STALE);
    tone found = read_block();
    tone expected = pin.bits ? pinned : (tone){block.properties[0].value, block.properties[1].value, (int64_t)block.properties[2].value};
    check_value(keys[BLOCK], 0, found.gain, expected.gain), check_value(keys[BLOCK], 1, found.pan, expected.pan);
    check_value(keys[BLOCK], 2, (double)found.steps, (double)expected.steps);
}

/* ---- operations ---------------------------------------------------------------------------------------------- */

static void print(char *text, const trait *trait) {
    static const char *const words[] = {"Set", "Scale", "Offset"};
    if (trait->what == CODE) sprintf(text, "{ t.Code: { by: %d } }", trait->number);
    else if (trait->what == RAMP)
        sprintf(text, "{ Ramp: { to: { %s: %d }, over: %d ms } }", names[trait->property], trait->number, trait->milliseconds);
    else if (trait->what == SCALE) sprintf(text, "{ Scale: { %s: %g } }", names[trait->property], trait->number / 2.0);
    else sprintf(text, "{ %s: { %s: %d } }", words[trait->what], names[trait->property], trait->number);
}
static void remember(void) {
    uint64_t generation;
    OK(invivo_runtime_generation(runtime, &generation, E));
    generations[generation % GENERATIONS] = generation + 1;
    memcpy(former[generation % GENERATIONS], documents, sizeof documents);
}
static void documents_changed(void) {
    for (int i = 0; i < OBJECTS; i++) change_all(&objects[i], key_of_object[i], false);
    change_all(&block, BLOCK, false);
    block.code = 0;
}
static void edit_document(int d, bool is_there) {
    document before = documents[d], next = {.is_there = is_there, .order = before.is_there ? before.order : ++last_order};
    for (int key = 0; key <= KEYS && is_there; key++) {
        next.lists[key].count = below(MOST + 1);
        for (int i = 0; i < next.lists[key].count; i++) {
            trait *made = &next.lists[key].traits[i];
            *made = (trait){.what = (enum what)below(4), .property = below(PROPERTIES), .number = 1 + below(9), .milliseconds = 10 * below(8)};
            if (with_code && made->what == RAMP) made->what = key == BLOCK ? SET : CODE;
            if (made->what == OFFSET && chance(50)) made->number = -made->number;
        }
        /* An unchanged list, so that targets stay as they are. */
        if (before.is_there && chance(30)) next.lists[key] = before.lists[key];
    }
    char text[4096] = "traits:\n", one[128];
    for (int key = 0; key <= KEYS; key++) {
        sprintf(text + strlen(text), "  %s: [", keys[key]);
        for (int i = 0; i < next.lists[key].count; i++) print(one, &next.lists[key].traits[i]), sprintf(text + strlen(text), "%s%s", i ? ", " : "", one);
        strcat(text, "]\n");
    }
    bool is_wrong = is_there && chance(5);
    if (is_wrong) sprintf(text + strlen(text), "  t.nobody: []\n");
    note("document %d %s\n", d, is_there ? text : "is removed");
    invivo_changes set;
    OK(invivo_changes_open(runtime, &set, E));
    OK(invivo_changes_document(set, d ? "b" : "a", is_there ? text : NULL, is_there ? strlen(text) : 0, E));
    documents[d] = next;
    layer unused;
    for (int key = 0; key < KEYS; key++) if (!layers_of(key, 0, &unused)) is_wrong = true;
    invivo_status status = invivo_changes_commit(set, NULL);
    if ((status == INVIVO_OK) == is_wrong) fprintf(stderr, "seed %llu: a document is answered with %s\n", (unsigned long long)seed, invivo_status_name(status)), wrong++;
    if (status) documents[d] = before;
    else documents_changed();
}
static void roll_back(void) {
    uint64_t current, to;
    OK(invivo_runtime_generation(runtime, &current, E));
    to = current - (uint64_t)below(current < 10 ? (int)current + 1 : 10);
    if (generations[to % GENERATIONS] != to + 1) return;
    note("rollback to %llu\n", (unsigned long long)to);
    invivo_status status = invivo_rollback(runtime, to, NULL);
    note("  %s\n", invivo_status_name(status));
    if (status) return;
    memcpy(documents, former[to % GENERATIONS], sizeof documents);
    documents_changed();
}
static void end_object(int i) {
    note("object %d ends\n", i);
    OK(invivo_object_release(handles[i]));
    for (int p = 0; p < PROPERTIES; p++) objects[i].properties[p] = (property){.value = objects[i].properties[p].value, .base = objects[i].properties[p].value};
    key_of_object[i] = -1;
    voices[i].code = objects[i].code = 0;
    OK(invivo_object_wrap(runtime, voice_handle, &voices[i], &handles[i], E));
}
static void attach(int i, int key) {
    note("attach object %d to %s\n", i, keys[key]);
    OK(invivo_target_attach(handles[i], keys[key], &targets[i], E));
    key_of_object[i] = key;
    change_all(&objects[i], key, true);
}
static void detach(int i) {
    note("detach object %d\n", i);
    OK(invivo_target_detach(targets[i], E));
    key_of_object[i] = -1;
    change_all(&objects[i], -1, false);
}
/* Other code writes a property. */
static void write_property(int i, int property) {
    int value = 1000 + below(1000);
    note("object %d.%s = %d\n", i, names[property], value);
    if (property == 2) voices[i].steps = value;
    else *(property ? &voices[i].pan : &voices[i].gain) = value;
    objects[i].properties[property].value = value;
}
static void end_pin(void) {
    if (!pin.bits) return;
    note("end of the pin\n");
    OK(invivo_pin_end(pin));
    pin.bits = 0;
}
static void operate(void) {
    int what = below(100), i = below(OBJECTS);
    if (what < 30) edit_document(below(DOCUMENTS), chance(80));
    else if (what < 45) attach(i, below(KEYS));
    else if (what < 52) { if (key_of_object[i] >= 0) detach(i); }
    else if (what < 56) end_object(i);
    else if (what < 64) { if (!with_code) write_property(i, below(PROPERTIES)); }
    else if (what < 84) {
        int milliseconds = below(40);
        note("advance %d ms\n", milliseconds);
        now += milliseconds;
        OK(invivo_runtime_advance(runtime, (uint64_t)milliseconds * 1000000, E));
        for (int o = 0; o < OBJECTS; o++) step(&objects[o]);
        step(&block);
    } else if (what < 92) roll_back();
    else if (pin.bits) end_pin();
    else {
        note("begin a pin\n");
        pinned = read_block();
        pin = invivo_pin_begin(runtime, NULL);
    }
    remember();
    note_state();
    compare();
}
static void run(uint64_t number) {
    seed = number, state = number * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < 8; i++) below(2);
    with_code = chance(30), with_reader = chance(10), makes_steps = chance(50);
    now = 0, wrong = 0;
    memset(documents, 0, sizeof documents), memset(generations, 0, sizeof generations);
    memset(objects, 0, sizeof objects), memset(&block, 0, sizeof block);
    for (int p = 0; p < PROPERTIES; p++) block.properties[p].value = block.properties[p].base = p + 1;
    open_all();
    for (int i = 0; i < OBJECTS; i++) {
        voices[i] = (voice){.gain = i + 1, .pan = 10 * i, .steps = 5 + i};
        double values[] = {i + 1, 10 * i, 5 + i};
        for (int p = 0; p < PROPERTIES; p++) objects[i].properties[p].value = objects[i].properties[p].base = values[p];
        key_of_object[i] = -1;
        OK(invivo_object_wrap(runtime, voice_handle, &voices[i], &handles[i], E));
    }
    remember();
    begin_reading();
    note_state();
    for (int i = 0; i < OPERATIONS && !wrong; i++) operate();
    end_pin();
    for (int d = 0; d < DOCUMENTS && !wrong; d++) edit_document(d, false), note_state(), compare();
    end_reading();
    for (int i = 0; i < OBJECTS; i++) OK(invivo_object_release(handles[i]));
    OK(invivo_runtime_close(runtime, E));
}

int main(int count, char **arguments) {
    uint64_t first = 1;
    int sequences = 500;
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--trace")) is_tracing = true;
        else if (!strcmp(arguments[i], "--seed") && i + 1 < count) first = strtoull(arguments[++i], NULL, 10);
        else if (!strcmp(arguments[i], "--sequences") && i + 1 < count) sequences = atoi(arguments[++i]);
        else return fprintf(stderr, "usage: trait_model [--seed N] [--sequences N] [--trace]\n"), 2;
    }
    check_begin();
    for (int i = 0; i < sequences; i++) {
        run(first + (uint64_t)i);
        CHECK(!wrong);
        if (wrong) break;
    }
    return check_end();
}
