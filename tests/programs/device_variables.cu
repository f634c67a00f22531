// __device__ functions and variables, recursion, and copies to and from symbols.
#include "check.h"

__device__ int counter;
__device__ float table[64];
__device__ double matrix[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
static __device__ unsigned seen;
__managed__ int limit = 5;

__host__ __device__ static int collatz(int n)
{
    int steps = 0;
    for (; n != 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

__device__ __noinline__ unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ void bump(int *p, int by)
{
    atomicAdd(p, by);
}

__global__ void work(int *out)
{
    const int i = threadIdx.x;
    table[i] *= 2.0f;
    bump(&counter, i);
    out[i] = collatz(i + 1) + (int)fibonacci((unsigned)(i % 8));
    if (i < limit) atomicInc(&seen, 1000u);
    if (i < 12) matrix[i / 3][i % 3] += 0.5;
}

int main(void)
{
    float host[64];
    for (int i = 0; i < 64; i++) host[i] = (float)i;
    int zero = 0, count, *out;
    unsigned met;
    double m[4][3];
    CHECK(cudaMemcpyToSymbol(table, host, sizeof host));
    CHECK(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
    CHECK(cudaMallocManaged(&out, 64 * sizeof *out));
    work<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyFromSymbol(host, table, sizeof host));
    CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    CHECK(cudaMemcpyFromSymbol(&met, seen, sizeof met));
    CHECK(cudaMemcpyFromSymbol(m, matrix, sizeof m));

    float two[2];
    CHECK(cudaMemcpyFromSymbol(two, table, sizeof two, 10 * sizeof(float)));
    void *address;
    size_t bytes;
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaGetSymbolSize(&bytes, table));
    CHECK(cudaMemset(address, 0, 4));
    CHECK(cudaMemcpy(&host[0], address, 4, cudaMemcpyDeviceToHost));

    const unsigned fib[8] = {0, 1, 1, 2, 3, 5, 8, 13};
    for (int i = 0; i < 64; i++) {
        EXPECT(host[i] == 2.0f * i);
        EXPECT(out[i] == collatz(i + 1) + (int)fib[i % 8]);
    }
    for (int i = 0; i < 12; i++) EXPECT(m[i / 3][i % 3] == i + 1.5);
    EXPECT(count == 63 * 32);
    EXPECT(met == 5 && limit == 5);
    EXPECT(two[0] == 20.0f && two[1] == 22.0f);
    EXPECT(bytes == sizeof host);
    CHECK(cudaFree(out));
    return pass();
}
