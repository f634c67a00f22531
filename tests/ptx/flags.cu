// Blocks hand results over through global memory: by an atomic that releases and acquires,
// and by a flag.
#include "ptx.h"

const int BLOCKS = 6;

__global__ void sum(unsigned *parts, unsigned *count, unsigned *result)
{
    parts[blockIdx.x] = 10 * blockIdx.x;
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                 : "=r"(before)
                 : "l"(count)
                 : "memory");
    if (before != BLOCKS - 1) return;
    unsigned total = 0;
    for (int i = 0; i < BLOCKS; i++) total += parts[i];
    *result = total;
}

// Each block waits for the one before it, which has run already.
__global__ void chain(unsigned *values, unsigned *flags)
{
    const unsigned b = blockIdx.x;
    unsigned value = 1;
    if (b > 0) {
        unsigned ready = 0;
        while (!ready)
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(ready)
                         : "l"(flags + b - 1)
                         : "memory");
        value = 2 * values[b - 1];
    }
    values[b] = value;
    if (b % 2)
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flags + b) : "memory");
    else
        asm volatile(
            "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flags + b)
            : "memory");
}

__global__ void look(const unsigned *result, const unsigned *values)
{
    IS(*result, 150);
    for (unsigned i = 0; i < BLOCKS; i++) IS(values[i], 1u << i);
}

int main(void)
{
    unsigned *memory;
    cudaMalloc(&memory, 64 * sizeof *memory);
    cudaMemset(memory, 0, 64 * sizeof *memory);
    sum<<<BLOCKS, 1>>>(memory, memory + 16, memory + 17);
    chain<<<BLOCKS, 1>>>(memory + 32, memory + 48);
    look<<<1, 1>>>(memory + 17, memory + 32);
    const int status = verdict();
    cudaFree(memory);
    return status;
}
