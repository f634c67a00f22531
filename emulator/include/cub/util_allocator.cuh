/* Allocations that are kept for the next: here each is a cudaMalloc, so that its end is
 * seen. */
#ifndef CUB_UTIL_ALLOCATOR_CUH
#define CUB_UTIL_ALLOCATOR_CUH

#include "util_type.cuh"

namespace cub
{

struct CachingDeviceAllocator {
    template <class... Unused> explicit CachingDeviceAllocator(Unused...)
    {
    }
    cudaError_t DeviceAllocate(void **memory, size_t bytes, cudaStream_t = nullptr)
    {
        return cudaMalloc(memory, bytes);
    }
    cudaError_t DeviceFree(void *memory)
    {
        return cudaFree(memory);
    }
};

} // namespace cub

#endif
