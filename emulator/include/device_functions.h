/* The functions that exist in kernels only: barriers and fences, conversions, integer and
 * floating-point intrinsics. */
#ifndef DEVICE_FUNCTIONS_H
#define DEVICE_FUNCTIONS_H

#ifdef __cplusplus

#include <assert.h>
#include <limits.h>
#include "emulator_math.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulator_ptx.h"
#include "device_launch_parameters.h"
#include "emulator_runtime.h"
#include "host_defines.h"

/* ---- barriers and fences ---- */

EMU_FN void __syncthreads()
{
    emu_barrier(0, EMU_BARRIER_PLAIN);
}
EMU_IS(int, __syncthreads_count, (int predicate),
       emu_barrier(predicate, EMU_BARRIER_COUNT))
EMU_IS(int, __syncthreads_and, (int predicate), emu_barrier(predicate, EMU_BARRIER_AND))
EMU_IS(int, __syncthreads_or, (int predicate), emu_barrier(predicate, EMU_BARRIER_OR))

/* One thread runs at a time, so the order is there already; the checker wants to know
 * whether a GPU would keep it. */
EMU_FN void __threadfence_block()
{
    emu_fence(0);
}
EMU_FN void __threadfence()
{
    emu_fence(1);
}
EMU_FN void __threadfence_system()
{
    emu_fence(1);
}

/* Of a launch that may begin before the one ahead of it has ended; here none does, but
 * what it touches before it has waited is looked at. */
EMU_FN void cudaGridDependencySynchronize()
{
    emu_wait_for_launch_ahead();
}
EMU_FN void cudaTriggerProgrammaticLaunchCompletion()
{
}

/* ---- time, traps, addresses ---- */

EMU_FN long long clock64()
{
    return (long long)emu_clock();
}
EMU_FN void __nanosleep(unsigned)
{
}

extern "C" {
void __trap() __attribute__((noreturn));
void __brkpt() __attribute__((noreturn));
unsigned __isShared(const void *p);
unsigned __isGlobal(const void *p);
unsigned __isConstant(const void *p);
unsigned __isLocal(const void *p);
void *__cvta_shared_to_generic(size_t offset);
size_t
__cvta_generic_to_shared(const void *p); /* its offset in the block's shared memory */
}

EMU_FN size_t __cvta_generic_to_global(const void *p)
{
    emu_need_global(p, "__cvta_generic_to_global");
    return (size_t)p;
}

/* ---- clusters, without cooperative groups ---- */

EMU_FN void __cluster_barrier_arrive()
{
    emu_cluster_barrier_arrive();
}
EMU_FN void __cluster_barrier_wait()
{
    emu_cluster_barrier_wait();
}
EMU_FN unsigned __clusterRelativeBlockRank()
{
    return emu_cluster_rank();
}
EMU_FN unsigned __clusterSizeInBlocks()
{
    return emu_cluster_blocks();
}
EMU_FN dim3 __clusterDim()
{
    unsigned extent[3];
    emu_cluster_extent(extent);
    return dim3(extent[0], extent[1], extent[2]);
}
EMU_FN dim3 __clusterRelativeBlockIdx()
{
    const dim3 d = __clusterDim();
    return dim3(blockIdx.x % d.x, blockIdx.y % d.y, blockIdx.z % d.z);
}
EMU_FN dim3 __clusterIdx()
{
    const dim3 d = __clusterDim();
    return dim3(blockIdx.x / d.x, blockIdx.y / d.y, blockIdx.z / d.z);
}
EMU_FN dim3 __clusterGridDimInClusters()
{
    const dim3 d = __clusterDim();
    return dim3(gridDim.x / d.x, gridDim.y / d.y, gridDim.z / d.z);
}
EMU_FN void *__cluster_map_shared_rank(const void *p, unsigned block)
{
    return emu_cluster_place(p, block);
}
EMU_FN unsigned __cluster_query_shared_rank(const void *p)
{
    return emu_cluster_owner(p);
}

/* ---- loads and stores with a cache hint: no hint changes the value ---- */

/* T itself, but not where a call's type parameters are found out: the pointer says which
 * type it is. */
template <class T_> struct emu_identity {
    typedef T_ type;
};
template <class T_> using emu_same = typename emu_identity<T_>::type;

#define EMU_LOAD(name)                                                                   \
    template <class T_> EMU_FN T_ name(const T_ *p)                                      \
    {                                                                                    \
        emu_need_global(p, #name);                                                       \
        return *p;                                                                       \
    }
template <class T_> EMU_FN T_ __ldg(const T_ *p)
{
    emu_need_global(p, "__ldg");
    emu_need_unwritten(p, sizeof *p, "__ldg");
    return *p;
}
EMU_LOAD(__ldca)
EMU_LOAD(__ldcg)
EMU_LOAD(__ldcs)
EMU_LOAD(__ldlu)
EMU_LOAD(__ldcv)
#undef EMU_LOAD
#define EMU_STORE(name)                                                                  \
    template <class T_> EMU_FN void name(T_ *p, emu_same<T_> value)                      \
    {                                                                                    \
        emu_need_global(p, #name);                                                       \
        *p = value;                                                                      \
    }
EMU_STORE(__stwb)
EMU_STORE(__stcg)
EMU_STORE(__stcs)
EMU_STORE(__stwt)
#undef EMU_STORE

/* ---- the same bits as another type ---- */

template <class To, class From> EMU_FN To emu_reinterpret(From from)
{
    static_assert(sizeof(To) == sizeof(From), "both types must have one size");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
EMU_IS(int, __float_as_int, (float x), emu_reinterpret<int>(x))
EMU_IS(unsigned, __float_as_uint, (float x), emu_reinterpret<unsigned>(x))
EMU_IS(float, __int_as_float, (int x), emu_reinterpret<float>(x))
EMU_IS(float, __uint_as_float, (unsigned x), emu_reinterpret<float>(x))
EMU_IS(long long, __double_as_longlong, (double x), emu_reinterpret<long long>(x))
EMU_IS(double, __longlong_as_double, (long long x), emu_reinterpret<double>(x))
EMU_IS(int, __double2hiint, (double x), (int)(__double_as_longlong(x) >> 32))
EMU_IS(int, __double2loint, (double x), (int)__double_as_longlong(x))
EMU_IS(double, __hiloint2double, (int high, int low),
       __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 |
                                        (unsigned)low)))

/* ---- conversions ---- */

/* The hardware clamps to the range of the result and turns NaN into 0; from or to 64 bits
 * (`wide`), into the top bit alone. `x` is rounded already; `limit` is the largest result
 * plus 1. */
template <class To>
EMU_FN To emu_clamped(double x, To least, To most, double limit, bool wide = false)
{
    if (x != x) return wide || sizeof(To) == 8 ? (To)(1ull << (8 * sizeof(To) - 1)) : 0;
    if (x >= limit) return most;
    return x < (double)least ? least : (To)x;
}
#define EMU_TO_INTEGER(from, T_, suffix, round)                                          \
    EMU_FN int __##from##2int_##suffix(T_ x)                                             \
    {                                                                                    \
        return emu_clamped<int>(round((double)x), INT_MIN, INT_MAX, 0x1p31,              \
                                sizeof x == 8);                                          \
    }                                                                                    \
    EMU_FN unsigned __##from##2uint_##suffix(T_ x)                                       \
    {                                                                                    \
        return emu_clamped<unsigned>(round((double)x), 0, UINT_MAX, 0x1p32,              \
                                     sizeof x == 8);                                     \
    }                                                                                    \
    EMU_FN long long __##from##2ll_##suffix(T_ x)                                        \
    {                                                                                    \
        return emu_clamped<long long>(round((double)x), LLONG_MIN, LLONG_MAX, 0x1p63);   \
    }                                                                                    \
    EMU_FN unsigned long long __##from##2ull_##suffix(T_ x)                              \
    {                                                                                    \
        return emu_clamped<unsigned long long>(round((double)x), 0, ULLONG_MAX, 0x1p64); \
    }
EMU_TO_INTEGER(float, float, rn, rint)
EMU_TO_INTEGER(float, float, rz, trunc)
EMU_TO_INTEGER(float, float, rd, floor)
EMU_TO_INTEGER(float, float, ru, ceil)
EMU_TO_INTEGER(double, double, rn, rint)
EMU_TO_INTEGER(double, double, rz, trunc)
EMU_TO_INTEGER(double, double, rd, floor)
EMU_TO_INTEGER(double, double, ru, ceil)
#undef EMU_TO_INTEGER

EMU_IS(float, __int2float_rn, (int x), (float)x)
EMU_IS(float, __uint2float_rn, (unsigned x), (float)x)
EMU_IS(float, __ll2float_rn, (long long x), (float)x)
EMU_IS(float, __ull2float_rn, (unsigned long long x), (float)x)
EMU_IS(double, __int2double_rn, (int x), (double)x)
EMU_IS(double, __uint2double_rn, (unsigned x), (double)x)
EMU_IS(double, __ll2double_rn, (long long x), (double)x)
EMU_IS(double, __ull2double_rn, (unsigned long long x), (double)x)
EMU_IS(float, __double2float_rn, (double x), (float)x)

/* Rounded towards zero, down and up, by the instructions of PTX. */
#define EMU_TO_FLOAT(name, from, letter, types)                                          \
    EMU_ALL_WAYS(name, float, "=f", from, letter, types)
#define EMU_TO_DOUBLE(name, from, letter, types)                                         \
    EMU_ALL_WAYS(name, double, "=d", from, letter, types)
#define EMU_ALL_WAYS(name, to, to_letter, from, letter, types)                           \
    EMU_ONE_WAY(name##_rz, to, to_letter, from, letter, "cvt.rz" types)                  \
    EMU_ONE_WAY(name##_rd, to, to_letter, from, letter, "cvt.rm" types)                  \
    EMU_ONE_WAY(name##_ru, to, to_letter, from, letter, "cvt.rp" types)
#define EMU_ONE_WAY(name, to, to_letter, from, letter, instruction)                      \
    static __device__ __forceinline__ to name(from x)                                    \
    {                                                                                    \
        to result;                                                                       \
        asm(instruction " %0, %1;" : to_letter(result) : letter(x));                     \
        return result;                                                                   \
    }
EMU_TO_FLOAT(__int2float, int, "r", ".f32.s32")
EMU_TO_FLOAT(__uint2float, unsigned, "r", ".f32.u32")
EMU_TO_FLOAT(__ll2float, long long, "l", ".f32.s64")
EMU_TO_FLOAT(__ull2float, unsigned long long, "l", ".f32.u64")
EMU_TO_FLOAT(__double2float, double, "d", ".f32.f64")
EMU_TO_DOUBLE(__ll2double, long long, "l", ".f64.s64")
EMU_TO_DOUBLE(__ull2double, unsigned long long, "l", ".f64.u64")
#undef EMU_ONE_WAY
#undef EMU_ALL_WAYS
#undef EMU_TO_DOUBLE
#undef EMU_TO_FLOAT

/* ---- integers ---- */

EMU_IS(int, __popc, (unsigned x), __builtin_popcount(x))
EMU_IS(int, __popcll, (unsigned long long x), __builtin_popcountll(x))
EMU_IS(int, __clz, (int x), x ? __builtin_clz((unsigned)x) : 32)
EMU_IS(int, __clzll, (long long x), x ? __builtin_clzll((unsigned long long)x) : 64)
EMU_IS(int, __ffs, (int x), __builtin_ffs(x))
EMU_IS(int, __ffsll, (long long x), __builtin_ffsll(x))
EMU_FN unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
EMU_FN unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
/* Each of the four lowest nibbles of `selector` names one of the eight bytes of y:x; its
 * top bit asks for that byte's sign, eight times, instead. */
EMU_FN unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned nibble = selector >> 4 * i & 15;
        unsigned byte = (unsigned)(both >> 8 * (nibble & 7)) & 255;
        if (nibble & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}
EMU_IS(unsigned, __funnelshift_l, (unsigned low, unsigned high, unsigned shift),
       (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32))
EMU_IS(unsigned, __funnelshift_r, (unsigned low, unsigned high, unsigned shift),
       (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31)))
EMU_IS(unsigned, __funnelshift_lc, (unsigned low, unsigned high, unsigned shift),
       shift >= 32 ? low : __funnelshift_l(low, high, shift))
EMU_IS(unsigned, __funnelshift_rc, (unsigned low, unsigned high, unsigned shift),
       shift >= 32 ? high : __funnelshift_r(low, high, shift))
EMU_FN int emu_low24(int x)
{
    return (int)((unsigned)x << 8) >> 8;
}
EMU_IS(int, __mul24, (int x, int y), (int)((long long)emu_low24(x) * emu_low24(y)))
EMU_IS(unsigned, __umul24, (unsigned x, unsigned y), (x & 0xffffff) * (y & 0xffffff))
EMU_FN int __mulhi(int x, int y)
{
    return (int)((long long)x * y >> 32);
}
EMU_FN unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)((unsigned long long)x * y >> 32);
}
EMU_FN long long __mul64hi(long long x, long long y)
{
    return (long long)((__int128)x * y >> 64);
}
EMU_FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
EMU_IS(unsigned, __sad, (int x, int y, unsigned z),
       z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x))
EMU_IS(unsigned, __usad, (unsigned x, unsigned y, unsigned z),
       z + (x > y ? x - y : y - x))
EMU_IS(int, __hadd, (int x, int y), (int)(((long long)x + y) >> 1))
EMU_IS(int, __rhadd, (int x, int y), (int)(((long long)x + y + 1) >> 1))
EMU_IS(unsigned, __uhadd, (unsigned x, unsigned y),
       (unsigned)(((unsigned long long)x + y) >> 1))
EMU_IS(unsigned, __urhadd, (unsigned x, unsigned y),
       (unsigned)(((unsigned long long)x + y + 1) >> 1))
EMU_FN int __dp4a(int x, int y, int sum)
{
    unsigned result = (unsigned)sum;
    for (int i = 0; i < 32; i += 8)
        result += (unsigned)((signed char)(x >> i) * (signed char)(y >> i));
    return (int)result;
}
EMU_FN unsigned __dp4a(unsigned x, unsigned y, unsigned sum)
{
    for (int i = 0; i < 32; i += 8) sum += (x >> i & 255) * (y >> i & 255);
    return sum;
}

/* Two halves of x with the lower, or the upper, two bytes of y. */
EMU_FN int __dp2a_lo(int x, int y, int sum)
{
    const int low = (short)x * (signed char)y;
    const int high = (short)(x >> 16) * (signed char)(y >> 8);
    return (int)((unsigned)sum + (unsigned)low + (unsigned)high);
}
EMU_FN unsigned __dp2a_lo(unsigned x, unsigned y, unsigned sum)
{
    return sum + (x & 0xffff) * (y & 255) + (x >> 16) * (y >> 8 & 255);
}
EMU_FN int __dp2a_hi(int x, int y, int sum)
{
    return __dp2a_lo(x, y >> 16, sum);
}
EMU_FN unsigned __dp2a_hi(unsigned x, unsigned y, unsigned sum)
{
    return __dp2a_lo(x, y >> 16, sum);
}
/* The same of vectors' bytes and halves. */
EMU_FN int __dp4a(char4 x, char4 y, int sum)
{
    return sum + x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
}
EMU_FN unsigned __dp4a(uchar4 x, uchar4 y, unsigned sum)
{
    return sum + (unsigned)(x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w);
}
EMU_FN int __dp2a_lo(short2 x, char4 y, int sum)
{
    return sum + x.x * y.x + x.y * y.y;
}
EMU_FN int __dp2a_hi(short2 x, char4 y, int sum)
{
    return sum + x.x * y.z + x.y * y.w;
}
EMU_FN unsigned __dp2a_lo(ushort2 x, uchar4 y, unsigned sum)
{
    return sum + (unsigned)x.x * y.x + (unsigned)x.y * y.y;
}
EMU_FN unsigned __dp2a_hi(ushort2 x, uchar4 y, unsigned sum)
{
    return sum + (unsigned)x.x * y.z + (unsigned)x.y * y.w;
}
/* The place of the offset-th set bit from `base` on, upwards or (negative) downwards. */
EMU_FN unsigned __fns(unsigned mask, unsigned base, int offset)
{
    const int step = offset < 0 ? -1 : 1;
    int left = offset == 0 ? 1 : offset * step;
    for (int place = (int)base; place >= 0 && place < 32; place += step) {
        left -= (int)(mask >> place & 1);
        if (left == 0) return (unsigned)place;
        if (offset == 0) break;
    }
    return ~0u;
}
/* Sums and comparisons in one (DPX); _relu: not less than 0; of 16x2, each half by itself;
 * __vibmax also says whether it is the first. */
#define EMU_DPX(kind, T_)                                                                \
    EMU_FN T_ emu_vmax_##kind(T_ a, T_ b)                                                \
    {                                                                                    \
        return a > b ? a : b;                                                            \
    }                                                                                    \
    EMU_FN T_ emu_vmin_##kind(T_ a, T_ b)                                                \
    {                                                                                    \
        return a < b ? a : b;                                                            \
    }                                                                                    \
    EMU_FN T_ emu_vadd_##kind(T_ a, T_ b)                                                \
    {                                                                                    \
        return (T_)((unsigned)a + (unsigned)b);                                          \
    }
EMU_DPX(s32, int)
EMU_DPX(u32, unsigned)
EMU_DPX(s16, short)
EMU_DPX(u16, unsigned short)
#undef EMU_DPX
#define EMU_DPX_PAIR(kind, T_, op)                                                       \
    EMU_FN unsigned emu_v##op##_##kind##x2(unsigned a, unsigned b)                       \
    {                                                                                    \
        return (unsigned short)emu_v##op##_##kind((T_)a, (T_)b) |                        \
               (unsigned)(unsigned short)emu_v##op##_##kind((T_)(a >> 16),               \
                                                            (T_)(b >> 16))               \
                   << 16;                                                                \
    }
EMU_DPX_PAIR(s16, short, max)
EMU_DPX_PAIR(s16, short, min)
EMU_DPX_PAIR(s16, short, add)
EMU_DPX_PAIR(u16, unsigned short, max)
EMU_DPX_PAIR(u16, unsigned short, min)
EMU_DPX_PAIR(u16, unsigned short, add)
#undef EMU_DPX_PAIR
#define EMU_DPX_FUNCTIONS(kind, T_, op)                                                  \
    EMU_FN T_ __vi##op##3_##kind(T_ a, T_ b, T_ c)                                       \
    {                                                                                    \
        return emu_v##op##_##kind(emu_v##op##_##kind(a, b), c);                          \
    }                                                                                    \
    EMU_FN T_ __viadd##op##_##kind(T_ a, T_ b, T_ c)                                     \
    {                                                                                    \
        return emu_v##op##_##kind(emu_vadd_##kind(a, b), c);                             \
    }
#define EMU_DPX_RELU(kind, T_, op)                                                       \
    EMU_FN T_ __vi##op##_##kind##_relu(T_ a, T_ b)                                       \
    {                                                                                    \
        return emu_vmax_##kind(emu_v##op##_##kind(a, b), 0);                             \
    }                                                                                    \
    EMU_FN T_ __vi##op##3_##kind##_relu(T_ a, T_ b, T_ c)                                \
    {                                                                                    \
        return emu_vmax_##kind(__vi##op##3_##kind(a, b, c), 0);                          \
    }                                                                                    \
    EMU_FN T_ __viadd##op##_##kind##_relu(T_ a, T_ b, T_ c)                              \
    {                                                                                    \
        return emu_vmax_##kind(__viadd##op##_##kind(a, b, c), 0);                        \
    }
EMU_DPX_FUNCTIONS(s32, int, max)
EMU_DPX_FUNCTIONS(s32, int, min)
EMU_DPX_FUNCTIONS(u32, unsigned, max)
EMU_DPX_FUNCTIONS(u32, unsigned, min)
EMU_DPX_FUNCTIONS(s16x2, unsigned, max)
EMU_DPX_FUNCTIONS(s16x2, unsigned, min)
EMU_DPX_FUNCTIONS(u16x2, unsigned, max)
EMU_DPX_FUNCTIONS(u16x2, unsigned, min)
EMU_DPX_RELU(s32, int, max)
EMU_DPX_RELU(s32, int, min)
EMU_DPX_RELU(s16x2, unsigned, max)
EMU_DPX_RELU(s16x2, unsigned, min)
#undef EMU_DPX_FUNCTIONS
#undef EMU_DPX_RELU
#define EMU_DPX_WHICH(kind, half, T_, Half, op, compare)                                 \
    EMU_FN T_ __vib##op##_##kind(T_ a, T_ b, bool *first)                                \
    {                                                                                    \
        *first = a compare b;                                                            \
        return *first ? a : b;                                                           \
    }                                                                                    \
    EMU_FN unsigned __vib##op##_##half##x2(unsigned a, unsigned b, bool *high,           \
                                           bool *low)                                    \
    {                                                                                    \
        *high = (Half)(a >> 16) compare(Half)(b >> 16);                                  \
        *low = (Half)a compare(Half) b;                                                  \
        return emu_v##op##_##half##x2(a, b);                                             \
    }
EMU_DPX_WHICH(s32, s16, int, short, max, >=)
EMU_DPX_WHICH(s32, s16, int, short, min, <=)
EMU_DPX_WHICH(u32, u16, unsigned, unsigned short, max, >=)
EMU_DPX_WHICH(u32, u16, unsigned, unsigned short, min, <=)
#undef EMU_DPX_WHICH

/* ---- floating point ---- */

EMU_IS(float, __fadd_rn, (float x, float y), x + y)
EMU_IS(float, __fsub_rn, (float x, float y), x - y)
EMU_IS(float, __fmul_rn, (float x, float y), (x) * (y))
EMU_IS(double, __dadd_rn, (double x, double y), x + y)
EMU_IS(double, __dsub_rn, (double x, double y), x - y)
EMU_IS(double, __dmul_rn, (double x, double y), (x) * (y))
EMU_IS(float, __fdiv_rn, (float x, float y), x / y)
EMU_IS(float, __frcp_rn, (float x), 1.0f / x)
EMU_IS(float, __fsqrt_rn, (float x), sqrtf(x))
EMU_IS(float, __frsqrt_rn, (float x), (float)(1.0 / sqrt((double)x)))
EMU_IS(float, __fmaf_ieee_rn, (float x, float y, float z), fmaf(x, y, z))
EMU_IS(float, __fmaf_rn, (float x, float y, float z), fmaf(x, y, z))
EMU_IS(double, __ddiv_rn, (double x, double y), x / y)
EMU_IS(double, __drcp_rn, (double x), 1.0 / x)
EMU_IS(double, __dsqrt_rn, (double x), sqrt(x))
EMU_IS(double, __fma_rn, (double x, double y, double z), fma(x, y, z))

/* Rounded towards zero, down and up, by the instructions of PTX. */
#define EMU_DIRECTED(name, operation, T_, letter, parameters, operands, values)          \
    EMU_ONE_WAY(name##_rz, operation ".rz", T_, letter, parameters, operands, values)    \
    EMU_ONE_WAY(name##_rd, operation ".rm", T_, letter, parameters, operands, values)    \
    EMU_ONE_WAY(name##_ru, operation ".rp", T_, letter, parameters, operands, values)
#define EMU_ONE_WAY(name, operation, T_, letter, parameters, operands, values)           \
    static __device__ __forceinline__ T_ name parameters                                 \
    {                                                                                    \
        T_ result;                                                                       \
        asm(operation operands ";" : "=" letter(result) : EMU_VALUES_##values(letter));  \
        return result;                                                                   \
    }
#define EMU_VALUES_1(letter) letter(x)
#define EMU_VALUES_2(letter) letter(x), letter(y)
#define EMU_VALUES_3(letter) letter(x), letter(y), letter(z)
#define EMU_ARITHMETIC(prefix, fma, T_, bits, letter)                                    \
    EMU_DIRECTED(prefix##add, "add", T_, letter, (T_ x, T_ y), bits " %0, %1, %2", 2)    \
    EMU_DIRECTED(prefix##sub, "sub", T_, letter, (T_ x, T_ y), bits " %0, %1, %2", 2)    \
    EMU_DIRECTED(prefix##mul, "mul", T_, letter, (T_ x, T_ y), bits " %0, %1, %2", 2)    \
    EMU_DIRECTED(prefix##div, "div", T_, letter, (T_ x, T_ y), bits " %0, %1, %2", 2)    \
    EMU_DIRECTED(prefix##rcp, "rcp", T_, letter, (T_ x), bits " %0, %1", 1)              \
    EMU_DIRECTED(prefix##sqrt, "sqrt", T_, letter, (T_ x), bits " %0, %1", 1)            \
    EMU_DIRECTED(fma, "fma", T_, letter, (T_ x, T_ y, T_ z), bits " %0, %1, %2, %3", 3)
EMU_ARITHMETIC(__f, __fmaf, float, ".f32", "f")
EMU_ARITHMETIC(__d, __fma, double, ".f64", "d")
#undef EMU_ARITHMETIC
#undef EMU_VALUES_1
#undef EMU_VALUES_2
#undef EMU_VALUES_3
#undef EMU_ONE_WAY
#undef EMU_DIRECTED

/* ---- two or four numbers in a word (the "SIMD video" intrinsics) ---- */

/* The parts of a and b as numbers, 8 or 16 bits each, and what becomes of them. */
#define EMU_PARTS(name, bits, part, result)                                              \
    EMU_FN unsigned name(unsigned x, unsigned y)                                         \
    {                                                                                    \
        unsigned all = 0;                                                                \
        for (int i = 0; i < 32; i += bits) {                                             \
            const int a = (part)(x >> i), b = (part)(y >> i);                            \
            (void)b;                                                                     \
            all |= ((unsigned)(result) & ((1u << bits) - 1)) << i;                       \
        }                                                                                \
        return all;                                                                      \
    }
#define EMU_CLAMPED(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
#define EMU_VIDEO(n, bits, S_, U_, low, high, most)                                      \
    EMU_PARTS(__vadd##n, bits, U_, a + b)                                                \
    EMU_PARTS(__vsub##n, bits, U_, a - b)                                                \
    EMU_PARTS(__vaddss##n, bits, S_, EMU_CLAMPED(a + b, low, high))                      \
    EMU_PARTS(__vaddus##n, bits, U_, EMU_CLAMPED(a + b, 0, most))                        \
    EMU_PARTS(__vsubss##n, bits, S_, EMU_CLAMPED(a - b, low, high))                      \
    EMU_PARTS(__vsubus##n, bits, U_, EMU_CLAMPED(a - b, 0, most))                        \
    EMU_PARTS(__vavgs##n, bits, S_, (a + b + (a + b >= 0)) >> 1)                         \
    EMU_PARTS(__vavgu##n, bits, U_, (a + b + 1) >> 1)                                    \
    EMU_PARTS(__vhaddu##n, bits, U_, (a + b) >> 1)                                       \
    EMU_PARTS(__vabsdiffs##n, bits, S_, a > b ? a - b : b - a)                           \
    EMU_PARTS(__vabsdiffu##n, bits, U_, a > b ? a - b : b - a)                           \
    EMU_PARTS(__vmaxs##n, bits, S_, a > b ? a : b)                                       \
    EMU_PARTS(__vmaxu##n, bits, U_, a > b ? a : b)                                       \
    EMU_PARTS(__vmins##n, bits, S_, a < b ? a : b)                                       \
    EMU_PARTS(__vminu##n, bits, U_, a < b ? a : b)                                       \
    EMU_COMPARED(eq##n, bits, U_, a == b)                                                \
    EMU_COMPARED(ne##n, bits, U_, a != b)                                                \
    EMU_COMPARED(ges##n, bits, S_, a >= b)                                               \
    EMU_COMPARED(geu##n, bits, U_, a >= b)                                               \
    EMU_COMPARED(gts##n, bits, S_, a > b)                                                \
    EMU_COMPARED(gtu##n, bits, U_, a > b)                                                \
    EMU_COMPARED(les##n, bits, S_, a <= b)                                               \
    EMU_COMPARED(leu##n, bits, U_, a <= b)                                               \
    EMU_COMPARED(lts##n, bits, S_, a < b)                                                \
    EMU_COMPARED(ltu##n, bits, U_, a < b)                                                \
    EMU_FN unsigned __vabs##n(unsigned x)                                                \
    {                                                                                    \
        return __vabsdiffs##n(x, 0);                                                     \
    }                                                                                    \
    EMU_FN unsigned __vabsss##n(unsigned x)                                              \
    {                                                                                    \
        return __vminu##n(__vabs##n(x), (unsigned)high * (~0u / most));                  \
    }                                                                                    \
    EMU_FN unsigned __vneg##n(unsigned x)                                                \
    {                                                                                    \
        return __vsub##n(0, x);                                                          \
    }                                                                                    \
    EMU_FN unsigned __vnegss##n(unsigned x)                                              \
    {                                                                                    \
        return __vsubss##n(0, x);                                                        \
    }                                                                                    \
    EMU_FN unsigned __vsads##n(unsigned x, unsigned y)                                   \
    {                                                                                    \
        unsigned sum = 0;                                                                \
        for (int i = 0; i < 32; i += bits) sum += __vabsdiffs##n(x, y) >> i & most;      \
        return sum;                                                                      \
    }                                                                                    \
    EMU_FN unsigned __vsadu##n(unsigned x, unsigned y)                                   \
    {                                                                                    \
        unsigned sum = 0;                                                                \
        for (int i = 0; i < 32; i += bits) sum += __vabsdiffu##n(x, y) >> i & most;      \
        return sum;                                                                      \
    }
/* A comparison gives all ones or, as __vset, one. */
#define EMU_COMPARED(name, bits, part, result)                                           \
    EMU_PARTS(__vcmp##name, bits, part, (result) ? -1 : 0)                               \
    EMU_PARTS(__vset##name, bits, part, result)
EMU_VIDEO(2, 16, short, unsigned short, -32768, 32767, 65535)
EMU_VIDEO(4, 8, signed char, unsigned char, -128, 127, 255)
#undef EMU_VIDEO
#undef EMU_COMPARED
#undef EMU_CLAMPED
#undef EMU_PARTS

/* The hardware's fast versions lose a few bits; these do not. glibc declares functions of
 * these very names for its own use, so they are C functions that do not throw. */
EMU_FN float __fdividef(float x, float y)
{
    return x / y;
}
#define EMU_FAST extern "C" __forceinline__
#define EMU_FASTER(name)                                                                 \
    EMU_FAST float __##name(float x) noexcept                                            \
    {                                                                                    \
        return name(x);                                                                  \
    }
EMU_FASTER(expf)
EMU_FASTER(exp10f)
EMU_FASTER(logf)
EMU_FASTER(log2f)
EMU_FASTER(log10f)
EMU_FASTER(sinf)
EMU_FASTER(cosf)
EMU_FASTER(tanf)
EMU_FASTER(tanhf)
#undef EMU_FASTER
/* As CUDA defines it (CUDA C++ Programming Guide, "Intrinsic Functions"): a negative number
 * has no logarithm, so all its powers are NaN. */
EMU_FAST float __powf(float x, float y) noexcept
{
    return exp2f(y * log2f(x));
}
EMU_FAST void __sincosf(float x, float *sine, float *cosine) noexcept
{
    *sine = sinf(x);
    *cosine = cosf(x);
}
#undef EMU_FAST
/* One of the counters of a profiler, which nobody reads. */
EMU_FN void __prof_trigger(int)
{
}
EMU_FN float __saturatef(float x)
{
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

#endif
#endif
