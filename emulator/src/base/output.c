/* What kernels print. On a GPU it stays in a buffer until the host waits for something
 * (CUDA Programming Guide, "Formatted Output"); a program that ends without waiting for
 * its kernels prints nothing of theirs. So it is here, and the reader is told why. */
#define _GNU_SOURCE /* on_exit */
#include "base/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/room.h"
#include "emulator_runtime.h"

static char *printed;
static size_t length, capacity;
static const char *kernel; /* that printed last */

/* A GPU's buffer has a size, too, and loses what is older; here that is shown. */
enum { MOST = 1 << 20 };

static void keep(const char *format, va_list arguments, size_t bytes)
{
    if (length + bytes > MOST) emu_show_output();
    if (length + bytes + 1 > capacity) {
        capacity = 2 * (length + bytes + 1);
        printed = emu_resized(printed, "for what kernels print", capacity, 1);
    }
    vsnprintf(printed + length, bytes + 1, format, arguments);
    length += bytes;
    kernel = emu_now.launch->kernel;
    emu_now.unrepeatable = true;
}

/* How many arguments the format asks for: in a kernel, printf returns that (CUDA C++
 * Programming Guide, "Formatted Output"). */
static int arguments_of(const char *format)
{
    int count = 0;
    for (const char *p = format; (p = strchr(p, '%')) != NULL; p++) {
        for (p++; *p && strchr("-+ #0123456789.*hljztLq", *p); p++) count += *p == '*';
        if (!*p) break;
        count += *p != '%';
    }
    return count;
}

int emu_printf(const char *format, ...)
{
    if (emu_current && !format) return -1;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int bytes =
        emu_current ? vsnprintf(NULL, 0, format, arguments) : vprintf(format, arguments);
    if (emu_current && bytes > 0) keep(format, again, (size_t)bytes);
    va_end(again);
    va_end(arguments);
    return emu_current && bytes >= 0 ? arguments_of(format) : bytes;
}

void emu_show_output(void)
{
    if (!length) return;
    fwrite(printed, 1, length, stdout);
    length = 0;
}

static void at_exit(int status, void *unused)
{
    (void)status;
    (void)unused;
    if (!length) return;
    fflush(NULL);
    fprintf(stderr,
            "warning: what kernel %s printed is lost, as on a GPU: the program has ended "
            "without waiting for it (a missing cudaDeviceSynchronize)\n",
            kernel);
}

/* Registered before anything of the program runs, so called after all of it; but before
 * the report of leaks, which may end the program. */
__attribute__((constructor(102))) static void watch_exit(void)
{
    on_exit(at_exit, NULL);
}
