/* The emulator's own memory: there is some, or the program ends and says which limit is
 * the reason. */
#include "base/room.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
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

/* The number behind `name` in a file of "name value" lines, or the file's first number if
 * name is NULL. */
static bool read_number(const char *path, const char *name, size_t *value)
{
    FILE *file = fopen(path, "r");
    if (!file) return false;
    char line[256];
    bool found = false;
    size_t length = name ? strlen(name) : 0;
    while (!found && fgets(line, sizeof line, file))
        found = (!name || strncmp(line, name, length) == 0) &&
                sscanf(line + length, "%zu", value) == 1;
    fclose(file);
    return found;
}

/* What a control group (a container's limit) leaves: its limit, usage and statistics
 * files. */
static size_t left_in_group(const char *limit_path, const char *usage_path,
                            const char *stat_path)
{
    size_t limit, usage, reclaimable = 0;
    if (!read_number(limit_path, NULL, &limit) || !read_number(usage_path, NULL, &usage))
        return SIZE_MAX;
    read_number(stat_path, "inactive_file ", &reclaimable);
    usage -= reclaimable < usage ? reclaimable : usage;
    return limit > usage ? limit - usage : 0;
}

size_t emu_host_available(void)
{
    size_t kilobytes, least = SIZE_MAX;
    if (read_number("/proc/meminfo", "MemAvailable:", &kilobytes))
        least = kilobytes * 1024;
    size_t v2 =
        left_in_group("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
                      "/sys/fs/cgroup/memory.stat");
    size_t v1 = left_in_group("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                              "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                              "/sys/fs/cgroup/memory/memory.stat");
    if (v2 < least) least = v2;
    if (v1 < least) least = v1;
    return least;
}
