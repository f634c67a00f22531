/* Which device may use whose memory. */
#ifndef PEERS_H
#define PEERS_H

#include <stdbool.h>

/* Whether kernels of the device may use memory of the other (or of the same). */
bool emu_reaches(int device, int memory);

#endif
