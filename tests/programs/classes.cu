// C++ in kernels: classes with methods and operators, arguments by value, functions by
// pointer.
#include "check.h"
#include <cuda.h>

class Complex
{
  public:
    __host__ __device__ Complex(float re = 0.0f, float im = 0.0f) : re_(re), im_(im)
    {
    }
    __host__ __device__ Complex operator*(const Complex &o) const
    {
        return Complex(re_ * o.re_ - im_ * o.im_, re_ * o.im_ + im_ * o.re_);
    }
    __host__ __device__ friend Complex operator+(Complex a, const Complex &b)
    {
        a.re_ += b.re_;
        a.im_ += b.im_;
        return a;
    }
    __host__ __device__ float norm() const
    {
        return re_ * re_ + im_ * im_;
    }

  private:
    float re_, im_;
};

__host__ __device__ inline int escape(Complex c)
{
    Complex z;
    int steps = 0;
    while (steps < 50 && z.norm() < 4.0f) {
        z = z * z + c;
        steps++;
    }
    return steps;
}

struct View {
    int width, height;
    float left, top, step;
    __host__ __device__ Complex at(int x, int y) const
    {
        return Complex(left + step * x, top + step * y);
    }
};

namespace
{
__global__ void mandelbrot(int *out, const View view)
{
    const int x = blockDim.x * blockIdx.x + threadIdx.x,
              y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x < view.width && y < view.height)
        out[y * view.width + x] = escape(view.at(x, y));
}
} // namespace

// A structure as large as arguments get in practice, and a switch over device functions.
struct Table {
    float values[200];
};

typedef float (*operation)(float, float);
__device__ float plus(float a, float b)
{
    return a + b;
}
__device__ float times(float a, float b)
{
    return a * b;
}

__device__ float combine(operation op, const float *v, int n)
{
    float r = v[0];
    for (int i = 1; i < n; i++) r = op(r, v[i]);
    return r;
}

__global__ void by_value(Table table, float *out, int which)
{
    operation op = which == 0 ? plus : times;
    float local[8];
    for (int i = 0; i < 8; i++) local[i] = table.values[(threadIdx.x + i) % 200];
    out[threadIdx.x] = combine(op, local, 8);
}

// What a kernel can call and a function of the host has the name of: a member that is an
// object, and methods that come after their call.
template <typename Store> class Writer
{
    Store store;

  public:
    __device__ void write(int *out, int i) const
    {
        store(out, twice(i));
        once(out, i);
    }
    __device__ int twice(int i) const
    {
        return 2 * i;
    }
    __host__ __device__ void once(int *out, int i) const
    {
        out[i + 32] = i;
    }
};

struct Plainly {
    __device__ void operator()(int *out, int value) const
    {
        out[value / 2] = value;
    }
};

static void store(int *out, int value)
{
    *out = value;
}

static int twice(float x)
{
    return (int)(x + x);
}

__global__ void write(int *out)
{
    Writer<Plainly>().write(out, threadIdx.x);
}

int main()
{
    int *written;
    CHECK(cudaMallocManaged(&written, 64 * sizeof(int)));
    write<<<1, 32>>>(written);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) EXPECT(written[i] == 2 * i && written[i + 32] == i);
    store(written, twice(1.5f));
    EXPECT(written[0] == 3);
    CHECK(cudaFree(written));

    const View view = {64, 40, -2.0f, -1.25f, 1.0f / 16.0f};
    int *out;
    CHECK(cudaMallocManaged(&out, view.width * view.height * sizeof(int)));
    mandelbrot<<<dim3(4, 3), dim3(16, 16)>>>(out, view);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < view.width * view.height; i++)
        EXPECT(out[i] == escape(view.at(i % view.width, i / view.width)));
    CHECK(cudaFree(out));

    Table table;
    float *results;
    for (int i = 0; i < 200; i++) table.values[i] = 1.0f + i % 3;
    CHECK(cudaMallocManaged(&results, 32 * sizeof(float)));
    for (int which = 0; which < 2; which++) {
        by_value<<<1, 32>>>(table, results, which);
        CHECK(cudaDeviceSynchronize());
        for (int t = 0; t < 32; t++) {
            float want = table.values[t];
            for (int i = 1; i < 8; i++)
                want =
                    which == 0 ? want + table.values[t + i] : want * table.values[t + i];
            EXPECT(results[t] == want);
        }
    }
    CHECK(cudaFree(results));
    return pass();
}
