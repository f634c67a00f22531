/* common/memory.c alone, for test_commands.py: with a /proc and a /sys/fs/cgroup in the
 * current folder. Prints what host_room() finds. */
#define PROC "proc"
#define CGROUP "cgroup"
#include "memory.c"

int main(void)
{
    const struct room room = host_room();
    printf("%zu %s\n", room.bytes, room.limit ? room.limit : "-");
    return 0;
}
