// The engine writes a box of results for each block, and the boxes overlap by four rows: of
// these it may be the one block's that stay, or the other's.
// EXPECT: data race in global memory
// EXPECT: of block (0,0,0) wrote it
// EXPECT: thread (0,0,0) of this one writes it here
#include "bulk.h"

const int BOX_ROWS = 8;

#ifdef FIXED
const int APART = BOX_ROWS;
#else
const int APART = BOX_ROWS - 4;
#endif

__global__ void number_boxes(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(128) float box[BOX_ROWS * BOX];
    for (int i = threadIdx.x; i < BOX_ROWS * BOX; i += blockDim.x)
        box[i] = (float)blockIdx.x;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        cp_async_bulk_tensor_2d_store(&map, 0, blockIdx.x * APART, box); // FAULT
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group<0>();
    }
}

int main(void)
{
    float *out;
    CUDA_CHECK(cudaMalloc(&out, 2 * BOX_ROWS * BOX * sizeof(float)));
    number_boxes<<<2, 64>>>(tensor_map_2d(out, 2 * BOX_ROWS, BOX, BOX, BOX_ROWS, BOX));
    const int status = finish();
    CUDA_CHECK(cudaFree(out));
    return status;
}
