/* The checker, for those who launch: what begins and ends. */
#ifndef CHECK_H
#define CHECK_H

void emu_check_launch_begins(void);
void emu_check_launch_ends(void);
void emu_check_block_begins(unsigned warps);

#endif
