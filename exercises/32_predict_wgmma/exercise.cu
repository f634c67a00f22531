// Exercise 32: what fits beside a wgmma?
//
// The README has the kernel. Put your predictions where the zeros are. An expression is as
// good as a number, and shows how you got there.
#include "exercise.h"

void predict(int *answer)
{
    // BEGIN answer
    answer[0] = 0; // accumulators of a thread
    answer[1] = 0; // bytes of a stage
    answer[2] = 0; // stages that fit
    answer[3] = 0; // registers of a thread that multiplies
    answer[4] = 0; // clocks for one wgmma
    answer[5] = 0; // bytes per clock that it reads from shared memory
    answer[6] = 0; // the same for tiles of 64 x 128
    answer[7] = 0; // the place of cell 5 in row 11
    // END answer
}
