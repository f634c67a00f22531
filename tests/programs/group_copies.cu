// Cooperative groups: tiles larger than a warp, and memory that a group copies together.
// BUILD: -arch=sm_80
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>

#include "check.h"

// NVIDIA's barrier has a constructor; init() does its work.
#ifndef __CUDA_EMULATED__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

namespace cg = cooperative_groups;

enum { THREADS = 256, TILE = 64, CHUNK = 128 };

__global__ void wide_tiles(int *sums, int *first, int *votes)
{
    __shared__ cg::block_tile_memory<THREADS> memory;
    const cg::thread_block block = cg::this_thread_block(memory);
    const auto tile = cg::tiled_partition<TILE>(block);
    const auto half = cg::tiled_partition<2 * TILE>(block);
    const int i = (int)block.thread_rank();

    // Only the tile's own threads meet: the last tile is here once more often.
    for (unsigned turn = 0; turn <= tile.meta_group_rank(); turn++) tile.sync();
    const int sum = cg::reduce(tile, i, cg::plus<int>());
    sums[i] = sum + 100000 * cg::reduce(half, (int)(i % 7), cg::greater<int>());
    first[i] = tile.shfl(i, 5) + (int)(1000 * tile.meta_group_size());
    votes[i] = tile.any(i == 70) + 2 * tile.all(i < 128);
}

// Two chunks are under way while one is read.
__global__ void copies(const float *from, float *to, int chunks)
{
    __shared__ __align__(16) float room[3][CHUNK];
    const cg::thread_block block = cg::this_thread_block();
    const unsigned i = block.thread_rank();

    for (int c = 0; c < 2; c++)
        cg::memcpy_async(block, room[c], from + c * CHUNK, sizeof(float) * CHUNK);
    for (int c = 0; c < chunks; c++) {
        if (c + 1 < chunks)
            cg::wait_prior<1>(block);
        else
            cg::wait(block);
        if (i < CHUNK) to[c * CHUNK + i] = 2.0f * room[c % 3][CHUNK - 1 - i];
        if (c + 2 < chunks)
            cg::memcpy_async(block, room[(c + 2) % 3], CHUNK, from + (c + 2) * CHUNK,
                             2 * CHUNK);
    }
}

// The arrays are not declared to be aligned to more than a float.
__global__ void unaligned_copies(const float *from, float *to)
{
    __shared__ float first[CHUNK], second[CHUNK];
    __shared__ cuda::barrier<cuda::thread_scope_block> came;
    const cg::thread_block block = cg::this_thread_block();
    const unsigned i = block.thread_rank();
    if (i == 0) init(&came, blockDim.x);
    block.sync();
    cg::memcpy_async(block, first, from, sizeof first);
    cuda::memcpy_async(block, second, from + CHUNK, sizeof second, came);
    came.arrive_and_wait();
    cg::wait(block);
    if (i < CHUNK) to[i] = first[CHUNK - 1 - i] - second[CHUNK - 1 - i];
}

int main()
{
    int *sums, *first, *votes;
    CHECK(cudaMallocManaged(&sums, THREADS * sizeof *sums));
    CHECK(cudaMallocManaged(&first, THREADS * sizeof *first));
    CHECK(cudaMallocManaged(&votes, THREADS * sizeof *votes));
    wide_tiles<<<1, THREADS>>>(sums, first, votes);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++) {
        const int tile = i / TILE;
        EXPECT(sums[i] == TILE * (tile * TILE) + TILE * (TILE - 1) / 2 + 600000);
        EXPECT(first[i] == tile * TILE + 5 + 4000);
        EXPECT(votes[i] == (tile == 1) + 2 * (tile < 2));
    }

    enum { CHUNKS = 5, N = CHUNKS * CHUNK };
    float *from, *to;
    CHECK(cudaMallocManaged(&from, N * sizeof *from));
    CHECK(cudaMallocManaged(&to, N * sizeof *to));
    for (int i = 0; i < N; i++) from[i] = noise((unsigned)i);
    copies<<<1, THREADS>>>(from, to, CHUNKS);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        EXPECT(to[i] == 2.0f * from[i / CHUNK * CHUNK + CHUNK - 1 - i % CHUNK]);
    unaligned_copies<<<1, THREADS>>>(from, to);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < CHUNK; i++)
        EXPECT(to[i] == from[CHUNK - 1 - i] - from[2 * CHUNK - 1 - i]);

    CHECK(cudaFree(sums));
    CHECK(cudaFree(first));
    CHECK(cudaFree(votes));
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return pass();
}
