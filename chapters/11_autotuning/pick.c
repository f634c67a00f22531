/* Which row of winners.txt serves this GPU and this product? */
#include "tune.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a row is for the GPU of this name. An emulated GPU takes the real one's. */
static bool is_for(const struct winner *row, const char *gpu_name)
{
    const size_t length = strlen(row->gpu);
    return strncmp(gpu_name, row->gpu, length) == 0 &&
           (gpu_name[length] == '\0' || strcmp(gpu_name + length, " (emulated)") == 0);
}

/* How unlike two shapes are. A side of twice the length is as far away as one of half the
 * length. K counts half of what M and N do, for it makes the work of a tile longer, and
 * not more of them. */
static double distance(const struct winner *row, int M, int N, int K)
{
    return fabs(log2((double)M / row->M)) + fabs(log2((double)N / row->N)) +
           fabs(log2((double)K / row->K)) / 2;
}

int pick_for; /* 0 without --for */
static matmul_launcher *matmul;

/* The variant for 4096 x 4096 x 4096, on a product that takes no time. */
static void matmul_for_4096(int M, int N, int K, float alpha, const float *A,
                            const float *B, float beta, float *C)
{
    const int before = pick_for;
    pick_for = 4096;
    matmul(M, N, K, alpha, A, B, beta, C);
    pick_for = before;
}

/* What the check's small products do not reach, each with float4s and without: a second
 * GROUP of tiles; the variant that large products take; that for flat ones. */
static const struct product PRODUCTS[] = {
    {300, 132, 9, 1.5f, -0.5f},
    {300, 131, 9, 1.5f, -0.5f},
    {150, 260, 45, 1.5f, -0.5f, matmul_for_4096, "--for 4096"},
    {150, 259, 45, 1.5f, -0.5f, matmul_for_4096, "--for 4096"},
    {33, 4100, 17, 1.5f, -0.5f},
};

static struct config picked;

/* The thread that owns element (row, col) of a tile: matmul.cu's step 1, backwards. */
static int thread_of(int row, int col)
{
    const int across = 32 / picked.LANES; /* lanes of a warp, beside each other */
    const int WM = picked.LANES * picked.TM, WN = across * picked.TN;
    const int warp = row / WM * (picked.BN / WN) + col / WN;
    return warp * 32 + row % (picked.LANES * 4) / 4 * across + col % (across * 4) / 4;
}

const struct winner *pick(int M, int N, int K, struct chapter *chapter)
{
    static struct cudaDeviceProp gpu;
    static char title[100];
    const double ELSEWHERE = 1000.0; /* farther than any shape */
    const struct winner *best = NULL;
    double least = HUGE_VAL;
    if (pick_for)
        M = N = K = pick_for;
    if (gpu.major == 0)
        CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
    for (int i = 0; i < WINNER_COUNT; i++) {
        const struct winner *row = &WINNERS[i];
        const bool here = is_for(row, gpu.name);
        if (!here && strcmp(row->gpu, "any") != 0)
            continue;
        if ((size_t)row->shared_bytes > gpu.sharedMemPerBlockOptin)
            continue;
        const double away = distance(row, M, N, K) + (here ? 0.0 : ELSEWHERE);
        if (away < least) {
            least = away;
            best = row;
        }
    }
    if (!best) {
        fprintf(stderr, "winners.txt has no variant that fits %s\n", gpu.name);
        exit(3);
    }
    picked = best->config;
    snprintf(title, sizeof title, "autotuning: %dx%dx%d, %dx%d a thread, %d stages (%s)",
             picked.BM, picked.BN, picked.BK, picked.TM, picked.TN, picked.STAGES,
             best->gpu);
    chapter->title = title;
    chapter->flop_per_byte = 0.5 * picked.BM * picked.BN / (picked.BM + picked.BN);
    /* A report numbers the blocks down the columns of tiles. Where they go down in
     * several groups that would be wrong, and it is better to name no block. */
    chapter->BM = (M - 1) / picked.BM < picked.GROUP ? picked.BM : 0;
    chapter->BN = picked.BN;
    chapter->blocks_go_down = true;
    chapter->thread_of = thread_of;
    chapter->products = PRODUCTS;
    chapter->product_count = sizeof PRODUCTS / sizeof *PRODUCTS;
    matmul = chapter->launch;
    return best;
}
