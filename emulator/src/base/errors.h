/* The last error. */
#ifndef ERRORS_H
#define ERRORS_H

#include "cuda_runtime_api.h"

/* What cudaGetLastError will return to this thread, unless it is cudaSuccess. */
void emu_set_last_error(cudaError_t error);

/* Says, after `prefix`, which call failed without the program looking at its result, if
 * there is one. */
void emu_tell_unread_error(const char *prefix);

/* A kernel has failed, and the device with it: what waits for its work, or gives it more,
 * returns the error until it is reset. A program that has seen that may go on and end
 * well; of any other the exit code is 1. */
void emu_device_fails(cudaError_t error);
void emu_device_is_reset(void);
cudaError_t emu_device_error(void); /* or success */
/* The same, for a call whose result is the last error and ought to be looked at. */
cudaError_t emu_tell_device_error(void);

/* At the top of a call that a device which has failed refuses. */
#define EMU_NEED_DEVICE                                                                  \
    do {                                                                                 \
        if (emu_device_error() != cudaSuccess) return emu_tell_device_error();           \
    } while (0)

/* For calls that return what they set. */
static inline cudaError_t set(cudaError_t error)
{
    emu_set_last_error(error);
    return error;
}

#endif
