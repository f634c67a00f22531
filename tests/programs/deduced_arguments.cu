// Kernels of which only a call can tell which function is meant get what the host has made
// of the arguments: converted once, copied once, destroyed by the host alone.
// BUILD: --extended-lambda
#include "check.h"

#include <utility>

static int made, copied, destroyed;

// Device memory that ends with its owner, and goes into a kernel as a pointer.
template <class T> class Memory
{
  public:
    explicit Memory(int n)
    {
        CHECK(cudaMallocManaged(&data, n * sizeof(T)));
        made++;
    }
    Memory(const Memory &) = delete;
    Memory(Memory &&other) : data(std::exchange(other.data, nullptr))
    {
    }
    ~Memory()
    {
        if (data) cudaFree(data);
        destroyed++;
    }
    operator T *() const
    {
        return data;
    }

  private:
    T *data;
};

// What a kernel gets of it is a view, with the bytes of the owner.
struct Counted {
    int *values;

    explicit Counted(int *v) : values(v)
    {
    }
    Counted(const Counted &other) : values(other.values)
    {
        copied++;
    }
    ~Counted()
    {
        destroyed++;
    }
};

struct Sizes {
    static const int few = 8;
    int rows : 5, columns : 5;
};

namespace kernels
{
template <int BLOCK, class F> __global__ void change(int *data, int n, F f)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) data[i] = f(data[i]);
}

template <class T> __global__ void fill(T *data, int n, T value)
{
    if ((int)threadIdx.x < n) data[threadIdx.x] = value;
}
} // namespace kernels

template <class View> __global__ void add(View view, int n)
{
    if ((int)threadIdx.x < n) view.values[threadIdx.x] += n;
}

template <class T> __global__ void set_to_size(T *data)
{
    *data = sizeof *data;
}
template <> __global__ void set_to_size<float>(float *data)
{
    *data = 100;
}
template <> __global__ void set_to_size(double *data)
{
    *data = 200;
}
template __global__ void set_to_size<int>(int *data);
template __global__ void set_to_size(short *data);

template <class... Ts> __global__ void sum(int *to, Ts... values)
{
    *to = (0 + ... + values);
}

__global__ void twice(int *data, const int *)
{
    data[threadIdx.x] *= 2;
}
__global__ void twice(float *data, const float *)
{
    data[threadIdx.x] *= 2;
}

template <class T> __global__ void only_once(T *data);
template <class T> __global__ void only_once(T *data)
{
    extern __shared__ int turned[];
    turned[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = turned[blockDim.x - 1 - threadIdx.x];
}

template <class Memory> static void in_a_template(const Memory &memory, int n)
{
    kernels::change<4>
        <<<(n + 3) / 4, 4>>>(memory, n, [=] __device__(int x) { return x + n; });
}

int main()
{
    {
        Memory<int> m(16);
        kernels::fill<int><<<1, 16>>>(m, 16, 1);
        kernels::fill<<<1, 16>>>((int *)m, 16, 1);
        kernels::change<4><<<4, 4>>>(m, 16, [] __device__(int x) { return x + 1; });
        in_a_template(m, 16);
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < 16; i++) EXPECT(m[i] == 18);

        copied = destroyed = 0;
        add<<<1, 16>>>(Counted(m), 16);
        CHECK(cudaDeviceSynchronize());
        EXPECT(destroyed == copied + 1 && m[15] == 34);
        const Counted view(m);
        copied = destroyed = 0;
        add<<<1, 16>>>(view, 16);
        CHECK(cudaDeviceSynchronize());
        EXPECT(destroyed == copied && copied <= 2 && m[15] == 50);

        // Neither a member without a place of its own nor a bit-field has an address.
        Sizes sizes = {3, 4};
        sum<<<1, 1>>>(m, Sizes::few, sizes.rows, sizes.columns);
        CHECK(cudaDeviceSynchronize());
        EXPECT(m[0] == 15);

        int n = 0;
        sum<<<1, 1>>>(m, n++);
        CHECK(cudaDeviceSynchronize());
        EXPECT(n == 1 && m[0] == 0);

        Memory<float> f(4);
        f[0] = 1.5f, f[3] = 2.5f;
        twice<<<1, 4>>>(f, nullptr);
        twice<<<1, 4>>>(m, nullptr);
        CHECK(cudaDeviceSynchronize());
        EXPECT(f[0] == 3 && f[3] == 5 && m[3] == 100);
        twice<<<1, 4>>>((int *)m, 0);
        CHECK(cudaDeviceSynchronize());
        EXPECT(m[3] == 200);

        Memory<double> d(1);
        set_to_size<<<1, 1>>>((int *)m);
        set_to_size<<<1, 1>>>((float *)f);
        set_to_size<<<1, 1>>>((double *)d);
        CHECK(cudaDeviceSynchronize());
        EXPECT(m[0] == sizeof(int) && f[0] == 100 && d[0] == 200);

        {
            using kernels::fill;
            fill<<<1, 16>>>((int *)m, 16, 9);
            fill<float><<<1, 4>>>(f, 4, 8);
        }
        CHECK(cudaDeviceSynchronize());
        EXPECT(m[15] == 9 && f[3] == 8);

        // The limit that the program sets for one instance is that of this instance.
        const int much = 64 << 10;
        CHECK(cudaFuncSetAttribute(only_once<int>,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, much));
        only_once<<<1, 16, much>>>((int *)m);
        CHECK(cudaGetLastError());
        only_once<<<1, 4, much>>>((float *)f);
        EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
        CHECK(cudaDeviceSynchronize());
    }
    EXPECT(made == 3);
    return pass();
}
