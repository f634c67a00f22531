// An object passed to a kernel by value is copied once, by the host, which destroys the copy;
// the threads get its bytes. Its type may come from a template, or be launched by address.
#include "check.h"

static int copies, destroyed;

struct Counter {
    int *value;
    int step;
    explicit Counter(int by) : value(nullptr), step(by)
    {
        cudaMalloc(&value, sizeof *value);
        cudaMemset(value, 0, sizeof *value);
    }
    Counter(const Counter &other) : value(other.value), step(other.step)
    {
        copies++;
    }
    ~Counter()
    {
        destroyed++;
    }
    __device__ void count()
    {
        atomicAdd(value, step);
        step = 1000; /* each thread has an object of its own */
    }
};

__global__ void count(int, Counter counter, double)
{
    counter.count();
}

template <int N> __global__ void count_more(Counter counter)
{
    for (int i = 0; i < N; i++)
        if (threadIdx.x % N == (unsigned)i) counter.count();
}

static int value_of(const Counter &counter)
{
    int value;
    CHECK(cudaMemcpy(&value, counter.value, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

int main()
{
    Counter counter(2);
    count<<<3, 64>>>(1, counter, 2.0);
    CHECK(cudaGetLastError());
    EXPECT(copies == 1 && destroyed == 1);
    EXPECT(value_of(counter) == 3 * 64 * 2);
    count_more<4><<<1, 64>>>(counter);
    CHECK(cudaGetLastError());
    EXPECT(copies == 2 && destroyed == 2);
    EXPECT(value_of(counter) == 4 * 64 * 2);
    int one = 1;
    double two = 2.0;
    void *arguments[] = {&one, &counter, &two};
    CHECK(cudaLaunchKernel((void *)count, dim3(1), dim3(32), arguments));
    EXPECT(copies == 2 && destroyed == 2);
    EXPECT(value_of(counter) == (4 * 64 + 32) * 2);
    CHECK(cudaFree(counter.value));
    return pass();
}
