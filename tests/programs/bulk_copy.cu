// Bulk copies of boxes that hang over every edge of the matrix: what lies outside is zero.
#include "check.h"
#include "../../common/hopper.h"

enum { BOX_ROWS = 16, BOX_COLS = 24, THREADS = 96 };

// Each block brings one box, which begins at (x, y), and writes down all of it.
__global__ void unpack(const __grid_constant__ CUtensorMap map, int x0, int y0, float *out)
{
    __shared__ __align__(128) float box[BOX_ROWS * BOX_COLS];
    __shared__ uint64_t arrived;
    const int x = x0 + (int)blockIdx.x * BOX_COLS, y = y0 + (int)blockIdx.y * BOX_ROWS;
    if (threadIdx.x == 0) {
        mbarrier_init(&arrived, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&arrived, sizeof box);
        cp_async_bulk_tensor_2d(box, &map, x, y, &arrived);
    }
    __syncthreads();
    mbarrier_wait_parity(&arrived, 0);
    float *to = out + (blockIdx.y * gridDim.x + blockIdx.x) * (BOX_ROWS * BOX_COLS);
    for (int i = threadIdx.x; i < BOX_ROWS * BOX_COLS; i += THREADS) to[i] = box[i];
}

// Thread 0 alone waits; a __syncthreads() hands what it knows to the others.
__global__ void sum(const __grid_constant__ CUtensorMap map, float *out)
{
    extern __shared__ __align__(128) float boxes[];
    __shared__ uint64_t arrived;
    if (threadIdx.x == 0) {
        mbarrier_init(&arrived, 2);
        fence_mbarrier_init();
        for (int i = 0; i < 2; i++) {
            mbarrier_arrive_expect_tx(&arrived, BOX_ROWS * BOX_COLS * sizeof(float));
            cp_async_bulk_tensor_2d(boxes + i * BOX_ROWS * BOX_COLS, &map, i * BOX_COLS, 0,
                                    &arrived);
        }
        mbarrier_wait_parity(&arrived, 1); // the phase before the first: no wait at all
        mbarrier_wait_parity(&arrived, 0);
    }
    __syncthreads();
    float total = 0.0f;
    for (int i = threadIdx.x; i < 2 * BOX_ROWS * BOX_COLS; i += THREADS) total += boxes[i];
    atomicAdd(out, total);
}

int main(void)
{
    // Rows of 53 floats, 56 apart: what lies between must not be taken for data.
    const int rows = 37, cols = 53, stride = 56;
    const int across = 4, down = 5, boxes = across * down, box = BOX_ROWS * BOX_COLS;
    float *in, *out;
    CHECK(cudaMallocManaged(&in, rows * stride * sizeof *in));
    CHECK(cudaMallocManaged(&out, boxes * box * sizeof *out));
    for (int i = 0; i < rows * stride; i++) in[i] = i % stride < cols ? noise(i) : 1e9f;

    const CUtensorMap map = tensor_map_2d(in, rows, cols, stride, BOX_ROWS, BOX_COLS);
    const int x0 = -5, y0 = -BOX_ROWS - 3; // the first row of boxes lies outside altogether
    unpack<<<dim3(across, down), THREADS>>>(map, x0, y0, out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < boxes * box; i++) {
        const int col = x0 + i / box % across * BOX_COLS + i % box % BOX_COLS;
        const int row = y0 + i / box / across * BOX_ROWS + i % box / BOX_COLS;
        const int inside = row >= 0 && row < rows && col >= 0 && col < cols;
        EXPECT(out[i] == (inside ? in[row * stride + col] : 0.0f));
    }

    float want = 0.0f;
    for (int row = 0; row < BOX_ROWS; row++)
        for (int col = 0; col < 2 * BOX_COLS; col++) {
            in[row * stride + col] = (float)((row + col) % 7);
            want += in[row * stride + col];
        }
    out[0] = 0.0f;
    sum<<<1, THREADS, 2 * box * sizeof(float)>>>(map, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == want);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
