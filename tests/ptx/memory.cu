// Loads, stores and atomics, in all state spaces; cp.async.
#include "ptx.h"

__constant__ unsigned table[4] = {10, 11, 12, 13};
__device__ unsigned variable = 5;

static __device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void loads(const unsigned *in)
{
    unsigned a, b, c, d;
    unsigned short h;
    long long l;
    float f;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(in + 1));
    IS(a, 1);
    asm volatile("ld.global.u32 %0, [%1 + 8];" : "=r"(a) : "l"(in));
    IS(a, 2);
    asm volatile("ld.global.u32 %0, [%1+-4];" : "=r"(a) : "l"(in + 1));
    IS(a, 0);
    asm volatile("ld.u32 %0, [%1 + %2];" : "=r"(a) : "l"(in), "n"(12));
    IS(a, 3);
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(in));
    IS(a | b << 8 | c << 16 | d << 24, 0x03020100);
    asm volatile("ld.global.L1::no_allocate.L2::128B.v2.u32 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "l"(in + 2));
    IS(a + 16 * b, 0x32);
    asm volatile("ld.global.nc.L1::no_allocate.v2.f32 {%0, _}, [%1];"
                 : "=f"(f)
                 : "l"(in + 4));
    IS(bits(f), bits(1.5f));
    asm volatile("ld.volatile.global.f32 %0, [%1];" : "=f"(f) : "l"(in + 4));
    IS(bits(f), bits(1.5f));
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(a) : "l"(in + 3));
    IS(a, 3);
    asm volatile("ld.relaxed.sys.b64 %0, [%1];" : "=l"(l) : "l"(in));
    IS(l, 0x100000000ull);
    asm volatile("ld.global.cg.u8 %0, [%1 + 20];" : "=r"(a) : "l"(in));
    IS(a, 0xfe);
    asm volatile("ld.global.s8 %0, [%1 + 20];" : "=r"(a) : "l"(in));
    IS(a, 0xfffffffe);
    asm volatile("ld.global.s8 %0, [%1 + 20];" : "=l"(l) : "l"(in));
    IS(l, 0ull - 2);
    asm volatile("ld.global.ca.b16 %0, [%1 + 20];" : "=h"(h) : "l"(in));
    IS(h, 0xfffe);
    asm volatile("{.reg .b64 p; createpolicy.fractional.L2::evict_last.b64 p, 1.0;\n"
                 "ld.global.L2::cache_hint.b32 %0, [%1], p;\n"
                 "prefetch.global.L2 [%1]; prefetch.global.L1 [%1];}"
                 : "=r"(a)
                 : "l"(in + 3));
    IS(a, 3);
    asm volatile("{.reg .u64 p; cvta.to.const.u64 p, %1; ld.const.u32 %0, [p + 8];}"
                 : "=r"(a)
                 : "l"(table));
    IS(a, 12);
    asm volatile("ld.u32 %0, [%1];" : "=r"(a) : "l"(&variable));
    IS(a, 5);
    // The address is one of the results.
    unsigned long long p = (unsigned long long)(in + 2);
    asm volatile("ld.global.v2.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(p));
    asm volatile("ld.global.b64 %0, [%0];" : "+l"(p));
    IS(p, 0x300000002ull);
}

static __device__ void stores(unsigned *out)
{
    asm volatile("st.global.u32 [%0], %1;" ::"l"(out), "r"(7) : "memory");
    IS(out[0], 7);
    asm volatile("st.global.v4.b32 [%0 + 16], {%1, %2, %3, %4};" ::"l"(out), "r"(1),
                 "r"(2), "r"(3), "r"(4)
                 : "memory");
    IS(out[4] + out[5] * 10 + out[6] * 100 + out[7] * 1000, 4321);
    asm volatile("st.global.v2.f32 [%0], {%1, 0f3F800000};" ::"l"(out), "f"(2.0f)
                 : "memory");
    IS(out[0], bits(2.0f));
    IS(out[1], bits(1.0f));
    asm volatile("st.u8 [%0 + 1], %1;" ::"l"(out), "r"(0x1ab) : "memory");
    IS(out[0], 0x4000ab00);
    asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(out), "r"(9) : "memory");
    IS(out[0], 9);
    asm volatile("st.global.cs.b64 [%0], %1;" ::"l"(out), "l"(1ull << 32) : "memory");
    IS(out[0], 0);
    IS(out[1], 1);
    asm volatile("fence.acq_rel.gpu; membar.gl; fence.sc.cta;" ::: "memory");
}

static __device__ void in_shared(void)
{
    __shared__ __align__(8) unsigned words[8];
    __shared__ __align__(16) float others[4];
    const unsigned at = shared_address(words), there = shared_address(others);
    unsigned a, b;
    unsigned long long wide;
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(3), "r"(4) : "memory");
    IS(words[1], 4);
    asm volatile("st.shared::cta.f32 [%0 + 4], 0f40000000;" ::"r"(there) : "memory");
    IS(bits(others[1]), bits(2.0f));
    asm volatile("ld.shared.b64 %0, [%1];" : "=l"(wide) : "r"(at));
    IS(wide, 0x400000003ull);
    asm volatile("ld.volatile.shared.u32 %0, [%1 + 4];" : "=r"(a) : "r"(at));
    IS(a, 4);
    // A generic address, there and back.
    asm volatile("{.reg .u64 p, q; cvta.to.shared.u64 p, %2; cvt.u32.u64 %0, p;\n"
                 "cvta.shared.u64 q, p; ld.u32 %1, [q];}"
                 : "=r"(a), "=r"(b)
                 : "l"(words));
    IS(a, at);
    IS(b, 3);
    unsigned shared_one, global_one;
    asm volatile("{.reg .pred p; isspacep.shared p, %2; selp.u32 %0, 1, 0, p;\n"
                 "isspacep.global p, %2; selp.u32 %1, 1, 0, p;}"
                 : "=r"(shared_one), "=r"(global_one)
                 : "l"(words));
    IS(shared_one, 1);
    IS(global_one, 0);
    asm volatile("atom.shared.add.u32 %0, [%1], 5;" : "=r"(a) : "r"(at) : "memory");
    IS(a, 3);
    IS(words[0], 8);
    asm volatile("atom.acq_rel.cta.shared::cta.cas.b32 %0, [%1], 8, 1;"
                 : "=r"(a)
                 : "r"(at)
                 : "memory");
    IS(a, 8);
    IS(words[0], 1);
    asm volatile("red.shared.max.s32 [%0], %1;" ::"r"(at), "r"(-5) : "memory");
    IS(words[0], 1);
}

static __device__ void atomics(unsigned *out)
{
    unsigned a, b;
    float f;
    unsigned long long l;
    out[0] = 5;
    out[1] = 0;
    asm volatile("atom.global.exch.b32 %0, [%1], 9;" : "=r"(a) : "l"(out) : "memory");
    IS(a, 5);
    asm volatile("atom.add.s32 %0, [%1], %2;" : "=r"(a) : "l"(out), "r"(-10) : "memory");
    IS(out[0], 0u - 1);
    asm volatile("atom.global.inc.u32 %0, [%1], 3;" : "=r"(a) : "l"(out) : "memory");
    IS(out[0], 0);
    asm volatile("atom.global.dec.u32 %0, [%1], 3;" : "=r"(a) : "l"(out) : "memory");
    IS(out[0], 3);
    asm volatile("atom.global.min.u32 %0, [%1], 2;" : "=r"(a) : "l"(out) : "memory");
    asm volatile("red.global.xor.b32 [%0], 3;" ::"l"(out) : "memory");
    asm volatile("red.relaxed.gpu.global.or.b32 [%0], 8;" ::"l"(out) : "memory");
    IS(out[0], 9);
    asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(l)
                 : "l"(out), "l"(9ull), "l"(7ull << 32)
                 : "memory");
    IS(l, 9);
    IS(out[1], 7);
    out[0] = bits(1.0f);
    asm volatile("atom.global.add.f32 %0, [%1], %2;"
                 : "=f"(f)
                 : "l"(out), "f"(0.5f)
                 : "memory");
    IS(bits(f), bits(1.0f));
    IS(out[0], bits(1.5f));
    out[0] = 0x3c004000;
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(out), "r"(0x3c003c00)
                 : "memory");
    IS(out[0], 0x40004200);
    out[0] = out[1] = out[2] = out[3] = 0;
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %2};" ::"l"(out), "f"(1.0f),
                 "f"(2.0f)
                 : "memory");
    asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %3};"
                 : "=r"(a), "=r"(b)
                 : "l"(out + 2), "f"(1.0f)
                 : "memory");
    IS(b, bits(2.0f));
    IS(out[2], bits(2.0f));
    IS(out[3], bits(3.0f));
}

static __device__ void copies(const unsigned *in)
{
    __shared__ __align__(16) unsigned to[16];
    for (int i = 0; i < 16; i++) to[i] = 99;
    const unsigned at = shared_address(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n"
                 "cp.async.ca.shared.global.L2::128B [%0 + 8], [%1 + 8], 8, %2;\n"
                 "cp.async.commit_group;" ::"r"(at),
                 "l"(in), "r"(4)
                 : "memory");
    asm volatile("{.reg .pred skip; setp.eq.u32 skip, 1, 1;\n"
                 "cp.async.cg.shared::cta.global [%0 + 16], [%1], 16;\n"
                 "cp.async.cg.shared::cta.global.L2::256B [%0 + 32], [%1], %2, skip;\n"
                 "cp.async.commit_group;}" ::"r"(at),
                 "l"(in), "n"(16)
                 : "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    IS(to[0], 0);
    IS(to[1], 99);
    IS(to[2], 2);
    IS(to[3], 0);
    asm volatile("cp.async.wait_group %0;" ::"n"(0) : "memory");
    IS(to[5], 1);
    IS(to[7], 3);
    IS(to[8] | to[11], 0);
    IS(to[12], 99);
    asm volatile(
        "cp.async.ca.shared.global [%0 + 48], [%1 + 4], 4; cp.async.wait_all;" ::"r"(at),
        "l"(in)
        : "memory");
    IS(to[12], 1);
}

__global__ void memory(const unsigned *in, unsigned *out)
{
    loads(in);
    stores(out);
    in_shared();
    atomics(out);
    copies(in);
}

int main(void)
{
    const unsigned values[] = {0, 1, 2, 3, 0x3fc00000, 0x1122fffe, 0, 0};
    unsigned *in, *out;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    memory<<<1, 1>>>(in, out);
    const int status = verdict();
    cudaFree(in);
    cudaFree(out);
    return status;
}
