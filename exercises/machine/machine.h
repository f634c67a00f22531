/* The machine that runs a student's code: what its parts offer to each other. */
#ifndef MACHINE_H
#define MACHINE_H

#include "processor.h"

#include <stddef.h>

/* ---- image.c ---- */

/* Where the image's function for a kind of exercise begins; 0 if there is none. */
uint64_t image_entry(unsigned kind);
/* Runs what the code wants run before main. The image begins with the entries of so many
 * kinds. */
void image_start(unsigned kinds);
/* Some of the memory that malloc gives to the student's host code; NULL if none is left.
 */
void *image_allocate(size_t n);

/* ---- calls.c ---- */

/* Calls a function of the student's from the host: up to six integers or pointers, and
 * one float. */
uint64_t call_code(uint64_t entry, const uint64_t *integers, unsigned count,
                   float number);
/* The stack of the student's host code. */
uint64_t host_stack_low(void);
uint64_t host_stack_high(void);

#endif
