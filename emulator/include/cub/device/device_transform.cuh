/* out[i] = f(in[i]), or f of several: a thread of a kernel for each. */
#ifndef CUB_DEVICE_TRANSFORM_CUH
#define CUB_DEVICE_TRANSFORM_CUH

#include <tuple>
#include <utility>

#include "device_for.cuh"

namespace cub
{

struct DeviceTransform {
    template <class In, class Out, class Count, class F>
    static cudaError_t Transform(In in, Out out, Count n, F f,
                                 cudaStream_t stream = nullptr)
    {
        const auto x = thrust::emu_raw(in);
        const auto y = thrust::emu_raw(out);
        return emu_device_each("cub::DeviceTransform::Transform", (long long)n, stream,
                               [=](long long i) mutable { y[i] = f(x[i]); });
    }
    template <class... In, class Out, class Count, class F>
    static cudaError_t Transform(std::tuple<In...> in, Out out, Count n, F f,
                                 cudaStream_t stream = nullptr)
    {
        return of_raw(thrust::emu_raw(out), (long long)n, f, stream, in,
                      std::index_sequence_for<In...>());
    }
    /* Without anything to start from. */
    template <class Out, class Count, class F>
    static cudaError_t Generate(Out out, Count n, F f, cudaStream_t stream = nullptr)
    {
        const auto y = thrust::emu_raw(out);
        return emu_device_each("cub::DeviceTransform::Generate", (long long)n, stream,
                               [=](long long i) mutable { y[i] = f(); });
    }
    template <class Out, class Count, class T>
    static cudaError_t Fill(Out out, Count n, T value, cudaStream_t stream = nullptr)
    {
        const auto y = thrust::emu_raw(out);
        return emu_device_each("cub::DeviceTransform::Fill", (long long)n, stream,
                               [=](long long i) { y[i] = value; });
    }

  private:
    template <class Out, class F, class Tuple, size_t... PLACES>
    static cudaError_t of_raw(Out y, long long n, F f, cudaStream_t stream,
                              const Tuple &in, std::index_sequence<PLACES...>)
    {
        const auto x = std::make_tuple(thrust::emu_raw(std::get<PLACES>(in))...);
        return emu_device_each(
            "cub::DeviceTransform::Transform", n, stream,
            [=](long long i) mutable { y[i] = f(std::get<PLACES>(x)[i]...); });
    }
};

} // namespace cub

#endif
