/* What the kernel, the choice and the tuner know of each other: a row of winners.txt. */
#ifndef TUNE_H
#define TUNE_H

#include "matmul.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The parameters of chapter 11's kernel, in the order of its template; matmul.cu says
 * what they mean. All are ints, and tune.c also walks them as an array. */
struct config {
    int BM, BN, BK, TM, TN, STAGES, LANES, BLOCKS, GROUP, TURN;
};

struct winner {
    const char *gpu; /* as CUDA names it, or "any" */
    int M, N, K;     /* the shape it was tuned for; it serves all that are nearest */
    struct config config;
    int shared_bytes;
    matmul_launcher *wide;   /* for B and C whose rows start at multiples of 16 bytes */
    matmul_launcher *narrow; /* for all others */
};

/* matmul.cu: winners.txt, compiled. */
extern const struct winner WINNERS[];
extern const int WINNER_COUNT;

/* pick.c: the row for this GPU whose shape is most like M, N, K, or if the GPU has none,
 * such a row for any GPU. Writes into `chapter` what a report says of this variant, and
 * what to check besides. With --for the size is pick_for x pick_for x pick_for. */
extern int pick_for;
const struct winner *pick(int M, int N, int K, struct chapter *chapter);

/* tune.c: the program behind --tune. Makes the candidates, checks and times them, writes
 * winners.txt. Returns the exit code as chapter_main does. */
int tune(int argc, char **argv, const struct chapter *chapter);

#ifdef __cplusplus
}
#endif
#endif
