/* Asynchronous copies from global to shared memory. Nothing has arrived before
 * __pipeline_wait_prior says so. */
#ifndef CUDA_PIPELINE_H
#define CUDA_PIPELINE_H

#include "cuda_pipeline_primitives.h"

#endif
