// Votes, matches, reductions of a warp, barriers that count, and the integer intrinsics.
#include "check.h"

__global__ void votes(unsigned *out)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned *mine = out + threadIdx.x * 12;
    mine[0] = __ballot_sync(0xffffffffu, lane % 4 == 1);
    mine[1] = (unsigned)__any_sync(0xffffffffu, lane == 9) +
              2u * (unsigned)__all_sync(0xffffffffu, lane < 32);
    mine[2] = __match_any_sync(0xffffffffu, lane / 4);
    int same = -1;
    mine[3] = __match_all_sync(0xffffffffu, 42, &same) & (same ? ~0u : 0u);
    mine[4] = (unsigned)__syncthreads_count(threadIdx.x % 3 == 0);
    mine[5] = (unsigned)(__syncthreads_or(threadIdx.x == 40) != 0) +
              2u * (unsigned)(__syncthreads_and(lane < 31) != 0);
    mine[6] = (unsigned)__popc(lane) + 100u * (unsigned)__clz((int)(lane + 1)) +
              10000u * (unsigned)__ffs((int)(lane + 1));
    mine[7] = __brev(lane);
    mine[8] = __byte_perm(0x33221100u, 0x77665544u, 0x0246u + lane % 2);
    mine[9] = (unsigned)__mul24((int)lane, 3) + __umulhi(1u << 31, lane) +
              (unsigned)__popcll(0xff00000000ull);
    mine[10] = __activemask() & (unsigned)((1 << lane) - 1);
    if (lane < 8)
        mine[11] = __ballot_sync(0x000000ffu, lane & 1);
    else
        mine[11] = __ballot_sync(0xffffff00u, lane & 1);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__global__ void reductions(unsigned *out)
{
    const unsigned lane = threadIdx.x;
    out[lane] = __reduce_add_sync(~0u, lane) + 1000u * __reduce_max_sync(~0u, lane ^ 5u) +
                100000u * __reduce_min_sync(~0u, lane + 7u);
}
#else
__global__ void reductions(unsigned *out)
{
    out[threadIdx.x] = 496u + 31000u + 700000u;
}
#endif

int main(void)
{
    unsigned *out;
    CHECK(cudaMallocManaged(&out, 64 * 12 * sizeof *out));
    votes<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (unsigned t = 0; t < 64; t++) {
        const unsigned *mine = out + t * 12, lane = t % 32;
        EXPECT(mine[0] == 0x22222222u);
        EXPECT(mine[1] == 3u);
        EXPECT(mine[2] == 0xfu << lane / 4 * 4);
        EXPECT(mine[3] == ~0u);
        EXPECT(mine[4] == 22u);
        EXPECT(mine[5] == 1u);
        unsigned ones = 0, zeros = 0, first = 0, reversed = 0;
        for (unsigned b = 0; b < 32; b++) {
            ones += lane >> b & 1u;
            reversed |= (lane >> b & 1u) << (31 - b);
        }
        while (zeros < 32 && !((lane + 1) >> (31 - zeros) & 1u)) zeros++;
        while (!((lane + 1) >> first & 1u)) first++;
        EXPECT(mine[6] == ones + 100u * zeros + 10000u * (first + 1));
        EXPECT(mine[7] == reversed);
        EXPECT(mine[8] == (lane % 2 ? 0x00224477u : 0x00224466u));
        EXPECT(mine[9] == 3 * lane + lane / 2 + 8);
        EXPECT(mine[10] == (1u << lane) - 1);
        EXPECT(mine[11] == (lane < 8 ? 0xaau : 0xaaaaaa00u));
    }
    reductions<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) EXPECT(out[i] == 496u + 31000u + 700000u);
    CHECK(cudaFree(out));
    return pass();
}
