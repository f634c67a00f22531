/* What is known of kernels. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stddef.h>

#include "emulator_runtime.h"

/* Dynamic shared memory the function may have (cudaFuncSetAttribute), 48 KB unless
 * raised. Which function an overloaded or deduced name denotes (NULL) only the compiler
 * knows: the largest limit of any, so that no right program is refused. */
size_t emu_dynamic_shared_limit(const void *kernel);
/* A launch of `kernel` (NULL: unknown) declared this much; the occupancy calls count it
 * from then on. */
void emu_note_static_shared(const void *kernel, size_t bytes);

/* All that have made themselves known; and the one at that address, or NULL. */
extern const struct emu_known_kernel *emu_known_kernels;
const struct emu_known_kernel *emu_find_kernel(const void *function);

#endif
