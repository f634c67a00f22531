// BUILD: -arch=sm_90
// The copy engine by <cuda/barrier>: bytes into shared memory and back, a box of a tensor.
#include <cuda.h>
#include <cuda/barrier>
#include <utility>

#include "check.h"

#ifdef __NVCC__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

enum { N = 256, WIDTH = 64, HEIGHT = 32, BOX = 16 };

__global__ void reversed(const int *in, int *out)
{
    __shared__ alignas(128) int tile[N];
    __shared__ barrier bar;
    const int i = threadIdx.x;
    if (i == 0) {
        init(&bar, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (i == 0) {
        cde::cp_async_bulk_global_to_shared(tile, in, sizeof tile, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    const int other = tile[N - 1 - i];
    __syncthreads();
    tile[i] = other;
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (i == 0) {
        cde::cp_async_bulk_shared_to_global(out, tile, sizeof tile);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}

__global__ void box(const __grid_constant__ CUtensorMap map, int *out, int x, int y)
{
    __shared__ alignas(128) int tile[BOX][BOX];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, 1);
        cde::fence_proxy_async_shared_cta();
        cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, bar);
        (void)cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    }
    __syncthreads();
    bar.wait_parity(0);
    for (int i = threadIdx.x; i < BOX * BOX; i += blockDim.x)
        out[i] = tile[i / BOX][i % BOX];
}

int main()
{
    int *in, *out;
    CHECK(cudaMallocManaged(&in, WIDTH * HEIGHT * sizeof *in));
    CHECK(cudaMallocManaged(&out, WIDTH * HEIGHT * sizeof *out));
    for (int i = 0; i < WIDTH * HEIGHT; i++) in[i] = i;
    reversed<<<1, N>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) EXPECT(out[i] == N - 1 - i);

    const cuuint64_t dim[] = {WIDTH, HEIGHT}, strides[] = {WIDTH * sizeof(int)};
    const cuuint32_t size[] = {BOX, BOX}, steps[] = {1, 1};
    CUtensorMap map;
    void *encode;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                           cudaEnableDefault, &found));
    EXPECT(found == cudaDriverEntryPointSuccess);
    EXPECT(((decltype(&cuTensorMapEncodeTiled))encode)(
               &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, in, dim, strides, size, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
               CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    /* The box reaches over the right edge: zeros. */
    box<<<1, 32>>>(map, out, WIDTH - 8, 4);
    CHECK(cudaDeviceSynchronize());
    for (int y = 0; y < BOX; y++)
        for (int x = 0; x < BOX; x++)
            EXPECT(out[y * BOX + x] == (x < 8 ? (y + 4) * WIDTH + WIDTH - 8 + x : 0));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
