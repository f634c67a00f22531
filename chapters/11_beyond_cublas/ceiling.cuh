/* How fast could a kernel with this inner loop be at the most? Loops of nothing but the
 * multiply-adds of chapter 11: once with all operands in registers, then with the six
 * reads of shared memory for every step of k, with the lanes numbered in four ways that
 * read the same bytes. Nothing is copied, awaited or stored. */
#ifndef CEILING_CUH
#define CEILING_CUH

#include "lanes.cuh"
#include "matmul.h"

// What a block would compute: matmul.cu's largest tile and the depth of its stages.
struct ceiling_tile {
    static const int BM = 256, BN = 128, BK = 72, UNROLL = 8, TM = 16, TN = 8;
    static const int THREADS = BM * BN / (TM * TN);
    static const int SHARED_BYTES = BK * (BM + BN) * sizeof(float);
    static const int ROUNDS = 1000; // through one stage, again and again: some 10 ms
};

template <class T, bool FED, enum lanes LANES>
__global__ void __launch_bounds__(T::THREADS, 1) ceiling_loop(float *out)
{
    const int BM = T::BM, BN = T::BN, BK = T::BK, TM = T::TM, TN = T::TN;
    extern __shared__ __align__(16) float tile[];
    // Any numbers will do, but not all alike: bits that change take power, and power can
    // cost clocks.
    for (int i = threadIdx.x; i < BK * (BM + BN); i += T::THREADS)
        tile[i] = (i * 2654435761u >> 8) * (2.0f / (1 << 24)) - 1.0f;
    __syncthreads();

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = warp / 2 * 64 + lane_row_of<LANES>(lane) * 4;
    int col = warp % 2 * 64 + lane_col_of<LANES>(lane) * 4;
    asm("" : "+r"(row), "+r"(col));

    float acc[TM][TN], a[TM], b[TN];
#pragma unroll
    for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int n = 0; n < TN; ++n)
            acc[m][n] = 0.0f;
    for (int round = 0; round < T::ROUNDS; ++round) {
#pragma unroll 1
        for (int k0 = 0; k0 < BK; k0 += T::UNROLL) {
            const float *A_tile = &tile[k0 * BM + row];
            const float *B_tile = &tile[BK * BM + k0 * BN + col];
#pragma unroll
            for (int k = 0; k < T::UNROLL; ++k) {
                // From registers: read once, before the first step, and used for ever.
                if (FED || (round == 0 && k0 == 0 && k == 0)) {
#pragma unroll
                    for (int m = 0; m < TM; m += 4)
                        *(float4 *)&a[m] = *(float4 *)&A_tile[k * BM + m / 4 * 16];
#pragma unroll
                    for (int n = 0; n < TN; n += 4)
                        *(float4 *)&b[n] = *(float4 *)&B_tile[k * BN + n / 4 * 32];
                }
#pragma unroll
                for (int m = 0; m < TM; ++m)
#pragma unroll
                    for (int i = 0; i < TN; ++i) {
                        const int n = m % 2 ? i : TN - 1 - i;
                        acc[m][n] += a[m] * b[n];
                    }
            }
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int n = 0; n < TN; ++n)
            sum += acc[m][n];
    out[(size_t)blockIdx.x * T::THREADS + threadIdx.x] = sum;
}

// The rate of one of the loops, one block on every SM, in TFLOP/s. `out` takes a float of
// every thread.
template <class T, bool FED, enum lanes LANES>
static double ceiling_rate(int sms, float *out)
{
    CUDA_CHECK(cudaFuncSetAttribute(ceiling_loop<T, FED, LANES>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    T::SHARED_BYTES));
    cudaEvent_t begin, end;
    float ms;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    ceiling_loop<T, FED, LANES><<<sms, T::THREADS, T::SHARED_BYTES>>>(out); // warms up
    CUDA_CHECK(cudaEventRecord(begin, 0));
    ceiling_loop<T, FED, LANES><<<sms, T::THREADS, T::SHARED_BYTES>>>(out);
    CUDA_CHECK(cudaEventRecord(end, 0));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    return 2.0 * T::BM * T::BN * T::BK * T::ROUNDS * sms / (ms * 1e9);
}

static int measure_ceilings(struct figure *figures, int room)
{
    typedef ceiling_tile T;
    int sms;
    float *out;
    if (room < 5)
        return 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaMalloc(&out, (size_t)sms * T::THREADS * sizeof(float)));
    figures[0] = {"multiply-adds, from registers",
                  ceiling_rate<T, false, ON_DIAGONALS>(sms, out), "TFLOP/s"};
    figures[1] = {"with 6 reads for 128, lanes in a z",
                  ceiling_rate<T, true, IN_A_Z>(sms, out), "TFLOP/s"};
    figures[2] = {"with 6 reads for 128, lanes row by row",
                  ceiling_rate<T, true, ROW_BY_ROW>(sms, out), "TFLOP/s"};
    figures[3] = {"with 6 reads for 128, lanes column by column",
                  ceiling_rate<T, true, COLUMN_BY_COLUMN>(sms, out), "TFLOP/s"};
    figures[4] = {"with 6 reads for 128, lanes on diagonals",
                  ceiling_rate<T, true, ON_DIAGONALS>(sms, out), "TFLOP/s"};
    CUDA_CHECK(cudaFree(out));
    return 5;
}

#endif
