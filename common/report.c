/* What the reader sees: one table, the same rows in every chapter, on a GPU and without
 * one; or the same as JSON. */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* 2 M N K for the product (a multiplication and an addition each), then alpha, and beta *
 * C and its sum. */
static double flop_count(const struct options *o)
{
    const double MN = (double)o->M * o->N;
    return 2.0 * MN * o->K + MN * (o->beta == 0.0f ? 1.0 : 3.0);
}

/* A and B in once, C out once, and in once if beta asks for it. */
static double least_bytes(const struct options *o)
{
    const double MN = (double)o->M * o->N, size = o->precision == BF16 ? 2.0 : 4.0;
    return size * ((double)o->M * o->K + (double)o->K * o->N +
                   MN * (o->beta == 0.0f ? 1.0 : 2.0));
}

static const char *unit(double *value)
{
    static const char *const names[] = {"", "k", "M", "G", "T"};
    int i = 0;
    while (*value >= 1000.0 && i < 4) *value /= 1000.0, i++;
    return names[i];
}

static const char *of_precision(const struct options *o)
{
    switch (o->precision) {
    case BF16: return "A, B and C bf16, sums fp32";
    case TF32: return "A and B tf32 in fp32, sums and C fp32";
    default: return "fp32";
    }
}

static const char *inputs_of(const struct options *o)
{
    return o->precision == FP32 ? "uniform in (-1, 1)" : "normal, variance 1";
}

static const char *kind_of_check(const struct verdict *v)
{
    if (v->exact)
        return v->sampled ? "fractions, rows + Freivalds" : "fractions, every element";
    return v->sampled ? "reals, rows + Freivalds" : "reals, every element";
}

/* The shape of the one before it, now for another of the chapter's kernels, or at another
 * address. */
static bool for_another_kernel(const struct odd_shape *shape)
{
    const struct product *a = &shape[-1].product, *b = &shape->product;
    const char *one = a->option ? a->option : "", *other = b->option ? b->option : "";
    return shape->precision == shape[-1].precision && a->M == b->M && a->N == b->N &&
           a->K == b->K && (strcmp(one, other) != 0 || a->shift != b->shift);
}

/* The shapes that passed, in lines of at most 80 columns, and what became of the next. A
 * shape at which several kernels, or addresses, are checked, one after the other, is named
 * once. */
static void print_shapes(const struct shapes *shapes)
{
    char text[64];
    int column = printf("  odd shapes"), last = shapes->count - 1; // that is named
    while (last > 0 && for_another_kernel(&shapes->list[last])) last--;
    const bool all = shapes->passed == shapes->count;
    for (int i = 0; i <= shapes->passed; i++) {
        const struct product *p = &shapes->list[i].product;
        if (i > 0 && i < shapes->passed && for_another_kernel(&shapes->list[i])) continue;
        const char *other =
            i > 0 && shapes->list[i].precision != shapes->list[i - 1].precision
                ? PRECISION_NAMES[shapes->list[i].precision]
                : "";
        if (i < shapes->passed)
            snprintf(text, sizeof text, "%s%s%dx%dx%d%s", other, *other ? ": " : "", p->M,
                     p->N, p->K, all && i == last ? "" : ",");
        else
            snprintf(text, sizeof text, "%s",
                     i < shapes->count ? "the next is WRONG" : "ok, exact");
        if (column + 1 + (int)strlen(text) > 80) column = printf("\n            ") - 1;
        column += printf(" %s", text);
    }
    printf("\n");
}

void print_table(const struct chapter *chapter, const struct options *o,
                 const struct machine *machine, const struct verdict *verdicts,
                 int verdict_count, const struct shapes *shapes,
                 const struct timing *timing, bool passed)
{
    double flop = flop_count(o), bytes = least_bytes(o);
    const double intensity = flop / bytes;
    const char *flop_unit = unit(&flop), *bytes_unit = unit(&bytes);

    printf("Chapter %d: %s\n", chapter->number, chapter->title);
    printf("  device     %s, %d SMs, %.0f MHz, CUDA %d.%d\n", machine->gpu.name,
           machine->gpu.multiProcessorCount, machine->clock_khz / 1e3,
           machine->runtime / 1000, machine->runtime % 1000 / 10);
    printf("  product    M = %d, N = %d, K = %d, alpha = %g, beta = %g, seed %llu\n",
           o->M, o->N, o->K, o->alpha, o->beta, (unsigned long long)o->seed);
    if (o->precision != FP32) printf("  precision  %s\n", of_precision(o));
    printf("  work       %.4g %sFLOP; at least %.4g %sB to move; %.4g FLOP per byte\n",
           flop, flop_unit, bytes, bytes_unit, intensity);
    for (int i = 0; i < verdict_count; i++) {
        const struct verdict *v = &verdicts[i];
        printf("  check      %-32s %s", i < 2 ? kind_of_check(v) : "reals, after timing",
               v->passed ? "ok" : "WRONG");
        if (v->passed && v->exact) printf(", exact");
        if (v->passed && !v->exact) printf(", error up to %.2g of its bound", v->worst);
        printf("\n");
    }
    if (shapes->count) print_shapes(shapes);
    const char *faults = EMULATED ? getenv("CHECK") : NULL;
    if (faults && strcmp(faults, "0") == 0)
        printf("  faults     not looked for: CHECK is 0\n");
    if (timing) {
        const double gflops = flop_count(o) / timing->kernel_ms.median / 1e6;
        const double cublas = flop_count(o) / timing->cublas_ms.median / 1e6;
        const bool tera = o->precision != FP32; /* of so many one writes thousands */
        const double scale = tera ? 1e-3 : 1.0;
        const char *flops = tera ? "TFLOP/s" : "GFLOP/s";
        printf("  time       %.4g ms (%.4g to %.4g, %d runs, cold L2)\n",
               timing->kernel_ms.median, timing->kernel_ms.low, timing->kernel_ms.high,
               timing->runs);
        printf("  cuBLAS     %.4g ms (%.4g to %.4g), %.*f %s%s%s\n",
               timing->cublas_ms.median, timing->cublas_ms.low, timing->cublas_ms.high,
               tera, scale * cublas, flops, tera ? ": " : "",
               tera ? timing->cublas_call : "");
        printf("  speed      %.*f %s", tera, scale * gflops, flops);
        if (machine->peak_gflops > 0)
            printf(", %.1f %% of the GPU's peak", 100.0 * gflops / machine->peak_gflops);
        printf("\n  ratio      %.3f x cuBLAS (%.3f to %.3f)\n", timing->ratio.median,
               timing->ratio.low, timing->ratio.high);
        for (int i = 0; i < timing->more_count; i++)
            printf("  measured   %s: %.4g %s\n", timing->more[i].name,
                   timing->more[i].value, timing->more[i].unit);
    } else if (!o->check_only) {
        printf("  time       none: an emulated GPU has no speed. LENS=1 shows what "
               "memory saw\n");
    }
    for (int i = 0; i < verdict_count; i++) printf("%s", verdicts[i].failure);
    printf("%s", shapes->failure);
    printf("%s\n", passed ? "PASS" : "FAIL");
}

/* ---- JSON ---- */

static void print_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if (*text == '\n')
            printf("\\n");
        else
            putchar(*text);
    }
    putchar('"');
}

static void print_list(const char *name, const double *values, int count)
{
    printf(", \"%s\": [", name);
    for (int i = 0; i < count; i++) printf("%s%.6g", i ? ", " : "", values[i]);
    printf("]");
}

static void print_spread(const char *name, const struct spread *s)
{
    printf(", \"%s\": {\"median\": %.6g, \"p10\": %.6g, \"p90\": %.6g}", name, s->median,
           s->low, s->high);
}

void print_json(const struct chapter *chapter, const struct options *o,
                const struct machine *machine, const struct verdict *verdicts,
                int verdict_count, const struct shapes *shapes,
                const struct timing *timing, bool passed)
{
    char date[16];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("{\"chapter\": %d, \"title\": ", chapter->number);
    print_string(chapter->title);
    printf(", \"about\": ");
    print_string(chapter->about ? chapter->about : "");
    printf(", \"device\": ");
    print_string(machine->gpu.name);
    printf(", \"flop_per_byte\": %.6g", chapter->flop_per_byte);
    printf(", \"emulated\": %s, \"sms\": %d, \"clock_mhz\": %.0f, \"cuda\": \"%d.%d\", "
           "\"driver\": \"%d.%d\"",
           EMULATED ? "true" : "false", machine->gpu.multiProcessorCount,
           machine->clock_khz / 1e3, machine->runtime / 1000,
           machine->runtime % 1000 / 10, machine->driver / 1000,
           machine->driver % 1000 / 10);
    printf(", \"date\": \"%s\", \"M\": %d, \"N\": %d, \"K\": %d, \"alpha\": %.9g, "
           "\"beta\": %.9g, \"seed\": %llu",
           date, o->M, o->N, o->K, o->alpha, o->beta, (unsigned long long)o->seed);
    printf(", \"precision\": \"%s\", \"inputs\": \"%s\", \"flop\": %.17g, "
           "\"least_bytes\": %.17g",
           PRECISION_NAMES[o->precision], inputs_of(o), flop_count(o), least_bytes(o));
    printf(", \"checks\": [");
    for (int i = 0; i < verdict_count; i++) {
        const struct verdict *v = &verdicts[i];
        printf("%s{\"kind\": \"%s\", \"passed\": %s, \"worst\": %.6g, \"rms\": %.6g, "
               "\"failure\": ",
               i ? ", " : "", kind_of_check(v), v->passed ? "true" : "false", v->worst,
               v->rms);
        print_string(v->failure);
        printf("}");
    }
    printf("], \"shapes\": [");
    for (int i = 0; i < shapes->count && i <= shapes->passed; i++) {
        const struct product *p = &shapes->list[i].product;
        printf("%s{\"M\": %d, \"N\": %d, \"K\": %d, \"alpha\": %.9g, \"beta\": %.9g, "
               "\"precision\": \"%s\", \"shift\": \"%.1s\", \"option\": ",
               i ? ", " : "", p->M, p->N, p->K, p->alpha, p->beta,
               PRECISION_NAMES[shapes->list[i].precision], &p->shift);
        print_string(p->option ? p->option : "");
        printf(", \"passed\": %s, \"failure\": ", i < shapes->passed ? "true" : "false");
        print_string(i < shapes->passed ? "" : shapes->failure);
        printf("}");
    }
    printf("]");
    if (timing) {
        printf(", \"runs\": %d", timing->runs);
        print_spread("kernel_ms", &timing->kernel_ms);
        print_spread("cublas_ms", &timing->cublas_ms);
        print_spread("ratio", &timing->ratio);
        printf(", \"gflops\": %.6g, \"cublas_gflops\": %.6g, \"peak_gflops\": %.6g",
               flop_count(o) / timing->kernel_ms.median / 1e6,
               flop_count(o) / timing->cublas_ms.median / 1e6, machine->peak_gflops);
        printf(", \"cublas_call\": ");
        print_string(timing->cublas_call);
        print_list("kernel_ms_all", timing->kernel_all, timing->runs);
        print_list("cublas_ms_all", timing->cublas_all, timing->runs);
        printf(", \"measured\": [");
        for (int i = 0; i < timing->more_count; i++) {
            printf("%s{\"name\": ", i ? ", " : "");
            print_string(timing->more[i].name);
            printf(", \"value\": %.6g, \"unit\": ", timing->more[i].value);
            print_string(timing->more[i].unit);
            if (timing->more[i].roof) printf(", \"roof\": \"%s\"", timing->more[i].roof);
            printf("}");
        }
        printf("]");
    }
    printf(", \"passed\": %s}\n", passed ? "true" : "false");
}

void print_description(const struct chapter *c)
{
    printf("{\"chapter\": %d, \"title\": ", c->number);
    print_string(c->title);
    printf(", \"about\": ");
    print_string(c->about ? c->about : "");
    printf(", \"tile\": [%d, %d], \"of_a_thread\": [%d, %d], \"flop_per_byte\": %.6g, "
           "\"several_gpus\": %s, \"min_capability\": %d, \"max_capability\": %d, "
           "\"precisions\": [",
           c->BM, c->BN, c->TM, c->TN, c->flop_per_byte,
           c->several_gpus ? "true" : "false", c->min_capability, c->max_capability);
    for (int i = 0, shown = 0; i < PRECISIONS; i++)
        if (has_precision(c, i))
            printf("%s\"%s\"", shown++ ? ", " : "", PRECISION_NAMES[i]);
    printf("], \"kernel\": ");
    print_string(c->kernel.name ? c->kernel.name : "");
    printf(", \"threads\": %d, \"dynamic_shared\": %zu, \"products\": [", c->threads,
           c->dynamic_shared);
    for (int i = 0; i < c->product_count; i++) {
        if (i) printf(", ");
        print_string(command_for(&c->products[i], "", 1) + 1);
    }
    printf("]}\n");
}

void progress(const char *format, ...)
{
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r\033[K");
    if (format) {
        va_list arguments;
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
    }
    fflush(stderr);
}

/* ---- was it written? ---- */

static int chapter_number;

static void output_must_be_written(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return;
    /* Who closes a pipe early (| head -1) wants no more, and no word about it either. */
    if (errno != EPIPE)
        fprintf(stderr, "chapter%d: cannot write the output: %s\n", chapter_number,
                errno ? strerror(errno) : "an earlier write failed");
    _exit(CANNOT);
}

void watch_output(const struct chapter *chapter)
{
    int file;
    /* A stdin, stdout or stderr that is closed would be the next file that is opened, and
     * what is printed would go there. Written to, this one gives an error. */
    do file = open("/dev/null", O_RDONLY);
    while (file >= 0 && file <= STDERR_FILENO);
    if (file >= 0) close(file);
    /* A file at its limit (ulimit -f) is an error like a full disk, not the end. */
    signal(SIGXFSZ, SIG_IGN);
    chapter_number = chapter->number;
    atexit(output_must_be_written);
}
