/* One generation, never a mix. Each reload changes two shared objects (by new definitions), a block (by a document) and
 * an alias, all with one stamp. Readers compare the four in one view. Every third reload fails. The same checker finds
 * mixes where the publication is split on purpose. */
/* sanitize: yes */
#include "check.h"

typedef struct { uint64_t stamp; uint64_t again; } part; /* `again` is the complement: it shows torn or freed memory */
typedef struct { uint64_t stamp, again; } tuned;

static const invivo_property part_properties[] = {INVIVO_FIELD(part, stamp), INVIVO_FIELD(part, again)};
static const invivo_property tuned_properties[] = {INVIVO_FIELD(tuned, stamp), INVIVO_FIELD(tuned, again)};

static uint64_t made, disposed;
static invivo_status part_make(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    part *self = *instance;
    (void)build, (void)arguments, (void)count, (void)error;
    self->stamp = (uint64_t)(uintptr_t)user_data;
    self->again = ~self->stamp;
    __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    return INVIVO_OK;
}
static invivo_status part_fail(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count, void *user_data,
                               invivo_error **error) {
    (void)instance, (void)build, (void)arguments, (void)count, (void)user_data;
    if (error) *error = invivo_error_make(INVIVO_E_HOST, "made to fail", NULL, NULL);
    return INVIVO_E_HOST;
}
static void part_deinit(void *instance, void *user_data) {
    part *self = instance;
    (void)user_data;
    self->again = 0; /* readers still see it */
    __atomic_add_fetch(&disposed, 1, __ATOMIC_RELAXED);
}

static invivo_runtime runtime;
static invivo_type type;
static invivo_key one, two, block, choice;
static bool stop;

typedef struct { pthread_t thread; uint64_t views, mixed, broken, backwards, last, seen; bool resolves; } reader;

static void *read_on(void *user_data) {
    reader *self = user_data;
    OK(invivo_thread_prepare(runtime, E));
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        invivo_view view = invivo_view_begin(runtime);
        const part *first = invivo_view_get(view, one), *second = invivo_view_get(view, two), *chosen = invivo_view_get(view, choice);
        const tuned *values = invivo_view_block(view, block);
        if (!first || !second || !chosen || !values) {
            self->broken++;
        } else {
            uint64_t stamp = first->stamp;
            if (second->stamp != stamp || chosen->stamp != stamp || values->stamp != stamp)
                __atomic_add_fetch(&self->mixed, 1, __ATOMIC_RELEASE);
            if (first->again != ~first->stamp || second->again != ~second->stamp || chosen->again != ~chosen->stamp ||
                values->again != ~values->stamp)
                self->broken++;
            if (stamp < self->last) self->backwards++;
            self->seen += stamp != self->last;
            self->last = stamp;
        }
        invivo_view_end(view);
        __atomic_add_fetch(&self->views, 1, __ATOMIC_RELEASE);
        if (self->resolves) {
            /* A resolve never fails during reloads, and its object lives while it is held. */
            invivo_object object;
            void *instance = NULL;
            if (OK(invivo_resolve(runtime, two, &object, E))) {
                OK(invivo_object_instance(object, type, &instance, E));
                const part *held = instance;
                if (held->again != ~held->stamp) self->broken++;
                OK(invivo_object_release(object));
            }
        }
    }
    return NULL;
}

static void add_parts(invivo_changes changes, uint64_t stamp, bool fails) {
    char chosen[32];
    invivo_definition first = {.struct_size = sizeof(first), .key = "a.one", .scope = INVIVO_SCOPE_SINGLETON, .type = type,
                               .factory = part_make, .user_data = (void *)(uintptr_t)stamp};
    invivo_definition second = first, variant = first, alias = {.struct_size = sizeof(alias), .key = "a.choice"};
    second.key = "a.two";
    if (fails) second.factory = part_fail;
    snprintf(chosen, sizeof(chosen), "a.variant%d", (int)(stamp % 2));
    variant.key = chosen, alias.alias = chosen;
    OK(invivo_changes_define(changes, &first, NULL, E));
    OK(invivo_changes_define(changes, &second, NULL, E));
    OK(invivo_changes_define(changes, &variant, NULL, E));
    OK(invivo_changes_define(changes, &alias, NULL, E));
}
static void add_document(invivo_changes changes, uint64_t stamp) {
    char text[160];
    int length = snprintf(text, sizeof(text), "traits: { a.block: [ Set: { stamp: %llu, again: %llu } ] }", (unsigned long long)stamp,
                          (unsigned long long)~stamp);
    OK(invivo_changes_document(changes, "stamp.yaml", text, (uint64_t)length, E));
}

static void publish_whole(uint64_t stamp, bool fails) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    add_parts(changes, stamp, fails);
    add_document(changes, stamp);
    if (fails) {
        expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    } else {
        OK(invivo_changes_commit(changes, E));
    }
}
static void publish_split(uint64_t stamp, bool fails) {
    invivo_changes changes;
    (void)fails;
    OK(invivo_changes_open(runtime, &changes, E));
    add_parts(changes, stamp, false);
    OK(invivo_changes_commit(changes, E));
    OK(invivo_changes_open(runtime, &changes, E));
    add_document(changes, stamp);
    OK(invivo_changes_commit(changes, E));
}

enum { READERS = 3 };

static bool any_mixed(const reader readers[READERS]) {
    for (int i = 0; i < READERS; i++) if (__atomic_load_n(&readers[i].mixed, __ATOMIC_ACQUIRE)) return true;
    return false;
}

/* The number of views with a mix. */
static uint64_t check_publication(void (*publish)(uint64_t stamp, bool fails), int reloads, uint64_t *views) {
    invivo_type_options options = {.struct_size = sizeof(options), .name = "Part", .size = sizeof(part), .alignment = _Alignof(part),
                                   .concurrency = INVIVO_SHARED, .deinit = part_deinit, .properties = part_properties,
                                   .property_count = 2};
    reader readers[READERS] = {{.resolves = false}, {.resolves = true}, {.resolves = false}};
    uint64_t mixed = 0, committed = 0, failed = 0;
    made = disposed = 0;
    stop = false;
    OK(invivo_runtime_open(&runtime, NULL, E));
    OK(invivo_type_register(runtime, &options, &type, E));
    OK(invivo_define_block(runtime, "a.block", INVIVO_BLOCK(tuned, tuned_properties), &block, E));
    publish_whole(1, false);
    publish_whole(2, false);
    OK(invivo_key_find(runtime, "a.one", &one, E));
    OK(invivo_key_find(runtime, "a.two", &two, E));
    OK(invivo_key_find(runtime, "a.choice", &choice, E));
    for (int i = 0; i < READERS; i++) pthread_create(&readers[i].thread, NULL, read_on, &readers[i]);
    /* A busy machine may start them late. */
    for (int i = 0; i < READERS; i++) while (__atomic_load_n(&readers[i].views, __ATOMIC_ACQUIRE) == 0) sched_yield();
    /* A split must be detected for every scheduling of the threads. */
    for (int i = 0; i < reloads || (publish == publish_split && i < 100 * reloads && !any_mixed(readers)); i++) {
        bool fails = i % 3 == 2;
        publish((uint64_t)i + 3, fails && publish == publish_whole);
        fails && publish == publish_whole ? failed++ : committed++;
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    *views = 0;
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        CHECK_EQUAL(readers[i].broken, 0);
        CHECK_EQUAL(readers[i].backwards, 0);
        mixed += readers[i].mixed;
        *views += readers[i].views;
    }
    invivo_runtime_info info = {.struct_size = sizeof(info)};
    OK(invivo_runtime_inspect(runtime, &info, E));
    CHECK_EQUAL(info.failures, failed);
    OK(invivo_runtime_close(runtime, E));
    CHECK_EQUAL(made, disposed);
    printf("%llu views of %llu reloads (%llu made to fail): %llu mixed\n", (unsigned long long)*views,
           (unsigned long long)(committed + failed), (unsigned long long)failed, (unsigned long long)mixed);
    return mixed;
}

int main(int count, char **arguments) {
    int reloads = count > 1 ? atoi(arguments[1]) : 3000;
    uint64_t views;
    check_begin();
    CHECK_EQUAL(check_publication(publish_whole, reloads, &views), 0);
    CHECK(check_publication(publish_split, reloads, &views) > 0);
    return check_end();
}
