/* What the PTX programs need: a kernel that looks at its results by itself.
 *
 * IS(got, want) compares bits. The first comparison that fails is remembered with its
 * line, and verdict() tells. */
#ifndef PTX_H
#define PTX_H

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct failure {
    int line;
    unsigned thread;
    unsigned long long got, want;
};

static __device__ failure first_failure;

static __device__ __noinline__ void is(int line, unsigned long long got,
                                       unsigned long long want)
{
    if (got == want) return;
    if (atomicCAS(&first_failure.line, 0, line) != 0) return;
    first_failure.thread = threadIdx.x;
    first_failure.got = got;
    first_failure.want = want;
}

#define IS(got, want) is(__LINE__, got, want)

static __device__ inline unsigned bits(float x)
{
    return __float_as_uint(x);
}

static __device__ inline unsigned long long bits(double x)
{
    return (unsigned long long)__double_as_longlong(x);
}

/* Functions that are one instruction: the letters are constraints, the result's first. */
#define PTX_1(name, r, R, a, A, text)                                                    \
    static __device__ inline R name(A x)                                                 \
    {                                                                                    \
        R d;                                                                             \
        asm volatile(text " %0, %1;" : "=" r(d) : a(x));                                 \
        return d;                                                                        \
    }
#define PTX_2(name, r, R, a, A, b, B, text)                                              \
    static __device__ inline R name(A x, B y)                                            \
    {                                                                                    \
        R d;                                                                             \
        asm volatile(text " %0, %1, %2;" : "=" r(d) : a(x), b(y));                       \
        return d;                                                                        \
    }
#define PTX_3(name, r, R, a, A, b, B, c, C, text)                                        \
    static __device__ inline R name(A x, B y, C z)                                       \
    {                                                                                    \
        R d;                                                                             \
        asm volatile(text " %0, %1, %2, %3;" : "=" r(d) : a(x), b(y), c(z));             \
        return d;                                                                        \
    }
/* All of them 32-bit integers, 64-bit integers, floats. */
#define R_R(name, text) PTX_1(name, "r", unsigned, "r", unsigned, text)
#define R_RR(name, text) PTX_2(name, "r", unsigned, "r", unsigned, "r", unsigned, text)
#define R_RRR(name, text)                                                                \
    PTX_3(name, "r", unsigned, "r", unsigned, "r", unsigned, "r", unsigned, text)
#define L_L(name, text)                                                                  \
    PTX_1(name, "l", unsigned long long, "l", unsigned long long, text)
#define L_LL(name, text)                                                                 \
    PTX_2(name, "l", unsigned long long, "l", unsigned long long, "l",                   \
          unsigned long long, text)
#define F_F(name, text) PTX_1(name, "f", float, "f", float, text)
#define F_FF(name, text) PTX_2(name, "f", float, "f", float, "f", float, text)
#define F_FFF(name, text)                                                                \
    PTX_3(name, "f", float, "f", float, "f", float, "f", float, text)

static inline int verdict(void)
{
    failure f;
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaMemcpyFromSymbol(&f, first_failure, sizeof f);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    if (f.line) {
        printf("line %d, thread %u: got 0x%llx, want 0x%llx\n", f.line, f.thread, f.got,
               f.want);
        return 1;
    }
    printf("PASS\n");
    return 0;
}

#endif
