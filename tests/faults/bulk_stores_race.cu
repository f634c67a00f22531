// The engine writes a box of results for each block, and the boxes overlap by four rows: of
// these it may be the one block's that stay, or the other's.
// EXPECT: data race in global memory
// EXPECT: of block (0,0,0) wrote it
// EXPECT: thread (0,0,0) of this one writes it here
#include "../../common/hopper.h"

#include "fault.h"

const int COLS = 32, BOX_ROWS = 8;

#ifdef FIXED
const int APART = BOX_ROWS;
#else
const int APART = BOX_ROWS - 4;
#endif

extern "C" void cuda_check(cudaError_t error, const char *call, const char *file,
                           int line)
{
    if (error != cudaSuccess)
        printf("%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
}

__global__ void number_boxes(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(128) float box[BOX_ROWS * COLS];
    for (int i = threadIdx.x; i < BOX_ROWS * COLS; i += blockDim.x)
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
    CUDA_CHECK(cudaMalloc(&out, 2 * BOX_ROWS * COLS * sizeof(float)));
    number_boxes<<<2, 64>>>(tensor_map_2d(out, 2 * BOX_ROWS, COLS, COLS, BOX_ROWS, COLS));
    const int status = finish();
    CUDA_CHECK(cudaFree(out));
    return status;
}
