#include <invivo/invivo.h>
