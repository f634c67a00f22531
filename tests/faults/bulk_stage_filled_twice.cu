// The copying warp runs ahead: it starts a stage's second copy while the first is on its way.
// EXPECT: still on their way
// THREAD (128,0,0) BLOCK (0,0,0)
#include "fault.h"
#include "../../common/hopper.h"

enum { ROWS = 4, TILE = ROWS * 32, STAGES = 2, TILES = 6, WARPS = 4 };

__global__ void sum(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float stages[STAGES][TILE];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], WARPS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    if (t == 32 * WARPS) { // the last warp copies, the others add
        for (int i = 0; i < TILES; i++) {
            const int s = i % STAGES;
#ifdef FIXED
            mbarrier_wait_parity(&empty[s], (i / STAGES + 1) % 2);
#endif
            mbarrier_arrive_expect_tx(&full[s], sizeof stages[s]); // FAULT
            cp_async_bulk_tensor_2d(stages[s], &map, 0, i * ROWS, &full[s]);
        }
    } else if (t < 32 * WARPS) {
        float total = 0.0f;
        for (int i = 0; i < TILES; i++) {
            const int s = i % STAGES;
            mbarrier_wait_parity(&full[s], i / STAGES % 2);
            total += stages[s][TILE - 1 - t];
            __syncwarp();
            if (t % 32 == 0) mbarrier_arrive(&empty[s]);
        }
        out[t] = total;
    }
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 64 * 32 * sizeof *in);
    cudaMalloc(&out, 128 * sizeof *out);
    cudaMemset(in, 0, 64 * 32 * sizeof *in);
    const CUtensorMap map = tensor_map_2d(in, 64, 32, 32, ROWS, 32);
    sum<<<1, 32 * WARPS + 32>>>(map, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
