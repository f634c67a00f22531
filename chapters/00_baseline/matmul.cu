/*
 * Chapter 0: the ruler.
 *
 * Before making anything fast: what is right, what is possible, and who is to beat?
 *
 *   right      three loops on the CPU. Every chapter's result is compared with this sum.
 *   possible   how many multiply-adds this GPU can do a second, and how many bytes it can
 *              move. Measured here, by two kernels that do nothing else.
 *   to beat    cuBLAS, NVIDIA's own library. Here it plays the part of the kernel.
 *
 * Run it:  make chapter0 && ./chapter0
 */
#include "matmul.h"

#include <cublas_v2.h>
#include <stdlib.h>
#include <time.h>

// The definition, row-major: row i of A against column j of B. All other programs here
// compute the same sums in another order, on other hardware, and must get the same
// result up to rounding. This one is also timed, to have somewhere to start from.
static void matmul_on_cpu(int M, int N, int K, const float *A, const float *B, float *C)
{
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            float acc = 0.0f;
            for (int k = 0; k < K; ++k)
                acc += A[(size_t)i * K + k] * B[(size_t)k * N + j];
            C[(size_t)i * N + j] = acc;
        }
    }
}

// Multiply-adds and nothing else. One chain of them would wait four cycles for each
// result, so every thread keeps CHAINS going that do not depend on each other.
const int CHAINS = 16;
const int STEPS = 4096;

__global__ void fma_loop(float x, float y, float *out)
{
    float acc[CHAINS];
    for (int c = 0; c < CHAINS; ++c)
        acc[c] = threadIdx.x + c; // any numbers will do
    for (int step = 0; step < STEPS; ++step)
        for (int c = 0; c < CHAINS; ++c)
            acc[c] = acc[c] * x + y;
    float sum = 0.0f;
    for (int c = 0; c < CHAINS; ++c)
        sum += acc[c];
    // Never true, but the compiler cannot know, and so it cannot drop the loop.
    if (sum == -1.0f)
        *out = sum;
}

// Sixteen bytes in, sixteen bytes out, for as long as there are any.
__global__ void copy(const float4 *from, float4 *to, size_t count)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        to[i] = from[i];
}

// The kernel of this chapter is NVIDIA's.
// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    static cublasHandle_t handle;
    if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
        exit(3);
    // cuBLAS counts along columns first, so it takes our row-major C for C transposed.
    // That is B transposed times A transposed: the operands change places, nothing moves.
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &alpha, B, N, A, K, &beta, C,
                N);
}

// Runs `launch` once to warm up and then between two events: the time in seconds. A GPU
// works on after the call has returned, so a clock on the CPU would measure the call. An
// event is a mark in the GPU's own queue, and the time between two marks is the work.
//
// `[=] { ... }` below is C++ for a function without a name, which keeps copies of the
// variables that it uses; `template` lets `launch` be any of them.
template <class F> static double seconds(F launch)
{
    // The first launch also loads the code onto the GPU; that is not to be timed.
    cudaEvent_t begin, end;
    float ms;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    launch();
    CUDA_CHECK(cudaEventRecord(begin, 0));
    launch();
    CUDA_CHECK(cudaEventRecord(end, 0));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    return ms / 1e3;
}

static int measure_peaks(struct figure *figures, int room)
{
    if (room < 3)
        return 0;
    int sms;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    // Many more blocks than fit at once, so that no multiprocessor waits at the end.
    const int blocks = 64 * sms, threads = 256;
    const double flop = 2.0 * CHAINS * STEPS * blocks * threads;

    // Far more than the L2 holds, so that every byte comes from memory and goes there.
    const size_t bytes = (size_t)1 << 30;
    float4 *from, *to;
    CUDA_CHECK(cudaMalloc(&from, bytes));
    CUDA_CHECK(cudaMalloc(&to, bytes));
    CUDA_CHECK(cudaMemset(from, 0, bytes));
    const double fma_s =
        seconds([=] { fma_loop<<<blocks, threads>>>(0.999f, 0.001f, (float *)to); });
    const double copy_s =
        seconds([=] { copy<<<16 * sms, 512>>>(from, to, bytes / sizeof(float4)); });
    CUDA_CHECK(cudaFree(from));
    CUDA_CHECK(cudaFree(to));

    // The CPU on its own, on a size that takes a blink, several times. All of A is written
    // before: memory that nobody has written is one page of zeros, over and over, and that
    // would come from the L1. Which numbers they are does not matter to a CPU's speed (to a
    // GPU's it does, a little, through the power that they take).
    const int n = 512, runs = 10;
    float *A = (float *)malloc((size_t)n * n * sizeof(float));
    float *C = (float *)malloc((size_t)n * n * sizeof(float));
    for (int i = 0; i < n * n; ++i)
        A[i] = (float)(i % 7);
    const clock_t before = clock();
    for (int run = 0; run < runs; ++run)
        matmul_on_cpu(n, n, n, A, A, C);
    const double cpu_s = (double)(clock() - before) / CLOCKS_PER_SEC / runs;
    free(A);
    free(C);

    // Rates, each in the unit that it is usually quoted in. The copy moves every byte
    // twice, in and out, and both count.
    figures[0] = {"multiply-adds, measured peak", flop / fma_s / 1e12, "TFLOP/s",
                  "compute"};
    figures[1] = {"copy, read + written", 2.0 * bytes / copy_s / 1e12, "TB/s", "memory"};
    figures[2] = {"three loops on a CPU core, 512", 2e-9 * n * n * n / cpu_s, "GFLOP/s"};
    return 3;
}

int main(int argc, char **argv)
{
    // Without a tile (what is not named is zero): which block computes what is cuBLAS' own
    // affair.
    const struct chapter chapter = {
        .number = 0,
        .title = "baseline: cuBLAS, and what the GPU can do",
        .launch = matmul,
        .measure_more = measure_peaks,
    };
    return chapter_main(argc, argv, &chapter);
}
