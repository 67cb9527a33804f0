/* Change sets that expect a generation, and the reports that a runtime keeps. */
/* sanitize: yes */
#include "parts.h"

/* What the reloads that the test waits for reported, in order. */
static struct { char cause[64]; invivo_status status; } reports[8];
static int report_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;

static void note(void *user_data, const invivo_report *report) {
    (void)user_data;
    pthread_mutex_lock(&lock);
    if (report_count < 8) {
        snprintf(reports[report_count].cause, sizeof reports[0].cause, "%s", invivo_report_cause(report));
        reports[report_count].status = invivo_report_status(report);
    }
    report_count++;
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&lock);
}
static void await_reports(int count) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 60;
    pthread_mutex_lock(&lock);
    while (report_count < count && pthread_cond_timedwait(&came, &lock, &limit) == 0) {}
    pthread_mutex_unlock(&lock);
    CHECK_EQUAL(report_count, count);
}

static uint64_t generation(void) {
    uint64_t found = 0;
    OK(invivo_runtime_generation(runtime, &found, E));
    return found;
}
static void submit(const char *name, uint64_t expected) {
    invivo_changes changes;
    const char *text = "config: { number: 1 }";
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, name, text, strlen(text), E));
    if (expected) OK(invivo_changes_expect(changes, expected, E));
    OK(invivo_changes_submit(changes, E));
}

/* Both sets are submitted during a commit, so they are pending at the same time after it. */
static struct { const char *name; uint64_t expected; } pending[2];
static invivo_status submit_init(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                                 void *user_data, invivo_error **error) {
    for (int i = 0; i < 2; i++) submit(pending[i].name, pending[i].expected);
    return part_init(instance, build, arguments, count, user_data, error);
}
static void submit_during_a_commit(bool is_expecting_first) {
    begin_with(0);
    invivo_type_options part = part_options("Part");
    part.init = submit_init;
    invivo_definition eager = {.struct_size = sizeof eager, .key = "a.part", .type = register_type(part), .scope = INVIVO_SCOPE_SINGLETON};
    invivo_observer_options options = {.struct_size = sizeof options, .reloaded = note};
    invivo_observer observer;
    uint64_t next = generation() + 1;
    pending[0].name = is_expecting_first ? "expecting" : "plain", pending[0].expected = is_expecting_first ? next : 0;
    pending[1].name = is_expecting_first ? "plain" : "expecting", pending[1].expected = is_expecting_first ? 0 : next;
    report_count = 0;
    OK(invivo_observe(runtime, &options, &observer, E));
    OK(invivo_define(runtime, &eager, NULL, E));
    await_reports(3);
    OK(invivo_observer_close(observer, E));
    CHECK_EQUAL(generation(), is_expecting_first ? next + 2 : next + 1);
    CHECK_TEXT(reports[1].cause, pending[0].name);
    CHECK_EQUAL(reports[1].status, INVIVO_OK);
    CHECK_TEXT(reports[2].cause, pending[1].name);
    CHECK_EQUAL(reports[2].status, is_expecting_first ? INVIVO_OK : INVIVO_E_STALE);
    end();
}

static void a_submitted_set_that_expects_a_generation_is_not_combined(void) {
    submit_during_a_commit(true);
    submit_during_a_commit(false);
}

/* Each thread reads a number, and replaces it by the next one if nothing has changed since. */
enum { THREADS = 4, ROUNDS = 20 };
static void *increment(void *stale) {
    for (int done = 0; done < ROUNDS;) {
        uint64_t expected = 0;
        invivo_value value;
        invivo_changes changes;
        CHECK(invivo_runtime_generation(runtime, &expected, NULL) == INVIVO_OK);
        CHECK(invivo_config_read(runtime, "number", &value, NULL) == INVIVO_OK);
        value = invivo_int64(value.as.signed_integer + 1);
        CHECK(invivo_changes_open(runtime, &changes, NULL) == INVIVO_OK);
        CHECK(invivo_changes_expect(changes, expected, NULL) == INVIVO_OK);
        CHECK(invivo_changes_configure(changes, "number", &value, NULL) == INVIVO_OK);
        invivo_status status = invivo_changes_commit(changes, NULL);
        if (status == INVIVO_OK) {
            done++;
        } else {
            CHECK_EQUAL(status, INVIVO_E_STALE);
            __atomic_add_fetch((int *)stale, 1, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}
static void no_update_is_lost_between_threads(void) {
    pthread_t threads[THREADS];
    invivo_value value = invivo_int64(0);
    int stale = 0;
    begin_with(0);
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_configure(changes, "number", &value, E));
    OK(invivo_changes_commit(changes, E));
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, increment, &stale);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    OK(invivo_config_read(runtime, "number", &value, E));
    CHECK_EQUAL(value.as.signed_integer, THREADS * ROUNDS);
    printf("%d of %d sets were stale\n", stale, stale + THREADS * ROUNDS);
    end();
}

/* ---- kept reports -------------------------------------------------------------------------------------- */

static struct { char cause[64], key[64], location[64]; invivo_status status; size_t count; uint64_t omitted; } kept[80];
static int kept_count;
static void keep(void *user_data, const invivo_report *report) {
    CHECK(user_data == &kept_count);
    if (kept_count == 80) return;
    snprintf(kept[kept_count].cause, sizeof kept[0].cause, "%s", invivo_report_cause(report));
    snprintf(kept[kept_count].key, sizeof kept[0].key, "%s", invivo_report_count(report) ? invivo_report_key(report, 0) : "");
    snprintf(kept[kept_count].location, sizeof kept[0].location, "%s", invivo_report_location(report, 0));
    kept[kept_count].status = invivo_report_status(report), kept[kept_count].omitted = invivo_report_omitted(report);
    kept[kept_count++].count = invivo_report_count(report);
}
static void read_reports(void) {
    kept_count = 0;
    OK(invivo_runtime_reports(runtime, keep, &kept_count, E));
}

static invivo_status document(const char *name, const char *text, invivo_error **error) {
    invivo_changes changes;
    OK(invivo_changes_open(runtime, &changes, E));
    OK(invivo_changes_document(changes, name, text, strlen(text), E));
    return invivo_changes_commit(changes, error);
}

static void the_last_reports_are_kept_with_their_locations(void) {
    char text[64];
    begin_with(0);
    read_reports();
    CHECK_EQUAL(kept_count, 0);
    expects_error(invivo_runtime_reports(runtime, NULL, NULL, E), INVIVO_E_ARGUMENT, "visit is NULL");
    OK(document("a.yaml", "config:\n  number: 1\n", E));
    expects_error(document("a.yaml", "config: [", E), INVIVO_E_SYNTAX, NULL);
    OK(document("a.yaml", "config:\n  number: 1\n", E)); /* the same as before: no report */
    invivo_definition part = {.struct_size = sizeof part, .key = "a.part", .type = register_type(part_options("Part")), .file = "parts.c", .line = 7};
    OK(invivo_define(runtime, &part, NULL, E));
    OK(document("a.yaml", "config:\n\n  number: 2\n", E));
    read_reports();
    CHECK_EQUAL(kept_count, 4);
    CHECK_TEXT(kept[0].key, "number"), CHECK_TEXT(kept[0].location, "a.yaml:2:11"), CHECK_EQUAL(kept[0].status, INVIVO_OK);
    CHECK_EQUAL(kept[1].status, INVIVO_E_SYNTAX), CHECK_EQUAL(kept[1].count, 0), CHECK_TEXT(kept[1].location, "");
    CHECK_TEXT(kept[2].cause, "define a.part"), CHECK_TEXT(kept[2].location, "parts.c:7");
    CHECK_TEXT(kept[3].location, "a.yaml:3:11"), CHECK_EQUAL(kept[3].omitted, 0);
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "config: { number: %d }", i + 10);
        OK(document("a.yaml", text, E));
    }
    read_reports();
    CHECK_EQUAL(kept_count, 64);
    CHECK_EQUAL(kept[63].status, INVIVO_OK);
    end();
}

/* A report of 5,001 changes keeps the first 1000, and many long ones displace each other. */
static void kept_reports_are_bounded_in_bytes(void) {
    enum { MANY = 5000, LONG = 40 };
    char *text = malloc(MANY * 32);
    begin_with(0);
    size_t length = (size_t)sprintf(text, "config: {");
    for (int i = 0; i < MANY; i++) length += (size_t)sprintf(text + length, " v%d: 1,", i);
    sprintf(text + length, " last: 1 }");
    OK(document("many.yaml", text, E));
    read_reports();
    CHECK_EQUAL(kept_count, 1);
    CHECK_EQUAL(kept[0].count, 1000);
    CHECK_EQUAL(kept[0].omitted, MANY + 1 - 1000);
    for (int round = 0; round < LONG; round++) {
        length = (size_t)sprintf(text, "config: {");
        for (int i = 0; i < 1000; i++) length += (size_t)sprintf(text + length, " v%d: %d,", i, round);
        sprintf(text + length, " last: 1 }");
        OK(document("other.yaml", text, E));
    }
    read_reports();
    CHECK(kept_count >= 1 && kept_count < LONG);
    free(text);
    end();
}

int main(void) {
    check_begin();
    RUN_TEST(the_last_reports_are_kept_with_their_locations);
    RUN_TEST(kept_reports_are_bounded_in_bytes);
    RUN_TEST(a_submitted_set_that_expects_a_generation_is_not_combined);
    RUN_TEST(no_update_is_lost_between_threads);
    return check_end();
}
