/* reduce() over a tile or a coalesced group, and the operators it takes. */
#ifndef COOPERATIVE_GROUPS_REDUCE_H
#define COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

namespace cooperative_groups
{

#define EMU_OPERATOR(name, result)                                                       \
    template <class T_> struct name {                                                    \
        __forceinline__ T_ operator()(T_ a, T_ b) const                                  \
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
template <class Group, class T_, class Op>
static __forceinline__ T_ reduce(const Group &group, T_ value, Op op)
{
    unsigned size = group.size(), rank = group.thread_rank();
    for (unsigned delta = 1; delta < size; delta *= 2) {
        T_ other = group.shfl_down(value, delta);
        if (rank + delta < size) value = op(value, other);
    }
    return group.shfl(value, 0);
}

template <unsigned Size, class T_, class Op>
static __forceinline__ T_ emu_reduce_wide(const emu_wide_tile<Size> &tile, T_ value,
                                          Op op)
{
    const thread_block_tile<32> warp = tiled_partition<32>(this_thread_block());
    return tile.emu_fold(reduce(warp, value, op), op);
}
#define EMU_WIDE(size)                                                                   \
    template <class Parent, class T_, class Op>                                          \
    static __forceinline__ T_ reduce(const thread_block_tile<size, Parent> &tile,        \
                                     T_ value, Op op)                                    \
    {                                                                                    \
        return emu_reduce_wide<size>(tile, value, op);                                   \
    }
EMU_WIDE(64)
EMU_WIDE(128)
EMU_WIDE(256)
EMU_WIDE(512)
EMU_WIDE(1024)
#undef EMU_WIDE

} // namespace cooperative_groups

#endif
