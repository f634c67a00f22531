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

/* Names that C++'s library has, too, between < and >. */
__device__ int queue = 2;

__global__ void library_words(int *data, int map)
{
    const int set = 1, list = 3;
    if (queue < map && list > set) data[0] = set < map && map > list;
}

/* Arrays whose size is a constant in each of the ways that C++ knows. */
const int FOUR = 4;
enum { FIVE = 5 };
struct sizes {
    static const int SIX = 6;
    static constexpr int seven(int n)
    {
        return n + 7;
    }
};

template <int N, typename T> __global__ void sums(int *data)
{
    const int twice = 2 * N;
    constexpr int more = sizes::SIX + N;
    T a[N], b[FOUR][FIVE], c = 1, d[twice + sizeof(T)], e[N > 2 ? more : 1];
    const auto inner = [=](int i) {
        int f[FOUR * twice] = {};
        return f[i];
    };
    unsigned char *const made = new unsigned char[data[0]];
    delete[] made;
    a[0] = b[1][1] = d[N] = e[N] = c;
    data[0] = int(a[0] + b[1][1] + d[N] + e[N]) + inner(0) +
              int(sizeof a + sizeof b + sizeof d + sizeof e) / int(sizeof(T));
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
    library_words<<<1, 1>>>(data, 3);
    CHECK(cudaMemcpy(back, data, sizeof *back, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 0);
    library_words<<<1, 1>>>(data, 4);
    CHECK(cudaMemcpy(back, data, sizeof *back, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 1);
    sums<3, float><<<1, 1>>>(data);
    CHECK(cudaMemcpy(back, data, sizeof *back, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 4 + 3 + 20 + 10 + 9);
    CHECK(cudaFree(data));
    return pass();
}
// clang-format on
