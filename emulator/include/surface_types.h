/* What describes surfaces, which texture_types.h does. */
#ifndef SURFACE_TYPES_H
#define SURFACE_TYPES_H

#include "texture_types.h"

#endif
