/* Running sums of an array; in place as well. */
#ifndef CUB_DEVICE_SCAN_CUH
#define CUB_DEVICE_SCAN_CUH

#include "../../thrust/scan.h"
#include "../util_type.cuh"

namespace cub
{

struct DeviceScan {
    template <class In, class Out, class Op>
    static cudaError_t InclusiveScan(void *room, size_t &bytes, In in, Out out, Op op,
                                     long long n, cudaStream_t stream = nullptr)
    {
        return emu_device_wide("cub::DeviceScan", room, bytes, stream, [=](const char *) {
            thrust::inclusive_scan(in, in + n, out, op);
        });
    }
    template <class In, class Out, class Op, class T>
    static cudaError_t ExclusiveScan(void *room, size_t &bytes, In in, Out out, Op op,
                                     T initial, long long n,
                                     cudaStream_t stream = nullptr)
    {
        return emu_device_wide("cub::DeviceScan", room, bytes, stream, [=](const char *) {
            thrust::exclusive_scan(in, in + n, out, initial, op);
        });
    }
    template <class In, class Out>
    static cudaError_t InclusiveSum(void *room, size_t &bytes, In in, Out out,
                                    long long n, cudaStream_t stream = nullptr)
    {
        return InclusiveScan(room, bytes, in, out, cub::Sum(), n, stream);
    }
    template <class In, class Out>
    static cudaError_t ExclusiveSum(void *room, size_t &bytes, In in, Out out,
                                    long long n, cudaStream_t stream = nullptr)
    {
        return ExclusiveScan(room, bytes, in, out, cub::Sum(), thrust::emu_value<In>(), n,
                             stream);
    }
    template <class T>
    static cudaError_t InclusiveSum(void *room, size_t &bytes, T *data, long long n,
                                    cudaStream_t stream = nullptr)
    {
        return InclusiveSum(room, bytes, data, data, n, stream);
    }
    template <class T>
    static cudaError_t ExclusiveSum(void *room, size_t &bytes, T *data, long long n,
                                    cudaStream_t stream = nullptr)
    {
        return ExclusiveSum(room, bytes, data, data, n, stream);
    }
};

} // namespace cub

#endif
