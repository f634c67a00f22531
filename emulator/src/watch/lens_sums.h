/* What the report of the lens adds up. */
#ifndef LENS_SUMS_H
#define LENS_SUMS_H

#include "watch/lens_counts.h"
#include "base/source.h"

extern const char *const lens_class_names[LENS_CLASSES];
bool lens_touches_banks(enum lens_class kind);
bool lens_by_copy_engine(enum lens_class kind); /* no lane takes part */
double lens_ratio(uint64_t a, uint64_t b);      /* 0 for a ratio to nothing */

/* One row of the report: the sites of a source line that behave alike. */
struct lens_row {
    struct emu_place place;
    struct lens_site sum; /* the sites' counts added up; the example of the costliest */
};
/* The caller frees. */
struct lens_row *lens_rows_of(const struct lens_kernel *k, unsigned *count);
struct lens_site lens_total_of(const struct lens_kernel *k, enum lens_class kind);
uint64_t lens_loads_requested(const struct lens_kernel *k);
/* What a row needs at least, and wastes beyond: sectors, or wavefronts. Shared loads
 * count as they are written or as a compiler may join them, whichever wastes less: a
 * conflict that compiling removes is nobody's to remove. The row with the most waste is
 * the worst. */
double lens_needs(const struct lens_site *s, double *wasted);
double lens_waste(const struct lens_site *s);

/* lens_flop.c: floating-point operations of a kernel, but those of tensor cores. Returns
 * false if no disassembler is there. */
struct lens_flop {
    uint64_t wide; /* of floats and doubles, */
    uint64_t half; /* and of numbers of 16 bits */
};
bool lens_flop_count(const struct lens_kernel *k, struct lens_flop *flop);

/* The bound. */
enum {
    MULTIPLY_ADDS,
    HALF_MULTIPLY_ADDS,
    TENSOR,
    ISSUE_SLOTS,
    SHARED,
    L1_LOOKUPS,
    L1_SECTORS,
    DEVICE,
    RESOURCES
};
extern const char *const lens_resource_names[RESOURCES];
/* Fills in seconds for one launch, or for all if their grids differ, NAN where something
 * is not known, and returns which is the greatest of those that are. */
unsigned lens_bound_of(const struct lens_kernel *k, double seconds[RESOURCES]);
/* How many multiprocessors have a block at all. */
unsigned lens_busy_sms(const struct lens_kernel *k);
/* Multiply-adds of an SM's tensor cores per clock, of 16-bit elements summed in fp32,
 * dense matrices. Where cards of one capability differ, the faster one's. */
int lens_tensor_multiply_adds_per_clock(int major, int minor);

#endif
