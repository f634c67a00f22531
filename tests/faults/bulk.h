/* What the programs share that bring four boxes of 32 x 32 floats by bulk copies, most of them through two stages: the
 * set-up and the run. The faults lie in the programs themselves, where a report can name their lines. */
#ifndef BULK_H
#define BULK_H

#include "../../common/hopper.h"

#include "fault.h"

const int BOX = 32;
const int WARPS = 4;
const int STAGES = 2, TILES = 4;

extern "C" void cuda_check(cudaError_t error, const char *call, const char *file,
                           int line)
{
    if (error != cudaSuccess)
        printf("%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
}

/* A pair of barriers for each stage: `full` for one arrival and the bytes it announces, `empty` for `arrivals` of those
 * who read. All threads may use them afterwards. */
static __device__ void prepare(uint64_t *full, uint64_t *empty, unsigned arrivals)
{
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], arrivals);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
}

/* One thread makes the barrier for a single box and announces all of its bytes. */
static __device__ void announce_box(uint64_t *full)
{
    mbarrier_init(full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(full, BOX * BOX * sizeof(float));
}

/* All threads wait for that box and write it out. */
static __device__ void write_box(const float *box, uint64_t *full, float *out)
{
    __syncthreads();
    mbarrier_wait_parity(full, 0);
    for (int i = threadIdx.x; i < BOX * BOX; i += 32 * WARPS) out[i] = box[i];
}

/* Runs `kernel` with a map of 32 x 128 floats and 32 x 32 floats to write. */
static inline int run(void (*kernel)(const CUtensorMap map, float *out))
{
    float *from, *to;
    CUDA_CHECK(cudaMalloc(&from, 4 * BOX * BOX * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&to, BOX * BOX * sizeof(float)));
    CUDA_CHECK(cudaMemset(from, 0, 4 * BOX * BOX * sizeof(float)));
    kernel<<<1, 32 * WARPS>>>(tensor_map_2d(from, BOX, 4 * BOX, 4 * BOX, BOX, BOX), to);
    const int status = finish();
    CUDA_CHECK(cudaFree(from));
    CUDA_CHECK(cudaFree(to));
    return status;
}

#endif
