// cuda::atomic and cuda::atomic_ref: every update, two memory orders, 16 bytes, and scopes that
// reach as far as they must.
// BUILD: -std=c++17
#include "check.h"
#include <cuda/atomic>
#include <new>

const int THREADS = 64, BLOCKS = 3;

struct __align__(16) Pair {
    long long first, second;
};

template <class T> using block_ref = cuda::atomic_ref<T, cuda::thread_scope_block>;
template <class T> using device_ref = cuda::atomic_ref<T, cuda::thread_scope_device>;

// Each block's threads count in a word of their own, and one of them tells the others.
__global__ void in_blocks(int *counts, int *told, float *sums)
{
    __shared__ int flag, left;
    if (threadIdx.x == 0) flag = left = 0;
    __syncthreads();
    block_ref<int> count(counts[blockIdx.x]), raised(flag);
    block_ref<float> sum(sums[blockIdx.x]);
    count.fetch_add(1, cuda::memory_order_relaxed);
    sum += 0.5f;
    if (threadIdx.x == 0) {
        left = 42;
        raised.store(1, cuda::memory_order_release);
    } else if (threadIdx.x == 32) {
        while (raised.load(cuda::memory_order_acquire) == 0) continue;
        told[blockIdx.x] = left;
    }
}

// One word for all blocks takes a scope that reaches them all.
__global__ void for_all(int *count, int *most)
{
    device_ref<int> all(*count), largest(*most);
    int old = all.load(cuda::memory_order_relaxed);
    while (!all.compare_exchange_weak(old, old + 1, cuda::memory_order_acq_rel,
                                      cuda::memory_order_relaxed))
        continue;
    largest.fetch_max((int)(blockIdx.x * blockDim.x + threadIdx.x));
}

__global__ void operations(int *out, cuda::atomic<Pair, cuda::thread_scope_device> *pair,
                           int *array)
{
    int word = 5, expected = 7;
    cuda::atomic_ref<int, cuda::thread_scope_thread> ref(word);
    out[0] = ref.compare_exchange_strong(expected, 9, cuda::memory_order_release,
                                         cuda::memory_order_relaxed);
    out[1] = expected;
    out[2] = ref.compare_exchange_strong(expected, 12);
    ref |= 1;
    ref ^= 8;
    ref &= 7;
    out[3] = ref++ + --ref;
    out[4] = ref.exchange(77) + (ref.is_lock_free() ? 100 : 0);
    cuda::atomic<int *, cuda::thread_scope_block> at(array);
    at += 2;
    out[5] = (int)(at.fetch_sub(1) - array);
    out[6] = (int)(at.load() - array);

    pair->store({1, 2});
    const Pair old = pair->exchange({5, 6}, cuda::memory_order_relaxed);
    out[7] = (int)(10 * old.first + old.second);
    out[8] = (int)pair->load(cuda::memory_order_acquire).second;
}

int main(void)
{
    int *counts, *told, *out;
    float *sums;
    cuda::atomic<Pair, cuda::thread_scope_device> *pair;
    CHECK(cudaMallocManaged(&counts, (BLOCKS + 2) * sizeof *counts));
    CHECK(cudaMallocManaged(&told, BLOCKS * sizeof *told));
    CHECK(cudaMallocManaged(&sums, BLOCKS * sizeof *sums));
    CHECK(cudaMallocManaged(&out, 9 * sizeof *out));
    CHECK(cudaMallocManaged(&pair, sizeof *pair));
    in_blocks<<<BLOCKS, THREADS>>>(counts, told, sums);
    for_all<<<BLOCKS, THREADS>>>(counts + BLOCKS, counts + BLOCKS + 1);
    operations<<<1, 1>>>(out, pair, counts);
    CHECK(cudaDeviceSynchronize());
    for (int b = 0; b < BLOCKS; b++)
        EXPECT(counts[b] == THREADS && told[b] == 42 && sums[b] == THREADS / 2);
    EXPECT(counts[BLOCKS] == BLOCKS * THREADS &&
           counts[BLOCKS + 1] == BLOCKS * THREADS - 1);
    // 5 stays; then it is 12 | 1 ^ 8 & 7, or 5 again.
    EXPECT(out[0] == 0 && out[1] == 5 && out[2] == 1);
    EXPECT(out[3] == 10 && out[4] == 105 && out[5] == 2 && out[6] == 1);
    EXPECT(out[7] == 12 && out[8] == 6);
    CHECK(cudaFree(counts));
    CHECK(cudaFree(told));
    CHECK(cudaFree(sums));
    CHECK(cudaFree(out));
    CHECK(cudaFree(pair));
    return pass();
}
