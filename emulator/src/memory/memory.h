/* The calls that allocate and free. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda_runtime_api.h"

bool emu_is_registered(const void *p); /* with cudaHostRegister */

/* cudaMallocAsync and cudaFreeAsync, asked for at pc; in a captured stream they become
 * nodes. */
cudaError_t emu_allocate_async(void **pointer, size_t bytes, cudaStream_t stream,
                               const void *pc);
cudaError_t emu_free_async(void *pointer, cudaStream_t stream, const void *pc);
/* And `call`, which names a pool. */
cudaError_t emu_allocate_from_pool_async(void **pointer, size_t bytes, cudaMemPool_t pool,
                                         cudaStream_t stream, const char *call,
                                         const void *pc);

#endif
