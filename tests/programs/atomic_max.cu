// The atomics CUDA has, and one it has not: the maximum of floats by compare-and-swap.
// The first look at the value is an atomic too, or it would race with the others' swaps.
#include "check.h"

__device__ float atomic_max(float *address, float value)
{
    int *bits = (int *)address, old = atomicCAS(bits, 0, 0);
    while (value > __int_as_float(old)) {
        const int assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value));
        if (old == assumed) break;
    }
    return __int_as_float(old);
}

__global__ void largest(const float *in, int n, float *out)
{
    __shared__ float block_max;
    if (threadIdx.x == 0) block_max = -1e30f;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomic_max(&block_max, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomic_max(out, block_max);
}

struct Results {
    int sum, difference, least, most, bits_and, bits_or, bits_xor, exchanged;
    unsigned wrapped, down;
    unsigned long long wide, wide_most;
    float real;
    double precise;
};

__global__ void all_kinds(Results *r)
{
    const int t = threadIdx.x;
    atomicAdd(&r->sum, t);
    atomicSub(&r->difference, t);
    atomicMin(&r->least, 50 - t);
    atomicMax(&r->most, t * 3);
    atomicAnd(&r->bits_and, ~(1 << t % 8));
    atomicOr(&r->bits_or, 1 << t % 8);
    atomicXor(&r->bits_xor, t);
    atomicExch(&r->exchanged, 5);
    atomicInc(&r->wrapped, 9u);
    atomicDec(&r->down, 9u);
    atomicAdd(&r->wide, 1ull << 33);
    atomicMax(&r->wide_most, (unsigned long long)t << 40);
    atomicAdd(&r->real, 0.5f);
    atomicAdd(&r->precise, 0.25);
}

int main(void)
{
    const int n = 1000;
    float *in, *out, want = -1e30f;
    CHECK(cudaMallocManaged(&in, n * sizeof *in));
    CHECK(cudaMallocManaged(&out, sizeof *out));
    for (int i = 0; i < n; i++) want = fmaxf(want, in[i] = 100.0f * noise(i));
    *out = -1e30f;
    largest<<<(n + 127) / 128, 128>>>(in, n, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*out == want);

    Results *r;
    CHECK(cudaMallocManaged(&r, sizeof *r));
    CHECK(cudaMemset(r, 0, sizeof *r));
    r->bits_and = 0xfff;
    all_kinds<<<1, 64>>>(r);
    CHECK(cudaDeviceSynchronize());
    EXPECT(r->sum == 2016 && r->difference == -2016);
    EXPECT(r->least == -13 && r->most == 189);
    EXPECT(r->bits_and == 0xf00 && r->bits_or == 0xff && r->bits_xor == 0);
    EXPECT(r->exchanged == 5 && r->wrapped == 4 && r->down == 6);
    EXPECT(r->wide == 64ull << 33 && r->wide_most == 63ull << 40);
    EXPECT(r->real == 32.0f && r->precise == 16.0);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(r));
    return pass();
}
