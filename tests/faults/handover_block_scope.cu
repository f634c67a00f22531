// A flag that tells another block, released and acquired for the threads of its own block only.
// EXPECT: data race in global memory
// EXPECT: nothing between orders the two
// THREAD (0,0,0) BLOCK (1,0,0)
#include "fault.h"
#include <cuda/atomic>

#ifdef FIXED
const cuda::thread_scope SCOPE = cuda::thread_scope_device;
#else
const cuda::thread_scope SCOPE = cuda::thread_scope_block;
#endif

__global__ void hand_over(int *data, int *flag, int *out)
{
    cuda::atomic_ref<int, SCOPE> raised(*flag);
    if (blockIdx.x == 0) {
        *data = 5;
        raised.store(1, cuda::memory_order_release);
    } else {
        while (raised.load(cuda::memory_order_acquire) == 0) continue;
        *out = *data; // FAULT
    }
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 3 * sizeof *data);
    cudaMemset(data, 0, 3 * sizeof *data);
    hand_over<<<2, 1>>>(data, data + 1, data + 2);
    int status = finish();
    cudaFree(data);
    return status;
}
