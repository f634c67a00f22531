// Blocks and threads that hand something to each other within one launch, in all the ways
// that are right.
#include "check.h"

enum { BLOCKS = 6, THREADS = 96, COUNT = BLOCKS * THREADS };

// Whoever comes last adds up what all have left. The fence is every thread's own, and the
// barrier behind it makes thread 0 speak for all.
__global__ void last_adds_up(const float *in, float *parts, float *out, unsigned *counted)
{
    __shared__ bool last;
    const int t = threadIdx.x;
    parts[blockIdx.x * THREADS + t] = in[blockIdx.x * THREADS + t];
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicInc(counted, BLOCKS - 1) == BLOCKS - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    float sum = 0.0f;
    for (int b = 0; b < BLOCKS; b++) sum += parts[b * THREADS + t];
    out[t] = sum;
}

// The same with the barrier first, and one fence that speaks for all.
__global__ void last_adds_up_one_fence(const float *in, float *parts, float *out,
                                       unsigned *counted)
{
    __shared__ bool last;
    const int t = threadIdx.x;
    parts[blockIdx.x * THREADS + t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicAdd(counted, 1) == BLOCKS - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    float sum = 0.0f;
    for (int b = 0; b < BLOCKS; b++) sum += __ldcg(&parts[b * THREADS + t]);
    out[t] = sum;
    if (t == 0) *counted = 0;
}

// Two groups of warps, each with barriers of its own: in one every thread has its fence, in
// the other one fence speaks for all.
__global__ void last_group(const float *in, float *parts, float *out, int *counted)
{
    __shared__ int before[2];
    const int t = threadIdx.x, group = t / 64, threads = group ? THREADS - 64 : 64;
    const auto meet = [&]() {
        asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "r"(threads) : "memory");
    };
    parts[blockIdx.x * THREADS + t] = in[blockIdx.x * THREADS + t];
    if (group) __threadfence();
    meet();
    if (t % 64 == 0) {
        if (!group) __threadfence();
        before[group] = atomicAdd(&counted[group], 1);
        if (!group) __threadfence();
    }
    meet();
    if (before[group] < BLOCKS - 1) return;
    if (group) __threadfence();
    float sum = 0.0f;
    for (int b = 0; b < BLOCKS; b++) sum += __ldcg(&parts[b * THREADS + t]);
    out[t] = sum;
    if (t % 64 == 0) counted[group] = 0;
}

// Each block goes on where the one before it stopped, which it hears from a flag.
__global__ void running_sum(const float *in, volatile float *out, volatile int *done)
{
    const int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    float sum = 0.0f;
    if (b > 0) {
        while (!done[b - 1]) continue;
        __threadfence();
        sum = out[b * THREADS - 1];
    }
    for (int i = 0; i < THREADS; i++) out[b * THREADS + i] = sum += in[b * THREADS + i];
    __threadfence();
    done[b] = 1;
}

// Flag and value in one word need no fence: who sees the one sees the other.
__global__ void running_count(volatile unsigned long long *state)
{
    const int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    unsigned long long before = 1ull << 32;
    if (b > 0)
        while (!((before = state[b - 1]) >> 32)) continue;
    state[b] = before + THREADS;
}

// A lock, for something that no atomic can do.
__global__ void under_a_lock(const float *in, int *lock, float *low, float *high)
{
    if (threadIdx.x > 0) return;
    for (int i = 0; i < THREADS; i++) {
        const float x = in[blockIdx.x * THREADS + i];
        while (atomicCAS(lock, 0, 1) != 0) continue;
        __threadfence();
        if (x < *low) *low = x;
        if (x > *high) *high = x;
        __threadfence();
        atomicExch(lock, 0);
    }
}

// Thread 0 tells the block's others, without a barrier.
__global__ void within_a_block(const float *in, float *out, int *told)
{
    const int b = blockIdx.x, t = threadIdx.x;
    if (t == 0) {
        out[b * THREADS] = in[b * THREADS];
        __threadfence_block();
        atomicExch_block(&told[b], 1);
    } else {
        while (!atomicAdd_block(&told[b], 0)) continue;
        __threadfence_block();
        out[b * THREADS + t] = out[b * THREADS] + in[b * THREADS + t];
    }
}

// Every warp for itself: its first lane speaks for the others once they have met.
__global__ void last_warp(const float *in, float *parts, float *out, int *counted)
{
    const int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    int before = 0;
    parts[i] = in[i];
    __syncwarp();
    if (lane == 0) {
        __threadfence();
        before = atomicAdd(counted, 1);
        __threadfence();
    }
    __syncwarp();
    before = __shfl_sync(0xffffffffu, before, 0);
    if (before < COUNT / 32 - 1) return;
    float sum = 0.0f;
    for (int warp = 0; warp < COUNT / 32; warp++) sum += parts[32 * warp + lane];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) *out = sum;
}

int main(void)
{
    float *in, *parts, *out;
    unsigned *counted;
    int *done, *lock, *told;
    unsigned long long *state;
    CHECK(cudaMallocManaged(&in, COUNT * sizeof *in));
    CHECK(cudaMalloc(&parts, COUNT * sizeof *parts));
    CHECK(cudaMallocManaged(&out, COUNT * sizeof *out));
    CHECK(cudaMallocManaged(&counted, 2 * sizeof *counted));
    CHECK(cudaMalloc(&done, BLOCKS * sizeof *done));
    CHECK(cudaMalloc(&told, BLOCKS * sizeof *told));
    CHECK(cudaMalloc(&lock, sizeof *lock));
    CHECK(cudaMallocManaged(&state, BLOCKS * sizeof *state));
    float total = 0.0f, low = 1.0f, high = -1.0f;
    for (int i = 0; i < COUNT; i++) {
        in[i] = (float)(int)(16.0f * noise(i)) / 16.0f;
        total += in[i];
        low = in[i] < low ? in[i] : low;
        high = in[i] > high ? in[i] : high;
    }
    counted[0] = counted[1] = 0;
    CHECK(cudaMemset(state, 0, BLOCKS * sizeof *state));
    CHECK(cudaMemset(done, 0, BLOCKS * sizeof *done));
    CHECK(cudaMemset(told, 0, BLOCKS * sizeof *told));
    CHECK(cudaMemset(lock, 0, sizeof *lock));

    for (int round = 0; round < 6; round++) {
        float sum = 0.0f;
        if (round % 3 == 2)
            last_group<<<BLOCKS, THREADS>>>(in, parts, out, (int *)counted);
        else if (round % 3)
            last_adds_up<<<BLOCKS, THREADS>>>(in, parts, out, counted);
        else
            last_adds_up_one_fence<<<BLOCKS, THREADS>>>(in, parts, out, counted);
        CHECK(cudaDeviceSynchronize());
        for (int t = 0; t < THREADS; t++) sum += out[t];
        EXPECT(sum == total);
    }

    running_sum<<<BLOCKS, THREADS>>>(in, out, done);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[COUNT - 1] == total);

    running_count<<<BLOCKS, THREADS>>>(state);
    CHECK(cudaDeviceSynchronize());
    EXPECT((unsigned)state[BLOCKS - 1] == COUNT);

    out[0] = out[1] = 0.0f;
    under_a_lock<<<BLOCKS, THREADS>>>(in, lock, &out[0], &out[1]);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == low && out[1] == high);

    within_a_block<<<BLOCKS, THREADS>>>(in, out, told);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[COUNT - 1] == in[COUNT - THREADS] + in[COUNT - 1]);

    last_warp<<<BLOCKS, THREADS>>>(in, parts, out, (int *)counted + 1);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == total);

    CHECK(cudaFree(in));
    CHECK(cudaFree(parts));
    CHECK(cudaFree(out));
    CHECK(cudaFree(counted));
    CHECK(cudaFree(done));
    CHECK(cudaFree(told));
    CHECK(cudaFree(lock));
    CHECK(cudaFree(state));
    return pass();
}
