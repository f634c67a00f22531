/* inclusive_scan() and exclusive_scan() over a tile or a coalesced group. */
#ifndef COOPERATIVE_GROUPS_SCAN_H
#define COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

namespace cooperative_groups
{

template <class Group, class T_, class Op>
static __forceinline__ T_ inclusive_scan(const Group &group, T_ value, Op op)
{
    unsigned size = group.size(), rank = group.thread_rank();
    for (unsigned delta = 1; delta < size; delta *= 2) {
        T_ other = group.shfl_up(value, delta);
        if (rank >= delta) value = op(other, value);
    }
    return value;
}
template <class Group, class T_>
static __forceinline__ T_ inclusive_scan(const Group &group, T_ value)
{
    return inclusive_scan(group, value, plus<T_>());
}

/* Rank 0 gets a zero. */
template <class Group, class T_, class Op>
static __forceinline__ T_ exclusive_scan(const Group &group, T_ value, Op op)
{
    T_ before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? T_() : before;
}
template <class Group, class T_>
static __forceinline__ T_ exclusive_scan(const Group &group, T_ value)
{
    return exclusive_scan(group, value, plus<T_>());
}

} // namespace cooperative_groups

#endif
