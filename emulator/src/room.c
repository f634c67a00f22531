/* The emulator's own memory: there is some, or the program ends and says which limit is the
 * reason. */
#include "room.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What a limit leaves, SIZE_MAX without one; `used` is in a file of /proc, in pages. */
static size_t left_of(int limit, int field)
{
    struct rlimit most;
    char text[200] = "", *at = text;
    if (getrlimit((__rlimit_resource_t)limit, &most) != 0 ||
        most.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    /* Without stdio, which needs memory that may be gone. */
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file >= 0 && read(file, text, sizeof text - 1) < 0) *text = '\0';
    if (file >= 0) close(file);
    while (field-- > 0) strtoull(at, &at, 10);
    const size_t used = strtoull(at, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
    return most.rlim_cur > used ? most.rlim_cur - used : 0;
}

size_t emu_address_space(void)
{
    return left_of(RLIMIT_AS, 0);
}

void emu_no_memory(const char *purpose, ...)
{
    const size_t space = emu_address_space(), data = left_of(RLIMIT_DATA, 5);
    const size_t least = space < data ? space : data;
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "emulator: no memory ");
    va_start(arguments, purpose);
    vfprintf(stderr, purpose, arguments);
    va_end(arguments);
    if (least != SIZE_MAX)
        fprintf(stderr, " (ulimit -%c allows %zu MB more)", space < data ? 'v' : 'd',
                least >> 20);
    fputc('\n', stderr);
    fflush(NULL);
    _exit(3);
}

void *emu_zeros(const char *purpose, size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p) emu_no_memory("%s", purpose);
    return p;
}

void *emu_resized(void *list, const char *purpose, size_t count, size_t size)
{
    void *p = count <= SIZE_MAX / size ? realloc(list, count * size) : NULL;
    if (!p) emu_no_memory("%s", purpose);
    return p;
}

char *emu_copy_of(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    return memcpy(emu_zeros("for a line of text", bytes, 1), text, bytes);
}
