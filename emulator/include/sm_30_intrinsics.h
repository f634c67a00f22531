/* Operations among the 32 lanes of a warp. All are made of one exchange: every lane
 * brings a value and sees one of them, or all. */
#ifndef SM_30_INTRINSICS_H
#define SM_30_INTRINSICS_H

#ifdef __cplusplus

#include "emulator_runtime.h"

/* Functions that work on what the exchange returned. They are neither inlined nor
 * instrumented, because those values are the emulator's, not the program's memory. */
#define EMU_HIDDEN __attribute__((noinline, no_sanitize("thread"))) inline

/* The lanes whose value is `wanted`. */
EMU_HIDDEN unsigned emu_lanes_with(const unsigned long long *all,
                                   unsigned long long wanted)
{
    unsigned lanes = 0, mask = emu_lanes_that_came();
    for (unsigned lane = 0; lane < 32; lane++)
        if (mask >> lane & 1 && all[lane] == wanted) lanes |= 1u << lane;
    return lanes;
}

template <class T_, class Op> EMU_HIDDEN T_ emu_fold(const unsigned long long *all, Op op)
{
    unsigned mask = emu_lanes_that_came(), lane = (unsigned)__builtin_ctz(mask);
    T_ result = (T_)all[lane];
    while (++lane < 32)
        if (mask >> lane & 1) result = op(result, (T_)all[lane]);
    return result;
}

template <class T_> static __forceinline__ unsigned long long emu_to_bits(T_ value)
{
    static_assert(sizeof(T_) <= 8, "a lane brings at most 8 bytes at once");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

/* Values of more than 8 bytes (cooperative groups pass them) take several exchanges. */
template <class T_>
static __forceinline__ T_ emu_shuffle(unsigned mask, T_ value, unsigned from,
                                      const char *kind)
{
    enum { WORDS = (sizeof(T_) + 7) / 8 };
    unsigned long long bits[WORDS] = {};
    __builtin_memcpy(bits, (const void *)&value, sizeof value);
    for (int i = 0; i < WORDS; i++) bits[i] = emu_warp_shuffle(mask, bits[i], from, kind);
    T_ result;
    __builtin_memcpy((void *)&result, bits, sizeof result);
    return result;
}

/* Which lane each shuffle reads. `width` splits the warp into parts of that many lanes; a
 * lane whose source would lie outside its part reads itself. */
static __forceinline__ unsigned emu_indexed_lane(int source, int width)
{
    unsigned within = (unsigned)width - 1;
    return (emu_lane() & ~within) | ((unsigned)source & within);
}
static __forceinline__ unsigned emu_lane_below(unsigned delta, int width)
{
    unsigned lane = emu_lane(), place = lane & ((unsigned)width - 1);
    return delta <= place ? lane - delta : lane;
}
static __forceinline__ unsigned emu_lane_above(unsigned delta, int width)
{
    unsigned lane = emu_lane(), place = lane & ((unsigned)width - 1);
    return delta < (unsigned)width - place ? lane + delta : lane;
}
static __forceinline__ unsigned emu_partner_lane(int flip, int width)
{
    unsigned lane = emu_lane(), partner = lane ^ (unsigned)flip;
    return partner <= (lane | ((unsigned)width - 1)) ? partner : lane;
}

#define EMU_SHUFFLES(T_)                                                                 \
    static __forceinline__ T_ __shfl_sync(unsigned mask, T_ value, int source,           \
                                          int width = 32)                                \
    {                                                                                    \
        return emu_shuffle(mask, value, emu_indexed_lane(source, width), "__shfl_sync"); \
    }                                                                                    \
    static __forceinline__ T_ __shfl_up_sync(unsigned mask, T_ value, unsigned delta,    \
                                             int width = 32)                             \
    {                                                                                    \
        return emu_shuffle(mask, value, emu_lane_below(delta, width), "__shfl_up_sync"); \
    }                                                                                    \
    static __forceinline__ T_ __shfl_down_sync(unsigned mask, T_ value, unsigned delta,  \
                                               int width = 32)                           \
    {                                                                                    \
        return emu_shuffle(mask, value, emu_lane_above(delta, width),                    \
                           "__shfl_down_sync");                                          \
    }                                                                                    \
    static __forceinline__ T_ __shfl_xor_sync(unsigned mask, T_ value, int flip,         \
                                              int width = 32)                            \
    {                                                                                    \
        return emu_shuffle(mask, value, emu_partner_lane(flip, width),                   \
                           "__shfl_xor_sync");                                           \
    }
EMU_SHUFFLES(int)
EMU_SHUFFLES(unsigned int)
EMU_SHUFFLES(long)
EMU_SHUFFLES(unsigned long)
EMU_SHUFFLES(long long)
EMU_SHUFFLES(unsigned long long)
EMU_SHUFFLES(float)
EMU_SHUFFLES(double)

static __forceinline__ unsigned __ballot_sync(unsigned mask, int predicate)
{
    return emu_lanes_with(emu_warp_exchange(mask, predicate != 0, "__ballot_sync"), 1);
}
static __forceinline__ int __any_sync(unsigned mask, int predicate)
{
    return emu_lanes_with(emu_warp_exchange(mask, predicate != 0, "__any_sync"), 1) != 0;
}
static __forceinline__ int __all_sync(unsigned mask, int predicate)
{
    return emu_lanes_with(emu_warp_exchange(mask, predicate != 0, "__all_sync"), 0) == 0;
}

#define EMU_MATCHES(T_)                                                                  \
    static __forceinline__ unsigned __match_any_sync(unsigned mask, T_ value)            \
    {                                                                                    \
        unsigned long long bits = emu_to_bits(value);                                    \
        return emu_lanes_with(emu_warp_exchange(mask, bits, "__match_any_sync"), bits);  \
    }                                                                                    \
    static __forceinline__ unsigned __match_all_sync(unsigned mask, T_ value, int *all)  \
    {                                                                                    \
        unsigned long long bits = emu_to_bits(value);                                    \
        *all = emu_lanes_with(emu_warp_exchange(mask, bits, "__match_all_sync"),         \
                              bits) == emu_lanes_that_came();                            \
        return *all ? mask : 0;                                                          \
    }
EMU_MATCHES(int)
EMU_MATCHES(unsigned int)
EMU_MATCHES(long)
EMU_MATCHES(unsigned long)
EMU_MATCHES(long long)
EMU_MATCHES(unsigned long long)
EMU_MATCHES(float)
EMU_MATCHES(double)

#define EMU_REDUCE(name, T_, operation)                                                  \
    static __forceinline__ T_ name(unsigned mask, T_ value)                              \
    {                                                                                    \
        return emu_fold<T_>(emu_warp_exchange(mask, emu_to_bits(value), #name),          \
                            [](T_ a, T_ b) -> T_ { return operation; });                 \
    }
EMU_REDUCE(__reduce_add_sync, unsigned, a + b)
EMU_REDUCE(__reduce_add_sync, int, (int)((unsigned)a + (unsigned)b))
EMU_REDUCE(__reduce_min_sync, unsigned, b < a ? b : a)
EMU_REDUCE(__reduce_min_sync, int, b < a ? b : a)
EMU_REDUCE(__reduce_max_sync, unsigned, b > a ? b : a)
EMU_REDUCE(__reduce_max_sync, int, b > a ? b : a)
EMU_REDUCE(__reduce_and_sync, unsigned, a &b)
EMU_REDUCE(__reduce_or_sync, unsigned, a | b)
EMU_REDUCE(__reduce_xor_sync, unsigned, a ^ b)

static __forceinline__ unsigned __activemask()
{
    return emu_active_mask();
}
static __forceinline__ void __syncwarp(unsigned mask = 0xffffffffu)
{
    emu_warp_sync(mask);
}

/* What CUDA has no more, and older programs still call. A program that has a function of
 * its own by that name means this one: anything fits better than an ellipsis. */
#define EMU_GONE(name)                                                                   \
    template <class = void>                                                              \
    __attribute__((error(#name " took for granted that a warp runs in step, and is no "  \
                               "more: " #name "_sync(0xffffffff, ...) names the lanes "  \
                               "that take part"))) int                                   \
    name(...);
EMU_GONE(__shfl)
EMU_GONE(__shfl_up)
EMU_GONE(__shfl_down)
EMU_GONE(__shfl_xor)
EMU_GONE(__ballot)
EMU_GONE(__any)
EMU_GONE(__all)

#undef EMU_GONE
#undef EMU_MATCHES
#undef EMU_REDUCE

#endif
#endif
