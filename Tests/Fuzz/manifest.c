/* Arbitrary bytes as an application manifest whose modules are not loaded: the result is OK or an error. */
#include <invivo/invivo.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    invivo_app_options options = {.struct_size = sizeof(options), .flags = INVIVO_APP_WITHOUT_MODULES};
    invivo_error *error = NULL;
    char path[64];
    snprintf(path, sizeof(path), "/tmp/invivo-fuzz-%d.yaml", (int)getpid());
    FILE *file = fopen(path, "w");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
    options.manifest = path;
    if (invivo_app_check(&options, 0, NULL, &error) != INVIVO_OK) {
        if (!error || !*invivo_error_text(error)) abort();
        invivo_error_release(error);
    }
    unlink(path);
    return 0;
}
