/* f(i) for each i, f(x) for each x: a thread of a kernel for each. */
#ifndef CUB_DEVICE_FOR_CUH
#define CUB_DEVICE_FOR_CUH

#include "../util_type.cuh"

namespace cub
{

template <class F>
cudaError_t emu_device_each(const char *name, long long n, cudaStream_t stream, F f)
{
    enum { THREADS = 256 };
    if (n <= 0) return n < 0 ? cudaErrorInvalidValue : cudaSuccess;
    const thrust::emu_called here;
    emu::config blocks(dim3((unsigned)((n + THREADS - 1) / THREADS)), dim3(THREADS), 0,
                       stream);
    auto body = [n, f]() mutable {
        const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
        if (i < n) f(i);
    };
    return (cudaError_t)emu::launch<emu::by_value<decltype(body)>>(
        name, nullptr, blocks, [](decltype(body) work) { work(); }, body);
}

/* Each also in the form that asks first how much memory it needs, which is none. */
struct DeviceFor {
    template <class Shape, class F,
              typename std::enable_if<std::is_integral<Shape>::value, int>::type = 0>
    static cudaError_t Bulk(Shape n, F f, cudaStream_t stream = nullptr)
    {
        return emu_device_each("cub::DeviceFor::Bulk", (long long)n, stream,
                               [=](long long i) mutable { f((Shape)i); });
    }
    template <class Shape, class F>
    static cudaError_t Bulk(void *room, size_t &bytes, Shape n, F f,
                            cudaStream_t stream = nullptr)
    {
        return asks(room, bytes) ? cudaSuccess : Bulk(n, f, stream);
    }
    template <class It, class Count, class F,
              typename std::enable_if<std::is_integral<Count>::value, int>::type = 0>
    static cudaError_t ForEachN(It first, Count n, F f, cudaStream_t stream = nullptr)
    {
        return each("cub::DeviceFor::ForEachN", first, (long long)n, f, stream);
    }
    template <class It, class Count, class F>
    static cudaError_t ForEachN(void *room, size_t &bytes, It first, Count n, F f,
                                cudaStream_t stream = nullptr)
    {
        return asks(room, bytes) ? cudaSuccess : ForEachN(first, n, f, stream);
    }
    template <class It, class F>
    static cudaError_t ForEach(It first, It last, F f, cudaStream_t stream = nullptr)
    {
        return each("cub::DeviceFor::ForEach", first, (long long)(last - first), f,
                    stream);
    }
    template <class It, class F>
    static cudaError_t ForEach(void *room, size_t &bytes, It first, It last, F f,
                               cudaStream_t stream = nullptr)
    {
        return asks(room, bytes) ? cudaSuccess : ForEach(first, last, f, stream);
    }
    /* f gets a copy of each. */
    template <class It, class F>
    static cudaError_t ForEachCopy(It first, It last, F f, cudaStream_t stream = nullptr)
    {
        return each(
            "cub::DeviceFor::ForEachCopy", first, (long long)(last - first),
            [=](const thrust::emu_value<It> copy) mutable { f(copy); }, stream);
    }

  private:
    template <class It, class F>
    static cudaError_t each(const char *name, It first, long long n, F f,
                            cudaStream_t stream)
    {
        const auto x = thrust::emu_raw(first);
        return emu_device_each(name, n, stream, [=](long long i) mutable { f(x[i]); });
    }
    static bool asks(void *room, size_t &bytes)
    {
        if (!room) bytes = 1;
        return !room;
    }
};

} // namespace cub

#endif
