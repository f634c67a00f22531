/* What cuda_occupancy.h answers for the eight GPUs, for test_occupancy.py: it is built
 * with the emulator's header and, where that is here, with NVIDIA's.
 *
 *     occupancy_rules THREADS REGISTERS SHARED    prints a line for each GPU
 *     occupancy_rules                             sums up many kinds of blocks, in a line
 *                                                 for each GPU and number of threads
 */
#include "gpus.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static cudaOccResult fit(const cudaOccDeviceProp *sm, int threads, int registers,
                         size_t shared)
{
    cudaOccResult result = {0};
    const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED};
    const cudaOccFuncAttributes kernel = {
        .maxThreadsPerBlock = sm->maxThreadsPerBlock,
        .numRegs = registers,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = sm->sharedMemPerMultiprocessor,
    };
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, sm, &kernel, &state, threads,
                                                shared))
        exit(1);
    return result;
}

/* FNV-1a, so that a sum differs wherever an answer does. */
static uint64_t add(uint64_t sum, int value)
{
    return (sum ^ (uint64_t)value) * 1099511628211u;
}

static void sum_up(const struct card *card, int threads)
{
    const cudaOccDeviceProp sm = limits_of(card);
    uint64_t sum = 14695981039346656037u;
    for (int registers = 0; registers <= 256; registers++)
        for (size_t shared = 0; shared <= sm.sharedMemPerMultiprocessor; shared += 7777) {
            const cudaOccResult result = fit(&sm, threads, registers, shared);
            const int answers[] = {
                result.activeBlocksPerMultiprocessor,
                (int)result.limitingFactors,
                result.blockLimitWarps,
                result.blockLimitRegs,
                result.blockLimitSharedMem,
                result.blockLimitBlocks,
                result.allocatedRegistersPerBlock,
                (int)result.allocatedSharedMemPerBlock,
            };
            for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
                sum = add(sum, answers[i]);
        }
    printf("%s, %d threads: %016llx\n", card->short_name, threads,
           (unsigned long long)sum);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < CARD_COUNT; i++) {
        if (argc == 1) {
            for (int threads = 1; threads <= 1056; threads += threads % 32 == 0 ? 1 : 31)
                sum_up(&CARDS[i], threads);
            continue;
        }
        if (argc != 4) return 2;
        const cudaOccDeviceProp sm = limits_of(&CARDS[i]);
        const cudaOccResult result =
            fit(&sm, atoi(argv[1]), atoi(argv[2]), (size_t)atoi(argv[3]));
        printf("%s: %d %d %d %d, %d\n", CARDS[i].short_name, result.blockLimitWarps,
               result.blockLimitRegs, result.blockLimitSharedMem, result.blockLimitBlocks,
               result.activeBlocksPerMultiprocessor);
    }
    return 0;
}
