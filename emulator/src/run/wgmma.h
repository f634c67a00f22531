/* wgmma. */
#ifndef WGMMA_H
#define WGMMA_H

void emu_wgmma_block_begins(void);

#endif
