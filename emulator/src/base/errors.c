/* The last error of each thread of the host, and what errors are called. */
#include "base/errors.h"

static _Thread_local cudaError_t last_error = cudaSuccess;

void emu_set_last_error(cudaError_t error)
{
    if (error != cudaSuccess) last_error = error;
}

/* What a <<<>>> that failed leaves behind (emulator_launch.h). */
void emu_launch_failed(int error);
void emu_launch_failed(int error)
{
    emu_set_last_error((cudaError_t)error);
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

static const char UNKNOWN_ERROR[] = "unrecognized error code";

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define EMU_ERROR(name, value, text)                                                     \
    case name: return #name;
#include "emulator_errors.h"
#undef EMU_ERROR
    }
    return UNKNOWN_ERROR;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define EMU_ERROR(name, value, text)                                                     \
    case name: return text;
#include "emulator_errors.h"
#undef EMU_ERROR
    }
    return UNKNOWN_ERROR;
}
