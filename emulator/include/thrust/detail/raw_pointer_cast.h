/* thrust::raw_pointer_cast. */
#include "../device_ptr.h"
