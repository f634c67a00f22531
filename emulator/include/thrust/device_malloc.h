/* Device memory by hand: device_malloc, device_free and their typed forms. */
#ifndef THRUST_DEVICE_MALLOC_H
#define THRUST_DEVICE_MALLOC_H

#include "device_ptr.h"

namespace thrust
{

static inline device_ptr<void> device_malloc(std::size_t bytes)
{
    void *p;
    const cudaError_t error = cudaMalloc(&p, bytes + !bytes);
    if (error != cudaSuccess) throw system_error(error, "device_malloc");
    return device_ptr<void>(p);
}
template <class T> device_ptr<T> device_malloc(std::size_t count)
{
    return device_ptr<T>(static_cast<T *>(device_malloc(count * sizeof(T)).get()));
}
static inline void device_free(device_ptr<void> p)
{
    const cudaError_t error = cudaFree(p.get());
    if (error != cudaSuccess) throw system_error(error, "device_free");
}

} // namespace thrust

#endif
