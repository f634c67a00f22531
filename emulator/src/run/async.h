/* cp.async. */
#ifndef ASYNC_H
#define ASYNC_H

/* The number of the running thread's last copy, 0 if all have come; and they come, up to
 * that one. */
unsigned emu_async_last(void);
void emu_async_come(unsigned number);
/* The blocks that ran have ended: a copy that is still on its way is a fault. */
void emu_check_copies_arrived(void);

#endif
