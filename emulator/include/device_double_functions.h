/* Arithmetic of doubles that rounds otherwise: cuda_runtime.h brings it along anyway. */
#ifndef DEVICE_DOUBLE_FUNCTIONS_H
#define DEVICE_DOUBLE_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
