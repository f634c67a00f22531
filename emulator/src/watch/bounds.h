/* Memory that may not be touched, or not so. */
#ifndef BOUNDS_H
#define BOUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/touch.h"

struct emu_allocation;

/* Global memory that is nobody's, or of a device that the kernel's cannot reach. */
__attribute__((noreturn)) void emu_fault_global(const char *p, size_t n,
                                                enum emu_access kind, const void *pc);
__attribute__((noreturn)) void emu_fault_other_device(const char *p,
                                                      const struct emu_allocation *a,
                                                      enum emu_access kind,
                                                      const void *pc);
__attribute__((noreturn)) void emu_fault_misaligned(const char *p, size_t n,
                                                    enum emu_access kind, const void *pc);
/* An access of a kernel to what is neither shared nor global memory, nor its stack. */
void emu_other_access(char *p, size_t n, enum emu_access kind, const void *pc);
/* Host code of a .cu file. Here device memory can be reached from it; on a GPU it cannot,
 * and memory that both can use only once the device is done with it. */
void emu_host_access(const void *p, size_t n, enum emu_access kind, const void *pc);

#endif
