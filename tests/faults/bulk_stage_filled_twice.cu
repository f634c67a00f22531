// The copying warp runs ahead: a stage's second copy starts while the first is on its way.
// EXPECT: one arrival more than
// THREAD (96,0,0) BLOCK (0,0,0)
#include "bulk.h"

const int TILE = BOX * BOX, READERS = WARPS - 1; // the last warp copies

__global__ void sum(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float stages[STAGES][TILE];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int t = threadIdx.x;
    prepare(full, empty, READERS);
    if (t == 32 * READERS) { // the last warp copies, the others add
        for (int i = 0; i < TILES; i++) {
            const int s = i % STAGES;
#ifdef FIXED
            mbarrier_wait_parity(&empty[s], (i / STAGES + 1) % 2);
#endif
            mbarrier_arrive_expect_tx(&full[s], sizeof stages[s]); // FAULT
            cp_async_bulk_tensor_2d(stages[s], &map, i * BOX, 0, &full[s]);
        }
    } else if (t < 32 * READERS) {
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
    return run(sum);
}
