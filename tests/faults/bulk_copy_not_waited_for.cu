// The tile is read while its copy may still be on the way: the __syncthreads() does not wait
// for it.
// EXPECT: asynchronous copy not waited for
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include "../../common/hopper.h"

enum { ROWS = 4, TILE = ROWS * 32 };

__global__ void reverse(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tile[TILE];
    __shared__ uint64_t arrived;
    const int t = threadIdx.x;
    if (t == 0) {
        mbarrier_init(&arrived, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&arrived, sizeof tile);
        cp_async_bulk_tensor_2d(tile, &map, 0, 0, &arrived); // OTHER
    }
    __syncthreads();
#ifdef FIXED
    mbarrier_wait_parity(&arrived, 0);
#endif
    out[t] = tile[TILE - 1 - t]; // FAULT
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 64 * 32 * sizeof *in);
    cudaMalloc(&out, 128 * sizeof *out);
    cudaMemset(in, 0, 64 * 32 * sizeof *in);
    const CUtensorMap map = tensor_map_2d(in, 64, 32, 32, ROWS, 32);
    reverse<<<1, TILE>>>(map, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
