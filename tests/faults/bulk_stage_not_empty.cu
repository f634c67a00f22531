// Thread 0 fills a stage again, and its neighbours may still read what was there.
// EXPECT: data race in shared memory
// EXPECT: may overwrite it
// THREAD (32,0,0) BLOCK (0,0,0)
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
    float total = 0.0f;
    for (int i = -1; i < TILES; i++) {
        const int next = (i + 1) % STAGES, s = i % STAGES;
        if (t == 0 && i + 1 < TILES) {
#ifdef FIXED
            mbarrier_wait_parity(&empty[next], ((i + 1) / STAGES + 1) % 2);
#endif
            mbarrier_arrive_expect_tx(&full[next], sizeof stages[next]);
            cp_async_bulk_tensor_2d(stages[next], &map, 0, (i + 1) * ROWS, &full[next]); // OTHER
        }
        if (i < 0) continue;
        mbarrier_wait_parity(&full[s], i / STAGES % 2);
        total += stages[s][TILE - 1 - t]; // FAULT
        __syncwarp();
        if (t % 32 == 0) mbarrier_arrive(&empty[s]);
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
    sum<<<1, 32 * WARPS>>>(map, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
