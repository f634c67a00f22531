// Exercise 4: what does memory see?
//
// Eight accesses of one warp; the README has them. Predict how many sectors of 32 bytes,
// or how many wavefronts, each of them costs. An expression is as good as a number.
#include "exercise.h"

void predict(int *answer)
{
    // BEGIN answer
    //- // Global memory: sectors
    //- answer[0] = 0; // x[lane]
    //- answer[1] = 0; // x[lane + 1]
    //- answer[2] = 0; // x[3 * lane]
    //- answer[3] = 0; // x[lane / 4 * 100]
    //- // Shared memory: wavefronts
    //- answer[4] = 0; // s[2 * lane]
    //- answer[5] = 0; // s[33 * lane]
    //- answer[6] = 0; // s[lane / 8 * 32 + lane % 8]
    //- answer[7] = 0; // s4[lane], 16 bytes a lane
    answer[0] = 32 * 4 / 32;               // 128 bytes side by side
    answer[1] = 32 * 4 / 32 + 1;           // the same 128 bytes, across five sectors
    answer[2] = (3 * 31 + 1) * 4 / 32 + 1; // 376 bytes, no sector of them left out
    answer[3] = 32 / 4;                    // eight places, each in a sector of its own
    answer[4] = 2;                         // lanes 0 and 16 meet in bank 0
    answer[5] = 1;                         // 33 * lane % 32 = lane
    answer[6] = 32 / 8;                    // four rows, and each uses banks 0 to 7
    answer[7] = 32 * 16 / (32 * 4); // 512 bytes through doors of 128 bytes together
    // END answer
}
