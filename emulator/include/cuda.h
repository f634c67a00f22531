/* Many programs include this beside cuda_runtime.h and use nothing of it. The driver API
 * itself (cuInit, cuLaunchKernel ...) is not emulated: a call to it does not compile. */
#ifndef CUDA_H
#define CUDA_H

#define CUDA_VERSION 13000

#endif
