// Exercise 21: read a profile.
//
// The README shows five kernels as a profiler saw them. Put your answers where the zeros
// are. An expression is as good as a number.
#include "exercise.h"

// What a warp waits for.
enum { GLOBAL_QUEUE = 1, GLOBAL_DATA, SHARED_QUEUE, SHARED_DATA, BARRIER, ITS_TURN };
// Kernels.
enum { A = 1, B, C, D, E };

void predict(int *answer)
{
    // BEGIN answer
    //- answer[0] = 0; // of 100 instructions of B, how many are multiply-adds?
    //- answer[1] = 0; // and of D?
    //- answer[2] = 0; // how many times as long as B does A take?
    //- answer[3] = 0; // what does a warp of A wait for most? GLOBAL_QUEUE, ...
    //- answer[4] = 0; // what does a warp of C wait for most?
    //- answer[5] = 0; // how long does C take, in per cent of B's time?
    //- answer[6] = 0; // which kernel is the fastest? A, B, C, D or E
    //- // E has 8 warps on a multiprocessor, of 64.
    //- answer[7] = 0; // by how many per cent at most can more warps make it faster?
    answer[0] = 100 * 2148 / 14142;
    answer[1] = 100 * 2148 / 2567;
    answer[2] = 653 / 49; // the same instructions, so only the rate counts
    answer[3] = GLOBAL_QUEUE;
    answer[4] = SHARED_QUEUE;
    answer[5] = (int)(100 * (6017 / 38.5) / (14142 / 65.3));
    answer[6] = E; // the fewest instructions at the highest rate
    answer[7] = (int)(100 / 87.7 * 100) - 100; // no scheduler issues in more than 100 %
    // END answer
}
