/* Targets that a setup attaches: they belong to the object that is set up. */
/* sanitize: yes */
#include "parts.h"

static invivo_type panel_type, owner_type;
static invivo_object panel;
static invivo_status refusal; /* of an attachment in a setup */

static invivo_status owner_setup(void *instance, void *user_data, invivo_error **error) {
    invivo_target target = {1};
    (void)user_data;
    invivo_status status = say("setup", ((part *)instance)->name, error);
    if (!status) status = refusal = invivo_target_attach(panel, "ui.panel", &target, error);
    CHECK(target.bits == 0);
    return status;
}
static uint64_t targets(void) {
    invivo_runtime_info info = {.struct_size = sizeof info};
    OK(invivo_runtime_inspect(runtime, &info, E));
    return info.targets;
}
static void document(const char *text) {
    describe();
    OK(invivo_changes_document(changes, "a.yaml", text, strlen(text), E));
    commit();
}
/* All submitted change sets have had their turn. */
static listener heard;
static void settle(void) {
    static int number;
    char key[32];
    snprintf(key, sizeof key, "fence.f%d", number++);
    describe();
    ADD(key, LAZY_SINGLETON, .type = panel_type);
    OK(invivo_changes_submit(changes, E));
    bool found = false;
    for (time_t limit = time(NULL) + CHECK_LIMIT_SECONDS; !found && time(NULL) < limit;) {
        OK(invivo_runtime_poll(runtime, 1, NULL, E));
        for (size_t seen = 0; seen < listener_count(&heard); seen++) found = found || strstr(heard.reports[seen].changes, key);
    }
    CHECK(found);
}
static void begin(void) {
    begin_with(0);
    panel_type = register_type(part_options("Part"));
    invivo_type_options options = part_options("Panel");
    options.concurrency = INVIVO_CONFINED;
    panel_type = register_type(options);
    options.name = "Owner", options.setup = owner_setup;
    owner_type = register_type(options);
    panel = make(panel_type);
    listener_open(&heard, runtime);
    OK(invivo_target_declare(runtime, "ui.panel", panel_type, E));
    document("traits: { ui.panel: [Set: { number: 5 }] }");
}
static void finish(void) {
    drop(panel);
    end();
    listener_end(&heard);
}

static void the_target_belongs_to_the_object(void) {
    begin();
    invivo_injection properties[] = {{.name = "left", .how = INVIVO_INJECT_REFERENCE, .reference = "ui.theme", .flags = INVIVO_INJECT_OWNS}};
    describe();
    ADD("ui.theme", LAZY_SINGLETON, .type = panel_type);
    ADD("ui.owner", LAZY_SINGLETON, .type = owner_type, PROPERTIES(properties));
    commit();
    CHECK_EQUAL(targets(), 0);
    drop(resolve("ui.owner"));
    settle();
    CHECK_EQUAL(targets(), 1);
    CHECK_EQUAL(at(panel)->number, 5);
    for (int round = 1; round <= 5; round++) {
        trace[0] = 0;
        describe();
        ADD("ui.theme", LAZY_SINGLETON, .type = panel_type, .rank = round);
        commit();
        CHECK(strstr(trace, "setup:owner") != NULL);
        settle();
        CHECK_EQUAL(targets(), 1);
        CHECK_EQUAL(at(panel)->number, 5);
    }
    document("traits: { ui.panel: [Set: { number: 7 }] }");
    CHECK_EQUAL(at(panel)->number, 7);
    describe();
    OK(invivo_changes_remove(changes, "ui.owner", E));
    commit();
    settle();
    CHECK_EQUAL(targets(), 0);
    CHECK_EQUAL(at(panel)->number, 0);
    finish();
}

static void an_object_that_ends_at_once_attaches_nothing(void) {
    begin();
    describe();
    ADD("ui.owner", PROTOTYPE, .type = owner_type);
    commit();
    for (int round = 0; round < 20; round++) drop(resolve("ui.owner"));
    settle();
    CHECK_EQUAL(targets(), 0);
    CHECK_EQUAL(at(panel)->number, 0);
    /* Two owners of one target: the later setup has it, and the first teardown leaves it. */
    invivo_object one = resolve("ui.owner"), two = resolve("ui.owner");
    settle();
    CHECK_EQUAL(targets(), 1);
    drop(one);
    settle();
    CHECK_EQUAL(targets(), 1);
    CHECK_EQUAL(at(panel)->number, 5);
    drop(two);
    settle();
    CHECK_EQUAL(targets(), 0);
    finish();
}

static void a_failed_commit_attaches_as_before(void) {
    begin();
    describe();
    ADD("ui.owner", SINGLETON, .type = owner_type);
    ADD("ui.after", SINGLETON, .type = panel_type);
    fail_at = "init:after";
    expects_error(invivo_changes_commit(changes, E), INVIVO_E_HOST, NULL);
    fail_at = NULL;
    settle();
    CHECK_EQUAL(targets(), 0);
    CHECK_EQUAL(at(panel)->number, 0);
    finish();
}

static void close_while_the_attachment_waits(void) {
    for (int round = 0; round < 20; round++) {
        begin();
        describe();
        ADD("ui.owner", LAZY_SINGLETON, .type = owner_type);
        commit();
        drop(resolve("ui.owner"));
        CHECK_EQUAL(refusal, INVIVO_OK);
        finish();
    }
}

int main(void) {
    check_begin();
    RUN_TEST(the_target_belongs_to_the_object);
    RUN_TEST(an_object_that_ends_at_once_attaches_nothing);
    RUN_TEST(a_failed_commit_attaches_as_before);
    RUN_TEST(close_while_the_attachment_waits);
    return check_end();
}
