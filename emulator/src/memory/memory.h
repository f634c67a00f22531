/* The calls that allocate and free. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>

bool emu_is_registered(const void *p); /* with cudaHostRegister */

#endif
