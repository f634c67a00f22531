/* What is known of kernels. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stddef.h>

#include "emulator_runtime.h"

/* Dynamic shared memory the function may have (cudaFuncSetAttribute), 48 KB unless
 * raised. Which function is launched where a call alone can tell (NULL) only the compiler
 * knows: the largest limit of any, so that no right program is refused. */
size_t emu_dynamic_shared_limit(const void *kernel);
/* A launch of `kernel` (NULL: unknown) declared this much; the occupancy calls count it
 * from then on. */
void emu_note_static_shared(const void *kernel, size_t bytes);

/* The blocks that its clusters may have: 8, or 16 if the program has asked for that; which
 * of the two is not known of NULL. */
unsigned emu_widest_cluster(const void *kernel);
/* How many clusters of that many blocks fit on the GPU at once. */
unsigned emu_clusters_that_fit(unsigned blocks, unsigned blocks_per_sm);

extern const struct emu_known_kernel *emu_known_kernels; /* all, the newest first */

#endif
