// EXERCISE 1 EXPECT A fault
// Arguments of a launch that would cover all memory, for kernels to read.
#include "exercise.h"

void axpy(int, float, const float *, const float *, float *)
{
    static emu_launch launch = {"kernel", nullptr, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0, nullptr,
                                nullptr, (size_t)1 << 47};
    emu_launch_kernel(&launch);
}
