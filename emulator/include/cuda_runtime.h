/* The header a CUDA program includes: the runtime API, its C++ conveniences, and, in a
 * .cu file, everything a kernel uses. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "cuda_runtime_api.h"
#include "driver_types.h"
#include "host_defines.h"
#include "vector_functions.h"
#include "vector_types.h"

#ifdef __cplusplus

/* As nvcc's does, the latter with --extended-lambda; programs come to rely on it. */
#include <limits>
#ifdef __CUDACC_EXTENDED_LAMBDA__
#include <functional>
#include <utility>
#endif

/* These let a program pass its own pointer types, its kernels and its variables where the
 * C functions want void *. They are inlined always: the runtime takes the caller of the C
 * function for the program's own line. */
#define EMU_API template <class T_> static __forceinline__ cudaError_t

EMU_API cudaMalloc(T_ **pointer, size_t bytes)
{
    return cudaMalloc((void **)pointer, bytes);
}
EMU_API cudaMallocPitch(T_ **pointer, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void **)pointer, pitch, width, height);
}
EMU_API cudaMallocAsync(T_ **pointer, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync((void **)pointer, bytes, stream);
}
EMU_API cudaMallocAsync(T_ **pointer, size_t bytes, cudaMemPool_t pool,
                        cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)pointer, bytes, pool, stream);
}
EMU_API cudaMallocFromPoolAsync(T_ **pointer, size_t bytes, cudaMemPool_t pool,
                                cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)pointer, bytes, pool, stream);
}
EMU_API cudaMallocManaged(T_ **pointer, size_t bytes,
                          unsigned int flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)pointer, bytes, flags);
}
EMU_API cudaMallocHost(T_ **pointer, size_t bytes)
{
    return cudaMallocHost((void **)pointer, bytes);
}
/* The flags are those of cudaHostAlloc, which this form is another name of. */
EMU_API cudaMallocHost(T_ **pointer, size_t bytes, unsigned int flags)
{
    return cudaHostAlloc((void **)pointer, bytes, flags);
}
EMU_API cudaHostAlloc(T_ **pointer, size_t bytes, unsigned int flags)
{
    return cudaHostAlloc((void **)pointer, bytes, flags);
}
EMU_API cudaHostGetDevicePointer(T_ **device, void *host, unsigned int flags)
{
    return cudaHostGetDevicePointer((void **)device, host, flags);
}

template <class T_, class U_>
static __forceinline__ cudaError_t
cudaMemcpyBatchAsync(T_ *const *to, U_ *const *from, const size_t *sizes, size_t count,
                     struct cudaMemcpyAttributes *attributes, size_t *firsts,
                     size_t attribute_count, cudaStream_t stream)
{
    return cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, sizes,
                                count, attributes, firsts, attribute_count, stream);
}
/* The same attributes for all. */
template <class T_, class U_>
static __forceinline__ cudaError_t
cudaMemcpyBatchAsync(T_ *const *to, U_ *const *from, const size_t *sizes, size_t count,
                     struct cudaMemcpyAttributes attributes, cudaStream_t stream)
{
    size_t first = 0;
    return cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, sizes,
                                count, &attributes, &first, 1, stream);
}
/* The forms of CUDA 12, which tell of one copy that failed; here it is never known. */
template <class T_, class U_>
static __forceinline__ cudaError_t
cudaMemcpyBatchAsync(T_ *const *to, U_ *const *from, const size_t *sizes, size_t count,
                     struct cudaMemcpyAttributes *attributes, size_t *firsts,
                     size_t attribute_count, size_t *failed, cudaStream_t stream)
{
    if (failed) *failed = (size_t)-1;
    return cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, sizes,
                                count, attributes, firsts, attribute_count, stream);
}

/* A variable, unlike an address, has a size, so here a copy past its end is refused. */
EMU_API cudaMemcpyToSymbol(const T_ &symbol, const void *from, size_t bytes,
                           size_t offset = 0,
                           enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    if (bytes > sizeof(T_) || offset > sizeof(T_) - bytes) bytes = (size_t)-1;
    return cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind);
}
EMU_API cudaMemcpyToSymbolAsync(const T_ &symbol, const void *from, size_t bytes,
                                size_t offset, enum cudaMemcpyKind kind,
                                cudaStream_t stream = 0)
{
    if (bytes > sizeof(T_) || offset > sizeof(T_) - bytes) bytes = (size_t)-1;
    return cudaMemcpyToSymbolAsync((const void *)&symbol, from, bytes, offset, kind,
                                   stream);
}
EMU_API cudaMemcpyFromSymbol(void *to, const T_ &symbol, size_t bytes, size_t offset = 0,
                             enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    if (bytes > sizeof(T_) || offset > sizeof(T_) - bytes) bytes = (size_t)-1;
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind);
}
EMU_API cudaMemcpyFromSymbolAsync(void *to, const T_ &symbol, size_t bytes, size_t offset,
                                  enum cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    if (bytes > sizeof(T_) || offset > sizeof(T_) - bytes) bytes = (size_t)-1;
    return cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, bytes, offset, kind,
                                     stream);
}
EMU_API cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *after, size_t count,
                                       const T_ &symbol, const void *from, size_t bytes,
                                       size_t offset, enum cudaMemcpyKind kind)
{
    return cudaGraphAddMemcpyNodeToSymbol(
        node, graph, after, count, (const void *)&symbol, from, bytes, offset, kind);
}
EMU_API cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                         const cudaGraphNode_t *after, size_t count,
                                         void *to, const T_ &symbol, size_t bytes,
                                         size_t offset, enum cudaMemcpyKind kind)
{
    return cudaGraphAddMemcpyNodeFromSymbol(node, graph, after, count, to,
                                            (const void *)&symbol, bytes, offset, kind);
}
EMU_API cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T_ &symbol,
                                             const void *from, size_t bytes,
                                             size_t offset, enum cudaMemcpyKind kind)
{
    return cudaGraphMemcpyNodeSetParamsToSymbol(node, (const void *)&symbol, from, bytes,
                                                offset, kind);
}
EMU_API cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                               const T_ &symbol, size_t bytes,
                                               size_t offset, enum cudaMemcpyKind kind)
{
    return cudaGraphMemcpyNodeSetParamsFromSymbol(node, to, (const void *)&symbol, bytes,
                                                  offset, kind);
}
EMU_API cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec,
                                                 cudaGraphNode_t node, const T_ &symbol,
                                                 const void *from, size_t bytes,
                                                 size_t offset, enum cudaMemcpyKind kind)
{
    return cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, (const void *)&symbol,
                                                    from, bytes, offset, kind);
}
EMU_API cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                   cudaGraphNode_t node, void *to,
                                                   const T_ &symbol, size_t bytes,
                                                   size_t offset,
                                                   enum cudaMemcpyKind kind)
{
    return cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        exec, node, to, (const void *)&symbol, bytes, offset, kind);
}
EMU_API cudaGetSymbolAddress(void **pointer, const T_ &symbol)
{
    return cudaGetSymbolAddress(pointer, (const void *)&symbol);
}
EMU_API cudaGetSymbolSize(size_t *bytes, const T_ &symbol)
{
    void *address;
    cudaError_t error = cudaGetSymbolAddress(&address, (const void *)&symbol);
    if (error == cudaSuccess) *bytes = sizeof(T_);
    return error;
}

/* The forms of CUDA 12 and before, with a device number for the place. */
static inline struct cudaMemLocation emu_location(int device)
{
    struct cudaMemLocation location = {
        device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
        device};
    return location;
}
static inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes,
                                               int device, cudaStream_t stream = 0)
{
    return cudaMemPrefetchAsync(pointer, bytes, emu_location(device), 0, stream);
}
static inline cudaError_t cudaMemAdvise(const void *pointer, size_t bytes,
                                        enum cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(pointer, bytes, advice, emu_location(device));
}

EMU_API cudaFuncSetAttribute(T_ *kernel, enum cudaFuncAttribute attr, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attr, value);
}
EMU_API cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, T_ *kernel)
{
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
EMU_API cudaFuncSetCacheConfig(T_ *kernel, enum cudaFuncCache config)
{
    return cudaFuncSetCacheConfig((const void *)kernel, config);
}
EMU_API cudaFuncSetSharedMemConfig(T_ *kernel, enum cudaSharedMemConfig config)
{
    return cudaFuncSetSharedMemConfig((const void *)kernel, config);
}
template <class T_>
static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T_ *pointer,
                                                   size_t bytes = 0,
                                                   unsigned flags = cudaMemAttachSingle)
{
    return cudaStreamAttachMemAsync(stream, (void *)pointer, bytes, flags);
}
EMU_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T_ kernel,
                                                      int block_size,
                                                      size_t dynamic_shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel,
                                                         block_size, dynamic_shared);
}
EMU_API cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, T_ kernel, int blocks,
                                                  int block_size)
{
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void *)kernel, blocks,
                                                     block_size);
}
EMU_API cudaGetKernel(cudaKernel_t *kernel, T_ *symbol)
{
    return cudaGetKernel(kernel, (const void *)symbol);
}
EMU_API cudaLibraryGetGlobal(T_ **pointer, size_t *bytes, cudaLibrary_t library,
                             const char *name)
{
    return cudaLibraryGetGlobal((void **)pointer, bytes, library, name);
}
EMU_API cudaLibraryGetManaged(T_ **pointer, size_t *bytes, cudaLibrary_t library,
                              const char *name)
{
    return cudaLibraryGetManaged((void **)pointer, bytes, library, name);
}
EMU_API cudaFuncGetName(const char **name, T_ *kernel)
{
    return cudaFuncGetName(name, (const void *)kernel);
}
EMU_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T_ kernel,
                                                               int block_size,
                                                               size_t dynamic_shared,
                                                               unsigned int flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, (const void *)kernel, block_size, dynamic_shared, flags);
}
EMU_API cudaOccupancyMaxActiveClusters(int *clusters, T_ *kernel,
                                       const cudaLaunchConfig_t *launch)
{
    return cudaOccupancyMaxActiveClusters(clusters, (const void *)kernel, launch);
}
EMU_API cudaOccupancyMaxPotentialClusterSize(int *blocks, T_ *kernel,
                                             const cudaLaunchConfig_t *launch)
{
    return cudaOccupancyMaxPotentialClusterSize(blocks, (const void *)kernel, launch);
}

/* The largest block among those that fill an SM best. `shared_of` gives a block's dynamic
 * shared memory. */
template <class Kernel, class SharedOf>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(
    int *min_grid_size, int *block_size, Kernel kernel, SharedOf shared_of, int limit = 0)
{
    if (!min_grid_size || !block_size) return cudaErrorInvalidValue;
    int sms = 0, largest = 0, best_threads = 0;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&largest, cudaDevAttrMaxThreadsPerBlock, 0);
    if (limit > 0 && limit < largest) largest = limit;
    *min_grid_size = *block_size = 0;
    for (int threads = largest; threads > 0; threads = (threads - 1) / 32 * 32) {
        int blocks = 0;
        cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel, threads, (size_t)shared_of(threads));
        if (error != cudaSuccess) return error;
        if (blocks * threads <= best_threads) continue;
        best_threads = blocks * threads;
        *block_size = threads;
        *min_grid_size = blocks * sms;
    }
    return cudaSuccess;
}
template <class Kernel>
static inline cudaError_t
cudaOccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size, Kernel kernel,
                                   size_t dynamic_shared = 0, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        min_grid_size, block_size, kernel, [=](int) { return dynamic_shared; }, limit);
}
#undef EMU_API

#include "texture_fetch_functions.h"

#ifdef __CUDACC__
#include "device_atomic_functions.h"
#include "device_functions.h"
#include "device_launch_parameters.h"
#include "emulator_launch.h"
#include "emulator_ptx.h"
#include "math_functions.h"
#include "sm_30_intrinsics.h"

/* Where the kernel comes with its type, as a template's instance may. By a mere address
 * the form in emulator_launch.h finds it. */
template <class... A_, size_t... I_>
static inline cudaError_t emu_launch_array(void (*kernel)(A_...),
                                           const ::emu::config &config, void **arguments,
                                           std::index_sequence<I_...>)
{
    (void)arguments; /* of a kernel without parameters */
    const emu_known_kernel *const k = emu_find_kernel((const void *)kernel);
    const char *const name = k ? k->name : "(by cudaLaunchKernel)";
    return (cudaError_t)::emu::launch_kernel(
        name, config, kernel,
        *(typename std::remove_reference<A_>::type *)arguments[I_]...);
}
/* What a launch's attributes say. */
static inline void emu_read_attributes(::emu::config *config,
                                       const cudaLaunchConfig_t *from)
{
    for (unsigned i = 0; i < from->numAttrs; i++) {
        if (from->attrs[i].id == cudaLaunchAttributeCooperative)
            config->cooperative = from->attrs[i].val.cooperative != 0;
        if (from->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization)
            config->early =
                from->attrs[i].val.programmaticStreamSerializationAllowed != 0;
        if (from->attrs[i].id == cudaLaunchAttributeClusterDimension) {
            config->cluster.x = from->attrs[i].val.clusterDim.x;
            config->cluster.y = from->attrs[i].val.clusterDim.y;
            config->cluster.z = from->attrs[i].val.clusterDim.z;
        }
    }
}
template <class... P_, class... A_>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                             void (*kernel)(P_...), A_ &&...arguments)
{
    const emu_known_kernel *const k = emu_find_kernel((const void *)kernel);
    const char *const name = k ? k->name : "(by cudaLaunchKernelEx)";
    ::emu::config c(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                    config->stream);
    emu_read_attributes(&c, config);
    return [&](P_... p) {
        return (cudaError_t)::emu::launch_kernel(name, c, kernel, p...);
    }(static_cast<A_ &&>(arguments)...);
}
static inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                              const void *function, void **arguments)
{
    const emu_known_kernel *const k = emu_find_kernel(function);
    if (!k) {
        emu_launch_failed(cudaErrorInvalidDeviceFunction);
        return cudaErrorInvalidDeviceFunction;
    }
    ::emu::config c(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                    config->stream);
    emu_read_attributes(&c, config);
    const emu_launch shape = c.shape();
    c.done();
    return static_cast<cudaError_t>(
        k->launch(k->function, k->name, &shape, arguments, nullptr));
}
template <class... A_>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                             const cudaKernel_t kernel, A_ &&...arguments)
{
    void *addresses[] = {(void *)&arguments..., nullptr};
    return cudaLaunchKernelExC(config, (const void *)kernel, addresses);
}
template <class... A_>
static inline cudaError_t cudaLaunchKernel(void (*kernel)(A_...), dim3 grid, dim3 block,
                                           void **arguments, size_t shared = 0,
                                           cudaStream_t stream = 0)
{
    return emu_launch_array(kernel, ::emu::config(grid, block, shared, stream), arguments,
                            std::index_sequence_for<A_...>());
}
template <class... A_>
static inline cudaError_t
cudaLaunchCooperativeKernel(void (*kernel)(A_...), dim3 grid, dim3 block,
                            void **arguments, size_t shared = 0, cudaStream_t stream = 0)
{
    ::emu::config config(grid, block, shared, stream);
    config.cooperative = true;
    return emu_launch_array(kernel, config, arguments, std::index_sequence_for<A_...>());
}
#endif

#endif
#endif
