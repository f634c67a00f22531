/* The compiler for inline PTX: from the text of an asm statement to C++. */
#ifndef PTX_COMPILE_H
#define PTX_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

/* One of the statement's operands, %0, %1, ...: its constraint's letter, and whether the
 * constraint begins with = or +. In the result it is a variable `uint64_t emu_N`, which
 * the caller declares. */
struct ptx_argument {
    char letter; /* r l h f d, or n for a constant */
    bool written;
    bool by_address; /* a result: it is written later, so that the result names `emu_oN`,
                        a reference to it, and there is no value */
    bool placed;     /* an input that the result also names by reference */
};

struct ptx_statement {
    const char *text; /* the template's strings, joined; not null-terminated */
    const int *lines; /* of each character, the source line it stands in */
    size_t length;
    const char *file;
    int number; /* that no other statement of the program has: its labels are told apart
                   by it */
    struct ptx_argument *arguments;
    int argument_count;
    void (*error)(void *context, int line, const char *message);
    void *context;
};

/* Returns C++ statements, one line marker before each, so that errors and
 * faults name the string that an instruction stands in. NULL after errors. */
char *ptx_compile(const struct ptx_statement *statement);

#endif
