/* From a code address to the reader's source line, through addr2line, which comes with
 * every compiler's binutils. One addr2line process is kept and asked through a pipe:
 * starting it costs more than a hundred answers. */
#define _GNU_SOURCE /* dladdr */
#include "base/source.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/room.h"

struct entry {
    const void *pc;
    struct emu_place place;
    struct entry *next;
};

/* Who answers for the program, and for each module that it has loaded. */
static struct asked {
    const char *file; /* NULL: the program */
    FILE *ask, *answer;
    bool unavailable;
    struct asked *others;
} program;

extern char __ehdr_start[]
    __attribute__((weak, visibility("hidden"))); /* where the program's image begins */

static void start(struct asked *who)
{
    int to[2], from[2];
    if (pipe(to) || pipe(from)) {
        who->unavailable = true;
        return;
    }
    signal(SIGPIPE,
           SIG_IGN); /* an addr2line that cannot start must not take the program along */
    char file[4096];
    ssize_t n = readlink("/proc/self/exe", file, sizeof file - 1);
    file[n > 0 ? n : 0] = '\0';
    if (who->file) snprintf(file, sizeof file, "%s", who->file);
    pid_t child = fork();
    if (child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[0]), close(to[1]), close(from[0]), close(from[1]);
        execlp("addr2line", "addr2line", "-f", "-i", "-C", "-e", file, (char *)NULL);
        _exit(127);
    }
    close(to[0]), close(from[1]);
    who->ask = fdopen(to[1], "w");
    who->answer = fdopen(from[0], "r");
    if (child < 0 || !who->ask || !who->answer) who->unavailable = true;
}

/* Modules are open files, which addr2line inherits (driver_module.c). Other libraries are
 * not the reader's. Makes an address in a module one from its start. */
static struct asked *who_knows(uintptr_t *address)
{
    static const char open_file[] = "/proc/self/fd/";
    Dl_info where;
    struct asked *a = &program;
    if (!dladdr((const void *)*address, &where) || !where.dli_fname ||
        strncmp(where.dli_fname, open_file, sizeof open_file - 1) != 0) {
        /* A position-independent program is asked about relative to its start. */
        if (__ehdr_start && (uintptr_t)__ehdr_start > 0x10000000)
            *address -= (uintptr_t)__ehdr_start;
        return a;
    }
    *address -= (uintptr_t)where.dli_fbase;
    for (a = program.others; a; a = a->others)
        if (strcmp(a->file, where.dli_fname) == 0) return a;
    a = emu_zeros("for a module", 1, sizeof *a);
    a->file = emu_copy_of(where.dli_fname);
    a->others = program.others;
    return program.others = a;
}

/* The emulator and the C++ library are not where the reader's mistake is. */
static bool is_ours(const char *file)
{
    return strstr(file, "emulator/include/") || strstr(file, "emulator/src/") ||
           strncmp(file, "/usr/include/", 13) == 0 ||
           strncmp(file, "/usr/lib/", 9) == 0 || strncmp(file, "??", 2) == 0;
}

/* A function that is only a name for an asm statement marks its lines so (translate.c).
 * Removes the mark. */
static bool is_wrapper(char *file)
{
    static const char mark[] = "@asm";
    const size_t length = strlen(file), n = sizeof mark - 1;
    if (length < n || strcmp(file + length - n, mark) != 0) return false;
    file[length - n] = '\0';
    return true;
}

/* Simplifies "/a/b/../c" and drops the current directory from the front. */
static char *tidy_path(const char *file)
{
    char path[4096], *real = realpath(file, path);
    const char *shown = real ? real : file;
    char here[4096];
    if (getcwd(here, sizeof here)) {
        size_t n = strlen(here);
        if (strncmp(shown, here, n) == 0 && shown[n] == '/') shown += n + 1;
    }
    return emu_copy_of(shown);
}

static char *line_text(const char *file, int line)
{
    FILE *f = fopen(file, "r");
    if (!f) return emu_copy_of("");
    char *text = NULL;
    size_t size = 0;
    ssize_t n = -1;
    for (int i = 0; i < line; i++)
        if ((n = getline(&text, &size, f)) < 0) break;
    fclose(f);
    if (n < 0) {
        free(text);
        return emu_copy_of("");
    }
    text[strcspn(text, "\r\n")] = '\0';
    char *trimmed = emu_copy_of(text + strspn(text, " \t"));
    free(text);
    return trimmed;
}

static bool read_line(struct asked *who, char *line, size_t size)
{
    if (!fgets(line, (int)size, who->answer)) return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

static struct emu_place look_up(const void *pc)
{
    struct emu_place place = {"?", 0, "?", "", "?", true};
    /* A return address lies behind the call. */
    uintptr_t address = (uintptr_t)pc - 1;
    struct asked *const who = who_knows(&address);
    if (!who->ask && !who->unavailable) start(who);
    if (who->unavailable) return place;
    /* Inlining gives several frames, and nothing says how many: address 0, which is
     * nobody's, marks the end. */
    fprintf(who->ask, "%#zx\n0\n", (size_t)address);
    fflush(who->ask);
    char function[4096], file[4096];
    char whole[4096] = "?";
    bool found = false, first = true, in_wrapper = false;
    while (read_line(who, function, sizeof function) &&
           read_line(who, file, sizeof file)) {
        if (!first && strcmp(function, "??") == 0) {
            place.whole = emu_copy_of(whole);
            return place;
        }
        strcpy(whole, function);
        if (first)
            place.in_vector =
                *file == '?' || strstr(file, "/include/vector_types.h:") != NULL;
        first = false;
        char *colon = strrchr(file, ':');
        if (!colon) continue;
        *colon = '\0';
        if ((found && !in_wrapper) || is_ours(file)) continue;
        found = true;
        in_wrapper = is_wrapper(file);
        place.file = tidy_path(file);
        place.line = atoi(colon + 1);
        place.function = emu_copy_of(function);
        place.text = line_text(file, place.line);
    }
    who->unavailable = true; /* addr2line is missing or has ended */
    return place;
}

struct emu_place emu_source_of(const void *pc)
{
    static struct entry *table[1024];
    struct entry **bucket = &table[((uintptr_t)pc >> 2) % 1024];
    for (struct entry *e = *bucket; e; e = e->next)
        if (e->pc == pc) return e->place;
    struct entry *e = emu_zeros("for a place in the source", 1, sizeof *e);
    *e = (struct entry){pc, look_up(pc), *bucket};
    *bucket = e;
    return e->place;
}

const void *emu_copied_at;

bool emu_is_structure(size_t n, const void *pc)
{
    return n == 16 && pc == emu_copied_at && !emu_source_of(pc).in_vector;
}

bool emu_same_line(const void *pc, const void *other)
{
    if (pc == other) return true;
    const struct emu_place here = emu_source_of(pc), there = emu_source_of(other);
    return here.line == there.line ? strcmp(here.file, there.file) == 0
                                   : here.line == 0 || there.line == 0;
}
