/* stage.h: what a component offers that makes or changes sound, whatever language it is written in. */
#ifndef SYNTH_STAGE_H
#define SYNTH_STAGE_H

#include <stddef.h>

enum { SYNTH_RATE = 48000, SYNTH_FRAMES = 64 };

/* A component has a read-only property `stage`, the address of one of these, valid as long as the component.
 *
 * `render` fills or changes `count` frames. It is called by the real-time thread alone, with the component's block of the
 * generation being read: it takes no lock, allocates nothing, makes no system call, and keeps nothing of `block`. */
typedef struct synth_stage {
    void (*render)(void *state, const void *block, float *frames, size_t count);
    void *state; /* the real-time thread's own */
} synth_stage;

#endif
