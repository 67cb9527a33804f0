/* hooks.h: functions of the Swift modules above InvivoBase that InvivoBase calls. Each is set before the first object is
 * created. The functions that stand there before do nothing. */
#ifndef INVIVO_HOOKS_H
#define INVIVO_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

struct iv_record;

struct iv_hooks {
    void (*dispose)(struct iv_record *record); /* an object without claims */
    void (*search_cycle)(uint64_t object);     /* an object in a reference cycle has lost a claim */
    void (*thread_ended)(uint64_t thread);
    bool (*is_asked_to_close)(void *engine);
};
extern struct iv_hooks iv_hooks;

/* iv_NAME() returns a function, iv_set_NAME() sets it. */
#define IV_HOOK(result, name, parameter) \
    typedef result (*iv_hook_##name)(parameter); \
    static inline iv_hook_##name _Nonnull iv_##name(void) { return __atomic_load_n(&iv_hooks.name, __ATOMIC_ACQUIRE); } \
    static inline void iv_set_##name(iv_hook_##name _Nonnull function) { \
        __atomic_store_n(&iv_hooks.name, function, __ATOMIC_RELEASE); \
    }
IV_HOOK(void, dispose, struct iv_record *)
IV_HOOK(void, search_cycle, uint64_t)
IV_HOOK(void, thread_ended, uint64_t)
IV_HOOK(bool, is_asked_to_close, void *)
#undef IV_HOOK

#pragma clang assume_nonnull end

#endif
