// Exercise 25: let the machine choose.
//
// Some candidates are compiled: the same kernel with other tiles. Which of them is the
// fastest on this machine? Whoever measures finds out. Whoever measures badly finds
// something.
#include "exercise.h"

// Returns the fastest of the candidates 0 ... count - 1. time_of(c) runs one and tells how
// long it took; a negative number says that it could not run.
int tune(int count, float (*time_of)(int candidate))
{
    int best = 0;
    float best_time = -1.0f; // negative: none so far
    for (int c = 0; c < count; ++c) {
        // BEGIN answer
        //- const float time = time_of(c);
        float time = time_of(c); // warms up, and tells whether it runs at all
        for (int run = 0; run < 5 && time >= 0.0f; ++run) {
            const float again = time_of(c);
            time = again < time ? again : time;
        }
        if (time < 0.0f)
            continue;
        // END answer
        if (best_time < 0.0f || time < best_time) {
            best_time = time;
            best = c;
        }
    }
    return best;
}
