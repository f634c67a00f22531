/* What is known of kernels, and what the program has limited them to: dynamic shared
 * memory, threads, the heap; and how many of their blocks fit on an SM. */
#include "base/functions.h"

#include <stdlib.h>

#include "base/device.h"
#include "base/errors.h"
#include "base/now.h"
#include "base/settings.h"
#include "emulator_runtime.h"

/* ---- limits ---- */

/* The limits are stored; only the heap's has an effect (allocations.c). */
static size_t limits[] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 1 << 20,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitDevRuntimeSyncDepth] = 2,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
    [cudaLimitPersistingL2CacheSize] = 0,
};

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((size_t)limit >= sizeof limits / sizeof limits[0])
        return set(cudaErrorUnsupportedLimit);
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (!value) return set(cudaErrorInvalidValue);
    if ((size_t)limit >= sizeof limits / sizeof limits[0])
        return set(cudaErrorUnsupportedLimit);
    *value = limits[limit];
    return cudaSuccess;
}

/* A wish, which the program may ask for. */
static enum cudaFuncCache cache_config;

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    if ((unsigned)config > cudaFuncCachePreferEqual) return set(cudaErrorInvalidValue);
    cache_config = config;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    if (!config) return set(cudaErrorInvalidValue);
    *config = cache_config;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    return set((unsigned)config <= cudaSharedMemBankSizeEightByte
                   ? cudaSuccess
                   : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    if (!config) return set(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte; /* since compute capability 5.0 always */
    return cudaSuccess;
}

/* ---- kernels ---- */

/* The kernels of which something is known: their limit was set, or they have run. */
struct function {
    const void *kernel;
    size_t dynamic_shared; /* the limit */
    size_t static_shared;  /* what the last launch declared */
    unsigned threads_at_most;
    bool wide_clusters; /* cudaFuncAttributeNonPortableClusterSizeAllowed */
};
static struct function *functions;
static size_t function_count;

static struct function *find_function(const void *kernel)
{
    for (size_t i = 0; i < function_count; i++)
        if (functions[i].kernel == kernel) return &functions[i];
    return NULL;
}

/* Called before main() too, for __launch_bounds__: which GPU is emulated is not asked
 * here, and need not be, for these two are the same on all. */
static struct function *find_or_add_function(const void *kernel)
{
    enum { SHARED_UNASKED = 48 << 10, MOST_THREADS = 1024 };
    struct function *f = find_function(kernel);
    if (f) return f;
    struct function *grown = realloc(functions, (function_count + 1) * sizeof *functions);
    if (!grown) return NULL;
    functions = grown;
    f = &functions[function_count++];
    *f = (struct function){.kernel = kernel,
                           .dynamic_shared = SHARED_UNASKED,
                           .threads_at_most = MOST_THREADS};
    return f;
}

const struct emu_known_kernel *emu_known_kernels;

void emu_know_kernel(struct emu_known_kernel *kernel)
{
    kernel->others = emu_known_kernels;
    emu_known_kernels = kernel;
}

const struct emu_known_kernel *emu_find_kernel(const void *function)
{
    const struct emu_known_kernel *k = emu_known_kernels;
    while (k && (const void *)(uintptr_t)k->function != function) k = k->others;
    return k;
}

void emu_note_static_shared(const void *kernel, size_t bytes)
{
    struct function *f = kernel ? find_or_add_function(kernel) : NULL;
    if (f) f->static_shared = bytes;
}

void emu_note_launch_bounds(const void *kernel, unsigned threads_at_most)
{
    struct function *f = kernel ? find_or_add_function(kernel) : NULL;
    if (f && threads_at_most < f->threads_at_most) f->threads_at_most = threads_at_most;
}

size_t emu_dynamic_shared_limit(const void *kernel)
{
    const struct function *f = kernel ? find_function(kernel) : NULL;
    size_t limit = f ? f->dynamic_shared : emu_gpu()->prop.sharedMemPerBlock;
    for (size_t i = 0; !kernel && i < function_count; i++)
        if (functions[i].dynamic_shared > limit) limit = functions[i].dynamic_shared;
    return limit;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attr,
                                 int value)
{
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    if (attr == cudaFuncAttributePreferredSharedMemoryCarveout)
        return set(value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue);
    if (attr == cudaFuncAttributeClusterSchedulingPolicyPreference) return cudaSuccess;
    const bool shared = attr == cudaFuncAttributeMaxDynamicSharedMemorySize,
               clusters = attr == cudaFuncAttributeNonPortableClusterSizeAllowed;
    if (!shared && !clusters) return set(cudaErrorInvalidValue);
    if (value < 0 || (shared && (size_t)value > emu_gpu()->prop.sharedMemPerBlockOptin))
        return set(cudaErrorInvalidValue);
    EMU_ALONE;
    struct function *f = find_or_add_function(kernel);
    if (!f) return set(cudaErrorMemoryAllocation);
    if (shared) f->dynamic_shared = (size_t)value;
    if (clusters) f->wide_clusters = value != 0;
    return cudaSuccess;
}

static cudaError_t launch(const void *kernel, const struct emu_launch *shape,
                          void **arguments)
{
    const struct emu_known_kernel *const k = emu_find_kernel(kernel);
    if (!k) return set(cudaErrorInvalidDeviceFunction);
    return (cudaError_t)k->launch(k->function, k->name, shape, arguments, NULL);
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream)
{
    const struct emu_launch shape = {.grid = {grid.x, grid.y, grid.z},
                                     .block = {block.x, block.y, block.z},
                                     .dynamic_shared = shared,
                                     .stream = stream};
    return launch(kernel, &shape, arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block,
                                        void **arguments, size_t shared,
                                        cudaStream_t stream)
{
    const struct emu_launch shape = {.grid = {grid.x, grid.y, grid.z},
                                     .block = {block.x, block.y, block.z},
                                     .dynamic_shared = shared,
                                     .cooperative = 1,
                                     .stream = stream};
    return launch(kernel, &shape, arguments);
}

/* Only NVIDIA's compiler knows how many registers a thread takes; LENS_REGS tells, or it
 * is this many. */
static unsigned assumed_registers(void)
{
    enum { ASSUMED_REGISTERS = 32 };
    const long told = emu_settings.lens_registers;
    return told ? (unsigned)told : ASSUMED_REGISTERS;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                  const void *kernel)
{
    if (!attributes) return set(cudaErrorInvalidValue);
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    const struct cudaDeviceProp *gpu = &emu_gpu()->prop;
    const struct function *f = find_function(kernel);
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = f ? f->static_shared : 0,
        .maxThreadsPerBlock = f ? (int)f->threads_at_most : gpu->maxThreadsPerBlock,
        .numRegs = (int)assumed_registers(),
        .ptxVersion = 10 * gpu->major + gpu->minor,
        .binaryVersion = 10 * gpu->major + gpu->minor,
        .maxDynamicSharedSizeBytes = (int)emu_dynamic_shared_limit(kernel),
        .preferredShmemCarveout = -1,
    };
    return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char **name, const void *kernel)
{
    if (!name) return set(cudaErrorInvalidValue);
    const struct emu_known_kernel *const k = emu_find_kernel(kernel);
    if (!k) return set(cudaErrorInvalidDeviceFunction);
    *name = k->name;
    return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config)
{
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    return set((unsigned)config <= cudaFuncCachePreferEqual ? cudaSuccess
                                                            : cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *kernel,
                                       enum cudaSharedMemConfig config)
{
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    return cudaDeviceSetSharedMemConfig(config);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                   const void *kernel,
                                                                   int block_size,
                                                                   size_t dynamic_shared,
                                                                   unsigned int flags)
{
    if (!blocks || block_size <= 0 || flags > cudaOccupancyDisableCachingOverride)
        return set(cudaErrorInvalidValue);
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    EMU_ALONE;
    *blocks = 0;
    /* How much shared memory a kernel declares is known here once it has run. */
    const struct function *f = find_function(kernel);
    const bool allowed = !f || (unsigned)block_size <= f->threads_at_most;
    if (allowed && dynamic_shared <= emu_dynamic_shared_limit(kernel)) {
        const size_t shared = dynamic_shared + (f ? f->static_shared : 0);
        *blocks =
            (int)emu_occupancy((unsigned)block_size, assumed_registers(), shared).blocks;
    }
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block_size,
                                                          size_t dynamic_shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, kernel, block_size, dynamic_shared, cudaOccupancyDefault);
}

/* ---- clusters ---- */

unsigned emu_widest_cluster(const void *kernel)
{
    enum { PORTABLE = 8 };
    const struct function *f = kernel ? find_function(kernel) : NULL;
    return kernel && (!f || !f->wide_clusters) ? PORTABLE : EMU_MAX_BLOCKS;
}

/* The blocks of a cluster run in one GPC. The GPUs that know clusters have eight, and their
 * SMs come in pairs; which GPCs have a pair more than others differs from chip to chip. */
unsigned emu_clusters_that_fit(unsigned blocks, unsigned blocks_per_sm)
{
    enum { GPCS = 8 };
    const unsigned pairs = (unsigned)emu_gpu()->prop.multiProcessorCount / 2;
    unsigned fit = 0;
    for (unsigned i = 0; i < GPCS; i++)
        fit += 2 * (pairs / GPCS + (i < pairs % GPCS)) * blocks_per_sm / blocks;
    return fit;
}

/* Only the attributes of a launch are looked at: what a kernel says of its clusters is known
 * once it runs. */
static cudaError_t fitting_clusters(const void *kernel, const cudaLaunchConfig_t *launch,
                                    unsigned blocks, int *clusters)
{
    if (blocks == 0 || blocks > emu_widest_cluster(kernel) ||
        (blocks > 1 && emu_gpu()->prop.major < 9))
        return cudaErrorInvalidClusterSize;
    const unsigned long long threads =
        (unsigned long long)launch->blockDim.x * launch->blockDim.y * launch->blockDim.z;
    if (threads == 0 || threads > (unsigned)emu_gpu()->prop.maxThreadsPerBlock)
        return cudaErrorInvalidConfiguration;
    int per_sm = 0;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_sm, kernel, (int)threads, launch->dynamicSmemBytes);
    if (error == cudaSuccess)
        *clusters = (int)emu_clusters_that_fit(blocks, (unsigned)per_sm);
    return error;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *kernel,
                                           const cudaLaunchConfig_t *launch)
{
    if (!clusters || !launch) return set(cudaErrorInvalidValue);
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    EMU_ALONE;
    unsigned blocks = 1;
    for (unsigned i = 0; i < launch->numAttrs; i++)
        if (launch->attrs[i].id == cudaLaunchAttributeClusterDimension)
            blocks = launch->attrs[i].val.clusterDim.x *
                     launch->attrs[i].val.clusterDim.y *
                     launch->attrs[i].val.clusterDim.z;
    return set(fitting_clusters(kernel, launch, blocks, clusters));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *kernel,
                                                 const cudaLaunchConfig_t *launch)
{
    if (!blocks || !launch) return set(cudaErrorInvalidValue);
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    EMU_ALONE;
    unsigned most = emu_gpu()->prop.major < 9 ? 1 : emu_widest_cluster(kernel);
    int fit = 0;
    cudaError_t error = fitting_clusters(kernel, launch, most, &fit);
    while (error == cudaSuccess && fit == 0 && most > 1)
        error = fitting_clusters(kernel, launch, --most, &fit);
    *blocks = fit ? (int)most : 0;
    return set(error);
}

/* The most with which so many blocks still fit on a multiprocessor. */
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *kernel,
                                                      int blocks, int block_size)
{
    if (!bytes || blocks <= 0) return set(cudaErrorInvalidValue);
    size_t fits = 0, too_many = emu_dynamic_shared_limit(kernel) + 1;
    for (size_t now = 0; too_many - fits > 1; now = (fits + too_many) / 2) {
        int most;
        const cudaError_t error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, kernel, block_size, now);
        if (error != cudaSuccess) return error;
        if (now == 0 && most < blocks) return set(cudaErrorInvalidValue);
        *(most < blocks ? &too_many : &fits) = now;
    }
    *bytes = fits;
    return cudaSuccess;
}
