/* Barriers of a block in shared memory, as plain functions. */
#ifndef CUDA_AWBARRIER_PRIMITIVES_H
#define CUDA_AWBARRIER_PRIMITIVES_H

#include <stdint.h>

#include "cuda_runtime.h"
#include "emulator_ptx.h"

typedef uint64_t __mbarrier_t;
/* The phase that an arrival was for. */
typedef uint64_t __mbarrier_token_t;

static __forceinline__ uint32_t __mbarrier_maximum_count()
{
    return (1 << 20) - 1;
}
/* The code 0 says that addresses are generic ones. */
static __forceinline__ void __mbarrier_init(__mbarrier_t *barrier, uint32_t count)
{
    emu_ptx_mbarrier_init(0, (uint64_t)barrier, count);
}
static __forceinline__ void __mbarrier_inval(__mbarrier_t *barrier)
{
    emu_ptx_mbarrier_inval(0, (uint64_t)barrier);
}
static __forceinline__ __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier)
{
    return emu_ptx_mbarrier_arrive(0, 0, (uint64_t)barrier, 1, 0);
}
static __forceinline__ __mbarrier_token_t
__mbarrier_arrive_and_drop(__mbarrier_t *barrier)
{
    return emu_ptx_mbarrier_arrive(0, 1, (uint64_t)barrier, 1, 0);
}
static __forceinline__ uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token)
{
    return (uint32_t)emu_ptx_mbarrier_pending(token);
}
static __forceinline__ bool __mbarrier_test_wait(__mbarrier_t *barrier,
                                                 __mbarrier_token_t token)
{
    return emu_ptx_mbarrier_test(0, 0, (uint64_t)barrier, token);
}
static __forceinline__ bool __mbarrier_test_wait_parity(__mbarrier_t *barrier,
                                                        bool parity)
{
    return emu_ptx_mbarrier_test(0, 1, (uint64_t)barrier, parity);
}
/* One look. A GPU may take the time that is given before it answers no. */
static __forceinline__ bool __mbarrier_try_wait(__mbarrier_t *barrier,
                                                __mbarrier_token_t token, uint32_t)
{
    return __mbarrier_test_wait(barrier, token);
}
static __forceinline__ bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool parity,
                                                       uint32_t)
{
    return __mbarrier_test_wait_parity(barrier, parity);
}

#endif
