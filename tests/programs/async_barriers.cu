// <cuda/barrier>, <cuda/pipeline> and <cuda/atomic>: arrival apart from waiting, copies that a
// barrier waits for, stages of one thread and of a block with two roles.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/chrono>
#include <cuda/std/type_traits>
#include <utility>

#include "check.h"

#ifdef __NVCC__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

enum { THREADS = 128, STAGES = 2, BATCHES = 6 };
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cg = cooperative_groups;

__global__ void copy_by_barrier(const int *in, int *out)
{
    __shared__ alignas(16) int tile[4 * THREADS];
    __shared__ block_barrier bar;
    const int i = threadIdx.x;
    if (i == 0) init(&bar, THREADS);
    __syncthreads();
    cuda::memcpy_async(&tile[4 * i], &in[4 * i], cuda::aligned_size_t<16>(16), bar);
    bar.arrive_and_wait();
    const int sum = tile[4 * THREADS - 1 - i];
    auto token = bar.arrive();
    while (!bar.try_wait_for(std::move(token), cuda::std::chrono::nanoseconds(20)))
        continue;
    cuda::memcpy_async(cg::this_thread_block(), tile, in, sizeof tile, bar);
    bar.arrive_and_wait();
    out[i] = sum + tile[i];
}

__global__ void copy_by_stages(const float *in, float *out)
{
    __shared__ float stage[STAGES][THREADS];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const int i = threadIdx.x;
    float sum = 0;
    for (int batch = 0, next = 0; batch < BATCHES; batch++) {
        for (; next < BATCHES && next < batch + STAGES; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[next % STAGES][i], &in[next * THREADS + i],
                               sizeof(float), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[batch % STAGES][i];
        pipe.consumer_release();
    }
    out[i] = sum;
}

/* The first warp copies, the others add. */
__global__ void copy_by_roles(const float *in, float *out)
{
    __shared__ float stage[STAGES][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    const cg::thread_block block = cg::this_thread_block();
    const bool produces = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(block, &state,
                                    produces ? cuda::pipeline_role::producer
                                             : cuda::pipeline_role::consumer);
    float sum = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        if (produces) {
            pipe.producer_acquire();
            for (int i = threadIdx.x; i < THREADS; i += 32)
                cuda::memcpy_async(&stage[batch % STAGES][i], &in[batch * THREADS + i],
                                   sizeof(float), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            for (int i = threadIdx.x - 32; i < THREADS; i += THREADS - 32)
                sum += stage[batch % STAGES][i];
            pipe.consumer_release();
        }
    }
    if (!produces) out[threadIdx.x - 32] = sum;
}

__global__ void count(int *sums)
{
    const cuda::std::array<int, 3> steps = {1, 2, 3};
    static_assert(cuda::std::is_same<int, decltype(steps)::value_type>::value, "");
    cuda::atomic_ref<int, cuda::thread_scope_device> total(sums[0]);
    cuda::atomic_ref<int, cuda::thread_scope_device> largest(sums[1]);
    total.fetch_add(steps[threadIdx.x % 3], cuda::std::memory_order_relaxed);
    largest.fetch_max((int)(blockIdx.x * blockDim.x + threadIdx.x));
}

/* A function that the last to arrive calls, once a phase, before the others go on. */
struct Sum {
    const int *parts;
    int *sum;
    __device__ void operator()() noexcept
    {
        for (int i = 0; i < THREADS; i++) *sum += parts[i];
    }
};
using summing_barrier = cuda::barrier<cuda::thread_scope_block, Sum>;

__global__ void complete_phases(int *out)
{
    __shared__ int parts[THREADS], sum;
    __shared__ alignas(summing_barrier) unsigned char room[sizeof(summing_barrier)];
    summing_barrier &bar = *reinterpret_cast<summing_barrier *>(room);
    const int i = threadIdx.x;
    if (i == 0) {
        sum = 0;
        init(&bar, THREADS, Sum{parts, &sum});
    }
    __syncthreads();
    for (int phase = 1; phase <= 3; phase++) {
        parts[i] = phase;
        auto token = bar.arrive();
        bar.wait(std::move(token));
        if (sum != THREADS * phase * (phase + 1) / 2) out[i] = -phase;
        bar.arrive_and_wait();
        if (i == 0) sum -= THREADS * phase;
    }
    if (i == 0) return bar.arrive_and_drop();
    parts[i] = 0;
    if (i == 1) parts[0] = 0;
    bar.arrive_and_wait();
    out[i] += sum;
}

int main()
{
    const int n = BATCHES * THREADS;
    float *in, *out;
    int *numbers, *result;
    CHECK(cudaMallocManaged(&in, n * sizeof *in));
    CHECK(cudaMallocManaged(&out, n * sizeof *out));
    CHECK(cudaMallocManaged(&numbers, n * sizeof *numbers));
    CHECK(cudaMallocManaged(&result, n * sizeof *result));
    for (int i = 0; i < n; i++) in[i] = numbers[i] = i;
    copy_by_barrier<<<1, THREADS>>>(numbers, result);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++) EXPECT(result[i] == 4 * THREADS - 1);
    for (int i = 0; i < THREADS; i++) result[i] = 0;
    complete_phases<<<1, THREADS>>>(result);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++) EXPECT(result[i] == (i == 0 ? 0 : THREADS * 6));
    copy_by_stages<<<1, THREADS>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++)
        EXPECT(out[i] == BATCHES * i + THREADS * (BATCHES * (BATCHES - 1) / 2));
    copy_by_roles<<<1, THREADS>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] ==
               BATCHES * (2 * i + 96) + 2 * THREADS * (BATCHES * (BATCHES - 1) / 2));
    for (int i = 32; i < 96; i++)
        EXPECT(out[i] == BATCHES * i + THREADS * (BATCHES * (BATCHES - 1) / 2));
    result[0] = result[1] = 0;
    count<<<4, 30>>>(result);
    CHECK(cudaDeviceSynchronize());
    EXPECT(result[0] == 4 * 10 * 6 && result[1] == 119);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(numbers));
    CHECK(cudaFree(result));
    return pass();
}
