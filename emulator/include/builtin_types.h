/* All types of the runtime: what older programs include. */
#ifndef BUILTIN_TYPES_H
#define BUILTIN_TYPES_H

#include "device_types.h"
#include "driver_types.h"
#include "texture_types.h"
#include "vector_types.h"

#endif
