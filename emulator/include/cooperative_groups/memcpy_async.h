/* memcpy_async() by the threads of a group, and the waits for it. */
#ifndef COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"
#include "../cuda/barrier"

namespace cooperative_groups
{

/* `bytes`: a number, or a cuda::aligned_size_t. Each call is a stage for wait_prior. */
template <class Group, class Size>
static __forceinline__ void memcpy_async(const Group &group, void *to, const void *from,
                                         const Size &bytes)
{
    cuda::emu_copy_shared(group, to, from, bytes);
    emu_async_commit();
}
/* As many elements as both sides have. */
template <class Group, class T_, class ToSize, class FromSize>
static __forceinline__ void memcpy_async(const Group &group, T_ *to,
                                         const ToSize &to_size, const T_ *from,
                                         const FromSize &from_size)
{
    const size_t a = (size_t)to_size, b = (size_t)from_size;
    memcpy_async(group, to, from, (a < b ? a : b) * sizeof(T_));
}

/* Until all but the last `Stages` of the thread's stages have come, and all threads of the
 * group are here. */
template <unsigned Stages, class Group>
static __forceinline__ void wait_prior(const Group &group)
{
    emu_async_wait(Stages);
    group.sync();
}
template <class Group> static __forceinline__ void wait(const Group &group)
{
    wait_prior<0>(group);
}

} // namespace cooperative_groups

#endif
