/* Stands here so that NVIDIA's header, where a system has it for all compilers, is not taken:
 * it begins with what only NVIDIA's compiler knows. */
#error "cuda_fp4.h: the emulator has no numbers of 4 bits; those of 8 are in cuda_fp8.h"
