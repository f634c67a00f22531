/* From preprocessed CUDA C++ to C++ that any compiler takes. */
#ifndef TRANSLATE_H
#define TRANSLATE_H

#include <stddef.h>

/* Who can name device variables. */
enum visibility {
    OWN_FILE,
    ALL_FILES,     /* nvcc's -rdc=true */
    TO_PROGRAM_TOO /* of a module, static ones too */
};

/* Rewrites what only nvcc understands: launches, __shared__ and the other qualifiers.
 * Every line of the result is the same line of the input, so errors and debug information
 * still point at the reader's file.
 *
 * `text` is the output of `g++ -E` or `clang++ -E`, line markers included. Returns the new
 * text (free it), or NULL after it has written `file:line: error: ...` to stderr. */
char *translate(const char *text, size_t length, enum visibility visibility,
                size_t *new_length);

#endif
