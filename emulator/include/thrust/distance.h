/* thrust::distance and advance. */
#ifndef THRUST_DISTANCE_H
#define THRUST_DISTANCE_H

#include <iterator>

namespace thrust
{
using std::advance;
using std::distance;
} // namespace thrust

#endif
