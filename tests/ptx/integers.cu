// Integer arithmetic, logic and comparisons.
#include "ptx.h"

R_RR(add_s32, "add.s32")
R_RR(add_sat, "add.sat.s32")
R_RR(sub_sat, "sub.sat.s32")
R_RR(mul_lo, "mul.lo.u32")
R_RR(mul_hi_u, "mul.hi.u32")
R_RR(mul_hi_s, "mul.hi.s32")
R_RRR(mad_lo, "mad.lo.s32")
R_RRR(mad_hi, "mad.hi.u32")
R_RRR(mad_sat, "mad.hi.sat.s32")
R_RR(mul24_lo, "mul24.lo.u32")
R_RR(mul24_hi_u, "mul24.hi.u32")
R_RR(mul24_hi_s, "mul24.hi.s32")
R_RRR(mad24_lo, "mad24.lo.s32")
R_RRR(mad24_sat, "mad24.hi.sat.s32")
R_RRR(sad_s, "sad.s32")
R_RR(div_s, "div.s32")
R_RR(div_u, "div.u32")
R_RR(rem_s, "rem.s32")
R_RR(min_s, "min.s32")
R_RR(min_u, "min.u32")
R_RR(max_s, "max.s32")
R_RR(min_pair_s, "min.s16x2")
R_RR(max_pair_u, "max.u16x2")
R_RR(add_pair, "add.u16x2")
R_R(abs_s, "abs.s32")
R_R(neg_s, "neg.s32")
R_RR(and_b, "and.b32")
R_RR(xor_b, "xor.b32")
R_R(not_b, "not.b32")
R_R(cnot_b, "cnot.b32")
R_RR(shl_b, "shl.b32")
R_RR(shr_u, "shr.u32")
R_RR(shr_s, "shr.s32")
R_RRR(prmt, "prmt.b32")
R_RRR(prmt_f4e, "prmt.b32.f4e")
R_RRR(prmt_rc16, "prmt.b32.rc16")
R_RRR(shf_l, "shf.l.wrap.b32")
R_RRR(shf_r, "shf.r.clamp.b32")
R_RRR(bfe_u, "bfe.u32")
R_RRR(bfe_s, "bfe.s32")
R_R(bfind_u, "bfind.u32")
R_R(bfind_s, "bfind.s32")
R_R(bfind_shift, "bfind.shiftamt.u32")
R_R(brev, "brev.b32")
R_R(clz, "clz.b32")
R_R(popc, "popc.b32")
R_RR(szext_s, "szext.wrap.s32")
R_RR(bmsk, "bmsk.clamp.b32")
R_RRR(fns, "fns.b32")
R_RRR(dp4a_s, "dp4a.s32.s32")
R_RRR(dp4a_us, "dp4a.u32.s32")
R_RRR(dp2a_lo, "dp2a.lo.s32.s32")
R_RRR(dp2a_hi, "dp2a.hi.u32.u32")
R_RRR(vadd4_sat, "vadd4.u32.u32.u32.sat")
R_RRR(vsub2_s, "vsub2.s32.s32.s32")
R_RRR(vavrg4, "vavrg4.u32.u32.u32")
R_RRR(vabsdiff4_add, "vabsdiff4.u32.u32.u32.add")
R_RRR(vmin2_s, "vmin2.s32.s32.s32")
R_RRR(vmax4_add, "vmax4.s32.s32.s32.add")
L_LL(add_64, "add.u64")
L_LL(mul_hi_64, "mul.hi.u64")
L_LL(mul_hi_s64, "mul.hi.s64")
L_LL(div_64, "div.s64")
L_L(brev_64, "brev.b64")
PTX_1(clz_64, "r", unsigned, "l", unsigned long long, "clz.b64")
PTX_1(popc_64, "r", unsigned, "l", unsigned long long, "popc.b64")
PTX_2(wide_s, "l", long long, "r", int, "r", int, "mul.wide.s32")
PTX_2(wide_16, "r", unsigned, "h", unsigned short, "h", unsigned short, "mul.wide.u16")
PTX_3(mad_wide, "l", long long, "r", int, "r", int, "l", long long, "mad.wide.s32")
PTX_2(shl_64, "l", unsigned long long, "l", unsigned long long, "r", unsigned, "shl.b64")
PTX_2(add_16, "h", unsigned short, "h", unsigned short, "h", unsigned short, "add.u16")

__global__ void integers(void)
{
    const unsigned most = 0x7fffffff, least = 0x80000000, minus = 0xffffffff;
    IS(add_s32(most, 1), least);
    IS(add_sat(most, 1), most);
    IS(add_sat(least, minus), least);
    IS(sub_sat(least, 1), least);
    IS(mul_lo(0x10001, 0x10001), 0x20001);
    IS(mul_hi_u(minus, minus), 0xfffffffe);
    IS(mul_hi_s(minus, minus), 0);
    IS(mad_lo(3, minus, 10), 7);
    IS(mad_hi(0x80000000, 4, 1), 3);
    IS(mad_sat(most, most, most), most);
    IS(mul24_lo(0xff000003, 5), 15);
    IS(mul24_hi_u(0xffffff, 0x10000), 0xffffff);
    IS(mul24_hi_s(0xffffff, 2), minus);
    IS(mad24_lo(minus, 3, 10), 7);
    IS(mad24_sat(0x7fffff, 0x7fffff, most), most);
    IS(sad_s(minus, 3, 10), 14);
    IS(div_s(0u - 7, 2), 0u - 3);
    IS(div_u(0u - 7, 2), 0x7ffffffc);
    IS(rem_s(0u - 7, 2), minus);
    IS(min_s(minus, 1), minus);
    IS(min_u(minus, 1), 1);
    IS(max_s(minus, 1), 1);
    IS(min_pair_s(0xffff0005, 0x00010003), 0xffff0003);
    IS(max_pair_u(0xffff0005, 0x00010007), 0xffff0007);
    IS(add_pair(0xffff0001, 0x00020003), 0x00010004);
    IS(abs_s(0u - 5), 5);
    IS(neg_s(5), 0u - 5);
    IS(and_b(12, 10), 8);
    IS(xor_b(12, 10), 6);
    IS(not_b(0), minus);
    IS(cnot_b(0), 1);
    IS(cnot_b(7), 0);
    IS(shl_b(1, 31), least);
    IS(shl_b(1, 32), 0);
    IS(shr_u(least, 31), 1);
    IS(shr_u(least, 40), 0);
    IS(shr_s(least, 40), minus);
    IS(prmt(0x33221100, 0x77665544, 0x7531), 0x77553311);
    IS(prmt(0x80221100, 0x77665544, 0xb3b3), 0xff80ff80);
    IS(prmt_f4e(0x33221100, 0x77665544, 1), 0x44332211);
    IS(prmt_rc16(0x33221100, 0, 1), 0x33223322);
    IS(shf_l(0x80000000, 1, 33), 3);
    IS(shf_r(0x80000000, 1, 4), 0x18000000);
    IS(shf_r(0x80000000, 7, 40), 7);
    IS(bfe_u(0x12345678, 8, 12), 0x456);
    IS(bfe_s(0x12345678, 4, 4), 7);
    IS(bfe_s(0x000000f0, 4, 4), minus);
    IS(bfe_s(0x80000000, 28, 12), 0xfffffff8);
    IS(bfe_u(0x12345678, 0, 0), 0);
    IS(bfind_u(0x00010000), 16);
    IS(bfind_u(0), minus);
    IS(bfind_s(0xfffeffff), 16);
    IS(bfind_shift(0x00010000), 15);
    IS(brev(1), least);
    IS(clz(1), 31);
    IS(clz(0), 32);
    IS(popc(0xf0f0), 8);
    IS(szext_s(0xf, 4), minus);
    IS(szext_s(0x7, 4), 7);
    IS(bmsk(4, 8), 0xff0);
    IS(fns(0xb4, 0, 2), 4);
    IS(dp4a_s(0xff020304, 0x01010101, 1), 9);
    IS(dp4a_us(0xff020304, 0x01010101, 1), 265);
    IS(dp2a_lo(0xffff0002, 0x04030201, 0), 0);
    IS(dp2a_hi(0x00010002, 0x04030201, 0), 10);
    IS(vadd4_sat(0xff010203, 0x02030405, 0), 0xff040608);
    IS(vsub2_s(0x00010005, 0x00020003, 0), 0xffff0002);
    IS(vavrg4(0x01020304, 0x02020506, 0), 0x02020405);
    IS(vabsdiff4_add(0x01ff0305, 0x03000405, 7), 2 + 255 + 1 + 7);
    IS(vmin2_s(0xffff0005, 0x00010003, 0), 0xffff0003);
    IS(vmax4_add(0xff02fe01, 0x00fdff00, 10), 0 + 2 - 1 + 1 + 10);
    IS(add_64(~0ull, 2), 1);
    IS(mul_hi_64(~0ull, ~0ull), ~0ull - 1);
    IS(mul_hi_s64(~0ull, ~0ull), 0);
    IS(div_64(0ull - 9, 2), 0ull - 4);
    IS(brev_64(1), 1ull << 63);
    IS(clz_64(1), 63);
    IS(popc_64(~0ull), 64);
    IS(wide_s(-3, 5), 0ull - 15);
    IS(wide_16(0xffff, 0xffff), 0xfffe0001);
    IS(mad_wide(-3, 5, 20), 5);
    IS(shl_64(3, 63), 1ull << 63);
    IS(add_16(0xffff, 2), 1);

    unsigned d;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(d) : "r"(12), "r"(10), "r"(7));
    IS(d, 12 ^ 10 ^ 7);
    asm("lop3.b32 %0, %1, %2, %3, (0xF0 & 0xCC) | 0xAA;"
        : "=r"(d)
        : "r"(12), "r"(10), "r"(1));
    IS(d, (12 & 10) | 1);
    asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(d) : "r"(0xff), "r"(0));
    IS(d, 0xf00);
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(1), "r"(2), "r"(-1));
    IS(d, 2);
    asm("set.lt.u32.s32 %0, %1, %2;" : "=r"(d) : "r"(-1), "r"(2));
    IS(d, minus);

    // Comparisons, signed and not; one that gives both answers.
    asm("{.reg .pred p, q, r;\n"
        "setp.lt.s32 p, %1, 1; setp.lt.u32 q, %1, 1; setp.hi.u32 r, %1, 1;\n"
        "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; @r add.u32 %0, %0, 4;\n"
        "setp.ge.or.s32 p|q, %1, 0, r; @p add.u32 %0, %0, 8; @q add.u32 %0, %0, 16;}"
        : "=r"(d)
        : "r"(-1));
    IS(d, 1 + 4 + 8 + 16);

    // 96-bit numbers: carries.
    unsigned low, middle, high;
    // The carry outlives the statement.
    asm volatile("add.cc.u32 %0, %1, 1;" : "=r"(low) : "r"(0xffffffff));
    asm volatile("addc.u32 %0, %1, 6;" : "=r"(high) : "r"(5));
    IS(high + low, 12);
    asm volatile("sub.cc.u32 %0, %1, 1;" : "=r"(low) : "r"(0));
    asm volatile("subc.u32 %0, %1, 6;" : "=r"(high) : "r"(8));
    IS(high, 1);
    asm("add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %3, %5; addc.u32 %2, 0, 0;"
        : "=r"(low), "=r"(middle), "=r"(high)
        : "r"(minus), "r"(1), "r"(0));
    IS(low, 0);
    IS(middle, 0);
    IS(high, 1);
    asm("sub.cc.u32 %0, 0, 1; subc.u32 %1, 5, 0;" : "=r"(low), "=r"(middle));
    IS(low, minus);
    IS(middle, 4);
    asm("mad.lo.cc.u32 %0, %2, %2, 1; madc.hi.u32 %1, %2, %2, 0;"
        : "=r"(low), "=r"(middle)
        : "r"(minus));
    IS(low, 2);
    IS(middle, 0xfffffffe);
}

int main(void)
{
    integers<<<1, 1>>>();
    return verdict();
}
