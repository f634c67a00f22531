/* __ldg and its kin, which cuda_runtime.h brings along anyway. */
#ifndef __SM_35_INTRINSICS_H__
#define __SM_35_INTRINSICS_H__

#include "cuda_runtime.h"

#endif
