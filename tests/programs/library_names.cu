// What nvcc's own headers bring of C++'s library, without a word of the program.
// BUILD: --expt-relaxed-constexpr -std=c++17
#include "check.h"

__global__ void clamp(int *p, int low, int high)
{
    const int i = threadIdx.x;
    p[i] = std::min(std::max(i, low), high);
}

int main(void)
{
    int *p, h[8], at_most = std::numeric_limits<int>::max();
    CHECK(cudaMalloc(&p, sizeof h));
    clamp<<<1, 8>>>(p, 2, std::min(5, at_most));
    CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
    std::swap(h[0], h[7]);
    const std::pair<int, int> ends(h[0], h[7]);
    EXPECT(ends.first == 5 && ends.second == 2 && h[3] == 3);
    EXPECT(std::abs(-2.5f) == 2.5f && std::hypot(3.0, 4.0, 12.0) == 13.0);
    CHECK(cudaFree(p));
    return pass();
}
