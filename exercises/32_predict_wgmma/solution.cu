// Exercise 32: what fits beside a wgmma?
//
// The README has the kernel. Put your predictions where the zeros are. An expression is as
// good as a number, and shows how you got there.
#include "exercise.h"

void predict(int *answer)
{
    // BEGIN answer
    //- answer[0] = 0; // accumulators of a thread
    //- answer[1] = 0; // bytes of a stage
    //- answer[2] = 0; // stages that fit
    //- answer[3] = 0; // registers of a thread that multiplies
    //- answer[4] = 0; // clocks for one wgmma
    //- answer[5] = 0; // bytes per clock that it reads from shared memory
    //- answer[6] = 0; // the same for tiles of 64 x 128
    //- answer[7] = 0; // the place of cell 5 in row 11
    // 64 x 256 sums, dealt out to the 128 threads of the warpgroup.
    answer[0] = 64 * 256 / 128;
    // A has 128 rows and B 256 columns, with 64 steps of k each, of 2 bytes.
    answer[1] = (128 + 256) * 64 * 2;
    answer[2] = 232448 / answer[1];
    // 168 each at first. Whole multiples of 8 of what 128 threads with 40 leave over.
    answer[3] = (168 * 384 - 128 * 40) / 256 / 8 * 8;
    answer[4] = 64 * 256 * 16 / 2048;
    // 64 rows of A and 256 columns of B, 16 steps of k of 2 bytes.
    answer[5] = (64 + 256) * 16 * 2 / answer[4];
    answer[6] = (64 + 128) * 16 * 2 / (answer[4] / 2);
    answer[7] = 5 ^ 11 % 8;
    // END answer
}
