// Host code that names variables of device code in every way that is allowed: as symbols, for
// their types, beside names of its own; and addresses on the device, wherever they are from.
// BUILD: -std=c++17
#include "check.h"
#include <iterator>

__device__ float buffer[32];
__device__ int counter, pairs[4][2];
__constant__ float factors[4];
__managed__ int shared_by_both;
__device__ float *where;
namespace space
{
__device__ double inner[8];
}

__global__ void fill(float *p, float value)
{
    p[threadIdx.x] = value * factors[threadIdx.x % 4];
    atomicAdd(&counter, 1);
    if (threadIdx.x == 0) {
        where = buffer;
        shared_by_both += 1;
        pairs[3][1] = 31;
        space::inner[7] = 0.5;
    }
}

__global__ void fill_managed(int *p)
{
    *p += 1;
}

// Takes a symbol by reference, whatever its type.
template <class T> static cudaError_t read_symbol(T *to, const T &symbol)
{
    return cudaMemcpyFromSymbol(to, symbol, sizeof symbol);
}

template <class T, int n> static int count_of(T (&buffer)[n])
{
    return n + (buffer[0] > 0 ? 0 : 100);
}

static float sum(const float *buffer, int counter)
{
    float total = 0;
    for (int i = 0; i < counter; i++) total += (buffer[i]);
    return total;
}

struct holder {
    float buffer[4];
    int counter;
    float first() const
    {
        return sum(buffer, counter);
    }
    int *place()
    {
        return &counter;
    }
};

static void own_names(void)
{
    float buffer[32] = {1}, (&factors)[32] = buffer;
    int counter = 1, pairs = 2;
    EXPECT(sum(buffer, counter) == 1 && sum(factors, 1) == 1);
    const auto one_more = [&counter, pairs](const float *inner) {
        return sum(inner, counter) + pairs;
    };
    EXPECT(one_more(&buffer[0]) == 3);
    CHECK(cudaMemcpyToSymbol(::buffer, buffer, sizeof buffer));
    CHECK(cudaMemcpyFromSymbol(&buffer, ::buffer, sizeof ::buffer));
}

int main(void)
{
    const float ones[4] = {1, 1, 1, 2};
    const int zero = 0;
    float host[32], *device, *from_device;
    CHECK(cudaMemcpyToSymbol(factors, ones, sizeof(factors)));
    CHECK(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
    const void *const symbol = &counter;
    CHECK(cudaMemcpyToSymbol(symbol, &zero, sizeof zero));

    // The address on the device, from cudaGetSymbolAddress and from a kernel.
    CHECK(cudaGetSymbolAddress((void **)&device, buffer));
    fill<<<1, 32>>>(device, 3);
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 3 && host[3] == 6);
    CHECK(cudaMemcpyFromSymbol(&from_device, where, sizeof from_device));
    EXPECT(from_device == device);
    fill<<<1, 32>>>(from_device, 4);
    CHECK(cudaMemcpy(host, from_device, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[31] == 8);

    size_t bytes;
    int count, both[4][2];
    double last[8];
    CHECK(cudaGetSymbolSize(&bytes, buffer));
    EXPECT(bytes == sizeof(buffer) && sizeof factors == 16);
    CHECK(read_symbol(&count, counter));
    CHECK(read_symbol(&both, pairs));
    CHECK(read_symbol(&last, space::inner));
    EXPECT(count == 64 && both[3][1] == 31 && last[7] == 0.5);
    CHECK(cudaMemcpyFromSymbol(&last[0], space::inner, 8, 7 * sizeof(double)));
    EXPECT(last[0] == 0.5);
    static_assert(std::size(buffer) == 32 && sizeof(pairs[0]) == 8, "as on the device");
    EXPECT(count_of(host) == 32);

    // A managed variable has one address for both.
    fill_managed<<<1, 1>>>(&shared_by_both);
    CHECK(cudaDeviceSynchronize());
    EXPECT(shared_by_both == 3);
    int more = 4;
    CHECK(cudaMemcpy(&shared_by_both, &more, sizeof more, cudaMemcpyDefault));
    EXPECT(shared_by_both == 4);

    holder h = {{1, 2, 3, 4}, 2};
    EXPECT(h.first() == 3 && *h.place() == 2 && h.buffer[3] == 4);
    own_names();
    return pass();
}
