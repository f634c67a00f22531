#ifndef CUB_TRANSFORM_INPUT_ITERATOR_CUH
#define CUB_TRANSFORM_INPUT_ITERATOR_CUH

#include "../../thrust/iterator/transform_iterator.h"

namespace cub
{

template <class, class F, class In, class...>
using TransformInputIterator = thrust::transform_iterator<F, In>;

} // namespace cub

#endif
