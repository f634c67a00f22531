// NOT WITH NVCC: on a GPU, such a sum begins with whatever the register held
// A variable that a kernel never sets does not begin with 0, which would make a wrong
// program's result right; and to convert it is no fault, since nobody may use the result.
#include "check.h"

__global__ void sum_of(const float *in, int n, float *out)
{
    float sums[2];
    for (int i = 0; i < n; i++) sums[i % 2] += in[i];
    *out = sums[0] + sums[1];
}

template <class T> __device__ void load(const float *in, int i, int n, T *x)
{
    if (i < n) *x = in[i];
}

__global__ void convert(const float *in, int n, int *out)
{
    const int i = threadIdx.x;
    float x;
    double y;
    load(in, i, n, &x);
    load(in, i, n, &y);
    const int one = (int)x, other = (int)y;
    if (i < n) out[i] = one + other;
}

int main(void)
{
    float host[] = {1.0f, 2.0f, 3.0f}, *in, *out, sum;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof *out));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    sum_of<<<1, 1>>>(in, 3, out);
    CHECK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
#if __GNUC__ >= 12 || defined(__clang__)
    EXPECT(!(fabsf(sum) < 1e30f));
#endif
    int *whole, last;
    CHECK(cudaMalloc(&whole, 3 * sizeof *whole));
    convert<<<1, 32>>>(in, 3, whole);
    CHECK(cudaMemcpy(&last, whole + 2, sizeof last, cudaMemcpyDeviceToHost));
    EXPECT(last == 6);
    CHECK(cudaFree(whole));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
