/* The calls that copy and fill. */
#ifndef COPIES_H
#define COPIES_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda_runtime_api.h"

/* Whether all of it lies in one allocation (or device variable) that the GPU can reach;
 * true for 0 bytes. */
bool emu_is_device_range(const void *p, size_t bytes);

/* Whether the call comes back before the copy is over: what a host can see of it. To and
 * from memory that is not pinned, what is asynchronous by name is not so. (Or before it is
 * over, but not before all has been read.) */
enum emu_host { WAITS, GOES_ON, WAITS_FOR_READS };

/* What cudaMemcpy2DAsync, cudaMemcpyPeerAsync and cudaMemset2DAsync do, and their kin, for
 * a call at pc; the last error stays as it is. */
cudaError_t emu_copy(char *to, size_t to_pitch, const char *from, size_t from_pitch,
                     size_t width, size_t height, enum cudaMemcpyKind kind,
                     cudaStream_t stream, enum emu_host waits, const void *pc);
cudaError_t emu_fill(void *pointer, size_t pitch, unsigned value, size_t element,
                     size_t width, size_t height, cudaStream_t stream,
                     enum emu_host waits, const void *pc);

/* What nodes of graphs that copy or fill do, from the data that such a call has captured. */
void emu_copy_parameters(struct cudaMemcpy3DParms *what, const void *data, size_t bytes);
void emu_fill_parameters(struct cudaMemsetParams *what, const void *data);

#endif
