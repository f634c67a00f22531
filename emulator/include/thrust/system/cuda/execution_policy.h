/* thrust::cuda::par and par.on(stream). */
#include "../../detail/run.h"
