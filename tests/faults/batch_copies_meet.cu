// One copy of a batch reads what another writes, as if they ran in the order of their list.
// EXPECT: copy 0 writes bytes that copy 1 reads
#include "fault.h"

int main(void)
{
    const int n = 100;
    int *a, *b, *c, host[n];
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&a, n * sizeof *a);
    cudaMalloc(&b, n * sizeof *b);
    cudaMalloc(&c, n * sizeof *c);
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    int *to[] = {b, c}, *from[] = {a, b};
    size_t sizes[] = {sizeof host, sizeof host};
    struct cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
#ifdef FIXED
    cudaMemcpyBatchAsync(to, from, sizes, 1, how, stream);
    cudaMemcpyBatchAsync(to + 1, from + 1, sizes, 1, how, stream);
#else
    cudaMemcpyBatchAsync(to, from, sizes, 2, how, stream); // FAULT
#endif
    const int status = finish();
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaStreamDestroy(stream);
    return status;
}
