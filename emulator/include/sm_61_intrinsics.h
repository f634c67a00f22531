/* __dp2a and __dp4a, which cuda_runtime.h brings along anyway. */
#ifndef __SM_61_INTRINSICS_H__
#define __SM_61_INTRINSICS_H__

#include "cuda_runtime.h"

#endif
