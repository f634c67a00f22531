// Lane 0 says that its warp has read the stage, and knows it of itself only.
// EXPECT: was this thread left behind
// THREAD (1,0,0) BLOCK (0,0,0)
#include "bulk.h"

const int TILE = BOX * BOX, STAGES = 2, TILES = 4, READERS = WARPS - 1;

__global__ void sum(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float stages[STAGES][TILE];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], READERS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    if (t == 32 * READERS) { // the last warp copies, the others add
        for (int i = 0; i < TILES; i++) {
            const int s = i % STAGES;
            mbarrier_wait_parity(&empty[s], (i / STAGES + 1) % 2);
            mbarrier_arrive_expect_tx(&full[s], sizeof stages[s]);
            cp_async_bulk_tensor_2d(stages[s], &map, i * BOX, 0, &full[s]);
        }
    } else if (t < 32 * READERS) {
        float total = 0.0f;
        for (int i = 0; i < TILES; i++) {
            const int s = i % STAGES;
            mbarrier_wait_parity(&full[s], i / STAGES % 2); // FAULT
            total += stages[s][TILE - 1 - t];
#ifdef FIXED
            __syncwarp();
#endif
            if (t % 32 == 0)
                mbarrier_arrive(&empty[s]);
        }
        out[t] = total;
    }
}

int main(void)
{
    return run(sum);
}
