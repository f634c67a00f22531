/* How many blocks of a kernel fit on a multiprocessor (SM), from nothing but numbers: the
 * part of NVIDIA's header of this name that answers that question, for compute capability
 * 7.5 and newer. The emulator's own occupancy calls use it too.
 *
 * The rules are those of "Technical Specifications per Compute Capability" in the CUDA
 * C++ Programming Guide; a test compares the answers with those of NVIDIA's header. */
#ifndef EMULATOR_CUDA_OCCUPANCY_H
#define EMULATOR_CUDA_OCCUPANCY_H

#include <limits.h>
#include <stddef.h>

typedef enum cudaOccError_enum {
    CUDA_OCC_SUCCESS = 0,
    CUDA_OCC_ERROR_INVALID_INPUT = 1,
    CUDA_OCC_ERROR_UNKNOWN_DEVICE = 2
} cudaOccError;

/* A GPU and its multiprocessors. */
typedef struct cudaOccDeviceProp {
    int computeMajor, computeMinor;
    int maxThreadsPerBlock, maxThreadsPerMultiprocessor;
    int regsPerBlock, regsPerMultiprocessor;
    int warpSize;
    size_t sharedMemPerBlock, sharedMemPerMultiprocessor;
    int numSms;
    size_t sharedMemPerBlockOptin;
    size_t
        reservedSharedMemPerBlock; /* what the system takes for itself in every block */
} cudaOccDeviceProp;

typedef enum cudaOccPartitionedGCConfig_enum {
    PARTITIONED_GC_OFF,
    PARTITIONED_GC_ON,
    PARTITIONED_GC_ON_STRICT
} cudaOccPartitionedGCConfig;

typedef enum cudaOccFuncShmemConfig_enum {
    FUNC_SHMEM_LIMIT_DEFAULT, /* a block has sharedMemPerBlock at most */
    FUNC_SHMEM_LIMIT_OPTIN    /* it has asked for more: sharedMemPerBlockOptin */
} cudaOccFuncShmemConfig;

/* A kernel. */
typedef struct cudaOccFuncAttributes {
    int maxThreadsPerBlock;
    int numRegs;                                    /* a thread */
    size_t sharedSizeBytes;                         /* static, a block */
    cudaOccPartitionedGCConfig partitionedGCConfig; /* of GPUs before 7.0: ignored */
    cudaOccFuncShmemConfig shmemLimitConfig;
    size_t
        maxDynamicSharedSizeBytes; /* how far a block may go with FUNC_SHMEM_LIMIT_OPTIN */
    int numBlockBarriers, virtualResourceCount; /* ignored */
} cudaOccFuncAttributes;

typedef enum cudaOccCacheConfig_enum {
    CACHE_PREFER_NONE,
    CACHE_PREFER_SHARED,
    CACHE_PREFER_L1,
    CACHE_PREFER_EQUAL
} cudaOccCacheConfig;

typedef enum cudaOccCarveoutConfig_enum {
    SHAREDMEM_CARVEOUT_DEFAULT = -1,
    SHAREDMEM_CARVEOUT_MAX_L1 = 0,
    SHAREDMEM_CARVEOUT_HALF = 50,
    SHAREDMEM_CARVEOUT_MAX_SHARED = 100
} cudaOccCarveoutConfig;

/* A preference between L1 and shared memory. All of the SM's shared memory counts here,
 * whatever it says. */
typedef struct cudaOccDeviceState {
    cudaOccCacheConfig cacheConfig;
    int carveoutConfig;
} cudaOccDeviceState;

typedef enum cudaOccLimitingFactor_enum {
    OCC_LIMIT_WARPS = 0x01,
    OCC_LIMIT_REGISTERS = 0x02,
    OCC_LIMIT_SHARED_MEMORY = 0x04,
    OCC_LIMIT_BLOCKS = 0x08
} cudaOccLimitingFactor;

typedef struct cudaOccResult {
    int activeBlocksPerMultiprocessor; /* the least of the four; 0: not even one fits */
    unsigned int limitingFactors; /* which of the four that is: cudaOccLimitingFactor */
    int blockLimitRegs;           /* INT_MAX if none is used */
    int blockLimitSharedMem;      /* INT_MAX if none is used */
    int blockLimitWarps;
    int blockLimitBlocks;
    int allocatedRegistersPerBlock;
    size_t allocatedSharedMemPerBlock;
} cudaOccResult;

/* The most blocks that an SM of this compute capability holds. */
static inline cudaOccError
cudaOccMaxBlocksPerMultiprocessor(int *limit, const cudaOccDeviceProp *properties)
{
    switch (10 * properties->computeMajor + properties->computeMinor) {
    case 75:
    case 86:
    case 87: *limit = 16; return CUDA_OCC_SUCCESS;
    case 89:
    case 110:
    case 120:
    case 121: *limit = 24; return CUDA_OCC_SUCCESS;
    case 80:
    case 90:
    case 100:
    case 103: *limit = 32; return CUDA_OCC_SUCCESS;
    default: return CUDA_OCC_ERROR_UNKNOWN_DEVICE;
    }
}

/* Fills in `result` for blocks of `blockSize` threads with `dynamicSmemSize` bytes of
 * dynamic shared memory each. */
static inline cudaOccError cudaOccMaxActiveBlocksPerMultiprocessor(
    cudaOccResult *result, const cudaOccDeviceProp *properties,
    const cudaOccFuncAttributes *attributes, const cudaOccDeviceState *state,
    int blockSize, size_t dynamicSmemSize)
{
    /* Registers go to whole warps in steps of 256. The SM is four parts, each with a
     * quarter of the registers, and a warp stays in one. */
    enum { REGISTER_STEP = 256, MOST_REGISTERS = 256, PARTS = 4 };
    const int warp = properties->warpSize;
    int by_blocks;
    (void)state;
    if (blockSize < 1 || warp < 1 || attributes->numRegs < 0)
        return CUDA_OCC_ERROR_INVALID_INPUT;
    if (cudaOccMaxBlocksPerMultiprocessor(&by_blocks, properties))
        return CUDA_OCC_ERROR_UNKNOWN_DEVICE;

    const int warps = (blockSize + warp - 1) / warp;
    const int by_warps = blockSize > properties->maxThreadsPerBlock
                             ? 0
                             : properties->maxThreadsPerMultiprocessor / warp / warps;

    const int a_warp =
        (attributes->numRegs * warp + REGISTER_STEP - 1) / REGISTER_STEP * REGISTER_STEP;
    /* A block is let in as if it took registers of all four parts alike. */
    const int assumed = a_warp * ((warps + PARTS - 1) / PARTS * PARTS);
    int by_registers = INT_MAX;
    if (attributes->numRegs > MOST_REGISTERS || assumed > properties->regsPerBlock)
        by_registers = 0;
    else if (a_warp > 0)
        by_registers = properties->regsPerMultiprocessor / PARTS / a_warp * PARTS / warps;

    const int opted_in = attributes->shmemLimitConfig == FUNC_SHMEM_LIMIT_OPTIN &&
                         attributes->sharedSizeBytes +
                                 properties->reservedSharedMemPerBlock +
                                 attributes->maxDynamicSharedSizeBytes >
                             properties->sharedMemPerBlock;
    const size_t step = properties->computeMajor >= 8 ? 128 : 256;
    const size_t wanted = attributes->sharedSizeBytes + dynamicSmemSize +
                          properties->reservedSharedMemPerBlock;
    const size_t a_block = (wanted + step - 1) / step * step;
    const size_t most =
        (opted_in ? properties->sharedMemPerBlockOptin : properties->sharedMemPerBlock) +
        properties->reservedSharedMemPerBlock;
    int by_shared = INT_MAX;
    if (a_block > most || (attributes->shmemLimitConfig == FUNC_SHMEM_LIMIT_OPTIN &&
                           dynamicSmemSize > attributes->maxDynamicSharedSizeBytes))
        by_shared = 0;
    else if (a_block > 0)
        by_shared = (int)(properties->sharedMemPerMultiprocessor / a_block);

    int blocks = by_warps < by_registers ? by_warps : by_registers;
    if (by_shared < blocks) blocks = by_shared;
    if (by_blocks < blocks) blocks = by_blocks;
    result->activeBlocksPerMultiprocessor = blocks;
    result->limitingFactors = (blocks == by_warps ? OCC_LIMIT_WARPS : 0u) |
                              (blocks == by_registers ? OCC_LIMIT_REGISTERS : 0u) |
                              (blocks == by_shared ? OCC_LIMIT_SHARED_MEMORY : 0u) |
                              (blocks == by_blocks ? OCC_LIMIT_BLOCKS : 0u);
    result->blockLimitRegs = by_registers;
    result->blockLimitSharedMem = by_shared;
    result->blockLimitWarps = by_warps;
    result->blockLimitBlocks = by_blocks;
    result->allocatedRegistersPerBlock = a_warp * warps;
    result->allocatedSharedMemPerBlock = a_block;
    return CUDA_OCC_SUCCESS;
}

#endif
