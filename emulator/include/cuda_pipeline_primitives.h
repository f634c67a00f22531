/* The calls behind cuda_pipeline.h. */
#ifndef CUDA_PIPELINE_PRIMITIVES_H
#define CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"
#include "emulator_runtime.h"

/* Copies `bytes` (4, 8 or 16, both addresses aligned to it), the last `zero_fill` of them
 * as zero without reading. */
__attribute__((noinline)) static inline void __pipeline_memcpy_async(void *shared,
                                                                     const void *global,
                                                                     size_t bytes,
                                                                     size_t zero_fill = 0)
{
    emu_async_copy(shared, global, bytes, zero_fill, __builtin_return_address(0));
}

static __forceinline__ void __pipeline_commit()
{
    emu_async_commit();
}

/* Waits until no more than the last `groups` commits are still on their way. */
static __forceinline__ void __pipeline_wait_prior(size_t groups)
{
    emu_async_wait((unsigned)groups);
}

#endif
