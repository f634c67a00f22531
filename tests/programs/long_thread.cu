// Threads that run for long without a pause, reading little: each round differs from the last.
#include "check.h"

enum { ROUNDS = 40 * 1000 * 1000 };

__global__ void count(const volatile int *limit, const volatile int *stop, int *out)
{
    int odd = 0;
    for (int i = 0; i < *limit && !*stop; i++)
        if (i & 1) odd++;
    *out = odd;
}

// All that changes is in memory: one word, while another is read.
__global__ void tally(const volatile int *stop, int *out)
{
    while (!*stop && atomicAdd(out, 1) < ROUNDS - 1) continue;
}

__global__ void step(const volatile int *stop, volatile int *out)
{
    while (!*stop && *out < ROUNDS) *out = *out + 1;
}

// Waits, but not for anybody: for the clock.
__global__ void idle(const volatile int *stop, int *out)
{
    const long long begin = clock64();
    while (!*stop && clock64() - begin < ROUNDS) continue;
    *out = 1;
}

int main(void)
{
    int *values;
    CHECK(cudaMallocManaged(&values, 3 * sizeof *values));
    int *limit = &values[0], *stop = &values[1], *out = &values[2];
    *limit = ROUNDS;
    *stop = 0;
    count<<<1, 1>>>(limit, stop, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*out == ROUNDS / 2);
    *out = 0;
    tally<<<1, 1>>>(stop, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*out == ROUNDS);
    *out = 0;
    step<<<1, 1>>>(stop, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*out == ROUNDS);
    *out = 0;
    idle<<<1, 1>>>(stop, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*out == 1);
    CHECK(cudaFree(values));
    return pass();
}
