/* Names for devices, streams and events, which no message of the emulator has room for:
 * they are taken and forgotten. */
#ifndef NVTOOLSEXT_CUDART_H
#define NVTOOLSEXT_CUDART_H

#include "../cuda_runtime_api.h"
#include "nvToolsExt.h"

static inline void nvtxNameCudaDeviceA(int device, const char *name)
{
    (void)device;
    (void)name;
}
static inline void nvtxNameCudaStreamA(cudaStream_t stream, const char *name)
{
    (void)stream;
    (void)name;
}
static inline void nvtxNameCudaEventA(cudaEvent_t event, const char *name)
{
    (void)event;
    (void)name;
}
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA

#endif
