// A persistent kernel with bulk copies into two stages: the tiles travel while others are
// added up. `full` says that a stage has come, `empty` that all warps have read it.
#include "check.h"
#include "../../common/hopper.h"

enum { ROWS = 8, COLS = 32, TILE = ROWS * COLS, STAGES = 2, WARPS = 4, THREADS = 32 * WARPS };

// Starts the copy of the n-th tile of this block, if there is one, once its stage is empty.
static __device__ void feed(const CUtensorMap *map, float (*stages)[TILE], uint64_t *full,
                            uint64_t *empty, int n, int tiles)
{
    const int tile = blockIdx.x + n * gridDim.x, stage = n % STAGES;
    if (tile >= tiles) return;
    mbarrier_wait_parity(&empty[stage], (n / STAGES + 1) % 2);
    mbarrier_arrive_expect_tx(&full[stage], TILE * sizeof(float));
    cp_async_bulk_tensor_2d(stages[stage], map, 0, tile * ROWS, &full[stage]);
}

// out[c] is the sum of column c. All warps read all of a tile; thread 0 feeds besides.
__global__ void add_columns(const __grid_constant__ CUtensorMap map, float *out, int tiles)
{
    extern __shared__ __align__(128) float shared[];
    float(*stages)[TILE] = (float(*)[TILE])shared;
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], WARPS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) feed(&map, stages, full, empty, 0, tiles);
    float sum = 0.0f;
    for (int n = 0; blockIdx.x + n * gridDim.x < (unsigned)tiles; n++) {
        if (threadIdx.x == 0) feed(&map, stages, full, empty, n + 1, tiles);
        mbarrier_wait_parity(&full[n % STAGES], n / STAGES % 2);
        for (int row = warp; row < ROWS; row += WARPS)
            sum += stages[n % STAGES][row * COLS + (lane + warp) % COLS];
        __syncwarp();
        if (lane == 0) mbarrier_arrive(&empty[n % STAGES]);
    }
    atomicAdd(&out[(lane + warp) % COLS], sum);
}

// The same with the work divided: the last warp copies, the others add.
__global__ void add_columns_divided(const __grid_constant__ CUtensorMap map, float *out,
                                    int tiles)
{
    extern __shared__ __align__(128) float shared[];
    float(*stages)[TILE] = (float(*)[TILE])shared;
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], THREADS - 32); // here each thread arrives for itself
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    const int mine = ((int)(tiles - blockIdx.x) + (int)gridDim.x - 1) / (int)gridDim.x;
    if (warp == WARPS - 1) {
        if (lane == 0)
            for (int n = 0; n < mine; n++) feed(&map, stages, full, empty, n, tiles);
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
    // The last tile hangs over the edge. More shared memory than a kernel gets unasked.
    const int tiles = 23, rows = tiles * ROWS - 3, shared = 100 * 1024;
    float *in, *out, want[COLS] = {0.0f};
    CHECK(cudaMallocManaged(&in, rows * COLS * sizeof *in));
    CHECK(cudaMallocManaged(&out, COLS * sizeof *out));
    for (int i = 0; i < rows * COLS; i++) {
        in[i] = (float)(i * 31 % 101);
        want[i % COLS] += in[i];
    }
    const CUtensorMap map = tensor_map_2d(in, rows, COLS, COLS, ROWS, COLS);
    CHECK(cudaFuncSetAttribute(add_columns, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    for (int divided = 0; divided < 2; divided++) {
        CHECK(cudaMemset(out, 0, COLS * sizeof *out));
        if (divided)
            add_columns_divided<<<3, THREADS, STAGES * TILE * sizeof(float)>>>(map, out, tiles);
        else
            add_columns<<<3, THREADS, shared>>>(map, out, tiles);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        for (int col = 0; col < COLS; col++) EXPECT(out[col] == want[col]);
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
