/* Runs of equal elements: which, and how long. */
#ifndef CUB_DEVICE_RUN_LENGTH_ENCODE_CUH
#define CUB_DEVICE_RUN_LENGTH_ENCODE_CUH

#include "../util_type.cuh"

namespace cub
{

struct DeviceRunLengthEncode {
    template <class In, class Unique, class Lengths, class Count>
    static cudaError_t Encode(void *room, size_t &bytes, In in, Unique unique,
                              Lengths lengths, Count count, long long n,
                              cudaStream_t stream = nullptr)
    {
        const auto x = thrust::emu_raw(in);
        const auto u = thrust::emu_raw(unique);
        const auto l = thrust::emu_raw(lengths);
        const auto c = thrust::emu_raw(count);
        return emu_device_wide(
            "cub::DeviceRunLengthEncode::Encode", room, bytes, stream,
            [=](const char *call) {
                thrust::emu_run(call, true, [=]() mutable {
                    long long runs = 0;
                    for (long long i = 0, end; i < n; i = end, runs++) {
                        for (end = i + 1; end < n && x[end] == x[i];) end++;
                        u[runs] = x[i];
                        l[runs] = (thrust::emu_value<Lengths>)(end - i);
                    }
                    *c = (thrust::emu_value<Count>)runs;
                });
            });
    }
};

} // namespace cub

#endif
