// The copy engine brings boxes of a matrix whose size no box divides; a second kernel starts outside it.
#include "../../common/hopper.h"

#include "check.h"

const int ROWS = 37, COLS = 52, STRIDE = 56, BOX_ROWS = 16, BOX_COLS = 24;

void cuda_check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error != cudaSuccess)
        printf("%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
}

// Block (x, y) brings the box at column x * BOX_COLS + dx, row y * BOX_ROWS + dy, and writes it out.
__global__ void bring(const __grid_constant__ CUtensorMap map, int dx, int dy, float *out)
{
    __shared__ __align__(128) float box[BOX_ROWS][BOX_COLS];
    __shared__ uint64_t come;
    if (threadIdx.x == 0) {
        mbarrier_init(&come, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&come, sizeof box);
        cp_async_bulk_tensor_2d(box, &map, blockIdx.x * BOX_COLS + dx,
                                blockIdx.y * BOX_ROWS + dy, &come);
    }
    mbarrier_wait_parity(&come, 0);
    float *mine = out + (blockIdx.y * gridDim.x + blockIdx.x) * BOX_ROWS * BOX_COLS;
    for (int i = threadIdx.x; i < BOX_ROWS * BOX_COLS; i += blockDim.x)
        mine[i] = box[i / BOX_COLS][i % BOX_COLS];
}

static int compare(const float *matrix, const float *out, dim3 grid, int dx, int dy)
{
    int wrong = 0;
    for (int y = 0; y < (int)grid.y; y++)
        for (int x = 0; x < (int)grid.x; x++)
            for (int i = 0; i < BOX_ROWS * BOX_COLS; i++) {
                const int row = y * BOX_ROWS + dy + i / BOX_COLS,
                          col = x * BOX_COLS + dx + i % BOX_COLS;
                const bool inside = row >= 0 && row < ROWS && col >= 0 && col < COLS;
                wrong += out[(y * grid.x + x) * BOX_ROWS * BOX_COLS + i] !=
                         (inside ? matrix[row * STRIDE + col] : 0.0f);
            }
    return wrong;
}

int main(void)
{
    const dim3 grid((COLS - 1) / BOX_COLS + 1, (ROWS - 1) / BOX_ROWS + 1);
    const size_t bytes = grid.x * grid.y * BOX_ROWS * BOX_COLS * sizeof(float);
    float *matrix = (float *)malloc(ROWS * STRIDE * sizeof(float)),
          *out = (float *)malloc(bytes);
    for (int i = 0; i < ROWS * STRIDE; i++) matrix[i] = (float)(i + 1);
    float *d_matrix, *d_out;
    CHECK(cudaMalloc(&d_matrix, ROWS * STRIDE * sizeof(float)));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_matrix, matrix, ROWS * STRIDE * sizeof(float),
                     cudaMemcpyHostToDevice));
    const CUtensorMap map =
        tensor_map_2d(d_matrix, ROWS, COLS, STRIDE, BOX_ROWS, BOX_COLS);
    int wrong = 0;
    const int starts[3][2] = {{0, 0}, {-8, -3}, {40, 30}};
    for (const int *start : starts) {
        bring<<<grid, 96>>>(map, start[0], start[1], d_out);
        CHECK(cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost));
        wrong += compare(matrix, out, grid, start[0], start[1]);
    }
    CHECK(cudaFree(d_matrix));
    CHECK(cudaFree(d_out));
    free(matrix);
    free(out);
    EXPECT(wrong == 0);
    return pass();
}
