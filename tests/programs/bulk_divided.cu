// A persistent kernel with bulk copies into two stages: `full` says that a box has come, `empty`
// that all have read it. The work of feeding the stages is divided in three ways.
#include "../../common/hopper.h"
#include "check.h"

enum {
    ROWS = 8,
    COLS = 32,
    BOX = ROWS * COLS,
    STAGES = 2,
    WARPS = 4,
    THREADS = 32 * WARPS
};

extern "C" void cuda_check(cudaError_t error, const char *, const char *, int)
{
    CHECK(error);
}

// Sends for the n-th box of this block, if there is one, once its stage is empty.
static __device__ void feed(const CUtensorMap *map, float (*stages)[BOX], uint64_t *full,
                            uint64_t *empty, int n, int boxes)
{
    const int box = blockIdx.x + n * gridDim.x, stage = n % STAGES;
    if (box >= boxes) return;
    mbarrier_wait_parity(&empty[stage], (n / STAGES + 1) % 2);
    mbarrier_arrive_expect_tx(&full[stage], BOX * sizeof(float));
    cp_async_bulk_tensor_2d(stages[stage], map, 0, box * ROWS, &full[stage]);
}

static __device__ void prepare(uint64_t *full, uint64_t *empty, unsigned readers)
{
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], readers);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
}

// out[c] becomes the sum of column c. Thread 0 feeds besides; every thread waits for itself.
__global__ void one_thread_feeds(const __grid_constant__ CUtensorMap map, float *out,
                                 int boxes)
{
    extern __shared__ __align__(128) float shared[];
    float(*stages)[BOX] = (float(*)[BOX])shared;
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    prepare(full, empty, WARPS);
    if (threadIdx.x == 0) feed(&map, stages, full, empty, 0, boxes);
    float sum = 0.0f;
    for (int n = 0; (int)(blockIdx.x + n * gridDim.x) < boxes; n++) {
        if (threadIdx.x == 0) feed(&map, stages, full, empty, n + 1, boxes);
        mbarrier_wait_parity(&full[n % STAGES], n / STAGES % 2);
        for (int row = warp; row < ROWS; row += WARPS)
            sum += stages[n % STAGES][row * COLS + (lane + warp) % COLS];
        __syncwarp();
        if (lane == 0) mbarrier_arrive(&empty[n % STAGES]);
    }
    atomicAdd(&out[(lane + warp) % COLS], sum);
}

// Likewise, but one lane waits and __syncwarp() hands on what it knows.
__global__ void one_lane_waits(const __grid_constant__ CUtensorMap map, float *out,
                               int boxes)
{
    extern __shared__ __align__(128) float shared[];
    float(*stages)[BOX] = (float(*)[BOX])shared;
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    prepare(full, empty, WARPS);
    if (threadIdx.x == 0) feed(&map, stages, full, empty, 0, boxes);
    float sum = 0.0f;
    for (int n = 0; (int)(blockIdx.x + n * gridDim.x) < boxes; n++) {
        if (threadIdx.x == 0) feed(&map, stages, full, empty, n + 1, boxes);
        if (lane == 0) mbarrier_wait_parity(&full[n % STAGES], n / STAGES % 2);
        __syncwarp();
        for (int row = warp; row < ROWS; row += WARPS)
            sum += stages[n % STAGES][row * COLS + lane];
        __syncwarp();
        if (lane == 0) mbarrier_arrive(&empty[n % STAGES]);
    }
    atomicAdd(&out[lane], sum);
}

// The last warp feeds and the others add; each reader arrives for itself.
__global__ void one_warp_feeds(const __grid_constant__ CUtensorMap map, float *out,
                               int boxes)
{
    extern __shared__ __align__(128) float shared[];
    float(*stages)[BOX] = (float(*)[BOX])shared;
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    prepare(full, empty, THREADS - 32);
    const int mine = (boxes - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
    if (warp == WARPS - 1) {
        for (int n = 0; lane == 0 && n < mine; n++)
            feed(&map, stages, full, empty, n, boxes);
        return;
    }
    float sum = 0.0f;
    for (int n = 0; n < mine; n++) {
        mbarrier_wait_parity(&full[n % STAGES], n / STAGES % 2);
        for (int row = warp; row < ROWS; row += WARPS - 1)
            sum += stages[n % STAGES][row * COLS + lane];
        mbarrier_arrive(&empty[n % STAGES]);
    }
    atomicAdd(&out[lane], sum);
}

int main(void)
{
    // The last box hangs over the edge. More shared memory than a kernel gets unasked.
    const int boxes = 23, rows = boxes * ROWS - 3, shared = 100 * 1024;
    float *in, *out, want[COLS] = {0.0f};
    CHECK(cudaMallocManaged(&in, rows * COLS * sizeof *in));
    CHECK(cudaMallocManaged(&out, COLS * sizeof *out));
    for (int i = 0; i < rows * COLS; i++) {
        in[i] = (float)(i * 31 % 101);
        want[i % COLS] += in[i];
    }
    const CUtensorMap map = tensor_map_2d(in, rows, COLS, COLS, ROWS, COLS);
    void (*const kernels[])(CUtensorMap, float *, int) = {one_thread_feeds,
                                                          one_lane_waits, one_warp_feeds};
    for (int i = 0; i < 3; i++) {
        CHECK(cudaFuncSetAttribute(kernels[i],
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
        CHECK(cudaMemset(out, 0, COLS * sizeof *out));
        kernels[i]<<<3, THREADS, shared>>>(map, out, boxes);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        for (int col = 0; col < COLS; col++) EXPECT(out[col] == want[col]);
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
