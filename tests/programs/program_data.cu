// What a kernel may use of the program's own data: constants of every kind, static locals of
// device functions, virtual functions, managed variables.
// BUILD: --expt-relaxed-constexpr
#include <algorithm>

#include "check.h"

struct sequence {
    static constexpr int LENGTH = 4;
    int step;
    __device__ int next() const
    {
        static int calls = 5;
        return step * calls++;
    }
};

template <class T> __device__ T total_of(T x)
{
    static T total, count = 1;
    total += x;
    return total + count;
}

struct shape {
    __device__ virtual int corners() const
    {
        return 0;
    }
};
struct square : shape {
    __device__ int corners() const override
    {
        return 4;
    }
};

const int OFFSET = 100;
__constant__ float weights[2] = {0.5f, 0.25f};
__device__ const float pi = 3.0f;
__managed__ int managed = 3;

__global__ void use(int *out, int many)
{
    static constexpr int squares[4] = {0, 1, 4, 9};
    static int launches;
    launches++;
    const square s;
    const shape *const any = many > 99 ? nullptr : &s;
    const char *const word = many & 1 ? "odd" : "even";
    out[0] = sequence{2}.next() + sequence{3}.next();
    out[1] = total_of(1) + (int)total_of(2u);
    out[2] = squares[many & 3] + OFFSET + word[0];
    out[3] = any->corners() + (int)(weights[many & 1] * 8 + pi);
    out[4] = (int)std::max(threadIdx.x, blockDim.x) + std::max(+sequence::LENGTH, many);
    out[5] = launches;
    managed += many;
}

int main(void)
{
    int *out;
    CHECK(cudaMallocManaged(&out, 6 * sizeof *out));
    managed = 7;
    use<<<1, 1>>>(out, 2);
    use<<<1, 1>>>(out, 2);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == 2 * 7 + 3 * 8);
    EXPECT(out[1] == 2 + 1 + 4 + 1);
    EXPECT(out[2] == 4 + 100 + 'e');
    EXPECT(out[3] == 4 + 7);
    EXPECT(out[4] == 1 + 4);
    EXPECT(out[5] == 2);
    EXPECT(managed == 11 && pi == 3.0f);

    cudaPointerAttributes attributes;
    void *address;
    CHECK(cudaPointerGetAttributes(&attributes, &managed));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaGetSymbolAddress(&address, weights));
    CHECK(cudaPointerGetAttributes(&attributes, address));
    EXPECT(attributes.type == cudaMemoryTypeDevice);
    CHECK(cudaFree(out));
    return pass();
}
