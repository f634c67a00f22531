/* How many blocks fit on a multiprocessor (SM) at once: four things can run out, and the
 * one that runs out first decides. Threads and shared memory are in the source; how many
 * registers a thread takes is the compiler's decision, which a chapter's registers.c
 * records. The rules are those of CUDA's own cuda_occupancy.h. */
#include "common.h"

#include <limits.h>
#include <stdio.h>

#include "../emulator/gpus.h"

/* A row of the table: an SM, and what a block of the chapter's kernel wants of it. */
struct row {
    const char *gpu;
    cudaOccDeviceProp sm;
    int registers; /* a thread */
    int threads;
    size_t shared; /* static and dynamic, bytes */
};

/* The dynamic shared memory of a block on a GPU that gives one at most `room` bytes. */
static size_t shared_within(const struct chapter *chapter, size_t room)
{
    return chapter->dynamic_shared > room && chapter->less_shared
               ? chapter->less_shared
               : chapter->dynamic_shared;
}

static int capability_of(const cudaOccDeviceProp *sm)
{
    return 10 * sm->computeMajor + sm->computeMinor;
}

static cudaOccResult blocks_that_fit(const struct row *row)
{
    cudaOccResult result = {0};
    const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED};
    const cudaOccFuncAttributes kernel = {
        .maxThreadsPerBlock = row->sm.maxThreadsPerBlock,
        .numRegs = row->registers,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = row->shared,
    };
    cudaOccMaxActiveBlocksPerMultiprocessor(&result, &row->sm, &kernel, &state,
                                            row->threads, row->shared);
    /* What is not used at all sets no limit of its own. */
    if (result.blockLimitSharedMem == INT_MAX)
        result.blockLimitSharedMem = result.blockLimitBlocks;
    return result;
}

/* Which of the four decide, as "threads+registers". */
static const char *limits(const cudaOccResult *fit, char *text, size_t size)
{
    const struct {
        const char *name;
        int blocks;
    } all[] = {{"threads", fit->blockLimitWarps},
               {"registers", fit->blockLimitRegs},
               {"shared", fit->blockLimitSharedMem},
               {"count", fit->blockLimitBlocks}};
    size_t used = 0;
    for (int i = 0; i < 4; i++)
        if (all[i].blocks == fit->activeBlocksPerMultiprocessor)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "",
                                     all[i].name);
    return text;
}

static void print_row(const struct row *row, bool json)
{
    const cudaOccResult fit = blocks_that_fit(row);
    const int warps = fit.activeBlocksPerMultiprocessor * ((row->threads + 31) / 32);
    const int most = row->sm.maxThreadsPerMultiprocessor / 32;
    const double percent = 100.0 * warps / most;
    char text[40];
    if (json)
        printf("{\"gpu\": \"%s\", \"capability\": %d, \"registers\": %d, \"shared\": "
               "%zu, \"threads\": %d, "
               "\"by_threads\": %d, \"by_registers\": %d, \"by_shared\": %d, "
               "\"by_blocks\": %d, \"blocks\": %d, "
               "\"limit\": \"%s\", \"warps\": %d, \"max_warps\": %d, \"percent\": %.1f",
               row->gpu, capability_of(&row->sm), row->registers, row->shared,
               row->threads, fit.blockLimitWarps, fit.blockLimitRegs,
               fit.blockLimitSharedMem, fit.blockLimitBlocks,
               fit.activeBlocksPerMultiprocessor, limits(&fit, text, sizeof text), warps,
               most, percent);
    else
        printf("  %-10s %4d %6zu %7d   %7d %5d %6d %6d   %2d of %2d %5.1f %%  %s\n",
               row->gpu, row->registers, row->shared, row->threads, fit.blockLimitWarps,
               fit.blockLimitRegs, fit.blockLimitSharedMem, fit.blockLimitBlocks, warps,
               most, percent, limits(&fit, text, sizeof text));
}

/* What nvcc made of the chapter's kernel for a GPU; NULL if the chapter does not say. */
static const struct compiled *look_up(int capability)
{
    for (const struct compiled *compiled = COMPILED; compiled && compiled->arch;
         compiled++)
        if (compiled->arch == capability) return compiled;
    return NULL;
}

/* The GPU that is here, and in *driver_blocks what CUDA itself answers for it. Returns
 * false where there is none. An emulated GPU counts for none: it had no compiler that
 * knows registers. */
static bool look_here(const struct chapter *chapter, struct cudaDeviceProp *gpu,
                      struct row *row, int *driver_blocks)
{
    struct cudaFuncAttributes kernel;
    int count = 0;
    if (EMULATED || cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return false;
    CUDA_CHECK(cudaGetDeviceProperties(gpu, 0));
    if (!runs_on(chapter, 10 * gpu->major + gpu->minor)) return false;
    CUDA_CHECK(cudaFuncGetAttributes(&kernel, chapter->kernel.code));
    const size_t shared = shared_within(chapter, gpu->sharedMemPerBlockOptin);
    if (shared > gpu->sharedMemPerBlock)
        CUDA_CHECK(cudaFuncSetAttribute(chapter->kernel.code,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)shared));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        driver_blocks, chapter->kernel.code, chapter->threads, shared));
    *row = (struct row){
        .gpu = gpu->name,
        .sm =
            {
                .computeMajor = gpu->major,
                .computeMinor = gpu->minor,
                .maxThreadsPerBlock = gpu->maxThreadsPerBlock,
                .maxThreadsPerMultiprocessor = gpu->maxThreadsPerMultiProcessor,
                .regsPerBlock = gpu->regsPerBlock,
                .regsPerMultiprocessor = gpu->regsPerMultiprocessor,
                .warpSize = gpu->warpSize,
                .sharedMemPerBlock = gpu->sharedMemPerBlock,
                .sharedMemPerMultiprocessor = gpu->sharedMemPerMultiprocessor,
                .numSms = gpu->multiProcessorCount,
                .sharedMemPerBlockOptin = gpu->sharedMemPerBlockOptin,
                .reservedSharedMemPerBlock = gpu->reservedSharedMemPerBlock,
            },
        .registers = kernel.numRegs,
        .threads = chapter->threads,
        .shared = kernel.sharedSizeBytes + shared,
    };
    return true;
}

int print_occupancy(const struct chapter *chapter, const struct options *options)
{
    const bool json = options->json;
    struct row rows[CARD_COUNT], here;
    struct cudaDeviceProp gpu;
    int driver_blocks;
    if (!chapter->kernel.code || !chapter->threads) {
        fprintf(stderr,
                "chapter%d: --occupancy: this chapter names no kernel of its own to "
                "count for\n",
                chapter->number);
        return USAGE;
    }
    for (int i = 0; i < CARD_COUNT; i++) {
        rows[i] = (struct row){.gpu = CARDS[i].short_name,
                               .sm = limits_of(&CARDS[i]),
                               .threads = chapter->threads};
        const int capability = capability_of(&rows[i].sm);
        if (!runs_on(chapter, capability)) continue;
        const struct compiled *compiled = look_up(capability);
        if (!compiled) {
            fprintf(stderr,
                    "chapter%d: --occupancy: the chapter's registers.c says nothing of "
                    "compute capability %d.%d; `make registers` writes it where nvcc is "
                    "installed\n",
                    chapter->number, capability / 10, capability % 10);
            return CANNOT;
        }
        rows[i].registers = compiled->registers;
        rows[i].shared = compiled->static_shared +
                         shared_within(chapter, rows[i].sm.sharedMemPerBlockOptin);
        if (options->registers) rows[i].registers = options->registers;
    }

    if (json)
        printf("{\"chapter\": %d, \"gpus\": [", chapter->number);
    else
        printf("Chapter %d: %s\n"
               "  A multiprocessor holds as many blocks as its scarcest resource allows: "
               "the limit.\n"
               "  regs are the registers of a thread, shared the bytes of shared memory "
               "of a block.\n\n"
               "            --- a block needs --   --- so many fit, by their --\n"
               "  GPU        regs shared threads   threads  regs shared  count   active "
               "warps     limit\n",
               chapter->number, chapter->title);
    for (int i = 0, shown = 0; i < CARD_COUNT; i++) {
        if (!runs_on(chapter, capability_of(&rows[i].sm))) {
            if (!json) printf("  %-11s needs %s\n", rows[i].gpu, what_it_needs(chapter));
            continue;
        }
        if (json && shown++) printf(", ");
        print_row(&rows[i], json);
        if (json) printf("}");
    }
    if (json) printf("]");
    if (look_here(chapter, &gpu, &here, &driver_blocks)) {
        if (options->registers) here.registers = options->registers;
        printf(json ? ", \"here\": "
                    : "\n  this machine's %s; "
                      "cudaOccupancyMaxActiveBlocksPerMultiprocessor says %d:\n",
               here.gpu, driver_blocks);
        if (!json) here.gpu = "";
        print_row(&here, json);
        if (json) printf(", \"cuda_blocks\": %d}", driver_blocks);
    }
    if (json) printf("}\n");
    return PASSED;
}
