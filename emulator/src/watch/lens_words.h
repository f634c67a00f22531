/* How the report of the lens writes figures, and where. */
#ifndef LENS_WORDS_H
#define LENS_WORDS_H

#include <stdio.h>

extern FILE *lens_out;
void lens_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a line of text without its end: at most 80 columns, and what follows on
 * lines of its own, `hanging` columns in. A word that no line has room for is cut. */
void lens_say_folded(int hanging, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The bytes of the character that text begins with, as UTF-8; 0 if that is none. */
unsigned lens_character(const char *text);
/* A line of source: its first `most` characters, 100 of them or less, and U+FFFD for what
 * is none. */
const char *lens_shortened(const char *text, unsigned most);
/* 1234567 -> "1,234,567"; fractions only where there are some. Eight results may be in
 * use at once. */
const char *lens_number(double value);
/* 0.0141 -> "14.1 ms". */
const char *lens_duration(double seconds);
/* One sentence on what the figures of a row mean. */
struct lens_row;
void lens_verdict(const struct lens_row *row, char *out, size_t size);

#endif
