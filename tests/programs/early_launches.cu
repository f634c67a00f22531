// BUILD: -rdc=true -arch=sm_90
// Launches that may begin before the one ahead of them has ended (programmatic dependent
// launch): whatever way a thread learns that somebody has waited, it may read.
#include "check.h"

#include <cooperative_groups.h>

enum { N = 256, BLOCKS = 4 };

__device__ static void wait_for_launch_ahead(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

__global__ void fill(int *data, int value)
{
    cudaTriggerProgrammaticLaunchCompletion();
    data[blockIdx.x * N + threadIdx.x] = value;
}

// All wait.
__global__ void all_wait(int *data)
{
    const int own = 3 * (blockIdx.x * N + threadIdx.x);
    cudaGridDependencySynchronize();
    data[blockIdx.x * N + threadIdx.x] += own;
}

// One waits, and a barrier tells the others of the block.
__global__ void one_waits(int *data)
{
    if (threadIdx.x == 77) wait_for_launch_ahead();
    __syncthreads();
    data[blockIdx.x * N + threadIdx.x] += 1;
}

// One of each warp waits.
__global__ void lane_waits(int *data)
{
    if (threadIdx.x % 32 == 0) wait_for_launch_ahead();
    __syncwarp();
    data[blockIdx.x * N + threadIdx.x] += 10;
}

// A named barrier for half the block, of which one warp waits.
__global__ void half_waits(int *data)
{
    if (threadIdx.x < N / 2) {
        if (threadIdx.x < 32) wait_for_launch_ahead();
        asm volatile("bar.sync 1, 128;" ::: "memory");
        data[blockIdx.x * N + threadIdx.x] += 100;
    }
}

// One copies what the launch ahead has left, and an mbarrier tells the others.
__global__ void copier_waits(const int *data, int *out)
{
    __shared__ __align__(16) int tile[N];
    __shared__ uint64_t full;
    const unsigned full_at = (unsigned)__cvta_generic_to_shared(&full);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full_at));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        wait_for_launch_ahead();
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full_at),
            "n"(N * 4)
            : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%0], [%1], %2, [%3];" ::"r"((unsigned)__cvta_generic_to_shared(tile)),
            "l"(data + blockIdx.x * N), "n"(N * 4), "r"(full_at)
            : "memory");
    }
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "AGAIN:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra AGAIN;\n"
                 "}" ::"r"(full_at)
                 : "memory");
    out[blockIdx.x * N + threadIdx.x] = tile[threadIdx.x];
}

// Touches nothing of the launch ahead, and never waits.
__global__ void independent(int *own)
{
    own[blockIdx.x * N + threadIdx.x] = threadIdx.x;
}

// The first block waits, and tells the others by a flag.
__global__ void block_waits(int *data, int *flag)
{
    if (blockIdx.x == 0) {
        wait_for_launch_ahead();
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (threadIdx.x == 0) {
            while (atomicAdd(flag, 0) == 0);
            __threadfence();
        }
        __syncthreads();
    }
    data[blockIdx.x * N + threadIdx.x] += 1000;
}

// Waits for nothing: something else lies between the one ahead and this one.
__global__ void no_wait(int *data)
{
    data[blockIdx.x * N + threadIdx.x] += 1;
}

// Waits, and launches what need not.
__global__ void parent(int *data)
{
    wait_for_launch_ahead();
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) no_wait<<<BLOCKS, N>>>(data);
}

// The one ahead tells by a flag when it is done; so this one need not wait for its end.
__global__ void tells(int *data, int *flag)
{
    cudaTriggerProgrammaticLaunchCompletion();
    data[blockIdx.x * N + threadIdx.x] = 7;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(flag, 1);
    }
}

__global__ void is_told(int *data, int *flag)
{
    if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) < BLOCKS);
        __threadfence();
    }
    __syncthreads();
    data[blockIdx.x * N + threadIdx.x] += 1;
}

template <class... P, class... A>
static void launch_early(void (*kernel)(P...), A... arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how = {};
    how.gridDim = dim3(BLOCKS);
    how.blockDim = dim3(N);
    how.attrs = &early;
    how.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&how, kernel, arguments...));
}

int main(void)
{
    static int result[BLOCKS * N];
    int *data, *out, *flag;
    cudaMalloc(&data, sizeof result);
    cudaMalloc(&out, sizeof result);
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);

    fill<<<BLOCKS, N>>>(data, 5);
    launch_early(all_wait, data);
    launch_early(one_waits, data);
    launch_early(lane_waits, data);
    launch_early(half_waits, data);
    launch_early(block_waits, data, flag);
    launch_early(copier_waits, (const int *)data, out);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    for (int i = 0; i < BLOCKS * N; i++)
        EXPECT(result[i] == 5 + 3 * i + 1 + 10 + (i % N < N / 2 ? 100 : 0) + 1000);

    // What the host has waited for is over, and a copy is not begun early.
    fill<<<BLOCKS, N>>>(data, 6);
    cudaDeviceSynchronize();
    launch_early(independent, data);
    fill<<<BLOCKS, N>>>(data, 6);
    launch_early(independent, out);
    all_wait<<<BLOCKS, N>>>(data);
    cudaMemcpyAsync(out, data, sizeof result, cudaMemcpyDeviceToDevice);
    launch_early(independent, data);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    for (int i = 0; i < BLOCKS * N; i++) EXPECT(result[i] == 6 + 3 * i);

    // What lies between two launches of a stream, or orders them otherwise.
    cudaStream_t other;
    cudaStreamCreate(&other);
    fill<<<BLOCKS, N>>>(data, 1);
    cudaLaunchHostFunc(0, [](void *) {}, NULL);
    launch_early(no_wait, data);
    fill<<<1, N, 0, other>>>(out,
                             1); // which waits for the default stream, and it for this
    launch_early(no_wait, data);
    launch_early(parent, data);
    cudaDeviceSynchronize();
    cudaMemset(flag, 0, sizeof *flag);
    tells<<<BLOCKS, N>>>(out, flag);
    launch_early(is_told, out, flag);
    cudaMemcpy(result, data, sizeof result, cudaMemcpyDeviceToHost);
    for (int i = 0; i < BLOCKS * N; i++) EXPECT(result[i] == 4);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    for (int i = 0; i < BLOCKS * N; i++) EXPECT(result[i] == 8);

    cudaStreamDestroy(other);
    cudaFree(data);
    cudaFree(out);
    cudaFree(flag);
    return pass();
}
