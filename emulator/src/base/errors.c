/* The last error of each thread of the host, and what errors are called. */
#define _GNU_SOURCE /* on_exit */
#include "base/errors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/now.h"
#include "base/settings.h"

static _Thread_local cudaError_t last_error = cudaSuccess;

void emu_set_last_error(cudaError_t error)
{
    if (error != cudaSuccess) last_error = error;
}

/* ---- of the device ---- */

static cudaError_t device_error = cudaSuccess;
static bool has_failed, was_seen;
static bool told_before; /* it had been told when the last call told it */

void emu_device_fails(cudaError_t error)
{
    device_error = error;
    has_failed = true;
    was_seen = told_before = false;
}

void emu_device_is_reset(void)
{
    device_error = cudaSuccess;
}

cudaError_t emu_device_error(void)
{
    return device_error;
}

cudaError_t emu_tell_device_error(void)
{
    if (device_error != cudaSuccess) {
        told_before = was_seen;
        was_seen = true;
    }
    emu_set_last_error(device_error);
    return device_error;
}

/* ---- that nobody has looked at ---- */

/* The last call that failed without the program seeing its result; and in which thread of
 * the host, for only this one can ask for its error. */
static struct {
    cudaError_t error;
    const char *what, *of, *file;
    int line;
    const cudaError_t *of_thread;
} unread;

static void has_been_read(void)
{
    EMU_ALONE;
    if (unread.of_thread == &last_error) unread.error = cudaSuccess;
    if (device_error != cudaSuccess && last_error == device_error) was_seen = true;
}

/* What a <<<>>> that failed leaves behind (emulator_launch.h). */
void emu_launch_failed(int error);
void emu_launch_failed(int error)
{
    emu_set_last_error((cudaError_t)error);
}

void emu_error_unread(int error, const char *what, const char *of, const char *file,
                      int line);
void emu_error_unread(int error, const char *what, const char *of, const char *file,
                      int line)
{
    EMU_ALONE;
    /* What every call returns once the device has failed, nobody needs to look at again. */
    if ((cudaError_t)error == device_error && told_before) return;
    unread.error = (cudaError_t)error;
    unread.of_thread = &last_error;
    unread.what = what;
    unread.of = of;
    unread.file = file;
    unread.line = line;
}

void emu_tell_unread_error(const char *prefix)
{
    if (unread.error == cudaSuccess || !emu_settings.check) return;
    fflush(NULL);
    fprintf(stderr,
            "%s%s%s at %s:%d failed with %s (%s), and the program has never asked "
            "(cudaGetLastError)\n",
            prefix, unread.what, unread.of, unread.file, unread.line,
            cudaGetErrorName(unread.error), cudaGetErrorString(unread.error));
}

/* Registered as in output.c. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    emu_tell_unread_error("warning: ");
    if (!has_failed || (status == 0 && was_seen && unread.error == cudaSuccess)) return;
    fflush(NULL);
    _exit(1);
}

__attribute__((constructor(102))) static void watch_exit(void)
{
    on_exit(at_exit, NULL);
}

cudaError_t cudaGetLastError(void)
{
    has_been_read();
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    has_been_read();
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
