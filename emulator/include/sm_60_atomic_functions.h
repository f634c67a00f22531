/* atomicAdd of double, and atomics of a block or the system, which cuda_runtime.h brings along anyway. */
#ifndef __SM_60_ATOMIC_FUNCTIONS_H__
#define __SM_60_ATOMIC_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
