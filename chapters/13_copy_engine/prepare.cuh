/* What happens to the matrices before the kernel: memory for copies and for parts of
 * sums, A transposed, B with rows that the copy engine can read. */
#ifndef PREPARE_CUH
#define PREPARE_CUH

#include "matmul.h"

#include <stdlib.h>

// Device memory that lasts from one product to the next, and is freed when the program
// ends.
struct scratch {
    void *memory;
    size_t bytes;
};
enum { A_COPY, B_COPY, PARTS, ARRIVED, SCRATCHES, GPUS = 16 };
static struct scratch scratches[GPUS][SCRATCHES];

static void free_scratches(void)
{
    for (int gpu = 0; gpu < GPUS; ++gpu)
        for (int i = 0; i < SCRATCHES; ++i)
            cudaFree(scratches[gpu][i].memory); // too late to complain
}

// At least `bytes` of device memory, zeros at first.
static float *scratch(int which, size_t bytes)
{
    static bool registered;
    if (!registered)
        atexit(free_scratches);
    registered = true;
    int gpu;
    CUDA_CHECK(cudaGetDevice(&gpu));
    struct scratch *s = &scratches[gpu][which];
    if (s->bytes < bytes) {
        CUDA_CHECK(cudaFree(s->memory));
        s->bytes = 0;
        CUDA_CHECK(cudaMalloc(&s->memory, bytes));
        CUDA_CHECK(cudaMemset(s->memory, 0, bytes));
        s->bytes = bytes;
    }
    return (float *)s->memory;
}

// Writes the transpose of a rows x cols matrix, rows of `stride` floats: the copy engine
// moves rows of A as they lie, and the threads want its columns. It costs a pass over A,
// 2 * M * K * 4 bytes at the speed of memory; the product is longer by a factor of N.
static __global__ void transpose(int rows, int cols, const float *from, float *to,
                                 int stride)
{
    __shared__ float tile[64][65]; // padded: rows are written, columns are read
    const int x = threadIdx.x % 64;
    const int y = threadIdx.x / 64;
    const int col = blockIdx.x * 64;
    for (int row = blockIdx.y * 64; row < rows; row += gridDim.y * 64) {
#pragma unroll
        for (int i = 0; i < 64; i += 4)
            if (row + y + i < rows && col + x < cols)
                tile[y + i][x] = from[(size_t)(row + y + i) * cols + col + x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 64; i += 4)
            if (col + y + i < cols && row + x < rows)
                to[(size_t)(col + y + i) * stride + row + x] = tile[x][y + i];
        __syncthreads();
    }
}

static int round_up_to_4(int n)
{
    return (n + 3) / 4 * 4;
}

// A's transpose as the copy engine can read it: K rows whose length is a multiple of 16
// bytes.
static const float *transposed_A(int M, int K, const float *A)
{
    const int stride = round_up_to_4(M);
    float *copy = scratch(A_COPY, (size_t)K * stride * sizeof(float));
    const int down = (M - 1) / 64 + 1;
    const dim3 blocks((K - 1) / 64 + 1, down < 65535 ? down : 65535);
    transpose<<<blocks, 256>>>(M, K, A, copy, stride);
    return copy;
}

// B itself if the copy engine can read it, else a copy with longer rows.
static const float *readable_B(int K, int N, const float *B)
{
    if (N % 4 == 0 && (size_t)B % 16 == 0)
        return B;
    const size_t row = N * sizeof(float), stride = round_up_to_4(N) * sizeof(float);
    float *copy = scratch(B_COPY, K * stride);
    CUDA_CHECK(cudaMemcpy2DAsync(copy, stride, B, row, row, K, cudaMemcpyDeviceToDevice));
    return copy;
}

#endif
