/** @file pin.h
 * Pins: one generation for a request, a job or a task. */
#ifndef INVIVO_PIN_H
#define INVIVO_PIN_H

#include "base.h"

INVIVO_EXTERN_C_BEGIN

/** A source location, for messages. */
typedef struct invivo_place {
    const char *file; /**< not copied: it must stay valid until the pin has ended, as __FILE__ does; may be NULL */
    uint32_t line;
    uint32_t reserved; /**< 0 */
} invivo_place;

/* A pin keeps one generation. While a thread is in a pin, its resolves, providers, lazies, views, blocks and configuration answer
 * from that generation, whatever reloads commit meanwhile:
 *
 * - An object whose definition and dependencies have not changed since is the ordinary shared object. An object that a reload has
 *   replaced since is the former one. If that was never built, it is built once for the generation of the pin, and is stopped when
 *   the last pin or view of that generation has ended.
 * - Three things exist once, and are always the newest: exclusive objects, pools, and properties that a reload sets in objects of
 *   confined types.
 * - In a factory or hook, reads answer from the generation for which its object is built. Jobs, observers and functions of pools
 *   belong to no pin.
 *
 * A change set that is committed in a pin is a change of the newest generation, and the pin does not show it.
 *
 * A pin keeps its own generation only: those between it and the current one end. It costs the memory of what has changed since.
 * One that is older than `pin_max_age_ms` of the runtime is logged once, with the place where it began. Close ends all pins, and
 * logs them. */

/** Begins a pin, in which the calling thread is until the pin ends.
 * It keeps the current generation, or the generation of the thread's innermost pin: pins nest. `place` may be NULL.
 * Returns zero if the runtime is closed, if the process is a forked child of its process, if the thread has an open view of another
 * generation, or if memory is exhausted. */
INVIVO_API invivo_pin invivo_pin_begin(invivo_runtime runtime, const invivo_place *place) INVIVO_NOWAIT;
/** Begins a pin that belongs to no thread: for tasks that several threads run one after the other. Threads enter it with
 * invivo_pin_enter. Any thread ends it. Otherwise as invivo_pin_begin. */
INVIVO_API invivo_pin invivo_pin_hold(invivo_runtime runtime, const invivo_place *place) INVIVO_NOWAIT;
/** Begins a further pin of the same generation, in which the calling thread is until that one ends.
 * The two end independently. Errors: INVIVO_E_STALE if `pin` has ended, INVIVO_E_BUSY if the thread has an open view of another
 * generation, INVIVO_E_FORKED, INVIVO_E_MEMORY. */
INVIVO_API invivo_status invivo_pin_enter(invivo_pin pin, invivo_pin *out, invivo_error **error) INVIVO_NOWAIT;
/** Ends a pin. Pins of a thread may end in any order. Zero, or a pin that has ended already, by close too, is no error.
 * INVIVO_E_DOMAIN if another thread is in it: nothing happens. When that thread has ended, any thread may end the pin. Views that
 * are still open stay valid. In a forked child it ends the pin for the child alone. */
INVIVO_API invivo_status invivo_pin_end(invivo_pin pin) INVIVO_NOWAIT;
/** Returns the innermost pin that the calling thread is in, borrowed; zero if it is in none. */
INVIVO_API invivo_pin invivo_pin_current(invivo_runtime runtime) INVIVO_NOWAIT;
/** Returns the generation of a pin; 0 if it has ended. */
INVIVO_API uint64_t invivo_pin_generation(invivo_pin pin) INVIVO_NOWAIT;

INVIVO_EXTERN_C_END

#endif
