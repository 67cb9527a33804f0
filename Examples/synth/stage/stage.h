/* stage.h: the interface of components that generate or change sound, in any language. */
#ifndef SYNTH_STAGE_H
#define SYNTH_STAGE_H

#include <stddef.h>

enum { SYNTH_RATE = 48000, SYNTH_FRAMES = 64 };

/* A component has a read-only property `stage`, the address of this struct, valid as long as the component.
 * `render` writes or changes `count` frames. Only the real-time thread calls it, with the component's block of the
 * current generation. It takes no lock, allocates nothing, makes no system call, and keeps no reference to `block`. */
typedef struct synth_stage {
    void (*render)(void *state, const void *block, float *frames, size_t count);
    void *state; /* used by the real-time thread only */
} synth_stage;

#endif
