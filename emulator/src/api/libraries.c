/* Libraries of kernels, in the words of both APIs: modules that are there for all
 * contexts. The handle of a kernel is its address, which the other calls take, too. */
#include <stdlib.h>

#include "api/driver.h"
#include "api/module.h"
#include "base/device.h"
#include "base/errors.h"
#include "base/functions.h"
#include "base/now.h"
#include "memory/variables.h"

static CUmodule module_of(CUlibrary library)
{
    return (CUmodule)library;
}

/* Of the options none changes anything here. */
static bool are_given(const void *options, const void *values, unsigned count)
{
    return count == 0 || (options && values);
}

/* ---- loaded, unloaded ---- */

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit,
                           void **jit_values, unsigned int jit_count,
                           CUlibraryOption *options, void **values, unsigned int count)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!library || !code || !are_given(jit, jit_values, jit_count) ||
        !are_given(options, values, count))
        return CUDA_ERROR_INVALID_VALUE;
    EMU_ALONE;
    return emu_load_module((CUmodule *)library, code);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit,
                               void **jit_values, unsigned int jit_count,
                               CUlibraryOption *options, void **values,
                               unsigned int count)
{
    struct emu_bytes file;
    if (!library || !path) return CUDA_ERROR_INVALID_VALUE;
    CUresult error = emu_read_module_file(path, &file);
    if (error != CUDA_SUCCESS) return error;
    error = cuLibraryLoadData(library, file.at, jit, jit_values, jit_count, options,
                              values, count);
    free(file.at);
    return error;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    return cuModuleUnload(module_of(library));
}

/* ---- what is in it ---- */

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    unsigned kernels;
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    *module = module_of(library);
    return cuModuleGetFunctionCount(&kernels, *module); /* whether it is one */
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return cuModuleGetFunction((CUfunction *)kernel, module_of(library), name);
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary library)
{
    return cuModuleGetFunctionCount(count, module_of(library));
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count,
                                   CUlibrary library)
{
    return cuModuleEnumerateFunctions((CUfunction *)kernels, count, module_of(library));
}

CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUlibrary library,
                            const char *name)
{
    return cuModuleGetGlobal(pointer, bytes, module_of(library), name);
}

CUresult cuLibraryGetManaged(CUdeviceptr *pointer, size_t *bytes, CUlibrary library,
                             const char *name)
{
    CUdeviceptr place;
    const CUresult error = cuModuleGetGlobal(&place, bytes, module_of(library), name);
    if (error != CUDA_SUCCESS) return error;
    if (!emu_is_managed_variable((const void *)(uintptr_t)place))
        return CUDA_ERROR_NOT_FOUND;
    if (pointer) *pointer = place;
    return CUDA_SUCCESS;
}

/* ---- kernels ---- */

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    const CUresult refused = emu_driver_ready();
    if (refused != CUDA_SUCCESS) return refused;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    if (!emu_find_kernel((const void *)kernel)) return CUDA_ERROR_INVALID_HANDLE;
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    return cuFuncGetName(name, (CUfunction)kernel);
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    return cuFuncGetModule((CUmodule *)library, (CUfunction)kernel);
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device)
{
    if (!emu_is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device)
{
    if (!emu_is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    if (!emu_is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return cuFuncSetCacheConfig((CUfunction)kernel, config);
}

/* ---- the same in the runtime's words ---- */

/* The two APIs number their errors alike. */
static cudaError_t told(CUresult result)
{
    return set((cudaError_t)result);
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                enum cudaJitOption *jit, void **jit_values,
                                unsigned int jit_count, enum cudaLibraryOption *options,
                                void **values, unsigned int count)
{
    emu_runtime_is_used(true);
    return told(cuLibraryLoadData(library, code, (CUjit_option *)jit, jit_values,
                                  jit_count, (CUlibraryOption *)options, values, count));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                    enum cudaJitOption *jit, void **jit_values,
                                    unsigned int jit_count,
                                    enum cudaLibraryOption *options, void **values,
                                    unsigned int count)
{
    emu_runtime_is_used(true);
    return told(cuLibraryLoadFromFile(library, path, (CUjit_option *)jit, jit_values,
                                      jit_count, (CUlibraryOption *)options, values,
                                      count));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    return told(cuLibraryUnload(library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                 const char *name)
{
    return told(cuLibraryGetKernel(kernel, library, name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library)
{
    return told(cuLibraryGetKernelCount(count, library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int count,
                                        cudaLibrary_t library)
{
    return told(cuLibraryEnumerateKernels(kernels, count, library));
}

cudaError_t cudaLibraryGetGlobal(void **pointer, size_t *bytes, cudaLibrary_t library,
                                 const char *name)
{
    return told(cuLibraryGetGlobal((CUdeviceptr *)pointer, bytes, library, name));
}

cudaError_t cudaLibraryGetManaged(void **pointer, size_t *bytes, cudaLibrary_t library,
                                  const char *name)
{
    return told(cuLibraryGetManaged((CUdeviceptr *)pointer, bytes, library, name));
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *symbol)
{
    return cudaGetFuncBySymbol((cudaFunction_t *)kernel, symbol);
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                            enum cudaFuncAttribute attribute, int value,
                                            int device)
{
    if (!emu_is_device(device)) return set(cudaErrorInvalidDevice);
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
