// Several threads at one word of global memory, and no harm done.
#include <string.h>

#include "check.h"

enum { COUNT = 1000, THREADS = 128, BLOCKS = (COUNT + THREADS - 1) / THREADS, BINS = 7 };

// Many raise the flag, and it does not matter who.
__global__ void any_negative(const float *in, int *found)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT && in[i] < 0.0f) *found = 1;
}

// Every block fills the whole table with the same values before it uses it.
__global__ void with_a_table(float *table, const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < BINS) table[threadIdx.x] = 0.5f * threadIdx.x;
    __syncthreads();
    if (i < COUNT) out[i] = in[i] + table[i % BINS];
}

// The loop with which atomics are made that the hardware does not have. Its first read of
// the word is a plain one; the swap looks again.
__device__ void atomic_largest(float *address, float value)
{
    int *const word = (int *)address;
    int old = *word, assumed;
    do {
        assumed = old;
        const float larger = fmaxf(value, __int_as_float(assumed));
        old = atomicCAS(word, assumed, __float_as_int(larger));
    } while (old != assumed);
}

__global__ void largest(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) atomic_largest(out, in[i]);
}

// Four threads share each word, and each has a byte of its own.
__global__ void signs(const float *in, signed char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) out[i] = in[i] < 0.0f ? -1 : 1;
}

// So with halves of a word, at odd addresses too.
__global__ void halves(const signed char *in, short *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) out[i] = 3 * in[i];
}

// Between `kind` and `value` are bytes that nobody writes.
struct record {
    char kind;
    double value;
    short tail;
};

__global__ void write_records(const float *in, struct record *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COUNT) return;
    out[i].kind = 'x';
    out[i].value = in[i];
    out[i].tail = 7;
}

__global__ void copy_records(const struct record *in, struct record *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) out[i] = in[COUNT - 1 - i];
}

// A word that was never written is copied by the host, and never read by a kernel.
__global__ void even_ones(const float *in, float *out)
{
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < COUNT) out[i] = in[i];
}

// Nor is one read of which no bytes are copied.
__global__ void copy_even_ones(const float *in, float *out, size_t each)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) memcpy(&out[i], &in[i], (1 - i % 2) * each);
}

// Each block clears sums of its own and, behind a barrier, adds to them with atomics; the
// last one that is done adds up what all have left, and clears the ticket that told it so.
__global__ void count_negative(const float *in, int *sums, unsigned *ticket, int *total)
{
    __shared__ int here;
    __shared__ bool last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) here = sums[blockIdx.x] = 0;
    __syncthreads();
    if (i < COUNT && in[i] < 0.0f) atomicAdd(&here, 1);
    __syncthreads();
    if (threadIdx.x < 2) atomicAdd(&sums[blockIdx.x], threadIdx.x * here);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(ticket, 1) == gridDim.x - 1;
        __threadfence();
        if (last) *ticket = *total = 0;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) {
        atomicAdd(&sums[threadIdx.x], 0);
        atomicAdd(total, sums[threadIdx.x]);
    }
}

// An exchange whose result nobody uses is the first to write: in every thread, of shared
// memory, and of global memory that nobody has filled.
template <class T> __device__ void put(T *word, T value)
{
    atomicExch(word, value);
}

__global__ void begin_by_exchange(unsigned *words, float *real)
{
    __shared__ unsigned hits;
    atomicExch(&hits, 0);
    __syncthreads();
    atomicAdd(&hits, 1);
    __syncthreads();
    if (threadIdx.x < 4) atomicExch(words + threadIdx.x, hits);
    if (threadIdx.x == 0) put(real, 0.5f);
}

int main(void)
{
    const size_t bytes = COUNT * sizeof(float);
    float host[COUNT], *in, *out, *more, most = -1.0f;
    int found = 0, *device_found;
    signed char *small;
    short *middle, shorts[COUNT];
    struct record *records, *copies, record;
    for (int i = 0; i < COUNT; i++) {
        host[i] = noise(i);
        most = fmaxf(most, host[i]);
    }
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMalloc(&more, bytes));
    CHECK(cudaMalloc(&small, COUNT));
    CHECK(cudaMalloc(&middle, sizeof shorts));
    CHECK(cudaMalloc(&records, COUNT * sizeof *records));
    CHECK(cudaMalloc(&copies, COUNT * sizeof *copies));
    CHECK(cudaMalloc(&device_found, sizeof found));
    CHECK(cudaMemcpy(in, host, bytes, cudaMemcpyHostToDevice));

    unsigned *words, four[4];
    float *real, half;
    CHECK(cudaMalloc(&words, sizeof four));
    CHECK(cudaMalloc(&real, sizeof half));
    begin_by_exchange<<<1, THREADS>>>(words, real);
    CHECK(cudaMemcpy(four, words, sizeof four, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&half, real, sizeof half, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++) EXPECT(four[i] == THREADS);
    EXPECT(half == 0.5f);
    CHECK(cudaFree(words));
    CHECK(cudaFree(real));

    CHECK(cudaMemset(device_found, 0, sizeof found));
    any_negative<<<BLOCKS, THREADS>>>(in, device_found);
    CHECK(cudaMemcpy(&found, device_found, sizeof found, cudaMemcpyDeviceToHost));
    EXPECT(found == 1);

    with_a_table<<<BLOCKS, THREADS>>>(more, in, out);
    CHECK(cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost));
    EXPECT(close_to(host[BINS - 1], noise(BINS - 1) + 0.5 * (BINS - 1), 1e-6));

    CHECK(cudaMemcpy(out, in, sizeof *in, cudaMemcpyDeviceToDevice));
    largest<<<BLOCKS, THREADS>>>(in, out);
    CHECK(cudaMemcpy(host, out, sizeof *host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == most);

    signs<<<BLOCKS, THREADS>>>(in, small);
    halves<<<BLOCKS, THREADS>>>(small, middle);
    CHECK(cudaMemcpy(shorts, middle, sizeof shorts, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++) EXPECT(shorts[i] == (noise(i) < 0.0f ? -3 : 3));

    unsigned *ticket;
    int *sums, total = 0, want = 0;
    for (int i = 0; i < COUNT; i++) want += noise(i) < 0.0f;
    CHECK(cudaMalloc(&ticket, sizeof *ticket));
    CHECK(cudaMalloc(&sums, (BLOCKS + 1) * sizeof *sums));
    CHECK(cudaMemset(ticket, 0, sizeof *ticket));
    for (int turn = 0; turn < 2; turn++) {
        count_negative<<<BLOCKS, THREADS>>>(in, sums, ticket, &sums[BLOCKS]);
        CHECK(cudaMemcpy(&total, &sums[BLOCKS], sizeof total, cudaMemcpyDeviceToHost));
        EXPECT(total == want);
    }
    CHECK(cudaFree(ticket));
    CHECK(cudaFree(sums));

    write_records<<<BLOCKS, THREADS>>>(in, records);
    copy_records<<<BLOCKS, THREADS>>>(records, copies);
    CHECK(cudaMemcpy(&record, copies, sizeof record, cudaMemcpyDeviceToHost));
    EXPECT(record.kind == 'x' && record.value == noise(COUNT - 1) && record.tail == 7);

    CHECK(cudaFree(out));
    CHECK(cudaMalloc(&out, bytes));
    even_ones<<<BLOCKS, THREADS>>>(in, out);
    CHECK(cudaMemcpy(more, out, bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(host, more, bytes, cudaMemcpyDeviceToHost));
    EXPECT(host[COUNT - 2] == noise(COUNT - 2));
    copy_even_ones<<<BLOCKS, THREADS>>>(more, out, sizeof *more);
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(more));
    CHECK(cudaFree(small));
    CHECK(cudaFree(middle));
    CHECK(cudaFree(records));
    CHECK(cudaFree(copies));
    CHECK(cudaFree(device_found));
    return pass();
}
