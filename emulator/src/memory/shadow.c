/* The shadow of an allocation: the host's memory for what is known of each byte (does it
 * hold a value?) and of each word (who has touched it?). */
#include "memory/shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/room.h"
#include "base/settings.h"

struct emu_times emu_times = {.other_work = UINT32_MAX};
unsigned long long emu_changes;

/* A mapping takes no memory before it is touched, and most cells of a large array never
 * are. Those of a small one mostly are, and cost less all at once than page by page. */
enum { WORTH_A_MAPPING = 1 << 17, LARGE = 1 << 25 };

void *emu_pages(size_t bytes, bool at_once)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   at_once ? flags | MAP_POPULATE : flags, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (!at_once) madvise(p, bytes, MADV_HUGEPAGE); /* what is touched costs less so */
    return p;
}

static void *zeros(size_t bytes)
{
    return bytes < WORTH_A_MAPPING ? calloc(1, bytes) : emu_pages(bytes, bytes < LARGE);
}

static void give_back(void *p, size_t bytes)
{
    if (bytes < WORTH_A_MAPPING)
        free(p);
    else if (p)
        munmap(p, bytes);
}

static size_t count_cells(size_t bytes, unsigned shift)
{
    return (bytes + ((size_t)1 << shift) - 1) >> shift;
}

static size_t known_bytes(const struct emu_shadow *s)
{
    return s->bytes / 8 + 1;
}

void emu_shadow_forget(struct emu_shadow *s)
{
    const size_t count = count_cells(s->bytes, s->shift);
    struct touch **const kinds[] = {&s->writes, &s->reads, &s->other_reads, &s->stores};
    give_back(s->stamps, count * sizeof *s->stamps);
    s->stamps = NULL;
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        give_back(*kinds[k], count * sizeof **kinds[k]);
        *kinds[k] = NULL;
    }
    s->last_write = s->last_read = s->last_other = s->met = 0;
}

struct emu_shadow *emu_shadow_make(size_t bytes, bool known)
{
    struct emu_shadow *s = emu_settings.check ? calloc(1, sizeof *s) : NULL;
    if (s)
        *s = (struct emu_shadow){
            .bytes = bytes, .shift = 2, .unknown = known ? 0 : bytes, .all_known = known};
    return s;
}

void emu_shadow_free(struct emu_shadow *s)
{
    if (!s) return;
    emu_changes++;
    emu_shadow_forget(s);
    give_back(s->known, known_bytes(s));
    free(s->spans);
    free(s);
}

/* ---- cells ---- */

/* Cells take many times the memory that they are for: half of what the machine has left
 * is enough. */
static bool is_worth_it(size_t need)
{
    return need < (size_t)1 << 26 || need < emu_host_available() / 2;
}

__attribute__((noreturn)) static void no_memory(const struct emu_shadow *s)
{
    emu_no_memory("for watching what kernels do with %zu bytes of device memory; "
                  "CHECK=0 does without",
                  s->bytes);
}

static struct touch *make_touches(const struct emu_shadow *s)
{
    struct touch *const touches =
        zeros(count_cells(s->bytes, s->shift) * sizeof *touches);
    if (!touches) no_memory(s);
    return touches;
}

void emu_shadow_keep_store(struct emu_shadow *s, size_t cell)
{
    if (!s->stores) s->stores = make_touches(s);
    s->stores[cell] = s->writes[cell];
}

/* What was not touched stays so, and takes no memory. */
static struct touch *refined(const struct emu_shadow *s, const struct touch *old,
                             unsigned by)
{
    struct touch *const touches = make_touches(s);
    const size_t count = old ? count_cells(s->bytes, s->shift) : 0;
    for (size_t i = 0; i < count; i++)
        if (old[i >> by].time) touches[i] = old[i >> by];
    return touches;
}

size_t emu_shadow_refine(struct emu_shadow *s, unsigned shift)
{
    struct emu_shadow old = *s;
    const size_t count = count_cells(s->bytes, shift);
    const size_t need = count * (3 * sizeof *s->writes + sizeof *s->stamps);
    if (!is_worth_it(need)) {
        emu_shadow_forget(s);
        emu_changes++; /* from now on nobody sees any */
        s->unwatched = true;
        return need;
    }
    s->shift = shift;
    s->stamps = zeros(count * sizeof *s->stamps);
    if (!s->stamps) no_memory(s);
    s->writes = refined(s, old.writes, old.shift - shift);
    s->reads = refined(s, old.reads, old.shift - shift);
    s->other_reads = refined(s, old.other_reads, old.shift - shift);
    if (old.stores) s->stores = refined(s, old.stores, old.shift - shift);
    emu_shadow_forget(&old);
    return 0;
}

/* ---- what holds a value ---- */

static bool is_known(const struct emu_shadow *s, size_t byte)
{
    return s->all_known || (s->known && s->known[byte / 8] >> byte % 8 & 1);
}

bool emu_shadow_knows_any(const struct emu_shadow *s, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        if (is_known(s, i)) return true;
    return false;
}

static void make_known(struct emu_shadow *s)
{
    if (!s->known) s->known = zeros(known_bytes(s));
    if (!s->known)
        emu_no_memory("for noting which of %zu bytes of device memory hold values; "
                      "CHECK=0 does without",
                      s->bytes);
}

/* Not every processor has an instruction for it. */
static unsigned count_bits(unsigned byte)
{
    byte -= byte >> 1 & 0x55;
    byte = (byte & 0x33) + (byte >> 2 & 0x33);
    return (byte + (byte >> 4)) & 15;
}

void emu_shadow_written(struct emu_shadow *s, size_t first, size_t n)
{
    const size_t end = first + n;
    if (s->all_known || n == 0) return;
    if (n < s->bytes)
        make_known(s);
    else
        s->unknown = 0;
    for (size_t byte = first / 8; s->unknown > 0 && byte <= (end - 1) / 8; byte++) {
        const unsigned low = byte == first / 8 ? 0xffu << first % 8 & 0xff : 0xff,
                       high = byte == (end - 1) / 8 ? 0xffu >> (7 - (end - 1) % 8) : 0xff,
                       fresh = low & high & ~s->known[byte];
        s->known[byte] |= fresh;
        s->unknown -= count_bits(fresh);
    }
    s->all_known = s->unknown == 0;
}

void emu_shadow_copied(struct emu_shadow *s, size_t first, const struct emu_shadow *from,
                       size_t source, size_t n)
{
    make_known(s);
    if (s->all_known) memset(s->known, 0xff, known_bytes(s));
    s->all_known = false;
    for (size_t i = 0; i < n; i++) {
        unsigned char *const bits = &s->known[(first + i) / 8];
        const unsigned bit = 1u << (first + i) % 8;
        const bool was = *bits & bit, is = is_known(from, source + i);
        *bits = (unsigned char)(is ? *bits | bit : *bits & ~bit);
        s->unknown += (size_t)was - (size_t)is;
    }
}
