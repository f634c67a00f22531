/* ./chapter11 --tune: which constants are the fastest on this GPU?
 *
 *   reject  Every combination of the values below is a candidate. Most break a rule that
 *           needs no trying: too many threads, copies that do not come out even, more
 *           shared memory than there is. They are counted by their reason and forgotten.
 *   make    The others are compiled, many at once, and each is run as a program of its
 *           own, with all of common's checks (candidate.sh). One that spills, crashes or
 *           is wrong costs no other. What is made stays in build/tune, so an
 *           interrupted search goes on where it was.
 *   time    The survivors are loaded into one process and take turns, so that a change of
 *           the clock hits them all. After each round the slower half is out; the last
 *           few go on until their times stop moving.
 *   write   The winner is checked again at the shape it was timed at, and becomes a line
 *           of winners.txt. */
#include "tune.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

/* ---- the space ---- */

enum { AXES = sizeof(struct config) / sizeof(int), MOST_VALUES = 4, USUAL_GROUP = 8 };

/* The values to try. Where there is a usual one, it is the first, and the search begins
 * with the candidates that take it. The tiles of blocks and threads have none: all their
 * combinations are tried early. */
static const struct {
    const char *name;
    bool has_usual;
    int count, values[MOST_VALUES];
} SPACE[AXES] = {
    {"BM", false, 4, {32, 64, 128, 256}},
    {"BN", false, 4, {32, 64, 128, 256}},
    {"BK", true, 2, {8, 16}},
    {"TM", false, 3, {4, 8, 16}},
    {"TN", false, 3, {4, 8, 16}},
    {"STAGES", true, 3, {4, 3, 8}},
    {"LANES", true, 2, {4, 8}},
    {"BLOCKS", true, 2, {1, 2}},
    {"GROUP", true, 2, {USUAL_GROUP, 32}},
    {"TURN", true, 2, {1, 0}},
};

static const struct {
    int M, N, K;
} SHAPES[] = {
    {4096, 4096, 4096}, {1024, 1024, 1024}, {512, 512, 512},
    {16384, 128, 4096}, {64, 12288, 4096},  {512, 512, 16384},
};

struct candidate {
    struct config config;
    int unusual; /* how many of its parameters are not the usual ones */
    unsigned shuffled;
    char name[64];                /* 128-256-8-16-8-4-4-1-8-1 */
    const struct winner *kernels; /* NULL until it is made, checked and loaded */
    double *times;                /* at the shape being tuned, milliseconds */
    int time_count;
    struct spread spread;
};

static int threads_of(const struct config *c)
{
    return c->BM * c->BN / (c->TM * c->TN);
}

/* Bytes of shared memory a block: STAGES tiles of A, transposed and padded by 4 floats a
 * row, and as many of B. */
static int shared_bytes_of(const struct config *c)
{
    return c->STAGES * c->BK * (c->BM + 4 + c->BN) * (int)sizeof(float);
}

/* Registers a thread, at the least: its results, two pairs of fragments, one address for
 * each copy of A (two registers), and about 24 for everything else. The compiler may need
 * more, and then says so by spilling. */
static int registers_of(const struct config *c)
{
    return c->TM * c->TN + 2 * (c->TM + c->TN) + 2 * (c->BM * c->BK / threads_of(c)) + 24;
}

/* Why a candidate cannot work on this GPU, or is not worth a compiler's time; NULL if it
 * can and is. */
static const char *reason_against(const struct config *c,
                                  const struct cudaDeviceProp *gpu)
{
    if (c->BM % (c->LANES * c->TM) || c->BN % (32 / c->LANES * c->TN))
        return "the warps' tiles do not divide the block's tile";
    const int threads = threads_of(c), shared = shared_bytes_of(c);
    if (threads > gpu->maxThreadsPerBlock)
        return "more threads than a block may have";
    if (c->BM * c->BK % threads || c->BM > threads)
        return "the copies of A do not divide evenly among threads and steps";
    if (c->BN * c->BK % (4 * threads) || c->BN > threads)
        return "the copies of B do not divide evenly among threads and steps";
    if ((size_t)shared > gpu->sharedMemPerBlockOptin)
        return "more shared memory than a block may have";
    if (c->BLOCKS * (shared + gpu->reservedSharedMemPerBlock) >
        gpu->sharedMemPerMultiprocessor)
        return "more shared memory than BLOCKS blocks find on an SM";
    if (registers_of(c) > 255)
        return "more registers than a thread may have";
    /* Registers are handed out to a warp in units of 256, 8 a thread. */
    if (c->BLOCKS * threads * ((registers_of(c) + 7) / 8 * 8) >
        gpu->regsPerMultiprocessor)
        return "more registers than BLOCKS blocks find on an SM";
    if (c->BLOCKS * threads > gpu->maxThreadsPerMultiProcessor)
        return "more threads than an SM may have";
    if (c->GROUP != USUAL_GROUP && c->BM * c->BN < 128 * 128)
        return "the order of blocks hardly matters for small tiles: one is enough";
    return NULL;
}

/* ---- the list ---- */

enum { MOST_REASONS = 16 };
struct reasons {
    int count;
    struct {
        const char *text;
        int times;
    } list[MOST_REASONS];
};

static void count_reason(struct reasons *reasons, const char *text)
{
    int i = 0;
    while (i < reasons->count && strcmp(reasons->list[i].text, text))
        i++;
    if (i == reasons->count) {
        reasons->list[i].text = text;
        reasons->list[i].times = 0;
        reasons->count++;
    }
    reasons->list[i].times++;
}

static int compare_unusual(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->unusual != y->unusual)
        return x->unusual - y->unusual;
    return (x->shuffled > y->shuffled) - (x->shuffled < y->shuffled);
}

static int size_of_space(void)
{
    int size = 1;
    for (int axis = 0; axis < AXES; axis++)
        size *= SPACE[axis].count;
    return size;
}

/* Fills `list`, which has room for all of the space, with the candidates that pass, those
 * of the rows in use first, then from usual to unusual: whenever the time is up, the best
 * guesses have been tried. Returns how many. */
static int enumerate(struct candidate *list, const struct cudaDeviceProp *gpu,
                     struct reasons *reasons)
{
    int count = 0;
    for (int i = 0; i < size_of_space(); i++) {
        struct candidate c = {0};
        /* Multiplying by a large odd number shuffles, and always the same way: equals are
         * not tried tile by tile, so that a search cut short has seen some of all. */
        c.shuffled = i * 2654435761u;
        /* i has one digit for each parameter, each to its own base: the number of its
         * values. */
        for (int axis = 0, rest = i; axis < AXES; rest /= SPACE[axis++].count) {
            const int digit = rest % SPACE[axis].count;
            ((int *)&c.config)[axis] = SPACE[axis].values[digit];
            c.unusual += SPACE[axis].has_usual && digit > 0;
        }
        const char *reason = reason_against(&c.config, gpu);
        if (reason) {
            count_reason(reasons, reason);
            continue;
        }
        for (int row = 0; row < WINNER_COUNT; row++)
            if (!memcmp(&WINNERS[row].config, &c.config, sizeof c.config))
                c.unusual = -1;
        for (int axis = 0, used = 0; axis < AXES; axis++)
            used += snprintf(c.name + used, sizeof c.name - used, axis ? "-%d" : "%d",
                             ((int *)&c.config)[axis]);
        list[count++] = c;
    }
    qsort(list, count, sizeof *list, compare_unusual);
    return count;
}

/* ---- make ---- */

static const char SOURCE[] = "chapters/11_autotuning/matmul.cu",
                  FILE_OF_WINNERS[] = "chapters/11_autotuning/winners.txt";

/* build/tune/sm_90/NAME.SUFFIX; what was compiled for one GPU says nothing about another.
 * */
static const char *path_of(const char *name, const char *suffix,
                           const struct cudaDeviceProp *gpu)
{
    static char path[160];
    char world[16] = "emulator";
    if (!EMULATED)
        snprintf(world, sizeof world, "sm_%d%d", gpu->major, gpu->minor);
    snprintf(path, sizeof path, "build/tune/%s/%s.%s", world, name, suffix);
    return path;
}

/* What candidate.sh found: "ok", or what is wrong. Empty if it was not looked at since the
 * kernel was last changed. */
static const char *verdict_on(const struct candidate *c, const struct cudaDeviceProp *gpu)
{
    static char text[80];
    struct stat source, verdict;
    const char *path = path_of(c->name, "verdict", gpu);
    text[0] = '\0';
    if (stat(SOURCE, &source) || stat(path, &verdict) ||
        verdict.st_mtime < source.st_mtime)
        return text;
    FILE *file = fopen(path, "r");
    if (!file)
        return text;
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* Has make compile and check the candidates, as many at once as there are processors, in
 * the order of the list, for at most `seconds`. Those that make finds done already cost
 * nothing. Returns false if make could not be started. */
static bool make_candidates(const struct candidate *list, int count,
                            const struct cudaDeviceProp *gpu, int seconds)
{
    char command[200], world[40] = "EMULATOR=1", line[160];
    const char *wanted = "build/tune/wanted";
    mkdir("build", 0777);
    mkdir("build/tune", 0777);
    FILE *file = fopen(wanted, "w");
    if (!file)
        return false;
    for (int i = 0; i < count; i++)
        fprintf(file, "%s\n", path_of(list[i].name, "verdict", gpu));
    if (ferror(file) | fclose(file))
        return false;
    if (!EMULATED)
        snprintf(world, sizeof world, "EMULATOR=0 ARCH=sm_%d%d", gpu->major, gpu->minor);
    snprintf(command, sizeof command,
             "timeout --foreground %d make -s -k -j\"$(nproc)\" %s $(cat %s) 2>&1",
             seconds, world, wanted);

    FILE *make = popen(command, "r");
    if (!make)
        return false;
    const time_t start = time(NULL);
    for (int done = 0; fgets(line, sizeof line, make);) {
        line[strcspn(line, "\n")] = '\0';
        /* One line a candidate: its name and the verdict. Anything else is make's, about
         * what it could not do. */
        if (line[0] < '0' || line[0] > '9')
            continue;
        done++;
        progress("[%-30.*s] %d of %d, %d s  %s", 30 * done / count,
                 "##############################", done, count, (int)(time(NULL) - start),
                 line);
    }
    pclose(make);
    progress(NULL);
    return true;
}

/* Tells how the making went. Returns how many are ready. Spilling is an everyday thing;
 * the other failures are named. */
static int count_ready(const struct candidate *list, int count,
                       const struct cudaDeviceProp *gpu)
{
    int ready = 0, spilled = 0, failed = 0, open = 0;
    for (int i = 0; i < count; i++) {
        const char *verdict = verdict_on(&list[i], gpu);
        if (!strcmp(verdict, "ok")) {
            ready++;
        } else if (!verdict[0]) {
            open++;
        } else if (strstr(verdict, "spills")) {
            spilled++;
        } else {
            printf("            %s %s\n", list[i].name, verdict);
            failed++;
        }
    }
    printf("made        %d ready, %d spilled, %d failed, %d not tried%s\n", ready,
           spilled, failed, open,
           open && !EMULATED ? " yet (--tune again goes on with them)" : "");
    return ready;
}

/* ---- time ---- */

/* Loads what was made. Only now code of a candidate enters this process. */
static int load_candidates(struct candidate *list, int count,
                           const struct cudaDeviceProp *gpu)
{
    int loaded = 0;
    for (int i = 0; i < count; i++) {
        struct candidate c = list[i];
        if (strcmp(verdict_on(&c, gpu), "ok"))
            continue;
        void *library = dlopen(path_of(c.name, "so", gpu), RTLD_LAZY | RTLD_LOCAL);
        c.kernels = library ? dlsym(library, "WINNERS") : NULL;
        if (!c.kernels) {
            fprintf(stderr, "%s cannot be loaded: %s\n", c.name, dlerror());
            continue;
        }
        list[loaded++] = c;
    }
    return loaded;
}

static int compare_medians(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->spread.median > y->spread.median) - (x->spread.median < y->spread.median);
}

enum { ROUNDS_RUNS = 3, FINALISTS = 4, MOST_RUNS = 60 };
static const double SMALL_SPREAD = 0.01; /* 90th percentile over 10th, less 1 */

static double time_once(const struct candidate *c, const struct stopwatch *watch,
                        const struct problem *p)
{
    return time_launch(watch, p, p->N % 4 ? c->kernels->narrow : c->kernels->wide);
}

/* Each candidate in turn, `runs` times over; then the list is sorted by the median of all
 * runs so far. */
static void time_round(struct candidate *list, int count, int runs,
                       const struct stopwatch *watch, const struct problem *p)
{
    for (int run = 0; run < runs; run++)
        for (int i = 0; i < count; i++) {
            list[i].times[list[i].time_count++] = time_once(&list[i], watch, p);
            if (i % 16 == 0)
                progress("%d x %d x %d: %d left, run %d", p->M, p->N, p->K, count,
                         list[i].time_count);
        }
    for (int i = 0; i < count; i++)
        list[i].spread = spread_of(list[i].times, list[i].time_count);
    qsort(list, count, sizeof *list, compare_medians);
}

/* Sorts `list` so that the fastest at this problem comes first. */
static void find_fastest(struct candidate *list, int count, const struct stopwatch *watch,
                         const struct problem *p)
{
    for (int i = 0; i < count; i++) {
        time_once(&list[i], watch, p); /* the first run loads code, and is not counted */
        list[i].time_count = 0;
    }
    int left = count;
    time_round(list, left, ROUNDS_RUNS, watch, p);
    while (left > FINALISTS) {
        left = left / 2 > FINALISTS ? left / 2 : FINALISTS;
        time_round(list, left, ROUNDS_RUNS, watch, p);
    }
    while (list[0].time_count + ROUNDS_RUNS <= MOST_RUNS &&
           (list[0].time_count < 20 ||
            list[0].spread.high > (1 + SMALL_SPREAD) * list[0].spread.low))
        time_round(list, left, ROUNDS_RUNS, watch, p);
    progress(NULL);
}

/* ---- write ---- */

/* Puts the line for this GPU and shape into winners.txt, in place of the one that was
 * there. The file is renamed into place, so that it is whole at any moment. Returns
 * false, with a line on stderr, if it cannot be written. */
static bool write_winner(const char *gpu, int M, int N, int K,
                         const struct candidate *winner, double gflops)
{
    char start[320], row[480], line[480], date[16], temporary[sizeof FILE_OF_WINNERS + 4];
    bool written = false;
    snprintf(temporary, sizeof temporary, "%s.new", FILE_OF_WINNERS);
    FILE *from = fopen(FILE_OF_WINNERS, "r"), *to = fopen(temporary, "w");
    if (!from || !to) {
        fprintf(stderr, "cannot write %s: run this in the project's folder\n",
                FILE_OF_WINNERS);
        return false;
    }
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    const int start_length =
        snprintf(start, sizeof start, "WINNER(\"%s\", %d, %d, %d,", gpu, M, N, K);
    int used = snprintf(row, sizeof row, "%s ", start);
    for (int axis = 0; axis < AXES; axis++)
        used += snprintf(row + used, sizeof row - used, axis ? ", %d" : " %d",
                         ((const int *)&winner->config)[axis]);
    snprintf(row + used, sizeof row - used, ") // %.0f GFLOP/s, %s\n", gflops, date);
    while (fgets(line, sizeof line, from)) {
        const bool same = !strncmp(line, start, start_length);
        if (!same || !written)
            fputs(same ? row : line, to);
        written |= same;
    }
    if (!written)
        fputs(row, to);
    fclose(from);
    if (ferror(to) | fclose(to) || rename(temporary, FILE_OF_WINNERS)) {
        perror(FILE_OF_WINNERS);
        return false;
    }
    return true;
}

/* ---- one shape ---- */

/* Times all candidates at one shape and writes down the fastest that is right there.
 * Returns an exit code. */
static int tune_shape(const struct chapter *chapter, const struct cudaDeviceProp *gpu,
                      int M, int N, int K, struct candidate *list, int count,
                      const struct stopwatch *watch)
{
    struct options options = {.M = M,
                              .N = N,
                              .K = K,
                              .seed = 1,
                              .alpha = 1.0f,
                              .check_only = true,
                              .guards = true};
    struct problem problem;
    if (!problem_create(&problem, &options))
        return CANNOT;
    problem_fill(&problem, &options, REALS);
    find_fastest(list, count, watch, &problem);
    const double gflop = 2e-9 * M * N * K;

    int winner = 0;
    for (; winner < count; winner++) {
        time_once(&list[winner], watch, &problem);
        const struct verdict verdict = verify(&problem, chapter, options.seed);
        if (verdict.passed)
            break;
        printf("%s is fast and wrong at %d x %d x %d:\n%s", list[winner].name, M, N, K,
               verdict.failure);
    }
    problem_destroy(&problem);
    if (winner == count)
        return WRONG;

    const struct spread *t = &list[winner].spread;
    printf("%5d x %5d x %5d  %8.1f GFLOP/s +-%.1f %%  %s\n", M, N, K,
           gflop / t->median * 1e3, 50.0 * (t->high - t->low) / t->median,
           list[winner].name);
    fflush(stdout);
    return write_winner(gpu->name, M, N, K, &list[winner], gflop / t->median * 1e3)
               ? PASSED
               : CANNOT;
}

/* ---- the program ---- */

struct tune_options {
    int M, N, K; /* one shape; 0: all of SHAPES */
    int budget;  /* seconds for making candidates */
    int most;    /* candidates to make */
    bool dry_run;
};

static void print_tune_help(void)
{
    printf("Chapter 11: find the fastest variants of the kernel for this GPU\n"
           "\n"
           "    ./chapter11 --tune [M N K] [options]\n"
           "\n"
           "Without M N K: a few squares, and a tall, a flat and a deep product. The "
           "winners go to\n"
           "%s; the next `make chapter11` builds them in.\n"
           "\n"
           "    --budget S     compile for at most S seconds, the likeliest candidates "
           "first; default 600\n"
           "    --most N       at most N candidates; default all%s\n"
           "    --dry-run      list the candidates, and why the others were rejected\n"
           "    --help         this\n"
           "\n"
           "Exit code: 0 passed, 1 wrong result or a fault, 2 usage, 3 this machine "
           "cannot.\n",
           FILE_OF_WINNERS, EMULATED ? ", and 3 without a GPU" : "");
    exit(PASSED);
}

static void tune_usage(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "chapter11 --tune: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (--tune --help shows what can be given)\n");
    exit(USAGE);
}

static int number_argument(const char *what, const char *text)
{
    long long value;
    if (!text || !whole_number(text, 1, 1 << 24, &value))
        tune_usage("%s must be a whole number from 1 to %d%s%s%s", what, 1 << 24,
                   text ? ", not \"" : "", text ? quoted(text) : "", text ? "\"" : "");
    return (int)value;
}

static struct tune_options parse_tune_options(int argc, char **argv)
{
    struct tune_options o = {.budget = 600, .most = EMULATED ? 3 : 1 << 24};
    int sizes[3], size_count = 0;
    const char *value;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            print_tune_help();
        } else if (!strcmp(argv[i], "--dry-run")) {
            o.dry_run = true;
        } else if (option_with_value(argv, &i, "--budget", &value)) {
            o.budget = number_argument("--budget", value);
        } else if (option_with_value(argv, &i, "--most", &value)) {
            o.most = number_argument("--most", value);
        } else if (argv[i][0] == '-' && !isdigit((unsigned char)argv[i][1])) {
            tune_usage("unknown option \"%s\"", quoted(argv[i]));
        } else {
            if (size_count == 3)
                tune_usage("at most three sizes, M N K: what is \"%s\"?",
                           quoted(argv[i]));
            sizes[size_count++] = number_argument("a size", argv[i]);
        }
    }
    if (size_count != 0 && size_count != 3)
        tune_usage("give three sizes, M N K, or none");
    if (size_count)
        o.M = sizes[0], o.N = sizes[1], o.K = sizes[2];
    return o;
}

int tune(int argc, char **argv, const struct chapter *chapter)
{
    watch_output(chapter);
    const struct tune_options options = parse_tune_options(argc, argv);
    struct reasons reasons = {0};
    struct cudaDeviceProp gpu;
    CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
    struct candidate *list =
        host_zeros("for the candidates", size_of_space(), sizeof *list);
    int count = enumerate(list, &gpu, &reasons);

    printf("Chapter 11: tuning for %s\nspace       %d combinations of", gpu.name,
           size_of_space());
    for (int axis = 0; axis < AXES; axis++)
        printf(" %s", SPACE[axis].name);
    printf("\n");
    for (int i = 0; i < reasons.count; i++)
        printf("%9d   %s\n", -reasons.list[i].times, reasons.list[i].text);
    printf("%9d   candidates\n", count);
    fflush(stdout);
    if (options.dry_run) {
        for (int i = 0; i < count; i++)
            printf("            %s\n", list[i].name);
        return PASSED;
    }

    if (count > options.most)
        count = options.most;
    if (access(SOURCE, R_OK)) {
        fprintf(stderr, "%s is not here: run --tune in the project's folder\n", SOURCE);
        return CANNOT;
    }
    if (!make_candidates(list, count, &gpu, options.budget)) {
        fprintf(stderr, "cannot run make, which compiles the candidates: %s\n",
                strerror(errno));
        return CANNOT;
    }
    const int ready = count_ready(list, count, &gpu);
    fflush(stdout);
    if (EMULATED) {
        fprintf(stderr,
                "timing needs a GPU: what the emulator could check, it has checked\n");
        return CANNOT;
    }
    if (!ready || !(count = load_candidates(list, count, &gpu))) {
        fprintf(stderr, "no candidate is ready: build/tune has what the compiler said\n");
        return WRONG;
    }

    struct stopwatch watch;
    stopwatch_create(&watch);
    for (int i = 0; i < count; i++)
        list[i].times =
            host_zeros("to note the times in", MOST_RUNS, sizeof *list[i].times);
    int code = PASSED;
    const int shapes = options.M ? 1 : sizeof SHAPES / sizeof *SHAPES;
    for (int i = 0; i < shapes && code == PASSED; i++)
        code = options.M ? tune_shape(chapter, &gpu, options.M, options.N, options.K,
                                      list, count, &watch)
                         : tune_shape(chapter, &gpu, SHAPES[i].M, SHAPES[i].N,
                                      SHAPES[i].K, list, count, &watch);
    stopwatch_destroy(&watch);
    if (code == PASSED)
        printf("written to %s; next: make chapter11 && ./chapter11\n", FILE_OF_WINNERS);
    return code;
}
