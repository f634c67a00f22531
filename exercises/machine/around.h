/* Comes before the first line of every source of the emulator when it is compiled into
 * the machine that runs students' code. What the emulator asks its own process about the
 * program it is part of (who called me, where is the program's file, where are its
 * variables), it is told about the student's instead; its sources stay as they are. */
#ifndef AROUND_H
#define AROUND_H

#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <unistd.h>

/* Where the student's code is while it calls a function outside; NULL when it does not.
 */
extern struct caller {
    const void *pc, *frame;
} machine_caller;

#define __builtin_return_address(level)                                                  \
    (machine_caller.pc ? machine_caller.pc : __builtin_return_address(level))
#define __builtin_frame_address(level)                                                   \
    (machine_caller.pc ? machine_caller.frame : __builtin_frame_address(level))

ssize_t machine_readlink(const char *path, char *out, size_t size);
int machine_iterate_phdr(int (*see)(struct dl_phdr_info *, size_t, void *), void *data);
#define readlink machine_readlink
#define dl_iterate_phdr machine_iterate_phdr

#endif
