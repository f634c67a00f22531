/* NVRTC: the emulator's nvcc, started by the program. */
#define _GNU_SOURCE /* asprintf */
#include "nvrtc.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/module.h"
#include "base/room.h"

struct text {
    char *name, *text;
};
struct _nvrtcProgram {
    char *name, *source;
    struct text *headers;
    char **expressions, **lowered;
    int header_count, expression_count;
    bool compiled;
    struct emu_bytes ptx, cubin, log;
};

const char *nvrtcGetErrorString(nvrtcResult result)
{
    static const char *const names[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "NVRTC_ERROR_INTERNAL_ERROR",
        "NVRTC_ERROR_TIME_FILE_WRITE_FAILED"};
    return (size_t)result < sizeof names / sizeof *names ? names[result]
                                                         : "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
    *major = CUDA_VERSION / 1000;
    *minor = CUDA_VERSION % 1000 / 10;
    return NVRTC_SUCCESS;
}

static const int architectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
enum { ARCHITECTURE_COUNT = sizeof architectures / sizeof *architectures };

nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
    if (!count) return NVRTC_ERROR_INVALID_INPUT;
    *count = ARCHITECTURE_COUNT;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *all)
{
    if (!all) return NVRTC_ERROR_INVALID_INPUT;
    memcpy(all, architectures, sizeof architectures);
    return NVRTC_SUCCESS;
}

/* ---- a program ---- */

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source,
                               const char *name, int header_count,
                               const char *const *headers,
                               const char *const *include_names)
{
    if (!program || !source || header_count < 0 ||
        (header_count && (!headers || !include_names)))
        return NVRTC_ERROR_INVALID_INPUT;
    const nvrtcProgram p = emu_zeros("for a program", 1, sizeof *p);
    p->name = emu_copy_of(name && *name ? name : "default_program");
    p->source = emu_copy_of(source);
    p->headers = emu_zeros("for headers", (size_t)header_count + 1, sizeof *p->headers);
    p->header_count = header_count;
    for (int i = 0; i < header_count; i++)
        p->headers[i] =
            (struct text){emu_copy_of(include_names[i]), emu_copy_of(headers[i])};
    *program = p;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
    const nvrtcProgram p = *program;
    for (int i = 0; i < p->header_count; i++) {
        free(p->headers[i].name);
        free(p->headers[i].text);
    }
    for (int i = 0; i < p->expression_count; i++) {
        free(p->expressions[i]);
        free(p->lowered[i]);
    }
    void *const all[] = {p->name,    p->source, p->headers,  p->expressions,
                         p->lowered, p->ptx.at, p->cubin.at, p->log.at};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(p);
    *program = NULL;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram p, const char *expression)
{
    if (!p) return NVRTC_ERROR_INVALID_PROGRAM;
    if (!expression) return NVRTC_ERROR_INVALID_INPUT;
    if (p->compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    const int i = p->expression_count++;
    p->expressions =
        emu_resized(p->expressions, "for names", (size_t)i + 1, sizeof *p->expressions);
    p->lowered = emu_resized(p->lowered, "for names", (size_t)i + 1, sizeof *p->lowered);
    p->expressions[i] = emu_copy_of(expression);
    /* A kernel is registered by the expression itself, and a variable is found by its
     * name, namespaces included. */
    expression += strspn(expression, " ");
    p->lowered[i] = emu_copy_of(*expression == '&' ? expression + 1 : p->expressions[i]);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram p, const char *expression, const char **name)
{
    if (!p) return NVRTC_ERROR_INVALID_PROGRAM;
    if (!expression || !name) return NVRTC_ERROR_INVALID_INPUT;
    if (!p->compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    for (int i = 0; i < p->expression_count; i++)
        if (strcmp(p->expressions[i], expression) == 0) {
            *name = p->lowered[i];
            return NVRTC_SUCCESS;
        }
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

/* ---- its compilation ---- */

__attribute__((format(printf, 1, 2))) static char *format(const char *pattern, ...)
{
    char *s;
    va_list values;
    va_start(values, pattern);
    const int length = vasprintf(&s, pattern, values);
    va_end(values);
    if (length < 0) abort();
    return s;
}

static void make_folders(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

/* The source, and behind it what registers the kernels whose names will be asked for.
 * Messages name the program, and its own lines. */
static bool write_source(nvrtcProgram p, const char *path)
{
    FILE *const file = fopen(path, "w");
    if (!file) return false;
    fprintf(file, "#line 1 \"%s\"\n%s\n", p->name, p->source);
    for (int i = 0; i < p->expression_count; i++)
        if (p->expressions[i][strspn(p->expressions[i], " ")] != '&')
            fprintf(file, "static ::emu::known_kernel emu_named_%d(%s, \"%s\");\n", i,
                    p->expressions[i], p->expressions[i]);
    return fclose(file) == 0;
}

static bool write_headers(nvrtcProgram p, const char *folder)
{
    for (int i = 0; i < p->header_count; i++) {
        char *const path = format("%s/%s", folder, p->headers[i].name);
        make_folders(path, strlen(folder) + 1);
        FILE *const file = fopen(path, "w");
        free(path);
        if (!file || fputs(p->headers[i].text, file) < 0 || fclose(file) != 0)
            return false;
    }
    return true;
}

/* What the emulator's nvcc does anyway, or does not know. */
static bool is_ignored(const char *option)
{
    static const char *const begins[] = {"default-device",
                                         "device-as-default-execution-space",
                                         "device-int128",
                                         "builtin-",
                                         "no-cache",
                                         "no-source-include",
                                         "pch",
                                         "auto-pch",
                                         "dc",
                                         "dw",
                                         "device-c",
                                         "device-w",
                                         "relocatable-device-code",
                                         "rdc",
                                         "minimal",
                                         "version-ident",
                                         "modify-stack-limit",
                                         "fdevice",
                                         "jump-table-density"};
    option += strspn(option, "-");
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(option, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

/* Runs nvcc with its messages in a file. Its exit status. */
static int run_nvcc(char **command, const char *log)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (freopen(log, "w", stderr) && dup2(2, 1) == 1) execv(command[0], command);
        fprintf(stderr, "cannot start %s: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static nvrtcResult compile_in(nvrtcProgram p, const char *folder, int count,
                              const char *const *given)
{
    char *const source = format("%s/emulator_program.cu", folder),
                *const ptx = format("%s/emulator_program.ptx", folder),
                *const log = format("%s/emulator_program.log", folder),
                *const include = format("-I%s", folder);
    char **const command = emu_zeros("for options", (size_t)count + 10, sizeof *command);
    int n = 0;
    /* The program's name may be a path: includes are looked for beside it. */
    const char *const slash = strrchr(p->name, '/');
    char *const beside =
        format("-I%.*s", slash ? (int)(slash - p->name + 1) : 1, slash ? p->name : ".");
    const char *const own[] = {
        EMU_NVCC, "-ptx", source, "-o", ptx, include, "-D__CUDACC_RTC__=1"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) command[n++] = (char *)own[i];
    for (int i = 0; i < count; i++)
        if (!is_ignored(given[i])) command[n++] = (char *)given[i];
    command[n++] = beside;
    nvrtcResult result = NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
    if (write_source(p, source) && write_headers(p, folder)) {
        const int status = run_nvcc(command, log);
        (void)emu_read_file(log, &p->log);
        result = status == 0 && emu_read_file(ptx, &p->ptx) ? NVRTC_SUCCESS
                 : p->log.at && strstr(p->log.at, "Unknown option")
                     ? NVRTC_ERROR_INVALID_OPTION
                     : NVRTC_ERROR_COMPILATION;
    }
    free(source);
    free(ptx);
    free(log);
    free(include);
    free(beside);
    free(command);
    return result;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int count, const char *const *options)
{
    enum { DEPTH = 16 };
    if (!p) return NVRTC_ERROR_INVALID_PROGRAM;
    if (count < 0 || (count && !options)) return NVRTC_ERROR_INVALID_INPUT;
    const char *const place = getenv("TMPDIR");
    char *const folder = format("%s/nvrtc-XXXXXX", place && *place ? place : "/tmp");
    nvrtcResult result = NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
    free(p->ptx.at);
    free(p->cubin.at);
    free(p->log.at);
    p->ptx = p->cubin = p->log = (struct emu_bytes){NULL, 0};
    if (mkdtemp(folder)) {
        result = compile_in(p, folder, count, options);
        (void)nftw(folder, remove_one, DEPTH, FTW_DEPTH | FTW_PHYS);
    }
    free(folder);
    if (result == NVRTC_SUCCESS && emu_read_module(p->ptx.at, &p->cubin) != CUDA_SUCCESS)
        result = NVRTC_ERROR_INTERNAL_ERROR;
    p->compiled = result == NVRTC_SUCCESS;
    return result;
}

/* ---- what came of it ---- */

/* Whether there are results, and a place for them. */
static nvrtcResult has_results(nvrtcProgram p, const void *place)
{
    if (!p || !p->compiled) return NVRTC_ERROR_INVALID_PROGRAM;
    return place ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_INPUT;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t *bytes)
{
    const nvrtcResult refused = has_results(p, bytes);
    if (refused == NVRTC_SUCCESS) *bytes = p->ptx.count + 1;
    return refused;
}

nvrtcResult nvrtcGetPTX(nvrtcProgram p, char *ptx)
{
    const nvrtcResult refused = has_results(p, ptx);
    if (refused == NVRTC_SUCCESS) memcpy(ptx, p->ptx.at, p->ptx.count + 1);
    return refused;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *bytes)
{
    const nvrtcResult refused = has_results(p, bytes);
    if (refused == NVRTC_SUCCESS) *bytes = p->cubin.count;
    return refused;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *cubin)
{
    const nvrtcResult refused = has_results(p, cubin);
    if (refused == NVRTC_SUCCESS) memcpy(cubin, p->cubin.at, p->cubin.count);
    return refused;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *bytes)
{
    if (!p) return NVRTC_ERROR_INVALID_PROGRAM;
    if (!bytes) return NVRTC_ERROR_INVALID_INPUT;
    *bytes = p->log.count + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *log)
{
    if (!p) return NVRTC_ERROR_INVALID_PROGRAM;
    if (!log) return NVRTC_ERROR_INVALID_INPUT;
    memcpy(log, p->log.at ? p->log.at : "", p->log.count + 1);
    return NVRTC_SUCCESS;
}
