// Blocks that hand something to each other, in PTX's own words: release and acquire on the
// flag itself, and relaxed accesses with fences.
#include "../programs/check.h"

enum { BLOCKS = 5, THREADS = 64, COUNT = BLOCKS * THREADS };

static __device__ int load_acquire(const int *p)
{
    int value;
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

static __device__ void store_release(int *p, int value)
{
    asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

static __device__ int add_acquire_release(int *p, int value)
{
    int old;
    asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(p), "r"(value)
                 : "memory");
    return old;
}

// Each block goes on where the one before it stopped.
__global__ void running_sum(const float *in, float *out, int *done)
{
    const int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    float sum = 0.0f;
    if (b > 0) {
        while (!load_acquire(&done[b - 1])) continue;
        sum = out[b * THREADS - 1];
    }
    for (int i = 0; i < THREADS; i++) out[b * THREADS + i] = sum += in[b * THREADS + i];
    store_release(&done[b], 1);
}

__global__ void last_adds_up(const float *in, float *parts, float *out, int *counted)
{
    __shared__ bool last;
    const int t = threadIdx.x;
    parts[blockIdx.x * THREADS + t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    if (t == 0) last = add_acquire_release(counted, 1) == BLOCKS - 1;
    __syncthreads();
    if (!last) return;
    float sum = 0.0f;
    for (int b = 0; b < BLOCKS; b++) sum += parts[b * THREADS + t];
    out[t] = sum;
}

__global__ void with_fences(const float *in, float *out, int *done)
{
    const int b = blockIdx.x;
    int before = b == 0;
    if (threadIdx.x > 0) return;
    while (!before)
        asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];"
                     : "=r"(before)
                     : "l"(&done[b - 1])
                     : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    out[b] = in[b] + (b > 0 ? out[b - 1] : 0.0f);
    asm volatile("membar.gl;" ::: "memory");
    asm volatile("st.volatile.global.b32 [%0], %1;" ::"l"(&done[b]), "r"(1) : "memory");
}

int main(void)
{
    float *in, *parts, *out, sum = 0.0f, total = 0.0f;
    int *done;
    CHECK(cudaMallocManaged(&in, COUNT * sizeof *in));
    CHECK(cudaMallocManaged(&out, COUNT * sizeof *out));
    CHECK(cudaMalloc(&parts, COUNT * sizeof *parts));
    CHECK(cudaMalloc(&done, BLOCKS * sizeof *done));
    for (int i = 0; i < COUNT; i++) total += in[i] = (float)(i % 17);

    CHECK(cudaMemset(done, 0, BLOCKS * sizeof *done));
    running_sum<<<BLOCKS, THREADS>>>(in, out, done);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[COUNT - 1] == total);

    CHECK(cudaMemset(done, 0, BLOCKS * sizeof *done));
    last_adds_up<<<BLOCKS, THREADS>>>(in, parts, out, done);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < THREADS; t++) sum += out[t];
    EXPECT(sum == total);

    CHECK(cudaMemset(done, 0, BLOCKS * sizeof *done));
    with_fences<<<BLOCKS, THREADS>>>(in, out, done);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[BLOCKS - 1] == in[0] + in[1] + in[2] + in[3] + in[4]);

    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(parts));
    CHECK(cudaFree(done));
    return pass();
}
