// Exercise 30: full and empty.
//
// One thread orders all copies, four warps multiply, and no __syncthreads() holds either
// up: a stage has a barrier that says it is full, and one that says it is empty. The first
// round goes well. But stages are filled again, and barriers are used again.
#include "exercise.h"
#include "given.cuh"

const int STAGES = 3;
const int CONSUMERS = 128; // threads that multiply; one more warp has the copies
const int THREADS = CONSUMERS + 32;

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int N, int K, const __half *A, const __half *B, float *C)
{
    __shared__ __align__(128) struct stage stages[STAGES];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int top = blockIdx.y * ROWS, left = blockIdx.x * COLS;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            // Of how many arrivals is each phase?
            // BEGIN answer
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], 1);
            // END answer
        }
        fence_mbarrier_init();
    }
    __syncthreads();

    if (threadIdx.x == CONSUMERS) {
        for (int i = 0; i < K / DEPTH; ++i) {
            const int s = i % STAGES;
            const __half *a = &A[top * K + i * DEPTH], *b = &B[i * DEPTH * N + left];
            // BEGIN answer
            mbarrier_arrive_expect_tx(&full[s], sizeof stages[s]);
            // END answer
            start_copies(&stages[s], a, K, b, N, &full[s]);
        }
    } else if (threadIdx.x < CONSUMERS) {
        struct results sums = {};
        for (int i = 0; i < K / DEPTH; ++i) {
            const int s = i % STAGES;
            // BEGIN answer
            mbarrier_wait_parity(&full[s], 0);
            // END answer
            sums.add(&stages[s], warp, lane);
            // BEGIN answer
            // END answer
        }
        sums.store(&C[top * N + left], N, warp, lane);
    }
}

void matmul_halves(int M, int N, int K, const __half *A, const __half *B, float *C)
{
    matmul_kernel<<<dim3(N / COLS, M / ROWS), THREADS>>>(N, K, A, B, C);
}
