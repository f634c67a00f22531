/* How much memory can this program still get from the host? The least of what the machine
 * has, what the control groups it runs in leave it (a container is one), and what its own
 * limits (ulimit) leave it. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A test puts folders of its own here. */
#ifndef PROC
#define PROC "/proc"
#endif
#ifndef CGROUP
#define CGROUP "/sys/fs/cgroup"
#endif

static void take_least(struct room *room, size_t bytes, const char *limit)
{
    if (bytes < room->bytes) *room = (struct room){bytes, limit};
}

/* The number behind `name` in folder/file, which has a line for each; `name` is empty if
 * the file has nothing but the number. `otherwise` if there is none ("max"). */
static size_t number_in(const char *folder, const char *file, const char *name,
                        size_t otherwise)
{
    char path[512], line[256];
    size_t value = otherwise;
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path)
        return otherwise;
    FILE *from = fopen(path, "r");
    if (!from) return otherwise;
    const size_t length = strlen(name);
    while (fgets(line, sizeof line, from))
        if (strncmp(line, name, length) == 0 && sscanf(line + length, "%zu", &value) == 1)
            break;
    fclose(from);
    return value;
}

/* What is left of one group's limit. File cache counts as free: the kernel drops it
 * before it refuses memory. */
static size_t left_in_group(const char *folder, bool version_1)
{
    const char *const limit_in = version_1 ? "memory.limit_in_bytes" : "memory.max",
                      *const usage_in =
                          version_1 ? "memory.usage_in_bytes" : "memory.current",
                      *const inactive =
                          version_1 ? "total_inactive_file " : "inactive_file ",
                      *const active = version_1 ? "total_active_file " : "active_file ";
    const size_t limit = number_in(folder, limit_in, "", SIZE_MAX);
    if (limit == SIZE_MAX) return SIZE_MAX;
    const size_t usage = number_in(folder, usage_in, "", 0);
    const size_t cache = number_in(folder, "memory.stat", inactive, 0) +
                         number_in(folder, "memory.stat", active, 0);
    const size_t held = usage > cache ? usage - cache : 0;
    return limit > held ? limit - held : 0;
}

/* A group's limit holds for all groups below it, so every folder counts from the
 * program's own up to the root. In a container the path may be the host's, and then only
 * the root is there: it is the container's group. */
static void look_at_groups(struct room *room)
{
    char line[512], folder[600];
    FILE *groups = fopen(PROC "/self/cgroup", "r");
    if (!groups) return;
    while (fgets(line, sizeof line, groups)) {
        /* "0::/user.slice", or of version 1 "4:cpu,memory:/user.slice" */
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(++controllers, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        const bool version_1 = *controllers != '\0';
        if (version_1 && !strstr(controllers, "memory")) continue;
        const char *root = version_1 ? CGROUP "/memory" : CGROUP;
        for (char *end = path + strlen(path);; *end = '\0') {
            snprintf(folder, sizeof folder, "%s%s", root, path);
            take_least(room, left_in_group(folder, version_1),
                       "the memory limit of this container or control group");
            if (!(end = strrchr(path, '/'))) break;
        }
    }
    fclose(groups);
}

/* ulimit: `used` is the column of /proc/self/statm that counts against the limit, in
 * pages. */
static void look_at_limit(struct room *room, int resource, int column, const char *name)
{
    struct rlimit limit;
    size_t pages[7] = {0};
    if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY) return;
    FILE *file = fopen(PROC "/self/statm", "r");
    if (!file) return;
    for (int i = 0; i < 7; i++)
        if (fscanf(file, "%zu", &pages[i]) != 1) break;
    fclose(file);
    const size_t used = pages[column] * (size_t)sysconf(_SC_PAGESIZE);
    take_least(room, limit.rlim_cur > used ? limit.rlim_cur - used : 0, name);
}

struct room host_room(void)
{
    enum { ADDRESS_SPACE = 0, DATA = 5 }; /* columns of statm */
    struct room room = {SIZE_MAX, NULL};  /* not Linux: let malloc decide */
    const size_t available = number_in(PROC, "meminfo", "MemAvailable:", SIZE_MAX / 1024);
    take_least(&room, available * 1024, NULL);
    look_at_groups(&room);
    look_at_limit(&room, RLIMIT_AS, ADDRESS_SPACE, "ulimit -v");
    look_at_limit(&room, RLIMIT_DATA, DATA, "ulimit -d");
    return room;
}

void *host_zeros(const char *purpose, size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory) return memory;
    fprintf(stderr, "no host memory %s\n", purpose);
    exit(CANNOT);
}
