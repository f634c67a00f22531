// Forms that programs have and that need more than the usual look: a formatter's spaces in a
// launch, one name for a kernel and a function of the host, shared memory outside functions, its
// alignment before its __shared__.
#include "check.h"

__shared__ int tile[64];
__shared__ float one;

__global__ void reverse(int *data)
{
    tile[threadIdx.x] = data[threadIdx.x];
    if (threadIdx.x == 0) one = 0.5f;
    __syncthreads();
    data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x] + (int)(2.0f * one);
}

static int reverse(const int *data, int i, int n)
{
    return data[n - 1 - i] + 1;
}

/* The function that launches the kernel of its name. */
__global__ void __launch_bounds__(128) zero(int *data, int n)
{
    if ((int)threadIdx.x < n) data[threadIdx.x] = 0;
}

static void zero(int *data, int n, int threads)
{
    zero<<<1, threads>>>(data, n);
}

__device__ void put(int value)
{
    tile[threadIdx.x] = value;
}

/* An alignment before __shared__, and before what comes after it. */
extern __align__(16) __shared__ float room[];

struct __builtin_align__(16) Three {
    float x[3];
};

__global__ void aligned(int *data)
{
    static_assert(sizeof(Three) == 16, "");
    __align__(16) __shared__ float four[4];
    extern __align__(16) __shared__ float same[];
    alignas(8) __shared__ int two[2];
    if (threadIdx.x > 0) return;
    *(float4 *)four = make_float4(1, 2, 3, 4);
    *(float4 *)room = *(const float4 *)four;
    *(int2 *)two = make_int2((int)same[2], (int)room[3]);
    data[0] = 10 * two[0] + two[1];
}

// clang-format off
__global__ void fill(int *data, int value)
{
    put(value);
    data[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    const int n = 64;
    int host[n], *data;
    CHECK(cudaMalloc(&data, n * sizeof *data));
    for (int i = 0; i < n; i++) host[i] = i * i;
    CHECK(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    reverse << <1, n >> > (data);
    CHECK(cudaGetLastError());
    int back[n];
    CHECK(cudaMemcpy(back, data, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(back[i] == reverse(host, i, n));
    fill <<< 1, n
          >> > (data, 7);
    CHECK(cudaMemcpy(back, data, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(back[i] == 7);
    zero(data, n, 128);
    CHECK(cudaMemcpy(back, data, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(back[i] == 0);
    aligned<<<1, 32, 16>>>(data);
    CHECK(cudaMemcpy(back, data, sizeof *back, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 34);
    CHECK(cudaFree(data));
    return pass();
}
// clang-format on
