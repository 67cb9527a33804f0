/* A forked child reads configuration, blocks and built shared objects of one generation, by key, name, type and path.
 * Everything else returns INVIVO_E_FORKED, no callback of the parent runs, and close does nothing. A child never waits
 * and never sees half of a commit. Usage: forked [FORKS] */
/* sanitize: no, a sanitizer does not survive its forks */
#include "check.h"

#include <sched.h>

enum { FORKS = 1000, OTHERS = 20 };

typedef struct pair { int64_t number; uint64_t mark; } pair;
enum { MARK = 0x600d };
typedef struct { int64_t number; } dial;

static bool in_child;
static int called_in_child; /* callbacks */
static void note_call(void) { if (in_child) called_in_child++; }

static invivo_status pair_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                               void *user_data, invivo_error **error) {
    pair *self = instance;
    (void)build, (void)user_data, (void)error;
    note_call();
    self->number = count ? arguments[0].as.signed_integer : 0;
    self->mark = MARK;
    return INVIVO_OK;
}
static void pair_deinit(void *instance, void *user_data) {
    (void)user_data;
    note_call();
    ((pair *)instance)->mark = 0;
}
static invivo_status pair_stop(void *instance, void *user_data, invivo_error **error) {
    (void)instance, (void)user_data, (void)error;
    note_call();
    return INVIVO_OK;
}
static const invivo_parameter pair_parameters[] = {{.name = "number", .kind = INVIVO_KIND_INT64, .flags = INVIVO_PARAMETER_OPTIONAL}};
static const invivo_property dial_properties[] = {INVIVO_FIELD(dial, number)};

static invivo_runtime runtime;
static invivo_key left, right, own_thread, cold, made, level, former;
static invivo_config number;
static invivo_object leased_shared, leased_prototype;
static invivo_changes unfinished;
static invivo_context entered; /* by the forking thread, and attached to leased_shared */
static bool stop;

static invivo_status say(invivo_runtime to, int64_t n) {
    invivo_changes changes;
    char text[160];
    int length = snprintf(text, sizeof text, "config: { app: { number: %lld } }\ntraits: { app.level: [ Set: { number: %lld } ] }\n",
                          (long long)n, (long long)n);
    invivo_status status = invivo_changes_open(to, &changes, NULL);
    if (status) return status;
    status = invivo_changes_document(changes, "said", text, (uint64_t)length, NULL);
    if (status) return status;
    return invivo_changes_commit(changes, NULL);
}

static invivo_runtime open_runtime(void) {
    static const invivo_injection from_config[] = {{.how = INVIVO_INJECT_CONFIG, .reference = "number"}};
    invivo_runtime opened = {0};
    invivo_changes changes;
    invivo_type_options shared = {.struct_size = sizeof shared, .name = "Pair", .size = sizeof(pair), .alignment = _Alignof(pair),
                                  .concurrency = INVIVO_SHARED, .init = pair_init, .deinit = pair_deinit, .stop = pair_stop,
                                  .parameters = pair_parameters, .parameter_count = 1};
    invivo_type_options confined = shared;
    invivo_type pairs, confined_pairs;
    confined.name = "Confined";
    confined.concurrency = INVIVO_CONFINED;
    OK(invivo_runtime_open(&opened, NULL, E));
    OK(invivo_type_register(opened, &shared, &pairs, E));
    OK(invivo_type_register(opened, &confined, &confined_pairs, E));
    OK(invivo_changes_open(opened, &changes, E));
    OK(invivo_changes_document(changes, "said", "config: { app: { number: 0 } }", 30, E));
    OK(invivo_changes_add_secret(changes, "tls.key", E));
    invivo_definition each = {.struct_size = sizeof each, .scope = INVIVO_SCOPE_SINGLETON, .type = pairs,
                              .initializer = from_config, .initializer_count = 1};
    each.key = "app.left";
    OK(invivo_changes_define(changes, &each, &left, E));
    each.key = "app.right";
    each.rank = 1;
    OK(invivo_changes_define(changes, &each, &right, E));
    each.rank = 0;
    each.initializer_count = 0;
    each.scope = INVIVO_SCOPE_LAZY_SINGLETON;
    each.key = "app.cold";
    OK(invivo_changes_define(changes, &each, &cold, E));
    each.key = "app.made";
    each.scope = INVIVO_SCOPE_PROTOTYPE;
    OK(invivo_changes_define(changes, &each, &made, E));
    each.key = "app.own_thread";
    each.scope = INVIVO_SCOPE_SINGLETON;
    each.type = confined_pairs;
    OK(invivo_changes_define(changes, &each, &own_thread, E));
    invivo_definition alias = {.struct_size = sizeof alias, .key = "app.former", .alias = "app.left"};
    OK(invivo_changes_define(changes, &alias, &former, E));
    OK(invivo_changes_commit(changes, E));
    each.key = "app.removed", each.type = pairs, each.scope = INVIVO_SCOPE_LAZY_SINGLETON;
    OK(invivo_define(opened, &each, NULL, E));
    OK(invivo_changes_open(opened, &changes, E));
    OK(invivo_changes_remove(changes, "app.removed", E));
    OK(invivo_changes_commit(changes, E));
    OK(invivo_define_block(opened, "app.level", INVIVO_BLOCK(dial, dial_properties), &level, E));
    OK(invivo_config_id(opened, "app.number", INVIVO_KIND_INT64, &number, E));
    OK(say(opened, 1));
    return opened;
}

/* ---- in a child: 0, or the line of the failing check --------------------------------------------------- */

#define HOLDS(condition) if (!(condition)) return __LINE__
#define FORKED(call) if ((call) != INVIVO_E_FORKED) return __LINE__

static const pair *instance_of(invivo_object object) {
    void *instance = NULL;
    invivo_type type = {0};
    return invivo_object_type(object, &type, NULL) == INVIVO_OK && type.bits
               && invivo_object_instance(object, type, &instance, NULL) == INVIVO_OK ? instance : NULL;
}
static int resolved(invivo_status status, invivo_object object, int64_t n) {
    HOLDS(status == INVIVO_OK);
    const pair *found = instance_of(object);
    HOLDS(found && found->mark == MARK && found->number == n);
    HOLDS(invivo_object_release(object) == INVIVO_OK);
    return 0;
}
#define RESOLVED(call) if ((line = resolved(call, object, n)) != 0) return __LINE__

static int reads(void) {
    invivo_object object;
    invivo_key key;
    invivo_config id;
    invivo_value value;
    int64_t n;
    int line;
    bool is_secret;
    invivo_view view = invivo_view_begin(runtime);
    HOLDS(invivo_view_generation(view) > 0);
    n = invivo_view_config_int64(view, number, -1);
    HOLDS(n >= 1);
    HOLDS(((const dial *)invivo_view_block(view, level))->number == n);
    const pair *shown = invivo_view_get(view, left), *other = invivo_view_find(view, "app.right", 9);
    HOLDS(shown && shown->mark == MARK && shown->number == n);
    HOLDS(other && other->mark == MARK && other->number == n);
    const pair *confined = invivo_view_get(view, own_thread);
    HOLDS(confined && confined->mark == MARK);
    HOLDS(invivo_view_key(view, "app.left", 8).bits == left.bits);
    HOLDS(invivo_view_get(view, cold) == NULL);
    invivo_view_end(view);
    RESOLVED(invivo_resolve(runtime, left, &object, NULL));
    RESOLVED(invivo_resolve(runtime, former, &object, NULL));
    RESOLVED(invivo_resolve_name(runtime, "app.right", &object, NULL));
    RESOLVED(invivo_resolve_with(runtime, right, NULL, 0, &object, NULL));
    RESOLVED(invivo_resolve_optional(runtime, left, NULL, 0, &object, NULL));
    RESOLVED(invivo_resolve_type(runtime, "Pair", NULL, 0, &object, NULL)); /* app.right has the higher rank */
    RESOLVED(invivo_resolve_type(runtime, "Pair", "app.left", 0, &object, NULL));
    HOLDS(invivo_resolve_type(runtime, "Pair", "app.left", 0, &object, NULL) == INVIVO_OK && instance_of(object) == shown);
    HOLDS(invivo_object_release(object) == INVIVO_OK);
    HOLDS(invivo_resolve_type(runtime, "Pair", NULL, 0, &object, NULL) == INVIVO_OK && instance_of(object) == other);
    HOLDS(invivo_object_release(object) == INVIVO_OK);
    RESOLVED(invivo_peek(runtime, left, &object));
    HOLDS(invivo_key_of_type(runtime, "Pair", NULL, 0, &key, NULL) == INVIVO_OK && key.bits == right.bits);
    HOLDS(invivo_key_name(right) && !strcmp(invivo_key_name(right), "app.right"));
    HOLDS(invivo_key_of_type(runtime, "Pair", "app.left", 0, &key, NULL) == INVIVO_OK && key.bits == left.bits);
    HOLDS(invivo_key_of_type(runtime, "Nothing", NULL, 0, &key, NULL) == INVIVO_E_NOT_FOUND && key.bits == 0);
    HOLDS(invivo_key_of_type(runtime, "Nothing", NULL, INVIVO_LOOKUP_OPTIONAL, &key, NULL) == INVIVO_OK && key.bits == 0);
    HOLDS(invivo_key_find(runtime, "app.left", &key, NULL) == INVIVO_OK && key.bits == left.bits);
    HOLDS(invivo_key_find(runtime, "app.nothing", &key, NULL) == INVIVO_E_NOT_FOUND && key.bits == 0);
    HOLDS(invivo_key_find(runtime, "app.removed", &key, NULL) == INVIVO_E_NOT_FOUND && key.bits == 0);
    HOLDS(invivo_key_version(left) && invivo_version_read(invivo_key_version(left)) != 0);
    HOLDS(invivo_config_id(runtime, "app.number", INVIVO_KIND_ANY, &id, NULL) == INVIVO_OK && id.bits == number.bits);
    HOLDS(invivo_config_read(runtime, "app.number", &value, NULL) == INVIVO_OK && value.as.signed_integer == n);
    HOLDS(invivo_config_read(runtime, "app", &value, NULL) == INVIVO_OK && value.kind == INVIVO_KIND_MAP);
    invivo_value_clear(&value);
    HOLDS(invivo_config_read(runtime, "app.nothing", &value, NULL) == INVIVO_E_NOT_CONFIGURED);
    HOLDS(invivo_config_is_secret(runtime, "tls", &is_secret, NULL) == INVIVO_OK && is_secret);
    HOLDS(invivo_config_is_secret(runtime, "app.number", &is_secret, NULL) == INVIVO_OK && !is_secret);
    HOLDS(invivo_config_is_secret(runtime, "a..b", &is_secret, NULL) == INVIVO_E_ARGUMENT && !is_secret);
    return 0;
}

static int refuses(void) {
    invivo_object object;
    invivo_config id;
    invivo_changes changes;
    invivo_value value = invivo_int64(1);
    invivo_runtime_info info = {.struct_size = sizeof info};
    invivo_error *error = NULL;
    FORKED(invivo_resolve(runtime, made, &object, &error));
    HOLDS(error && object.bits == 0);
    invivo_error_release(error);
    FORKED(invivo_resolve(runtime, cold, &object, NULL));
    FORKED(invivo_resolve_name(runtime, "app.made", &object, NULL));
    FORKED(invivo_resolve_with(runtime, left, &value, 1, &object, NULL));
    FORKED(invivo_resolve_type(runtime, "Confinedd", NULL, 0, &object, NULL));
    FORKED(invivo_resolve_type(runtime, "Pair", "app.nothing", 0, &object, NULL));
    FORKED(invivo_resolve_all(runtime, "Pair", 0, &value, NULL));
    FORKED(invivo_config_id(runtime, "never.named", INVIVO_KIND_ANY, &id, NULL));
    FORKED(invivo_runtime_inspect(runtime, &info, NULL));
    FORKED(invivo_runtime_poll(runtime, 0, NULL, NULL));
    FORKED(invivo_thread_prepare(runtime, NULL));
    FORKED(invivo_changes_open(runtime, &changes, NULL));
    FORKED(invivo_changes_commit(unfinished, NULL));
    FORKED(invivo_watch(runtime, "a.yaml", NULL));
    FORKED(invivo_stop(runtime, left, NULL));
    FORKED(invivo_start(runtime, left, NULL));
    FORKED(invivo_object_set(leased_shared, "number", &value, NULL));
    FORKED(say(runtime, 7));
    return 0;
}

/* Contexts of the parent cannot be used. */
static int refuses_contexts(void) {
    const invivo_context_kind kind = {.struct_size = sizeof kind, .name = "kind", .policy = INVIVO_CONTEXT_FOLLOWS};
    const invivo_context_key declared = {.struct_size = sizeof declared, .name = "app.left", .kind = INVIVO_KIND_INT64};
    const invivo_context_observer observer = {.struct_size = sizeof observer};
    const invivo_context_query query = {.struct_size = sizeof query, .kind = "kind"};
    const invivo_context_change change = {.key = left, .what = INVIVO_VALUE_HIDE};
    invivo_context found;
    invivo_observer observing;
    invivo_object object;
    invivo_runtime of;
    invivo_value value, number_value = invivo_int64(1);
    invivo_error *error = NULL;
    const char *name;
    FORKED(invivo_context_declare_kinds(runtime, &kind, 1, NULL));
    FORKED(invivo_context_declare_key(runtime, &declared, NULL));
    FORKED(invivo_context_open(runtime, NULL, &found, NULL));
    FORKED(invivo_context_get(entered, left, &value, NULL));
    FORKED(invivo_context_get(entered, left, &value, &error));
    HOLDS(error != NULL);
    invivo_error_release(error);
    FORKED(invivo_context_get_local(entered, left, &value, NULL));
    FORKED(invivo_context_set(entered, left, &number_value, NULL));
    FORKED(invivo_context_remove(entered, left, NULL));
    FORKED(invivo_context_hide(entered, left, NULL));
    FORKED(invivo_context_change_values(entered, &change, 1, NULL));
    FORKED(invivo_context_entries(entered, false, &value, NULL));
    FORKED(invivo_context_observe(entered, left, &observer, &observing, NULL));
    FORKED(invivo_context_parent(entered, &found, NULL));
    FORKED(invivo_context_kind_name(entered, &name, NULL));
    FORKED(invivo_context_object(entered, &object, NULL));
    FORKED(invivo_context_runtime(entered, &of, NULL));
    FORKED(invivo_context_find(entered, &query, &found, NULL));
    FORKED(invivo_context_enter(entered, NULL));
    FORKED(invivo_context_leave(entered, NULL));
    FORKED(invivo_context_attach(entered, leased_shared, NULL));
    FORKED(invivo_context_detach(leased_shared, NULL));
    FORKED(invivo_context_of(leased_shared, &found, NULL));
    FORKED(invivo_context_retain(entered, NULL));
    FORKED(invivo_context_release(entered, NULL));
    FORKED(invivo_context_end(entered, NULL));
    HOLDS(invivo_context_current(runtime).bits == 0);
    invivo_view view = invivo_view_begin(runtime);
    HOLDS(invivo_view_context_value(view, entered, left) == NULL);
    invivo_view_end(view);
    return 0;
}
static int opens_contexts(void) {
    invivo_context context, below;
    invivo_value value = invivo_int64(5), found;
    invivo_key key;
    HOLDS(invivo_key_intern(runtime, "own", &key, NULL) == INVIVO_OK);
    HOLDS(invivo_context_open(runtime, NULL, &context, NULL) == INVIVO_OK);
    HOLDS(invivo_context_enter(context, NULL) == INVIVO_OK);
    HOLDS(invivo_context_open(runtime, NULL, &below, NULL) == INVIVO_OK);
    HOLDS(invivo_context_set(context, key, &value, NULL) == INVIVO_OK);
    HOLDS(invivo_context_get(below, key, &found, NULL) == INVIVO_OK && found.as.signed_integer == 5);
    HOLDS(invivo_context_leave(context, NULL) == INVIVO_OK);
    HOLDS(invivo_context_end(below, NULL) == INVIVO_OK);
    HOLDS(invivo_context_end(context, NULL) == INVIVO_OK);
    HOLDS(invivo_context_get(context, key, &found, NULL) == INVIVO_E_STALE);
    return 0;
}

/* The child may release leases of its parent; nothing ends. */
static int ends_nothing(void) {
    HOLDS(invivo_object_release(leased_prototype) == INVIVO_OK);
    HOLDS(invivo_object_release(leased_shared) == INVIVO_OK);
    HOLDS(invivo_runtime_close(runtime, NULL) == INVIVO_OK);
    HOLDS(invivo_runtime_close_deferred(runtime, NULL) == INVIVO_OK);
    HOLDS(invivo_runtime_close(runtime, NULL) == INVIVO_OK);
    HOLDS(called_in_child == 0);
    return 0;
}

static int opens_its_own(void) {
    invivo_runtime parents = runtime;
    in_child = false;
    check_failures = 0;
    runtime = open_runtime();
    int line = reads();
    if (line) return line;
    HOLDS(say(runtime, 5) == INVIVO_OK);
    if ((line = opens_contexts())) return line;
    HOLDS(invivo_runtime_close(runtime, NULL) == INVIVO_OK);
    runtime = parents;
    return check_failures ? __LINE__ : 0;
}

static int child(bool opens) {
    int line;
    in_child = true;
    alarm(CHECK_LIMIT_SECONDS);
    if ((line = reads()) || (line = refuses()) || (line = refuses_contexts()) || (line = ends_nothing()) || (line = reads())) return line;
    if (opens && (line = opens_its_own())) return line;
    return 0;
}

/* Forks, runs `body` in the child, and checks that it returns 0. */
static void in_a_child(int (*body)(bool), bool opens) {
    int status = -1, ends[2], line = -1;
    pid_t process;
    if (pipe(ends) != 0) { perror("pipe"); exit(2); }
    process = fork();
    if (process == 0) {
        line = body(opens);
        (void)!write(ends[1], &line, sizeof line);
        _exit(line != 0);
    }
    close(ends[1]);
    (void)!read(ends[0], &line, sizeof line);
    close(ends[0]);
    CHECK(waitpid(process, &status, 0) == process);
    if (status != 0) check_failed(__FILE__, line, "the child ended with status %d, signal %d", WEXITSTATUS(status), WTERMSIG(status));
}

/* ---- forks ------------------------------------------------------------------------------------------------ */

static int grandchild(bool opens) {
    (void)opens;
    in_child = true;
    alarm(CHECK_LIMIT_SECONDS);
    int line = reads();
    if (line) return line;
    in_a_child(child, true);
    return check_failures ? __LINE__ : 0;
}

/* A view that is open at the fork shows the same in the child, during newer commits of the parent. */
static invivo_view open_view;
static int reads_an_open_view(bool opens) {
    (void)opens;
    in_child = true;
    alarm(CHECK_LIMIT_SECONDS);
    const pair *shown = invivo_view_get(open_view, left);
    HOLDS(invivo_view_config_int64(open_view, number, -1) == 10);
    HOLDS(shown && shown->mark == MARK && shown->number == 10);
    HOLDS(((const dial *)invivo_view_block(open_view, level))->number == 10);
    /* Views nest: an inner one shows the generation of the outer. */
    invivo_view inner = invivo_view_begin(runtime);
    HOLDS(invivo_view_generation(inner) == invivo_view_generation(open_view) && invivo_view_generation(inner) > 0);
    invivo_view_end(inner);
    invivo_view_end(open_view);
    inner = invivo_view_begin(runtime);
    HOLDS(invivo_view_config_int64(inner, number, -1) == 11);
    invivo_view_end(inner);
    return reads();
}
static void *say_eleven(void *unused) {
    (void)unused;
    OK(say(runtime, 11));
    return NULL;
}
static void an_open_view_stays_readable(void) {
    pthread_t thread;
    OK(say(runtime, 10));
    open_view = invivo_view_begin(runtime);
    pthread_create(&thread, NULL, say_eleven, NULL);
    pthread_join(thread, NULL);
    in_a_child(reads_an_open_view, false);
    CHECK_EQUAL(invivo_view_config_int64(open_view, number, -1), 10);
    invivo_view_end(open_view);
}

/* A fork within a commit, by a constructor: the child reads the former generation. */
static int reads_the_former_generation(bool opens) {
    (void)opens;
    in_child = true;
    alarm(CHECK_LIMIT_SECONDS);
    invivo_view view = invivo_view_begin(runtime);
    HOLDS(invivo_view_config_int64(view, number, -1) == 20);
    const pair *shown = invivo_view_get(view, left);
    HOLDS(shown && shown->mark == MARK && shown->number == 20);
    invivo_view_end(view);
    return child(false);
}
static bool forked_in_a_commit;
static invivo_status init_that_forks(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                     void *user_data, invivo_error **error) {
    (void)build, (void)arguments, (void)count, (void)user_data, (void)error;
    ((pair *)instance)->mark = MARK;
    in_a_child(reads_the_former_generation, false);
    forked_in_a_commit = true;
    return INVIVO_OK;
}
static void a_fork_in_a_commit_gives_the_former_generation(void) {
    static const invivo_injection takes[] = {{.how = INVIVO_INJECT_REFERENCE, .reference = "app.right"}};
    static const invivo_parameter parameters[] = {{.name = "of", .kind = INVIVO_KIND_OBJECT}};
    invivo_type_options forking = {.struct_size = sizeof forking, .name = "Forking", .size = sizeof(pair), .alignment = _Alignof(pair),
                                   .concurrency = INVIVO_SHARED, .init = init_that_forks, .parameters = parameters, .parameter_count = 1};
    invivo_type type;
    invivo_definition each = {.struct_size = sizeof each, .key = "app.forking", .scope = INVIVO_SCOPE_SINGLETON,
                              .initializer = takes, .initializer_count = 1};
    OK(say(runtime, 20));
    OK(invivo_type_register(runtime, &forking, &type, E));
    each.type = type;
    OK(invivo_define(runtime, &each, NULL, E));
    CHECK(forked_in_a_commit);
    forked_in_a_commit = false;
    OK(say(runtime, 20)); /* no change */
    CHECK(!forked_in_a_commit);
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_remove(changes, "app.forking", E));
    OK(invivo_changes_commit(changes, E));
}

/* Other threads commit, build, intern names, look up by type and open runtimes. Each counts its rounds: the first use
 * of a function may hold a lock of the Swift runtime, which a fork does not survive. */
static void *commit(void *rounds) {
    for (int64_t n = 100; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); n++) {
        OK(say(runtime, n));
        __atomic_add_fetch((unsigned *)rounds, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}
static void *use(void *rounds) {
    for (unsigned n = 0; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); n++) {
        invivo_object object;
        invivo_key key;
        invivo_config id;
        char name[32];
        snprintf(name, sizeof name, "other.%u", n % 5000);
        if (OK(invivo_resolve(runtime, made, &object, E))) OK(invivo_object_release(object));
        OK(invivo_key_intern(runtime, name, &key, E));
        OK(invivo_config_id(runtime, name, INVIVO_KIND_ANY, &id, E));
        __atomic_add_fetch((unsigned *)rounds, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}
static void *look_up(void *rounds) {
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        invivo_key key;
        OK(invivo_key_of_type(runtime, "Pair", NULL, 0, &key, E));
        __atomic_add_fetch((unsigned *)rounds, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}
static void *open_and_close(void *rounds) {
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        invivo_runtime second;
        if (OK(invivo_runtime_open(&second, NULL, E))) OK(invivo_runtime_close(second, E));
        __atomic_add_fetch((unsigned *)rounds, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}
static void *use_contexts(void *rounds) {
    invivo_value value = invivo_string("a value");
    invivo_context root;
    OK(invivo_context_open(runtime, NULL, &root, E));
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        invivo_context context;
        invivo_context_value values[] = {{.key = left, .value = value}};
        OK(invivo_context_open(runtime, &(invivo_context_options){.struct_size = sizeof(invivo_context_options), .parent = root,
                                                                  .flags = INVIVO_CONTEXT_STRONG_PARENT, .values = values, .value_count = 1}, &context, E));
        OK(invivo_context_set(context, right, &value, E));
        OK(invivo_context_set(root, right, &value, E));
        OK(invivo_context_end(context, E));
        __atomic_add_fetch((unsigned *)rounds, 1, __ATOMIC_RELEASE);
    }
    OK(invivo_context_end(root, E));
    return NULL;
}
static void forks_under_load(int forks) {
    static void *(*const work[])(void *) = {commit, use, look_up, open_and_close, use_contexts};
    enum { THREADS = sizeof work / sizeof *work };
    pthread_t threads[THREADS];
    unsigned rounds[THREADS] = {0};
    invivo_runtime others[OTHERS];
    for (int i = 0; i < OTHERS; i++) OK(invivo_runtime_open(&others[i], NULL, E));
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work[i], &rounds[i]);
    for (int i = 0; i < THREADS; i++)
        while (__atomic_load_n(&rounds[i], __ATOMIC_ACQUIRE) < 10) sched_yield();
    for (int i = 0; i < forks && !check_failures; i++) in_a_child(child, i % 10 == 0);
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < OTHERS; i++) OK(invivo_runtime_close(others[i], E));
}

int main(int count, char **arguments) {
    check_begin();
    check_directory();
    runtime = open_runtime();
    OK(invivo_resolve(runtime, own_thread, &leased_shared, E));
    OK(invivo_resolve(runtime, made, &leased_prototype, E));
    OK(invivo_changes_open(runtime, &unfinished, E));
    OK(invivo_context_open(runtime, NULL, &entered, E));
    OK(invivo_context_enter(entered, E));
    OK(invivo_context_attach(entered, leased_shared, E));
    RUN_TEST_WITH(in_a_child, child, true);
    RUN_TEST_WITH(in_a_child, grandchild, true);
    RUN_TEST(an_open_view_stays_readable);
    RUN_TEST(a_fork_in_a_commit_gives_the_former_generation);
    RUN_TEST_WITH(forks_under_load, count > 1 ? atoi(arguments[1]) : FORKS);
    invivo_changes_discard(unfinished);
    OK(invivo_object_release(leased_shared));
    OK(invivo_object_release(leased_prototype));
    OK(invivo_runtime_close(runtime, E));
    return check_end();
}
