/* Arithmetic of doubles that rounds otherwise, which cuda_runtime.h brings along anyway. */
#ifndef DEVICE_DOUBLE_FUNCTIONS_H
#define DEVICE_DOUBLE_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
