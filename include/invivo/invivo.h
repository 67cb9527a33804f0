/** @file invivo.h
 * Includes all headers of the C API. */
#ifndef INVIVO_INVIVO_H
#define INVIVO_INVIVO_H

#include "base.h"
#include "value.h"
#include "type.h"
#include "runtime.h"
#include "object.h"
#include "wiring.h"
#include "setup.h"
#include "assembly.h"
#include "pool.h"
#include "scope.h"
#include "view.h"
#include "pin.h"
#include "context.h"
#include "source.h"
#include "reload.h"
#include "history.h"
#include "rule.h"
#include "trait.h"
#include "config.h"
#include "settings.h"
#include "module.h"
#include "app.h"
#include "graph.h"
#include "callbacks.h"
#include "table.h"

#endif
