/* What the kernel and the tuner know of each other: a configuration, and a row of
 * winners.txt. */
#ifndef TUNE_H
#define TUNE_H

#include "matmul.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The parameters of chapter 10's kernel, in the order of its template; matmul.cu says
 * what they mean. All are ints, and tune.c also walks them as an array. */
struct config {
    int BM, BN, BK, TM, TN, STAGES, LANES, BLOCKS, GROUP, TURN;
};

struct winner {
    const char *gpu; /* as CUDA names it, or "any" */
    int M, N, K;     /* the shape it was tuned for; serves all shapes nearest to it */
    struct config config;
    int shared_bytes;
    matmul_launcher *wide,
        *narrow; /* rows of B and C start at multiples of 16 bytes, or not */
};

/* The program behind --tune: makes the candidates, checks and times them, writes
 * winners.txt. Returns the exit code as chapter_main does. */
int tune(int argc, char **argv, const struct chapter *chapter, const struct winner *rows,
         int row_count);

#ifdef __cplusplus
}
#endif
#endif
