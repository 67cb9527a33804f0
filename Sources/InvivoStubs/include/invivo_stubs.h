#ifndef INVIVO_STUBS_H
#define INVIVO_STUBS_H

/* Module code calls the functions of the library as usual; the stubs take them through the table. */
#include "../../../include/invivo/invivo.h"

#endif
