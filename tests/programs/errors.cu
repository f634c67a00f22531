// What CUDA says when it is asked for something impossible, and that it recovers.
#include "check.h"
#include <string.h>

__global__ void nothing(void)
{
}

__global__ void set(int *p)
{
    *p = 7;
}

int main(void)
{
    nothing<<<1, 2048>>>();
    cudaError_t error = cudaPeekAtLastError();
    EXPECT(error == cudaErrorInvalidConfiguration);
    EXPECT(cudaGetLastError() == error);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(strcmp(cudaGetErrorString(error), "invalid configuration argument") == 0);
    EXPECT(strcmp(cudaGetErrorName(error), "cudaErrorInvalidConfiguration") == 0);

    nothing<<<0, 32>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    nothing<<<dim3(1, 70000), 32>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    nothing<<<1, dim3(1, 1, 65)>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    nothing<<<1, 32, 1 << 20>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

    void *p = NULL;
    EXPECT(cudaMalloc(&p, (size_t)1 << 50) == cudaErrorMemoryAllocation);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaSetDevice(99) == cudaErrorInvalidDevice);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorInvalidDevice), "invalid device ordinal") ==
           0);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
    EXPECT(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);

    int *d, value = 0;
    CHECK(cudaMalloc(&d, sizeof *d));
    EXPECT(cudaMemcpy(d, &value, 4, (enum cudaMemcpyKind)17) ==
           cudaErrorInvalidMemcpyDirection);
    (void)cudaGetLastError();
    EXPECT(cudaMemcpy(NULL, &value, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    (void)cudaGetLastError();

    // None of the above is lasting: the device still works.
    set<<<1, 1>>>(d);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&value, d, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value == 7);
    CHECK(cudaFree(d));
    CHECK(cudaDeviceReset());
    return pass();
}
