// A kernel is called through a pointer, as if it were a function. The compiler takes that, and
// on a GPU nothing runs.
// EXPECT: kernel answer is called like a function
#include "fault.h"

__global__ void answer(int *out)
{
    *out = 42;
}

// By the name of the pointer no compiler can tell what it points to.
static void run(void (*kernel)(int *), int *out)
{
#ifdef FIXED
    kernel<<<1, 1>>>(out);
#else
    kernel(out); // FAULT
#endif
}

int main(int argc, char **)
{
    int *out, value = 0;
    cudaMalloc(&out, sizeof *out);
    void (*volatile kernel)(int *) = argc ? answer : nullptr;
    run(kernel, out);
    const int status = finish();
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return value == 42 ? status : 4;
}
