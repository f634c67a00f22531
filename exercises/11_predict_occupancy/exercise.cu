// Exercise 11: how many blocks fit?
//
// Three kernels on two GPUs; the README has their numbers. Put your predictions where the
// zeros are. An expression is as good as a number, and shows how you got there.
#include "exercise.h"

void predict(int *answer)
{
    // BEGIN answer
    // Kernel A on an RTX A6000
    answer[0] = 0; // blocks on an SM, if only shared memory counted
    answer[1] = 0; // blocks on an SM, if only registers counted
    answer[2] = 0; // warps on an SM, everything counted
    // Kernel B on an H200
    answer[3] = 0; // blocks on an SM, if only registers counted
    answer[4] = 0; // warps on an SM, everything counted
    // Kernel C on an H200
    answer[5] = 0; // warps on an SM, everything counted
    // END answer
}
