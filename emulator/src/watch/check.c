/* Tells the parts of the checker where a launch stands. */
#include "watch/check.h"

#include "base/now.h"
#include "base/settings.h"
#include "memory/streams.h"
#include "memory/touch.h"
#include "watch/access.h"
#include "watch/clocks.h"
#include "watch/endless.h"
#include "watch/global.h"
#include "watch/handover.h"
#include "watch/inflight.h"
#include "watch/neighbours.h"
#include "watch/order.h"
#include "watch/words.h"

/* Time begins at 0 again before it can run out in the course of a launch. */
enum { MOST_TIMES = 1 << 30 };

static void begin_time(void)
{
    emu_words_forget();
    emu_inflight_forget();
    emu_clocks_forget();
    emu_forget_touches();
    emu_forget_works();
    emu_times.now = 0;
    emu_times.other_work = UINT32_MAX;
}

void emu_check_launch_begins(void)
{
    emu_check_allocations_changed();
    emu_watch_for_endless_loops();
    emu_words_launch_begins();
    if (emu_times.now > MOST_TIMES && emu_settings.check) begin_time();
    emu_times.launch = ++emu_times.now;
    emu_touched_count = 0;
    emu_handover_launch_begins();
}

void emu_check_launch_ends(void)
{
    emu_attention |= EMU_IDLE;
}

void emu_check_block_begins(unsigned warps)
{
    if (emu_settings.check) emu_attention &= ~EMU_IDLE;
    emu_times.interval = emu_times.block = ++emu_times.now;
    emu_handover_block_begins();
    emu_words_block_begins();
    emu_clocks_block_begins();
    emu_neighbours_cluster_begins();
    emu_order_block_begins(warps);
}
