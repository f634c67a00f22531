/* Votes and counts, which cuda_runtime.h brings along anyway. */
#ifndef __SM_20_INTRINSICS_H__
#define __SM_20_INTRINSICS_H__

#include "cuda_runtime.h"

#endif
