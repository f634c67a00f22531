/* Where some programs look for the functions of kernels. */
#ifndef CRT_DEVICE_FUNCTIONS_H
#define CRT_DEVICE_FUNCTIONS_H

#include "../cuda_runtime.h"

#endif
