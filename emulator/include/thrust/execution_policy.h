/* thrust::host, thrust::device, thrust::seq, thrust::cuda::par. */
#include "detail/run.h"
