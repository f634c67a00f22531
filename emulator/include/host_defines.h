/* CUDA's words for functions. Here every function can run in both worlds, so the words
 * that say where say nothing; what they mean for variables (__device__, __constant__,
 * __managed__, __shared__) is the compiler driver's work. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __global__
#define __global__
#endif
#ifndef __grid_constant__
#define __grid_constant__
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#ifndef __align__
#define __align__(bytes) __attribute__((aligned(bytes)))
#endif
#define __builtin_align__(bytes) __align__(bytes)

/* In files of the host alone these are variables like others; headers that both include
 * name them. */
#ifndef __CUDACC__
#ifndef __constant__
#define __constant__
#endif
#ifndef __shared__
#define __shared__
#endif
#ifndef __managed__
#define __managed__
#endif
#endif

/* A promise to the optimiser, which clang knows by itself. */
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif

#define CUDARTAPI
#define CUDART_CB

#endif
