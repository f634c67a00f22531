// Exercise 33: a float in two halves.
//
// A float has 24 bits and a half has 11, and a half ends at 65,504. So a row of floats is
// multiplied by a power of two, which is exact, and each of its numbers becomes two halves:
// hi, the nearest, and lo, what is missing.
#include "exercise.h"

const int THREADS = 128;

// 2 to the power of e, for e from -126 to 127.
__device__ float power_of_two(int e)
{
    return __uint_as_float((unsigned)(e + 127) << 23);
}

// The e with which the row's largest number, times 2 to the power of e, is a large half.
// The bits of a positive float are its exponent, 127 more than it is, and then 23 bits.
__device__ int exponent_for(float largest)
{
    // BEGIN answer
    //- return 0 * (int)largest;
    return 14 + 127 - (int)(__float_as_uint(largest) >> 23);
    // END answer
}

// y in two halves, lo times 2,048: its bits then lie where those of hi are.
__device__ __half2 two_halves(float y)
{
    const __half hi = __float2half_rn(y);
    // BEGIN answer
    //- const __half lo = __float2half_rn(0.0f);
    const __half lo = __float2half_rn((y - __half2float(hi)) * 2048.0f);
    // END answer
    return __halves2half2(hi, lo);
}

// A block for each row.
__global__ void split_kernel(int N, const float *A, __half2 *halves, int *exponents)
{
    __shared__ float part[THREADS];
    const int row = blockIdx.x, t = threadIdx.x;
    float largest = 0.0f;
    for (int i = t; i < N; i += THREADS)
        largest = fmaxf(largest, fabsf(A[row * N + i]));
    part[t] = largest;
    __syncthreads();
    for (int i = 0; i < THREADS; ++i)
        largest = fmaxf(largest, part[i]);

    const int e = exponent_for(largest);
    if (t == 0)
        exponents[row] = e;
    for (int i = t; i < N; i += THREADS) {
        // BEGIN answer
        //- halves[row * N + i] = two_halves(A[row * N + i]);
        halves[row * N + i] = two_halves(A[row * N + i] * power_of_two(e));
        // END answer
    }
}

void split(int M, int N, const float *A, __half2 *halves, int *exponents)
{
    split_kernel<<<M, THREADS>>>(N, A, halves, exponents);
}
