/* The compiler driver: takes what people pass to NVIDIA's nvcc and has the host compiler
 * do the work.
 *
 * A .cu file goes through the host's preprocessor, the translator, and the host's
 * compiler with -fsanitize=thread, which puts a call in front of every memory access,
 * -fsanitize-coverage=trace-pc, which puts one into every basic block, and
 * -fsanitize=signed-integer-overflow and its like; those calls are how the runtime sees what a kernel
 * does. Nothing links with the sanitizers themselves.
 * All other source files are compiled as usual. */
#define _GNU_SOURCE /* memmem */
#include "block/shared.h"
#include "compile/text.h"
#include "compile/translate.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct list {
    char **items; /* ends in NULL once anything was added */
    int count;
};

enum language { BY_SUFFIX, CU, C, CPP, LINKABLE };
enum stage {
    UNSAID, /* what is TO_PROGRAM in the end */
    TO_PROGRAM,
    TO_ARCHIVE,
    TO_DEVICE_LINK,
    TO_MODULE,
    TO_OBJECT,
    TO_TRANSLATION,
    TO_PREPROCESSED,
    TO_DEPENDENCIES
};

static struct {
    struct list sources,
        linkables; /* linkables: objects, libraries and -l, in the order given */
    struct list preprocessor, compiler, linker, dependencies;
    enum language language;
    enum stage stage;
    const char *output, *output_directory, *standard, *ccbin, *optimize, *dependency_file,
        *stage_option, *shared, *module; /* module: "ptx", "cubin" or "fatbin" */
    struct list dependency_targets, unknown, files;
    struct list absent; /* libraries that are named, and that the emulator has not */
    bool separate, keep, verbose, dry_run, forward_unknown, debug, fast_compile, run;
    struct list run_arguments;
    int architecture;             /* 90 for sm_90 */
    char feature;                 /* the letter in sm_90a, or 0 */
    const char *old_architecture; /* of those given, one that CUDA 13 knows no more */
} options;

static struct {
    const char *cxx, *cc;
    bool clang;
} host;

static char *root;    /* the emulator's directory */
static char *scratch; /* temporary files, NULL before the first */
static struct list scratch_files;
static volatile sig_atomic_t interrupted;
static volatile pid_t child;

/* ---- small things ---- */

static void clean_up(void)
{
    for (int i = 0; i < scratch_files.count; i++) unlink(scratch_files.items[i]);
    if (scratch) rmdir(scratch);
}

__attribute__((noreturn, format(printf, 1, 2))) static void fatal(const char *pattern,
                                                                  ...)
{
    va_list values;
    fprintf(stderr, "nvcc fatal   : ");
    va_start(values, pattern);
    vfprintf(stderr, pattern, values);
    va_end(values);
    fputc('\n', stderr);
    exit(1);
}

#define add(list, ...) add_items(list, (const char *const[]){__VA_ARGS__, NULL})
static void add_items(struct list *list, const char *const *items)
{
    for (; *items; items++) {
        need_one_more(list->items, list->count + 1);
        list->items[list->count++] = format("%s", *items);
        list->items[list->count] = NULL;
    }
}

static void add_all(struct list *list, const struct list *more)
{
    for (int i = 0; i < more->count; i++) add(list, more->items[i]);
}

/* Adds the words of `text`, which separators divide. */
static void add_split(struct list *list, const char *text, const char *separators)
{
    char *copy = format("%s", text), *rest = NULL;
    for (char *word = strtok_r(copy, separators, &rest); word;
         word = strtok_r(NULL, separators, &rest))
        add(list, word);
    free(copy);
}

static void add_words(struct list *list, const char *words)
{
    add_split(list, words, " ");
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "dir/a.cu" -> "a" */
static char *stem(const char *path)
{
    char *s = format("%s", base_name(path)), *dot = strrchr(s, '.');
    if (dot && dot != s) *dot = '\0';
    return s;
}

/* "dir/a.o" and ".d" -> "dir/a.d" */
static char *with_suffix(const char *path, const char *suffix)
{
    const char *base = base_name(path), *dot = strrchr(base, '.');
    size_t length = dot && dot != base ? (size_t)(dot - path) : strlen(path);
    return format("%.*s%s", (int)length, path, suffix);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- options ---- */

static const char version[] =
    "nvcc: NVIDIA (R) Cuda compiler driver, emulated: kernels run on the CPU\n"
    "Cuda compilation tools, release 13.0, V13.0.88 (emulator)\n";

static const char help[] =
    "Usage: nvcc [options] file...\n"
    "Compiles CUDA C++ for the emulator, which runs it on the CPU, without a GPU or "
    "CUDA.\n"
    "Takes NVIDIA's options; those that only steer code for a GPU are accepted and "
    "ignored.\n"
    "\n"
    "  -o FILE              where the result goes (default a.out)\n"
    "  -c, -E, -cuda, -M    stop after compiling, preprocessing, translating; list the "
    "headers\n"
    "  -lib                 put the objects into a static library\n"
    "  -ptx, -cubin, -fatbin    make a module for cuModuleLoad\n"
    "  -I DIR -D NAME -U NAME -L DIR -l LIB -std=c++17 -O2 -w    as for the host "
    "compiler\n"
    "  -x cu|c|c++          the language of the source files, whatever their names\n"
    "  -arch=sm_80          sets __CUDA_ARCH__ (default sm_90); --list-gpu-code lists "
    "all\n"
    "  -Xcompiler A,B       options for the host compiler\n"
    "  -g                   variables too for a debugger; lines are always there\n"
    "  -Ofc max             kernels that are compiled faster (g++) and run slower\n"
    "  -ccbin PROGRAM       the host compiler, g++ or clang++ (or set NVCC_CCBIN)\n"
    "  -MD -MMD -MF -MT     write a make dependency file while compiling\n"
    "  -v, --dryrun         show the commands; only show them\n"
    "  -run -run-args A,B   run the program that was built\n"
    "  -optf FILE           takes the options that stand in a file\n"
    "  -keep                keep the translated source, FILE.cu.cpp.ii\n"
    "\n"
    "Environment of the compiled program: EMULATE=h200 picks the GPU, LENS=1 reports "
    "memory\n"
    "traffic, CHECK=0 turns the fault checks off.\n";

/* With status 3 if the text could not be written. */
__attribute__((noreturn)) static void print_and_exit(const char *text)
{
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0) exit(0);
    if (errno != EPIPE)
        fprintf(stderr, "nvcc fatal   : cannot write the output: %s\n", strerror(errno));
    exit(3);
}

static const int known[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

static void list_architectures(const char *given)
{
    const char *const kind = strstr(given, "arch") ? "compute" : "sm";
    char *list = "";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        list = format("%s%s_%d\n", list, kind, known[i]);
    print_and_exit(list);
}

static void set_architecture(const char *name)
{
    enum { FIRST_EVER = 10, OLDEST = 75 };
    const char *number = name;
    if (is_one_of(name, "native all all-major")) return;
    if (strncmp(name, "sm_", 3) == 0 || strncmp(name, "lto_", 4) == 0)
        number = strchr(name, '_') + 1;
    else if (strncmp(name, "compute_", 8) == 0)
        number = name + 8;
    else
        fatal("Unsupported gpu architecture '%s'", name);
    char *rest;
    long value = strtol(number, &rest, 10);
    bool ok = rest != number && (!*rest || (strchr("af", *rest) && !rest[1]));
    /* Most makefiles name what was common when they were written. Here that costs
     * nothing: what ran on an older GPU runs on the oldest that there is. */
    if (ok && value >= FIRST_EVER && value < OLDEST) {
        options.old_architecture = name;
        value = OLDEST;
    }
    for (size_t i = 0; ok && i < sizeof known / sizeof *known; i++) {
        if (known[i] != value) continue;
        if (value >= options.architecture) {
            options.architecture = (int)value;
            options.feature = *rest;
        }
        return;
    }
    fatal("Unsupported gpu architecture '%s'; the oldest is sm_75, and sm_90 the default",
          name);
}

/* arch=compute_80,code=sm_80 or arch=compute_80,code=[sm_80,sm_86]: the newest
 * architecture named wins, since one program serves all of them here. */
static void set_generated_code(const char *specification)
{
    const char *arch = strstr(specification, "arch=");
    if (!arch) fatal("argument 'arch=...' expected in '-gencode %s'", specification);
    arch += 5;
    set_architecture(format("%.*s", (int)strcspn(arch, ","), arch));
}

/* The emulator's headers need C++14, which holds nearly all of what is older. */
static void set_standard(const char *value)
{
    if (is_one_of(value, "c++03 c++11"))
        options.standard = "c++14";
    else if (is_one_of(value, "c++14 c++17 c++20"))
        options.standard = value;
    else
        fatal("Value '%s' is not defined for option 'std'", value);
}

static void set_separate(const char *value)
{
    options.separate = strcmp(value, "true") == 0;
}

/* The two faster of NVIDIA's levels are one here. */
static void set_fast_compile(const char *value)
{
    if (!is_one_of(value, "0 min mid max"))
        fatal("Value '%s' is not defined for option 'Ofast-compile'", value);
    options.fast_compile = is_one_of(value, "mid max");
}

static void set_default_stream(const char *value)
{
    if (strcmp(value, "per-thread") == 0)
        add(&options.preprocessor, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
    else if (!is_one_of(value, "legacy null"))
        fatal("Value '%s' is not defined for option 'default-stream'", value);
}

static void set_language(const char *value)
{
    if (strcmp(value, "cu") == 0)
        options.language = CU;
    else if (strcmp(value, "c") == 0)
        options.language = C;
    else if (strcmp(value, "c++") == 0)
        options.language = CPP;
    else
        fatal("Value '%s' is not defined for option 'x'", value);
}

static void set_werror(const char *value)
{
    static const char kinds[] =
        "all-warnings cross-execution-space-call reorder default-stream-launch "
        "missing-launch-bounds ext-lambda-captures-this deprecated-declarations";
    for (char *rest = format("%s", value), *kind; (kind = strsep(&rest, ","));) {
        if (!is_one_of(kind, kinds))
            fatal("Value '%s' is not defined for option 'Werror'", kind);
        if (strcmp(kind, "all-warnings") == 0) add(&options.compiler, "-Werror");
    }
}

/* A directory with NVIDIA's headers would hide the emulator's. */
static void add_include_path(const char *directory)
{
    if (exists(format("%s/cuda_runtime.h", directory))) return;
    add(&options.preprocessor, format("-I%s", directory));
}

/* NVIDIA's libraries that the emulator has nothing of: so their headers begin, and so do
 * the libraries and their functions. */
static const char *const absent[] = {"cuda_gl_interop", "cudnn", "cufft",  "cusolver",
                                     "cusparse",        "npp",   "nvjpeg", "cutensor",
                                     "cupti",           "nvml"};
enum { ABSENT = sizeof absent / sizeof *absent };

/* Which of them a name belongs to, or ABSENT. */
static int absent_library(const char *name)
{
    int i = 0;
    while (i < ABSENT && strncmp(name, absent[i], strlen(absent[i])) != 0) i++;
    return i;
}

static bool is_absent(const char *name)
{
    return absent_library(name) < ABSENT;
}

static void add_library(const char *name)
{
    /* Some the emulator holds itself: the Makefile lists them. NVIDIA's others find no GPU;
     * a program may name them without need. */
    if (is_absent(name))
        add(&options.absent, format("-l%s", name));
    else if (!is_one_of(name, CUDA_LIBRARIES))
        add(&options.linkables, format("-l%s", name));
    /* What a program names weakly it gets where it is linked with the library. */
    if (strncmp(name, "nccl", 4) == 0) add(&options.linker, "-Wl,-u,ncclGetVersion");
}

static void add_compiler_options(const char *value)
{
    add_split(&options.compiler, value, ", ");
}

static void add_linker_options(const char *value)
{
    for (char *rest = format("%s", value), *word; (word = strsep(&rest, ","));)
        add(&options.linker, "-Xlinker", word);
}

static void add_run_arguments(const char *value)
{
    add_split(&options.run_arguments, value, ",");
}

static void say_version(const char *given)
{
    (void)given;
    print_and_exit(version);
}

static void say_help(const char *given)
{
    (void)given;
    print_and_exit(help);
}

static void refuse_device_code(const char *given)
{
    fatal("the emulator makes no code for GPUs, so '%s' needs NVIDIA's nvcc", given);
}

static void read_options_file(const char *path);

/* FLAG takes no value; VALUE takes one, as `-x v` or `-x=v`; STUCK also as `-xv`. */
enum form { FLAG, VALUE, STUCK };

/* Without anything but its names an option is accepted and ignored. The value of a FLAG
 * is the option as it was given. */
static const struct option {
    const char *names; /* separated by spaces, without their dashes */
    enum form form;
    enum stage stage;    /* where it ends */
    const char **string; /* gets the value */
    bool *flag;          /* is raised */
    struct list *list;   /* gets `text`, with the value for its %s, or else behind it */
    const char *text;
    void (*apply)(const char *value);
} table[] = {
    {"o output-file", STUCK, .string = &options.output},
    {"odir output-directory", VALUE, .string = &options.output_directory},
    {"c compile", FLAG, .stage = TO_OBJECT},
    {"dc device-c dw device-w", FLAG, .stage = TO_OBJECT, .flag = &options.separate},
    {"rdc relocatable-device-code", VALUE, .apply = set_separate},
    {"cuda", FLAG, .stage = TO_TRANSLATION},
    {"E preprocess", FLAG, .stage = TO_PREPROCESSED},
    {"link", FLAG, .stage = TO_PROGRAM},
    {"lib", FLAG, .stage = TO_ARCHIVE},
    {"M generate-dependencies", FLAG, .stage = TO_DEPENDENCIES,
     .list = &options.dependencies, .text = "-M"},
    {"MM generate-nonsystem-dependencies", FLAG, .stage = TO_DEPENDENCIES,
     .list = &options.dependencies, .text = "-MM"},
    {"MD generate-dependencies-with-compile", FLAG, .list = &options.dependencies,
     .text = "-MD"},
    {"MMD generate-nonsystem-dependencies-with-compile", FLAG,
     .list = &options.dependencies, .text = "-MMD"},
    {"MF dependency-output", VALUE, .string = &options.dependency_file},
    {"MT dependency-target-name", VALUE, .list = &options.dependency_targets,
     .text = "-MT"},
    {"MQ", VALUE, .list = &options.dependency_targets, .text = "-MQ"},
    {"MP generate-dependency-targets", FLAG, .list = &options.dependency_targets,
     .text = "-MP"},
    {"O optimize", STUCK, .string = &options.optimize},
    {"g debug G device-debug", FLAG, .flag = &options.debug},
    {"Ofc Ofast-compile", VALUE, .apply = set_fast_compile},
    {"default-stream", VALUE, .apply = set_default_stream},
    {"D define-macro", STUCK, .list = &options.preprocessor, .text = "-D%s"},
    {"U undefine-macro", STUCK, .list = &options.preprocessor, .text = "-U%s"},
    {"include pre-include", VALUE, .list = &options.preprocessor, .text = "-include"},
    {"isystem system-include", VALUE, .list = &options.preprocessor, .text = "-isystem"},
    {"I include-path", STUCK, .apply = add_include_path},
    {"l library", STUCK, .apply = add_library},
    {"L library-path", STUCK, .list = &options.linker, .text = "-L%s"},
    {"std", VALUE, .apply = set_standard},
    {"x", STUCK, .apply = set_language},
    {"arch gpu-architecture", VALUE, .apply = set_architecture},
    {"list-gpu-arch arch-ls list-gpu-code code-ls", FLAG, .apply = list_architectures},
    {"gencode generate-code", VALUE, .apply = set_generated_code},
    {"Xcompiler compiler-options", VALUE, .apply = add_compiler_options},
    {"Xlinker linker-options", VALUE, .apply = add_linker_options},
    {"ccbin compiler-bindir", VALUE, .string = &options.ccbin},
    {"w disable-warnings", FLAG, .list = &options.compiler, .text = "-w"},
    {"Werror", VALUE, .apply = set_werror},
    {"V version", FLAG, .apply = say_version},
    {"h help", FLAG, .apply = say_help},
    {"v verbose", FLAG, .flag = &options.verbose},
    {"dryrun", FLAG, .flag = &options.dry_run},
    {"keep save-temps", FLAG, .flag = &options.keep},
    {"extended-lambda expt-extended-lambda", FLAG, .list = &options.preprocessor,
     .text = "-D__CUDACC_EXTENDED_LAMBDA__=1"},
    {"expt-relaxed-constexpr", FLAG, .list = &options.preprocessor,
     .text = "-D__CUDACC_RELAXED_CONSTEXPR__=1"},
    {"forward-unknown-to-host-compiler forward-unknown-opts", FLAG,
     .flag = &options.forward_unknown},
    {"run", FLAG, .flag = &options.run},
    {"run-args", VALUE, .apply = add_run_arguments},
    {"optf options-file", VALUE, .apply = read_options_file},

    {"dlink device-link", FLAG, .stage = TO_DEVICE_LINK},
    {"ptx cubin fatbin", FLAG, .stage = TO_MODULE, .string = &options.module,
     .list = &options.preprocessor, .text = "-DEMU_MODULE=1"},
    {"optix-ir ltoir gpu", FLAG, .apply = refuse_device_code},
    {"shared", FLAG, .string = &options.shared},

    /* What steers NVIDIA's device compiler has no meaning here. */
    {"lineinfo generate-line-info use_fast_math restrict m64 res-usage "
     "resource-usage src-in-ptx source-in-ptx extra-device-vectorization dlto lto "
     "dlink-time-opt Wno-deprecated-gpu-targets Wreorder Wno-deprecated-declarations "
     "Wmissing-launch-bounds Wdefault-stream-launch Wext-lambda-captures-this "
     "allow-unsupported-compiler no-compress keep-device-functions err-no "
     "display-error-number no-err-no no-display-error-number noeh no-exceptions pg "
     "profile use-local-env ewp extensible-whole-program objtemp",
     .form = FLAG},
    {"t threads", .form = STUCK},
    {"code gpu-code Xcudafe Xptxas ptxas-options Xnvlink nvlink-options Xarchive "
     "archive-options maxrregcount ftz prec-div prec-sqrt fmad split-compile "
     "cudart cudadevrt diag-suppress diag-error diag-warn keep-dir "
     "opt-info optimization-info m machine ldir libdevice-directory target-dir "
     "target-directory static-global-template-stub compress-mode dopt time",
     .form = VALUE},
};

static void set_stage(enum stage stage, const char *option)
{
    if (options.stage_option && stage != options.stage)
        fatal("options '%s' and '%s' cannot be used together", options.stage_option,
              option);
    options.stage = stage;
    options.stage_option = option;
}

static void apply(const struct option *option, const char *given, const char *value)
{
    if (option->form == FLAG) value = given;
    if (option->stage) set_stage(option->stage, given);
    if (option->string) *option->string = value;
    if (option->flag) *option->flag = true;
    if (option->list && strchr(option->text, '%')) {
        add(option->list, format(option->text, value));
    } else if (option->list) {
        add(option->list, option->text);
        if (option->form != FLAG) add(option->list, value);
    }
    if (option->apply) option->apply(value);
}

/* Does the argument, without its dashes, name this option? Then *name is its name and
 * *value what stands behind it in the same argument, or NULL. */
static bool names_option(const struct option *option, const char *argument, bool one_dash,
                         char **name, const char **value)
{
    for (const char *p = option->names; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        if (strncmp(argument, p, length) != 0) continue;
        const char *rest = argument + length;
        *name = format("%.*s", (int)length, p);
        *value = NULL;
        if (!*rest) return true;
        if (option->form == FLAG) continue;
        if (*rest == '=')
            *value = rest + 1;
        else if (option->form == STUCK && length == 1 && one_dash)
            *value = rest;
        else
            continue;
        return true;
    }
    return false;
}

static enum language language_of(const char *path)
{
    static const struct {
        const char *suffix;
        enum language language;
    } suffixes[] = {{".cu", CU},   {".c", C},        {".cpp", CPP},    {".cc", CPP},
                    {".cxx", CPP}, {".o", LINKABLE}, {".a", LINKABLE}, {".so", LINKABLE}};
    const char *dot = strrchr(base_name(path), '.');
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(dot, suffixes[i].suffix) == 0)
            return options.language != BY_SUFFIX && suffixes[i].language != LINKABLE
                       ? options.language
                       : suffixes[i].language;
    return options.language;
}

/* Long names first, or -include would read as -i nclude, -dc as -d c. */
static const struct option *find_option(const char *argument, char **name,
                                        const char **value)
{
    bool one_dash = argument[1] != '-';
    argument += one_dash ? 1 : 2;
    *name = NULL;
    const struct option *found = NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *this_name;
        const char *this_value;
        if (!names_option(&table[i], argument, one_dash, &this_name, &this_value))
            continue;
        if (*name && strlen(this_name) <= strlen(*name)) continue;
        found = &table[i];
        *name = this_name;
        *value = this_value;
    }
    return found;
}

/* The words of a file of options: what white space separates outside of double quotes. */
static struct list words_of(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) fatal("cannot open '%s': %s", path, strerror(errno));
    struct list words = {0};
    char *word = NULL;
    size_t room;
    FILE *now = NULL; /* collects the word */
    for (int c = 0, quoted = 0; c != EOF;) {
        c = getc(file);
        if (c == EOF || (!quoted && isspace(c))) {
            if (!now) continue;
            fclose(now);
            add(&words, word);
            free(word);
            now = NULL;
            continue;
        }
        if (!now && !(now = open_memstream(&word, &room))) fatal("out of memory");
        if (c == '"')
            quoted = !quoted;
        else
            putc(c, now);
    }
    fclose(file);
    return words;
}

/* Applies the options among the words; collects unknown ones, and the files. */
static void read_words(int count, char **words)
{
    for (int i = 0; i < count; i++) {
        const char *given = words[i], *value = NULL;
        char *name;
        if (given[0] != '-' || !given[1]) {
            add(&options.files, given);
            /* Its place among the libraries counts; whether it is one, -x may still
             * decide. */
            if (language_of(given) == LINKABLE)
                add(&options.linkables, given);
            else
                add(&options.linkables, format("source:%s", given));
            continue;
        }
        const struct option *option = find_option(given, &name, &value);
        if (!option) {
            add(&options.unknown, given);
            continue;
        }
        if (option->form != FLAG && !value) {
            if (++i == count) fatal("argument expected after '%s'", given);
            value = words[i];
        }
        apply(option, given, value);
    }
}

static void read_options_file(const char *path)
{
    const struct list inside = words_of(path);
    read_words(inside.count, inside.items);
}

/* Where things are, as NVIDIA's says it: CMake reads this, and then the line that links,
 * which holds the same LIBRARIES. */
static void say_where(void)
{
    const char *path = getenv("PATH");
    fprintf(stderr,
            "#$ TOP=%s/build/toolkit\n"
            "#$ PATH=%s\n"
            "#$ INCLUDES=\"-I%s/include\"\n"
            "#$ LIBRARIES=-L%s/build/toolkit/lib64\n",
            root, path ? path : "", root, root);
}

static void read_arguments(int argc, char **argv)
{
    read_words(argc - 1, argv + 1);
    const struct list unknown = options.unknown, files = options.files;
    options.verbose |= options.dry_run;
    if (!options.stage) options.stage = TO_PROGRAM;
    if (options.module) options.module += strspn(options.module, "-");
    if (options.verbose) say_where();
    if (options.forward_unknown)
        add_all(&options.compiler, &unknown);
    else if (unknown.count)
        fatal("Unknown option '%s'", unknown.items[0]);
    if (options.shared && options.stage != TO_DEVICE_LINK)
        fatal("the emulator does not support '%s'; it builds objects and programs",
              options.shared);
    if (!files.count)
        fatal("No input files specified; use option --help for more information");

    for (int i = 0; i < files.count; i++) {
        if (!exists(files.items[i]))
            fatal("cannot open '%s': %s", files.items[i], strerror(errno));
        enum language language = language_of(files.items[i]);
        if (language == BY_SUFFIX)
            fatal("Don't know what to do with '%s'", files.items[i]);
        if (language != LINKABLE) add(&options.sources, files.items[i]);
    }
    if (options.stage > TO_ARCHIVE && options.sources.count > 1 && options.output)
        fatal(
            "A single input file is required for a non-link phase when an outputfile is "
            "specified");
    if (!options.architecture) options.architecture = 90;
    if (options.old_architecture && options.architecture == 75)
        fprintf(stderr,
                "nvcc warning : CUDA 13 knows %s no more; the code is made for sm_75\n",
                options.old_architecture);
}

/* ---- the host compiler ---- */

static char *on_path(const char *program)
{
    if (strchr(program, '/'))
        return access(program, X_OK) == 0 ? format("%s", program) : NULL;
    const char *path = getenv("PATH");
    for (char *rest = format("%s", path ? path : "/usr/bin:/bin"), *directory;
         (directory = strsep(&rest, ":"));) {
        char *file = format("%s/%s", *directory ? directory : ".", program);
        if (access(file, X_OK) == 0) return file;
    }
    return NULL;
}

/* "gcc-12" -> "g++-12", and back: the two compilers of a pair differ only there. */
static const char *other_of_pair(const char *compiler, bool for_cxx)
{
    static const char *const pairs[][2] = {
        {"clang", "clang++"}, {"gcc", "g++"}, {"cc", "c++"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *from = pairs[i][!for_cxx], *to = pairs[i][for_cxx],
                   *found = strstr(base_name(compiler), from);
        if (found)
            return format("%.*s%s%s", (int)(found - compiler), compiler, to,
                          found + strlen(from));
    }
    return compiler;
}

static bool says_clang(const char *compiler)
{
    if (strstr(base_name(compiler), "clang")) return true;
    if (strstr(base_name(compiler), "g++")) return false;
    char line[256] = "";
    FILE *pipe = popen(format("'%s' --version", compiler), "r");
    if (!pipe) return false;
    bool clang = fgets(line, sizeof line, pipe) && strstr(line, "clang");
    pclose(pipe);
    return clang;
}

static int compiler_version(void)
{
    static int version;
    if (version) return version;
    FILE *pipe = popen(format("'%s' -dumpversion", host.cxx), "r");
    if (pipe && fscanf(pipe, "%d", &version) != 1) version = 0;
    if (pipe) pclose(pipe);
    return version;
}

static void find_host_compiler(void)
{
    static const char *const usual[] = {"g++", "clang++", "c++"};
    const char *wish = options.ccbin ? options.ccbin : getenv("NVCC_CCBIN");
    struct stat info;
    if (wish && *wish) {
        if (stat(wish, &info) == 0 && S_ISDIR(info.st_mode))
            wish = format("%s/g++", wish);
        if (!strstr(base_name(wish), "++")) wish = other_of_pair(wish, true);
        host.cxx = on_path(wish);
        if (!host.cxx)
            fatal("the host compiler '%s' (from %s) is not there", wish,
                  options.ccbin ? "-ccbin" : "NVCC_CCBIN");
    }
    for (size_t i = 0; !host.cxx && i < sizeof usual / sizeof *usual; i++)
        host.cxx = on_path(usual[i]);
    if (!host.cxx) fatal("no C++ compiler found; install g++ or clang++");
    host.clang = says_clang(host.cxx);
    host.cc = other_of_pair(host.cxx, false);
}

static void on_signal(int number)
{
    interrupted = number;
    if (child > 0) kill(child, number);
}

static void stop_if_interrupted(void)
{
    if (!interrupted) return;
    clean_up();
    signal(interrupted, SIG_DFL);
    raise(interrupted);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

/* A new name in the directory for temporary files; the file itself is the caller's to
 * make. */
static char *temporary(const char *name)
{
    if (!scratch) {
        const char *directory = getenv("TMPDIR");
        scratch = format("%s/nvcc-XXXXXX", directory && *directory ? directory : "/tmp");
        if (!mkdtemp(scratch)) {
            char *failed = scratch;
            scratch = NULL;
            fatal("cannot make a temporary directory %s: %s", failed, strerror(errno));
        }
    }
    char *path = format("%s/%d-%s", scratch, scratch_files.count, name);
    add(&scratch_files, path);
    return path;
}

/* Starts the command and waits for its end; where `messages` is a file, what it says goes
 * there. */
static int status_of(const struct list *command, const char *messages)
{
    stop_if_interrupted();
    child = fork();
    if (child < 0) fatal("cannot start %s: %s", command->items[0], strerror(errno));
    if (child == 0) {
        if (messages && !freopen(messages, "w", stderr)) _exit(127);
        execvp(command->items[0], command->items);
        fprintf(stderr, "nvcc fatal   : cannot start %s: %s\n", command->items[0],
                strerror(errno));
        _exit(127);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    child = 0;
    stop_if_interrupted();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void say_missing(const char *name, size_t length)
{
    fprintf(stderr,
            "nvcc: %.*s is not part of the emulator, which has cuBLAS, cuBLASLt, cuRAND, "
            "CUB, NCCL and Thrust in parts, and no other library\n",
            (int)length, name);
}

/* Whether the compiler misses a header of a library that the emulator has not, or has found
 * NVIDIA's in some other place, or stumbles over what CUDA has no more: it is asked once
 * more, since its first answer went to the reader. */
static void explain_errors(const struct list *command)
{
    static const char *const in_parts[] = {"thrust/", "cub/",    "cuda/",
                                           "nv/",     "curand_", "nvrtc"};
    char *file = temporary("messages"), line[1024];
    status_of(command, file);
    FILE *messages = fopen(file, "r");
    bool said = false, textures = false;
    while (messages && fgets(line, sizeof line, messages)) {
        textures |=
            strstr(line, "error: ") && (strstr(line, "‘texture’ does not name") ||
                                        strstr(line, "template named 'texture'") ||
                                        strstr(line, "type name 'texture'"));
        for (char *name = strchr(line, '/'); name && !said; name = strchr(name, '/')) {
            const size_t length = strcspn(++name, "/:");
            said = is_absent(name) && strncmp(name + length - 2, ".h:", 3) == 0;
            if (said) say_missing(name, length);
        }
        char *name = strstr(line, "fatal error: "), *end = strstr(line, ": No such file");
        if (!end) end = strstr(line, "' file not found");
        if (!name || !end) continue;
        name += strlen("fatal error: ") + (*end == '\'');
        bool missing = is_absent(name);
        for (size_t i = 0; i < sizeof in_parts / sizeof *in_parts; i++)
            missing |= strncmp(name, in_parts[i], strlen(in_parts[i])) == 0;
        if (missing) say_missing(name, (size_t)(end - name));
    }
    if (textures)
        fprintf(stderr, "nvcc: CUDA has no texture references any more (texture<...> and "
                        "cudaBindTexture): cudaCreateTextureObject() makes texture "
                        "objects, which kernels take like other arguments\n");
    if (messages) fclose(messages);
}

/* Whether the link lacks a library that the emulator has not: one that was named, or one
 * whose header the compiler has found where NVIDIA's lie for all compilers. Each is said
 * once, though many of its functions may be missing. */
static void explain_link(const struct list *command)
{
    static const char *const words[] = {"undefined reference to ", "undefined symbol: "};
    char *file = temporary("messages"), line[1024];
    bool said[ABSENT + 1] = {false};
    for (int i = 0; i < options.absent.count; i++) {
        const char *name = options.absent.items[i];
        say_missing(name, strlen(name));
        said[absent_library(name + strlen("-l"))] = true;
    }
    status_of(command, file);
    FILE *messages = fopen(file, "r");
    while (messages && fgets(line, sizeof line, messages))
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            const char *name = strstr(line, words[i]);
            if (!name) continue;
            name += strlen(words[i]);
            name += strspn(name, "`'");
            const int library = absent_library(name);
            if (library < ABSENT && !said[library])
                say_missing(name, strcspn(name, "`'\n"));
            said[library] = true;
        }
    if (messages) fclose(messages);
}

/* Runs the command; if it fails, that ends the driver with the command's exit status. */
static void run(const struct list *command)
{
    if (options.verbose) {
        fprintf(stderr, "#$");
        for (int i = 0; i < command->count; i++)
            fprintf(stderr, strpbrk(command->items[i], " \"'\\$") ? " '%s'" : " %s",
                    command->items[i]);
        fputc('\n', stderr);
    }
    if (options.dry_run) return;
    const int status = status_of(command, NULL);
    if (status == 0) return;
    bool compiles = false;
    for (int i = 0; i < command->count; i++)
        compiles |=
            strcmp(command->items[i], "-E") == 0 || strcmp(command->items[i], "-c") == 0;
    if (compiles)
        explain_errors(command);
    else
        explain_link(command);
    exit(status);
}

/* ---- the steps ---- */

static void add_macros(struct list *command)
{
    add_words(command, "-D__NVCC__=1 -D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=0 "
                       "-D__CUDACC_VER_BUILD__=88 -D__CUDA_EMULATED__=1");
    add(command, format("-D__CUDA_ARCH_LIST__=%d0", options.architecture));
}

static void add_standard(struct list *command)
{
    add(command, format("-std=%s", options.standard ? options.standard : "gnu++17"));
}

/* Of a product and a sum a compiler makes one operation with one rounding where the host
 * has that, as ARM does and x86-64 need not. Results do not depend on the host here. */
#define ROUNDING "-ffp-contract=off"

/* As macros that stand for themselves: a program may ask for them with #ifdef, the
 * headers leave them alone, and they reach the translator. */
static void add_qualifiers(struct list *command)
{
    static const char *const words[] = {
        "host",          "device",        "global",      "constant", "shared", "managed",
        "grid_constant", "launch_bounds", "forceinline", "noinline", "align"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add(command, format("-D__%s__=__%s__", words[i], words[i]));
}

/* What precedes the file in every command that preprocesses. */
static struct list preprocessing(enum language language)
{
    struct list command = {0};
    add(&command, language == C ? host.cc : host.cxx);
    add_words(&command, language == C ? "-x c" : "-x c++");
    if (language != C && (options.standard || language == CU)) add_standard(&command);
    add_macros(&command);
    if (language == CU) {
        add(&command, "-D__CUDACC__=1",
            format("-D__CUDA_ARCH__=%d0", options.architecture));
        if (options.feature == 'a')
            add(&command, format("-D__CUDA_ARCH_FEAT_SM%d_ALL=1", options.architecture));
        if (options.separate) add(&command, "-D__CUDACC_RDC__=1");
        add_qualifiers(&command);
        add_words(&command, "-include cuda_runtime.h");
    }
    add_all(&command, &options.preprocessor);
    add(&command, "-isystem", format("%s/include", root));
    /* Unasked, nvcc has host code compiled without optimisation. What a program compares
     * its results with would then take longer than its kernels do here. */
    if (language != CU && !options.optimize && !options.debug) add(&command, "-O2");
    add(&command, ROUNDING);
    add_all(&command, &options.compiler);
    return command;
}

static void add_dependencies(struct list *command, const char *result)
{
    if (!options.dependencies.count) return;
    add_all(command, &options.dependencies);
    if (options.dependency_file)
        add(command, "-MF", options.dependency_file);
    else if (options.stage != TO_DEPENDENCIES)
        add(command, "-MF", with_suffix(result, ".d"));
    add_all(command, &options.dependency_targets);
    bool named = false;
    for (int i = 0; i < options.dependency_targets.count; i++)
        named |= strcmp(options.dependency_targets.items[i], "-MP") != 0;
    if (named) return;
    add(command, "-MT", result);
}

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file) fatal("cannot read %s: %s", path, strerror(errno));
    char *text = NULL;
    size_t capacity = 0;
    *length = 0;
    do {
        capacity = capacity ? capacity * 2 : 1 << 20;
        text = need(realloc(text, capacity));
        *length += fread(text + *length, 1, capacity - *length, file);
    } while (*length == capacity);
    fclose(file);
    return text;
}

static void write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text, 1, length, file) != length || fclose(file) != 0)
        fatal("cannot write %s: %s", path, strerror(errno));
}

/* nvcc's headers bring along <cmath>, and with it std::min, std::swap, std::numeric_limits
 * and more. Only who names the library needs that, and waits for it. */
static bool names_the_library(const char *source)
{
    size_t length;
    char *const text = read_file(source, &length);
    const bool found =
        memmem(text, length, "std::", 5) || memmem(text, length, "namespace std;", 14);
    free(text);
    return found;
}

static void translate_file(const char *from, const char *to)
{
    if (options.verbose)
        fprintf(stderr, "#$ translate -arch compute_%d %s > %s\n", options.architecture,
                from, to);
    if (options.dry_run) return;
    size_t length, new_length;
    char *text = read_file(from, &length);
    const enum visibility visibility = options.stage == TO_MODULE ? TO_PROGRAM_TOO
                                       : options.separate         ? ALL_FILES
                                                                  : OWN_FILE;
    char *result = translate(text, length, visibility, &new_length);
    if (!result) exit(1);
    write_file(to, result, new_length);
    free(result);
    free(text);
}

/* The order matters: the reader's options first, then those that the runtime's view of
 * memory depends on. Vectorizing would merge the accesses that the source shows, before
 * they can be counted. And -O3 and the threading of jumps would copy code that lanes of
 * one warp then pass at different places. Of two kernels that are alike, -fipa-icf would
 * leave one, and a fault in the other would be told at the lines of that. */
static void add_kernel_options(struct list *command)
{
    if (host.clang)
        add_words(command,
                  "-O1 -fno-builtin -fno-vectorize -fno-slp-vectorize -fno-unroll-loops "
                  "-mllvm -disable-vector-combine "
                  "-fsanitize=thread -mllvm -tsan-instrument-func-entry-exit=0 "
                  "-mllvm -tsan-distinguish-volatile=1 "
                  "-mllvm -tsan-instrument-read-before-write=1 "
                  "-mllvm -sanitizer-coverage-prune-blocks=0 -Wno-parentheses-equality "
                  "-Wno-unused-const-variable -Wno-unused-command-line-argument");
    else {
        add_words(command, options.fast_compile
                               ? "-Og -fira-algorithm=priority -fira-region=one"
                               : "-O2");
        add_words(command, "-fsanitize=thread --param tsan-instrument-func-entry-exit=0 "
                           "-Wno-psabi -fno-tree-vectorize -fno-tree-slp-vectorize "
                           "-fno-crossjumping -fno-tree-tail-merge -fno-ipa-icf "
                           "-fno-reorder-blocks -fno-reorder-blocks-and-partition "
                           "-fno-thread-jumps -Wno-tsan "
                           "-Wno-maybe-uninitialized");
    }
#ifdef __x86_64__
    /* Atomics of 16 bytes, which clang would else leave to a library. */
    if (host.clang) add(command, "-mcx16");
#endif
    /* What is volatile in the source may be so for the sake of other blocks. */
    if (!host.clang && compiler_version() >= 11)
        add_words(command, "--param tsan-distinguish-volatile=1");
    /* C++ lets a compiler assume that a loop ends, and leave out one that waits for a plain
     * flag: nvcc does not, and its GPU hangs. */
    if (compiler_version() >= (host.clang ? 12 : 10)) add(command, "-fno-finite-loops");
    /* A variable that was never set is not by chance the 0 that makes a sum right. */
    if (compiler_version() >= (host.clang ? 8 : 12))
        add(command, "-ftrivial-auto-var-init=pattern");
    /* A function that ends without the value that it promises gives any, and that is all:
     * what a GPU does, and the host compiler of nvcc, which is not told to optimize. */
    add(command, host.clang ? "-fno-strict-return" : "-fsanitize=unreachable");
    /* A tail call leaves no return address in the kernel, and so no source line for a
     * fault. Of DWARF 5, addr2line (seen with binutils 2.40) mixes up the files of
     * inlined functions. Lines and functions are all that a fault's report needs; where
     * variables are, a debugger wants to know, and finding that out takes the compiler
     * a quarter of its time. */
    add_words(command,
              "-fsanitize-coverage=trace-pc -gdwarf-4 -fno-strict-aliasing "
              "-fno-optimize-sibling-calls "
              "-fsanitize=signed-integer-overflow,integer-divide-by-zero,shift-exponent,"
              "float-cast-overflow "
              "-Wno-unknown-pragmas");
    add(command, options.stage == TO_MODULE ? "-fPIC" : "-fPIE", ROUNDING);
    if (!options.debug) add(command, "-g1");
}

static void compile_cu(const char *source, const char *object, const char *result)
{
    char *preprocessed = temporary(format("%s.i", stem(source)));
    char *translated = options.stage == TO_TRANSLATION ? format("%s", object)
                       : options.keep ? format("%s.cu.cpp.ii", stem(source))
                                      : temporary(format("%s.ii", stem(source)));
    struct list preprocess = preprocessing(CU);
    if (access(source, R_OK) == 0 && names_the_library(source))
        add_words(&preprocess, "-include cmath");
    add(&preprocess, "-E");
    add_dependencies(&preprocess, result);
    add(&preprocess, source, "-o", preprocessed);
    run(&preprocess);
    translate_file(preprocessed, translated);
    if (options.stage == TO_TRANSLATION) return;

    struct list compile = {0};
    add(&compile, host.cxx);
    add_words(&compile, "-x c++-cpp-output");
    add_standard(&compile);
    add_all(&compile, &options.compiler);
    add_kernel_options(&compile);
    add(&compile, "-c", translated, "-o", object);
    run(&compile);
}

static void compile_host(const char *source, enum language language, const char *object,
                         const char *result)
{
    struct list command = preprocessing(language);
    if (options.optimize) add(&command, format("-O%s", options.optimize));
    add(&command, "-g"); /* the runtime's reports name lines of host code, too */
    add_dependencies(&command, result);
    add(&command, "-c", source, "-o", object);
    run(&command);
}

/* Preprocessing and dependencies go to the standard output unless there is a -o. */
static void show(const char *source)
{
    struct list command = preprocessing(language_of(source));
    if (options.stage == TO_PREPROCESSED)
        add(&command, "-E");
    else
        add_dependencies(&command, format("%s.o", stem(source)));
    if (options.output) add(&command, "-o", options.output);
    add(&command, source);
    run(&command);
}

static char *output_of(const char *source, const char *suffix)
{
    if (options.output) return format("%s", options.output);
    if (options.output_directory)
        return format("%s/%s%s", options.output_directory, stem(source), suffix);
    return format("%s%s", stem(source), suffix);
}

static void compile(const char *source, const char *object, const char *result)
{
    enum language language = language_of(source);
    if (language == CU)
        compile_cu(source, object, result);
    else
        compile_host(source, language, object, result);
}

/* Becomes the program that was built. */
static void run_program(void)
{
    const char *program = options.output ? options.output : "a.out";
    struct list command = {0};
    clean_up();
    add(&command, strchr(program, '/') ? program : format("./%s", program));
    add_all(&command, &options.run_arguments);
    execv(command.items[0], command.items);
    fatal("cannot run '%s': %s", program, strerror(errno));
}

/* Adds the objects and libraries, and what becomes of the sources among them. */
static void add_linkables(struct list *command, const char *result)
{
    static const char mark[] = "source:";
    for (int i = 0; i < options.linkables.count; i++) {
        const char *item = options.linkables.items[i];
        if (strncmp(item, mark, sizeof mark - 1) == 0) {
            const char *source = item + sizeof mark - 1;
            item = temporary(format("%s.o", stem(source)));
            compile(source, item, result);
        }
        if (options.stage != TO_ARCHIVE || strncmp(item, "-l", 2) != 0)
            add(command, item);
    }
}

static void build_archive(void)
{
    const char *archive = options.output ? options.output : "a.a";
    struct list command = {0};
    add(&command, "ar", "rcs", archive);
    add_linkables(&command, archive);
    run(&command);
}

static void build_program(void)
{
    const char *program = options.output ? options.output : "a.out";
    struct list command = {0};
    setenv("NVCC_CCBIN", host.cxx, 1);
    add(&command, format("%s/build/host-link", root), "-o", program);
    add_all(&command, &options.compiler);
    add_all(&command, &options.linker);
    add_linkables(&command, program);
    add(&command, format("-L%s/build/toolkit/lib64", root));
    add_words(&command, "-lemulator -lm -lpthread -ldl"); /* NVIDIA's adds the last two */
    run(&command);
}

static void write_as_text(const char *from, const char *to)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { LINE = 76 };
    size_t length;
    char *const bytes = read_file(from, &length);
    FILE *const file = fopen(to, "w");
    if (!file) fatal("cannot write %s: %s", to, strerror(errno));
    fprintf(file,
            "//\n// A module of the emulator: a GPU cannot run it.\n//\n"
            ".version 9.0\n.target sm_%d\n.address_size 64\n// emulator module: %zu "
            "bytes\n//",
            options.architecture, length);
    for (size_t i = 0, column = 0; i < length; i += 3) {
        unsigned three = 0;
        for (size_t k = 0; k < 3; k++)
            three = three << 8 | (i + k < length ? (unsigned char)bytes[i + k] : 0);
        for (int shift = 18; shift >= 0; shift -= 6, column++)
            fprintf(file, column % LINE == LINE - 1 ? "%c\n//" : "%c",
                    digits[three >> shift & 63]);
    }
    fputc('\n', file);
    if (ferror(file) || fclose(file) != 0)
        fatal("cannot write %s: %s", to, strerror(errno));
    free(bytes);
}

/* A module is a shared object that a program loads while it runs (driver_module.c), and
 * that calls what it needs of the emulator in the program. As text it can be read and
 * printed like PTX. */
static void build_module(const char *source, const char *result)
{
    const bool text = strcmp(options.module, "ptx") == 0;
    const char *object = temporary(format("%s.o", stem(source)));
    const char *linked = text ? temporary(format("%s.so", stem(source))) : result;
    if (language_of(source) != CU)
        fatal("'%s' is no .cu file, of which alone '-%s' makes a module", source,
              options.module);
    compile_cu(source, object, result);
    struct list command = {0};
    add(&command, host.cxx);
    add_words(&command, "-shared -Wl,-Bsymbolic -o");
    add(&command, linked, object);
    run(&command);
    if (text && !options.dry_run) write_as_text(linked, result);
}

/* A link by the host's compiler, started as build/host-link: by build_program(), and by
 * CMake, which goes on with the first word of the line that links. */
static void link_on_host(char **arguments)
{
    struct list command = {0};
    find_host_compiler();
    add(&command, host.cxx, "-no-pie");
    bool anywhere = false;
    for (char **argument = arguments + 1; *argument; argument++)
        anywhere |= strstr(*argument, "-pie") != NULL;
    /* What lies anywhere cannot name an address that is fixed. */
    if (!anywhere)
        add(&command, format("-Wl,--defsym=emu_dynamic_shared=%#x", EMU_SHARED_PLACE));
    while (*++arguments) add(&command, *arguments);
    execv(host.cxx, command.items);
    fatal("cannot start %s: %s", host.cxx, strerror(errno));
}

/* What a device link makes: nothing is left to do, since kernels are the host's code. */
static void link_device_code(void)
{
    struct list command = {0};
    add(&command, host.cc);
    add_words(&command, "-x c -c /dev/null -o");
    add(&command, options.output ? options.output : "a_dlink.o");
    run(&command);
}

int main(int argc, char **argv)
{
    /* A file at its limit (ulimit -f) is an error like a full disk, here and in the
     * compiler. */
    signal(SIGXFSZ, SIG_IGN);
    char *self = realpath(argv[0], NULL); /* .../emulator/build/nvcc */
    if (!self) fatal("cannot tell where the emulator is; start it as emulator/bin/nvcc");
    *strrchr(self, '/') = '\0';
    *strrchr(self, '/') = '\0';
    root = self;
    if (strcmp(base_name(argv[0]), "host-link") == 0) link_on_host(argv);
    read_arguments(argc, argv);
    find_host_compiler();
    catch_signals();
    atexit(clean_up);

    if (options.stage == TO_PROGRAM) build_program();
    if (options.stage == TO_ARCHIVE) build_archive();
    if (options.stage == TO_DEVICE_LINK) link_device_code();
    for (int i = 0; options.stage > TO_DEVICE_LINK && i < options.sources.count; i++) {
        const char *source = options.sources.items[i];
        char *result =
            output_of(source, options.stage == TO_TRANSLATION ? ".cu.cpp.ii"
                              : options.stage == TO_MODULE ? format(".%s", options.module)
                                                           : ".o");
        if (options.stage == TO_MODULE)
            build_module(source, result);
        else if (options.stage == TO_OBJECT)
            compile(source, result, result);
        else if (options.stage == TO_TRANSLATION && language_of(source) == CU)
            compile_cu(source, result, result);
        else if (options.stage != TO_TRANSLATION)
            show(source);
    }
    if (options.run && !options.dry_run) run_program();
    return 0;
}
