/* Before the stubs have a table, every function returns and none crashes; a table of another version is refused. */
#undef NDEBUG
#include <assert.h>
#include <invivo/invivo.h>
#include <string.h>

static invivo_status opened(invivo_runtime *out, const invivo_runtime_options *options, invivo_error **error) {
    (void)options, (void)error;
    out->bits = 42;
    return INVIVO_OK;
}

int main(void) {
    static struct invivo_table table = {.struct_size = sizeof(struct invivo_table), .abi_version = INVIVO_ABI_VERSION};
    invivo_runtime runtime = {7};
    invivo_error *error = (invivo_error *)&runtime;
    invivo_key key = {0};
    invivo_view view;
    invivo_token token;

    assert(invivo_table_get() == NULL);
    assert(invivo_runtime_open(&runtime, NULL, &error) == INVIVO_E_NOT_READY);
    assert(runtime.bits == 0 && error == NULL);
    assert(strcmp(invivo_error_text(NULL), "") == 0);
    invivo_error_release(NULL);

    view = invivo_view_begin(runtime);
    assert(invivo_view_generation(view) == 0);
    assert(invivo_view_get(view, key) == NULL && invivo_view_block(view, key) == NULL);
    assert(invivo_view_find(view, "key", 3) == NULL);
    invivo_view_end(view);

    memset(&token, 0, sizeof(token));
    assert(invivo_attach(NULL, &runtime, NULL) == INVIVO_E_ARGUMENT);
    assert(invivo_attach(&token, &runtime, NULL) == INVIVO_E_HANDLE);

    assert(invivo_stubs_use(NULL) == INVIVO_E_ARGUMENT);
    table.abi_version = INVIVO_ABI_VERSION + 1;
    assert(invivo_stubs_use(&table) == INVIVO_E_VERSION);
    table.abi_version = INVIVO_ABI_VERSION;
    table.struct_size = sizeof(struct invivo_table) - 1;
    assert(invivo_stubs_use(&table) == INVIVO_E_VERSION);
    table.struct_size = sizeof(struct invivo_table);
    table.runtime_open = opened;
    assert(invivo_stubs_use(&table) == INVIVO_OK);
    assert(invivo_table_get() == &table);
    assert(invivo_runtime_open(&runtime, NULL, NULL) == INVIVO_OK && runtime.bits == 42);
    return 0;
}
