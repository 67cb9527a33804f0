/* life.h: statements of life cycle, scopes, pools, runtimes, threads and events. */
#ifndef INVIVO_TESTS_CASES_LIFE_H
#define INVIVO_TESTS_CASES_LIFE_H

#include "processing.h"

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

STATEMENT(effect) { /* outside of a setup */
    UNUSED;
    return add_effect(runtime, words[1].text, error);
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

static invivo_status runtime_open(const char *name, uint32_t flags, uint32_t history, const char *prefix, invivo_error **error) {
    invivo_runtime_options options;
    invivo_observer observer;
    invivo_observer_options watching = {.struct_size = sizeof watching, .reloaded = case_reloaded};
    invivo_runtime_options_init(&options);
    options.flags |= flags, options.history = history;
    /* Files are read by statements alone. */
    options.quiet_ms = options.settle_max_ms = 3600000;
    options.environment_prefix = prefix;
    options.ramp_tick_ms = INVIVO_RAMP_TICK_MANUAL;
    invivo_runtime opened;
    invivo_status status = invivo_runtime_open(&opened, &options, error);
    if (status) return status;
    runtime = opened;
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
    const part *history = script_labelled(said, "history"), *prefix = script_labelled(said, "prefix");
    return runtime_open(words[1].text, script_says(said, 2, "without_needs") ? INVIVO_RUNTIME_WITHOUT_NEEDS : 0,
                        !history ? 0 : atoi(history->text) ? (uint32_t)atoi(history->text) : INVIVO_HISTORY_NONE,
                        prefix ? prefix->text : NULL, error);
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
STATEMENT(threads) { /* several threads at the same time: a list of their results */
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

/* Runs in a forked child, whose exit status is the status of the statement. */
STATEMENT(child) {
    UNUSED;
    int ended = -1;
    pid_t process = fork();
    if (process == 0) {
        invivo_value value;
        alarm(CHECK_LIMIT_SECONDS);
        check_failures = 0;
        invivo_status status = perform(said, (size_t)(words - said->words) + 1, &value, error);
        _exit(check_failures ? 255 : -status);
    }
    if (waitpid(process, &ended, 0) != process || !WIFEXITED(ended) || WEXITSTATUS(ended) == 255) WRONG("the child ended with %#x", (unsigned)ended);
    return -WEXITSTATUS(ended);
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

#endif
