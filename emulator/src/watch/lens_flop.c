/* Floating-point operations. The compiler reports every basic block that a thread enters,
 * by the return address of a call at its beginning. The disassembly tells what lies
 * between that call and the next: so many additions, so many multiplications. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/room.h"
#include "watch/lens_counts.h"
#include "watch/lens_sums.h"

static bool is_call(const char *mnemonic)
{
    return strncmp(mnemonic, "call", 4) == 0 || strcmp(mnemonic, "bl") == 0;
}

static unsigned flop_of(const char *mnemonic, const char *operands)
{
    static const char *const one[] = {"adds", "subs", "muls", "divs", "sqrts"};
    if (*mnemonic == 'v') mnemonic++;
    for (unsigned i = 0; i < sizeof one / sizeof *one; i++) {
        size_t n = strlen(one[i]);
        if (strncmp(mnemonic, one[i], n) == 0 &&
            (mnemonic[n] == 's' || mnemonic[n] == 'd') && !mnemonic[n + 1])
            return 1;
    }
    if (strncmp(mnemonic, "fmadd", 5) == 0 || strncmp(mnemonic, "fmsub", 5) == 0 ||
        strncmp(mnemonic, "fnmadd", 6) == 0 || strncmp(mnemonic, "fnmsub", 6) == 0)
        return 2;
    if (strcmp(mnemonic, "fadd") == 0 || strcmp(mnemonic, "fsub") == 0 ||
        strcmp(mnemonic, "fmul") == 0 || strcmp(mnemonic, "fdiv") == 0 ||
        strcmp(mnemonic, "fsqrt") == 0)
        return 1;
    if (is_call(mnemonic) && (strstr(operands, "<fmaf") || strstr(operands, "<fma@") ||
                              strstr(operands, "<fma>")))
        return 2;
    return 0;
}

/* Numbers of 16 bits are computed by calls: emulator_float16.h. */
static unsigned half_flop_of(const char *mnemonic, const char *operands)
{
    static const char *const one[] = {"<emu_add16>", "<emu_sub16>", "<emu_mul16>",
                                      "<emu_div16>"};
    if (!is_call(mnemonic)) return 0;
    for (unsigned i = 0; i < sizeof one / sizeof *one; i++)
        if (strstr(operands, one[i])) return 1;
    return strstr(operands, "<emu_fma16>") ? 2 : 0;
}

struct block_cost {
    uint64_t pc;
    unsigned wide, half;
};

static struct block_cost *costs;
static size_t cost_count;
static bool disassembled;

static void read_listing(FILE *listing)
{
    char *line = NULL;
    size_t size = 0;
    bool after_call = false;
    struct block_cost *current = NULL;
    while (getline(&line, &size, listing) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *colon = strchr(line, ':');
        if (line[0] != ' ') { /* a function's name: blocks don't reach across it */
            current = NULL;
            continue;
        }
        if (!colon) continue;
        const uint64_t address = strtoull(line, NULL, 16);
        char *mnemonic = colon + 1 + strspn(colon + 1, " \t");
        char *operands = mnemonic + strcspn(mnemonic, " \t");
        if (*operands) *operands++ = '\0';
        if (after_call) {
            costs = emu_resized(costs, "for the lens", cost_count + 1, sizeof *costs);
            current = &costs[cost_count++];
            *current = (struct block_cost){.pc = address};
        }
        after_call = strstr(operands, "<__sanitizer_cov_trace_pc>") != NULL;
        if (!current) continue;
        current->wide += flop_of(mnemonic, operands);
        current->half += half_flop_of(mnemonic, operands);
    }
    free(line);
}

static void disassemble(void)
{
    disassembled = true;
    char program[4096];
    int from[2];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0 || pipe(from)) return;
    program[length] = '\0';
    const pid_t child = fork();
    if (child == 0) {
        dup2(from[1], 1);
        close(from[0]), close(from[1]), close(2);
        execlp("objdump", "objdump", "-d", "--no-show-raw-insn", program, (char *)NULL);
        _exit(127);
    }
    close(from[1]);
    FILE *listing = fdopen(from[0], "r");
    if (listing) {
        read_listing(listing);
        fclose(listing);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

bool lens_flop_count(const struct lens_kernel *k, struct lens_flop *flop)
{
    if (!disassembled) disassemble();
    *flop = (struct lens_flop){0, 0};
    if (cost_count == 0) return false;
    for (const struct lens_site *s = k->sites; s; s = s->next) {
        if (s->kind != BASIC_BLOCK) continue;
        size_t low = 0, high = cost_count;
        while (low + 1 < high) {
            size_t middle = (low + high) / 2;
            if (costs[middle].pc <= (uint64_t)(uintptr_t)s->pc)
                low = middle;
            else
                high = middle;
        }
        if (costs[low].pc != (uint64_t)(uintptr_t)s->pc) continue;
        flop->wide += s->lanes * costs[low].wide;
        flop->half += s->lanes * costs[low].half;
    }
    return true;
}
