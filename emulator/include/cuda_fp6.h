/* Libraries include this for every GPU, and use it for those that have numbers of 6 bits.
 * The emulator has none, so none is declared; those of 8 bits are in cuda_fp8.h. */
#ifndef __CUDA_FP6_H__
#define __CUDA_FP6_H__

#include "cuda_fp8.h"

#endif
