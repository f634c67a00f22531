// Floating-point arithmetic, in all formats; what is approximate is compared loosely.
#include "ptx.h"

F_FF(add_rn, "add.rn.f32")
F_FF(add_rz, "add.rz.f32")
F_FF(add_rm, "add.rm.f32")
F_FF(add_rp, "add.rp.f32")
F_FF(add_ftz, "add.ftz.f32")
F_FF(add_sat, "add.sat.f32")
F_FF(sub_rn, "sub.f32")
F_FF(mul_rz, "mul.rz.f32")
F_FFF(fma_rn, "fma.rn.f32")
F_FFF(fma_rp, "fma.rp.f32")
F_FF(div_rn, "div.rn.f32")
F_FF(div_rz, "div.rz.f32")
F_FF(min_f, "min.f32")
F_FF(max_f, "max.f32")
F_FF(max_nan, "max.NaN.f32")
F_FF(min_xorsign, "min.xorsign.abs.f32")
F_F(abs_f, "abs.f32")
F_F(neg_f, "neg.f32")
F_F(sqrt_rn, "sqrt.rn.f32")
F_F(sqrt_rp, "sqrt.rp.f32")
F_F(rcp_rn, "rcp.rn.f32")
F_FF(copysign_f, "copysign.f32")
F_F(ex2, "ex2.approx.ftz.f32")
F_F(lg2, "lg2.approx.f32")
F_F(sin_a, "sin.approx.f32")
F_F(cos_a, "cos.approx.f32")
F_F(tanh_a, "tanh.approx.f32")
F_F(rcp_a, "rcp.approx.ftz.f32")
F_F(rsqrt_a, "rsqrt.approx.f32")
F_FF(div_a, "div.approx.f32")
F_FF(div_full, "div.full.f32")
PTX_2(add_d, "d", double, "d", double, "d", double, "add.rp.f64")
PTX_3(fma_d, "d", double, "d", double, "d", double, "d", double, "fma.rn.f64")
PTX_1(sqrt_d, "d", double, "d", double, "sqrt.rz.f64")
#define H short
PTX_2(add_h, "h", H, "h", H, "h", H, "add.f16")
PTX_3(fma_h, "h", H, "h", H, "h", H, "h", H, "fma.rn.f16")
PTX_3(fma_b, "h", H, "h", H, "h", H, "h", H, "fma.rn.bf16")
PTX_2(max_h, "h", H, "h", H, "h", H, "max.f16")
R_R(abs_ftz, "abs.ftz.f16x2")
R_R(neg_ftz, "neg.ftz.f16x2")
static __device__ inline float add_e(float x)
{
    float d;
    asm("add.f32 %0, %1, 1e3;" : "=f"(d) : "f"(x));
    return d;
}
R_RR(add_h2, "add.f16x2")
R_RR(mul_h2, "mul.rn.f16x2")
R_RRR(fma_h2, "fma.rn.f16x2")
R_RRR(fma_relu, "fma.rn.relu.f16x2")
R_RRR(fma_sat, "fma.rn.sat.f16x2")
R_RRR(fma_b2, "fma.rn.bf16x2")
R_RR(add_b2, "add.rn.bf16x2")
R_RR(min_b2, "min.bf16x2")
R_RR(max_nan_b2, "max.NaN.bf16x2")
R_R(neg_h2, "neg.f16x2")
R_R(abs_b2, "abs.bf16x2")
R_R(ex2_h2, "ex2.approx.f16x2")
R_R(tanh_h2, "tanh.approx.f16x2")

static __device__ void near(int line, float got, float want)
{
    if (!(fabsf(got - want) <= 1e-4f * fabsf(want) + 1e-6f))
        is(line, bits(got), bits(want));
}
#define NEAR(got, want) near(__LINE__, got, want)

__global__ void floats(float nan)
{
    const float e = 0x1p-24f, tiny = 0x1p-140f;
    IS(bits(add_rn(1.0f, e)), bits(1.0f));
    IS(bits(add_rz(1.0f, 1.9f * e)), bits(1.0f));
    IS(bits(add_rm(-1.0f, -e)), bits(-1.0f - 2 * e));
    IS(bits(add_rp(1.0f, e)), bits(1.0f + 2 * e));
    IS(bits(add_ftz(tiny, tiny)), 0);
    IS(bits(add_sat(0.7f, 0.7f)), bits(1.0f));
    IS(bits(add_sat(0.7f, -0.8f)), 0);
    IS(bits(add_sat(nan, 1.0f)), 0);
    IS(bits(add_rn(nan, 1.0f)), 0x7fffffff);
    IS(bits(sub_rn(1.0f, 3.0f)), bits(-2.0f));
    IS(bits(mul_rz(1.0f + 2 * e, 1.0f + 2 * e)), bits(1.0f + 4 * e));
    IS(bits(fma_rn(1.0f + 2 * e, 1.0f + 2 * e, -(1.0f + 4 * e))), bits(4 * e * e));
    IS(bits(fma_rp(1.0f, 1.0f, e)), bits(1.0f + 2 * e));
    IS(bits(div_rn(1.0f, 3.0f)), 0x3eaaaaab);
    IS(bits(div_rz(1.0f, 3.0f)), 0x3eaaaaaa);
    IS(bits(min_f(nan, 2.0f)), bits(2.0f));
    IS(bits(max_f(-0.0f, 0.0f)), 0);
    IS(bits(min_f(0.0f, -0.0f)), 0x80000000);
    IS(bits(max_nan(nan, 2.0f)), 0x7fffffff);
    IS(bits(min_xorsign(-3.0f, 2.0f)), bits(-2.0f));
    IS(bits(abs_f(-3.0f)), bits(3.0f));
    IS(bits(neg_f(3.0f)), bits(-3.0f));
    IS(bits(sqrt_rn(2.0f)), 0x3fb504f3);
    IS(bits(sqrt_rp(2.0f)), 0x3fb504f4);
    IS(bits(rcp_rn(3.0f)), 0x3eaaaaab);
    IS(bits(copysign_f(-1.0f, 5.0f)), bits(-5.0f));
    NEAR(ex2(3.5f), 11.3137085f);
    NEAR(lg2(10.0f), 3.32192809f);
    NEAR(sin_a(1.0f), 0.84147098f);
    NEAR(cos_a(1.0f), 0.54030231f);
    if (fabsf(tanh_a(0.5f) - 0.46211716f) > 1e-3f) IS(1, 0);
    NEAR(rcp_a(7.0f), 1.0f / 7);
    NEAR(rsqrt_a(7.0f), 0.37796447f);
    NEAR(div_a(1.0f, 7.0f), 1.0f / 7);
    NEAR(div_full(1.0f, 7.0f), 1.0f / 7);
    IS(bits(add_d(1.0, 0x1p-60)), bits(1.0 + 0x1p-52));
    IS(bits(fma_d(1.0 + 0x1p-52, 1.0 + 0x1p-52, -1.0)), bits(0x1p-51));
    IS(bits(sqrt_d(2.0)), 0x3ff6a09e667f3bccull);

    // fp16: 1.0 is 3c00; bf16: 3f80.
    IS((unsigned short)add_h(0x3c00, 0x1000), 0x3c00);
    IS((unsigned short)add_h(0x3c00, 0x1001), 0x3c01);
    IS((unsigned short)add_h(0x7bff, 0x7bff), 0x7c00);
    // 1 + 2^-10 squared, minus what fp16 can hold of it.
    IS((unsigned short)fma_h(0x3c01, 0x3c01, (short)0xbc02), 0x0010);
    IS((unsigned short)fma_b(0x3f81, 0x3f81, (short)0xbf82), 0x3880);
    // A tie that a term far below decides.
    IS((unsigned short)fma_b(0x2380, 0x2380, 0x3f80), 0x3f80);
    IS((unsigned short)max_h(0x7e00, 0x3c00), 0x3c00);
    IS(add_h2(0x3c003c00, 0x40003c00), 0x42004000);
    IS(mul_h2(0x40004000, 0xc0003800), 0xc4003c00);
    IS(fma_h2(0x40004000, 0x40004000, 0x3c00bc00), 0x45004200);
    IS(fma_relu(0x4000c000, 0x40004000, 0), 0x44000000);
    IS(fma_sat(0x4000c000, 0x40004000, 0), 0x3c000000);
    IS(fma_b2(0x40004000, 0x40004000, 0x3f80bf80), 0x40a04040);
    IS(add_b2(0x3f803f80, 0x40003f80), 0x40404000);
    IS(min_b2(0x3f80bf80, 0x40004000), 0x3f80bf80);
    IS(max_nan_b2(0x7fc03f80, 0x3f803f80), 0x7fff3f80);
    IS(neg_h2(0x3c00bc00), 0xbc003c00);
    IS(abs_b2(0xbf803f80), 0x3f803f80);
    IS(ex2_h2(0x40000000), 0x44003c00);
    IS(tanh_h2(0x00000000), 0);

    unsigned d;
    asm("{.reg .pred p, q; setp.lt.f32 p, %1, %2; setp.geu.f32 q, %3, %2;\n"
        "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; setp.nan.f32 p|q, %3, %3;\n"
        "@p add.u32 %0, %0, 4; @q add.u32 %0, %0, 8;}"
        : "=r"(d)
        : "f"(1.0f), "f"(2.0f), "f"(nan));
    IS(d, 7);
    // Of a pair, one answer each: the low half's first.
    asm("{.reg .pred p, q; setp.gt.f16x2 p|q, %1, %2; selp.u32 %0, 1, 0, p;\n"
        "@q add.u32 %0, %0, 2;}"
        : "=r"(d)
        : "r"(0x3c004000), "r"(0x3c003c00));
    IS(d, 1);
    asm("set.gt.f16x2.f16x2 %0, %1, %2;" : "=r"(d) : "r"(0x40003c00), "r"(0x3c003c00));
    IS(d, 0x3c000000);
    asm("{.reg .pred p; testp.subnormal.f32 p, %1; selp.u32 %0, 1, 0, p;}"
        : "=r"(d)
        : "f"(tiny));
    IS(d, 1);
    asm("{.reg .pred p, q; testp.normal.f32 p, %1; testp.subnormal.f32 q, %1;\n"
        "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2;}"
        : "=r"(d)
        : "f"(0.0f));
    IS(d, 1); // PTX counts zero among the normal numbers
    IS(abs_ftz(0x80010001), 0x00000000);
    IS(neg_ftz(0x3c000001), 0xbc008000);
    asm("{.reg .pred p, q; setp.eq.ftz.f16x2 p|q, %1, %2; selp.u32 %0, 1, 0, p;\n"
        "@q add.u32 %0, %0, 2;}"
        : "=r"(d)
        : "r"(0x00018001), "r"(0));
    IS(d, 3);
    asm("set.eq.ftz.u32.f16 %0, %1, %2;" : "=r"(d) : "h"(H(1)), "h"(H(0)));
    IS(d, 0xffffffff);
    IS(bits(add_e(1.0f)), 0x447a4000);
}

int main(void)
{
    floats<<<1, 1>>>(NAN);
    return verdict();
}
