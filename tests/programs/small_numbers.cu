// Numbers of 8 bits, and complex ones.
// BUILD: -arch=sm_89
#include <cuComplex.h>
#include <cuda_fp8.h>

#include "check.h"

__global__ void narrow(const float *x, float *e4m3, float *e5m2, unsigned char *bits)
{
    const unsigned i = threadIdx.x;
    const __nv_fp8_e4m3 small(x[i]);
    const __nv_fp8_e5m2 wide(x[i]);
    e4m3[i] = (float)small;
    e5m2[i] = (float)wide;
    bits[2 * i] = small.__x;
    bits[2 * i + 1] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E5M2);
}

__global__ void powers(cuFloatComplex z, cuFloatComplex *out)
{
    cuFloatComplex power = make_cuFloatComplex(1.0f, 0.0f);
    for (unsigned i = 0; i < threadIdx.x; i++) power = cuCmulf(power, z);
    out[threadIdx.x] = power;
}

int main()
{
    // Ties go to the even neighbour; 464 is half way to the 480 that e4m3 lacks.
    const float in[] = {1.0f,  1.0625f, 1.1875f,  -448.0f,   464.0f,   1e9f,
                        -1e9f, 0x1p-9f, 0x1p-10f, 0x1.8p-9f, 57344.0f, 61440.0f};
    const float small[] = {1.0f,    1.0f,    1.25f, -448.0f, 448.0f, 448.0f,
                           -448.0f, 0x1p-9f, 0.0f,  0x1p-8f, 448.0f, 448.0f};
    const float wide[] = {1.0f,      1.0f,    1.25f,    -448.0f,   448.0f,   57344.0f,
                          -57344.0f, 0x1p-9f, 0x1p-10f, 0x1.8p-9f, 57344.0f, 57344.0f};
    enum { N = sizeof in / sizeof *in };
    float *x, *e4m3, *e5m2;
    unsigned char *bits;
    CHECK(cudaMallocManaged(&x, sizeof in));
    CHECK(cudaMallocManaged(&e4m3, sizeof in));
    CHECK(cudaMallocManaged(&e5m2, sizeof in));
    CHECK(cudaMallocManaged(&bits, 2 * N));
    for (int i = 0; i < N; i++) x[i] = in[i];
    narrow<<<1, N>>>(x, e4m3, e5m2, bits);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) EXPECT(e4m3[i] == small[i] && e5m2[i] == wide[i]);
    EXPECT(bits[0] == 0x38 && bits[1] == 0x3c && bits[11] == 0x7c && bits[13] == 0xfc);
    EXPECT(__nv_cvt_float_to_fp8(500.0f, __NV_NOSAT, __NV_E4M3) == 0x7f);
    EXPECT(isnan((float)__nv_fp8_e4m3(NAN)));
    const float2 pair = (float2)__nv_fp8x2_e4m3(make_float2(1.0f, -2.0f));
    const float4 four = (float4)__nv_fp8x4_e5m2(make_float4(1.0f, 2.0f, 3.0f, -4.0f));
    const __half2 halves = (__half2)__nv_fp8x2_e4m3(__floats2half2_rn(3.0f, -5.0f));
    const __nv_bfloat162 low = __floats2bfloat162_rn(1.0f, 2.0f),
                         high = __floats2bfloat162_rn(-3.0f, 4.0f);
    const float4 from_pairs = (float4)__nv_fp8x4_e4m3(low, high);
    EXPECT(pair.x == 1.0f && pair.y == -2.0f && four.z == 3.0f && four.w == -4.0f);
    EXPECT(__low2float(halves) == 3.0f && __high2float(halves) == -5.0f);
    EXPECT(from_pairs.y == 2.0f && from_pairs.z == -3.0f && from_pairs.w == 4.0f);

    cuFloatComplex *z;
    CHECK(cudaMallocManaged(&z, 9 * sizeof *z));
    powers<<<1, 9>>>(make_cuFloatComplex(1.0f, 1.0f), z);
    CHECK(cudaDeviceSynchronize());
    EXPECT(cuCrealf(z[8]) == 16.0f && cuCimagf(z[8]) == 0.0f);
    EXPECT(close_to(cuCabsf(z[3]), sqrt(8.0), 1e-6));
    const cuDoubleComplex q =
        cuCdiv(make_cuDoubleComplex(1e300, 2e300), make_cuDoubleComplex(1e300, -1e300));
    EXPECT(close_to(q.x, -0.5, 1e-15) && close_to(q.y, 1.5, 1e-15));
    CHECK(cudaFree(x));
    CHECK(cudaFree(e4m3));
    CHECK(cudaFree(e5m2));
    CHECK(cudaFree(bits));
    CHECK(cudaFree(z));
    return pass();
}
