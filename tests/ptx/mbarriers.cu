// mbarriers in all their forms, and cp.async that arrives at one.
#include "ptx.h"

static __device__ unsigned address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void init(unsigned b, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(count)
                 : "memory");
}

static __device__ bool over(unsigned b, unsigned parity)
{
    unsigned p;
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;}"
                 : "=r"(p)
                 : "r"(b), "r"(parity)
                 : "memory");
    return p;
}

// With branches, as many kernels write it.
static __device__ void wait(unsigned b, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred P1;\n"
                 "LAB_WAIT:\n"
                 "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 P1, [%0], %1;\n"
                 "@P1 bra DONE;\n"
                 "bra LAB_WAIT;\n"
                 "DONE:\n"
                 "}" ::"r"(b),
                 "r"(parity)
                 : "memory");
}

static __device__ void alone(void)
{
    __shared__ __align__(8) unsigned long long barrier[3];
    const unsigned b = address(barrier);
    unsigned long long state, next;
    unsigned p;
    init(b, 3);
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(b)
                 : "memory");
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;}"
                 : "=r"(p)
                 : "r"(b), "l"(state)
                 : "memory");
    IS(p, 0);
    IS(over(b, 0), 0);
    IS(over(b, 1), 1); // the phase before the first
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], 2;"
                 : "=l"(next)
                 : "r"(b)
                 : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(p) : "l"(next));
    IS(p, 2);
    IS(over(b, 0), 1);
    asm volatile("{.reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2, 1000;\n"
                 "selp.u32 %0, 1, 0, p;}"
                 : "=r"(p)
                 : "r"(b), "l"(state)
                 : "memory");
    IS(p, 1);

    // Later phases take an arrival fewer.
    asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"(b) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 _, [%0], 2;" ::"r"(b) : "memory");
    IS(over(b, 1), 1);
    asm volatile("mbarrier.arrive.shared.b64 _, [%0], 2;" ::"r"(b) : "memory");
    IS(over(b, 0), 1);

    // Bytes: announced with an arrival or without, and what has come.
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 100;" ::"r"(b)
                 : "memory");
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 20;\n"
                 "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b)
                 : "memory");
    IS(over(b, 1), 0);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 120;" ::"r"(b)
                 : "memory");
    IS(over(b, 1), 1);

    // Elsewhere, by a generic address, and a new one in its place.
    asm volatile("mbarrier.init.b64 [%1], 1;\n"
                 "mbarrier.arrive.b64 %0, [%1];"
                 : "=l"(state)
                 : "l"(barrier + 1)
                 : "memory");
    IS(over(b + 8, 0), 1);
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(b + 8) : "memory");
    init(b + 8, 2);
    IS(over(b + 8, 0), 0);
    asm volatile("mbarrier.inval.b64 [%0];" ::"l"(barrier + 1) : "memory");
    asm volatile("mbarrier.inval.b64 [%0];" ::"l"(barrier) : "memory");
}

// A copy that an arrival was told to wait for may be waited for otherwise, too: by its
// thread, or by another arrival.
static __device__ void tracked_twice(const unsigned *in)
{
    __shared__ __align__(8) unsigned long long barrier[2];
    __shared__ __align__(16) unsigned box[3][4];
    const unsigned a = address(barrier), b = a + 8, to = address(box);
    if (threadIdx.x == 0) {
        init(a, 1);
        init(b, 1);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\n"
                     "cp.async.mbarrier.arrive.noinc.shared.b64 [%2];\n"
                     "cp.async.wait_all;" ::"r"(to),
                     "l"(in), "r"(a)
                     : "memory");
        IS(box[0][1], in[1]);
        wait(a, 0);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\n"
                     "cp.async.mbarrier.arrive.noinc.shared.b64 [%2];\n"
                     "cp.async.ca.shared.global [%0 + 16], [%1], 16;\n"
                     "cp.async.mbarrier.arrive.noinc.shared.b64 [%3];" ::"r"(to + 16),
                     "l"(in + 4), "r"(a), "r"(b)
                     : "memory");
        wait(b, 0);
        IS(box[1][2], in[6]);
        IS(box[2][3], in[7]);
        wait(a, 1);
    }
    __syncthreads();
}

// A ring of two stages: one warp fills, two warps read; no __syncthreads() in the loop.
static __device__ void ring(const unsigned *in)
{
    __shared__ __align__(8) unsigned long long full[2], empty[2];
    __shared__ __align__(16) unsigned box[2][32];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; s++) {
            init(address(&full[s]), 32);
            init(address(&empty[s]), 2);
        }
    __syncthreads();
    for (unsigned i = 0; i < 7; i++) {
        const unsigned s = i % 2, parity = i / 2 % 2;
        if (warp == 0) {
            wait(address(&empty[s]), parity ^ 1);
            asm volatile(
                "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(&box[s][lane])),
                "l"(in + 32 * i + lane)
                : "memory");
            // Half of the rounds count the arrival themselves.
            if (i % 2)
                asm volatile(
                    "cp.async.mbarrier.arrive.shared::cta.b64 [%0];\n"
                    "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(&full[s]))
                    : "memory");
            else
                asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                                 address(&full[s]))
                             : "memory");
        } else {
            wait(address(&full[s]), parity);
            IS(box[s][31 - lane], 32 * i + 31 - lane);
            __syncwarp();
            if (lane == 0)
                asm volatile(
                    "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(&empty[s]))
                    : "memory");
        }
    }
    if (warp == 0) asm volatile("cp.async.wait_all;" ::: "memory");
}

// Looks whether a phase is over before it does what the phase waits for.
static __device__ void look_first(void)
{
    __shared__ __align__(8) unsigned long long there, back;
    const unsigned a = address(&there), b = address(&back);
    if (threadIdx.x == 0) {
        init(a, 1);
        init(b, 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const bool early = over(b, 0); // false: the other waits for us
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a) : "memory");
        IS(early, 0);
        if (!early) wait(b, 0);
    } else if (threadIdx.x == 32) {
        wait(a, 0);
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory");
    }
}

__global__ void mbarriers(const unsigned *in)
{
    if (threadIdx.x == 0) alone();
    tracked_twice(in);
    ring(in);
    look_first();
}

int main(void)
{
    unsigned values[7 * 32], *in;
    for (unsigned i = 0; i < 7 * 32; i++) values[i] = i;
    cudaMalloc(&in, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    mbarriers<<<1, 96>>>(in);
    const int status = verdict();
    cudaFree(in);
    return status;
}
