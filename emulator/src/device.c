/* Which GPU is emulated: what its cards' data sheets and cudaGetDeviceProperties say, and
 * how many blocks fit on an SM. */
#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KB ((size_t)1024)
#define MB (KB * KB)

static const struct card {
    const char *key, *name;
    int major, minor, sms, threads_per_sm, blocks_per_sm;
    size_t shared_kb_per_sm, l2_kb, memory_mb;
    int clock_mhz, memory_clock_mhz, bus_bits, copy_engines, ecc;
} CARDS[] = {
    {"t4", "Tesla T4", 7, 5, 40, 1024, 16, 64, 4096, 15110, 1590, 5001, 256, 3, 1},
    {"rtx3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 1536, 16, 100, 6144, 24260, 1695,
     9751, 384, 2, 0},
    {"a6000", "NVIDIA RTX A6000", 8, 6, 84, 1536, 16, 100, 6144, 48677, 1800, 8001, 384,
     2, 0},
    {"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 2048, 32, 164, 40960, 81154, 1410, 1593,
     5120, 3, 1},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 1536, 24, 100, 73728, 24210, 2520,
     10501, 384, 2, 0},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 2048, 32, 228, 51200, 81079, 1980, 2619,
     5120, 3, 1},
    {"h200", "NVIDIA H200", 9, 0, 132, 2048, 32, 228, 61440, 143156, 1980, 3201, 6144, 3,
     1},
    {"b200", "NVIDIA B200", 10, 0, 148, 2048, 32, 228, 129536, 182630, 1965, 3996, 7680,
     4, 1},
};
enum { CARD_COUNT = sizeof CARDS / sizeof CARDS[0] };

static void describe(struct emu_gpu *gpu, const struct card *card)
{
    /* From compute capability 8.0 on, the system takes 1 KB of shared memory for itself
     * in every block. */
    size_t reserved = card->major >= 8 ? 1 * KB : 0;
    gpu->key = card->key;
    gpu->clock_khz = card->clock_mhz * 1000;
    gpu->prop = (struct cudaDeviceProp){
        .totalGlobalMem = card->memory_mb * MB,
        .sharedMemPerBlock = 48 * KB,
        .sharedMemPerMultiprocessor = card->shared_kb_per_sm * KB,
        .sharedMemPerBlockOptin = card->shared_kb_per_sm * KB - reserved,
        .reservedSharedMemPerBlock = reserved,
        .regsPerBlock = 65536,
        .regsPerMultiprocessor = 65536,
        .warpSize = 32,
        .memPitch = 2147483647,
        .maxThreadsPerBlock = 1024,
        .maxThreadsDim = {1024, 1024, 64},
        .maxGridSize = {2147483647, 65535, 65535},
        .maxThreadsPerMultiProcessor = card->threads_per_sm,
        .maxBlocksPerMultiProcessor = card->blocks_per_sm,
        .totalConstMem = 64 * KB,
        .major = card->major,
        .minor = card->minor,
        .multiProcessorCount = card->sms,
        .l2CacheSize = (int)(card->l2_kb * KB),
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
        .maxTexture2D = {131072, 65536},
        .maxTexture3D = {16384, 16384, 16384},
        .maxTexture1DLayered = {32768, 2048},
        .maxTexture2DLayered = {32768, 32768, 2048},
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
        .computeMode = cudaComputeModeDefault,
    };
    snprintf(gpu->prop.name, sizeof gpu->prop.name, "%s (emulated)", card->name);
}

const struct emu_gpu *emu_gpu(void)
{
    static struct emu_gpu gpu;
    if (gpu.key) return &gpu;
    const char *wanted = getenv("EMULATE");
    if (!wanted || !*wanted) wanted = "h200";
    for (int i = 0; i < CARD_COUNT; i++)
        if (strcmp(wanted, CARDS[i].key) == 0) {
            describe(&gpu, &CARDS[i]);
            return &gpu;
        }
    fprintf(stderr, "EMULATE=%s: no such GPU; choose one of", wanted);
    for (int i = 0; i < CARD_COUNT; i++) fprintf(stderr, " %s", CARDS[i].key);
    fputc('\n', stderr);
    exit(2);
}

static size_t round_up(size_t value, size_t step)
{
    return (value + step - 1) / step * step;
}

struct emu_occupancy emu_occupancy(unsigned threads_per_block,
                                   unsigned registers_per_thread, size_t shared)
{
    /* An SM is four parts with their own registers; a warp stays in one part and takes
     * registers in steps of 256. */
    enum { WARP = 32, PARTS = 4, REGISTER_STEP = 256, MAX_REGISTERS = 255 };
    const struct cudaDeviceProp *gpu = &emu_gpu()->prop;
    struct emu_occupancy o = {.max_warps =
                                  (unsigned)(gpu->maxThreadsPerMultiProcessor / WARP),
                              .by_blocks = (unsigned)gpu->maxBlocksPerMultiProcessor};

    unsigned warps = (threads_per_block + WARP - 1) / WARP;
    if (warps > 0 && threads_per_block <= (unsigned)gpu->maxThreadsPerBlock)
        o.by_warps = o.max_warps / warps;

    size_t per_warp = round_up((size_t)registers_per_thread * WARP, REGISTER_STEP);
    if (per_warp == 0)
        o.by_registers = o.by_blocks;
    else if (registers_per_thread <= MAX_REGISTERS && warps > 0)
        o.by_registers =
            (unsigned)(gpu->regsPerMultiprocessor / PARTS / per_warp * PARTS / warps);

    size_t shared_step = gpu->major >= 8 ? 128 : 256;
    size_t per_block = round_up(shared + gpu->reservedSharedMemPerBlock, shared_step);
    if (per_block == 0)
        o.by_shared = o.by_blocks;
    else if (shared <= gpu->sharedMemPerBlockOptin)
        o.by_shared = (unsigned)(gpu->sharedMemPerMultiprocessor / per_block);

    o.blocks = o.by_warps;
    if (o.by_registers < o.blocks) o.blocks = o.by_registers;
    if (o.by_shared < o.blocks) o.blocks = o.by_shared;
    if (o.by_blocks < o.blocks) o.blocks = o.by_blocks;
    o.warps = o.blocks * warps;
    return o;
}
