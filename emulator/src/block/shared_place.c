/* Where shared memory lies, if the linker was not told another place (shared.h). A file of
 * its own, so that the linker leaves the array out if it was. */
#include "block/shared.h"

char emu_dynamic_shared[EMU_SHARED_BYTES] __attribute__((aligned(1024)));
