// All blocks of a launch meet: a sum in two steps, and shared memory that lasts across the
// meeting. The blocks are more than one multiprocessor holds.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>

#include "check.h"

#ifdef __NVCC__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

namespace cg = cooperative_groups;

__global__ void sum(const int *in, int *partial, int *total, int n)
{
    __shared__ int kept[64];
    const cg::grid_group grid = cg::this_grid();
    int mine = 0;
    for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) mine += in[i];
    kept[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        int of_block = 0;
        for (unsigned i = 0; i < blockDim.x; i++) of_block += kept[i];
        partial[blockIdx.x] = of_block;
    }
    grid.sync();
    int all = 0;
    for (unsigned i = 0; i < gridDim.x; i++) all += partial[i];
    if (kept[threadIdx.x] != mine) all = -1;
    grid.sync();
    partial[blockIdx.x] = all;
    cg::sync(grid);
    if (grid.thread_rank() == 0) *total = partial[gridDim.x - 1];
}

/* A barrier in shared memory lasts, too. */
__global__ void meet_often(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int sum;
    const cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        sum = 0;
    }
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        atomicAdd(&sum, (int)blockIdx.x);
        bar.arrive_and_wait();
        grid.sync();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/* Leaves each thread room for copies that the launches behind it find. */
__global__ void copy(const int *in, int *out)
{
    __shared__ int some[64];
    __pipeline_memcpy_async(&some[threadIdx.x], &in[threadIdx.x], sizeof *in);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = some[63 - threadIdx.x];
}

int main()
{
    const int n = 10000, blocks = 40, threads = 64;
    int *in, *partial, *total;
    CHECK(cudaMallocManaged(&in, n * sizeof *in));
    CHECK(cudaMallocManaged(&total, sizeof *total));
    CHECK(cudaMalloc(&partial, blocks * sizeof *partial));
    for (int i = 0; i < n; i++) in[i] = i;
    int count = n;
    int *turned;
    CHECK(cudaMallocManaged(&turned, threads * sizeof *turned));
    copy<<<1, threads>>>(in, turned);
    CHECK(cudaDeviceSynchronize());
    void *arguments[] = {&in, &partial, &total, &count};
    CHECK(
        cudaLaunchCooperativeKernel((void *)sum, dim3(blocks), dim3(threads), arguments));
    CHECK(cudaDeviceSynchronize());
    EXPECT(*total == n * (n - 1) / 2);
    int *sums;
    CHECK(cudaMallocManaged(&sums, blocks * sizeof *sums));
    void *one[] = {&sums};
    CHECK(cudaLaunchCooperativeKernel((void *)meet_often, dim3(blocks), dim3(threads),
                                      one));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < blocks; i++) EXPECT(sums[i] == 3 * threads * i);
    copy<<<1, threads>>>(in, turned);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < threads; i++) EXPECT(turned[i] == 63 - i);
    CHECK(cudaFree(turned));
    CHECK(cudaFree(sums));
    /* More blocks than fit on the whole GPU cannot wait for each other. */
    EXPECT(cudaLaunchCooperativeKernel((void *)sum, dim3(1 << 20), dim3(threads),
                                       arguments) == cudaErrorCooperativeLaunchTooLarge);
    EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaFree(in));
    CHECK(cudaFree(total));
    CHECK(cudaFree(partial));
    return pass();
}
