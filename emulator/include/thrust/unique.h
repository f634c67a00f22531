/* unique, remove and partition: some elements stay, in their order. */
#ifndef THRUST_UNIQUE_H
#define THRUST_UNIQUE_H

#include "transform.h"

namespace thrust
{

/* The first of each run of equal keys, with its value. */
template <class Keys, class Values, class OutKeys, class OutValues, class Same>
pair<OutKeys, OutValues> unique_by_key_copy(Keys first, Keys last, Values values,
                                            OutKeys out_keys, OutValues out_values,
                                            Same same)
{
    using K = emu_value<Keys>;
    const std::ptrdiff_t n = last - first;
    const auto k = emu_raw(first);
    const auto v = emu_raw(values);
    const auto to_k = emu_raw(out_keys);
    const auto to_v = emu_raw(out_values);
    const std::ptrdiff_t kept =
        emu_run("thrust::unique", emu_on_device<Keys, Values, OutKeys, OutValues>(),
                [=]() mutable {
                    std::ptrdiff_t run = 0;
                    K before = K();
                    for (std::ptrdiff_t i = 0; i < n; i++) {
                        const K key = k[i];
                        if (run && same(before, key)) continue;
                        to_k[run] = key;
                        to_v[run++] = v[i];
                        before = key;
                    }
                    return run;
                });
    return {out_keys + kept, out_values + kept};
}
template <class Keys, class Values, class OutKeys, class OutValues>
pair<OutKeys, OutValues> unique_by_key_copy(Keys first, Keys last, Values values,
                                            OutKeys out_keys, OutValues out_values)
{
    return ::thrust::unique_by_key_copy(first, last, values, out_keys, out_values,
                                        equal_to<emu_value<Keys>>());
}
EMU_WITH_POLICY(unique_by_key_copy)
template <class Keys, class Values>
pair<Keys, Values> unique_by_key(Keys first, Keys last, Values values)
{
    return ::thrust::unique_by_key_copy(first, last, values, first, values);
}
EMU_WITH_POLICY(unique_by_key)
template <class In, class Out, class Same>
Out unique_copy(In first, In last, Out out, Same same)
{
    return ::thrust::unique_by_key_copy(first, last, first, out, out, same).first;
}
template <class In, class Out> Out unique_copy(In first, In last, Out out)
{
    return ::thrust::unique_copy(first, last, out, equal_to<emu_value<In>>());
}
EMU_WITH_POLICY(unique_copy)
template <class It, class Same> It unique(It first, It last, Same same)
{
    return ::thrust::unique_copy(first, last, first, same);
}
template <class It> It unique(It first, It last)
{
    return ::thrust::unique_copy(first, last, first);
}
EMU_WITH_POLICY(unique)

template <class In, class Out, class Predicate>
Out remove_copy_if(In first, In last, Out out, Predicate holds)
{
    return ::thrust::copy_if(first, last, out, emu_not<Predicate>{holds});
}
EMU_WITH_POLICY(remove_copy_if)
template <class It, class Stencil, class Predicate>
It remove_if(It first, It last, Stencil stencil, Predicate holds)
{
    return ::thrust::copy_if(first, last, stencil, first, emu_not<Predicate>{holds});
}
template <class It, class Predicate> It remove_if(It first, It last, Predicate holds)
{
    return ::thrust::remove_copy_if(first, last, first, holds);
}
EMU_WITH_POLICY(remove_if)
template <class It, class T> It remove(It first, It last, const T &value)
{
    return ::thrust::remove_if(first, last,
                               [=](const emu_value<It> &x) { return x == value; });
}
EMU_WITH_POLICY(remove)

/* Those that fulfil the predicate, and behind them the others. */
template <class It, class Predicate>
It stable_partition(It first, It last, Predicate holds)
{
    using T = emu_value<It>;
    const std::ptrdiff_t n = last - first;
    const bool there = emu_on_device<It>();
    const auto at = emu_raw(first);
    emu_temporary<T> room((std::size_t)n, there);
    T *const others = room.data;
    return first + emu_run("thrust::partition", there, [=]() mutable {
               std::ptrdiff_t yes = 0, no = 0;
               for (std::ptrdiff_t i = 0; i < n; i++) {
                   const T x = at[i];
                   if (holds(x))
                       at[yes++] = x;
                   else
                       new (&others[no++]) T(x);
               }
               for (std::ptrdiff_t i = 0; i < no; i++) at[yes + i] = others[i];
               return yes;
           });
}
EMU_WITH_POLICY(stable_partition)
template <class It, class Predicate> It partition(It first, It last, Predicate holds)
{
    return ::thrust::stable_partition(first, last, holds);
}
EMU_WITH_POLICY(partition)

} // namespace thrust

#endif
