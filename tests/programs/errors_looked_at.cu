// What a call returns may be looked at, or not, in more ways than one.
#include <cstdio>

namespace mine
{
int calls;
void cudaMemcpy2D(int)
{
    calls++;
}
void twice(void)
{
    cudaMemcpy2D(1);
    for (int i = 0; i < 1; i++) cudaMemcpy2D(2);
}
} // namespace mine

#define TRY(call)                                                                        \
    ({                                                                                   \
        cudaError_t error_ = (call);                                                     \
        error_;                                                                          \
    })

int main(void)
{
    int *p, *q[2], *none;
    cudaError_t error = ({ cudaMalloc(&p, sizeof *p); });
    if (error != cudaSuccess) return 1;
    for (int i = 0; i < 2; i++) cudaMalloc(&q[i], sizeof *q[i]);
    if (p) cudaMemset(p, 0, sizeof *p);
    switch (mine::calls) {
    case 0: cudaMemset(q[0], 0, sizeof *p); break;
    default: cudaMemset(q[1], 0, sizeof *p);
    }
    do cudaMemset(q[1], 0, sizeof *p);
    while (!p);
    error = p ? cudaMemset(q[0], 0, 1) : cudaMemset(q[1], 0, 1);
    if (TRY(cudaMalloc(&none, (size_t)1 << 60)) != cudaErrorMemoryAllocation) return 2;
    mine::twice();
    cudaFree(p);
    cudaFree(q[0]);
    cudaFree(q[1]);
    if (error != cudaSuccess || mine::calls != 2) return 3;
    puts("PASS");
    return 0;
}
