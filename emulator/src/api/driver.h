/* What the files of the driver API share. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>

#include "base/device.h"
#include "cuda.h"
#include "cuda_runtime_api.h"

/* The two APIs number their errors alike; the runtime's last error is its own. */
static inline CUresult emu_result_of(cudaError_t error)
{
    if (error != cudaSuccess) (void)cudaGetLastError();
    return (CUresult)error;
}

bool emu_driver_initialised(void); /* by cuInit, or by the runtime */

struct CUctx_st {
    int device;
    unsigned flags, users; /* users: of a primary context, who has retained it */
    bool primary, alive;
    unsigned long long id;
};
/* CUDA_SUCCESS if a context is current in this thread, and its device the current one; or
 * what to return instead. */
CUresult emu_driver_ready(void);
#define NEED_CONTEXT                                                                     \
    do {                                                                                 \
        const CUresult refused = emu_driver_ready();                                     \
        if (refused != CUDA_SUCCESS) return refused;                                     \
    } while (0)

/* A call of the runtime that does the same; it alone does not make the thread one that
 * uses the runtime. */
#define SAME_AS(call)                                                                    \
    do {                                                                                 \
        NEED_CONTEXT;                                                                    \
        const bool used = emu_uses_runtime();                                            \
        const cudaError_t error = call;                                                  \
        emu_runtime_is_used(used);                                                       \
        return emu_result_of(error);                                                     \
    } while (0)

/* That context; NULL. */
CUcontext emu_current_context(void);
/* Memory goes with the context that it was allocated in, unless it is a primary one. */
void emu_context_owns(CUdeviceptr pointer);

#endif
