#include "counting_input_iterator.cuh"
