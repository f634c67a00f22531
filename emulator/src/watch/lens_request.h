/* One request of a warp, and what it costs. */
#ifndef LENS_REQUEST_H
#define LENS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime.h"

/* One warp's request, as 32 addresses: an example for the reader. */
struct lens_request {
    uint64_t address[32];
    uint32_t lanes; /* who took part, a bit each */
    uint3 block;
    unsigned warp;
    unsigned cost; /* sectors or wavefronts */
};

/* The model of shared memory: 32 banks of 4 bytes. Returns the wavefronts of one warp's
 * access and stores in *ideal how many its distinct words would take if they were spread
 * evenly. `address[lane]` counts for the lanes named in `lanes`. */
unsigned lens_wavefronts(const uint64_t *address, uint32_t lanes, unsigned bytes,
                         bool store, unsigned *ideal);

/* Which wavefront serves each lane that takes part; returns how many there are. */
unsigned lens_wavefront_of(const struct lens_request *r, unsigned bytes, bool store,
                           unsigned wave[32]);
/* The lanes of a request that meet in its busiest bank, as "0, 8, 16, 24"; returns the
 * bank. */
unsigned lens_busiest_bank(const struct lens_request *r, unsigned bytes, bool store,
                           char *lanes, size_t size);

/* Most requests are a constant stride from lane to lane, and need no counting. Returns
 * false for the others. Here and below, `count` addresses side by side. */
bool lens_constant_stride(const uint64_t *address, unsigned count,
                          uint64_t *stride_found);
/* How many pieces of 2^shift bytes, at multiples of that, the addresses lie in. */
unsigned lens_pieces(const uint64_t *address, unsigned count, unsigned shift);
unsigned lens_unique_bytes(const uint64_t *address, unsigned count, unsigned bytes);
/* Of a cp.async of 16 bytes, which goes past the L1. */
unsigned lens_sectors_past_l1(const uint64_t *address, uint32_t lanes);
/* How far apart neighbouring lanes of a request lie; 0 if not all equally far. */
uint64_t lens_apart(const struct lens_request *r);

#endif
