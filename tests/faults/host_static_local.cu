// A function that counts its calls in a variable of the host is given to a kernel.
// EXPECT: host memory: a read of 4 bytes in a variable of the host
#include "fault.h"

struct counter {
    int *calls;
    __host__ __device__ int next() const
    {
        return ++*calls; // FAULT
    }
};

__global__ void call(counter c, int *out)
{
    *out = c.next();
}

int main(void)
{
    static int on_host;
    int *out, *calls = &on_host;
    cudaMallocManaged(&out, sizeof *out);
#ifdef FIXED
    cudaMallocManaged(&calls, sizeof *calls);
    *calls = 0;
#endif
    call<<<1, 1>>>(counter{calls}, out);
    int status = finish();
    if (counter{&on_host}.next() != 1 || *out != 1) status = 4;
#ifdef FIXED
    cudaFree(calls);
#endif
    cudaFree(out);
    return status;
}
