/* How fast could a kernel with this inner loop be at the most? Loops of nothing but the
 * multiply-adds of chapter 13: once with all operands in registers, then with the six
 * reads of shared memory for every step of k, with the lanes numbered in four ways that
 * read the same bytes. Nothing is copied, awaited or stored. */
#ifndef CEILING_CUH
#define CEILING_CUH

// matmul.cu includes this behind its kernel: the tile, the depth of a stage and the steps
// without a branch are that kernel's.
const int CEILING_ROUNDS = 1000; // through one stage, again and again: some 10 ms

template <class T, bool FED, class LANES>
__global__ void __launch_bounds__(T::THREADS, 1) ceiling_loop(float *out)
{
    extern __shared__ __align__(16) float stage[];
    // Any numbers will do, but not all alike: bits that change take power, and power can
    // cost clocks.
    for (int i = threadIdx.x; i < T::FLOATS; i += T::THREADS)
        stage[i] = (i * 2654435761u >> 8) * (2.0f / (1 << 24)) - 1.0f;
    __syncthreads();

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = warp / (T::BN / T::WN) * T::WM + LANES::row_of(lane) * 4;
    int col = warp % (T::BN / T::WN) * T::WN + LANES::col_of(lane) * 4;
    asm("" : "+r"(row), "+r"(col));

    float acc[T::TM][T::TN], a[T::TM], b[T::TN];
#pragma unroll
    for (int m = 0; m < T::TM; ++m)
#pragma unroll
        for (int n = 0; n < T::TN; ++n)
            acc[m][n] = 0.0f;
    for (int round = 0; round < CEILING_ROUNDS; ++round) {
#pragma unroll 1
        for (int k0 = 0; k0 < T::BK; k0 += UNROLL) {
            const float *A_tile = &stage[k0 * T::BM + row];
            const float *B_tile = &stage[T::A_FLOATS + k0 * T::BN + col];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                // From registers: read once, before the first step, and used for ever.
                if (FED || (round == 0 && k0 == 0 && k == 0)) {
#pragma unroll
                    for (int m = 0; m < T::TM; m += 4)
                        *(float4 *)&a[m] =
                            *(float4 *)&A_tile[k * T::BM + m / 4 * T::ROW_STEP];
#pragma unroll
                    for (int n = 0; n < T::TN; n += 4)
                        *(float4 *)&b[n] =
                            *(float4 *)&B_tile[k * T::BN + n / 4 * T::COL_STEP];
                }
#pragma unroll
                for (int m = 0; m < T::TM; ++m)
#pragma unroll
                    for (int i = 0; i < T::TN; ++i) {
                        const int n = m % 2 ? i : T::TN - 1 - i;
                        acc[m][n] += a[m] * b[n];
                    }
            }
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int m = 0; m < T::TM; ++m)
#pragma unroll
        for (int n = 0; n < T::TN; ++n)
            sum += acc[m][n];
    out[(size_t)blockIdx.x * T::THREADS + threadIdx.x] = sum;
}

// The rate of one of the loops, one block on every SM, in TFLOP/s. `out` takes a float of
// every thread.
template <bool FED, class LANES> static double ceiling_rate(int sms, float *out)
{
    typedef large_tile T;
    const int bytes = T::FLOATS * sizeof(float);
    CUDA_CHECK(cudaFuncSetAttribute(ceiling_loop<T, FED, LANES>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaEvent_t begin, end;
    float ms;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    ceiling_loop<T, FED, LANES><<<sms, T::THREADS, bytes>>>(out); // warms up
    CUDA_CHECK(cudaEventRecord(begin, 0));
    ceiling_loop<T, FED, LANES><<<sms, T::THREADS, bytes>>>(out);
    CUDA_CHECK(cudaEventRecord(end, 0));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    return 2.0 * T::BM * T::BN * T::BK * CEILING_ROUNDS * sms / (ms * 1e9);
}

static int measure_ceilings(struct figure *figures, int room)
{
    int sms;
    float *out;
    if (room < 5)
        return 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaMalloc(&out, (size_t)sms * large_tile::THREADS * sizeof(float)));
    figures[0] = {"multiply-adds, from registers",
                  ceiling_rate<false, on_diagonals>(sms, out), "TFLOP/s"};
    figures[1] = {"with 6 reads for 128, lanes in a z",
                  ceiling_rate<true, in_a_z>(sms, out), "TFLOP/s"};
    figures[2] = {"with 6 reads for 128, lanes row by row",
                  ceiling_rate<true, row_by_row>(sms, out), "TFLOP/s"};
    figures[3] = {"with 6 reads for 128, lanes column by column",
                  ceiling_rate<true, column_by_column>(sms, out), "TFLOP/s"};
    figures[4] = {"with 6 reads for 128, lanes on diagonals",
                  ceiling_rate<true, on_diagonals>(sms, out), "TFLOP/s"};
    CUDA_CHECK(cudaFree(out));
    return 5;
}

#endif
