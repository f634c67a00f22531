/* How many blocks fit on a multiprocessor (SM) at once, by the book: four things can run
 * out, and the one that runs out first decides. Threads, blocks and shared memory are in
 * the source; how many registers a thread takes is the compiler's decision. On a GPU the
 * driver is asked. Without one results/registers.csv tells, which `make registers`
 * writes. */
#include "common.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KB ((size_t)1024)
/* Warps take registers in steps of 256, each from one of the SM's four partitions. */
enum {
    WARP = 32,
    PARTITIONS = 4,
    REGISTER_STEP = 256,
    MOST_REGISTERS = 255,
    MOST_THREADS = 1024
};

static const struct sm SMS[] = {
    {"T4", 75, 1024, 16, 65536, 64 * KB, 0},
    {"RTX 3090", 86, 1536, 16, 65536, 100 * KB, KB},
    {"RTX A6000", 86, 1536, 16, 65536, 100 * KB, KB},
    {"A100", 80, 2048, 32, 65536, 164 * KB, KB},
    {"RTX 4090", 89, 1536, 24, 65536, 100 * KB, KB},
    {"H100", 90, 2048, 32, 65536, 228 * KB, KB},
    {"H200", 90, 2048, 32, 65536, 228 * KB, KB},
    {"B200", 100, 2048, 32, 65536, 228 * KB, KB},
};
enum { SM_COUNT = sizeof SMS / sizeof SMS[0] };

static size_t round_up(size_t value, size_t step)
{
    return (value + step - 1) / step * step;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

struct residency residency_on(const struct sm *sm, int threads, int registers,
                              size_t shared)
{
    const int warps = (threads + WARP - 1) / WARP;
    struct residency r = {.by_blocks = sm->blocks, .max_warps = sm->threads / WARP};
    if (threads < 1 || threads > MOST_THREADS) return r;
    r.by_threads = r.max_warps / warps;

    const int a_warp = (int)round_up((size_t)registers * WARP, REGISTER_STEP);
    if (a_warp == 0)
        r.by_registers = sm->blocks;
    else if (registers <= MOST_REGISTERS)
        r.by_registers = sm->registers / PARTITIONS / a_warp * PARTITIONS / warps;

    const size_t a_block =
        round_up(shared + sm->reserved, sm->capability >= 80 ? 128 : 256);
    r.by_shared = a_block == 0 ? sm->blocks : (int)(sm->shared / a_block);

    r.blocks =
        smaller(smaller(r.by_threads, r.by_registers), smaller(r.by_shared, r.by_blocks));
    r.warps = r.blocks * warps;
    return r;
}

/* ---- what the compiler made of the kernel ---- */

struct compiled {
    int registers;
    size_t static_shared;
};

/* Opens results/registers.csv of the project that this program was built in: the program
 * lies in its root, or under build/. */
static FILE *open_registers(void)
{
    char path[PATH_MAX + 32];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0) return NULL;
    path[length] = '\0';
    for (char *slash; (slash = strrchr(path, '/'));) {
        strcpy(slash, "/results/registers.csv");
        FILE *file = fopen(path, "r");
        if (file) return file;
        *slash = '\0';
    }
    return NULL;
}

/* What nvcc made of the kernel that chapter `number` launches. Returns false if the table
 * does not know. */
static bool look_up(int number, int capability, struct compiled *compiled)
{
    char line[512];
    bool found = false;
    FILE *file = open_registers();
    if (!file) return false;
    while (!found && fgets(line, sizeof line, file)) {
        int chapter, arch, registers, shared, spill, launched;
        found = sscanf(line, "%d,%d,%d,%d,%d,%d,", &chapter, &arch, &registers, &shared,
                       &spill, &launched) == 6 &&
                chapter == number && arch == capability && launched;
        if (found) *compiled = (struct compiled){registers, (size_t)shared};
    }
    fclose(file);
    return found;
}

/* ---- the GPU that is here ---- */

struct here {
    struct sm sm;
    struct compiled compiled;
    int driver_blocks; /* what CUDA itself answers */
    char name[256];
};

/* Returns false where there is none. An emulated GPU counts for none: it had no compiler
 * that knows registers. */
static bool look_here(const struct chapter *chapter, struct here *here)
{
    struct cudaDeviceProp gpu;
    struct cudaFuncAttributes kernel;
    int count = 0;
    if (EMULATED || cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return false;
    CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
    const int capability = 10 * gpu.major + gpu.minor;
    if (capability < chapter->min_capability) return false;
    CUDA_CHECK(cudaFuncGetAttributes(&kernel, chapter->kernel.code));
    if (chapter->dynamic_shared > gpu.sharedMemPerBlock)
        CUDA_CHECK(cudaFuncSetAttribute(chapter->kernel.code,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)chapter->dynamic_shared));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &here->driver_blocks, chapter->kernel.code, chapter->threads,
        chapter->dynamic_shared));
    snprintf(here->name, sizeof here->name, "%s", gpu.name);
    here->sm = (struct sm){here->name,
                           capability,
                           gpu.maxThreadsPerMultiProcessor,
                           gpu.maxBlocksPerMultiProcessor,
                           gpu.regsPerMultiprocessor,
                           gpu.sharedMemPerMultiprocessor,
                           gpu.reservedSharedMemPerBlock};
    here->compiled = (struct compiled){kernel.numRegs, kernel.sharedSizeBytes};
    return true;
}

/* ---- the table ---- */

/* Which of the four decide, as "threads+registers". */
static const char *limits(const struct residency *r, char *text, size_t size)
{
    const struct {
        const char *name;
        int blocks;
    } all[] = {{"threads", r->by_threads},
               {"registers", r->by_registers},
               {"shared", r->by_shared},
               {"count", r->by_blocks}};
    size_t used = 0;
    for (int i = 0; i < 4; i++)
        if (all[i].blocks == r->blocks)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "",
                                     all[i].name);
    return text;
}

static void print_row(const struct chapter *chapter, const struct sm *sm,
                      struct compiled compiled, bool json)
{
    const size_t shared = compiled.static_shared + chapter->dynamic_shared;
    const struct residency r =
        residency_on(sm, chapter->threads, compiled.registers, shared);
    const double percent = 100.0 * r.warps / r.max_warps;
    char text[40];
    if (json)
        printf("{\"gpu\": \"%s\", \"capability\": %d, \"registers\": %d, \"shared\": "
               "%zu, \"threads\": %d, "
               "\"by_threads\": %d, \"by_registers\": %d, \"by_shared\": %d, "
               "\"by_blocks\": %d, \"blocks\": %d, "
               "\"limit\": \"%s\", \"warps\": %d, \"max_warps\": %d, \"percent\": %.1f",
               sm->gpu, sm->capability, compiled.registers, shared, chapter->threads,
               r.by_threads, r.by_registers, r.by_shared, r.by_blocks, r.blocks,
               limits(&r, text, sizeof text), r.warps, r.max_warps, percent);
    else
        printf("  %-10s %4d %6zu %7d   %7d %5d %6d %6d   %2d of %2d %5.1f %%  %s\n",
               sm->gpu, compiled.registers, shared, chapter->threads, r.by_threads,
               r.by_registers, r.by_shared, r.by_blocks, r.warps, r.max_warps, percent,
               limits(&r, text, sizeof text));
}

int print_occupancy(const struct chapter *chapter, const struct options *options)
{
    const bool json = options->json;
    struct here here;
    struct compiled compiled[SM_COUNT];
    if (!chapter->kernel.code || !chapter->threads) {
        fprintf(stderr,
                "chapter%d: --occupancy: this chapter names no kernel of its own to "
                "count for\n",
                chapter->number);
        return USAGE;
    }
    for (int i = 0; i < SM_COUNT; i++) {
        if (SMS[i].capability < chapter->min_capability) continue;
        if (!look_up(chapter->number, SMS[i].capability, &compiled[i])) {
            fprintf(
                stderr,
                "chapter%d: --occupancy: results/registers.csv says nothing of this "
                "chapter for compute "
                "capability %d.%d; `make registers` writes it where nvcc is installed\n",
                chapter->number, SMS[i].capability / 10, SMS[i].capability % 10);
            return CANNOT;
        }
        if (options->registers) compiled[i].registers = options->registers;
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
    for (int i = 0, shown = 0; i < SM_COUNT; i++) {
        if (SMS[i].capability < chapter->min_capability) {
            if (!json)
                printf("  %-11s needs compute capability %d.%d\n", SMS[i].gpu,
                       chapter->min_capability / 10, chapter->min_capability % 10);
            continue;
        }
        if (json && shown++) printf(", ");
        print_row(chapter, &SMS[i], compiled[i], json);
        if (json) printf("}");
    }
    if (json) printf("]");
    if (look_here(chapter, &here)) {
        if (options->registers) here.compiled.registers = options->registers;
        printf(json ? ", \"here\": "
                    : "\n  this machine's %s; "
                      "cudaOccupancyMaxActiveBlocksPerMultiprocessor says %d:\n",
               here.sm.gpu, here.driver_blocks);
        if (!json) here.sm.gpu = "";
        print_row(chapter, &here.sm, here.compiled, json);
        if (json) printf(", \"cuda_blocks\": %d}", here.driver_blocks);
    }
    if (json) printf("}\n");
    return PASSED;
}
