// EXERCISE 1 EXPECT `lens_kernels` is called
// The lens's counts, by the name that the lens has for them.
#include "exercise.h"

extern "C" struct lens_kernel *lens_kernels;

void axpy(int, float, const float *, const float *, float *)
{
    lens_kernels = nullptr;
}
