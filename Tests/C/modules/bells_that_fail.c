#include "bells.h"

INVIVO_MODULE(runtime, error) {
    invivo_status status = register_bells(runtime, error);
    if (status) return status;
    *error = invivo_error_make(INVIVO_E_HOST, "the bells are cracked", NULL, NULL);
    return INVIVO_E_HOST;
}
