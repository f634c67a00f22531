/* Strings, lists of words, and text that grows, for the compiler driver. */
#define _GNU_SOURCE /* vasprintf */
#include "compile/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void *need(void *p)
{
    if (p) return p;
    fprintf(stderr, "nvcc fatal   : out of memory\n");
    exit(1);
}

char *format(const char *pattern, ...)
{
    char *s;
    va_list values;
    va_start(values, pattern);
    const int length = vasprintf(&s, pattern, values);
    va_end(values);
    return need(length < 0 ? NULL : s);
}

char *quote(const char *text)
{
    char *s = need(malloc(2 * strlen(text) + 3)), *out = s;
    *out++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') *out++ = '\\';
        *out++ = *text;
    }
    *out++ = '"';
    *out = '\0';
    return s;
}

int index_in(const char *words, const char *word, size_t length)
{
    int index = 0;
    for (const char *p = words; *p; p += strcspn(p, " "), p += strspn(p, " "), index++)
        if (strcspn(p, " ") == length && memcmp(p, word, length) == 0) return index;
    return -1;
}

bool is_one_of(const char *word, const char *words)
{
    return index_in(words, word, strlen(word)) >= 0;
}

void put(struct text *to, const char *bytes, size_t length)
{
    if (to->length + length + 1 > to->capacity) {
        to->capacity = 2 * (to->length + length + 1);
        to->start = need(realloc(to->start, to->capacity));
    }
    memcpy(to->start + to->length, bytes, length);
    to->length += length;
    to->start[to->length] = '\0';
}

void put_string(struct text *to, const char *string)
{
    if (string) put(to, string, strlen(string));
}
