// The intrinsics that round towards zero, down and up, and those for two or four numbers in a
// word.
#include "check.h"

__global__ void directed(float *f, double *d)
{
    const float third = 1.0f / 3.0f;
    f[0] = __fadd_rd(1.0f, 1e-10f);
    f[1] = __fadd_ru(1.0f, 1e-10f);
    f[2] = __fadd_rz(-1.0f, -1e-10f);
    f[3] = __fmul_ru(third, third);
    f[4] = __fmul_rd(third, third);
    f[5] = __fdiv_rd(1.0f, 3.0f);
    f[6] = __frcp_ru(3.0f);
    f[7] = __fsqrt_rd(2.0f);
    f[8] = __fmaf_ru(third, 3.0f, -1.0f);
    f[9] = __fsub_ru(1.0f, 1e-10f);
    d[0] = __dadd_rd(1.0, 1e-20);
    d[1] = __dadd_ru(1.0, 1e-20);
    d[2] = __ddiv_ru(1.0, 3.0);
    d[3] = __fma_rz(1.0, 1.0, 1e-20);
    d[4] = __dsqrt_ru(2.0);
}

__global__ void video(unsigned *out)
{
    const unsigned a = 0x01fe807fu, b = 0x02038001u;
    unsigned *o = out;
    *o++ = __vadd4(a, b);
    *o++ = __vaddus4(a, b);
    *o++ = __vaddss4(a, b);
    *o++ = __vsub2(a, b);
    *o++ = __vabsdiffu4(a, b);
    *o++ = __vabsdiffs4(a, b);
    *o++ = __vmaxs4(a, b);
    *o++ = __vminu2(a, b);
    *o++ = __vavgu4(a, b);
    *o++ = __vcmpgtu4(a, b);
    *o++ = __vseteq4(a, b);
    *o++ = __vsadu4(a, b);
    *o++ = __vabsss4(a);
    *o++ = __vneg2(a);
}

int main()
{
    float *f;
    double *d;
    unsigned *o;
    CHECK(cudaMallocManaged(&f, 16 * sizeof *f));
    CHECK(cudaMallocManaged(&d, 16 * sizeof *d));
    CHECK(cudaMallocManaged(&o, 16 * sizeof *o));
    directed<<<1, 1>>>(f, d);
    CHECK(cudaDeviceSynchronize());
    const float above = nextafterf(1.0f, 2.0f), third = 1.0f / 3.0f;
    EXPECT(f[0] == 1.0f && f[1] == above && f[2] == -1.0f);
    EXPECT((double)f[3] > (double)third * third && (double)f[4] < (double)third * third);
    EXPECT(f[3] == nextafterf(f[4], 1.0f));
    EXPECT(f[5] < third && f[6] == third && f[5] == nextafterf(third, 0.0f));
    EXPECT((double)f[7] * f[7] < 2.0 && f[8] > 0.0f && f[9] == 1.0f);
    EXPECT(d[0] == 1.0 && d[1] == nextafter(1.0, 2.0) && d[3] == 1.0);
    EXPECT(d[2] == nextafter(1.0 / 3.0, 1.0) && d[4] > 1.4142135623730949);
    video<<<1, 1>>>(o);
    CHECK(cudaDeviceSynchronize());
    const unsigned want[] = {0x03010080u, 0x03ffff80u, 0x0301807fu, 0xfffb007eu,
                             0x01fb007eu, 0x0105007eu, 0x0203807fu, 0x01fe8001u,
                             0x02818040u, 0x00ff00ffu, 0x00000100u, 0x0000017au,
                             0x01027f7fu, 0xfe027f81u};
    for (int i = 0; i < (int)(sizeof want / sizeof *want); i++) EXPECT(o[i] == want[i]);
    CHECK(cudaFree(f));
    CHECK(cudaFree(d));
    CHECK(cudaFree(o));
    return pass();
}
