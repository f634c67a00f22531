/* thrust::all_of, any_of, none_of. */
#include "reduce.h"
