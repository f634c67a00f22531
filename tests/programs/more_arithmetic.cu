// Conversions in a chosen direction, and arithmetic of integers and 16-bit numbers that few
// programs need, each with a value that is known.
// BUILD: -arch=sm_90
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <math.h>

enum { RESULTS = 64 };

__global__ void conversions(double *out, int large, double third)
{
    *out++ = __int2float_rz(large); // 2^24 + 3 lies between 2^24 + 2 and 2^24 + 4
    *out++ = __int2float_ru(-large);
    *out++ = __int2float_rd(-large);
    *out++ = __uint2float_rz((unsigned)large);
    *out++ = __ll2float_rz(-large);
    *out++ = __double2float_rz(third) <= third;
    *out++ = __double2float_ru(third) - __double2float_rd(third);
    *out++ = __half2int_rz(__half(-2.5f));
    *out++ = __half2short_rn(__half(2.5f));
    *out++ = __half2short_rn(__half(60000.0f));
    *out++ = __half2uint_rn(__half(-3.0f));
    *out++ = __short2half_rn(-2049); // to even
    *out++ = __float2half_rz(70000.0f);
    *out++ = __float2half_ru(70000.0f);
    *out++ = __float2half_rz(-2049.5f);
    *out++ = __float2half_rd(-2049.5f);
    *out++ = __float2half_rd(2049.5f);
    *out++ = __float2half_ru(1e-10f) == __ushort_as_half(1);
    *out++ = __bfloat162int_rn(__float2bfloat16(-3.5f));
}

__global__ void arithmetic(double *out, float2 *sum)
{
    const __half2 pair = __floats2half2_rn(3.0f, NAN);
    const __half2 other = __floats2half2_rn(2.0f, 1.0f);
    *out++ = __hmul_sat(__half(3.0f), __half(0.125f));
    *out++ = __hmul_sat(__half(3.0f), __half(0.5f));
    *out++ = __hmul_sat(__half(3.0f), __half(NAN));
    *out++ = __low2float(__hfma2_relu(other, __hneg2(other), other));
    *out++ = __high2float(__hisnan2(pair));
    *out++ = __low2float(__hisnan2(pair));
    *out++ = __hbgt2(pair, other);
    *out++ = __hbgt2(__floats2half2_rn(3.0f, 2.0f), other);
    *out++ = __hisnan(__hmax_nan(__half(3.0f), __half(NAN)));
    *out++ = hexp10(__half(2.0f));
    *out++ = hlog10(__half(1000.0f));
    *out++ = __dp2a_lo(0x0003fffe, 0x04030201, 10); // 10 - 2 * 1 + 3 * 2
    *out++ = __dp2a_hi(0x0003fffe, 0x04030201, 10); // 10 - 2 * 3 + 3 * 4
    *out++ = __dp2a_lo(0x0003fffeu, 0x0403ff01u, 10u);
    *out++ = __viaddmax_s32(3, -7, -9);
    *out++ = __vimax3_s32(-1, 5, 2);
    *out++ = __fns(0xb0u, 0, 2);
    *out++ = __fns(0xb0u, 6, -1);
    *out++ = __fns(0xb0u, 4, 0);
    *out++ = __fns(0xb0u, 0, 4) == 0xffffffffu;
    *out++ = norm4df(1.0f, 2.0f, 4.0f, 10.0f);
    *out++ = floor(1e6 * erfcx(2.0));
    *out++ = floor(1e9 * erfcx(20.0));
    *out++ = floorf(1e4f * erfcxf(-1.0f));
    __builtin_assume(sum != nullptr);
    atomicAdd(sum, make_float2(1.0f, 2.0f));
}

static const double CONVERTED[] = {
    16777218, -16777218, -16777220, 16777218, -16777218, 1,     0x1p-25, -2, 2, 32767,
    0,        -2048,     65504,     INFINITY, -2048,     -2050, 2048,    1,  -4};
static const double COMPUTED[] = {0.375, 1,   0, 0,  1,  0,      0,        1,
                                  1,     100, 3, 14, 16, 66309,  -4,       5,
                                  5,     5,   4, 1,  11, 255395, 28174348, 50089};

int main(void)
{
    double *out;
    float2 *sum;
    CHECK(cudaMallocManaged(&out, RESULTS * sizeof *out));
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    *sum = make_float2(0.5f, 0.25f);
    conversions<<<1, 1>>>(out, (1 << 24) + 3, 1.0 / 3.0);
    CHECK(cudaDeviceSynchronize());
    for (size_t i = 0; i < sizeof CONVERTED / sizeof *CONVERTED; i++)
        EXPECT(out[i] == CONVERTED[i]);
    arithmetic<<<1, 1>>>(out, sum);
    CHECK(cudaDeviceSynchronize());
    for (size_t i = 0; i < sizeof COMPUTED / sizeof *COMPUTED; i++)
        EXPECT(out[i] == COMPUTED[i]);
    EXPECT(sum->x == 1.5f && sum->y == 2.25f);
    CHECK(cudaFree(out));
    CHECK(cudaFree(sum));
    return pass();
}
