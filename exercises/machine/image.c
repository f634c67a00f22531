/* A student's image in memory, and which addresses mean something to its code. */
#include "around.h"

#include "base/now.h"
#include "base/room.h"
#include "block/shared.h"
#include "emulator_runtime.h"
#include "machine.h"
#include "memory/allocations.h"
#include "memory/copies.h"

#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* As in image.ld: the code, what does not change, what does (the device's variables, then
 * the host's), and behind it the memory for malloc. */
#define IMAGE_LOW 0x40000000ull
#define FIXED_LOW 0x44000000ull
#define CHANGING_LOW 0x48000000ull
#define MANAGED_LOW 0x48800000ull
#define DEVICE_LOW 0x49000000ull
#define HOST_LOW 0x4a000000ull
#define ARENA_LOW 0x4c000000ull
#define IMAGE_HIGH 0x50000000ull

enum { LONGEST_INSTRUCTION = 16 };

struct caller machine_caller;
uint64_t text_low, text_high;

static char path[4096]; /* of the image's file */
static uint64_t arena = ARENA_LOW;

/* The __constant__, __managed__ and __device__ variables of the image. */
enum { CONSTANT, MANAGED, DEVICE, SECTIONS };
static struct {
    uint64_t low, high;
} sections[SECTIONS];

/* ---- loading ---- */

static void stop(const char *why)
{
    fprintf(stderr, "machine: %s: %s\n", path, why);
    exit(3);
}

static void load_segment(int file, const Elf64_Phdr *s)
{
    if (s->p_type != PT_LOAD || s->p_memsz == 0)
        return;
    if (s->p_vaddr < IMAGE_LOW || s->p_vaddr >= ARENA_LOW ||
        s->p_memsz > ARENA_LOW - s->p_vaddr || s->p_filesz > s->p_memsz)
        stop("a part of it would lie outside its place");
    const ssize_t got = pread(file, (void *)s->p_vaddr, s->p_filesz, (off_t)s->p_offset);
    if (got != (ssize_t)s->p_filesz)
        stop("it is cut short");
    if (s->p_vaddr >= CHANGING_LOW && s->p_vaddr < HOST_LOW) {
        const unsigned i = s->p_vaddr < MANAGED_LOW  ? CONSTANT
                           : s->p_vaddr < DEVICE_LOW ? MANAGED
                                                     : DEVICE;
        sections[i].low = s->p_vaddr;
        sections[i].high = s->p_vaddr + s->p_memsz;
    }
    if (s->p_flags & PF_X) {
        if (text_high || s->p_vaddr + s->p_memsz > FIXED_LOW)
            stop("its code is not in one piece");
        text_low = s->p_vaddr;
        text_high = s->p_vaddr + s->p_filesz - LONGEST_INSTRUCTION;
    }
}

/* Before the emulator's own beginnings, which ask about the image. */
__attribute__((constructor(101))) static void load(void)
{
    const char *name = getenv("MACHINE_IMAGE");
    if (!name || strlen(name) >= sizeof path)
        return;
    strcpy(path, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    Elf64_Ehdr head;
    if (file < 0 || read(file, &head, sizeof head) != sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_machine != EM_X86_64 ||
        head.e_phentsize != sizeof(Elf64_Phdr))
        stop("it is no image");
    void *place =
        mmap((void *)IMAGE_LOW, IMAGE_HIGH - IMAGE_LOW, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (place != (void *)IMAGE_LOW)
        stop("its place in memory is taken");
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr segment;
        if (pread(file, &segment, sizeof segment,
                  (off_t)(head.e_phoff + i * sizeof segment)) != sizeof segment)
            stop("it is cut short");
        load_segment(file, &segment);
    }
    close(file);
    if (!text_high)
        stop("it has no code");
}

uint64_t image_entry(unsigned kind)
{
    return ((const uint64_t *)FIXED_LOW)[kind];
}

void image_start(unsigned kinds)
{
    for (const uint64_t *entry = (const uint64_t *)FIXED_LOW + kinds; *entry; entry++)
        call_code(*entry, NULL, 0, 0.0f);
}

void *image_allocate(size_t n)
{
    if (n > IMAGE_HIGH - arena - 16)
        return NULL;
    void *place = (void *)arena;
    arena += (n + 15) / 16 * 16;
    return place;
}

/* ---- what the emulator asks ---- */

ssize_t machine_readlink(const char *link, char *out, size_t size)
{
    if (!*path || strcmp(link, "/proc/self/exe") != 0)
        return (readlink)(link, out, size);
    const size_t n = strlen(path) < size ? strlen(path) : size;
    memcpy(out, path, n);
    return (ssize_t)n;
}

/* One program: what cannot be written, from our own variables (threadIdx is one) to the
 * image's constants, and what can. */
int machine_iterate_phdr(int (*see)(struct dl_phdr_info *, size_t, void *), void *data)
{
    extern char __executable_start[];
    const uint64_t low = (uint64_t)__executable_start;
    Elf64_Phdr parts[] = {{.p_type = PT_LOAD,
                           .p_flags = PF_R,
                           .p_vaddr = low,
                           .p_memsz = CHANGING_LOW - low},
                          {.p_type = PT_LOAD,
                           .p_flags = PF_R | PF_W,
                           .p_vaddr = CHANGING_LOW,
                           .p_memsz = IMAGE_HIGH - CHANGING_LOW}};
    struct dl_phdr_info info = {.dlpi_phdr = parts, .dlpi_phnum = 2};
    return see(&info, sizeof info, data);
}

/* ---- the device's variables ----
 * The emulator knows them by the sections of the program that it is part of. tools.py has
 * the linker call these functions instead of its own, as they are the image's. */

bool __wrap_emu_is_constant_variable(const void *p);
bool __wrap_emu_is_managed_variable(const void *p);
bool __wrap_emu_is_device_variable(const void *p);
char *__wrap_emu_variable_section(const void *p, size_t *bytes);
size_t __wrap_emu_variables_behind(const void *p);

/* The section that holds an address; SECTIONS if it is no variable of the device's. */
static unsigned section_of(const void *p)
{
    unsigned i = 0;
    while (i < SECTIONS &&
           ((uint64_t)p < sections[i].low || (uint64_t)p >= sections[i].high))
        i++;
    return i;
}

bool __wrap_emu_is_constant_variable(const void *p)
{
    return section_of(p) == CONSTANT;
}

bool __wrap_emu_is_managed_variable(const void *p)
{
    return section_of(p) == MANAGED;
}

bool __wrap_emu_is_device_variable(const void *p)
{
    return section_of(p) != SECTIONS;
}

char *__wrap_emu_variable_section(const void *p, size_t *bytes)
{
    const unsigned i = section_of(p);
    if (i == CONSTANT || i == SECTIONS)
        return NULL;
    *bytes = sections[i].high - sections[i].low;
    return (char *)sections[i].low;
}

size_t __wrap_emu_variables_behind(const void *p)
{
    const unsigned i = section_of(p);
    return i == SECTIONS ? 0 : sections[i].high - (uint64_t)p;
}

/* ---- what the code may reach ---- */

void refuse(const struct processor *p, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    emu_fault((const void *)p->ip, "%s", what);
}

static bool inside(uint64_t address, size_t n, uint64_t low, uint64_t high)
{
    return address >= low && address <= high && n <= high - address;
}

static bool is_shared_memory(uint64_t address, size_t n)
{
    const uint64_t low = (uint64_t)emu_dynamic_shared;
    return inside(address, n, low, low + EMU_SHARED_BYTES);
}

bool is_device_memory(uint64_t address, size_t n)
{
    const uint64_t low = (uint64_t)emu_memory_base;
    return inside(address, n, low, low + emu_memory_reserved);
}

/* What is read without a trace: threadIdx and its companions, a launch's arguments, what
 * the last exchange among lanes brought, and what the image has that does not change. */
static bool is_plain_to_read(const struct processor *p, uint64_t address, size_t n)
{
    extern uint3 emu_thread_idx, emu_block_idx, emu_block_dim, emu_grid_dim;
    const void *const positions[] = {&emu_thread_idx, &emu_block_idx, &emu_block_dim,
                                     &emu_grid_dim};
    for (unsigned i = 0; i < 4; i++)
        if (inside(address, n, (uint64_t)positions[i],
                   (uint64_t)positions[i] + sizeof(uint3)))
            return true;
    return inside(address, n, FIXED_LOW, CHANGING_LOW) ||
           inside(address, n, (uint64_t)p->exchanged,
                  (uint64_t)p->exchanged + sizeof p->exchanged) ||
           (emu_current && inside(address, n, host_stack_low(), host_stack_high()));
}

/* Variables among the host's that are the kernels': static ones of their functions, and
 * where the runtime notes the place of an array in shared memory. */
static struct kernels_own {
    uint64_t low, high;
} *kernels_own;
static unsigned kernels_own_count;
static uint64_t kernels_own_low = UINT64_MAX, kernels_own_high;

/* The one that holds the address, or NULL. */
static const struct kernels_own *kernels_own_at(uint64_t address)
{
    for (unsigned i = 0; i < kernels_own_count; i++)
        if (address >= kernels_own[i].low && address < kernels_own[i].high)
            return &kernels_own[i];
    return NULL;
}

/* Whether some of these bytes are the kernels'. */
static bool is_kernels_own(uint64_t address, size_t n)
{
    if (address >= kernels_own_high || address + n <= kernels_own_low)
        return false;
    for (unsigned i = 0; i < kernels_own_count; i++)
        if (address < kernels_own[i].high && address + n > kernels_own[i].low)
            return true;
    return false;
}

/* What host code may use of the image, itself or through a function that it calls. */
static bool is_hosts(uint64_t address, size_t n)
{
    return inside(address, n, HOST_LOW, IMAGE_HIGH) && !is_kernels_own(address, n);
}

static void refuse_address(const struct processor *p, uint64_t address, size_t n,
                           bool write)
{
    if (address < p->stack_low && address + 65536 > p->stack_low)
        refuse(p,
               "local memory overflow: the stack of %llu KB is full (a very large local "
               "array, or endless recursion)",
               (unsigned long long)(p->stack_high - p->stack_low) / 1024);
    if (!emu_current && (is_device_memory(address, n) || is_shared_memory(address, n)))
        refuse(p, "host code touches device memory; only kernels can");
    if (!emu_current && inside(address, n, CHANGING_LOW, HOST_LOW))
        refuse(p, "host code touches a __device__, __constant__ or __managed__ variable; "
                  "set it with cudaMemcpyToSymbol, and leave the work to kernels");
    if (!emu_current && inside(address, n, HOST_LOW, IMAGE_HIGH))
        refuse(p, "host code touches a static variable of a kernel's; leave the work to "
                  "kernels");
    if (address < 4096)
        refuse(p, "null pointer: %s of %zu bytes at address %#llx",
               write ? "a write" : "a read", n, (unsigned long long)address);
    refuse(p, "%s of %zu bytes at %#llx, where this code has no memory",
           write ? "a write" : "a read", n, (unsigned long long)address);
}

/* Uses up an announcement. The latest is the likeliest. */
static bool was_announced(struct processor *p, uint64_t address, size_t n, bool write)
{
    for (unsigned i = p->announcements; i-- > 0;) {
        struct announced *a = &p->announced[i];
        if (a->write != write || a->left < n ||
            !inside(address, n, a->at, a->at + a->bytes))
            continue;
        a->left -= (uint32_t)n;
        if (a->left == 0) {
            p->announcements--;
            memmove(a, a + 1, (p->announcements - i) * sizeof *a);
        }
        return true;
    }
    return false;
}

/* Whether threads share it, so that the lens has to hear of every access. */
static bool is_common(uint64_t address, size_t n)
{
    return is_device_memory(address, n) || is_shared_memory(address, n) ||
           inside(address, n, CHANGING_LOW, IMAGE_HIGH);
}

void *reach(struct processor *p, uint64_t address, size_t n, bool write)
{
    if (emu_current && is_common(address, n)) {
        if (!was_announced(p, address, n, write))
            refuse(p, "unseen access: this code hides a %s of %zu bytes from the lens%s",
                   write ? "store" : "load", n,
                   /* What begins a launch uses a variable of its own. */
                   is_hosts(address, n)
                       ? "; it is in a variable of the host's, who is also the "
                         "one to launch kernels"
                       : "");
        return (void *)address;
    }
    if (inside(address, n, p->stack_low, p->stack_high) ||
        (!emu_current && is_hosts(address, n)) ||
        (!write && is_plain_to_read(p, address, n)))
        return (void *)address;
    refuse_address(p, address, n, write);
    return NULL;
}

static bool is_for_call(const struct processor *p, uint64_t address, size_t n, bool write)
{
    if (inside(address, n, p->stack_low, p->stack_high))
        return true;
    if (emu_current ? inside(address, n, CHANGING_LOW, IMAGE_HIGH) : is_hosts(address, n))
        return true;
    if (!write && is_plain_to_read(p, address, n))
        return true;
    if (emu_current && emu_is_device_range((void *)address, n))
        return true;
    if (!emu_current || !is_shared_memory(address, n))
        return false;
    const struct emu_shared_extent *array = emu_find_shared((void *)address);
    return array && inside(address, n, (uint64_t)array->base,
                           (uint64_t)array->base + array->bytes);
}

void *reach_for_call(struct processor *p, uint64_t address, size_t n, bool write)
{
    /* How many bytes are moved while an instruction is done here: in a kernel the checks
     * look at every word of them. */
    enum { OF_HOST = 16, OF_KERNEL = 4 };
    if (n == 0)
        return (void *)address;
    if (!is_for_call(p, address, n, write))
        refuse_address(p, address, n, write);
    count_instructions(p, n / (emu_current ? OF_KERNEL : OF_HOST));
    return (void *)address;
}

/* Has the lens and the checks see what a function outside does in a kernel. */
static void tell(const struct processor *p, uint64_t address, size_t n, bool write)
{
    void __tsan_read_range(void *, size_t), __tsan_write_range(void *, size_t);
    if (!emu_current || n == 0 || !is_common(address, n))
        return;
    check_variable(p, address, n, write ? "a write" : "a read");
    (write ? __tsan_write_range : __tsan_read_range)((void *)address, n);
}

void *reach_and_tell(struct processor *p, uint64_t address, size_t n, bool write)
{
    void *const place = reach_for_call(p, address, n, write);
    tell(p, address, n, write);
    return place;
}

void *reach_kernels_own(struct processor *p, uint64_t address, size_t n)
{
    enum { MOST = 1024 };
    if (!inside(address, n, HOST_LOW, IMAGE_HIGH))
        refuse(p, "a static variable that is none");
    const struct kernels_own *known = kernels_own_at(address);
    if (known && n <= known->high - address)
        return (void *)address;
    if (kernels_own_count == MOST)
        refuse(p, "more than %d static variables of kernels", MOST);
    kernels_own = emu_resized(kernels_own, "to note a static variable",
                              kernels_own_count + 1, sizeof *kernels_own);
    kernels_own[kernels_own_count++] = (struct kernels_own){address, address + n};
    if (address < kernels_own_low)
        kernels_own_low = address;
    if (address + n > kernels_own_high)
        kernels_own_high = address + n;
    return (void *)address;
}

void check_variable(const struct processor *p, uint64_t address, size_t n,
                    const char *what)
{
    const struct kernels_own *own = emu_current ? kernels_own_at(address) : NULL;
    if (own && n > own->high - address)
        refuse(p,
               "out of bounds: %s of %zu bytes in global memory, past the end of a "
               "static variable",
               what, n);
    if (!inside(address, 1, CHANGING_LOW, HOST_LOW))
        return;
    const unsigned i = section_of((const void *)address);
    if (i == SECTIONS || !inside(address, n, sections[i].low, sections[i].high))
        refuse(p,
               "out of bounds: %s of %zu bytes in global memory, past the end of the "
               "__device__ variables",
               what, n);
}

void *reach_variable(struct processor *p, uint64_t address, size_t n)
{
    const unsigned i = section_of((const void *)address);
    if (i == SECTIONS || !inside(address, n, sections[i].low, sections[i].high))
        refuse(p, "no __device__ or __constant__ variable of %zu bytes at %#llx", n,
               (unsigned long long)address);
    return (void *)address;
}

const char *reach_text(struct processor *p, uint64_t address, size_t most)
{
    for (size_t n = 0; n < most; n++)
        if (*(const char *)reach_for_call(p, address + n, 1, false) == '\0') {
            count_instructions(p, n);
            return (const char *)address;
        }
    refuse(p, "a text of more than %zu characters", most);
}

const char *reach_text_and_tell(struct processor *p, uint64_t address, size_t most)
{
    const char *text = reach_text(p, address, most);
    tell(p, address, strlen(text) + 1, false);
    return text;
}

const char *reach_fixed_text(struct processor *p, uint64_t address)
{
    if (!inside(address, 1, FIXED_LOW, CHANGING_LOW))
        refuse(p, "a name that is no string literal");
    return reach_text(p, address, 4096);
}

/* The lens was told of an access, and it has not come. */
static void expect(const struct processor *p, const struct announced *a)
{
    if (!a->perhaps && a->left == a->bytes)
        refuse(p, "unseen access: this code tells the lens of a %s that it does not make",
               a->write ? "store" : "load");
}

void drop_announcements(struct processor *p)
{
    for (; p->announcements > 0; p->announcements--)
        expect(p, &p->announced[p->announcements - 1]);
}

void announce(struct processor *p, uint64_t address, size_t n, bool write, bool perhaps)
{
    const size_t most = sizeof p->announced / sizeof *p->announced;
    if (!emu_current || !is_common(address, n))
        return;
    if (p->announcements == most) {
        expect(p, &p->announced[0]);
        memmove(p->announced, p->announced + 1, (most - 1) * sizeof *p->announced);
        p->announcements--;
    }
    p->announced[p->announcements++] =
        (struct announced){address, (uint32_t)n, (uint32_t)n, write, perhaps};
}
