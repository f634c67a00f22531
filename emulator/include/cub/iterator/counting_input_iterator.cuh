#ifndef CUB_COUNTING_INPUT_ITERATOR_CUH
#define CUB_COUNTING_INPUT_ITERATOR_CUH

#include "../../thrust/iterator/counting_iterator.h"

namespace cub
{

template <class T, class...> using CountingInputIterator = thrust::counting_iterator<T>;
template <class T, class...> using ConstantInputIterator = thrust::constant_iterator<T>;

} // namespace cub

#endif
