/* Chapter 13 as it is, for what tensor cores do not pay for in chapters 17 and 18:
 * fp32::matmul. Its headers come first, outside the namespace. */
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

// How long chapter 13 says that it takes.
static double fp32_nanoseconds(int sms, int M, int N, int K, const float *B)
{
    const struct fp32::work w = {M, N, K, 1.0f, 0.0f, NULL, B, NULL, N};
    const bool wide = fp32::wide_rows(&w);
    const int count = sizeof fp32::KINDS / sizeof *fp32::KINDS;
    const struct fp32::kind *kind = fp32::fastest(fp32::KINDS, count, sms, M, N, K, wide);
    return kind->nanoseconds(kind, sms, M, N, K, wide);
}

#endif
