/* What all of the compiler driver does with text. It lives for one command line, so
 * strings are never freed; without memory it ends. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

void *need(void *p); /* not NULL, or the driver ends */
/* Makes room for one element more behind the `count` that an array has. */
#define need_one_more(array, count)                                                      \
    ((array) = need(realloc((array), ((size_t)(count) + 1) * sizeof *(array))))

char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
char *quote(const char *text); /* as a string literal */

/* Which word of a list is it that spaces separate: 0, 1, ..., or -1 for none? */
int index_in(const char *words, const char *word, size_t length);
bool is_one_of(const char *word, const char *words);

/* A text that grows at its end, where a null character always stands. */
struct text {
    char *start;
    size_t length, capacity;
};
void put(struct text *to, const char *bytes, size_t length);
void put_string(struct text *to, const char *string); /* NULL is none */

#endif
