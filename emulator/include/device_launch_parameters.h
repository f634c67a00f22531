/* threadIdx and its like. */
#ifndef DEVICE_LAUNCH_PARAMETERS_H
#define DEVICE_LAUNCH_PARAMETERS_H

#include "vector_types.h"

#ifdef __cplusplus

/* The runtime writes these between two threads; to a thread they are constants. Only a
 * const object of a type without constructors is left alone by the compiler's
 * instrumentation, so the extents are not of type dim3. */
extern "C" {
extern const uint3 threadIdx __asm__("emu_thread_idx");
extern const uint3 blockIdx __asm__("emu_block_idx");
extern const emu_extent blockDim __asm__("emu_block_dim");
extern const emu_extent gridDim __asm__("emu_grid_dim");
}
static const int warpSize = 32;

#endif
#endif
