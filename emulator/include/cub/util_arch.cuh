#include "util_type.cuh"
