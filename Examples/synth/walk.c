/* A melody in C: it walks up and down in the bass. In tuning.yaml, `wiring:` chooses it instead of the one in sequencer.py. */
#include <invivo/invivo.h>

typedef struct walk { uint64_t step; } walk;

static invivo_status next(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                          invivo_value *result, invivo_error **error) {
    static const int64_t notes[] = {33, 36, 38, 40, 43, 40, 38, 36};
    uint64_t step = __atomic_fetch_add(&((walk *)instance)->step, 1, __ATOMIC_RELAXED);
    (void)user_data, (void)arguments, (void)count, (void)error;
    *result = invivo_int64(notes[step % (sizeof notes / sizeof *notes)]);
    return INVIVO_OK;
}

static const invivo_method methods[] = {
    {.struct_size = sizeof(invivo_method), .name = "next", .text = "Returns the next note, as a MIDI number; any thread may call it.",
     .result = INVIVO_KIND_INT64, .call = next}};

INVIVO_MODULE(runtime, error) {
    static const char *const supertypes[] = {"Melody"};
    const invivo_type_options type = {
        .struct_size = sizeof type, .name = "Walk", .concurrency = INVIVO_SHARED, .size = sizeof(walk),
        .alignment = _Alignof(walk), .supertypes = supertypes, .supertype_count = 1, .methods = methods, .method_count = 1};
    return invivo_type_register(runtime, &type, NULL, error);
}
