/* invivo.h: everything a program needs of Invivo. Each room has a header of its own. */
#ifndef INVIVO_INVIVO_H
#define INVIVO_INVIVO_H

#include <invivo/base.h>
#include <invivo/value.h>
#include <invivo/type.h>
#include <invivo/runtime.h>
#include <invivo/object.h>
#include <invivo/wiring.h>
#include <invivo/view.h>
#include <invivo/source.h>
#include <invivo/reload.h>
#include <invivo/module.h>
#include <invivo/app.h>

#endif
