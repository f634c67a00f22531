/* Atomics of 64 bits, which cuda_runtime.h brings along anyway. */
#ifndef __SM_35_ATOMIC_FUNCTIONS_H__
#define __SM_35_ATOMIC_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
