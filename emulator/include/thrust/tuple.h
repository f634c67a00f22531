/* thrust::tuple, which is the host's own. */
#ifndef THRUST_TUPLE_H
#define THRUST_TUPLE_H

#include <tuple>

namespace thrust
{
using std::get;
using std::ignore;
using std::make_tuple;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
} // namespace thrust

#endif
