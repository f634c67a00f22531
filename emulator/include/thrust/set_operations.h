/* Of two sorted ranges: the elements of both, of either, of one alone. An element that is
 * there several times counts several times, as with the std:: namesakes. */
#ifndef THRUST_SET_OPERATIONS_H
#define THRUST_SET_OPERATIONS_H

#include <algorithm>

#include "detail/run.h"
#include "functional.h"

namespace thrust
{

#define EMU_SETS(name)                                                                   \
    template <class In1, class In2, class Out, class Less>                               \
    Out name(In1 first1, In1 last1, In2 first2, In2 last2, Out out, Less less_than)      \
    {                                                                                    \
        const std::ptrdiff_t n1 = last1 - first1, n2 = last2 - first2;                   \
        const auto x = emu_raw(first1);                                                  \
        const auto y = emu_raw(first2);                                                  \
        const auto to = emu_raw(out);                                                    \
        return out +                                                                     \
               emu_run("thrust::" #name, emu_on_device<In1, In2, Out>(),                 \
                       [=]() mutable -> std::ptrdiff_t {                                 \
                           return ::std::name(x, x + n1, y, y + n2, to, less_than) - to; \
                       });                                                               \
    }                                                                                    \
    template <class In1, class In2, class Out>                                           \
    Out name(In1 first1, In1 last1, In2 first2, In2 last2, Out out)                      \
    {                                                                                    \
        return ::thrust::name(first1, last1, first2, last2, out,                         \
                              less<emu_value<In1>>());                                   \
    }                                                                                    \
    EMU_WITH_POLICY(name)
EMU_SETS(set_union)
EMU_SETS(set_intersection)
EMU_SETS(set_difference)
EMU_SETS(set_symmetric_difference)
#undef EMU_SETS

} // namespace thrust

#endif
