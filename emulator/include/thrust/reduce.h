/* reduce and all that ends in one value: sums, counts, extrema, searches; and reduce_by_key.
 */
#ifndef THRUST_REDUCE_H
#define THRUST_REDUCE_H

#include "transform.h"

namespace thrust
{

template <class It, class F, class T, class Op>
T transform_reduce(It first, It last, F f, T start, Op op)
{
    const std::ptrdiff_t n = last - first;
    const auto at = emu_raw(first);
    return emu_run("thrust::reduce", emu_on_device<It>(), [=]() mutable {
        T sum = start;
        for (std::ptrdiff_t i = 0; i < n; i++) sum = op(sum, f(at[i]));
        return sum;
    });
}
EMU_WITH_POLICY(transform_reduce)
template <class It, class T, class Op> T reduce(It first, It last, T start, Op op)
{
    return ::thrust::transform_reduce(first, last, identity<emu_value<It>>(), start, op);
}
template <class It, class T> T reduce(It first, It last, T start)
{
    return ::thrust::reduce(first, last, start, plus<T>());
}
template <class It> emu_value<It> reduce(It first, It last)
{
    return ::thrust::reduce(first, last, emu_value<It>());
}
EMU_WITH_POLICY(reduce)

template <class In1, class In2, class T, class Plus, class Times>
T inner_product(In1 first, In1 last, In2 second, T start, Plus sum, Times product)
{
    const std::ptrdiff_t n = last - first;
    const auto a = emu_raw(first);
    const auto b = emu_raw(second);
    return emu_run("thrust::inner_product", emu_on_device<In1, In2>(), [=]() mutable {
        T result = start;
        for (std::ptrdiff_t i = 0; i < n; i++) result = sum(result, product(a[i], b[i]));
        return result;
    });
}
template <class In1, class In2, class T>
T inner_product(In1 first, In1 last, In2 second, T start)
{
    return ::thrust::inner_product(first, last, second, start, plus<T>(),
                                   multiplies<T>());
}
EMU_WITH_POLICY(inner_product)

/* ---- counts and searches ---- */

template <class It, class Predicate>
std::ptrdiff_t count_if(It first, It last, Predicate holds)
{
    return ::thrust::transform_reduce(
        first, last,
        [=](const emu_value<It> &x) mutable {
            return (std::ptrdiff_t)(holds(x) ? 1 : 0);
        },
        std::ptrdiff_t(0), plus<std::ptrdiff_t>());
}
EMU_WITH_POLICY(count_if)
template <class It, class T> std::ptrdiff_t count(It first, It last, const T &value)
{
    return ::thrust::count_if(first, last,
                              [=](const emu_value<It> &x) { return x == value; });
}
EMU_WITH_POLICY(count)

template <class It, class Predicate> It find_if(It first, It last, Predicate holds)
{
    const std::ptrdiff_t n = last - first;
    const auto at = emu_raw(first);
    return first + emu_run("thrust::find_if", emu_on_device<It>(), [=]() mutable {
               std::ptrdiff_t i = 0;
               while (i < n && !holds(at[i])) i++;
               return i;
           });
}
EMU_WITH_POLICY(find_if)
template <class It, class Predicate> It find_if_not(It first, It last, Predicate holds)
{
    return ::thrust::find_if(first, last, emu_not<Predicate>{holds});
}
EMU_WITH_POLICY(find_if_not)
template <class It, class T> It find(It first, It last, const T &value)
{
    return ::thrust::find_if(first, last,
                             [=](const emu_value<It> &x) { return x == value; });
}
EMU_WITH_POLICY(find)
template <class It, class Predicate> bool any_of(It first, It last, Predicate holds)
{
    return ::thrust::find_if(first, last, holds) != last;
}
EMU_WITH_POLICY(any_of)
template <class It, class Predicate> bool none_of(It first, It last, Predicate holds)
{
    return !::thrust::any_of(first, last, holds);
}
EMU_WITH_POLICY(none_of)
template <class It, class Predicate> bool all_of(It first, It last, Predicate holds)
{
    return !::thrust::any_of(first, last, emu_not<Predicate>{holds});
}
EMU_WITH_POLICY(all_of)

/* Where two ranges differ first. */
template <class In1, class In2, class Same>
pair<In1, In2> mismatch(In1 first, In1 last, In2 second, Same same)
{
    const std::ptrdiff_t n = last - first;
    const auto a = emu_raw(first);
    const auto b = emu_raw(second);
    const std::ptrdiff_t at =
        emu_run("thrust::mismatch", emu_on_device<In1, In2>(), [=]() mutable {
            std::ptrdiff_t i = 0;
            while (i < n && same(a[i], b[i])) i++;
            return i;
        });
    return {first + at, second + at};
}
template <class In1, class In2> pair<In1, In2> mismatch(In1 first, In1 last, In2 second)
{
    return ::thrust::mismatch(first, last, second, equal_to<emu_value<In1>>());
}
EMU_WITH_POLICY(mismatch)
template <class In1, class In2, class Same>
bool equal(In1 first, In1 last, In2 second, Same same)
{
    return ::thrust::mismatch(first, last, second, same).first == last;
}
template <class In1, class In2> bool equal(In1 first, In1 last, In2 second)
{
    return ::thrust::equal(first, last, second, equal_to<emu_value<In1>>());
}
EMU_WITH_POLICY(equal)

template <class It, class Less> It is_sorted_until(It first, It last, Less less_than)
{
    const std::ptrdiff_t n = last - first;
    const auto at = emu_raw(first);
    return first + emu_run("thrust::is_sorted", emu_on_device<It>(), [=]() mutable {
               std::ptrdiff_t i = 1;
               while (i < n && !less_than(at[i], at[i - 1])) i++;
               return n ? i : n;
           });
}
template <class It> It is_sorted_until(It first, It last)
{
    return ::thrust::is_sorted_until(first, last, less<emu_value<It>>());
}
EMU_WITH_POLICY(is_sorted_until)
template <class It, class Less> bool is_sorted(It first, It last, Less less_than)
{
    return ::thrust::is_sorted_until(first, last, less_than) == last;
}
template <class It> bool is_sorted(It first, It last)
{
    return ::thrust::is_sorted_until(first, last) == last;
}
EMU_WITH_POLICY(is_sorted)

/* ---- extrema: of equal ones, the first ---- */

template <class It, class Better> It emu_best(It first, It last, Better better)
{
    const std::ptrdiff_t n = last - first;
    const auto at = emu_raw(first);
    return first + emu_run("thrust::extrema", emu_on_device<It>(), [=]() mutable {
               std::ptrdiff_t best = 0;
               for (std::ptrdiff_t i = 1; i < n; i++)
                   if (better(at[i], at[best])) best = i;
               return best;
           });
}
template <class It, class Less> It min_element(It first, It last, Less less_than)
{
    return emu_best(first, last, less_than);
}
template <class It> It min_element(It first, It last)
{
    return emu_best(first, last, less<emu_value<It>>());
}
EMU_WITH_POLICY(min_element)
template <class It, class Less> It max_element(It first, It last, Less less_than)
{
    using T = emu_value<It>;
    return emu_best(first, last,
                    [=](const T &a, const T &b) mutable { return less_than(b, a); });
}
template <class It> It max_element(It first, It last)
{
    return ::thrust::max_element(first, last, less<emu_value<It>>());
}
EMU_WITH_POLICY(max_element)
template <class It, class Less>
pair<It, It> minmax_element(It first, It last, Less less_than)
{
    return {::thrust::min_element(first, last, less_than),
            ::thrust::max_element(first, last, less_than)};
}
template <class It> pair<It, It> minmax_element(It first, It last)
{
    return ::thrust::minmax_element(first, last, less<emu_value<It>>());
}
EMU_WITH_POLICY(minmax_element)

/* ---- one value for each run of equal keys ---- */

template <class Keys, class Values, class OutKeys, class OutValues, class Same, class Op>
pair<OutKeys, OutValues> reduce_by_key(Keys first, Keys last, Values values,
                                       OutKeys out_keys, OutValues out_values, Same same,
                                       Op op)
{
    using K = emu_value<Keys>;
    using V = emu_value<Values>;
    const std::ptrdiff_t n = last - first;
    const auto k = emu_raw(first);
    const auto v = emu_raw(values);
    const auto to_k = emu_raw(out_keys);
    const auto to_v = emu_raw(out_values);
    const std::ptrdiff_t runs =
        emu_run("thrust::reduce_by_key",
                emu_on_device<Keys, Values, OutKeys, OutValues>(), [=]() mutable {
                    std::ptrdiff_t run = 0;
                    for (std::ptrdiff_t i = 0; i < n; run++) {
                        const K key = k[i];
                        V sum = v[i];
                        for (i++; i < n && same(key, static_cast<K>(k[i])); i++)
                            sum = op(sum, static_cast<V>(v[i]));
                        to_k[run] = key;
                        to_v[run] = sum;
                    }
                    return run;
                });
    return {out_keys + runs, out_values + runs};
}
template <class Keys, class Values, class OutKeys, class OutValues, class Same>
pair<OutKeys, OutValues> reduce_by_key(Keys first, Keys last, Values values,
                                       OutKeys out_keys, OutValues out_values, Same same)
{
    return ::thrust::reduce_by_key(first, last, values, out_keys, out_values, same,
                                   plus<emu_value<Values>>());
}
template <class Keys, class Values, class OutKeys, class OutValues>
pair<OutKeys, OutValues> reduce_by_key(Keys first, Keys last, Values values,
                                       OutKeys out_keys, OutValues out_values)
{
    return ::thrust::reduce_by_key(first, last, values, out_keys, out_values,
                                   equal_to<emu_value<Keys>>());
}
EMU_WITH_POLICY(reduce_by_key)

} // namespace thrust

#endif
