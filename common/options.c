/* What the reader typed. Every mistake is one line that says what would be right. */
#include "common.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above this a sum of K numbers is no longer exact in fp32, however short they are, and
 * verification counts on that. */
#define LARGEST (1 << 24)

static void usage_error(const struct chapter *chapter, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "chapter%d: ", chapter->number);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (--help shows what can be given)\n");
    exit(USAGE);
}

static void print_help(const struct chapter *chapter)
{
    printf("Chapter %d: %s\n"
           "\n"
           "    ./chapter%d [M [N K]] [options]\n"
           "\n"
           "Computes C = alpha*A*B + beta*C with A of M x K, B of K x N, C of M x N, "
           "checks the\n"
           "result%s. One number means a square. Default: %d.\n"
           "\n"
           "    --alpha X      default 1\n"
           "    --beta X       default 0 (then C is never read)\n"
           "    --seed N       other random inputs; default 1\n"
           "    --reps N       timed runs; default: about a second's worth\n"
           "    --check-only   check, don't time\n"
           "    --one-shape    check this product only, not small odd ones besides\n"
           "    --no-guards    no guard bands around the matrices, for tools that watch "
           "their edges\n"
           "    --json         one JSON object instead of the table\n"
           "    --occupancy    run nothing: show how many blocks fit on the SMs of eight "
           "GPUs\n"
           "    --registers N  for --occupancy: if a thread needed N registers\n"
           "    --help         this\n"
           "%s"
           "\n"
           "Exit code: 0 passed, 1 wrong result or a fault, 2 usage, 3 this machine "
           "cannot.\n",
           chapter->number, chapter->title, chapter->number,
           EMULATED ? "" : " and times it beside cuBLAS", DEFAULT_SIZE,
           chapter->more_help ? chapter->more_help : "");
    exit(PASSED);
}

static bool parse_integer(const char *text, long long low, long long high,
                          long long *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *value >= low && *value <= high;
}

static int size_argument(const struct chapter *chapter, const char *name,
                         const char *text)
{
    long long value;
    if (!parse_integer(text, 1, LARGEST, &value))
        usage_error(chapter, "%s must be a whole number from 1 to %d, not \"%s\"", name,
                    LARGEST, text);
    return (int)value;
}

static float real_argument(const struct chapter *chapter, const char *name,
                           const char *text)
{
    char *end;
    float value = strtof(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        usage_error(chapter, "%s must be a finite number, not \"%s\"", name, text);
    return value;
}

void parse_options(int argc, char **argv, const struct chapter *chapter,
                   struct options *options)
{
    const char *sizes[3];
    int size_count = 0;
    long long number;

    *options = (struct options){.seed = 1, .alpha = 1.0f, .guards = !EMULATED};
    for (int i = 1; i < argc; i++) {
        const char *flag = argv[i];
        bool negative_number = flag[0] == '-' && flag[1] >= '0' && flag[1] <= '9';
        if (flag[0] != '-' || negative_number) {
            if (size_count == 3)
                usage_error(chapter, "at most three sizes, M N K: what is \"%s\"?", flag);
            sizes[size_count++] = flag;
            continue;
        }
        if (strcmp(flag, "--help") == 0 || strcmp(flag, "-h") == 0) print_help(chapter);
        if (strcmp(flag, "--json") == 0) {
            options->json = true;
            continue;
        }
        if (strcmp(flag, "--check-only") == 0) {
            options->check_only = true;
            continue;
        }
        if (strcmp(flag, "--one-shape") == 0) {
            options->one_shape = true;
            continue;
        }
        if (strcmp(flag, "--no-guards") == 0) {
            options->guards = false;
            continue;
        }
        if (strcmp(flag, "--occupancy") == 0) {
            options->occupancy = true;
            continue;
        }
        bool takes_value = strcmp(flag, "--alpha") == 0 || strcmp(flag, "--beta") == 0 ||
                           strcmp(flag, "--seed") == 0 || strcmp(flag, "--reps") == 0 ||
                           strcmp(flag, "--registers") == 0;
        if (!takes_value) usage_error(chapter, "unknown option \"%s\"", flag);
        if (i + 1 == argc) usage_error(chapter, "%s needs a value", flag);
        const char *text = argv[++i];
        if (strcmp(flag, "--alpha") == 0) {
            options->alpha = real_argument(chapter, flag, text);
        } else if (strcmp(flag, "--beta") == 0) {
            options->beta = real_argument(chapter, flag, text);
        } else if (strcmp(flag, "--seed") == 0) {
            if (!parse_integer(text, 0, INT64_MAX, &number))
                usage_error(chapter, "--seed must be a whole number from 0, not \"%s\"",
                            text);
            options->seed = (uint64_t)number;
        } else if (strcmp(flag, "--registers") == 0) {
            if (!parse_integer(text, 1, 255, &number))
                usage_error(
                    chapter,
                    "--registers must be a whole number from 1 to 255, not \"%s\"", text);
            options->registers = (int)number;
        } else {
            if (!parse_integer(text, 1, 100000, &number))
                usage_error(chapter,
                            "--reps must be a whole number from 1 to 100000, not \"%s\"",
                            text);
            options->reps = (int)number;
        }
    }
    if (size_count == 2) usage_error(chapter, "give one size (a square) or three, M N K");
    options->M = size_count ? size_argument(chapter, "M", sizes[0]) : DEFAULT_SIZE;
    options->N = size_count == 3 ? size_argument(chapter, "N", sizes[1]) : options->M;
    options->K = size_count == 3 ? size_argument(chapter, "K", sizes[2]) : options->M;
}
