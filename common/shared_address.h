/* What the headers of instructions share. */
#ifndef SHARED_ADDRESS_H
#define SHARED_ADDRESS_H

#include <cuda_runtime.h>
#include <stdint.h>

/* Where `p` lies in shared memory, in bytes from its start on: PTX wants that, not C's
 * pointer. PTX ISA, cvta. */
static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

#endif
