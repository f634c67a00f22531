/* The elements of an array that are wanted, in their order, and how many they are. */
#ifndef CUB_DEVICE_SELECT_CUH
#define CUB_DEVICE_SELECT_CUH

#include "../util_type.cuh"

namespace cub
{

/* What DeviceSelect and DevicePartition have in common. */
template <bool OTHERS_TOO> struct emu_choice {
    template <class In, class Out, class Count, class F>
    static cudaError_t If(void *room, size_t &bytes, In in, Out out, Count count,
                          long long n, F wanted, cudaStream_t stream = nullptr)
    {
        const auto x = thrust::emu_raw(in);
        return choose(OTHERS_TOO ? "cub::DevicePartition::If" : "cub::DeviceSelect::If",
                      room, bytes, in, out, count, n, stream,
                      [=](long long i) mutable { return (bool)wanted(x[i]); });
    }
    template <class In, class Flags, class Out, class Count>
    static cudaError_t Flagged(void *room, size_t &bytes, In in, Flags flags, Out out,
                               Count count, long long n, cudaStream_t stream = nullptr)
    {
        const auto flag = thrust::emu_raw(flags);
        return choose(OTHERS_TOO ? "cub::DevicePartition::Flagged"
                                 : "cub::DeviceSelect::Flagged",
                      room, bytes, in, out, count, n, stream,
                      [=](long long i) { return (bool)flag[i]; });
    }

  protected:
    template <class In, class Out, class Count, class F>
    static cudaError_t choose(const char *name, void *room, size_t &bytes, In in, Out out,
                              Count count, long long n, cudaStream_t stream, F wanted)
    {
        const auto x = thrust::emu_raw(in);
        const auto y = thrust::emu_raw(out);
        const auto c = thrust::emu_raw(count);
        return emu_device_wide(name, room, bytes, stream, [=](const char *call) {
            thrust::emu_run(call, true, [=]() mutable {
                long long found = 0, others = n;
                for (long long i = 0; i < n; i++)
                    if (wanted(i))
                        y[found++] = x[i];
                    else if (OTHERS_TOO)
                        y[--others] = x[i];
                *c = (thrust::emu_value<Count>)found;
            });
        });
    }
};

struct DeviceSelect : emu_choice<false> {
    /* The first of each run of equals. */
    template <class In, class Out, class Count>
    static cudaError_t Unique(void *room, size_t &bytes, In in, Out out, Count count,
                              long long n, cudaStream_t stream = nullptr)
    {
        const auto x = thrust::emu_raw(in);
        return choose("cub::DeviceSelect::Unique", room, bytes, in, out, count, n, stream,
                      [=](long long i) { return i == 0 || !(x[i] == x[i - 1]); });
    }
};

} // namespace cub

#endif
