/* reduce() over a tile or a coalesced group, and the operators it takes. */
#ifndef COOPERATIVE_GROUPS_REDUCE_H
#define COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

namespace cooperative_groups
{

#define EMU_OPERATOR(name, result)                                                       \
    template <class T> struct name {                                                     \
        __forceinline__ T operator()(T a, T b) const                                     \
        {                                                                                \
            return result;                                                               \
        }                                                                                \
    };
EMU_OPERATOR(plus, a + b)
EMU_OPERATOR(less, b < a ? b : a)
EMU_OPERATOR(greater, a < b ? b : a)
EMU_OPERATOR(bit_and, a &b)
EMU_OPERATOR(bit_or, a | b)
EMU_OPERATOR(bit_xor, a ^ b)
#undef EMU_OPERATOR

/* A tree towards rank 0, whose result all threads get. */
template <class Group, class T, class Op>
static __forceinline__ T reduce(const Group &group, T value, Op op)
{
    unsigned size = group.size(), rank = group.thread_rank();
    for (unsigned delta = 1; delta < size; delta *= 2) {
        T other = group.shfl_down(value, delta);
        if (rank + delta < size) value = op(value, other);
    }
    return group.shfl(value, 0);
}

} // namespace cooperative_groups

#endif
