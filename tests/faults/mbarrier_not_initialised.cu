// A barrier that nobody has initialised.
// EXPECT: never initialised
// THREAD (0,0,0) BLOCK (0,0,0)
#include "bulk.h"

__global__ void add(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float box[2][BOX * BOX];
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++) {
#ifdef FIXED
            mbarrier_init(&full[s], 1);
#endif
            mbarrier_init(&empty[s], WARPS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    float sum[BOX * BOX / (32 * WARPS)] = {0.0f};
    for (int i = -1; i < 4; i++) {
        // Box i + 1 is sent for before box i is used.
        if (threadIdx.x == 0 && i < 3) {
            const int s = (i + 1) % 2;
            mbarrier_wait_parity(&empty[s], (i + 1) / 2 % 2 ^ 1);
            mbarrier_arrive_expect_tx(&full[s], sizeof box[0]); // FAULT
            cp_async_bulk_tensor_2d(box[s], &map, (i + 1) * BOX, 0, &full[s]);
        }
        if (i < 0) continue;
        mbarrier_wait_parity(&full[i % 2], i / 2 % 2);
        for (int j = 0; j < BOX * BOX / (32 * WARPS); j++)
            sum[j] += box[i % 2][j * 32 * WARPS + threadIdx.x];
        __syncwarp();
        if (threadIdx.x % 32 == 0) mbarrier_arrive(&empty[i % 2]);
    }
    for (int j = 0; j < BOX * BOX / (32 * WARPS); j++)
        out[j * 32 * WARPS + threadIdx.x] = sum[j];
}

int main(void)
{
    return run(add);
}
