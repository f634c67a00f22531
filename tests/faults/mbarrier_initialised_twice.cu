// A barrier is initialised once a block, not once a phase: others may be waiting at it.
// EXPECT: barrier already
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include "../../common/hopper.h"

enum { ROWS = 4, TILE = ROWS * 32 };

__global__ void sum(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tile[TILE];
    __shared__ uint64_t arrived;
    const int t = threadIdx.x;
    float total = 0.0f;
    for (int i = 0; i < 3; i++) {
        if (t == 0) {
#ifdef FIXED
            if (i == 0)
#endif
                mbarrier_init(&arrived, 1); // FAULT
            fence_mbarrier_init();
            mbarrier_arrive_expect_tx(&arrived, sizeof tile);
            cp_async_bulk_tensor_2d(tile, &map, 0, i * ROWS, &arrived);
        }
        __syncthreads();
        mbarrier_wait_parity(&arrived, i % 2);
        total += tile[TILE - 1 - t];
        __syncthreads();
    }
    out[t] = total;
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 64 * 32 * sizeof *in);
    cudaMalloc(&out, 128 * sizeof *out);
    cudaMemset(in, 0, 64 * 32 * sizeof *in);
    const CUtensorMap map = tensor_map_2d(in, 64, 32, 32, ROWS, 32);
    sum<<<1, TILE>>>(map, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
