// What threads do together: shuffles, votes, barriers.
#include "ptx.h"

static __device__ unsigned shuffle(int mode, unsigned x, unsigned b, unsigned c,
                                   unsigned *p)
{
    unsigned d = 0;
#define SHUFFLE(name)                                                                    \
    asm volatile("{.reg .pred p; shfl.sync." name ".b32 %0|p, %2, %3, %4, 0xffffffff;\n" \
                 "selp.u32 %1, 1, 0, p;}"                                                \
                 : "=r"(d), "=r"(*p)                                                     \
                 : "r"(x), "r"(b), "r"(c))
    if (mode == 0) SHUFFLE("up");
    if (mode == 1) SHUFFLE("down");
    if (mode == 2) SHUFFLE("bfly");
    if (mode == 3) SHUFFLE("idx");
    return d;
}

__global__ void warps(void)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned d, p, q;
    d = shuffle(0, lane, 3, 0, &p);
    IS(d, lane >= 3 ? lane - 3 : lane);
    IS(p, lane >= 3);
    d = shuffle(1, lane, 3, 0x1f, &p);
    IS(d, lane < 29 ? lane + 3 : lane);
    IS(p, lane < 29);
    d = shuffle(2, lane, 5, 0x1f, &p);
    IS(d, lane ^ 5);
    d = shuffle(3, lane, 2, 0x1807, &p); // groups of eight lanes
    IS(d, lane / 8 * 8 + 2);
    IS(p, 1);
    d = shuffle(1, lane, 3, 0x1807, &p);
    IS(d, lane % 8 < 5 ? lane + 3 : lane);
    IS(p, lane % 8 < 5);

    asm volatile("{.reg .pred p, q; setp.lt.u32 p, %2, 5;\n"
                 "vote.sync.ballot.b32 %0, p, 0xffffffff;\n"
                 "vote.sync.any.pred q, p, 0xffffffff; selp.u32 %1, 1, 0, q;\n"
                 "vote.sync.all.pred q, !p, 0xffffffff; @q add.u32 %1, %1, 2;\n"
                 "vote.sync.uni.pred q, q, 0xffffffff; @q add.u32 %1, %1, 4;}"
                 : "=r"(d), "=r"(p)
                 : "r"(lane));
    IS(d, 0x1f);
    IS(p, 5);
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(d) : "r"(lane / 4));
    IS(d, 0xfu << lane / 4 * 4);
    asm volatile("{.reg .pred p; match.all.sync.b64 %0|p, %2, 0xffffffff;\n"
                 "selp.u32 %1, 1, 0, p;}"
                 : "=r"(d), "=r"(p)
                 : "l"(7ull << 40));
    IS(d, 0xffffffff);
    IS(p, 1);
    asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(d) : "r"(lane));
    IS(d, 496);
    asm volatile("redux.sync.max.u32 %0, %1, %2;" : "=r"(d) : "r"(lane), "r"(0xffffffff));
    IS(d, 31);
    asm volatile("redux.sync.xor.b32 %0, %1, 0xffffffff;" : "=r"(d) : "r"(1u << lane));
    IS(d, 0xffffffff);
    asm volatile("{.reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p;}"
                 : "=r"(d), "=r"(p));
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0;\n"
                 "vote.sync.ballot.b32 %0, p, 0xffffffff;}"
                 : "=r"(q)
                 : "r"(p));
    IS(q & (q - 1), 0); // one leader, and all know it
    IS(q, 1u << d);
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}"
                 : "=r"(p));
    IS(p, lane == d); // the same again, though nobody asks who it is
    asm volatile("activemask.b32 %0;" : "=r"(d));
    IS(d, 0xffffffff);
    if (lane < 7) {
        asm volatile("activemask.b32 %0;" : "=r"(d));
        IS(d, 0x7f);
        asm volatile("{.reg .pred p; setp.eq.u32 p, 1, 1;\n"
                     "vote.sync.ballot.b32 %0, p, 0x7f; bar.warp.sync 0x7f;}"
                     : "=r"(d));
        IS(d, 0x7f);
    }
    __syncwarp();

    unsigned eq, lt, le, gt, ge;
    asm("mov.u32 %0, %%lanemask_eq; mov.u32 %1, %%lanemask_lt; mov.u32 %2, "
        "%%lanemask_le;\n"
        "mov.u32 %3, %%lanemask_gt; mov.u32 %4, %%lanemask_ge;"
        : "=r"(eq), "=r"(lt), "=r"(le), "=r"(gt), "=r"(ge));
    IS(eq, 1u << lane);
    IS(lt, (1u << lane) - 1);
    IS(le, lt | eq);
    IS(gt, ~le);
    IS(ge, ~lt);
    asm("mov.u32 %0, %%laneid; mov.u32 %1, %%nwarpid;" : "=r"(d), "=r"(p));
    IS(d, lane);
    IS(p >= blockDim.x / 32, 1);
}

// Two producer warps and two consumer warps hand a value over through named barriers.
__global__ void hand_over(void)
{
    __shared__ unsigned box[64];
    const unsigned warp = threadIdx.x / 32, t = threadIdx.x % 64;
    for (unsigned round = 0; round < 5; round++) {
        if (warp < 2) {
            asm volatile("bar.sync 1, 128;" ::: "memory"); // the box is empty
            box[t] = 100 * round + t;
            asm volatile("bar.arrive %0, %1;" ::"r"(2), "n"(128) : "memory");
        } else {
            asm volatile("barrier.cta.arrive.aligned 1, 128;" ::: "memory");
            asm volatile("barrier.sync 2, 128;" ::: "memory"); // it is full
            IS(box[63 - t], 100 * round + 63 - t);
            asm volatile("bar.sync 3, 64;" ::: "memory"); // both have read
        }
    }
    unsigned count, d;
    asm volatile("{.reg .pred p; setp.lt.u32 p, %1, 40; bar.red.popc.u32 %0, 4, p;}"
                 : "=r"(count)
                 : "r"(threadIdx.x));
    IS(count, 40);
    asm volatile("{.reg .pred p, q; setp.lt.u32 p, %1, 40; bar.red.and.pred q, 0, p;\n"
                 "selp.u32 %0, 1, 0, q; bar.red.or.pred q, 5, 128, p;\n"
                 "@q add.u32 %0, %0, 2;}"
                 : "=r"(d)
                 : "r"(threadIdx.x));
    IS(d, 2);
}

// Barriers count warps: the last one, of 16 threads, stands for 32.
__global__ void part_of_a_warp(void)
{
    __shared__ unsigned box[80];
    const unsigned t = threadIdx.x;
    unsigned count, all;
    box[t] = t;
    if (t >= 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        IS(box[32 + (t - 31) % 48], 32 + (t - 31) % 48);
        asm volatile("{.reg .pred p; setp.ge.u32 p, %2, 32;\n"
                     "bar.red.popc.u32 %0, 2, 64, p; bar.red.and.pred p, 3, 64, p;\n"
                     "selp.u32 %1, 1, 0, p;}"
                     : "=r"(count), "=r"(all)
                     : "r"(t));
        IS(count, 48);
        IS(all, 1);
    }
    asm volatile("bar.sync 4, 96; bar.sync 5;" ::: "memory");
    IS(box[79 - t], 79 - t);
}

int main(void)
{
    part_of_a_warp<<<1, 80>>>();
    warps<<<2, 64>>>();
    hand_over<<<1, 128>>>();
    return verdict();
}
