#include "invivo_stubs.h"
