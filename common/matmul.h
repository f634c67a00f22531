/* What a chapter needs of common/: describe your kernel, hand over its launcher, return
 * chapter_main(). */
#ifndef MATMUL_H
#define MATMUL_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>

struct __nv_bfloat16; /* <cuda_bf16.h> defines it */

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues C = alpha * A * B + beta * C on the default stream and returns without
 * waiting. A is M x K, B is K x N, C is M x N: device pointers, row-major, rows packed
 * without gaps. M, N, K >= 1 and nothing more is promised. With beta == 0, C may hold
 * anything, NaN too. */
typedef void matmul_launcher(int M, int N, int K, float alpha, const float *A,
                             const float *B, float beta, float *C);

/* The same for matrices of bf16; alpha, beta and the sums are fp32, and a result is
 * rounded once, to the nearest. */
typedef void bf16_launcher(int M, int N, int K, float alpha,
                           const struct __nv_bfloat16 *A, const struct __nv_bfloat16 *B,
                           float beta, struct __nv_bfloat16 *C);

/* One more thing a chapter measures on a GPU, beside its product: { "FMA loop", 65.1,
 * "TFLOP/s" }. */
struct figure {
    const char *name;
    double value;
    const char *unit;
    const char *roof; /* "compute" or "memory": this part of the roofline; NULL: none */
};

/* A kernel and its name in the source: `.kernel = KERNEL(matmul_kernel<true>)`. */
struct kernel {
    const void *code;
    const char *name;
};
#define KERNEL(...) {(const void *)(__VA_ARGS__), #__VA_ARGS__}

/* What a product is checked with: numbers with random signs, or
 *   POSITIVE      reals from 0 to 1, for roundings that all go the same way. Random signs
 *                 hide them: half of the errors then cancel the other half;
 *   WIDE_ROWS     rows of A and columns of B each in a unit of their own; and in some rows
 *                 of A a number 2^40 times as large as the others, which meets zeros;
 *   WIDE_COLUMNS  the same with some columns of B;
 *   INFINITE      among the reals infinities: the first number of a row of A, the last of
 *                 another, one in the middle of a third, and of two columns of B the last
 *                 and one in the middle; a NaN in a fourth row and another column; and C is
 *                 full of infinities where beta is 0. No other row or column may notice,
 *                 not even one that multiplies its neighbour's numbers by zero. */
enum inputs { USUAL, POSITIVE, WIDE_ROWS, WIDE_COLUMNS, INFINITE };

/* A product to check. One that has a launcher for one precision only is not checked in the
 * others. */
struct product {
    int M, N, K;
    float alpha, beta;
    matmul_launcher *launch; /* NULL: the chapter's */
    const char *option;      /* the option by which the program takes that launcher */
    enum inputs inputs;
    bf16_launcher *launch_bf16; /* likewise, where the precision is bf16 */
    char shift; /* 'A', 'B' or 'C' begins one element behind an aligned address, 'a', 'b'
                   or 'c' 8 bytes, '2' A and B, '3' all three; 0: none */
};

/* A chapter, as chapter_main sees it. Fill it in by name, in this order (C++ insists on
 * the order); what is left out is 0.
 *
 * The tile tells a failure report which block and thread own a wrong element: blocks
 * cover C in tiles of BM x BN, and inside a tile the threads own TM x TN elements each.
 * Both are numbered along the rows, or down the columns. */
struct chapter {
    int number;
    const char *title;
    /* What its idea is about: "global memory", "shared memory", "registers" or "copies".
     * It decides the colour of the bar. NULL: nothing of these. */
    const char *about;
    /* One launcher for each precision that the chapter has; --precision chooses, and
     * without it the first in this order. tf32: matrices of floats, of which those of A
     * and B are tf32 numbers already (11 significant bits), so that it makes no difference
     * whether the tensor core rounds or cuts them. */
    matmul_launcher *launch;
    bf16_launcher *launch_bf16;
    matmul_launcher *launch_tf32;
    int BM, BN;           /* C's tile a block; 0 when the chapter has no fixed tile */
    int TM, TN;           /* elements of C a thread */
    bool blocks_go_down;  /* neighbouring blocks lie below each other, not side by side */
    bool threads_go_down; /* the same for the threads of a tile */
    /* Where a thread's elements do not lie together: the thread that owns (row, col) of a
     * tile. NULL: as TM, TN and threads_go_down say. */
    int (*thread_of)(int row, int col);
    /* FLOP per byte that it requests from global memory, its place on the roofline: a
     * step along K that fetches BM + BN floats is good for 2 BM BN. */
    double flop_per_byte;
    bool several_gpus;  /* its time says nothing of one GPU: results/many_gpus.py */
    int min_capability; /* 90 for Hopper's instructions; 0 for any GPU */
    int max_capability; /* 90 for those that only Hopper has; 0 for newer GPUs too */
    /* For --occupancy: the kernel that an aligned product launches, the threads of its
     * blocks and the dynamic shared memory of each, in bytes. No kernel: there is none to
     * tell about. */
    struct kernel kernel;
    int threads;
    size_t dynamic_shared;
    size_t less_shared; /* what it takes of a GPU that has not so much; 0: it needs it */
    /* Products that every run checks besides the small ones that common/shapes.c thinks
     * of, for what those do not reach. */
    const struct product *products;
    int product_count;
    /* Fills in at most `room` figures and returns how many; NULL if there are none. */
    int (*measure_more)(struct figure *figures, int room);
    /* An option of the chapter's own that takes a whole number from 1, and where the
     * number goes; NULL if there is none. The same for a second. Lines for --help about
     * them, or NULL. */
    const char *own_option;
    int *own_value;
    const char *second_option;
    int *second_value;
    const char *more_help;
};

/* What nvcc made of a chapter's kernel for one architecture. */
struct compiled {
    int arch;          /* 86 for sm_86 */
    int registers;     /* a thread */
    int static_shared; /* bytes a block */
};
/* The chapter's registers.c, which `make registers` writes; the last row is all zeros.
 * NULL while there is no such file. */
extern const struct compiled COMPILED[] __attribute__((weak));

/* The whole program: reads the options, makes the inputs, runs, verifies, times, prints.
 * Returns the exit code: 0 passed, 1 wrong result, 2 usage, 3 the machine cannot. */
int chapter_main(int argc, char **argv, const struct chapter *chapter);

/* Ends the program when a CUDA call failed: what was called, what went wrong, what to do.
 */
#define CUDA_CHECK(call) cuda_check((call), #call, __FILE__, __LINE__)
void cuda_check(cudaError_t error, const char *expression, const char *file, int line);

#ifdef __cplusplus
}
#endif
#endif
