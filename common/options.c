/* What the reader typed. Every mistake is one line that says what would be right. */
#include "common.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above this a sum of K numbers is no longer exact in fp32, however short they are, and
 * verification counts on that. */
#define LARGEST (1 << 24)

const char *const PRECISION_NAMES[PRECISIONS] = {"fp32", "bf16", "tf32"};

bool has_precision(const struct chapter *chapter, enum precision precision)
{
    return launcher_of(chapter, precision) != NULL;
}

enum precision default_precision(const struct chapter *chapter)
{
    enum precision precision = FP32;
    while (precision + 1 < PRECISIONS && !has_precision(chapter, precision)) precision++;
    return precision;
}

/* "bf16 or tf32": those that the chapter has. */
static const char *precisions_of(const struct chapter *chapter)
{
    static char text[40];
    *text = '\0';
    for (int i = 0; i < PRECISIONS; i++)
        if (has_precision(chapter, i))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                     *text ? " or " : "", PRECISION_NAMES[i]);
    return text;
}

const char *const INPUT_NAMES[] = {"usual", "positive", "wide-rows", "wide-columns",
                                   "infinite"};

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
    printf(
        "Chapter %d: %s\n"
        "\n"
        "    ./chapter%d [M [N K]] [options]\n"
        "\n"
        "Computes C = alpha*A*B + beta*C with A of M x K, B of K x N, C of M x N, "
        "checks the\n"
        "result%s. One number means a square. Default: %d.\n"
        "\n"
        "    --alpha X      default 1\n"
        "    --beta X       default 0 (then C is never read)\n"
        "    --precision X  %s; default %s\n"
        "    --seed N       other random inputs; default 1\n"
        "    --inputs KIND  positive: from 0 to 1; wide-rows, wide-columns: large\n"
        "                   and small numbers in rows of A or columns of B;\n"
        "                   infinite: some rows of A and columns of B hold an infinity\n"
        "                   or a NaN\n"
        "    --shift A      A (or B, or C) begins one element behind an aligned "
        "address;\n"
        "                   a, b or c: 8 bytes behind one; 2: A and B are, 3: all "
        "three\n"
        "    --reps N       timed runs; default: about a second's worth\n"
        "    --best-cublas  time beside the fastest of all that cuBLAS proposes for this "
        "product\n"
        "    --check-only   check, don't time\n"
        "    --one-shape    check this product only, not small odd ones besides\n"
        "    --no-guards    no guard bands around the matrices, for tools that watch "
        "their edges\n"
        "    --json         one JSON object instead of the table\n"
        "    --occupancy    run nothing: show how many blocks fit on the SMs of eight "
        "GPUs\n"
        "    --describe     run nothing: print what the chapter says of itself, as "
        "JSON\n"
        "    --registers N  for --occupancy: if a thread needed N registers\n"
        "    --help         this\n"
        "%s"
        "\n"
        "Exit code: 0 passed, 1 wrong result or a fault, 2 usage, 3 this machine "
        "cannot.\n",
        chapter->number, chapter->title, chapter->number,
        EMULATED ? "" : " and times it beside cuBLAS", DEFAULT_SIZE,
        precisions_of(chapter), PRECISION_NAMES[default_precision(chapter)],
        chapter->more_help ? chapter->more_help : "");
    exit(PASSED);
}

const char *quoted(const char *text)
{
    static char copy[64];
    const size_t most = sizeof copy - sizeof "...";
    size_t length = strlen(text);
    snprintf(copy, sizeof copy, "%.*s%s", (int)most, text, length > most ? "..." : "");
    for (char *c = copy; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = '?';
    return copy;
}

bool whole_number(const char *text, long long low, long long high, long long *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return isdigit((unsigned char)*text) && errno == 0 && *end == '\0' && *value >= low &&
           *value <= high;
}

bool option_with_value(char **argv, int *i, const char *name, const char **value)
{
    const size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0) return false;
    const char *rest = argv[*i] + length;
    if (*rest == '=')
        *value = rest + 1;
    else if (*rest == '\0')
        *value = argv[++*i];
    else
        return false;
    return true;
}

static long long integer_argument(const struct chapter *chapter, const char *name,
                                  const char *text, long long low, long long high)
{
    long long value;
    if (!text) usage_error(chapter, "%s needs a value", name);
    if (!whole_number(text, low, high, &value))
        usage_error(chapter, "%s must be a whole number from %lld to %lld, not \"%s\"",
                    name, low, high, quoted(text));
    return value;
}

static float real_argument(const struct chapter *chapter, const char *name,
                           const char *text)
{
    if (!text) usage_error(chapter, "%s needs a value", name);
    /* strtof() takes more than numbers as people write them: spaces, hexadecimal, nan. */
    const bool plain = text[strspn(text, "0123456789+-.eE")] == '\0';
    char *end;
    errno = 0;
    const float value = strtof(text, &end);
    if (!plain || end == text || *end != '\0')
        usage_error(chapter, "%s must be a finite number, not \"%s\"", name,
                    quoted(text));
    if (!isfinite(value) || (value == 0.0f && errno == ERANGE))
        usage_error(chapter, "%s must be a number that fits into a float, not \"%s\"",
                    name, quoted(text));
    return value;
}

static enum precision precision_argument(const struct chapter *chapter, const char *text)
{
    if (!text) usage_error(chapter, "--precision needs a value");
    for (int i = 0; i < PRECISIONS; i++)
        if (strcmp(text, PRECISION_NAMES[i]) == 0 && has_precision(chapter, i)) return i;
    usage_error(chapter, "--precision must be %s in this chapter, not \"%s\"",
                precisions_of(chapter), quoted(text));
    return FP32;
}

static enum inputs inputs_argument(const struct chapter *chapter, const char *text)
{
    const int count = sizeof INPUT_NAMES / sizeof *INPUT_NAMES;
    for (int i = 0; text && i < count; i++)
        if (strcmp(text, INPUT_NAMES[i]) == 0) return (enum inputs)i;
    usage_error(chapter,
                "--inputs must be usual, positive, wide-rows, wide-columns or infinite");
    return USUAL;
}

static char matrix_argument(const struct chapter *chapter, const char *text)
{
    if (!text || strlen(text) != 1 || !strchr("ABCabc23", *text))
        usage_error(chapter, "--shift must be A, B, C, a, b, c, 2 or 3");
    return *text;
}

void parse_options(int argc, char **argv, const struct chapter *chapter,
                   struct options *options)
{
    const char *sizes[3], *value;
    int size_count = 0;

    *options = (struct options){.precision = default_precision(chapter),
                                .seed = 1,
                                .alpha = 1.0f,
                                .guards = !EMULATED};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        const bool negative_number = word[0] == '-' && isdigit((unsigned char)word[1]);
        if (word[0] != '-' || negative_number) {
            if (size_count == 3)
                usage_error(chapter, "at most three sizes, M N K: what is \"%s\"?",
                            quoted(word));
            sizes[size_count++] = word;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(chapter);
        } else if (strcmp(word, "--json") == 0) {
            options->json = true;
        } else if (strcmp(word, "--best-cublas") == 0) {
            options->best_cublas = true;
        } else if (strcmp(word, "--check-only") == 0) {
            options->check_only = true;
        } else if (strcmp(word, "--one-shape") == 0) {
            options->one_shape = true;
        } else if (strcmp(word, "--no-guards") == 0) {
            options->guards = false;
        } else if (strcmp(word, "--describe") == 0) {
            options->describe = true;
        } else if (strcmp(word, "--occupancy") == 0) {
            options->occupancy = true;
        } else if (option_with_value(argv, &i, "--alpha", &value)) {
            options->alpha = real_argument(chapter, "--alpha", value);
        } else if (option_with_value(argv, &i, "--precision", &value)) {
            options->precision = precision_argument(chapter, value);
        } else if (option_with_value(argv, &i, "--beta", &value)) {
            options->beta = real_argument(chapter, "--beta", value);
        } else if (option_with_value(argv, &i, "--seed", &value)) {
            options->seed =
                (uint64_t)integer_argument(chapter, "--seed", value, 0, INT64_MAX);
        } else if (option_with_value(argv, &i, "--inputs", &value)) {
            options->inputs = inputs_argument(chapter, value);
        } else if (option_with_value(argv, &i, "--shift", &value)) {
            options->shift = matrix_argument(chapter, value);
        } else if (option_with_value(argv, &i, "--reps", &value)) {
            options->reps = (int)integer_argument(chapter, "--reps", value, 1, 100000);
        } else if (option_with_value(argv, &i, "--registers", &value)) {
            options->registers =
                (int)integer_argument(chapter, "--registers", value, 1, 255);
        } else if (chapter->own_option &&
                   option_with_value(argv, &i, chapter->own_option, &value)) {
            *chapter->own_value =
                (int)integer_argument(chapter, chapter->own_option, value, 1, LARGEST);
        } else if (chapter->second_option &&
                   option_with_value(argv, &i, chapter->second_option, &value)) {
            *chapter->second_value =
                (int)integer_argument(chapter, chapter->second_option, value, 1, LARGEST);
        } else {
            usage_error(chapter, "unknown option \"%s\"", quoted(word));
        }
    }
    if (options->inputs == INFINITE && options->alpha == 0.0f)
        usage_error(chapter,
                    "--inputs infinite needs an --alpha other than 0, as zero times "
                    "infinity has no result that is right");
    if (size_count == 2) usage_error(chapter, "give one size (a square) or three, M N K");
    options->M = size_count ? (int)integer_argument(chapter, "M", sizes[0], 1, LARGEST)
                            : DEFAULT_SIZE;
    options->N = size_count == 3
                     ? (int)integer_argument(chapter, "N", sizes[1], 1, LARGEST)
                     : options->M;
    options->K = size_count == 3
                     ? (int)integer_argument(chapter, "K", sizes[2], 1, LARGEST)
                     : options->M;
}
