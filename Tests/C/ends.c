/* Objects that end during a build: their disposal may resolve objects that the same thread is creating, or created.
 * Weak singletons with host reference counts are examined one at a time: host code, and disposals, may resolve the
 * others. */
/* sanitize: yes */
#include "check.h"

enum { MANY = 16 }; /* the number of argument sets after which the next resolve removes the ended ones */

static invivo_runtime runtime;
static invivo_key key;

/* ---- instances with host reference counts -------------------------------------------------------------- */

typedef struct counted { int count; int64_t number; struct weak *weak; } counted;
typedef struct weak { counted *instance; int users; } weak;

static int counted_live, weak_live, ends, askings;
static counted *kept[2 * MANY];          /* the host's own references, by number */
static void (*on_end)(int64_t number);   /* during the end of an instance */
static void (*on_asking)(counted *self); /* while a weak reference is loaded, after it was found */
static bool is_busy;                     /* code inside such calls loads and ends others, which do nothing more */

static void busy(void (*act)(int64_t), int64_t number) {
    if (!act || is_busy) return;
    is_busy = true;
    act(number);
    is_busy = false;
}

static void counted_release(void *instance, void *user_data) {
    counted *self = instance;
    (void)user_data;
    if (--self->count) return;
    int64_t number = self->number;
    if (self->weak) self->weak->instance = NULL;
    counted_live--, ends++;
    free(self);
    busy(on_end, number);
}
static void let_go(int64_t number) {
    counted *self = kept[number];
    kept[number] = NULL;
    if (self) counted_release(self, NULL);
}
static invivo_status counted_make(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                  void *user_data, invivo_error **error) {
    counted *self = calloc(1, sizeof *self);
    (void)build, (void)user_data, (void)error;
    self->count = 1, counted_live++;
    if (count) self->number = arguments[0].as.signed_integer;
    *instance = self;
    return INVIVO_OK;
}
static void *counted_weak_make(void *instance, void *user_data) {
    counted *self = instance;
    (void)user_data;
    if (!self->weak) {
        self->weak = calloc(1, sizeof *self->weak);
        self->weak->instance = self, weak_live++;
    }
    self->weak->users++;
    return self->weak;
}
static void *counted_weak_load(void *reference, void *user_data) {
    counted *self = ((weak *)reference)->instance;
    (void)user_data;
    if (!self) return NULL;
    self->count++, askings++;
    if (on_asking && !is_busy) on_asking(self);
    return self;
}
static void counted_weak_free(void *reference, void *user_data) {
    weak *self = reference;
    (void)user_data;
    if (--self->users) return;
    if (self->instance) self->instance->weak = NULL;
    weak_live--;
    free(self);
}

static invivo_type type;
static void begin(uint32_t flags) {
    static const invivo_parameter number[] = {{.name = "number", .kind = INVIVO_KIND_INT64}};
    static const invivo_injection argument[] = {{.name = "number", .how = INVIVO_INJECT_ARGUMENT}};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Counted", .concurrency = INVIVO_SHARED, .make = counted_make,
                                   .release = counted_release, .weak_make = counted_weak_make, .weak_load = counted_weak_load,
                                   .weak_free = counted_weak_free, .parameters = number, .parameter_count = 1};
    invivo_definition definition = {.struct_size = sizeof definition, .key = "a.weak", .scope = INVIVO_SCOPE_WEAK_SINGLETON, .flags = flags,
                                    .initializer = argument, .initializer_count = 1, .parameters = number, .parameter_count = 1};
    counted_live = weak_live = ends = askings = 0, on_end = NULL, on_asking = NULL, is_busy = false;
    memset(kept, 0, sizeof kept);
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    definition.type = type;
    OK(invivo_define(runtime, &definition, &key, E));
}
static void end(void) {
    for (int i = 0; i < 2 * MANY; i++) let_go(i);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(counted_live, 0);
    CHECK_EQUAL(weak_live, 0);
}

/* Resolves and releases; returns the instance, borrowed; null is an error. */
static counted *visit(int64_t number) {
    invivo_value argument = invivo_int64(number);
    invivo_object object;
    void *instance = NULL;
    if (!OK(invivo_resolve_with(runtime, key, &argument, 1, &object, E))) return NULL;
    OK(invivo_object_instance(object, type, &instance, E));
    CHECK_EQUAL(((counted *)instance)->number, number);
    OK(invivo_object_release(object));
    return instance;
}
static void visit_and_keep(int64_t number) {
    invivo_value argument = invivo_int64(number);
    invivo_object object;
    void *instance = NULL;
    if (!OK(invivo_resolve_with(runtime, key, &argument, 1, &object, E))) return;
    OK(invivo_object_instance(object, type, &instance, E));
    kept[number] = instance, kept[number]->count++;
    OK(invivo_object_release(object));
}

/* ---- during weak_load ---------------------------------------------------------------------------------- */

/* The last reference but that of the caller: the returned one is the last. */
static void let_go_of_what_is_asked(counted *self) { let_go(self->number); }

static void visit_all_others(int64_t number) {
    for (int64_t i = 0; i <= MANY; i++)
        if (i != number) (void)visit(i);
}
static void visit_itself_and_the_next(int64_t number) {
    (void)visit(number);
    (void)visit((number + 1) % MANY);
}
static void visit_what_is_made(int64_t number) {
    (void)number;
    (void)visit(MANY);
}

static void the_end_of_what_was_asked_may_resolve(void (*what)(int64_t)) {
    begin(0);
    for (int i = 0; i < MANY; i++) visit_and_keep(i);
    CHECK_EQUAL(counted_live, MANY);
    on_asking = let_go_of_what_is_asked, on_end = what;
    (void)visit(MANY);
    CHECK(askings >= MANY);
    on_asking = NULL, on_end = NULL;
    CHECK_EQUAL(counted_live, 0);
    for (int i = 0; i <= MANY; i++) (void)visit(i);
    CHECK_EQUAL(counted_live, 0);
    end();
}

static void visit_the_next(counted *self) {
    is_busy = true;
    (void)visit((self->number + 1) % MANY);
    (void)visit(MANY);
    is_busy = false;
}
static void weak_load_may_resolve(void) {
    begin(0);
    for (int i = 0; i < MANY; i++) visit_and_keep(i);
    on_asking = visit_the_next;
    (void)visit(MANY);
    CHECK(askings >= MANY);
    on_asking = NULL;
    for (int i = 0; i < MANY; i++) CHECK(visit(i) == kept[i]); /* they have kept their identity */
    CHECK_EQUAL(counted_live, MANY);
    end();
}

/* ---- ends in the middle of a resolve ----------------------------------------------------------------- */

typedef struct node { char name[24]; } node;
static const char *resolved_in[2]; /* by the constructor of "a.top", and released */
static const char *fails_in;       /* its constructor fails after its resolves */
static int nodes_live, nodes_made, resolved_in_ends;
static const char *at_end[2];      /* during its end, the key to resolve */

static void touch(const char *name) {
    invivo_object object;
    if (OK(invivo_resolve_name(runtime, name, &object, E))) OK(invivo_object_release(object));
}
static invivo_status node_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    node *self = instance;
    (void)arguments, (void)count, (void)user_data;
    snprintf(self->name, sizeof self->name, "%s", build->key.bits ? invivo_key_name(build->key) : "made");
    if (!strcmp(self->name, "a.top"))
        for (int i = 0; i < 2; i++)
            if (resolved_in[i]) touch(resolved_in[i]);
    if (fails_in && !strcmp(fails_in, self->name)) {
        *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
        return INVIVO_E_HOST;
    }
    nodes_live++, nodes_made++;
    return INVIVO_OK;
}
static void node_deinit(void *instance, void *user_data) {
    (void)user_data;
    nodes_live--;
    if (at_end[0] && !strcmp(((node *)instance)->name, at_end[0]) && !is_busy) {
        is_busy = true;
        resolved_in_ends++;
        touch(at_end[1]);
        is_busy = false;
    }
}
static const char *at_set; /* the key that the setter resolves */
static int sets;
static bool fails_at_set;
static invivo_status node_get(void *instance, void *user_data, invivo_value *out, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    return *out = invivo_double(0), INVIVO_OK;
}
static invivo_status node_set(void *instance, void *user_data, const invivo_value *value, invivo_error **error) {
    (void)instance, (void)user_data;
    sets++;
    if (at_set) touch(at_set);
    if (!fails_at_set || value->as.number == 0) return INVIVO_OK;
    *error = invivo_error_make(INVIVO_E_HOST, "on purpose", NULL, NULL);
    return INVIVO_E_HOST;
}
static invivo_status node_stop(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    return INVIVO_OK;
}
static invivo_type node_type, own_type; /* shared; confined, so that it is changed in place */
static invivo_changes changes;
static void begin_nodes(bool stops) {
    static const invivo_property gain = {.struct_size = sizeof gain, .name = "gain", .kind = INVIVO_KIND_DOUBLE, .get = node_get,
                                         .set = node_set};
    static const invivo_parameter two[] = {{.name = "first", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL},
                                           {.name = "second", .kind = INVIVO_KIND_OBJECT, .flags = INVIVO_PARAMETER_OPTIONAL}};
    invivo_type_options options = {.struct_size = sizeof options, .name = "Node", .size = sizeof(node), .alignment = 8,
                                   .parameters = two, .parameter_count = 2, .properties = &gain, .property_count = 1, .concurrency = INVIVO_SHARED, .init = node_init, .deinit = node_deinit, .stop = stops ? node_stop : NULL};
    nodes_live = nodes_made = resolved_in_ends = sets = 0, is_busy = fails_at_set = false, at_set = NULL;
    resolved_in[0] = resolved_in[1] = fails_in = at_end[0] = at_end[1] = NULL;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &node_type, E));
    options.name = "Own", options.concurrency = INVIVO_CONFINED;
    OK(invivo_type_register(runtime, &options, &own_type, E));
}
static void describe(void) { OK(invivo_changes_open(runtime, &changes, E)); }
static void add(const char *name, uint32_t scope, const char *first, const char *second) {
    invivo_injection into[2] = {{.how = INVIVO_INJECT_REFERENCE, .reference = first}, {.how = INVIVO_INJECT_REFERENCE, .reference = second}};
    invivo_definition definition = {.struct_size = sizeof definition, .key = name, .scope = scope, .type = strcmp(name, "a.kept") ? node_type : own_type,
                                    .initializer = into, .initializer_count = (first != NULL) + (second != NULL)};
    OK(invivo_changes_define(changes, &definition, NULL, E));
}
static void end_nodes(void) {
    at_end[0] = NULL;
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(nodes_live, 0);
}

/* Two weak singletons are created for one resolve and released in it: the end of each may resolve the other. */
static void the_end_of_one_may_resolve_the_other(bool stops, const char *first, const char *second, uint32_t scope) {
    begin_nodes(stops);
    describe();
    add("a.one", INVIVO_SCOPE_WEAK_SINGLETON, NULL, NULL);
    add("a.two", scope, NULL, NULL);
    add("a.top", INVIVO_SCOPE_PROTOTYPE, NULL, NULL);
    OK(invivo_changes_commit(changes, E));
    resolved_in[0] = first, resolved_in[1] = second;
    at_end[0] = "a.one", at_end[1] = "a.two";
    touch("a.top");
    CHECK_EQUAL(resolved_in_ends, 1);
    end_nodes();
}
/* A failure rolls back objects that were to be started later: the end of one may resolve another, which is created
 * again. */
static void the_end_of_what_is_taken_back_may_resolve_the_rest(bool stops) {
    invivo_object object;
    begin_nodes(stops);
    describe();
    add("a.one", INVIVO_SCOPE_LAZY_SINGLETON, NULL, NULL);
    add("a.two", INVIVO_SCOPE_LAZY_SINGLETON, "a.one", NULL);
    add("a.top", INVIVO_SCOPE_LAZY_SINGLETON, "a.one", "a.two");
    OK(invivo_changes_commit(changes, E));
    fails_in = "a.top", at_end[0] = "a.two", at_end[1] = "a.one";
    expects_error(invivo_resolve_name(runtime, "a.top", &object, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(resolved_in_ends, stops);
    fails_in = NULL;
    touch("a.one"), touch("a.two"), touch("a.top");
    CHECK_EQUAL(nodes_live, 3);
    end_nodes();
}
static void the_end_of_what_a_commit_takes_back_may_resolve_the_rest(bool stops) {
    begin_nodes(stops);
    describe();
    add("a.one", INVIVO_SCOPE_LAZY_SINGLETON, NULL, NULL);
    OK(invivo_changes_commit(changes, E));
    describe();
    add("a.two", INVIVO_SCOPE_SINGLETON, "a.one", NULL);
    add("a.top", INVIVO_SCOPE_SINGLETON, "a.two", NULL);
    fails_in = "a.top", at_end[0] = "a.two", at_end[1] = "a.one";
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    CHECK_EQUAL(resolved_in_ends, 1);
    touch("a.one");
    CHECK_EQUAL(nodes_live, 1);
    end_nodes();
}
/* A setter in a commit may resolve objects of the commit, and so may its undo. */
static void a_setter_may_resolve_what_its_commit_has_made(bool stops) {
    static const char text[] = "traits: { a.kept: [Set: { gain: 1 }] }";
    for (int fails = 0; fails < 2; fails++) {
        begin_nodes(stops);
        describe();
        add("a.kept", INVIVO_SCOPE_SINGLETON, NULL, NULL);
        add("a.one", INVIVO_SCOPE_LAZY_SINGLETON, NULL, NULL);
        OK(invivo_changes_commit(changes, E));
        describe();
        add("a.two", INVIVO_SCOPE_SINGLETON, "a.one", NULL);
        OK(invivo_changes_document(changes, "a.yaml", text, sizeof text - 1, E));
        at_set = "a.one", fails_at_set = fails;
        if (fails) expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
        else OK(invivo_changes_commit(changes, E));
        CHECK(sets >= 1);
        at_set = NULL, fails_at_set = false;
        touch("a.one");
        CHECK_EQUAL(nodes_live, fails ? 2 : 3);
        end_nodes();
    }
}

int main(void) {
    check_begin();
    for (int stops = 0; stops < 2; stops++) {
        RUN_TEST_WITH(the_end_of_one_may_resolve_the_other, stops, "a.one", "a.two", INVIVO_SCOPE_WEAK_SINGLETON);
        RUN_TEST_WITH(the_end_of_one_may_resolve_the_other, stops, "a.two", "a.one", INVIVO_SCOPE_WEAK_SINGLETON);
        RUN_TEST_WITH(the_end_of_one_may_resolve_the_other, stops, "a.one", "a.two", INVIVO_SCOPE_LAZY_SINGLETON);
        RUN_TEST_WITH(the_end_of_one_may_resolve_the_other, stops, "a.two", "a.one", INVIVO_SCOPE_LAZY_SINGLETON);
        RUN_TEST_WITH(the_end_of_what_is_taken_back_may_resolve_the_rest, stops);
        RUN_TEST_WITH(the_end_of_what_a_commit_takes_back_may_resolve_the_rest, stops);
        RUN_TEST_WITH(a_setter_may_resolve_what_its_commit_has_made, stops);
    }
    RUN_TEST_WITH(the_end_of_what_was_asked_may_resolve, NULL);
    RUN_TEST_WITH(the_end_of_what_was_asked_may_resolve, visit_all_others);
    RUN_TEST_WITH(the_end_of_what_was_asked_may_resolve, visit_itself_and_the_next);
    RUN_TEST_WITH(the_end_of_what_was_asked_may_resolve, visit_what_is_made);
    RUN_TEST(weak_load_may_resolve);
    return check_end();
}
