/* The elements that are wanted, in their order, and behind them the others, in the opposite
 * order. */
#ifndef CUB_DEVICE_PARTITION_CUH
#define CUB_DEVICE_PARTITION_CUH

#include "../util_type.cuh"

namespace cub
{

struct DevicePartition {
    template <class In, class Out, class Count, class F>
    static cudaError_t If(void *room, size_t &bytes, In in, Out out, Count count,
                          long long n, F wanted, cudaStream_t stream = nullptr)
    {
        const auto x = thrust::emu_raw(in);
        return part("cub::DevicePartition::If", room, bytes, in, out, count, n, stream,
                    [=](long long i) mutable { return (bool)wanted(x[i]); });
    }
    template <class In, class Flags, class Out, class Count>
    static cudaError_t Flagged(void *room, size_t &bytes, In in, Flags flags, Out out,
                               Count count, long long n, cudaStream_t stream = nullptr)
    {
        const auto flag = thrust::emu_raw(flags);
        return part("cub::DevicePartition::Flagged", room, bytes, in, out, count, n,
                    stream, [=](long long i) { return (bool)flag[i]; });
    }

  private:
    template <class In, class Out, class Count, class F>
    static cudaError_t part(const char *name, void *room, size_t &bytes, In in, Out out,
                            Count count, long long n, cudaStream_t stream, F wanted)
    {
        const auto x = thrust::emu_raw(in);
        const auto y = thrust::emu_raw(out);
        const auto c = thrust::emu_raw(count);
        return emu_device_wide(name, room, bytes, stream, [=](const char *call) {
            thrust::emu_run(call, true, [=]() mutable {
                long long found = 0, others = n;
                for (long long i = 0; i < n; i++)
                    y[wanted(i) ? found++ : --others] = x[i];
                *c = (thrust::emu_value<Count>)found;
                return 0;
            });
        });
    }
};

} // namespace cub

#endif
