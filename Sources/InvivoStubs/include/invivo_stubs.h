#include "../../../include/invivo/invivo.h"
