// Exercise 14: running sums.
//
// B[row][col] = A[row][0] + ... + A[row][col]. One after the other, that is a loop that no
// two threads could share. Or so it looks.
#include "exercise.h"

const int THREADS = 1024; // a block has one row, a thread one column

__global__ void scan_kernel(int N, const float *A, float *B)
{
    __shared__ float sums[THREADS];
    const int t = threadIdx.x;
    const int at = blockIdx.x * N + t;

    sums[t] = t < N ? A[at] : 0.0f;
    __syncthreads();

    // After the step with this distance, sums[t] holds the sum of the last 2 * distance
    // elements up to t, or of all there are.
    for (int distance = 1; distance < THREADS; distance *= 2) {
        // BEGIN answer
        const float before = t >= distance ? sums[t - distance] : 0.0f;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
        // END answer
    }

    if (t < N)
        B[at] = sums[t];
}

// N is 1,024 at most.
void scan(int M, int N, const float *A, float *B)
{
    scan_kernel<<<M, THREADS>>>(N, A, B);
}
