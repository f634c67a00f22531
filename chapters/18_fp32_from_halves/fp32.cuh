/* Chapter 13 as it is, for what the halves do not pay for: fp32::matmul. Its headers come
 * first, outside the namespace. */
#ifndef FP32_CUH
#define FP32_CUH

#include "hopper.h"
#include "matmul.h"
#include <cuda_pipeline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace fp32
{
#include "13_copy_engine/matmul.cu"
}

#endif
