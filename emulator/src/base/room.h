/* The emulator's own memory. */
#ifndef ROOM_H
#define ROOM_H

#include <stddef.h>

/* Ends the program with exit code 3 and one line: there is no memory "for ...", and which
 * limit may be the reason. */
void emu_no_memory(const char *purpose, ...)
    __attribute__((noreturn, format(printf, 1, 2)));
/* Memory full of zeros for `count` things of `size` bytes, never NULL. */
void *emu_zeros(const char *purpose, size_t count, size_t size);
/* `list`, or where it lies now, with room for `count` things; never NULL. */
void *emu_resized(void *list, const char *purpose, size_t count, size_t size);
/* Makes room for one thing more in a list that grows as it needs to. */
#define EMU_ROOM_FOR_ONE(list, count, capacity, purpose)                                 \
    do {                                                                                 \
        if ((count) < (capacity)) break;                                                 \
        (capacity) = (capacity) ? 2 * (capacity) : 16;                                   \
        (list) = emu_resized((list), (purpose), (capacity), sizeof *(list));             \
    } while (0)
/* `static type name[count]`, of zeros, but made when the program starts: what a program
 * brings along counts before its first instruction, and if that is more than a limit allows
 * (ulimit -d), Linux ends it without a word. */
#define EMU_TABLE(type, name, count)                                                     \
    static type *name;                                                                   \
    __attribute__((constructor(101))) static void make_##name(void)                      \
    {                                                                                    \
        name = emu_zeros("for its tables", count, sizeof *name);                         \
    }                                                                                    \
    _Static_assert((count) > 0, "a table has entries")
char *emu_copy_of(const char *text); /* never NULL; the caller's to free */
/* Bytes of address space that `ulimit -v` still allows; SIZE_MAX without a limit. */
size_t emu_address_space(void);
/* Bytes that the machine can give without ending some process to get them. */
size_t emu_host_available(void);

#endif
