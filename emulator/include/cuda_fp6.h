/* Stands here so that NVIDIA's header, where a system has it for all compilers, is not taken:
 * it begins with what only NVIDIA's compiler knows. */
#error "cuda_fp6.h: the emulator has no numbers of 6 bits; those of 8 are in cuda_fp8.h"
