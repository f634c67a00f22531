/* Shared memory: what is known of each word. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block/shared.h"
#include "memory/touch.h"

struct word {                 /* one cache line: reading these is what checking costs */
    struct touch write, read; /* the last of each */
    struct touch other_write,
        other_read; /* the last by another thread than that, in the same interval */
    uint32_t written_in_block; /* serial number of the block that wrote it */
    uint8_t written_bytes;
    uint8_t bytes_in_flight;   /* claimed by an asynchronous copy that has not been waited
                                  for */
    uint8_t bytes_overwritten; /* by the bulk copy in flight */
    uint32_t readers; /* with clocks: the warps that have read it since it was written, a
                         bit each */
} __attribute__((aligned(64)));
extern struct word *emu_words; /* of as many blocks as any cluster so far has had */
extern size_t emu_word_count;
extern uint32_t emu_block_serial;

static inline struct word *emu_word_at(const char *address)
{
    return &emu_words[(size_t)(address - emu_dynamic_shared) / 4];
}
/* Of each word a stamp, equal to emu_times.quick where one more read of all of it is no
 * news, whoever reads: it was written before the last barrier, and read since then by
 * threads of two warps, which forbids every write until the next. */
extern uint32_t *emu_word_stamps;
static inline bool emu_is_no_news(const char *address)
{
    return emu_word_stamps[(size_t)(address - emu_dynamic_shared) / 4] == emu_times.quick;
}
/* Which of its bytes a thread of the running block has written. */
static inline uint8_t emu_written_bytes(const struct word *word)
{
    return word->written_in_block == emu_block_serial ? word->written_bytes : 0;
}
/* Whether anything of these bytes has been written, or soon will be. */
bool emu_shared_holds(const char *p, size_t n);
/* With clocks: the last read of the word by the warp, whose reads lie side by side. */
extern struct touch *emu_readers;
void emu_make_readers(void);
static inline struct touch *emu_reader_of(const struct word *word, unsigned warp)
{
    if (!emu_readers) emu_make_readers();
    return &emu_readers[warp * emu_word_count + (size_t)(word - emu_words)];
}

/* An access of the running thread. `alignment`: of the address, which the caller has
 * looked at, and which the array must promise: every array lies at a multiple of 128
 * bytes here, and on a GPU few do. */
void emu_shared_access(char *p, size_t n, size_t alignment, enum emu_access kind,
                       const void *pc);
/* The same for what most accesses are: aligned, of whole words, by the thread whose turn it
 * is, without the lens. */
void emu_shared_read(char *p, size_t n, const void *pc);
void emu_shared_write(char *p, size_t n, const void *pc);

void emu_words_launch_begins(void);
void emu_words_block_begins(void);
void emu_words_forget(void); /* time begins again */
/* Which bytes of shared memory the running block has written, a mask for each word: to be
 * restored when, after others have run, it goes on from the grid's barrier. */
void emu_check_keep_known(const char *p, size_t bytes, uint8_t *known);
void emu_check_restore_known(const char *p, size_t bytes, const uint8_t *known);

#endif
