// <cuda_awbarrier_primitives.h>: arrival apart from waiting, by token and by parity, a
// thread that leaves, and a barrier that is made anew.
// BUILD: -arch=sm_90
#include <cuda_awbarrier_primitives.h>

#include "check.h"

enum { THREADS = 64, PHASES = 3 };

__global__ void phases(int *out, int *pending)
{
    __shared__ __mbarrier_t barrier;
    __shared__ int tile[THREADS];
    const int i = threadIdx.x;
    if (i == 0) __mbarrier_init(&barrier, THREADS);
    __syncthreads();

    int sum = 0;
    for (int phase = 0; phase < PHASES; phase++) {
        tile[i] = i + phase;
        __mbarrier_token_t token = __mbarrier_arrive(&barrier);
        if (phase == 0 && i == 0) *pending = __mbarrier_token_pending_count(token);
        if (phase == 1)
            while (!__mbarrier_test_wait(&barrier, token)) continue;
        else
            while (!__mbarrier_try_wait(&barrier, token, 100)) continue;
        sum += tile[THREADS - 1 - i];
        __mbarrier_arrive(&barrier);
        while (!__mbarrier_try_wait_parity(&barrier, true, 100)) continue;
    }

    /* The last thread takes part no more. */
    tile[i] = 1;
    if (i == THREADS - 1)
        __mbarrier_arrive_and_drop(&barrier);
    else
        __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait_parity(&barrier, false)) continue;
    sum += tile[THREADS - 1 - i];
    if (i < THREADS - 1) {
        __mbarrier_arrive(&barrier);
        while (!__mbarrier_test_wait_parity(&barrier, true)) continue;
    }
    __syncthreads();

    if (i == 0) {
        __mbarrier_inval(&barrier);
        __mbarrier_init(&barrier, __mbarrier_maximum_count());
    }
    out[i] = sum;
}

int main()
{
    int *out;
    CHECK(cudaMallocManaged(&out, (THREADS + 1) * sizeof *out));
    phases<<<1, THREADS>>>(out, out + THREADS);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++)
        EXPECT(out[i] == PHASES * (THREADS - 1 - i) + PHASES + 1);
    EXPECT(out[THREADS] >= 1 && out[THREADS] <= THREADS);
    CHECK(cudaFree(out));
    return pass();
}
