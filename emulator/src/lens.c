#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "emulator.h"
bool emu_lens_on;
void emu_lens_access(const void *p, size_t bytes, enum emu_access kind, const void *pc, const void *frame){}
void emu_lens_async_copy(const void *shared, const void *global, size_t bytes, size_t zero_fill, const void *pc,const void *frame){}
void emu_lens_basic_block(const void *pc, const void *frame){}
void emu_lens_launch_begins(void){} void emu_lens_launch_ended(void){} void emu_lens_block_begins(void){} void emu_lens_block_ended(void){}
void emu_lens_merge(unsigned warp, unsigned can_continue){}
