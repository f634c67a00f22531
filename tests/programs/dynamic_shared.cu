// Dynamic shared memory: of two types, cut into pieces, beside static, and past 48 KB.
#include "check.h"

__global__ void reverse(float *data)
{
    extern __shared__ float line[];
    line[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = line[blockDim.x - 1 - threadIdx.x];
}

// One piece of memory holds doubles, then integers; a static array lies beside it.
__global__ void mixed(double *out, int n)
{
    extern __shared__ __align__(16) unsigned char pool[];
    __shared__ int shift;
    double *values = (double *)pool;
    int *index = reinterpret_cast<int *>(values + n);
    const int t = threadIdx.x;
    if (t == 0) shift = 3;
    values[t] = 1.5 * t;
    __syncthreads();
    index[t] = (t + shift) % n;
    __syncthreads();
    out[t] = values[index[(t + 1) % n]];
}

template <typename T> __global__ void large(T *out, int count)
{
    extern __shared__ __align__(16) char memory[];
    T *values = (T *)memory;
    for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] = (T)(2 * i);
    __syncthreads();
    T sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum += values[count - 1 - i];
    out[threadIdx.x] = sum;
}

int main(void)
{
    const int n = 96;
    float *data;
    double *out;
    long long *sums;
    CHECK(cudaMallocManaged(&data, n * sizeof *data));
    CHECK(cudaMallocManaged(&out, n * sizeof *out));
    CHECK(cudaMallocManaged(&sums, n * sizeof *sums));
    for (int i = 0; i < n; i++) data[i] = (float)i;
    reverse<<<1, n, n * sizeof(float)>>>(data);
    mixed<<<1, n, n * (sizeof(double) + sizeof(int)), 0>>>(out, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        EXPECT(data[i] == (float)(n - 1 - i));
        EXPECT(out[i] == 1.5 * ((((i + 1) % n) + 3) % n));
    }

    // 60,000 bytes need the kernel's permission; without it the launch is refused.
    const int count = 7500, bytes = count * (int)sizeof(long long);
    large<long long><<<1, n, bytes>>>(sums, count);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(large<long long>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    large<long long><<<1, n, bytes>>>(sums, count);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    long long total = 0;
    for (int i = 0; i < n; i++) total += sums[i];
    EXPECT(total == (long long)count * (count - 1));

    CHECK(cudaFree(data));
    CHECK(cudaFree(out));
    CHECK(cudaFree(sums));
    return pass();
}
