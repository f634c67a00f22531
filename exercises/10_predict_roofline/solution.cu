// Exercise 10: which roof is lower?
//
// A GPU with 4,800 GB/s and 48,000 GFLOP/s; the README has the kernels. Put your
// predictions where the zeros are. An expression is as good as a number.
#include "exercise.h"

void predict(int *answer)
{
    // BEGIN answer
    //- answer[0] = 0; // the ridge: FLOP per byte
    //- // out[i] = a * x[i] + y[i]
    //- answer[1] = 0; // bytes moved per element
    //- answer[2] = 0; // GFLOP/s at most
    //- // The naive product, if every load went to memory
    //- answer[3] = 0; // bytes loaded for each multiply-add
    //- answer[4] = 0; // GFLOP/s at most
    //- // The product with tiles of 32 x 32, if every load went to memory
    //- answer[5] = 0; // GFLOP/s at most
    //- // Any product of 96 x 96 matrices, if every byte moves only once
    //- answer[6] = 0; // FLOP per byte
    //- // Square tiles
    //- answer[7] = 0; // the smallest width whose loads do not hold the arithmetic back
    answer[0] = 48000 / 4800;
    answer[1] = 3 * 4;             // x and y come, out goes
    answer[2] = 4800 * 2 / 12;     // two operations for 12 bytes
    answer[3] = 2 * 4;             // an element of A and one of B
    answer[4] = 4800 * 2 / 8;      // a multiply-add counts as two operations
    answer[5] = 4800 * 2 / 8 * 32; // each element that is loaded serves 32 results
    answer[6] = 2 * 96 / (3 * 4);  // 2 N^3 operations on 3 N^2 floats
    answer[7] = 10 * 8 / 2; // width times 2 FLOP for 8 bytes has to reach the ridge
    // END answer
}
