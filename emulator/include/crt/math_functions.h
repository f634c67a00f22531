/* Where some programs look for the mathematics. */
#ifndef CRT_MATH_FUNCTIONS_H
#define CRT_MATH_FUNCTIONS_H

#include "../cuda_runtime.h"

#endif
