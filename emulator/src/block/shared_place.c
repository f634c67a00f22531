/* Where shared memory lies, if the linker was not told another place: see shared.h. */
#include "block/shared.h"

char emu_dynamic_shared[EMU_SHARED_BYTES] __attribute__((aligned(1024)));
