/* The rules of occupancy alone, for test_occupancy.py.
 *
 *     occupancy_rules THREADS REGISTERS SHARED    prints a line for each GPU
 *     occupancy_rules                             compares with NVIDIA's own header, if it was built with it: every
 *                                                 GPU, many kinds of blocks; prints the differences
 */
#include "occupancy.c"

#ifdef NVIDIA_HEADER
#include NVIDIA_HEADER

static int nvidias_blocks(const struct sm *sm, int threads, int registers, size_t shared,
                          cudaOccResult *result)
{
    const cudaOccDeviceProp gpu = {.computeMajor = sm->capability / 10,
                                   .computeMinor = sm->capability % 10,
                                   .maxThreadsPerBlock = 1024,
                                   .maxThreadsPerMultiprocessor = sm->threads,
                                   .regsPerBlock = 65536,
                                   .regsPerMultiprocessor = sm->registers,
                                   .warpSize = 32,
                                   .sharedMemPerBlock = 48 * KB,
                                   .sharedMemPerMultiprocessor = sm->shared,
                                   .numSms = 1,
                                   .sharedMemPerBlockOptin = sm->shared - sm->reserved,
                                   .reservedSharedMemPerBlock = sm->reserved};
    const cudaOccFuncAttributes kernel = {.maxThreadsPerBlock = 1024,
                                          .numRegs = registers,
                                          .sharedSizeBytes = shared,
                                          .maxDynamicSharedSizeBytes = sm->shared,
                                          .partitionedGCConfig = PARTITIONED_GC_OFF,
                                          .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN};
    const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED};
    if (cudaOccMaxActiveBlocksPerMultiprocessor(result, &gpu, &kernel, &state, threads,
                                                0))
        return -1;
    return result->activeBlocksPerMultiprocessor;
}

static int compare(void)
{
    int compared = 0, different = 0;
    for (int i = 0; i < SM_COUNT; i++)
        for (int threads = 1; threads <= 1024; threads += threads % 32 == 0 ? 1 : 31)
            for (int registers = 1; registers <= 255; registers++)
                for (size_t shared = 0; shared <= SMS[i].shared - SMS[i].reserved;
                     shared += 7777) {
                    cudaOccResult theirs = {0};
                    const struct residency ours =
                        residency_on(&SMS[i], threads, registers, shared);
                    const int blocks =
                        nvidias_blocks(&SMS[i], threads, registers, shared, &theirs);
                    compared++;
                    if (ours.blocks == blocks &&
                        ours.by_threads == theirs.blockLimitWarps &&
                        ours.by_blocks == theirs.blockLimitBlocks &&
                        ours.by_registers == theirs.blockLimitRegs)
                        continue;
                    if (different++ < 10)
                        printf("%s, %d threads, %d registers, %zu bytes: %d blocks (by "
                               "registers %d), NVIDIA %d (%d)\n",
                               SMS[i].gpu, threads, registers, shared, ours.blocks,
                               ours.by_registers, blocks, theirs.blockLimitRegs);
                }
    printf("%d compared, %d different\n", compared, different);
    return different > 0;
}
#endif

int main(int argc, char **argv)
{
#ifdef NVIDIA_HEADER
    if (argc == 1) return compare();
#endif
    if (argc != 4) return USAGE;
    for (int i = 0; i < SM_COUNT; i++) {
        const struct residency r =
            residency_on(&SMS[i], atoi(argv[1]), atoi(argv[2]), (size_t)atoi(argv[3]));
        printf("%s: %d %d %d %d, %d of %d\n", SMS[i].gpu, r.by_threads, r.by_registers,
               r.by_shared, r.by_blocks, r.warps, r.max_warps);
    }
    return 0;
}
