"""What a submission may not contain. It is read before it is compiled.

This keeps honest mistakes and plain attempts out. It is no wall: code that gets past it meets the
sandbox, and its verdict is still made elsewhere.
"""

import re

HEADERS = """
    exercise.h cuda_runtime.h cuda_pipeline.h cuda_pipeline_primitives.h cooperative_groups.h
    cooperative_groups/reduce.h cuda_fp16.h math.h stdio.h stdint.h stddef.h stdbool.h assert.h
    float.h limits.h
""".split()

# A kernel and its launch need none of these. A program that wants to look right does.
NAMES = r"""
    main asm __asm(__)? __attribute(__)? constructor destructor __builtin_\w* __has_include __FILE__
    cublas\w* cudaMemcpy\w* cudaMemset\w* cudaMalloc\w* cudaHost\w* cudaMemPrefetch\w*
    cudaDeviceReset cudaFree\w* w?mem(cpy|move|set) mem(p|c)cpy bcopy bzero
    emu_\w* lens_\w* \w*tsan\w* \w*sanitizer\w* __CUDA_EMULATED__
    _?_?exit _Exit quick_exit abort atexit at_quick_exit on_exit raise kill signal sigaction
    setjmp longjmp v?fork clone3? exec(l|v|le|ve|lp|vp|vpe) posix_spawn\w* system popen syscall
    f?open(at)? fdopen freopen creat p?read p?write readv writev fread fwrite fputs fputc putc
    fprintf dup[23]? f?truncate unlink\w* rename\w* remove symlink link mkdir rmdir chmod chown
    mmap munmap mprotect mremap s?brk ptrace prctl process_vm_\w* pthread_\w* dlopen dlsym
    getenv secure_getenv setenv putenv environ socket connect stdout stderr
""".split()
REFUSED = re.compile("|".join(NAMES))

NEEDLESS = (
    "`{}` is not needed here and not accepted. The exercise asks for a kernel and its launch; "
    "allocating, copying and checking are done for you. (Is it a name of your own? Choose another)"
)


def code_of(source):
    """The source without comments and without what strings hold; its lines stay where they are."""
    source = re.sub(r"\\\r?\n", "\n", source)
    pattern = (
        r"//[^\n]*|/\*.*?\*/"
        r'|(?<!\w)R"([^()\\\s]{0,16})\(.*?\)\1"'
        r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    )

    def blank(match):
        lines = "\n" * match[0].count("\n")
        return (" " if match[0][0] == "/" else '""') + lines

    return re.sub(pattern, blank, source, flags=re.S)


def refusal(source):
    """Why a source is not even compiled: (line, reason). None if it may be."""
    split = re.search(r"\w\\\r?\n\w", source)
    if split:
        line = source.count("\n", 0, split.start()) + 1
        return line, "a name must not be split over two lines"
    for number, line in enumerate(source.splitlines(), 1):
        include = re.match(r"\s*(?:#|%:|\?\?=)\s*include(?:_next)?\b(.*)", line)
        if include:
            header = re.match(r'\s*(?:<([^>]*)>|"([^"]*)")', include[1])
            name = header and (header[1] or header[2])
            if name not in HEADERS:
                what = name or "this"
                return (
                    number,
                    f"only headers of CUDA and C may be included here, not {what}",
                )
    for number, line in enumerate(code_of(source).splitlines(), 1):
        if re.search(r"##|%:|\?\?=|\\", line):
            return number, "names must be written out, not pasted together"
        if re.search(
            r"#\s*(embed|import|pragma\s+(weak|redefine_extname|GCC|push_macro))", line
        ):
            return number, "this directive is not needed here"
        for word in re.findall(r"[A-Za-z_]\w*", line):
            if REFUSED.fullmatch(word):
                return number, NEEDLESS.format(word)
    return None
