/* What the files of common/ know of each other. A chapter includes only matmul.h.
 *
 *   options.c   what the reader typed
 *   memory.c    how much memory the host has left
 *   problem.c   the matrices, on the host and on the device
 *   verify.c    is the result right?     <- the one to read if you read only one
 *   explain.c   and if it is not, why?
 *   shapes.c    the small odd products that are checked besides the reader's
 *   timing.c    how long does it take, side by side with cuBLAS?
 *   report.c    the table, and the same as JSON
 *   occupancy.c how many blocks fit on a multiprocessor: --occupancy
 *   chapter.c   chapter_main, which calls them in this order
 */
#ifndef COMMON_H
#define COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include "matmul.h"

enum { PASSED = 0, WRONG = 1, USAGE = 2, CANNOT = 3 }; /* exit codes */

/* The emulator's nvcc defines __CUDA_EMULATED__. Times mean nothing there, so none are
 * taken; and the emulator watches the edges of every allocation itself, so the guard
 * bands would only be in its way. */
#ifdef __CUDA_EMULATED__
enum { EMULATED = 1, DEFAULT_SIZE = 256 };
#else
enum { EMULATED = 0, DEFAULT_SIZE = 4096 };
#endif

/* What the elements are: of all three matrices fp32 or bf16, or fp32 with tf32 numbers in
 * A and B. */
enum precision { FP32, BF16, TF32, PRECISIONS };

/* ---- options.c ---- */
extern const char *const PRECISION_NAMES[PRECISIONS];
/* Whether the chapter has a launcher for it; and the one it takes if not told. */
bool has_precision(const struct chapter *chapter, enum precision precision);
enum precision default_precision(const struct chapter *chapter);

struct options {
    int M, N, K;
    enum precision precision;
    int reps; /* timed runs; 0: as many as fit in about a second, 7 to 100 */
    uint64_t seed;
    float alpha, beta;
    enum inputs inputs;
    char shift;       /* of struct product */
    bool json;        /* print one JSON object instead of the table */
    bool best_cublas; /* fp32: try what cublasLt proposes, too */
    bool check_only;  /* verify, don't time */
    bool one_shape;   /* verify this product only, not the small odd ones */
    bool guards;      /* put guard bands around the matrices */
    bool occupancy;   /* tell how many blocks fit on an SM; run nothing */
    bool describe;    /* print what the chapter says of itself; run nothing */
    int registers;    /* a thread, for --occupancy; 0: as the compiler says */
};

/* Fills `options` from the command line. Prints one line and exits (USAGE) on a mistake;
 * prints the help and exits on --help. */
void parse_options(int argc, char **argv, const struct chapter *chapter,
                   struct options *options);

/* For a program with options of its own (chapter 11's --tune). Returns true and the text
 * behind "name=", or the next word of argv, which *i then is at (NULL: there is none), if
 * argv[*i] is the option `name`. */
bool option_with_value(char **argv, int *i, const char *name, const char **value);
/* Reads digits and nothing else. Returns false if text is no number from low to high. */
bool whole_number(const char *text, long long low, long long high, long long *value);
/* What was typed, fit for a message of one line: shortened, without control characters.
 * Valid until the next call. */
const char *quoted(const char *text);

/* ---- memory.c ---- */
struct room {
    size_t bytes;      /* that the program can still get from the host */
    const char *limit; /* what keeps it from more, in words; NULL: the machine's size */
};
struct room host_room(void);
/* Zeros for `count` things of `size` bytes, never NULL: without memory "to ..." the program
 * ends with one line and CANNOT. */
void *host_zeros(const char *purpose, size_t count, size_t size);

/* ---- problem.c ---- */
struct buffer {  /* a matrix on the device, with a guard band before and behind it */
    void *start; /* what cudaMalloc returned */
    void *data;
    size_t count; /* elements */
    size_t size;  /* bytes each */
    size_t guard; /* bytes in each band */
    void *name;   /* what NVTX calls it */
};

enum values { REALS, FRACTIONS };

/* C's bits before the product when beta == 0; of a bf16 the upper half. A NaN; and a
 * signalling one, which becomes another as soon as anything is computed with it. So it
 * tells elements that were not written from elements that were computed from it. */
#define NEVER_WRITTEN 0x7fa50000u

struct problem {
    int M, N, K;
    float alpha, beta;
    enum precision precision;
    enum values values;
    bool positive;            /* the reals are: see enum inputs */
    bool infinite;            /* some of them are */
    bool wide;                /* columns of B and C have units: problem_unit_of_column */
    double unit;              /* FRACTIONS: all sums are multiples of this; REALS: 0 */
    float *A, *B, *C;         /* host: the inputs, and C as it was before the product */
    float *result;            /* host: C as the kernel left it */
    struct buffer dA, dB, dC; /* device */
    void *dC_before; /* device copy of C before the product; NULL when beta == 0 */
};

/* Allocates everything. Returns false, with one line on stderr, when host or device has
 * too little memory; nothing stays allocated then. */
bool problem_create(struct problem *p, const struct options *options);
void problem_destroy(struct problem *p);
/* Fills A, B and C, here and on the device, with numbers of the problem's precision.
 * REALS: fp32 uniform in (-1, 1); bf16 and tf32 normally distributed, because a tensor
 * core's power, and with it the clock, depends on the values; alpha and beta as given.
 * FRACTIONS: so short that no sum is rounded in fp32, in any order, yet too long for a
 * narrower format than stated; alpha and beta become the nearest multiples of 1/2 up to
 * 3, and alpha = 1 becomes 2. What `options->inputs` asks for comes on top. */
void problem_fill(struct problem *p, const struct options *options, enum values values);
/* Puts the device's C back to what it is before a product: NaN everywhere if beta == 0,
 * else the values of `C`. For timed runs: does not wait. */
void problem_reset_C(const struct problem *p);
/* What B's and C's numbers in this column are multiples of: a power of two, 1 unless the
 * problem is `wide`. */
float problem_unit_of_column(const struct problem *p, int col);
/* Copies C from the device to `result`. */
void problem_read_C(const struct problem *p);
/* The number that C holds when the exact result is x: of bf16 the nearest, the even one
 * of two; of fp32 x itself, for verify.c, which knows what fp32 does to x. */
double stored_in_C(const struct problem *p, double x);
/* Launches the product, of whatever precision: `launch` is a fp32 or tf32 launcher or
 * launcher_of() a chapter, or of one of its products. */
void problem_launch(const struct problem *p, matmul_launcher *launch);
matmul_launcher *launcher_of(const struct chapter *chapter, enum precision precision);
matmul_launcher *launcher_of_product(const struct product *product,
                                     const struct chapter *chapter,
                                     enum precision precision);
/* What the kernel did that it must not do: wrote outside the matrices, or into its
 * inputs. NULL if nothing. */
const char *problem_damage(const struct problem *p);

/* ---- verify.c ---- */
struct verdict {
    bool passed;
    bool exact;         /* fractions: nothing but equality will do */
    bool sampled;       /* too large for a full reference */
    double worst;       /* largest error, as a fraction of its bound (REALS) */
    double rms;         /* errors' root mean square, as a fraction of its limit (REALS) */
    char failure[1600]; /* what is wrong, several lines; empty if passed */
};
/* Compares the device's C with a reference in double, and looks at the guard bands and
 * inputs. */
struct verdict verify(const struct problem *p, const struct chapter *chapter,
                      uint64_t seed);

/* ---- explain.c ---- */
enum { MOST_SHOWN = 5, MOST_KEPT = 24 };
struct wrong {
    int row, col;
    float got;
    double want;
    double slack; /* how far rounding may carry a result from its exact value */
};
struct wrongs { /* the wrong elements, and the first few of them */
    size_t count, never_written, read_C, not_a_number, in_whole_tiles;
    int first_row, last_row, first_col, last_col; /* the smallest box around them */
    int whole_rows, whole_cols;   /* of C, that whole tiles cover; 0: no tile is known */
    struct wrong list[MOST_KEPT]; /* the report shows MOST_SHOWN of them */
    int kept;
};
/* The cause that yields the very numbers of the elements kept, in words; NULL if none of
 * those known does. The text holds until the next call. */
const char *likely_cause(const struct problem *p, const struct wrongs *wrongs);

/* ---- shapes.c ---- */
struct shapes {
    struct odd_shape {
        struct product product;
        enum precision precision;
        char option[48]; /* for product.option, with a precision in it */
    } *list;             /* the caller frees it */
    int count, passed;   /* passed < count: the one after these is wrong */
    char failure[2000];
};
/* Checks the chapter at small odd shapes, until one is wrong. `program` is what was typed
 * to start it. */
void check_shapes(const struct chapter *chapter, const struct options *options,
                  const char *program, struct shapes *shapes);
/* What --inputs calls them. */
extern const char *const INPUT_NAMES[5];
/* The command that checks this product, until the next call. */
const char *command_for(const struct product *p, const char *program, uint64_t seed);

/* ---- chapter.c ---- */
/* Whether the chapter runs on GPUs of this compute capability, 90 for 9.0; and the words
 * for what it needs, until the next call. */
bool runs_on(const struct chapter *chapter, int capability);
const char *what_it_needs(const struct chapter *chapter);
/* Runs one product with these inputs and verifies it. */
struct verdict run_and_verify(struct problem *p, const struct options *options,
                              const struct chapter *chapter, matmul_launcher *launch,
                              enum values values);
/* Says which product is being checked, by the command that repeats it, until the next
 * call; NULL: the one that the reader asked for. What ends the program meanwhile, here or
 * in a tool that watches it, names the command. */
void now_checking(const char *command);

/* ---- timing.c ---- */
struct spread {
    double median, low, high; /* low and high: the 10th and 90th percentile */
};

/* Median, 10th and 90th percentile of `count` >= 1 values. */
struct spread spread_of(const double *values, int count);

struct stopwatch {
    cudaEvent_t begin, end;
    void *flush; /* written before each run, so that L2 holds nothing of the matrices */
    size_t flush_bytes;
};
void stopwatch_create(struct stopwatch *watch);
void stopwatch_destroy(struct stopwatch *watch);
/* Runs `launch` once on a fresh C and returns the milliseconds. A failed launch ends the
 * program. */
double time_launch(const struct stopwatch *watch, const struct problem *p,
                   matmul_launcher *launch);

struct timing {
    int runs;
    struct spread kernel_ms, cublas_ms;
    struct spread ratio; /* cuBLAS time over kernel time, run by run: above 1 the kernel
                            is faster */
    double *kernel_all, *cublas_all;
    char cublas_call[64];   /* which of cuBLAS' calls was the fastest */
    struct figure more[16]; /* what the chapter measures besides */
    int more_count;
};
/* Times kernel and cuBLAS in turn, each run with a cold L2. Only on a GPU. */
void time_chapter(const struct problem *p, const struct chapter *chapter,
                  const struct options *options, struct timing *timing);

/* ---- report.c ---- */
struct machine {
    struct cudaDeviceProp gpu;
    int clock_khz, driver, runtime;
    double peak_gflops; /* at this precision; 0 if the architecture's is not known */
};
void print_table(const struct chapter *chapter, const struct options *options,
                 const struct machine *machine, const struct verdict *verdicts,
                 int verdict_count, const struct shapes *shapes,
                 const struct timing *timing, bool passed);
void print_json(const struct chapter *chapter, const struct options *options,
                const struct machine *machine, const struct verdict *verdicts,
                int verdict_count, const struct shapes *shapes,
                const struct timing *timing, bool passed);

/* To be called first: when the program ends, it makes sure that all it printed was
 * written. If not (a full disk), the program says so in one line and ends with CANNOT. */
void watch_output(const struct chapter *chapter);

/* struct chapter as one JSON object: for scripts, which read no C. */
void print_description(const struct chapter *chapter);

/* Prints "text" over itself on stderr while something long runs, only on a terminal; NULL
 * wipes it. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- occupancy.c ---- */
/* --occupancy: the table for eight GPUs and, in a program built for a GPU, the one that
 * is here. Returns the exit code. */
int print_occupancy(const struct chapter *chapter, const struct options *options);

#endif
