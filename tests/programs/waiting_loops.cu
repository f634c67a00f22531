// Threads that wait in a loop for what others store: later lanes of their warp, later warps,
// later blocks; barriers of the grid that are made of such loops; and such loops while the
// rest of the block waits at a barrier of some kind.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_runtime.h>

#include "check.h"

#ifdef __NVCC__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

const int BLOCKS = 24, THREADS = 96, ROUNDS = 4;

static __device__ unsigned load(const unsigned *p)
{
    return *(const volatile unsigned *)p;
}

// The last thread of the last block begins, and every other waits for the one behind it.
__global__ void one_by_one(unsigned *turn, unsigned *order)
{
    const unsigned all = gridDim.x * blockDim.x,
                   mine = all - 1 - (blockIdx.x * blockDim.x + threadIdx.x);
    bool done = false;
    while (!done) {
        if (atomicAdd(turn, 0) == mine) {
            order[mine] = all - 1 - mine;
            __threadfence();
            atomicAdd(turn, 1);
            done = true;
        }
    }
}

// A block's sum stands in shared memory while it waits for the sums of all others.
__global__ void rounds(const int *in, int *parts, unsigned *come, int *out)
{
    __shared__ int sum, kept;
    const int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) kept = 0;
    for (int r = 0; r < ROUNDS; r++) {
        if (t == 0) sum = 0;
        __syncthreads();
        atomicAdd(&sum, in[(r * BLOCKS + b) * THREADS + t]);
        __syncthreads();
        if (t == 0) {
            parts[r * BLOCKS + b] = sum;
            __threadfence();
            atomicAdd(come, 1);
            while (load(come) < (unsigned)(BLOCKS * (r + 1))) __nanosleep(64);
            __threadfence();
            for (int i = 0; i < BLOCKS; i++) kept += parts[r * BLOCKS + i];
        }
        __syncthreads();
        if (t == THREADS - 1) out[r * BLOCKS + b] = kept + sum;
        __syncthreads();
    }
}

// One warp fills two places in turn, another empties them; each waits for the other's count.
__global__ void two_warps(const int *in, int n, unsigned *filled, unsigned *emptied,
                          int *places, int *out)
{
    if (threadIdx.x == 0)
        for (int i = 0; i < n; i++) {
            while ((int)load(filled) <= i) continue;
            __threadfence();
            out[i] = 2 * places[i % 2];
            __threadfence();
            atomicExch(emptied, i + 1);
        }
    if (threadIdx.x == 32)
        for (int i = 0; i < n; i++) {
            while ((int)load(emptied) + 2 <= i) continue;
            __threadfence();
            places[i % 2] = in[i];
            __threadfence();
            atomicExch(filled, i + 1);
        }
}

// Rounds are counted, so none is like the one before. The last loop has an end of its own.
__global__ void counted(unsigned *flags, int *out)
{
    const int b = blockIdx.x;
    int n = 0;
    if (b == 0 && threadIdx.x == 0)
        while (load(&flags[0]) == 0) n++;
    if (b == 0 && threadIdx.x == 40) atomicExch(&flags[0], 1);
    if (b == 0 && threadIdx.x == 1)
        while (load(&flags[1]) < BLOCKS - 1) n++;
    if (b > 0 && threadIdx.x == 1) atomicAdd(&flags[1], 1);
    if (b == 0 && threadIdx.x == 2)
        while (n < 100000 && load(&flags[2]) == 0) n++;
    if (b == 0 && threadIdx.x < 3) out[threadIdx.x] = n;
}

// Block b waits for block b + 1 alone, by a load of PTX's own.
__global__ void chain(unsigned *ready, int *out)
{
    if (threadIdx.x > 0) return;
    const int b = blockIdx.x;
    unsigned is_ready = b == BLOCKS - 1;
    while (!is_ready)
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                     : "=r"(is_ready)
                     : "l"(ready + b + 1)
                     : "memory");
    out[b] = b == BLOCKS - 1 ? 1 : out[b + 1] + b;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(ready + b), "r"(1u)
                 : "memory");
}

// One warp waits for the next block, one for that warp, and the last for both.
__global__ void three_warps(unsigned *ready, int *out)
{
    __shared__ int v[2];
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    const int b = blockIdx.x, warp = threadIdx.x / 32;
    const bool first = threadIdx.x % 32 == 0;
    if (threadIdx.x == 0) init(&all, THREADS);
    __syncthreads();
    if (warp == 1 && first) {
        while (b + 1 < BLOCKS && atomicAdd(&ready[b + 1], 0) == 0) continue;
        v[0] = 100 * b;
    }
    if (warp < 2) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (warp == 0 && first) v[1] = v[0] + 1;
    all.arrive_and_wait();
    if (warp == 2 && first) {
        out[b] = v[1];
        __threadfence();
        atomicExch(&ready[b], 1);
    }
}

// Between two barriers of a cooperative grid, each block waits for the next.
__global__ void in_rounds(unsigned *ready, int *sums, int *out)
{
    __shared__ int kept;
    const int b = blockIdx.x;
    for (int r = 1; r <= ROUNDS; r++) {
        if (threadIdx.x == 0) {
            kept = 10 * r + b;
            while (b + 1 < BLOCKS && (int)atomicAdd(&ready[b + 1], 0) < r) continue;
            __threadfence();
            sums[b] = r + (b + 1 < BLOCKS ? sums[b + 1] : 0);
            __threadfence();
            atomicAdd(&ready[b], 1);
        }
        cooperative_groups::this_grid().sync();
        if (threadIdx.x == 1) out[b] += sums[0] + kept;
        cooperative_groups::this_grid().sync();
    }
}

template <typename T> static T *zeros(size_t n)
{
    T *p;
    CHECK(cudaMalloc(&p, n * sizeof *p));
    CHECK(cudaMemset(p, 0, n * sizeof *p));
    return p;
}

int main(void)
{
    enum { ALL = BLOCKS * THREADS };
    static int in[ROUNDS * ALL], parts[ROUNDS * BLOCKS], out[ROUNDS * BLOCKS];
    static unsigned order[ALL];
    unsigned *counts = zeros<unsigned>(BLOCKS + 4);
    unsigned *d_order = zeros<unsigned>(ALL);
    int *d_in = zeros<int>(ROUNDS * ALL), *d_parts = zeros<int>(ROUNDS * BLOCKS),
        *d_out = zeros<int>(ROUNDS * BLOCKS);

    one_by_one<<<BLOCKS, THREADS>>>(counts, d_order);
    CHECK(cudaMemcpy(order, d_order, sizeof order, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ALL; i++) EXPECT(order[i] == (unsigned)(ALL - 1 - i));

    for (int i = 0; i < ROUNDS * ALL; i++) in[i] = i % 11 - i % 7;
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    rounds<<<BLOCKS, THREADS>>>(d_in, d_parts, counts + 1, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    int kept = 0;
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < ALL; i++) parts[r * BLOCKS + i / THREADS] += in[r * ALL + i];
        for (int b = 0; b < BLOCKS; b++) kept += parts[r * BLOCKS + b];
        for (int b = 0; b < BLOCKS; b++)
            EXPECT(out[r * BLOCKS + b] == kept + parts[r * BLOCKS + b]);
    }

    two_warps<<<1, 64>>>(d_in, ROUNDS * BLOCKS, counts + 2, counts + 3, d_parts, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ROUNDS * BLOCKS; i++) EXPECT(out[i] == 2 * in[i]);

    chain<<<BLOCKS, 32>>>(counts + 4, d_out);
    CHECK(cudaMemcpy(out, d_out, BLOCKS * sizeof *out, cudaMemcpyDeviceToHost));
    for (int b = 0, sum = 1; b < BLOCKS; b++)
        EXPECT(out[BLOCKS - 1 - b] == (sum += b ? BLOCKS - 1 - b : 0));

    CHECK(cudaMemset(counts, 0, BLOCKS * sizeof *counts));
    counted<<<BLOCKS, THREADS>>>(counts, d_out);
    CHECK(cudaMemcpy(out, d_out, 3 * sizeof *out, cudaMemcpyDeviceToHost));
    EXPECT(out[0] >= 0 && out[1] >= 0 && out[2] == 100000);

    CHECK(cudaMemset(counts, 0, BLOCKS * sizeof *counts));
    three_warps<<<BLOCKS, THREADS>>>(counts, d_out);
    CHECK(cudaMemcpy(out, d_out, BLOCKS * sizeof *out, cudaMemcpyDeviceToHost));
    for (int b = 0; b < BLOCKS; b++) EXPECT(out[b] == 100 * b + 1);

    CHECK(cudaMemset(counts, 0, BLOCKS * sizeof *counts));
    CHECK(cudaMemset(d_out, 0, BLOCKS * sizeof *d_out));
    void *arguments[] = {&counts, &d_parts, &d_out};
    CHECK(cudaLaunchCooperativeKernel((void *)in_rounds, dim3(BLOCKS), dim3(THREADS),
                                      arguments, 0, 0));
    CHECK(cudaMemcpy(out, d_out, BLOCKS * sizeof *out, cudaMemcpyDeviceToHost));
    for (int b = 0; b < BLOCKS; b++)
        EXPECT(out[b] == ROUNDS * (ROUNDS + 1) / 2 * (BLOCKS + 10) + ROUNDS * b);

    CHECK(cudaFree(counts));
    CHECK(cudaFree(d_order));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_parts));
    CHECK(cudaFree(d_out));
    return pass();
}
