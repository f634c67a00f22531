// Functions of device code that few programs need, each against what it is documented to
// give.
// BUILD: -arch=sm_90
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <math.h>

enum { RESULTS = 256 };

// A row: what the device has, and what the host expects, in doubles.
struct table {
    int rows;
    double got[RESULTS], want[RESULTS];
    int line[RESULTS];
};
#define ROW(got_, want_)                                                                 \
    (t->got[t->rows] = (double)(got_), t->want[t->rows] = (double)(want_),               \
     t->line[t->rows++] = __LINE__)

static __device__ unsigned pair(int high, int low)
{
    return (unsigned)high << 16 | (unsigned short)low;
}

__global__ void integers(table *t)
{
    __prof_trigger(1);
    ROW(__dp4a(make_char4(1, -2, 3, -4), make_char4(5, 6, -7, -8), 100), 104);
    ROW(__dp4a(make_uchar4(255, 1, 2, 3), make_uchar4(255, 4, 5, 6), 1u), 65058);
    ROW(__dp2a_lo(make_short2(3, -2), make_char4(4, 5, 6, 7), 10), 12);
    ROW(__dp2a_hi(make_short2(3, -2), make_char4(4, 5, 6, 7), 10), 14);
    ROW(__dp2a_hi(make_ushort2(3, 65535), make_uchar4(4, 5, 6, 7), 1u), 458764);
    ROW(__vimax_s32_relu(-3, -5), 0);
    ROW(__vimin_s32_relu(3, 5), 3);
    ROW(__vimax3_s32_relu(-3, -5, 4), 4);
    ROW(__vimin3_s32_relu(-3, 5, 4), 0);
    ROW(__viaddmax_s32_relu(-3, 5, -9), 2);
    ROW(__viaddmin_s32_relu(3, 5, -9), 0);
    ROW(__viaddmin_u32(3, 5, 9), 8);
    ROW(__vimax3_s16x2(pair(1, -5), pair(-2, -7), pair(0, -6)), pair(1, -5));
    ROW(__vimin3_u16x2(pair(1, -5), pair(-2, -7), pair(3, 4)), pair(1, 4));
    ROW(__vimax_s16x2_relu(pair(3, -5), pair(-2, -7)), pair(3, 0));
    ROW(__vimin3_s16x2_relu(pair(3, 5), pair(2, -7), pair(9, 9)), pair(2, 0));
    ROW(__viaddmax_s16x2(pair(30000, 1), pair(30000, 1), pair(0, 0)), pair(0, 2));
    ROW(__viaddmin_u16x2(pair(65535, 1), pair(2, 1), pair(5, 0)), pair(1, 0));
    ROW(__viaddmax_s16x2_relu(pair(-5, 1), pair(2, 1), pair(-4, 0)), pair(0, 2));
    bool high, low;
    ROW(__vibmax_s32(-1, 3, &low), 3);
    ROW(low, 0);
    ROW(__vibmin_u32(7, 7, &low), 7);
    ROW(low, 1);
    ROW(__vibmax_s16x2(pair(1, -5), pair(-2, -5), &high, &low), pair(1, -5));
    ROW(high && low, 1);
    ROW(__vibmin_u16x2(pair(1, -5), pair(-2, 5), &high, &low), pair(1, 5));
    ROW(high && !low, 1);
    ROW(llmin(-1, 1ll << 40), -1);
    ROW(llmax(-1, 1ll << 40), 1ll << 40);
    ROW(ullmin(~0ull, 5), 5);
    ROW(ullmax(1ull << 63, 5), 0x1p63);
}

__global__ void floats(table *t, const double *doubles, const float *singles)
{
    ROW(rnorm(4, doubles), 0.1);
    ROW(rnormf(4, singles), 0.1f);
    ROW(__fmaf_ieee_rn(1.5f, 2.0f, -3.0f), 0);
    // Abramowitz and Stegun, tables 9.8 and 9.11.
    ROW(fabs(cyl_bessel_i0f(1.0f) - 1.2660658778) < 1e-6, 1);
    ROW(fabs(cyl_bessel_i0f(-20.0f) / 43558282.56 - 1.0) < 1e-6, 1);
    ROW(fabs(cyl_bessel_i1f(-1.0f) + 0.5651591040) < 1e-6, 1);
    ROW(cyl_bessel_i1f(0.0f), 0);
    ROW(isinf(cyl_bessel_i0f(200.0f)), 1);
}

__global__ void halves(table *t)
{
    const __half2 a(3.0f, -0.25f), b(0.5f, 2.0f), c(1.0f, 4.0f);
    ROW(__hfma_sat(a.x, b.x, c.x), 1);
    ROW(__high2float(__hfma2_sat(a, b, __half2(0.0f, 0.75f))), 0.25);
    ROW(__low2float(__hadd2_rn(a, b)), 3.5);
    ROW(__high2float(__hsub2_rn(a, b)), -2.25);
    ROW(__high2float(__hmul2_rn(a, b)), -0.5);
    ROW(__low2float(__hcmadd(a, b, c)), 3);      // 3 * 0.5 + 1 - -0.25 * 2
    ROW(__high2float(__hcmadd(a, b, c)), 9.875); // 3 * 2 + 4 - 0.25 * 0.5
    ROW(__heq2_mask(a, __half2(3.0f, 1.0f)), 0xffff);
    ROW(__hgt2_mask(b, a), 0xffff0000u);
    ROW(a == a && a != b && !(a < b), 1);
    ROW(__high2float(__lows2half2(a, b)), 0.5);
    ROW(__low2float(__highs2half2(a, b)), -0.25);
    ROW(__ll2half_rn(-2049), -2048);
    ROW(__ull2half_rn(2051), 2052);
    ROW(__int2half_rz(-2051), -2050);
    ROW(__uint2half_rz(70000u), 65504);
    ROW(__half2char_rz(__half(-200.0f)), -128);
    ROW(__half2uchar_rz(__half(200.5f)), 200);
    ROW(fabsf((float)htanh_approx(__half(1.0f)) - 0.7616f) < 1e-3f, 1);
    ROW(isinf((float)CUDART_INF_FP16) && (float)CUDART_ONE_FP16 == 1.0f, 1);
    const __half_raw raw = CUDART_MAX_NORMAL_FP16;
    const __half2_raw raws = a;
    ROW(raw.x, 0x7bff);
    ROW(raws.y, 0xb400);
    ROW(__half2float(__half(raw)), 65504);
    ROW(__high2float(__half2(raws)), -0.25);
}

__global__ void bfloats(table *t)
{
    const __nv_bfloat162 a(3.0f, -0.25f), b(0.5f, 2.0f);
    const float x = 1.0f + 0x1p-8f + 0x1p-20f;
    ROW(__float2bfloat16_rz(x), 1);
    ROW(__float2bfloat16_rd(-x), -1 - 0x1p-7);
    ROW(__float2bfloat16_ru(x), 1 + 0x1p-7);
    ROW(__float2bfloat16_ru(-x), -1);
    ROW(__float2bfloat16_rz(3.4e38f) == CUDART_MAX_NORMAL_BF16, 1);
    ROW(__uint2bfloat16_rn(257u), 256);
    ROW(__short2bfloat16_rn(-259), -260);
    ROW(__ll2bfloat16_rn(1ll << 40), 1ll << 40);
    // A little more than the middle: rounding to double first would lose that.
    ROW(__ull2bfloat16_rn((1ull << 60) + (1ull << 52) + 1), 0x1p60 + 0x1p53);
    ROW(__bfloat16_as_short(__short_as_bfloat16((short)0xbf80)), -16512);
    ROW(__high2float(__lows2bfloat162(a, b)), 0.5);
    ROW(__low2float(__highs2bfloat162(a, b)), -0.25);
    ROW(__low2float(__lowhigh2highlow(a)), -0.25);
    ROW(__hle2_mask(a, b), 0xffff0000u);
    ROW(__hfma_sat(a.y, b.y, b.x), 0);
    ROW(CUDART_ONE_BF16, 1);
    const __nv_bfloat16_raw raw = a.x;
    ROW(raw.x, 0x4040);
    ROW(__nv_cvt_bfloat16raw_to_fp8(raw, __NV_SATFINITE, __NV_E4M3), 0x44);
    const __half_raw one = __half(1.0f);
    const __half2_raw two = __half2(1.0f, 1000.0f);
    ROW(__nv_cvt_halfraw_to_fp8(one, __NV_SATFINITE, __NV_E4M3), 0x38);
    ROW(__nv_cvt_halfraw2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3), 0x7e38);
    ROW(__nv_cvt_fp8_to_halfraw(0x38, __NV_E4M3).x, 0x3c00);
    ROW(__nv_cvt_fp8x2_to_halfraw2(0x3c38, __NV_E4M3).y, 0x3e00);
}

static __constant__ int constant[4] = {1, 2, 3, 4};

__global__ void spaces(table *t, int number)
{
    __shared__ int shared[4];
    int local[4] = {0, 1, 2, number};
    int *volatile kept = local;
    ROW(__isConstant(constant + 1) && !__isConstant(t), 1);
    ROW(__isLocal(kept) && !__isLocal(shared), 1);
    ROW(__cvta_generic_to_global(t) == (size_t)t, 1);
    ROW(__cvta_shared_to_generic(__cvta_generic_to_shared(shared + 1)) == shared + 1, 1);
}

int main()
{
    table *t;
    double *doubles;
    float *singles;
    CHECK(cudaMallocManaged(&t, sizeof *t));
    CHECK(cudaMallocManaged(&doubles, 4 * sizeof *doubles));
    CHECK(cudaMallocManaged(&singles, 4 * sizeof *singles));
    for (int i = 0; i < 4; i++) singles[i] = doubles[i] = 5.0;
    t->rows = 0;
    integers<<<1, 1>>>(t);
    floats<<<1, 1>>>(t, doubles, singles);
    halves<<<1, 1>>>(t);
    bfloats<<<1, 1>>>(t);
    spaces<<<1, 1>>>(t, 3);
    CHECK(cudaDeviceSynchronize());
    EXPECT(t->rows > 80);
    for (int i = 0; i < t->rows; i++)
        if (fabs(t->got[i] - t->want[i]) > 1e-12) {
            printf("line %d: %.17g, not %.17g\n", t->line[i], t->got[i], t->want[i]);
            return 1;
        }
    CHECK(cudaFree(t));
    CHECK(cudaFree(doubles));
    CHECK(cudaFree(singles));
    return pass();
}
