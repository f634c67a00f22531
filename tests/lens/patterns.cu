// One access to memory a kernel, in many patterns: what the lens counts is compared with
// Nsight Compute's counters, one rule of the memory system at a time.
//
//     patterns           runs all of them, in order
//     patterns list      prints their names
//     patterns N         runs number N alone
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum place { GLOBAL_LOAD, GLOBAL_STORE, SHARED_LOAD, SHARED_STORE, PLACES };
static const char *const place_names[PLACES] = {"global load", "global store",
                                                "shared load", "shared store"};

// Where lane i goes: (i / group) * stride + offset elements, or backwards; i starts anew every `period` lanes.
struct pattern {
    const char *name;
    int stride, group, offset, backwards, threads, period;
};

static const struct pattern patterns[] = {
    {"uniform", 0, 1, 0, 0, 32},
    {"stride 1", 1, 1, 0, 0, 32},
    {"stride 2", 2, 1, 0, 0, 32},
    {"stride 3", 3, 1, 0, 0, 32},
    {"stride 4", 4, 1, 0, 0, 32},
    {"stride 5", 5, 1, 0, 0, 32},
    {"stride 7", 7, 1, 0, 0, 32},
    {"stride 8", 8, 1, 0, 0, 32},
    {"stride 9", 9, 1, 0, 0, 32},
    {"stride 16", 16, 1, 0, 0, 32},
    {"stride 17", 17, 1, 0, 0, 32},
    {"stride 31", 31, 1, 0, 0, 32},
    {"stride 32", 32, 1, 0, 0, 32},
    {"stride 33", 33, 1, 0, 0, 32},
    {"pairs", 1, 2, 0, 0, 32},
    {"quads", 1, 4, 0, 0, 32},
    {"eights", 1, 8, 0, 0, 32},
    {"sixteens", 1, 16, 0, 0, 32},
    {"quads, stride 2", 2, 4, 0, 0, 32},
    {"eights, stride 2", 2, 8, 0, 0, 32},
    {"pairs, stride 2", 2, 2, 0, 0, 32},
    {"pairs, stride 4", 4, 2, 0, 0, 32},
    {"offset 1", 1, 1, 1, 0, 32},
    {"offset 3", 1, 1, 3, 0, 32},
    {"offset 1, stride 2", 2, 1, 1, 0, 32},
    {"backwards", 1, 1, 0, 1, 32},
    {"backwards, stride 2", 2, 1, 0, 1, 32},
    {"20 lanes", 1, 1, 0, 0, 20},
    {"8 lanes", 1, 1, 0, 0, 8},
    {"one lane", 1, 1, 0, 0, 1},
    {"20 lanes, stride 2", 2, 1, 0, 0, 20},
    {"two warps", 1, 1, 0, 0, 64},
    {"every 2 again", 1, 1, 0, 0, 32, 2},
    {"every 4 again", 1, 1, 0, 0, 32, 4},
    {"every 8 again", 1, 1, 0, 0, 32, 8},
    {"every 16 again", 1, 1, 0, 0, 32, 16},
    {"13 lanes, uniform", 0, 1, 0, 0, 13},
    {"13 lanes, pairs", 1, 2, 0, 0, 13},
};
static const int PATTERNS = sizeof patterns / sizeof *patterns;
static const int ELEMENTS = 33 * 64 + 8;

__device__ int target(struct pattern p)
{
    const int lane = threadIdx.x % 32;
    const int i = p.backwards ? 31 - lane : p.period ? lane % p.period : lane;
    return i / p.group * p.stride + p.offset;
}

// The values go on to where the compiler cannot drop them, in the plainest pattern.
template <class T> __global__ void global_load(struct pattern p, const T *in, T *out)
{
    out[threadIdx.x] = in[target(p)];
}

template <class T> __global__ void global_store(struct pattern p, T *out, T value)
{
    out[target(p)] = value;
}

template <class T> __global__ void shared_load(struct pattern p, T *out, T value)
{
    extern __shared__ char memory[];
    T *tile = (T *)memory;
    for (int i = threadIdx.x; i < ELEMENTS; i += blockDim.x) tile[i] = value;
    __syncthreads();
    out[threadIdx.x] = tile[target(p)];
}

template <class T> __global__ void shared_store(struct pattern p, T *out, T value)
{
    extern __shared__ char memory[];
    T *tile = (T *)memory;
    tile[target(p)] = value;
    __syncthreads();
    out[threadIdx.x] = tile[target(p)];
}

template <class T>
static void run(int place, const struct pattern *p, void *in, void *out, T value)
{
    const int shared = ELEMENTS * (int)sizeof(T);
    if (place == GLOBAL_LOAD)
        global_load<T><<<1, p->threads>>>(*p, (const T *)in, (T *)out);
    if (place == GLOBAL_STORE) global_store<T><<<1, p->threads>>>(*p, (T *)out, value);
    if (place == SHARED_LOAD) {
        cudaFuncSetAttribute(shared_load<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared);
        shared_load<T><<<1, p->threads, shared>>>(*p, (T *)out, value);
    }
    if (place == SHARED_STORE) {
        cudaFuncSetAttribute(shared_store<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared);
        shared_store<T><<<1, p->threads, shared>>>(*p, (T *)out, value);
    }
}

int main(int argc, char **argv)
{
    const int count = PLACES * 3 * PATTERNS;
    const bool list = argc > 1 && strcmp(argv[1], "list") == 0;
    const int only = argc > 1 && !list ? atoi(argv[1]) : -1;
    void *in = NULL, *out = NULL;
    if (!list) {
        cudaMalloc(&in, ELEMENTS * sizeof(float4));
        cudaMalloc(&out, ELEMENTS * sizeof(float4));
        cudaMemset(in, 0, ELEMENTS * sizeof(float4));
    }
    for (int i = 0; i < count; i++) {
        const int place = i / (3 * PATTERNS), width = i / PATTERNS % 3;
        const struct pattern *p = &patterns[i % PATTERNS];
        if (list) printf("%s, %d bytes, %s\n", place_names[place], 4 << width, p->name);
        if (list || (only >= 0 && i != only)) continue;
        if (width == 0) run(place, p, in, out, 1.0f);
        if (width == 1) run(place, p, in, out, make_float2(1.0f, 2.0f));
        if (width == 2) run(place, p, in, out, make_float4(1.0f, 2.0f, 3.0f, 4.0f));
    }
    cudaFree(in);
    cudaFree(out);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        return 1;
    }
    return 0;
}
