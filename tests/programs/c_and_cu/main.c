/* A C program whose GPU part is a .cu file: C calls the CUDA API and a function of it. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "double_it.h"

int main(void)
{
    enum { N = 300 };
    int *host = malloc(N * sizeof *host), *device = NULL;
    for (int i = 0; i < N; i++) host[i] = i;
    if (cudaMalloc((void **)&device, N * sizeof *host) != cudaSuccess) return 1;
    cudaMemcpy(device, host, N * sizeof *host, cudaMemcpyHostToDevice);
    double_it(device, N);
    cudaMemcpy(host, device, N * sizeof *host, cudaMemcpyDeviceToHost);
    cudaFree(device);
    for (int i = 0; i < N; i++)
        if (host[i] != 2 * i) {
            printf("host[%d] = %d\n", i, host[i]);
            return 1;
        }
    free(host);
    printf("PASS\n");
    return 0;
}
