/* Runs the text cases of Tests/Cases through the public C API: `c_cases FILE.case... [CASE...]`.
 * Each statement of a case is one call, or a few, with its expectation. Tests/Cases/README.md describes the format. */
/* sanitize: yes */
#include "cases/contexts.h"
#include "cases/expectations.h"
#include "cases/history.h"
#include "cases/trait_types.h"

/* ---- running ------------------------------------------------------------------------------------------- */

static const struct statement {
    const char *verb;
    size_t least; /* words, including the verb */
    invivo_status (*run)(const line *said, const part *words, size_t count, invivo_value *out, invivo_error **error);
} statements[] = {
    {"begin", 1, do_begin}, {"commit", 1, do_commit}, {"discard", 1, do_discard}, {"check", 1, do_check}, {"define", 2, do_define},
    {"remove", 2, do_remove}, {"document", 2, do_document}, {"configure", 3, do_configure}, {"unconfigure", 2, do_unconfigure},
    {"secret", 2, do_secret}, {"secrecy", 3, do_secrecy},
    {"reset", 2, do_reset}, {"reset_scope", 2, do_reset_scope}, {"expect_generation", 2, do_expect_generation}, {"write", 2, do_write}, {"follow", 2, do_follow},
    {"refresh", 2, do_refresh}, {"unfollow", 2, do_unfollow}, {"diverged", 1, do_diverged}, {"mark", 2, do_mark}, {"unmark", 2, do_unmark},
    {"setenv", 3, do_setenv}, {"unsetenv", 2, do_unsetenv}, {"refresh_environment", 1, do_refresh_environment},
    {"advance", 2, do_advance},
    {"rollback", 2, do_rollback}, {"kept", 2, do_kept}, {"assembly", 2, do_assembly}, {"describe", 2, do_describe},
    {"activate", 2, do_activate}, {"deactivate", 2, do_deactivate}, {"mount", 3, do_mount}, {"activity", 3, do_activity},
    {"resolve", 2, do_resolve}, {"optional", 2, do_optional}, {"find", 2, do_find}, {"all", 2, do_all}, {"make", 2, do_make},
    {"own", 2, do_own}, {"call", 3, do_call}, {"invoke", 2, do_invoke}, {"release", 2, do_release}, {"async", 2, do_async},
    {"inject", 2, do_inject}, {"inject_tree", 2, do_inject_tree}, {"override", 2, do_override}, {"restore", 2, do_restore},
    {"decorate", 2, do_decorate}, {"process", 2, do_process}, {"unprocess", 2, do_unprocess}, {"converter", 2, do_converter},
    {"require", 4, do_require}, {"unrequire", 2, do_unrequire}, {"trait", 3, do_trait}, {"untrait", 2, do_untrait},
    {"attach", 3, do_attach}, {"detach", 2, do_detach}, {"declare", 3, do_declare},
    {"bind", 3, do_bind}, {"unbind", 2, do_unbind}, {"settings", 2, do_settings},
    {"context", 3, do_context}, {"unconverter", 2, do_unconverter}, {"convert", 3, do_convert},
    {"property_text", 4, do_property_text}, {"property_read", 4, do_property_read}, {"document_text", 3, do_document_text},
    {"traits_text", 3, do_traits_text}, {"configured", 2, do_configured}, {"observe", 2, do_observe},
    {"subscribe", 2, do_subscribe}, {"unsubscribe", 2, do_unsubscribe},
    {"read", 2, do_read}, {"view", 1, do_view}, {"pinned", 1, do_pinned}, {"start", 2, do_start}, {"stop", 2, do_stop}, {"effect", 2, do_effect}, {"close", 1, do_close},
    {"scope", 2, do_scope}, {"place", 3, do_place}, {"end_place", 3, do_end_place}, {"pool", 3, do_pool}, {"runtime", 2, do_runtime},
    {"spawn", 2, do_spawn}, {"join", 2, do_join}, {"threads", 3, do_threads}, {"fail", 2, do_fail}, {"mend", 2, do_mend},
    {"hold", 2, do_hold}, {"await", 2, do_await}, {"let", 2, do_let}, {"meet", 3, do_meet}, {"slow", 3, do_slow}, {"repeat", 3, do_repeat}, {"child", 2, do_child}, {"log", 1, do_log},
    {"log_in_any_order", 1, do_log_in_any_order}, {"disposed", 1, do_disposed}, {"report", 1, do_report}, {"warns", 1, do_warns}, {"alive", 2, do_alive},
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

/* `fails STATUS TEXT...`: the status and parts of the complete text. `finds RULE TEXT...`: one of several errors. */
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
        size_t end = strlen(name);
        for (const char *at = below->words[1].text; *at && end + 1 < sizeof name; at++) name[end++] = (char)toupper((unsigned char)*at);
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

/* Removes everything that a case leaves; then nothing may remain. */
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
    remove_files();
    remove_variables();
    runtime_count = job_count = rule_count = subscription_count = place_count = table_count = attached_count = context_count = 0;
    texts_clear(&heard), texts_clear(&disposed), texts_clear(&reported), texts_clear(&warned);
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
        if (!is_begun && !script_is(said, "runtime")) OK(runtime_open("main", 0, 0, NULL, E));
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
