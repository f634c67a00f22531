// One rule of the memory system a kernel. The comment over each says what the lens has to count: a line for
// each kind of access, and nothing else may be there. tests/test_lens.py reads these lines.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

const int SIZE = 4096;

// The second warp has 13 lanes: they fill a sector and five eighths of the next.
// LENS: global load requests=2 lanes=45 sectors=6 ideal_sectors=6 bytes_used=180
// LENS: global store requests=2 lanes=45 sectors=6 ideal_sectors=6 bytes_used=180
__global__ void partial_warp(const float *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x];
}

// Warps follow threadIdx.x first: a block of 8 x 8 has two warps of four rows each.
// LENS: global store requests=2 lanes=64 sectors=8 ideal_sectors=8 bytes_used=256
__global__ void square_block(const float *, float *out)
{
    out[threadIdx.y * 8 + threadIdx.x] = 1.0f;
}

// 33 threads a row: lanes go round the corner, and the two warps' halves meet in one row.
// LENS: global store requests=3 lanes=66 sectors=66 ideal_sectors=9 bytes_used=264
__global__ void rows_of_33(const float *, float *out)
{
    out[threadIdx.x * 64 + threadIdx.y * 32] = 1.0f;
}

// Two branches are two requests, each with its own half of the lanes: 16 floats two apart, 16 float2 side by side.
// LENS: global load requests=1 lanes=16 sectors=4 ideal_sectors=2 bytes_used=64
// LENS: global store requests=2 lanes=32 sectors=8 ideal_sectors=6 bytes_used=192
__global__ void two_branches(const float *in, float *out)
{
    if (threadIdx.x % 2)
        out[threadIdx.x] = in[threadIdx.x];
    else
        ((float2 *)out)[32 + threadIdx.x / 2] = make_float2(1.0f, 2.0f);
}

// Lane i makes i turns: turn k is made by the lanes from k + 1 on, together. So 7 turns touch 4 sectors,
// 8 touch 3, 8 touch 2 and 8 touch 1.
// LENS: global load requests=31 lanes=496 sectors=76 ideal_sectors=76 bytes_used=1984
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void triangle(const float *in, float *out)
{
    float sum = 0.0f;
    for (int k = 0; k < (int)threadIdx.x; k++) sum += in[threadIdx.x + 32 * k];
    out[threadIdx.x] = sum;
}

// Each turn is skipped by half of the lanes, by others every time: 64 requests of 16 lanes, not 32 of 32.
// LENS: global load requests=64 lanes=1024 sectors=256 ideal_sectors=128 bytes_used=4096
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void skipped_turns(const float *in, float *out)
{
    float sum = 0.0f;
    for (int k = 0; k < 64; k++)
        if ((k ^ threadIdx.x) & 1) sum += in[threadIdx.x + 32 * k];
    out[threadIdx.x] = sum;
}

// After a branch the warp is whole again.
// LENS: global load requests=2 lanes=36 sectors=5 ideal_sectors=5 bytes_used=144
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void together_again(const float *in, float *out)
{
    float value = in[threadIdx.x];
    if (threadIdx.x >= 24 && threadIdx.x < 28) value += in[threadIdx.x + 1000];
    out[threadIdx.x] = value;
}

// One address for all is one sector, of which four bytes are used.
// LENS: global load requests=1 lanes=32 sectors=1 ideal_sectors=1 bytes_used=4
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void global_broadcast(const float *in, float *out)
{
    out[threadIdx.x] = in[7];
}

// A row that begins in the middle of a sector costs one more.
// LENS: global load requests=1 lanes=32 sectors=5 ideal_sectors=4 bytes_used=128
// LENS: global store requests=1 lanes=32 sectors=5 ideal_sectors=4 bytes_used=128
__global__ void misaligned(const float *in, float *out)
{
    out[threadIdx.x + 3] = in[threadIdx.x + 7];
}

// 2, 8 and 33 floats apart: 8 sectors half used, 32 sectors, 32 sectors.
// LENS: global load requests=3 lanes=96 sectors=72 ideal_sectors=12 bytes_used=384
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void strides(const float *in, float *out)
{
    out[threadIdx.x] = in[2 * threadIdx.x] + in[8 * threadIdx.x] + in[33 * threadIdx.x];
}

// The order of lanes is nothing to memory.
// LENS: global load requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void backwards(const float *in, float *out)
{
    out[31 - threadIdx.x] = in[threadIdx.x * 5 % 32];
}

// 16 bytes a lane: one request of 16 sectors.
// LENS: global load requests=1 lanes=32 sectors=16 ideal_sectors=16 bytes_used=512
// LENS: global store requests=1 lanes=32 sectors=16 ideal_sectors=16 bytes_used=512
__global__ void wide(const float *in, float *out)
{
    ((float4 *)out)[threadIdx.x] = ((const float4 *)in)[threadIdx.x];
}

// One byte a lane: one sector for all.
// LENS: global load requests=1 lanes=32 sectors=1 ideal_sectors=1 bytes_used=32
// LENS: global store requests=1 lanes=32 sectors=1 ideal_sectors=1 bytes_used=32
__global__ void narrow(const float *in, float *out)
{
    ((char *)out)[threadIdx.x] = ((const char *)in)[threadIdx.x];
}

// Shared memory: neighbours, 2 apart (two lanes a bank), 32 apart (all in one bank), 33 apart (padding).
// LENS: shared store requests=33 lanes=1056 wavefronts=33 ideal_wavefronts=33 conflicts=0
// LENS: shared load requests=4 lanes=128 wavefronts=36 ideal_wavefronts=4 conflicts=32
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void bank_strides(const float *, float *out)
{
    __shared__ float tile[33 * 32];
    const int lane = threadIdx.x;
    for (int i = 0; i < 33; i++) tile[lane + 32 * i] = 1.0f;
    __syncwarp();
    out[lane] = tile[lane] + tile[2 * lane] + tile[32 * lane] + tile[33 * lane];
}

// As joined. Four words side by side are one load of 16 bytes in 4 wavefronts. Three are two loads, of 8 and
// of 4 bytes, whose lanes lie 16 bytes apart: 4 wavefronts each. From 4 bytes behind a multiple of 16 on, three
// are a load of 4 bytes and one of 8. Two rows, read in turns, are joined each for itself; what is loaded again
// is in a register already; a barrier parts them all.
// LENS: shared store requests=5 lanes=160 wavefronts=5 ideal_wavefronts=5 conflicts=0
// LENS: shared load requests=23 lanes=736 wavefronts=92 ideal_wavefronts=23 conflicts=69 joined_requests=9 joined_wavefronts=36 joined_conflicts=15
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128 lookups=1
__global__ void joined(const float *, float *out)
{
    __shared__ __align__(16) float tile[160];
    const volatile float *mine = tile + threadIdx.x * 4;
    const int lane = threadIdx.x;
    for (int i = 0; i < 5; i++) tile[lane + 32 * i] = 1.0f;
    __syncthreads();
    float sum = mine[0] + mine[1] + mine[2] + mine[3];
    __syncthreads();
    sum += mine[0] + mine[1] + mine[2];
    __syncthreads();
    sum += mine[1] + mine[2] + mine[3];
    __syncthreads();
    sum += mine[2] + mine[3];
    __syncthreads();
    for (int i = 0; i < 4; i++) sum += mine[i] * mine[16 + i];
    __syncthreads();
    out[lane] = sum + mine[0] + mine[0] + mine[0];
}

// One word for all is one wavefront; one float4 for all is two, one for each half of the warp.
// LENS: shared store requests=1 lanes=32 wavefronts=1 ideal_wavefronts=1 conflicts=0
// LENS: shared load requests=2 lanes=64 wavefronts=3 ideal_wavefronts=3 conflicts=0
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void shared_broadcast(const float *, float *out)
{
    __shared__ __align__(16) float tile[32];
    tile[threadIdx.x] = 1.0f;
    __syncwarp();
    const float4 four = *(const float4 *)&tile[8];
    out[threadIdx.x] = tile[5] + four.x + four.y + four.z + four.w;
}

// 16 bytes a lane without conflicts: four wavefronts a request. 32 bytes apart, every second group of
// four banks is idle: eight.
// LENS: shared store requests=2 lanes=64 wavefronts=12 ideal_wavefronts=8 conflicts=4
// LENS: shared load requests=2 lanes=64 wavefronts=12 ideal_wavefronts=8 conflicts=4
// LENS: global store requests=1 lanes=32 sectors=16 ideal_sectors=16 bytes_used=512
__global__ void shared_wide(const float *, float *out)
{
    __shared__ float4 tile[64];
    const float4 value = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    tile[threadIdx.x] = value;
    __syncwarp();
    tile[2 * threadIdx.x] = value;
    __syncwarp();
    const float4 a = tile[threadIdx.x];
    const float4 b = tile[2 * threadIdx.x];
    ((float4 *)out)[threadIdx.x] =
        make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// Atomics are a class of their own. All lanes on one word, then each on its own.
// LENS: shared store requests=1 lanes=1 wavefronts=1 ideal_wavefronts=1 conflicts=0
// LENS: shared atomic requests=1 lanes=32 wavefronts=1 ideal_wavefronts=1 conflicts=0
// LENS: global atomic requests=2 lanes=64 sectors=5 ideal_sectors=5 bytes_used=132
__global__ void atomics(const float *, float *out)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncwarp();
    atomicAdd(&count, 1);
    atomicAdd((int *)out, 1);
    atomicAdd((int *)out + 32 + threadIdx.x, 1);
}

// cp.async reads global memory and writes shared memory, and is neither a load nor a store.
// LENS: async copy, read requests=1 lanes=32 sectors=16 ideal_sectors=16 bytes_used=512
// LENS: async copy, write requests=1 lanes=32 wavefronts=4 ideal_wavefronts=4 conflicts=0
// LENS: shared load requests=1 lanes=32 wavefronts=4 ideal_wavefronts=4 conflicts=0
// LENS: global store requests=1 lanes=32 sectors=16 ideal_sectors=16 bytes_used=512
__global__ void async_copy(const float *in, float *out)
{
    __shared__ float4 tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &((const float4 *)in)[threadIdx.x],
                            sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    ((float4 *)out)[threadIdx.x] = tile[threadIdx.x];
}

// Where the last lanes copy nothing and fill with zeros, they read nothing.
// LENS: async copy, read requests=1 lanes=20 sectors=3 ideal_sectors=3 bytes_used=80
// LENS: async copy, write requests=1 lanes=32 wavefronts=1 ideal_wavefronts=1 conflicts=0
// LENS: shared load requests=1 lanes=32 wavefronts=1 ideal_wavefronts=1 conflicts=0
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void async_zeros(const float *in, float *out)
{
    __shared__ float tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4,
                            threadIdx.x < 20 ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[threadIdx.x];
}

// A transposed read of a tile and of a padded one.
// LENS: shared store requests=64 lanes=2048 wavefronts=64 ideal_wavefronts=64 conflicts=0
// LENS: shared load requests=64 lanes=2048 wavefronts=1056 ideal_wavefronts=64 conflicts=992
// LENS: global store requests=32 lanes=1024 sectors=128 ideal_sectors=128 bytes_used=4096
__global__ void transposes(const float *, float *out)
{
    __shared__ float plain[32][32], padded[32][33];
    plain[threadIdx.y][threadIdx.x] = 1.0f;
    padded[threadIdx.y][threadIdx.x] = 2.0f;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] =
        plain[threadIdx.x][threadIdx.y] + padded[threadIdx.x][threadIdx.y];
}

// A struct that no instruction moves at once goes word by word: each word in its own request.
// LENS: global load requests=3 lanes=96 sectors=36 ideal_sectors=12 bytes_used=384
// LENS: global store requests=3 lanes=96 sectors=36 ideal_sectors=12 bytes_used=384
__global__ void structs(const float *in, float *out)
{
    ((float3 *)out)[threadIdx.x] = ((const float3 *)in)[threadIdx.x];
}

struct __attribute__((packed)) odd {
    char first;
    int value;
};

// A packed int lies at any byte. Whatever one lane's address happens to be, it takes four loads of a byte.
// LENS: global load requests=4 lanes=128 sectors=20 ideal_sectors=4 bytes_used=128
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void unaligned(const float *in, float *out)
{
    ((int *)out)[threadIdx.x] = ((const odd *)in)[threadIdx.x].value;
}

__constant__ float table[32];

// Constant memory has a cache of its own, with neither sectors nor lines of the L1.
// LENS: constant load requests=2 lanes=64 bytes_used=132
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void constants(const float *, float *out)
{
    out[threadIdx.x] = table[3] + table[threadIdx.x];
}

// Four words from a multiple of 16 bytes on are one load of 16 bytes, in whatever order they are asked for.
// LENS: shared store requests=4 lanes=128 wavefronts=4 ideal_wavefronts=4 conflicts=0
// LENS: shared load requests=4 lanes=128 wavefronts=16 ideal_wavefronts=4 conflicts=12 joined_requests=1 joined_wavefronts=4 joined_conflicts=0
// LENS: global store requests=1 lanes=32 sectors=4 ideal_sectors=4 bytes_used=128
__global__ void joined_backwards(const float *, float *out)
{
    __shared__ __align__(16) float s[128];
    for (int i = 0; i < 4; i++) s[32 * i + threadIdx.x] = 1.0f;
    __syncthreads();
    float x = s[4 * threadIdx.x + 3];
    x = x * 2.0f + s[4 * threadIdx.x + 2];
    x = x * 2.0f + s[4 * threadIdx.x + 1];
    out[threadIdx.x] = x * 2.0f + s[4 * threadIdx.x];
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, SIZE * sizeof *in);
    cudaMalloc(&out, SIZE * sizeof *out);
    cudaMemset(in, 0, SIZE * sizeof *in);
    cudaMemset(out, 0, SIZE * sizeof *out);
    partial_warp<<<1, 45>>>(in, out);
    square_block<<<1, dim3(8, 8)>>>(in, out);
    rows_of_33<<<1, dim3(33, 2)>>>(in, out);
    two_branches<<<1, 32>>>(in, out);
    triangle<<<1, 32>>>(in, out);
    skipped_turns<<<1, 32>>>(in, out);
    together_again<<<1, 32>>>(in, out);
    global_broadcast<<<1, 32>>>(in, out);
    misaligned<<<1, 32>>>(in, out);
    strides<<<1, 32>>>(in, out);
    backwards<<<1, 32>>>(in, out);
    wide<<<1, 32>>>(in, out);
    narrow<<<1, 32>>>(in, out);
    bank_strides<<<1, 32>>>(in, out);
    joined<<<1, 32>>>(in, out);
    shared_broadcast<<<1, 32>>>(in, out);
    shared_wide<<<1, 32>>>(in, out);
    atomics<<<1, 32>>>(in, out);
    async_copy<<<1, 32>>>(in, out);
    async_zeros<<<1, 32>>>(in, out);
    transposes<<<1, dim3(32, 32)>>>(in, out);
    structs<<<1, 32>>>(in, out);
    unaligned<<<1, 32>>>(in, out);
    constants<<<1, 32>>>(in, out);
    joined_backwards<<<1, 32>>>(in, out);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
    cudaFree(in);
    cudaFree(out);
    return error != cudaSuccess;
}
