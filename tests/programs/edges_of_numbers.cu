// NaN, zeros and subnormal numbers where C and a GPU differ, or leave something open.
// BUILD: -arch=sm_90
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <float.h>
#include <math.h>

enum { RESULTS = 64 };

template <class T, class T2>
__device__ long long *comparisons(long long *out, T one, T nan)
{
    const T2 mixed(nan, one), ones(one, one), nans(nan, nan);
    *out++ = __hne(nan, one), *out++ = __hneu(nan, one), *out++ = nan != one;
    *out++ = __hequ(nan, one), *out++ = __hlt(nan, one), *out++ = __hltu(nan, one);
    *out++ = (float)__hne2(mixed, ones).x == 0.0f, *out++ = __hbne2(nans, ones);
    *out++ = __hbneu2(nans, ones), *out++ = nans != ones, *out++ = ones == ones;
    *out++ = (long long)__hequ2_mask(mixed, ones),
    *out++ = (long long)__hne2_mask(mixed, ones);
    return out;
}

__global__ void edges(long long *out, float zero, double nan)
{
    const float minus = -zero;
    out = comparisons<__half, __half2>(out, __float2half(1.0f), __float2half((float)nan));
    out = comparisons<__nv_bfloat16, __nv_bfloat162>(out, __float2bfloat16(1.0f),
                                                     __float2bfloat16((float)nan));
    *out++ = __double2int_rz(nan), *out++ = __double2uint_rn(nan);
    *out++ = __double2ll_rd(nan), *out++ = __float2int_ru((float)nan);
    *out++ = __float2uint_rz((float)nan),
    *out++ = __half2int_rz(__float2half((float)nan));
    *out++ = __float_as_int(fmaxf(minus, zero)),
    *out++ = __float_as_int(fmaxf(zero, minus));
    *out++ = __float_as_int(fminf(minus, zero)),
    *out++ = __float_as_int(fminf(zero, minus));
    *out++ = __float_as_int(max(minus, zero)), *out++ = __float_as_int(min(zero, minus));
    *out++ = __double_as_longlong(fmax((double)zero, (double)minus));
    *out++ = __double_as_longlong(fmin((double)zero, (double)minus));
    *out++ = __half_as_ushort(__hmax(__float2half(minus), __float2half(zero)));
    *out++ = fmaxf((float)nan, 2.0f) == 2.0f && fmin(3.0, nan) == 3.0;
}

static __device__ float total;

__global__ void sums(float *memory, float *results)
{
    __shared__ float part;
    part = FLT_MIN / 4;
    total = FLT_MIN / 4;
    atomicAdd(&part, FLT_MIN / 4);
    atomicAdd(&total, FLT_MIN / 4);
    atomicAdd(memory, -FLT_MIN / 4);
    atomicAdd(memory + 1, FLT_MIN / 2);
    atomicAdd((float2 *)(memory + 2), make_float2(1.0f, FLT_MIN / 4));
    atomicAdd((float4 *)(memory + 4), make_float4(1.0f, 2.0f, 3.0f, 4.0f));
    results[0] = part;
    results[1] = total;
}

int main()
{
    static const long long
        comparison[] = {0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0xffffffffll, 0},
        rest[] = {INT_MIN, 0x80000000ll, LLONG_MIN, 0,       0, 0,         0, 0,
                  INT_MIN, INT_MIN,      0,         INT_MIN, 0, LLONG_MIN, 0, 1};
    long long *out;
    CHECK(cudaMallocManaged(&out, RESULTS * sizeof *out));
    edges<<<1, 1>>>(out, 0.0f, NAN);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 13; i++)
        EXPECT(out[i] == comparison[i] && out[13 + i] == comparison[i]);
    for (int i = 0; i < 16; i++) EXPECT(out[26 + i] == rest[i]);
    float *memory, *results;
    CHECK(cudaMallocManaged(&memory, 8 * sizeof *memory));
    CHECK(cudaMallocManaged(&results, 2 * sizeof *results));
    for (int i = 0; i < 8; i++) memory[i] = i == 1 ? -FLT_MIN : 0.0f;
    sums<<<1, 1>>>(memory, results);
    CHECK(cudaDeviceSynchronize());
    // Only shared memory has subnormal sums; what is flushed keeps its sign.
    EXPECT(results[0] == FLT_MIN / 2 && results[1] == 0.0f);
    EXPECT(memory[0] == 0.0f && memory[1] == -FLT_MIN);
    EXPECT(memory[2] == 1.0f && memory[3] == 0.0f);
    for (int i = 0; i < 4; i++) EXPECT(memory[4 + i] == i + 1);
    CHECK(cudaFree(out));
    CHECK(cudaFree(memory));
    CHECK(cudaFree(results));
    return pass();
}
