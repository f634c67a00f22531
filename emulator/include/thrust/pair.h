/* thrust::pair, which is the host's own. */
#ifndef THRUST_PAIR_H
#define THRUST_PAIR_H

#include <utility>

#include "tuple.h"

namespace thrust
{
using std::make_pair;
using std::pair;
} // namespace thrust

#endif
