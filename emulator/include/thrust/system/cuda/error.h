/* thrust::cuda_category(). */
#include "../../system_error.h"
