// Exercise 4: what does memory see?
//
// Eight accesses of one warp; the README has them. Predict how many sectors of 32 bytes,
// or how many wavefronts, each of them costs. An expression is as good as a number.
#include "exercise.h"

void predict(int *answer)
{
    // BEGIN answer
    // Global memory: sectors
    answer[0] = 0; // x[lane]
    answer[1] = 0; // x[lane + 1]
    answer[2] = 0; // x[3 * lane]
    answer[3] = 0; // x[lane / 4 * 100]
    // Shared memory: wavefronts
    answer[4] = 0; // s[2 * lane]
    answer[5] = 0; // s[33 * lane]
    answer[6] = 0; // s[lane / 8 * 32 + lane % 8]
    answer[7] = 0; // s4[lane], 16 bytes a lane
    // END answer
}
