/* The stacks that CUDA threads run on, and the switch from one to another. */
#ifndef STACKS_H
#define STACKS_H

/* Saves the registers that the calling convention lets a function rely on, leaves the
 * stack pointer in *save, and continues on the stack `load`. */
void emu_switch(void **save, void *load);
/* What to switch to for the first time: `entry` runs on the stack that ends at `top`. */
void *emu_first_frame(char *top, void (*entry)(void));

/* So many stacks, besides those that are in use. */
void emu_make_stacks(unsigned count);
/* Takes one, from *low to *high, and returns its number, by which it is given back. */
int emu_take_stack(char **low, char **high);
void emu_give_stack(int stack);
/* The handler of faults of the machine needs a stack of its own, in each thread of the
 * host. */
void emu_give_handler_stack(void);

#endif
