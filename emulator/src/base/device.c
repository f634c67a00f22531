/* Which GPU is emulated, and how many blocks fit on its SMs. */
#include "base/device.h"

#include "../gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KB ((size_t)1024)
#define MB (KB * KB)

static void describe(struct emu_gpu *gpu, const struct card *card)
{
    const cudaOccDeviceProp limits = limits_of(card);
    int blocks_per_sm = 0;
    cudaOccMaxBlocksPerMultiprocessor(&blocks_per_sm, &limits);
    gpu->key = card->key;
    gpu->limits = limits;
    gpu->clock_khz = card->clock_mhz * 1000;
    gpu->doubles = multiply_adds_per_clock(card->major, card->minor) /
                   double_multiply_adds_per_clock(card->major, card->minor);
    gpu->peers = card->peers;
    gpu->prop = (struct cudaDeviceProp){
        .totalGlobalMem = card->memory_mb * MB,
        .sharedMemPerBlock = limits.sharedMemPerBlock,
        .sharedMemPerMultiprocessor = limits.sharedMemPerMultiprocessor,
        .sharedMemPerBlockOptin = limits.sharedMemPerBlockOptin,
        .reservedSharedMemPerBlock = limits.reservedSharedMemPerBlock,
        .regsPerBlock = limits.regsPerBlock,
        .regsPerMultiprocessor = limits.regsPerMultiprocessor,
        .warpSize = limits.warpSize,
        .memPitch = 2147483647,
        .maxThreadsPerBlock = limits.maxThreadsPerBlock,
        .maxThreadsDim = {1024, 1024, 64},
        .maxGridSize = {2147483647, 65535, 65535},
        .maxThreadsPerMultiProcessor = limits.maxThreadsPerMultiprocessor,
        .maxBlocksPerMultiProcessor = blocks_per_sm,
        .totalConstMem = 64 * KB,
        .major = card->major,
        .minor = card->minor,
        .multiProcessorCount = card->sms,
        .l2CacheSize = (int)(card->l2_kb * KB),
        .persistingL2CacheMaxSize = (int)persisting_l2_bytes(card),
        .accessPolicyMaxWindowSize = card->major >= 8 ? (int)(128 * MB) : 0,
        .memoryBusWidth = card->bus_bits,
        .clockRate = card->clock_mhz * 1000,
        .memoryClockRate = card->memory_clock_mhz * 1000,
        .ECCEnabled = card->ecc,
        .asyncEngineCount = card->copy_engines,
        .deviceOverlap = 1,
        .textureAlignment = 512,
        .texturePitchAlignment = 32,
        .surfaceAlignment = 512,
        .maxTexture1D = 131072,
        .maxTexture1DMipmap = 32768,
        .maxTexture2D = {131072, 65536},
        .maxTexture2DMipmap = {32768, 32768},
        .maxTexture2DLinear = {131072, 65000, 2097120},
        .maxTexture2DGather = {32768, 32768},
        .maxTexture3D = {16384, 16384, 16384},
        .maxTexture3DAlt = {8192, 8192, 32768},
        .maxTextureCubemap = 32768,
        .maxTexture1DLayered = {32768, 2048},
        .maxTexture2DLayered = {32768, 32768, 2048},
        .maxTextureCubemapLayered = {32768, 2046},
        .maxSurface1D = 32768,
        .maxSurface2D = {131072, 65536},
        .maxSurface3D = {16384, 16384, 16384},
        .maxSurface1DLayered = {32768, 2048},
        .maxSurface2DLayered = {32768, 32768, 2048},
        .maxSurfaceCubemap = 32768,
        .maxSurfaceCubemapLayered = {32768, 2046},
        .pciBusID = 1,
        .canMapHostMemory = 1,
        .concurrentKernels = 1,
        .unifiedAddressing = 1,
        .streamPrioritiesSupported = 1,
        .globalL1CacheSupported = 1,
        .localL1CacheSupported = 1,
        .managedMemory = 1,
        .concurrentManagedAccess = 1,
        .computePreemptionSupported = 1,
        .memoryPoolsSupported = 1,
        .cooperativeLaunch = 1,
        .clusterLaunch = card->major >= 9,
        .unifiedFunctionPointers = 1,
        .canUseHostPointerForRegisteredMem = 1,
        .hostRegisterSupported = 1,
        .hostRegisterReadOnlySupported = 1,
        .deviceNumaId = -1,
        .computeMode = cudaComputeModeDefault,
    };
    snprintf(gpu->prop.name, sizeof gpu->prop.name, "%s (emulated)", card->name);
}

static int device_count;
static _Thread_local int current;
static _Thread_local bool uses_runtime;

/* "h200", or "h200:4" for four of them. */
const struct emu_gpu *emu_gpu(void)
{
    static struct emu_gpu gpu;
    if (gpu.key) return &gpu;
    const char *wanted = getenv("EMULATE");
    if (!wanted || !*wanted) wanted = "h200";
    const size_t length = strcspn(wanted, ":");
    char *end = (char *)wanted + length;
    const long count = *end ? strtol(end + 1, &end, 10) : 1;
    for (int i = 0; i < CARD_COUNT; i++)
        if (strlen(CARDS[i].key) == length &&
            strncmp(wanted, CARDS[i].key, length) == 0) {
            if (count < 1 || count > EMU_MOST_DEVICES || *end) {
                fprintf(stderr, "EMULATE=%s: behind the colon stands how many, 1 to %d\n",
                        wanted, EMU_MOST_DEVICES);
                exit(2);
            }
            device_count = (int)count;
            describe(&gpu, &CARDS[i]);
            return &gpu;
        }
    fprintf(stderr, "EMULATE=%s: no such GPU; choose one of", wanted);
    for (int i = 0; i < CARD_COUNT; i++) fprintf(stderr, " %s", CARDS[i].key);
    fprintf(stderr, " (several: %s:2)\n", CARDS[CARD_COUNT - 2].key);
    exit(2);
}

int emu_device_count(void)
{
    emu_gpu();
    return device_count;
}

int emu_device(void)
{
    return current;
}

cudaUUID_t emu_uuid(int device)
{
    cudaUUID_t uuid;
    for (int i = 0; i < 16; i++)
        uuid.bytes[i] = (char)(i < 15 ? emu_gpu()->key[i % 2] : device);
    return uuid;
}

void emu_set_device(int device)
{
    current = device;
}

bool emu_uses_runtime(void)
{
    return uses_runtime;
}

void emu_runtime_is_used(bool used)
{
    uses_runtime = used;
}

struct emu_occupancy emu_occupancy(unsigned threads_per_block,
                                   unsigned registers_per_thread, size_t shared)
{
    const struct emu_gpu *gpu = emu_gpu();
    const cudaOccFuncAttributes kernel = {
        .maxThreadsPerBlock = gpu->limits.maxThreadsPerBlock,
        .numRegs = (int)registers_per_thread,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = gpu->limits.sharedMemPerBlockOptin,
    };
    const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED};
    cudaOccResult fit = {0};
    cudaOccMaxActiveBlocksPerMultiprocessor(&fit, &gpu->limits, &kernel, &state,
                                            (int)threads_per_block, shared);
    /* What is not used at all sets no limit of its own. */
    const int by_blocks = fit.blockLimitBlocks;
    const unsigned warps = (threads_per_block + 31) / 32;
    return (struct emu_occupancy){
        .by_warps = (unsigned)fit.blockLimitWarps,
        .by_registers =
            (unsigned)(fit.blockLimitRegs == INT_MAX ? by_blocks : fit.blockLimitRegs),
        .by_shared =
            (unsigned)(fit.blockLimitSharedMem == INT_MAX ? by_blocks
                                                          : fit.blockLimitSharedMem),
        .by_blocks = (unsigned)by_blocks,
        .blocks = (unsigned)fit.activeBlocksPerMultiprocessor,
        .warps = (unsigned)fit.activeBlocksPerMultiprocessor * warps,
        .max_warps = (unsigned)(gpu->limits.maxThreadsPerMultiprocessor / 32),
    };
}
