/* Runs a fuzz target on the given files without libFuzzer, as a test. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int count, char **paths) {
    static uint8_t data[1 << 21];
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(paths[i], "r");
        if (!file) return perror(paths[i]), 1;
        size_t size = fread(data, 1, sizeof(data), file);
        fclose(file);
        /* Complete, and truncated at several positions. */
        for (size_t length = size; length > 0; length = length * 7 / 8) LLVMFuzzerTestOneInput(data, length);
        LLVMFuzzerTestOneInput(data, 0);
    }
    printf("%d files\n", count - 1);
    return count < 2;
}
