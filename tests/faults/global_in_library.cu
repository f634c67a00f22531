// A library's algorithm writes past the end of what another call of it has allocated: the
// line to blame is the reader's, not one of the library.
// EXPECT: out of bounds: a write of 4 bytes in global memory, 0 bytes past the end of
// EXPECT: the 200 bytes that a library allocated
// THREAD (0,0,0) BLOCK (0,0,0)
#include <thrust/device_vector.h>
#include <thrust/transform.h>

#include "fault.h"

struct twice {
    __host__ __device__ float operator()(float x) const
    {
        return 2 * x;
    }
};

int main(void)
{
#ifdef FIXED
    const int n = 50;
#else
    const int n = 51;
#endif
    thrust::device_vector<float> from(n, 1.0f), to(50);
    thrust::transform(from.begin(), from.end(), to.begin(), twice()); // FAULT
    if (to[49] != 2.0f) printf("to[49] is %g\n", (float)to[49]);
    return finish();
}
