/* The CUDA runtime API, as far as it is emulated: what is not declared here does not
 * exist, so a program that needs it fails at compile time and the compiler names the
 * call. Everything runs at once and in order; a call that CUDA makes asynchronous has
 * finished when it returns. */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#include "driver_types.h"
#include "vector_types.h"
#include "host_defines.h"

#define CUDART_VERSION 13000

#ifdef __cplusplus
#define EMU_DEFAULT(value) = value
#else
#define EMU_DEFAULT(value)
#endif

#include "emulator_graphs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Errors */
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

/* The device */
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int device,
                                      int peer);
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop);
cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes, int device);
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaGetDeviceFlags(unsigned int *flags);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
/* As they were called before CUDA 4. */
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadExit(void);
cudaError_t cudaCtxResetPersistingL2Cache(void);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

/* Memory */
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocManaged(void **pointer, size_t bytes,
                              unsigned int flags EMU_DEFAULT(cudaMemAttachGlobal));
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags);
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags);
cudaError_t cudaHostRegister(void *host, size_t bytes, unsigned int flags);
cudaError_t cudaHostUnregister(void *host);
cudaError_t cudaHostGetFlags(unsigned int *flags, void *host);
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                     const void *pointer);

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                int from_device, size_t bytes,
                                cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *what);
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *what,
                              cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream EMU_DEFAULT(0));
/* Copies in any order among themselves, behind what is in the stream, which is not the
 * default one. The attributes of number k are those of the copies from firsts[k] on. */
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from,
                                 const size_t *sizes, size_t count,
                                 struct cudaMemcpyAttributes *attributes, size_t *firsts,
                                 size_t attribute_count, cudaStream_t stream);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                              size_t from_pitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind,
                              cudaStream_t stream EMU_DEFAULT(0));
cudaError_t
cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                   size_t offset EMU_DEFAULT(0),
                   enum cudaMemcpyKind kind EMU_DEFAULT(cudaMemcpyHostToDevice));
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind,
                                    cudaStream_t stream EMU_DEFAULT(0));
cudaError_t
cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                     size_t offset EMU_DEFAULT(0),
                     enum cudaMemcpyKind kind EMU_DEFAULT(cudaMemcpyDeviceToHost));
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                      size_t offset, enum cudaMemcpyKind kind,
                                      cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol);

cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes,
                            cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width,
                         size_t height);
cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width,
                              size_t height, cudaStream_t stream EMU_DEFAULT(0));

cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value,
                         struct cudaExtent extent);
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value,
                              struct cudaExtent extent,
                              cudaStream_t stream EMU_DEFAULT(0));

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr,
                                    void *value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr,
                                    void *value);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
                                 const struct cudaMemAccessDesc *descriptions,
                                 size_t count);
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 struct cudaMemLocation *location);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep);
cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);

/* Textures and surfaces; no mipmaps. */
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f);
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height EMU_DEFAULT(0),
                            unsigned int flags EMU_DEFAULT(0));
cudaError_t cudaMalloc3DArray(cudaArray_t *array,
                              const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent,
                              unsigned int flags EMU_DEFAULT(0));
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc,
                               cudaArray_const_t array);
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc,
                             struct cudaExtent *extent, unsigned int *flags,
                             cudaArray_t array);
cudaError_t
cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                         size_t from_x, size_t from_y, size_t width, size_t height,
                         enum cudaMemcpyKind kind EMU_DEFAULT(cudaMemcpyDeviceToDevice));
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                              size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y,
                                size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind,
                                   cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, enum cudaMemcpyKind kind,
                                     cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                                size_t pitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from,
                                  size_t x, size_t y, size_t width, size_t height,
                                  enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind,
                                     cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from,
                                       size_t x, size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind,
                                       cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *texture,
                                    const void *view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
                                    const struct cudaResourceDesc *resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *texture,
                                            cudaTextureObject_t object);
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaSurfaceObject_t object);

/* Hints about managed memory: checked, then without effect, here all memory is one; but they
 * can be asked for. */
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes,
                                 struct cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned int flags);
cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location);
cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_bytes,
                                     enum cudaMemRangeAttribute attribute,
                                     const void *pointer, size_t bytes);
cudaError_t cudaMemRangeGetAttributes(void **data, size_t *data_bytes,
                                      enum cudaMemRangeAttribute *attributes,
                                      size_t count, const void *pointer, size_t bytes);

/* Streams and events */
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags,
                                         int priority);
/* For a whole program 0 means the default stream of the host's thread if one of its files
 * says so, be it by --default-stream per-thread. */
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) && !defined(EMU_MODULE)
void emu_use_streams_of_threads(void);
__attribute__((constructor)) static void emu_uses_streams_of_threads(void)
{
    emu_use_streams_of_threads();
}
#endif
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id);
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attr,
                                   const cudaStreamAttrValue *value);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attr,
                                   cudaStreamAttrValue *value);
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags EMU_DEFAULT(0));
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *user_data, unsigned int flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void *user_data);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event,
                                     cudaStream_t stream EMU_DEFAULT(0),
                                     unsigned int flags EMU_DEFAULT(0));
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventDestroy(cudaEvent_t event);
#ifdef __cplusplus
} /* Two functions of one name, so C++ linkage; C has the first only. */
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return cudaEventCreateWithFlags(event, flags);
}
extern "C" {
#endif
cudaError_t cudaEventCreate(cudaEvent_t *event);

/* Kernels */
cudaError_t cudaGetDriverEntryPointByVersion(
    const char *symbol, void **function, unsigned version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *found EMU_DEFAULT(0));
cudaError_t
cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                        enum cudaDriverEntryPointQueryResult *found EMU_DEFAULT(0));
#ifndef __CUDACC__ /* else emulator_launch.h has them */
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared EMU_DEFAULT(0),
                             cudaStream_t stream EMU_DEFAULT(0));
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block,
                                        void **arguments, size_t shared EMU_DEFAULT(0),
                                        cudaStream_t stream EMU_DEFAULT(0));
#endif
/* The driver API's handle of a kernel, for cuLaunchKernel. */
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *kernel);
cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attr,
                                 int value);
cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config);
/* Registers are ptxas's business and static shared memory is known only once the kernel
 * ran. So this call and the occupancy calls say 32 registers a thread, or what the
 * environment's LENS_REGS says, and before the first launch no static shared memory and,
 * of a template's instance, no __launch_bounds__. */
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                  const void *kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block_size,
                                                          size_t dynamic_shared);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *kernel,
                                                      int blocks, int block_size);
cudaError_t cudaFuncGetName(const char **name, const void *kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                   const void *kernel,
                                                                   int block_size,
                                                                   size_t dynamic_shared,
                                                                   unsigned int flags);
/* Of clusters as the launch's attributes have them; and of how many blocks the largest can
 * be. What a kernel says itself, by __cluster_dims__, does not count. The SMs are taken to
 * lie in eight GPCs, as evenly as their pairs allow: chips of one kind differ in that. */
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *kernel,
                                           const cudaLaunchConfig_t *launch);
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *kernel,
                                                 const cudaLaunchConfig_t *launch);

cudaError_t cudaFuncSetSharedMemConfig(const void *kernel,
                                       enum cudaSharedMemConfig config);

/* Libraries of kernels: modules, as the driver's cuModuleLoad takes them. The handle of a
 * kernel, as `const void *`, is taken wherever a kernel's address is. */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                enum cudaJitOption *jit, void **jit_values,
                                unsigned int jit_count, enum cudaLibraryOption *options,
                                void **values, unsigned int count);
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                    enum cudaJitOption *jit, void **jit_values,
                                    unsigned int jit_count,
                                    enum cudaLibraryOption *options, void **values,
                                    unsigned int count);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                 const char *name);
cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library);
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int count,
                                        cudaLibrary_t library);
cudaError_t cudaLibraryGetGlobal(void **pointer, size_t *bytes, cudaLibrary_t library,
                                 const char *name);
cudaError_t cudaLibraryGetManaged(void **pointer, size_t *bytes, cudaLibrary_t library,
                                  const char *name);
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *symbol);
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                            enum cudaFuncAttribute attribute, int value,
                                            int device);

#ifdef __cplusplus
}
#endif
#undef EMU_DEFAULT

static inline struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
{
    struct cudaExtent extent = {width, height, depth};
    return extent;
}
static inline struct cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    struct cudaPos pos = {x, y, z};
    return pos;
}
static inline struct cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch,
                                                        size_t width, size_t height)
{
    struct cudaPitchedPtr pitched = {pointer, pitch, width, height};
    return pitched;
}

#endif
