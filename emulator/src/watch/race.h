/* Races, those that are sure and those that may come to nothing. */
#ifndef RACE_H
#define RACE_H

#include <stdint.h>

#include "memory/touch.h"

__attribute__((noreturn)) void emu_fault_race(const char *p, const struct touch *earlier,
                                              const char *did, const struct touch *now,
                                              const char *does);
/* Where the program last made a volatile access. */
extern const void *emu_last_volatile;
/* A write of the running thread to `bytes` of a word (one bit each), which races with an
 * earlier access that did `did`, unless it stores what is there already. That is seen
 * when it has happened, so the suspicion waits for the thread's next event. */
void emu_suspect(char *word, uint8_t bytes, const struct touch *earlier, const char *did,
                 const struct touch *now);
/* A write to a word that another lane of the warp has read, by volatile both: no race, but
 * it may be that the program takes its lanes to run in step. */
void emu_suspect_lanes(char *word, uint8_t bytes, const struct touch *earlier,
                       const struct touch *now);
void emu_tell_of_lanes(const char *p, const struct touch *earlier, const char *did,
                       const struct touch *now, const char *does);
/* That event has come. */
void emu_settle(void);
/* A plain read of what an atomic of another thread wrote: a race, unless the thread goes
 * on with an atomic on the same word, before it stops. */
void emu_doubt(char *word, const struct touch *write, const struct touch *read);
void emu_dispel_doubt(const char *word);
void emu_check_thread_stops(void); /* the running thread waits or has ended */

/* In messages: "a read", and "(1,0,0)". */
const char *emu_name_of(enum emu_access kind);
const char *emu_thread_name(unsigned linear);

#endif
