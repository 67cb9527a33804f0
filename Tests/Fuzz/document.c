/* Arbitrary bytes as a document, YAML or JSON: the result is a document or an error with a source location. The first
 * byte selects the format. */
#include <invivo/invivo.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static invivo_runtime runtime;
    static const char *const names[] = {"fuzz.yaml", "fuzz.json"};
    invivo_source_options options = {.struct_size = sizeof(options)};
    invivo_source source = {0};
    invivo_error *error = NULL;
    if (!size) return 0;
    if (!runtime.bits && invivo_runtime_open(&runtime, NULL, NULL) != INVIVO_OK) abort();
    options.name = names[data[0] & 1];
    options.text = (const char *)data + 1;
    options.length = size - 1;
    if (invivo_source_open(runtime, &options, &source, &error) != INVIVO_OK) {
        if (!error || !*invivo_error_text(error)) abort();
        invivo_error_release(error);
    } else if (invivo_source_close(source, NULL) != INVIVO_OK) {
        abort();
    }
    return 0;
}
