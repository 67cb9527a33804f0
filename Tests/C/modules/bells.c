#include "bells.h"

INVIVO_MODULE(runtime, error) { return register_bells(runtime, error); }
