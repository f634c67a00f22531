// Exercise 11: how many blocks fit?
//
// Three kernels on two GPUs; the README has their numbers. Put your predictions where the
// zeros are. An expression is as good as a number, and shows how you got there.
#include "exercise.h"

void predict(int *answer)
{
    // BEGIN answer
    //- // Kernel A on an RTX A6000
    //- answer[0] = 0; // blocks on an SM, if only shared memory counted
    //- answer[1] = 0; // blocks on an SM, if only registers counted
    //- answer[2] = 0; // warps on an SM, everything counted
    //- // Kernel B on an H200
    //- answer[3] = 0; // blocks on an SM, if only registers counted
    //- answer[4] = 0; // warps on an SM, everything counted
    //- // Kernel C on an H200
    //- answer[5] = 0; // warps on an SM, everything counted
    // Kernel A. The system takes 1 KB in every block.
    answer[0] = 100 * 1024 / (8 * 1024 + 1024);
    // 37 registers for 32 lanes are 1,184, rounded up to a multiple of 256: 1,280 a warp.
    // A quarter of an SM has 16,384, enough for 12 such warps; a block has 32 warps.
    answer[1] = 16384 / 1280 * 4 / 32;
    // The registers and 1,536 threads allow one block each.
    answer[2] = 1 * 32;
    // Kernel B. 96 * 32 = 3,072 is a multiple of 256 already; a block has 8 warps.
    answer[3] = 16384 / 3072 * 4 / 8;
    // Shared memory would allow 228 KB / 34 KB, the threads 2048 / 256: registers decide.
    answer[4] = 2 * 8;
    // Kernel C. Threads would allow 2048 / 32 blocks, but an SM takes 32 blocks at most.
    answer[5] = 32 * 1;
    // END answer
}
