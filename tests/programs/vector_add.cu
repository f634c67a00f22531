// c = a + b: one thread an element, then the same with a grid-stride loop.
#include <stdio.h>
#include <stdlib.h>

// This program is on purpose as plain as a first CUDA program is: it includes nothing of
// CUDA, checks no call, and lets the compiler provide the rest.
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void add_stride(const float *a, const float *b, float *c, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += blockDim.x * gridDim.x)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 10007;
    const size_t bytes = n * sizeof(float);
    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes),
          *c = (float *)malloc(bytes);
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2.0f * i;
    }
    float *d_a, *d_b, *d_c;
    cudaMalloc(&d_a, bytes);
    cudaMalloc((void **)&d_b, bytes);
    cudaMalloc(&d_c, bytes);
    cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice);

    for (int round = 0; round < 2; round++) {
        cudaMemset(d_c, 0xff, bytes);
        if (round == 0)
            add<<<(n + 255) / 256, 256>>>(d_a, d_b, d_c, n);
        else
            add_stride<<<3, 96>>>(d_a, d_b, d_c, n);
        cudaDeviceSynchronize();
        cudaMemcpy(c, d_c, bytes, cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            if (!(c[i] == 3.0f * i)) {
                printf("round %d: c[%d] = %f\n", round, i, c[i]);
                return 1;
            }
        }
    }
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    free(a);
    free(b);
    free(c);
    printf("PASS\n");
    return 0;
}
