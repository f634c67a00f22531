/* What the planted faults share. A program that gets through says so, and ends well. */
#ifndef FAULT_H
#define FAULT_H

#include <cuda_runtime.h>
#include <stdio.h>

/* Waits for the kernel, and reports what cannot be a planted fault. */
static inline int finish(void)
{
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("CUDA says: %s\n", cudaGetErrorString(error));
        return 4;
    }
    printf("PASS\n");
    return 0;
}

#endif
