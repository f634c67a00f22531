// cvt, in all directions.
#include "ptx.h"

#define H unsigned short
PTX_1(rni, "r", int, "f", float, "cvt.rni.s32.f32")
PTX_1(rzi, "r", int, "f", float, "cvt.rzi.s32.f32")
PTX_1(rmi, "r", int, "f", float, "cvt.rmi.s32.f32")
PTX_1(rpi, "r", int, "f", float, "cvt.rpi.s32.f32")
PTX_1(rzi_u, "r", unsigned, "f", float, "cvt.rzi.u32.f32")
PTX_1(rzi_s8, "r", int, "f", float, "cvt.rzi.s8.f32")
PTX_1(rzi_s64, "l", long long, "f", float, "cvt.rzi.s64.f32")
PTX_1(rn_s32, "f", float, "r", int, "cvt.rn.f32.s32")
PTX_1(rz_u32, "f", float, "r", unsigned, "cvt.rz.f32.u32")
PTX_1(rp_u64, "f", float, "l", unsigned long long, "cvt.rp.f32.u64")
PTX_1(d_s32, "d", double, "r", int, "cvt.rn.f64.s32")
PTX_1(f_d, "f", float, "d", double, "cvt.rn.f32.f64")
PTX_1(f_d_rz, "f", float, "d", double, "cvt.rz.f32.f64")
PTX_1(d_f, "d", double, "f", float, "cvt.f64.f32")
F_F(round_f, "cvt.rni.f32.f32")
F_F(sat_f, "cvt.sat.f32.f32")
R_R(u8_of, "cvt.u32.u8")
R_R(s8_of, "cvt.s32.s8")
R_R(sat_u8, "cvt.sat.u8.s32")
R_R(sat_s16, "cvt.sat.s16.s32")
PTX_1(s64_of, "l", long long, "r", int, "cvt.s64.s32")
PTX_1(u64_of, "l", unsigned long long, "r", unsigned, "cvt.u64.u32")
PTX_1(low_of, "r", unsigned, "l", unsigned long long, "cvt.u32.u64")
PTX_1(h_f, "h", H, "f", float, "cvt.rn.f16.f32")
PTX_1(h_f_rz, "h", H, "f", float, "cvt.rz.f16.f32")
PTX_1(f_h, "f", float, "h", H, "cvt.f32.f16")
PTX_1(b_f, "h", H, "f", float, "cvt.rn.bf16.f32")
PTX_1(b_f_relu, "h", H, "f", float, "cvt.rn.relu.bf16.f32")
PTX_1(f_b, "f", float, "h", H, "cvt.f32.bf16")
PTX_1(h_s32, "h", H, "r", int, "cvt.rn.f16.s32")
PTX_1(s32_h, "r", int, "h", H, "cvt.rni.s32.f16")
PTX_2(h2_f, "r", unsigned, "f", float, "f", float, "cvt.rn.f16x2.f32")
PTX_2(b2_f, "r", unsigned, "f", float, "f", float, "cvt.rn.bf16x2.f32")
PTX_2(b2_f_rz, "r", unsigned, "f", float, "f", float, "cvt.rz.bf16x2.f32")
PTX_2(b2_f_relu, "r", unsigned, "f", float, "f", float, "cvt.rn.relu.bf16x2.f32")
PTX_1(tf32, "r", unsigned, "f", float, "cvt.rna.tf32.f32")
PTX_1(tf32_rn, "r", unsigned, "f", float, "cvt.rn.tf32.f32")
PTX_2(e4m3, "h", H, "f", float, "f", float, "cvt.rn.satfinite.e4m3x2.f32")
PTX_2(e5m2, "h", H, "f", float, "f", float, "cvt.rn.satfinite.e5m2x2.f32")
PTX_1(e4m3_h2, "h", H, "r", unsigned, "cvt.rn.satfinite.e4m3x2.f16x2")
PTX_1(h2_e4m3, "r", unsigned, "h", H, "cvt.rn.f16x2.e4m3x2")
PTX_1(h2_e5m2, "r", unsigned, "h", H, "cvt.rn.f16x2.e5m2x2")
R_RRR(pack, "cvt.pack.sat.s8.s32.b32")

__global__ void convert(float nan, float infinity)
{
    IS((unsigned)rni(2.5f), 2);
    IS((unsigned)rni(-3.5f), 0u - 4);
    IS((unsigned)rzi(-2.9f), 0u - 2);
    IS((unsigned)rmi(-2.1f), 0u - 3);
    IS((unsigned)rpi(2.1f), 3);
    IS((unsigned)rzi(1e10f), 0x7fffffff);
    IS((unsigned)rzi(-1e10f), 0x80000000);
    IS((unsigned)rzi(nan), 0);
    IS(rzi_u(-5.0f), 0);
    IS(rzi_u(infinity), 0xffffffff);
    IS((unsigned)rzi_s8(-1000.0f), 0u - 128);
    IS(rzi_s64(-5e9f), 0ull - 5000000000);
    IS(bits(rn_s32(0x01000001)), bits(16777216.0f));
    IS(bits(rn_s32(-7)), bits(-7.0f));
    IS(bits(rz_u32(0xffffffff)), bits(4294967040.0f));
    IS(bits(rp_u64(0x1000001ull)), bits(16777218.0f));
    IS(bits(d_s32(-7)), bits(-7.0));
    IS(bits(f_d(1.0 / 3)), 0x3eaaaaab);
    IS(bits(f_d_rz(1.0 / 3)), 0x3eaaaaaa);
    IS(bits(d_f(0.1f)), 0x3fb99999a0000000ull);
    IS(bits(round_f(2.5f)), bits(2.0f));
    IS(bits(sat_f(1.5f)), bits(1.0f));
    IS(bits(sat_f(nan)), 0);
    IS(u8_of(0x1ff), 0xff);
    IS(s8_of(0x1ff), 0xffffffff);
    IS(sat_u8(300), 255);
    IS(sat_u8(0u - 5), 0);
    IS(sat_s16(0u - 40000), 0u - 32768);
    IS(s64_of(-2), 0ull - 2);
    IS(u64_of(0xfffffffe), 0xfffffffe);
    IS(low_of(0x123456789ull), 0x23456789);
    IS(h_f(1.0f), 0x3c00);
    IS(h_f(65520.0f), 0x7c00);
    IS(h_f_rz(65535.0f), 0x7bff);
    IS(h_f(0x1p-24f), 1);
    IS(h_f(nan), 0x7fff);
    IS(bits(f_h(0x0001)), bits(0x1p-24f));
    IS(bits(f_h(0xc500)), bits(-5.0f));
    IS(b_f(1.00390625f), 0x3f80);
    IS(b_f(1.01171875f), 0x3f82);
    IS(b_f_relu(-1.0f), 0);
    IS(bits(f_b(0xc0a0)), bits(-5.0f));
    IS(h_s32(-3), 0xc200);
    IS((unsigned)s32_h(0xc100), 0u - 2);
    IS(h2_f(1.0f, 2.0f), 0x3c004000);
    IS(b2_f(1.0f, 2.0f), 0x3f804000);
    IS(b2_f_rz(1.9999999f, -1.9999999f), 0x3fffbfff);
    IS(b2_f_relu(-1.0f, 2.0f), 0x00004000);
    IS(tf32(1.00048828125f), 0x3f802000);
    IS(tf32_rn(1.00048828125f), 0x3f800000);
    IS(e4m3(1.0f, 500.0f), 0x387e);
    IS(e4m3(-0x1p-9f, nan), 0x817f);
    IS(e5m2(1.0f, -100000.0f), 0x3cfb);
    IS(e4m3_h2(0x3c00bc00), 0x38b8);
    IS(h2_e4m3(0x38b8), 0x3c00bc00);
    IS(h2_e4m3(0x017e), 0x18005f00);
    IS(h2_e5m2(0x3c01), 0x3c000100);
    IS(pack(300, 0u - 300, 0x1234), 0x12347f80);

    unsigned d;
    asm("{.reg .f16 h; cvt.rn.f16.f32 h, %1; add.f16 h, h, h; cvt.rzi.u32.f16 %0, h;}"
        : "=r"(d)
        : "f"(21.0f));
    IS(d, 42);
    unsigned long long wide;
    asm("cvt.s64.s8 %0, %1;" : "=l"(wide) : "r"(0x80));
    IS(wide, 0ull - 128);
    // A little more than the middle between two numbers of 8 bits.
    unsigned short narrow;
    asm("cvt.rn.bf16.u64 %0, %1;" : "=h"(narrow) : "l"((1ull << 60) + (1ull << 52) + 1));
    IS(narrow, 0x5d81);
    asm("cvt.rn.bf16.s64 %0, %1;" : "=h"(narrow) : "l"(-(1ll << 60) - (1ll << 52) - 1));
    IS(narrow, 0xdd81);
}

int main(void)
{
    convert<<<1, 1>>>(NAN, INFINITY);
    return verdict();
}
