/* Errors as values: contents, combined errors, copies, causes. An endless chain of causes costs no more than its links,
 * keeps the first cause, and does not overflow the stack. */
/* sanitize: no, its threads only read one immutable error */
#include "check.h"

static void every_part_of_an_error_can_be_read(void) {
    invivo_error *error = invivo_error_make_at(INVIVO_E_RANGE, "5 is too much", "synth.gain", "t.yaml", 3, 9, invivo_error_make(INVIVO_E_HOST, "no", NULL, NULL));
    CHECK_EQUAL(invivo_error_code(error), INVIVO_E_RANGE);
    CHECK_TEXT(invivo_error_message(error), "5 is too much");
    CHECK_TEXT(invivo_error_path(error), "synth.gain");
    CHECK_TEXT(invivo_error_file(error), "t.yaml");
    CHECK_EQUAL(invivo_error_line(error), 3);
    CHECK_EQUAL(invivo_error_column(error), 9);
    CHECK_TEXT(invivo_error_rule(error), "");
    CHECK_TEXT(invivo_error_needed_by(error), "");
    CHECK_EQUAL(invivo_error_count(error), 1);
    CHECK(invivo_error_at(error, 0) == error);
    CHECK(!invivo_error_at(error, 1));
    CHECK_TEXT(invivo_error_text(error), "t.yaml:3:9: synth.gain: 5 is too much (because no)");
    CHECK(invivo_error_text(error) == invivo_error_text(error)); /* borrowed: the same until its end */
    CHECK(invivo_error_cause(error) == invivo_error_cause(error));
    CHECK_TEXT(invivo_error_text(invivo_error_cause(error)), "no");
    CHECK(!invivo_error_cause(invivo_error_cause(error)));
    invivo_error_release(error);
}

static void nothing_is_neutral(void) {
    CHECK_EQUAL(invivo_error_code(NULL), INVIVO_OK);
    CHECK_TEXT(invivo_error_text(NULL), "");
    CHECK_TEXT(invivo_error_message(NULL), "");
    CHECK_EQUAL(invivo_error_count(NULL), 0);
    CHECK(!invivo_error_at(NULL, 0));
    CHECK(!invivo_error_cause(NULL));
    CHECK(!invivo_error_copy(NULL));
    CHECK(!invivo_error_join(NULL, NULL));
    invivo_error_release(NULL);
}

static void two_errors_are_reported_as_one(void) {
    invivo_error *first = invivo_error_make(INVIVO_E_RANGE, "one", "a.x", NULL), *second = invivo_error_make(INVIVO_E_TYPE, "two", NULL, NULL);
    invivo_error *both = invivo_error_join(first, second);
    both = invivo_error_join(both, invivo_error_make(INVIVO_E_NULL, "three", NULL, NULL));
    CHECK(invivo_error_join(both, NULL) == both);
    CHECK(invivo_error_join(NULL, both) == both);
    CHECK_EQUAL(invivo_error_code(both), INVIVO_E_RANGE);
    CHECK_EQUAL(invivo_error_count(both), 3);
    CHECK_EQUAL(invivo_error_code(invivo_error_at(both, 1)), INVIVO_E_TYPE);
    CHECK_TEXT(invivo_error_text(invivo_error_at(both, 0)), "a.x: one");
    CHECK_TEXT(invivo_error_text(both), "a.x: one\ntwo\nthree");
    CHECK(!invivo_error_at(both, 3));
    invivo_error_release(both);
}

static void a_copy_is_equal_and_independent(void) {
    invivo_error *parts = invivo_error_join(invivo_error_make(INVIVO_E_RANGE, "one", NULL, invivo_error_make(INVIVO_E_HOST, "no", NULL, NULL)),
                                            invivo_error_make(INVIVO_E_TYPE, "two", NULL, NULL));
    invivo_error *copy = invivo_error_copy(parts);
    CHECK(copy != parts);
    invivo_error_release(parts);
    CHECK_TEXT(invivo_error_text(copy), "one (because no)\ntwo");
    CHECK_EQUAL(invivo_error_count(copy), 2);
    CHECK_TEXT(invivo_error_text(invivo_error_cause(invivo_error_at(copy, 0))), "no");
    invivo_error_release(copy);
}

enum { WRAPPED = 100000 };
static void a_chain_of_causes_may_be_of_any_length(void) {
    char text[32];
    invivo_error *error = invivo_error_make(INVIVO_E_FILE, "what was there first", NULL, NULL);
    for (int i = 1; i <= WRAPPED; i++) {
        snprintf(text, sizeof text, "step %d", i);
        error = invivo_error_make(INVIVO_E_HOST, text, NULL, error);
    }
    CHECK_TEXT(invivo_error_message(error), "step 100000");
    const invivo_error *root = error;
    int links = 0;
    for (const invivo_error *cause = error; cause; cause = invivo_error_cause(cause)) root = cause, links++;
    CHECK(links > 100 && links < 1000);
    CHECK_EQUAL(invivo_error_code(root), INVIVO_E_FILE);
    CHECK_TEXT(invivo_error_message(root), "what was there first");
    CHECK(strncmp(invivo_error_text(error), "step 100000 (because step 99999 (because ", 41) == 0);
    CHECK(strstr(invivo_error_text(error), "causes in between are left out (because what was there first)") != NULL);
    invivo_error_release(error);
}
static void a_chain_of_ordinary_length_is_kept_whole(void) {
    char text[32], expected[4096] = "", end[512] = "";
    invivo_error *error = NULL;
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "step %d", i);
        error = invivo_error_make(INVIVO_E_HOST, text, NULL, error);
    }
    for (int i = 99; i >= 0; i--) {
        size_t length = strlen(expected);
        snprintf(expected + length, sizeof expected - length, i > 0 ? "step %d (because " : "step %d", i);
        if (i > 0) strcat(end, ")");
    }
    CHECK_TEXT(invivo_error_text(error), strcat(expected, end));
    invivo_error_release(error);
}
/* Joining and wrapping again does not nest deeper. */
static void chains_of_several_errors_end_too(void) {
    invivo_error *error = NULL;
    for (int i = 0; i < 20000; i++) {
        error = invivo_error_join(invivo_error_make(INVIVO_E_TYPE, "side", NULL, NULL), error);
        error = invivo_error_make(INVIVO_E_HOST, "over", NULL, error);
    }
    CHECK(strncmp(invivo_error_text(error), "over (because side\nover (because side", 36) == 0);
    invivo_error *copy = invivo_error_copy(error);
    invivo_error_release(error);
    CHECK_EQUAL(invivo_error_count(copy), 1);
    invivo_error_release(copy);
}

/* Any thread creates texts and causes on demand. */
static void *read_all(void *shared) {
    size_t length = 0;
    for (const invivo_error *cause = shared; cause; cause = invivo_error_cause(cause))
        for (size_t i = 0; i < invivo_error_count(cause); i++) length += strlen(invivo_error_text(invivo_error_at(cause, i)));
    return (void *)length;
}
static void any_thread_may_read_it(void) {
    invivo_error *error = NULL;
    for (int i = 0; i < 50; i++) error = invivo_error_make(INVIVO_E_HOST, "over", "a.x", invivo_error_join(error, invivo_error_make(INVIVO_E_TYPE, "side", NULL, NULL)));
    pthread_t readers[8];
    void *lengths[8];
    for (int i = 0; i < 8; i++) CHECK_EQUAL(pthread_create(&readers[i], NULL, read_all, error), 0);
    for (int i = 0; i < 8; i++) CHECK_EQUAL(pthread_join(readers[i], &lengths[i]), 0);
    for (int i = 1; i < 8; i++) CHECK(lengths[i] == lengths[0] && lengths[i]);
    invivo_error_release(error);
}

static void codes_have_names_and_texts(void) {
    CHECK_TEXT(invivo_status_name(INVIVO_OK), "INVIVO_OK");
    CHECK_TEXT(invivo_status_text(INVIVO_OK), "success");
    CHECK_TEXT(invivo_status_name(INVIVO_E_RANGE), "INVIVO_E_RANGE");
    CHECK_TEXT(invivo_status_text(INVIVO_E_RANGE), "the value is outside the range");
    CHECK_TEXT(invivo_status_name(12345), "INVIVO_E_UNKNOWN");
    CHECK(invivo_status_text(12345)[0] != 0);
}
static void the_version_is_that_of_the_header(void) {
    CHECK_EQUAL(invivo_version(), INVIVO_VERSION_MAJOR * 1000000 + INVIVO_VERSION_MINOR * 1000 + INVIVO_VERSION_PATCH);
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", INVIVO_VERSION_MAJOR, INVIVO_VERSION_MINOR, INVIVO_VERSION_PATCH);
    CHECK_TEXT(invivo_version_text(), text);
}

int main(void) {
    check_begin();
    RUN_TEST(every_part_of_an_error_can_be_read);
    RUN_TEST(nothing_is_neutral);
    RUN_TEST(two_errors_are_reported_as_one);
    RUN_TEST(a_copy_is_equal_and_independent);
    RUN_TEST(a_chain_of_causes_may_be_of_any_length);
    RUN_TEST(a_chain_of_ordinary_length_is_kept_whole);
    RUN_TEST(chains_of_several_errors_end_too);
    RUN_TEST(any_thread_may_read_it);
    RUN_TEST(codes_have_names_and_texts);
    RUN_TEST(the_version_is_that_of_the_header);
    return check_end();
}
