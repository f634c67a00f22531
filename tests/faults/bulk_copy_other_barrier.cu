// The second warp waits for the other copy's barrier. Its own tile has come, because the
// first warp waited for it, and that is luck.
// EXPECT: data race in shared memory
// THREAD (32,0,0) BLOCK (0,0,0)
#include "fault.h"
#include "../../common/hopper.h"

enum { ROWS = 2, TILE = ROWS * 32 };

__global__ void reverse(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tiles[2][TILE];
    __shared__ uint64_t arrived[2];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int i = 0; i < 2; i++) mbarrier_init(&arrived[i], 1);
        fence_mbarrier_init();
        for (int i = 0; i < 2; i++) {
            mbarrier_arrive_expect_tx(&arrived[i], sizeof tiles[i]);
            cp_async_bulk_tensor_2d(tiles[i], &map, 0, i * ROWS, &arrived[i]); // OTHER
        }
    }
    __syncthreads();
#ifdef FIXED
    mbarrier_wait_parity(&arrived[0], 0);
#else
    if (t < 32) mbarrier_wait_parity(&arrived[0], 0);
#endif
    mbarrier_wait_parity(&arrived[1], 0);
    out[t] = tiles[1][t] + tiles[0][t]; // FAULT
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
