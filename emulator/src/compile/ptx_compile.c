/* From the PTX of an asm statement to C++ that the host's compiler takes.
 *
 * An instruction becomes a call of the runtime (emulator_ptx.h) with a number that holds
 * its modifiers; a register becomes a variable, a predicate an `if`, a branch a `goto`.
 * So the host's compiler keeps the values in registers of its own, and what is wrong with
 * an instruction is said when the program is compiled. The rules are those of the PTX
 * ISA, version 9.0; each family of instructions has its function below. */
#define _GNU_SOURCE /* vasprintf */
#include "compile/ptx_compile.h"

#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ptx.h"
#include "compile/text.h"

/* How a number is written in the result. */
#define HEX "0x%" PRIx64 "ull"

enum { MODIFIERS = 24, OPERANDS = 8, ELEMENTS = 256, NAME = 64 };

enum form { REGISTER, INTEGER, NUMBER, SPECIAL, VECTOR, ADDRESS, SINK, LABEL };

struct value {
    enum form form;
    int place;          /* in the template, for messages */
    int reg;            /* of a REGISTER; of an ADDRESS, its base, or -1 */
    bool negated;       /* !p */
    uint64_t integer;   /* of an INTEGER; of an ADDRESS, what is added */
    int added_argument; /* of an ADDRESS: the constant operand that is added, or -1 */
    double number;
    unsigned special, component;
    char name[NAME];        /* of a LABEL */
    struct value **element; /* of a VECTOR; of an ADDRESS, the coordinates behind it */
    int count;
    struct value *second; /* p|q */
};

struct reg {
    char name[NAME]; /* "" for an argument */
    enum ptx_type type;
    bool constant;  /* an argument with constraint "n" */
    bool read_only; /* an argument that is no output */
    int scope;
    char text[24]; /* in the result */
};

struct label {
    char name[NAME];
    int number, scope, place;
    bool defined;
};

struct instruction {
    int place;
    char text[256]; /* the opcode with its modifiers, for messages */
    char *name, *modifier[MODIFIERS];
    int modifiers, taken; /* how many there are, and the next that nobody looked at */
    struct value *operand[OPERANDS];
    int operands;
};

struct compiler {
    const struct ptx_statement *s;
    size_t at;
    struct text out;
    struct reg *regs;
    int reg_count, scope, scope_count, *scope_parent;
    struct label *labels;
    int label_count;
    struct instruction *instruction; /* the one being compiled */
    int errors;
    jmp_buf next_statement; /* where an error continues */
};

/* ---- output and messages ---- */

__attribute__((format(printf, 2, 3))) static void emit(struct compiler *c,
                                                       const char *pattern, ...)
{
    char *s;
    va_list values;
    va_start(values, pattern);
    const int length = vasprintf(&s, pattern, values);
    va_end(values);
    put_string(&c->out, need(length < 0 ? NULL : s));
    free(s);
}

static int line_at(const struct compiler *c, size_t place)
{
    if (!c->s->length) return 0;
    return c->s->lines[place < c->s->length ? place : c->s->length - 1];
}

static void report(struct compiler *c, int place, const char *pattern, va_list values)
{
    char message[1024];
    vsnprintf(message, sizeof message, pattern, values);
    c->errors++;
    c->s->error(c->s->context, line_at(c, (size_t)place), message);
}

/* Reports, and gives up the statement (of PTX). */
__attribute__((noreturn, format(printf, 3, 4))) static void
fail(struct compiler *c, int place, const char *pattern, ...)
{
    va_list values;
    va_start(values, pattern);
    report(c, place, pattern, values);
    va_end(values);
    longjmp(c->next_statement, 1);
}

/* Gives up the instruction, for what is wrong with it or with one of its operands. */
__attribute__((noreturn, format(printf, 3, 4))) static void
refuse(struct compiler *c, const struct value *operand, const char *pattern, ...)
{
    char why[512];
    va_list values;
    va_start(values, pattern);
    vsnprintf(why, sizeof why, pattern, values);
    va_end(values);
    fail(c, operand ? operand->place : c->instruction->place, "PTX: `%s`%s",
         c->instruction->text, why);
}

/* Reports what is seen at the end. */
__attribute__((format(printf, 3, 4))) static void complain(struct compiler *c, int place,
                                                           const char *pattern, ...)
{
    va_list values;
    va_start(values, pattern);
    report(c, place, pattern, values);
    va_end(values);
}

/* ---- the text ---- */

static char peek_char(const struct compiler *c, size_t ahead)
{
    return c->at + ahead < c->s->length ? c->s->text[c->at + ahead] : '\0';
}

static void skip_space(struct compiler *c)
{
    for (;;) {
        while (isspace((unsigned char)peek_char(c, 0))) c->at++;
        if (peek_char(c, 0) == '/' && peek_char(c, 1) == '/') {
            while (peek_char(c, 0) && peek_char(c, 0) != '\n') c->at++;
        } else if (peek_char(c, 0) == '/' && peek_char(c, 1) == '*') {
            while (peek_char(c, 0) && !(peek_char(c, 0) == '*' && peek_char(c, 1) == '/'))
                c->at++;
            c->at += peek_char(c, 0) ? 2 : 0;
        } else {
            return;
        }
    }
}

static bool accept(struct compiler *c, char wanted)
{
    skip_space(c);
    if (peek_char(c, 0) != wanted) return false;
    c->at++;
    return true;
}

static const char *what_follows(const struct compiler *c)
{
    return format("%.*s", (int)(c->s->length - c->at), c->s->text + c->at);
}

static void expect(struct compiler *c, char wanted)
{
    if (accept(c, wanted)) return;
    if (!peek_char(c, 0))
        fail(c, (int)c->s->length - 1,
             "PTX: `%c` is missing at the end of the asm statement", wanted);
    const char *rest = what_follows(c);
    fail(c, (int)c->at, "PTX: `%c` expected before `%.*s`%s%s%s", wanted,
         (int)strcspn(rest, " ;\n\t") + 1, rest, c->instruction ? " in `" : "",
         c->instruction ? c->instruction->text : "", c->instruction ? "`" : "");
}

static bool in_name(char ch)
{
    return isalnum((unsigned char)ch) || ch == '_' || ch == '$' || ch == '%';
}

/* A name; of an asm statement's own escapes, `%=` (a number that no other has) is made
 * part of it, and %% is %. The number is the statement's, which suffices: names are local
 * to it. */
static bool read_name(struct compiler *c, char *name)
{
    skip_space(c);
    size_t n = 0;
    while (in_name(peek_char(c, 0)) && n < NAME - 1) {
        if (peek_char(c, 0) == '%' && peek_char(c, 1) == '=') {
            c->at += 2;
            name[n++] = '=';
            continue;
        }
        if (peek_char(c, 0) == '%' && peek_char(c, 1) == '%') c->at++;
        name[n++] = c->s->text[c->at++];
    }
    name[n] = '\0';
    return n > 0;
}

/* ---- registers ---- */

static bool is_visible(const struct compiler *c, int scope)
{
    for (int s = c->scope; s >= 0; s = c->scope_parent[s])
        if (s == scope) return true;
    return false;
}

static int find_register(const struct compiler *c, const char *name)
{
    for (int i = c->reg_count - 1; i >= c->s->argument_count; i--)
        if (strcmp(c->regs[i].name, name) == 0 && is_visible(c, c->regs[i].scope))
            return i;
    return -1;
}

static void add_register(struct compiler *c, const char *name, enum ptx_type type)
{
    need_one_more(c->regs, c->reg_count);
    struct reg *r = &c->regs[c->reg_count++];
    memset(r, 0, sizeof *r);
    snprintf(r->name, sizeof r->name, "%s", name);
    r->type = type;
    r->scope = c->scope;
    snprintf(r->text, sizeof r->text, "emu_r%d", c->reg_count);
}

static enum ptx_type type_named(const char *text)
{
    for (int t = 1; t < PTX_TYPE_COUNT; t++)
        if (strcmp(ptx_types[t].text, text) == 0) return (enum ptx_type)t;
    return PTX_NONE;
}

/* .reg .b32 a, b<4>; */
static void declare_registers(struct compiler *c)
{
    char word[NAME], name[NAME];
    skip_space(c);
    const int place = (int)c->at;
    if (!accept(c, '.') || !read_name(c, word))
        fail(c, place, "PTX: a type expected behind .reg");
    const enum ptx_type type = type_named(word);
    if (word[0] == 'v' && isdigit((unsigned char)word[1]))
        fail(c, place, "PTX: the emulator knows no vector registers (.reg .%s)", word);
    if (type == PTX_NONE)
        fail(c, place, "PTX: the emulator knows no registers of type .%s", word);
    do {
        if (!read_name(c, name))
            fail(c, (int)c->at, "PTX: a name expected behind .reg .%s", word);
        if (!accept(c, '<')) {
            add_register(c, name, type);
            continue;
        }
        if (!read_name(c, word)) fail(c, (int)c->at, "PTX: a number expected behind `<`");
        const int count = atoi(word);
        expect(c, '>');
        for (int i = 0; i < count; i++) {
            char numbered[2 * NAME];
            snprintf(numbered, sizeof numbered, "%s%d", name, i);
            add_register(c, numbered, type);
        }
    } while (accept(c, ','));
    expect(c, ';');
}

/* ---- operands ---- */

static struct value *new_value(enum form form, int place)
{
    struct value *v = need(calloc(1, sizeof *v));
    v->form = form;
    v->place = place;
    v->reg = v->added_argument = -1;
    return v;
}

static const struct {
    const char *name;
    unsigned bits, vector;
} specials[] = {
#define PTX_AS_SPECIAL(name, text, bits, vector) {text, bits, vector},
    PTX_SPECIALS(PTX_AS_SPECIAL)
#undef PTX_AS_SPECIAL
};

static bool is_special(struct compiler *c, const char *name, struct value *v)
{
    for (unsigned i = 0; i < PTX_SPECIAL_COUNT; i++) {
        if (strcmp(specials[i].name, name) != 0) continue;
        v->form = SPECIAL;
        v->special = i;
        if (!specials[i].vector) return true;
        const int part =
            peek_char(c, 0) == '.' ? index_in("x y z", (char[]){peek_char(c, 1)}, 1) : -1;
        if (part < 0) fail(c, v->place, "PTX: `%s` has the parts .x, .y and .z", name);
        v->component = (unsigned)part;
        c->at += 2;
        return true;
    }
    return false;
}

static uint64_t read_expression(struct compiler *c, struct value *v, int level);

/* A number: 12, 0x1f, 017, 0b11, 1.5, 1e3, 0f3F800000, 0d..., or a constant argument. */
static uint64_t read_primary(struct compiler *c, struct value *v)
{
    skip_space(c);
    const char *text = c->s->text + c->at;
    const char *end = c->s->text + c->s->length;
    if (accept(c, '(')) {
        const uint64_t x = read_expression(c, v, 0);
        expect(c, ')');
        return x;
    }
    if (accept(c, '-')) {
        const uint64_t x = read_primary(c, v);
        v->number = -v->number;
        return (uint64_t)0 - x;
    }
    if (accept(c, '+')) return read_primary(c, v);
    if (accept(c, '~')) return ~read_primary(c, v);
    if (accept(c, '!')) return !read_primary(c, v);
    if (!isdigit((unsigned char)*text) && *text != '.')
        fail(c, (int)c->at, "PTX: a number expected before `%.8s`", what_follows(c));
    char word[NAME];
    size_t n = 0;
    while (n < NAME - 1 && text + n < end &&
           (isalnum((unsigned char)text[n]) || text[n] == '.'))
        n++;
    /* 1.5e-3 */
    if (n > 0 && n < NAME - 8 && text + n + 1 < end &&
        (text[n - 1] == 'e' || text[n - 1] == 'E') && text[1] != 'x' &&
        (text[n] == '-' || text[n] == '+'))
        for (n++; n < NAME - 1 && text + n < end && isdigit((unsigned char)text[n]);) n++;
    memcpy(word, text, n);
    word[n] = '\0';
    c->at += n;
    char *rest = word;
    uint64_t x = 0;
    if (word[0] == '0' && strchr("fF", word[1]) && n == 10) {
        const uint32_t bits = (uint32_t)strtoul(word + 2, &rest, 16);
        float single;
        memcpy(&single, &bits, sizeof single);
        v->form = NUMBER;
        v->number = single;
        v->integer = (uint64_t)bits << 32; /* the bits themselves: a NaN keeps them */
    } else if (word[0] == '0' && strchr("dD", word[1]) && n == 18) {
        const uint64_t bits = strtoull(word + 2, &rest, 16);
        v->form = NUMBER;
        memcpy(&v->number, &bits, sizeof bits);
    } else if (strchr(word, '.') || (!strchr("xX", word[1]) && strpbrk(word, "eE"))) {
        v->form = NUMBER;
        v->number = strtod(word, &rest);
    } else if (word[0] == '0' && (word[1] == 'b' || word[1] == 'B')) {
        x = strtoull(word + 2, &rest, 2);
    } else {
        x = strtoull(word, &rest, 0);
        while (*rest == 'U' || *rest == 'u' || *rest == 'L') rest++;
    }
    if (*rest) fail(c, (int)c->at, "PTX: `%s` is not a number", word);
    return x;
}

/* Constant expressions: the operators of C, as far as they occur. */
static uint64_t read_expression(struct compiler *c, struct value *v, int level)
{
    static const char *const operators[] = {"|", "^", "&", "<>", "+-", "*/"};
    if (level == sizeof operators / sizeof *operators) return read_primary(c, v);
    uint64_t x = read_expression(c, v, level + 1);
    for (;;) {
        skip_space(c);
        const char op = peek_char(c, 0);
        if (!op || !strchr(operators[level], op)) return x;
        if (op == '|' && v->form != INTEGER) return x;
        c->at += op == '<' || op == '>' ? 2 : 1;
        const uint64_t y = read_expression(c, v, level + 1);
        switch (op) {
        case '|': x |= y; break;
        case '^': x ^= y; break;
        case '&': x &= y; break;
        case '<': x <<= y & 63; break;
        case '>': x >>= y & 63; break;
        case '+': x += y; break;
        case '-': x -= y; break;
        case '*': x *= y; break;
        default: x = y ? x / y : 0; break;
        }
    }
}

static struct value *read_operand(struct compiler *c);

/* `{a, b}`, from behind the brace on. */
static void read_elements(struct compiler *c, struct value *v, char close)
{
    v->element = need(calloc(ELEMENTS, sizeof *v->element));
    if (accept(c, close)) return;
    do {
        if (v->count == ELEMENTS)
            fail(c, v->place, "PTX: more than %d elements", ELEMENTS);
        v->element[v->count++] = read_operand(c);
    } while (accept(c, ','));
    expect(c, close);
}

static struct value *read_operand(struct compiler *c)
{
    skip_space(c);
    const int place = (int)c->at;
    struct value *v = new_value(REGISTER, place);
    char name[NAME];
    if (accept(c, '{')) {
        v->form = VECTOR;
        read_elements(c, v, '}');
        return v;
    }
    if (accept(c, '[')) {
        v->form = ADDRESS;
        struct value *base = read_operand(c);
        if (base->form == REGISTER)
            v->reg = base->reg;
        else if (base->form == INTEGER)
            v->integer = base->integer;
        else
            fail(c, place, "PTX: an address is `[register]` or `[register + number]`");
        if (accept(c, '+')) {
            struct value *more = read_operand(c);
            if (more->form == REGISTER && c->regs[more->reg].constant)
                v->added_argument = more->reg;
            else if (more->form == INTEGER)
                v->integer += more->integer;
            else
                fail(c, place, "PTX: only a constant can be added to an address");
        }
        if (accept(c, ','))
            read_elements(c, v, ']');
        else
            expect(c, ']');
        return v;
    }
    if (peek_char(c, 0) == '!' &&
        (in_name(peek_char(c, 1)) && !isdigit((unsigned char)peek_char(c, 1)))) {
        c->at++;
        v = read_operand(c);
        v->negated = !v->negated;
        return v;
    }
    if (peek_char(c, 0) == '%' && isdigit((unsigned char)peek_char(c, 1))) {
        c->at++;
        int n = 0;
        while (isdigit((unsigned char)peek_char(c, 0)))
            n = 10 * n + (c->s->text[c->at++] - '0');
        if (n >= c->s->argument_count)
            fail(c, place, "asm: there is no operand %%%d, only %d", n,
                 c->s->argument_count);
        v->reg = n;
        return v;
    }
    if (isdigit((unsigned char)peek_char(c, 0)) || strchr("-+.(~", peek_char(c, 0))) {
        v->form = INTEGER;
        const uint64_t x = read_expression(c, v, 0);
        if (v->form == INTEGER) v->integer = x;
        return v;
    }
    if (!read_name(c, name))
        fail(c, place, "PTX: an operand expected before `%.8s`%s%s", what_follows(c),
             c->instruction ? " in " : "", c->instruction ? c->instruction->text : "");
    if (strcmp(name, "_") == 0) {
        v->form = SINK;
    } else if (strcmp(name, "WARP_SZ") == 0) {
        v->form = INTEGER;
        v->integer = 32;
    } else if ((v->reg = find_register(c, name)) >= 0) {
        v->form = REGISTER;
    } else if (!is_special(c, name, v)) {
        v->form = LABEL;
        snprintf(v->name, sizeof v->name, "%s", name);
    }
    return v;
}

/* An operand, or two results as `p|q`. */
static struct value *read_operands(struct compiler *c)
{
    struct value *v = read_operand(c);
    if (v->form == REGISTER || v->form == SINK || v->form == LABEL)
        if (accept(c, '|')) v->second = read_operand(c);
    return v;
}

/* ---- what instructions may ask of their text ---- */

/* Takes the next modifier if it is among these words; gives which of them, else -1. */
static int take_index(struct compiler *c, const char *words)
{
    struct instruction *i = c->instruction;
    const char *word = i->taken < i->modifiers ? i->modifier[i->taken] : "";
    const int index = index_in(words, word, strlen(word));
    i->taken += index >= 0;
    return index;
}

static bool take(struct compiler *c, const char *words)
{
    return take_index(c, words) >= 0;
}

/* The word itself, else NULL. */
static const char *take_one_of(struct compiler *c, const char *words)
{
    return take(c, words) ? c->instruction->modifier[c->instruction->taken - 1] : NULL;
}

__attribute__((noreturn)) static void unknown(struct compiler *c)
{
    struct instruction *i = c->instruction;
    if (i->taken < i->modifiers)
        fail(c, i->place, "PTX: the emulator does not know `.%s` in the instruction `%s`",
             i->modifier[i->taken], i->text);
    fail(c, i->place, "PTX: the instruction `%s` is not complete", i->text);
}

static int need_index(struct compiler *c, const char *words)
{
    const int index = take_index(c, words);
    if (index < 0) unknown(c);
    return index;
}

static const char *need_one_of(struct compiler *c, const char *words)
{
    (void)need_index(c, words);
    return c->instruction->modifier[c->instruction->taken - 1];
}

/* These, one after the other. */
static void need_each(struct compiler *c, const char *words)
{
    char *rest = format("%s", words);
    for (char *word; (word = strsep(&rest, " "));) need_one_of(c, word);
}

static void end_of_modifiers(struct compiler *c)
{
    if (c->instruction->taken < c->instruction->modifiers) unknown(c);
}

/* That no modifier is left, and that the operands are those of the list, such as
 * "d, [a], {r...}{, what may be missing}". */
static void need_operands(struct compiler *c, const char *list)
{
    const struct instruction *i = c->instruction;
    int least = *list != '(', optional = 0, depth = 0; /* not "(none)" */
    for (const char *p = list; *p; p++) {
        if (*p == ',' && depth == 0) least++;
        if (p[0] == '{' && p[1] == ',') {
            optional++;
            p += strcspn(p, "}");
        } else if (strchr("{[", *p)) {
            depth++;
        } else if (strchr("}]", *p)) {
            depth--;
        }
    }
    end_of_modifiers(c);
    if (i->operands >= least && i->operands <= least + optional) return;
    fail(c, i->place, "PTX: `%s` takes the operands %s; here are %d", i->text, list,
         i->operands);
}

static enum ptx_type need_type(struct compiler *c, const char *allowed)
{
    if (c->instruction->taken >= c->instruction->modifiers)
        fail(c, c->instruction->place, "PTX: the instruction `%s` needs a type",
             c->instruction->text);
    return type_named(need_one_of(c, allowed));
}

/* ---- operands as C++ ---- */

enum { ANY_WIDTH = 0, AT_LEAST = 256 };

static const char *describe(const struct compiler *c, const struct value *v)
{
    static char text[2 * NAME];
    if (v->form == REGISTER && v->reg < c->s->argument_count)
        snprintf(text, sizeof text, "%%%d", v->reg);
    else if (v->form == REGISTER)
        snprintf(text, sizeof text, "%s", c->regs[v->reg].name);
    else if (v->form == LABEL)
        snprintf(text, sizeof text, "%s", v->name);
    else
        snprintf(text, sizeof text, "%s",
                 v->form == VECTOR    ? "{...}"
                 : v->form == ADDRESS ? "[...]"
                 : v->form == SINK    ? "_"
                                      : "a constant");
    return text;
}

/* The assembler is strict: the width must fit, and integers are not floating-point
 * numbers; a register without either (.b32) may hold both. `wider`: as in ld, st and cvt,
 * the register may be wider than the type. */
static void check_register(struct compiler *c, const struct value *v, enum ptx_type type,
                           bool wider)
{
    const struct reg *r = &c->regs[v->reg];
    if (r->constant) return;
    const struct ptx_type_info *have = &ptx_types[r->type], *want = &ptx_types[type];
    const bool width = wider ? have->bits >= want->bits : have->bits == want->bits;
    const bool kinds =
        wider || !((have->kind == PTX_FLOAT &&
                    (want->kind == PTX_UNSIGNED || want->kind == PTX_SIGNED ||
                     want->kind == PTX_PACKED)) ||
                   (want->kind == PTX_FLOAT &&
                    (have->kind == PTX_UNSIGNED || have->kind == PTX_SIGNED)));
    if (width && kinds && (r->type == PTX_PRED) == (type == PTX_PRED)) return;
    refuse(c, v, " wants a register of type .%s, and `%s` is .%s", want->text,
           describe(c, v), have->text);
}

static uint64_t number_as(enum ptx_type type, const struct value *v)
{
    if (type == PTX_F64) {
        uint64_t bits;
        memcpy(&bits, &v->number, sizeof bits);
        return bits;
    }
    uint32_t bits = (uint32_t)(v->integer >> 32);
    const float single = (float)v->number;
    if (!bits || single == single) memcpy(&bits, &single, sizeof bits);
    return bits;
}

static uint64_t cut(uint64_t x, unsigned bits)
{
    return bits < 64 ? x & ((1ull << bits) - 1) : x;
}

/* What wgmma writes to later has no value that another instruction could use. */
static void forbid_sum(struct compiler *c, const struct value *v)
{
    if (v->reg < c->s->argument_count && c->s->arguments[v->reg].by_address)
        refuse(c, v, " uses %s, which holds a sum of wgmma in the same asm statement",
               describe(c, v));
}

__attribute__((noreturn)) static void fail_undeclared(struct compiler *c,
                                                      const struct value *v)
{
    fail(c, v->place, "PTX: `%s` in `%s` is not declared", v->name, c->instruction->text);
}

static const char *source_as(struct compiler *c, const struct value *v,
                             enum ptx_type type, bool wider)
{
    switch (v->form) {
    case REGISTER:
        check_register(c, v, type, wider);
        forbid_sum(c, v);
        return v->negated ? format("(1 ^ %s)", c->regs[v->reg].text)
                          : c->regs[v->reg].text;
    case INTEGER:
        if (ptx_types[type].kind == PTX_FLOAT)
            refuse(c, v, " wants a floating-point constant (1.0 or 0f3F800000)");
        return format(HEX, cut(v->integer, ptx_types[type].bits));
    case NUMBER:
        if (type != PTX_F32 && type != PTX_F64 && type != PTX_B32 && type != PTX_B64)
            break;
        return format(HEX, number_as(type == PTX_B64   ? PTX_F64
                                     : type == PTX_B32 ? PTX_F32
                                                       : type,
                                     v));
    case SPECIAL:
        if (!is_one_of(c->instruction->name, "mov cvt"))
            fail(c, v->place,
                 "PTX: a special register can only be moved (mov), not used in `%s`",
                 c->instruction->text);
        if (specials[v->special].bits != ptx_types[type].bits)
            refuse(c, v, ": that special register has %u bits",
                   specials[v->special].bits);
        return format("::emu_ptx_special(%u, %u)", v->special, v->component);
    case LABEL: fail_undeclared(c, v);
    default: break;
    }
    refuse(c, v, " cannot have %s as an operand of type .%s", describe(c, v),
           ptx_types[type].text);
}

static const char *source(struct compiler *c, const struct value *v, enum ptx_type type)
{
    return source_as(c, v, type, false);
}

/* Operand `i` of the instruction. */
static const char *operand(struct compiler *c, int i, enum ptx_type type)
{
    return source(c, c->instruction->operand[i], type);
}

/* `target = expression;` */
static void assign_as(struct compiler *c, const struct value *v, enum ptx_type type,
                      bool wider, const char *expression)
{
    if (v->form == SINK) {
        emit(c, " (void)(%s);", expression);
        return;
    }
    if (v->form == LABEL) fail_undeclared(c, v);
    if (v->form != REGISTER || v->negated)
        refuse(c, v, " cannot write to %s", describe(c, v));
    if (c->regs[v->reg].constant || c->regs[v->reg].read_only)
        fail(c, v->place,
             "asm: `%s` writes to %s, which is an input (its constraint has no = or +)",
             c->instruction->text, describe(c, v));
    check_register(c, v, type, wider);
    forbid_sum(c, v);
    emit(c, " %s = %s;", c->regs[v->reg].text, expression);
}

static void assign(struct compiler *c, const struct value *v, enum ptx_type type,
                   const char *expression)
{
    assign_as(c, v, type, false, expression);
}

/* The first operand is where the result goes. */
static void result(struct compiler *c, enum ptx_type type, const char *expression)
{
    assign(c, c->instruction->operand[0], type, expression);
}

/* Operand `i`, which must be a constant: a number, or an argument with "n". */
static const char *constant(struct compiler *c, int i)
{
    const struct value *v = c->instruction->operand[i];
    if (v->form != INTEGER && !(v->form == REGISTER && c->regs[v->reg].constant))
        fail(c, v->place,
             "PTX: operand %d of `%s` must be a constant (a number, or constraint \"n\")",
             i + 1, c->instruction->text);
    return source(c, v, PTX_B32);
}

/* As need_operands, and behind those a policy of the caches, where there is one. */
static void need_operands_and(struct compiler *c, bool policy, const char *list)
{
    need_operands(c, policy ? format("%s, policy", list) : list);
    if (policy) (void)operand(c, c->instruction->operands - 1, PTX_B64);
}

/* The address of an operand; `coordinates` may follow it inside the brackets. */
static const char *address(struct compiler *c, int i, int coordinates)
{
    const struct value *v = c->instruction->operand[i];
    if (v->form != ADDRESS)
        fail(c, v->place, "PTX: operand %d of `%s` is an address, in brackets: [...]",
             i + 1, c->instruction->text);
    if (v->count && !coordinates) refuse(c, v, " wants a plain address in brackets");
    const char *base = "0";
    if (v->reg >= 0) {
        const struct reg *r = &c->regs[v->reg];
        if (!r->constant && ptx_types[r->type].bits < 32)
            fail(c, v->place, "PTX: an address has 32 or 64 bits, and `%s` is .%s",
                 describe(c, v), ptx_types[r->type].text);
        base = r->text;
    }
    const char *more =
        v->added_argument >= 0 ? format(" + %s", c->regs[v->added_argument].text) : "";
    if (!v->integer && !*more) return base;
    return format("%s%s + " HEX, base, more, v->integer);
}

static void need_elements(struct compiler *c, int i, int count, const char *what)
{
    const struct value *v = c->instruction->operand[i];
    if (v->form != VECTOR || v->count != count)
        fail(c, v->place, "PTX: operand %d of `%s` is %s: %d register%s in braces", i + 1,
             c->instruction->text, what, count, count == 1 ? "" : "s");
}

/* The first so many elements of operand `i`, behind a comma each. */
static void emit_elements(struct compiler *c, int i, int count, enum ptx_type type)
{
    for (int k = 0; k < count; k++)
        emit(c, ", %s", source(c, c->instruction->operand[i]->element[k], type));
}

/* Operand 0 gets what a call has left in emu_d. */
static void assign_elements(struct compiler *c, int count, enum ptx_type type)
{
    for (int k = 0; k < count; k++)
        assign(c, c->instruction->operand[0]->element[k], type, format("emu_d[%d]", k));
}

/* ---- arithmetic ---- */

static const struct {
    const char *name;
    uint64_t flag;
} flag_names[] = {{"sat", PTX_SAT},
                  {"ftz", PTX_FTZ},
                  {"relu", PTX_RELU},
                  {"satfinite", PTX_SATFINITE},
                  {"hi", PTX_HI},
                  {"lo", 0},
                  {"wide", PTX_WIDE},
                  {"NaN", PTX_KEEP_NAN},
                  {"xorsign", PTX_XORSIGN},
                  {"abs", 0},
                  {"approx", PTX_APPROX},
                  {"full", PTX_APPROX},
                  {"cc", PTX_CARRY_OUT},
                  {"wrap", PTX_WRAP},
                  {"clamp", 0},
                  {"l", PTX_LEFT},
                  {"r", 0},
                  {"shiftamt", PTX_SHIFT_AMOUNT},
                  {"noftz", 0}};

/* Takes all modifiers of the list, in any order; returns flags and rounding. */
static uint64_t take_flags(struct compiler *c, const char *allowed, bool *any_rounding)
{
    uint64_t code = 0;
    if (any_rounding) *any_rounding = false;
    for (const char *word; (word = take_one_of(c, allowed));) {
        const int rounding =
            index_in("rn rz rm rp rna rni rzi rmi rpi", word, strlen(word));
        if (rounding >= 0) code |= PTX_CODE(0, 0, 0, rounding, 0);
        if (any_rounding) *any_rounding |= rounding >= 0;
        for (size_t k = 0; k < sizeof flag_names / sizeof *flag_names; k++)
            if (strcmp(word, flag_names[k].name) == 0) {
                code |= flag_names[k].flag;
                if (any_rounding) *any_rounding |= (flag_names[k].flag & PTX_APPROX) != 0;
            }
    }
    return code;
}

#define INTEGERS "u16 s16 u32 s32 u64 s64 "
#define HALVES "f16 f16x2 bf16 bf16x2 "
#define ROUNDINGS "rn rz rm rp "

/* The regular ones: a result and sources of one type. `needs` is what PTX wants said for
 * floating point: 'r' a rounding (or .approx, .full), '-' nothing; and for integers: 'p'
 * a part of the product. */
static const struct regular {
    const char *name;
    enum ptx_op op;
    int sources;
    const char *modifiers, *types, *needs;
} regulars[] = {
    {"add", PTX_ADD, 2, ROUNDINGS "ftz sat cc", INTEGERS HALVES "f32 f64 u16x2 s16x2",
     ""},
    {"addc", PTX_ADD, 2, "cc", "u32 s32 u64 s64", ""},
    {"sub", PTX_SUB, 2, ROUNDINGS "ftz sat cc", INTEGERS HALVES "f32 f64", ""},
    {"subc", PTX_SUB, 2, "cc", "u32 s32 u64 s64", ""},
    {"mul", PTX_MUL, 2, ROUNDINGS "ftz sat lo hi wide", INTEGERS HALVES "f32 f64", "p"},
    {"mad", PTX_MAD, 3, ROUNDINGS "ftz sat lo hi wide cc", INTEGERS "f32 f64", "pr"},
    {"madc", PTX_MAD, 3, "lo hi cc", "u32 s32 u64 s64", "p"},
    {"fma", PTX_FMA, 3, ROUNDINGS "ftz sat relu", HALVES "f32 f64", "r"},
    {"div", PTX_DIV, 2, ROUNDINGS "ftz approx full", INTEGERS "f32 f64", "r"},
    {"rem", PTX_REM, 2, "", INTEGERS, ""},
    {"sad", PTX_SAD, 3, "", INTEGERS, ""},
    {"min", PTX_MIN, 2, "ftz NaN xorsign abs relu", INTEGERS HALVES "f32 f64 u16x2 s16x2",
     ""},
    {"max", PTX_MAX, 2, "ftz NaN xorsign abs relu", INTEGERS HALVES "f32 f64 u16x2 s16x2",
     ""},
    {"abs", PTX_ABS, 1, "ftz", "s16 s32 s64 " HALVES "f32 f64", ""},
    {"neg", PTX_NEG, 1, "ftz", "s16 s32 s64 " HALVES "f32 f64", ""},
    {"and", PTX_AND, 2, "", "pred b16 b32 b64", ""},
    {"or", PTX_OR, 2, "", "pred b16 b32 b64", ""},
    {"xor", PTX_XOR, 2, "", "pred b16 b32 b64", ""},
    {"not", PTX_NOT, 1, "", "pred b16 b32 b64", ""},
    {"cnot", PTX_CNOT, 1, "", "b16 b32 b64", ""},
    {"brev", PTX_BREV, 1, "", "b32 b64", ""},
    {"rcp", PTX_RCP, 1, ROUNDINGS "approx ftz", "f32 f64", "r"},
    {"sqrt", PTX_SQRT, 1, ROUNDINGS "approx ftz", "f32 f64", "r"},
    {"rsqrt", PTX_RSQRT, 1, "approx ftz", "f32 f64", "r"},
    {"ex2", PTX_EX2, 1, "approx ftz", "f32 " HALVES, "r"},
    {"lg2", PTX_LG2, 1, "approx ftz", "f32", "r"},
    {"sin", PTX_SIN, 1, "approx ftz", "f32", "r"},
    {"cos", PTX_COS, 1, "approx ftz", "f32", "r"},
    {"tanh", PTX_TANH, 1, "approx", "f32 " HALVES, "r"},
    {"copysign", PTX_COPYSIGN, 2, "", "f32 f64", ""},
};

static enum ptx_type twice(enum ptx_type type)
{
    switch (type) {
    case PTX_U16: return PTX_U32;
    case PTX_S16: return PTX_S32;
    case PTX_U32: return PTX_U64;
    default: return PTX_S64;
    }
}

static const char *alu_call(uint64_t code, const char *a, const char *b, const char *d,
                            const char *e)
{
    return format("::emu_ptx_alu(" HEX ", %s, %s, %s, %s)", code, a, b, d, e);
}

/* With .cc the thread keeps the carry for addc, subc and madc, of this asm statement or a
 * later one. */
static void assign_alu(struct compiler *c, enum ptx_type type, uint64_t code,
                       const char *a, const char *b, const char *d)
{
    const char *carry = code & PTX_CARRY_IN ? "::emu_ptx_carry()" : "0",
               *sum = alu_call(code & ~PTX_CARRY_OUT, a, b, d, carry);
    if (!(code & PTX_CARRY_OUT)) {
        result(c, type, sum);
        return;
    }
    emit(c, " { const uint64_t emu_sum = %s; ::emu_ptx_set_carry(%s);", sum,
         alu_call(code, a, b, d, carry));
    result(c, type, "emu_sum");
    emit(c, " }");
}

/* The types that an instruction has a flag for; the others it has not. */
static const struct {
    uint64_t flag;
    const char *names, *types;
} flag_types[] = {
    {PTX_RELU, "fma", HALVES},
    {PTX_RELU, "min max", "s32 s16x2"},
    {PTX_SAT, "add sub", "s32 f16 f16x2 f32"},
    {PTX_SAT, "mul fma", "f16 f16x2 f32"},
    {PTX_SAT, "mad", "s32 f32"},
    {PTX_FTZ, "ex2", "f32 bf16 bf16x2"},
    {PTX_FTZ, "rcp rsqrt", "f32 f64"},
    {PTX_FTZ, "add sub mul fma min max abs neg", "f16 f16x2 f32"},
    {PTX_FTZ, "mad div sqrt lg2 sin cos", "f32"},
    {PTX_CARRY_OUT, "add addc sub subc mad madc", "u32 s32 u64 s64"},
    {PTX_KEEP_NAN | PTX_XORSIGN, "min max", HALVES "f32"},
};

__attribute__((noreturn)) static void fail_combination(struct compiler *c)
{
    fail(c, c->instruction->place,
         "PTX: there is no `%s`: these modifiers do not go together",
         c->instruction->text);
}

static void check_flags(struct compiler *c, uint64_t flags, enum ptx_type type)
{
    const struct instruction *in = c->instruction;
    uint64_t left = 0;
    for (size_t i = 0; i < sizeof flag_types / sizeof *flag_types; i++)
        left |= flag_types[i].flag;
    left &= flags;
    for (size_t i = 0; i < sizeof flag_types / sizeof *flag_types; i++)
        if (is_one_of(in->name, flag_types[i].names) &&
            is_one_of(ptx_types[type].text, flag_types[i].types))
            left &= ~flag_types[i].flag;
    bool has_abs = false;
    for (int i = 0; i < in->modifiers; i++)
        has_abs |= strcmp(in->modifier[i], "abs") == 0;
    const bool lacks_high = strcmp(in->name, "mad") == 0 && type == PTX_S32 &&
                            (flags & (PTX_SAT | PTX_HI)) == PTX_SAT;
    if (left || lacks_high || has_abs != ((flags & PTX_XORSIGN) != 0))
        fail_combination(c);
}

static bool compile_regular(struct compiler *c)
{
    static const char *const lists[] = {"", "d, a", "d, a, b", "d, a, b, c"};
    const struct regular *r = regulars, *end = r + sizeof regulars / sizeof *regulars;
    while (r < end && strcmp(r->name, c->instruction->name) != 0) r++;
    if (r == end) return false;
    bool rounding;
    uint64_t flags = take_flags(c, r->modifiers, &rounding);
    const enum ptx_type type = need_type(c, r->types);
    need_operands(c, lists[r->sources]);
    const bool is_float =
        ptx_types[type].kind == PTX_FLOAT ||
        (ptx_types[type].kind == PTX_PACKED && type != PTX_U16X2 && type != PTX_S16X2);
    const bool is_half = is_float && type != PTX_F32 && type != PTX_F64;
    if (strchr(r->needs, 'r') && is_float && !rounding && !(is_half && r->op == PTX_EX2))
        refuse(c, NULL, " needs a rounding, such as .%s",
               strstr(r->modifiers, "rn") ? "rn" : "approx");
    bool part = false;
    for (int k = 0; k < c->instruction->modifiers; k++)
        part |= is_one_of(c->instruction->modifier[k], "lo hi wide");
    check_flags(c, flags, type);
    if (is_float ? part || (is_half && PTX_ROUNDING_OF(flags) != PTX_RN) : rounding)
        fail_combination(c);
    if (strchr(r->needs, 'p') && !is_float && !part)
        refuse(c, NULL, " needs .lo, .hi or .wide");
    const size_t n = strlen(c->instruction->name);
    if (n == 4 && c->instruction->name[n - 1] == 'c' && r->op <= PTX_MAD)
        flags |= PTX_CARRY_IN;
    const bool wide = flags & PTX_WIDE;
    if (wide && ptx_types[type].bits == 64)
        refuse(c, NULL, ": .wide is for 16 and 32 bits");
    const char *source_text[3] = {"0", "0", "0"};
    for (int k = 0; k < r->sources; k++)
        source_text[k] = operand(c, k + 1, wide && k == 2 ? twice(type) : type);
    assign_alu(c, wide ? twice(type) : type, flags | PTX_CODE(r->op, type, 0, 0, 0),
               source_text[0], source_text[1], source_text[2]);
    return true;
}

/* Those whose operands have types of their own: 't' the instruction's, 'u' .u32, 'p' a
 * predicate; the first is the result. */
static const struct irregular {
    const char *name;
    enum ptx_op op;
    const char *operands, *modifiers, *types;
} irregulars[] = {
    {"shl", PTX_SHL, "ttu", "", "b16 b32 b64"},
    {"shr", PTX_SHR, "ttu", "", "b16 b32 b64 u16 u32 u64 s16 s32 s64"},
    {"shf", PTX_SHF, "tttu", "l r clamp wrap", "b32"},
    {"bfe", PTX_BFE, "ttuu", "", "u32 s32 u64 s64"},
    {"bfi", PTX_BFI, "tttuu", "", "b32 b64"},
    {"bfind", PTX_BFIND, "ut", "shiftamt", "u32 s32 u64 s64"},
    {"clz", PTX_CLZ, "ut", "", "b32 b64"},
    {"popc", PTX_POPC, "ut", "", "b32 b64"},
    {"szext", PTX_SZEXT, "ttu", "clamp wrap", "u32 s32"},
    {"bmsk", PTX_BMSK, "ttt", "clamp wrap", "b32"},
    {"fns", PTX_FNS, "tttt", "", "b32"},
    {"selp", PTX_SELP, "tttp", "", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"},
};

static bool compile_irregular(struct compiler *c)
{
    const struct irregular *r = irregulars,
                           *end = r + sizeof irregulars / sizeof *irregulars;
    while (r < end && strcmp(r->name, c->instruction->name) != 0) r++;
    if (r == end) return false;
    const uint64_t flags = take_flags(c, r->modifiers, NULL);
    const enum ptx_type type = need_type(c, r->types);
    const int count = (int)strlen(r->operands);
    need_operands(c, count == 2   ? "d, a"
                     : count == 3 ? "d, a, b"
                     : count == 4 ? "d, a, b, c"
                                  : "d, a, b, c, e");
    const char *text[5] = {"", "0", "0", "0", "0"};
    enum ptx_type of[5] = {0};
    for (int k = 0; k < count; k++) {
        of[k] = r->operands[k] == 'u' ? PTX_U32 : r->operands[k] == 'p' ? PTX_PRED : type;
        if (k > 0) text[k] = operand(c, k, of[k]);
    }
    result(c, of[0],
           alu_call(flags | PTX_CODE(r->op, type, 0, 0, 0), text[1], text[2], text[3],
                    text[4]));
    return true;
}

static void compile_lop3(struct compiler *c)
{
    /* lop3.b32 d, a, b, c, table; and lop3.or.b32 d|p, a, b, c, table, q */
    const char *boolean = take_one_of(c, "and or");
    need_one_of(c, "b32");
    need_operands(c, boolean ? "d|p, a, b, c, table, q" : "d, a, b, c, table");
    const struct value *to = c->instruction->operand[0];
    emit(c, " { const uint64_t emu_value = %s;",
         alu_call(PTX_CODE(PTX_LOP3, PTX_B32, 0, 0, 0), operand(c, 1, PTX_B32),
                  operand(c, 2, PTX_B32), operand(c, 3, PTX_B32),
                  operand(c, 4, PTX_B32)));
    if (boolean) {
        if (!to->second) refuse(c, to, " has two results: d|p");
        assign(c, to->second, PTX_PRED,
               format("(emu_value != 0) %c %s", *boolean == 'a' ? '&' : '|',
                      operand(c, 5, PTX_PRED)));
    }
    assign(c, to, PTX_B32, "emu_value");
    emit(c, " }");
}

static void compile_prmt(struct compiler *c)
{
    need_one_of(c, "b32");
    const int mode = take_index(c, "f4e b4e rc8 ecl ecr rc16") + 1;
    need_operands(c, "d, a, b, c");
    result(c, PTX_B32,
           alu_call(PTX_CODE(PTX_PRMT, PTX_B32, 0, 0, mode), operand(c, 1, PTX_B32),
                    operand(c, 2, PTX_B32), operand(c, 3, PTX_B32), "0"));
}

static void compile_dot_product(struct compiler *c)
{
    const bool four = strcmp(c->instruction->name, "dp4a") == 0;
    const char *half = four ? NULL : take_one_of(c, "lo hi");
    if (!four && !half) unknown(c);
    const enum ptx_type a = need_type(c, "u32 s32"), b = need_type(c, "u32 s32");
    need_operands(c, "d, a, b, c");
    const enum ptx_type sum = a == PTX_S32 ? a : b;
    result(c, sum,
           alu_call(PTX_CODE(four ? PTX_DP4A : PTX_DP2A, a, b, 0, 0) |
                        (half && *half == 'h' ? PTX_HIGH_HALF : 0),
                    operand(c, 1, PTX_B32), operand(c, 2, PTX_B32), operand(c, 3, sum),
                    "0"));
}

/* Of numbers of 24 bits: the low or the high 32 of the product's 48. */
static void compile_mul24(struct compiler *c)
{
    const bool adds = c->instruction->name[1] == 'a';
    const char *half = take_one_of(c, "lo hi");
    if (!half) refuse(c, NULL, " needs .lo or .hi");
    const bool saturate = adds && *half == 'h' && take(c, "sat");
    const enum ptx_type type = need_type(c, saturate ? "s32" : "u32 s32");
    need_operands(c, adds ? "d, a, b, c" : "d, a, b");
    const char *product =
        format("::emu::mul24<%s>(%s, %s) >> %d", type == PTX_S32 ? "true" : "false",
               operand(c, 1, type), operand(c, 2, type), *half == 'h' ? 16 : 0);
    result(c, type,
           adds ? alu_call(PTX_CODE(PTX_ADD, type, 0, 0, 0) | (saturate ? PTX_SAT : 0),
                           format("(uint32_t)(%s)", product), operand(c, 3, type), "0",
                           "0")
                : format("(uint32_t)(%s)", product));
}

/* vadd4.s32.s32.u32.sat d, a, b, c; and its like. Without .add, c is what d's bytes are
 * where a mask leaves them out; masks and chosen bytes are not known here. */
static void compile_video(struct compiler *c)
{
    const char *name = c->instruction->name;
    const size_t last = strlen(name) - 1;
    const int op = name[2] == 'v'         ? 'v'
                   : strstr(name, "diff") ? 'd'
                   : name[2] == 'i'       ? 'n'
                   : name[1] == 'm'       ? 'x'
                                          : name[1];
    const enum ptx_type to = need_type(c, "u32 s32"), a = need_type(c, "u32 s32"),
                        b = need_type(c, "u32 s32");
    const bool add_up = take(c, "add"), saturate = !add_up && take(c, "sat");
    need_operands(c, "d, a, b, c");
    result(c, to,
           format("::emu_ptx_video('%c', %d, %d, %d, %d, %s, %s, %s)", op,
                  name[last] == '4' ? 8 : 16,
                  (a == PTX_S32) + 2 * (b == PTX_S32) + 4 * (to == PTX_S32), saturate,
                  add_up, operand(c, 1, PTX_B32), operand(c, 2, PTX_B32),
                  operand(c, 3, to)));
}

static uint64_t need_comparison(struct compiler *c)
{
    const int n =
        need_index(c, "eq ne lt le gt ge equ neu ltu leu gtu geu num nan lo ls hi hs");
    static const int unsigned_names[] = {PTX_LT, PTX_LE, PTX_GT, PTX_GE};
    uint64_t code = PTX_CODE(0, 0, 0, 0, n < 14 ? n : unsigned_names[n - 14]);
    code |= (uint64_t)(take_index(c, "and or xor") + 1) << PTX_BOOL_SHIFT;
    if (take(c, "ftz")) code |= PTX_FTZ;
    return code;
}

/* The type of what is compared, which must have that comparison. */
static enum ptx_type need_compared(struct compiler *c)
{
    const enum ptx_type type = need_type(c, "b16 b32 b64 " INTEGERS HALVES "f32 f64");
    const char *how = c->instruction->modifier[0];
    const enum ptx_kind kind = ptx_types[type].kind;
    if (!is_one_of(how, kind == PTX_BITS       ? "eq ne"
                        : kind == PTX_SIGNED   ? "eq ne lt le gt ge"
                        : kind == PTX_UNSIGNED ? "eq ne lt le gt ge lo ls hi hs"
                                               : "eq ne lt le gt ge equ neu ltu leu gtu "
                                                 "geu num nan"))
        refuse(c, NULL, ": there is no .%s of .%s", how, ptx_types[type].text);
    return type;
}

static void compile_setp(struct compiler *c)
{
    uint64_t code = need_comparison(c);
    const enum ptx_type type = need_compared(c);
    const bool boolean = PTX_BOOL_OF(code) != PTX_BOOL_NONE;
    const struct value *to = c->instruction->operand[0];
    need_operands(c, boolean ? "p, a, b, q" : "p, a, b");
    const bool pair = ptx_types[type].kind == PTX_PACKED;
    code |= PTX_CODE(PTX_SETP, type, 0, 0, 0);
    const char *a = operand(c, 1, type), *b = operand(c, 2, type),
               *with = boolean ? operand(c, 3, PTX_PRED) : "0";
    if (!to->second) {
        assign(c, to, PTX_PRED, alu_call(code, a, b, with, "0"));
        return;
    }
    emit(c, " { const uint64_t emu_first = %s;", alu_call(code, a, b, with, "0"));
    assign(c, to->second, PTX_PRED,
           alu_call(code | (pair ? PTX_HIGH_HALF : PTX_COMPLEMENT), a, b, with, "0"));
    assign(c, to, PTX_PRED, "emu_first");
    emit(c, " }");
}

static void compile_set(struct compiler *c)
{
    const uint64_t code = need_comparison(c);
    const enum ptx_type to = need_type(c, "u16 s16 u32 s32 f32 " HALVES),
                        from = need_compared(c);
    const bool boolean = PTX_BOOL_OF(code) != PTX_BOOL_NONE;
    need_operands(c, boolean ? "d, a, b, q" : "d, a, b");
    result(c, to,
           alu_call(code | PTX_CODE(PTX_SET, to, from, 0, 0), operand(c, 1, from),
                    operand(c, 2, from), boolean ? operand(c, 3, PTX_PRED) : "0", "0"));
}

static void compile_slct(struct compiler *c)
{
    const uint64_t flags = take_flags(c, "ftz", NULL);
    const enum ptx_type type = need_type(c, "b16 b32 b64 " INTEGERS "f32 f64"),
                        by = need_type(c, "s32 f32");
    need_operands(c, "d, a, b, c");
    result(c, type,
           alu_call(flags | PTX_CODE(PTX_SLCT, type, by, 0, 0), operand(c, 1, type),
                    operand(c, 2, type), operand(c, 3, by), "0"));
}

static void compile_testp(struct compiler *c)
{
    const int property =
        need_index(c, "finite infinite number notanumber normal subnormal");
    const enum ptx_type type = need_type(c, "f32 f64");
    need_operands(c, "p, a");
    result(c, PTX_PRED,
           alu_call(PTX_CODE(PTX_TESTP, type, 0, 0, property), operand(c, 1, type), "0",
                    "0", "0"));
}

#define CVT_TYPES "u8 s8 b16 " INTEGERS "f16 bf16 f32 f64 "

static void compile_cvt(struct compiler *c)
{
    if (take(c, "pack")) {
        need_one_of(c, "sat");
        const enum ptx_type to = need_type(c, "u16 s16 u8 s8"),
                            from = need_type(c, "s32");
        const bool three = take(c, "b32");
        need_operands(c, three ? "d, a, b, c" : "d, a, b");
        result(c, PTX_U32,
               alu_call(PTX_CODE(PTX_CVT_PACK, to, from, 0, 0), operand(c, 1, from),
                        operand(c, 2, from), three ? operand(c, 3, PTX_B32) : "0", "0"));
        return;
    }
    bool rounding;
    uint64_t code =
        take_flags(c, ROUNDINGS "rna rni rzi rmi rpi ftz sat satfinite relu", &rounding);
    const enum ptx_type to = need_type(c, CVT_TYPES "tf32 f16x2 bf16x2 e4m3x2 e5m2x2"),
                        from = need_type(c, CVT_TYPES "f16x2 bf16x2 e4m3x2 e5m2x2");
    end_of_modifiers(c);
    const bool pair = ptx_types[to].kind == PTX_PACKED && to != PTX_TF32,
               from_pair = ptx_types[from].kind == PTX_PACKED;
    if (from_pair && !pair) unknown(c);
    const bool floats = ptx_types[from].kind == PTX_FLOAT,
               to_float = ptx_types[to].kind == PTX_FLOAT || to == PTX_TF32;
    const bool widens =
        floats && to_float && to != PTX_TF32 && ptx_types[to].bits > ptx_types[from].bits;
    const bool same = floats && to == from;
    if (!rounding && (floats || to_float || pair) && !widens && !same)
        refuse(c, NULL, " needs a rounding, such as .rn%s",
               floats && !to_float ? "i" : "");
    /* To integers: of that kind, or of a number of the same type. */
    const bool whole = PTX_ROUNDING_OF(code) >= PTX_RNI;
    if (rounding && (floats && (same || (!to_float && !pair)) ? !whole
                     : !floats && !to_float && !pair          ? true
                     : widens                                 ? whole || from != PTX_BF16
                                                              : whole))
        refuse(c, NULL, ": this rounding is not for these types");
    if ((to == PTX_E4M3X2 || to == PTX_E5M2X2) && !(code & PTX_SATFINITE))
        refuse(c, NULL, " needs .satfinite");
    code |= PTX_CODE(PTX_CVT, to, from, 0, 0);
    if (pair && !from_pair) {
        need_operands(c, "d, a, b");
        result(c, to, alu_call(code, operand(c, 1, from), operand(c, 2, from), "0", "0"));
        return;
    }
    need_operands(c, "d, a");
    const char *value = alu_call(
        code, source_as(c, c->instruction->operand[1], from, !from_pair), "0", "0", "0");
    /* A narrow result fills its wider register by its sign. */
    const struct value *target = c->instruction->operand[0];
    const unsigned width =
        target->form == REGISTER ? ptx_types[c->regs[target->reg].type].bits : 0;
    if (ptx_types[to].kind == PTX_SIGNED && width > ptx_types[to].bits)
        value = alu_call(PTX_CODE(PTX_CVT,
                                  width == 64   ? PTX_U64
                                  : width == 32 ? PTX_U32
                                                : PTX_U16,
                                  to, 0, 0),
                         value, "0", "0", "0");
    assign_as(c, target, to, !pair, value);
}

/* mov moves a register, a constant or a special register; or it takes a register apart
 * into a vector, or puts one together. */
static void compile_mov(struct compiler *c)
{
    const enum ptx_type type =
        need_type(c, "pred b16 b32 b64 " INTEGERS "f16 f16x2 bf16 bf16x2 f32 f64");
    need_operands(c, "d, a");
    const struct value *to = c->instruction->operand[0],
                       *from = c->instruction->operand[1];
    const unsigned bits = ptx_types[type].bits;
    if (to->form == VECTOR || from->form == VECTOR) {
        const struct value *parts = to->form == VECTOR ? to : from;
        const int n = parts->count;
        const unsigned each = n ? bits / (unsigned)n : 0;
        if (ptx_types[type].kind != PTX_BITS || (n != 2 && n != 4) ||
            (to->form == VECTOR && from->form == VECTOR) || each < 8)
            refuse(c, NULL,
                   " moves between one register and a vector of 2 or 4 that is as "
                   "wide");
        const enum ptx_type part = each == 32 ? PTX_B32 : each == 16 ? PTX_B16 : PTX_B8;
        if (to->form == VECTOR) {
            emit(c, " { const uint64_t emu_whole = %s;", source(c, from, type));
            for (int i = 0; i < n; i++)
                if (to->element[i]->form != SINK)
                    assign(c, to->element[i], part,
                           format("emu_whole >> %u & " HEX, each * (unsigned)i,
                                  cut(~0ull, each)));
            emit(c, " }");
        } else {
            const char *whole = "0";
            for (int i = 0; i < n; i++)
                whole = format("%s | %s << %u", whole, source(c, from->element[i], part),
                               each * (unsigned)i);
            assign(c, to, type, whole);
        }
        return;
    }
    assign(c, to, type, source(c, from, type));
}

/* ---- memory ---- */

#define LEVELS                                                                           \
    "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last "               \
    "L1::no_allocate L2::evict_normal L2::evict_first L2::evict_last L2::64B L2::128B "  \
    "L2::256B "

static enum ptx_space take_space(struct compiler *c, const char *allowed)
{
    const char *word = take_one_of(c, allowed);
    if (!word) return PTX_GENERIC;
    if (strcmp(word, "global") == 0) return PTX_GLOBAL;
    if (strcmp(word, "shared::cluster") == 0) return PTX_CLUSTER;
    if (strncmp(word, "shared", 6) == 0) return PTX_SHARED;
    if (strcmp(word, "const") == 0) return PTX_CONST;
    if (strncmp(word, "param", 5) == 0) return PTX_PARAM;
    return PTX_LOCAL;
}

#define SHARED_SPACES "shared shared::cta shared::cluster "

/* How an access orders others, which the checker wants to know: the flags of its code,
 * and whether a fence belongs before it (release) or behind it (acquire). */
struct order {
    uint64_t flags;
    bool before, behind;
    int for_all; /* the fence: not only for the block */
};

static struct order take_order(struct compiler *c)
{
    const char *how =
        take_one_of(c, "weak volatile relaxed acquire release acq_rel mmio");
    struct order order = {0};
    if (!how || strcmp(how, "weak") == 0) return order;
    order.for_all = take_index(c, "cta cluster gpu sys") != 0;
    order.flags = PTX_STRONG | (order.for_all ? 0 : PTX_IN_BLOCK);
    order.before = is_one_of(how, "release acq_rel");
    order.behind = is_one_of(how, "acquire acq_rel");
    return order;
}

static void fence(struct compiler *c, bool wanted, const struct order *order)
{
    if (wanted) emit(c, " ::emu_fence(%d);", order->for_all);
}

/* Hints to the caches; returns whether a policy is among the operands. */
static bool take_hints(struct compiler *c)
{
    bool policy = false;
    for (;;) {
        if (take(c, "L2::cache_hint"))
            policy = true;
        else if (!take(c, LEVELS))
            return policy;
    }
}

static int take_vector(struct compiler *c)
{
    return take(c, "v2") ? 2 : take(c, "v4") ? 4 : take(c, "v8") ? 8 : 1;
}

/* The bytes of an access. */
static unsigned access_bytes(struct compiler *c, enum ptx_type type, int count,
                             unsigned most)
{
    const unsigned bytes = ptx_types[type].bits / 8 * (unsigned)count;
    if (bytes > most) refuse(c, NULL, " is longer than any access");
    return bytes;
}

#define MEMORY_TYPES "b8 u8 s8 b16 u16 s16 b32 u32 s32 b64 u64 s64 f32 f64 "

static const struct value *element_of(struct compiler *c, int i, int count, int k)
{
    const struct value *v = c->instruction->operand[i];
    if (count == 1) return v;
    need_elements(c, i, count, "a vector");
    return v->element[k];
}

static void compile_load(struct compiler *c)
{
    const struct order order = take_order(c);
    const enum ptx_space space =
        take_space(c, "global const local param param::entry " SHARED_SPACES);
    bool unguarded = take(c, "nc");
    if (!unguarded) take(c, "ca cg cs lu cv");
    bool policy = take_hints(c);
    if (!unguarded && take(c, "nc")) {
        unguarded = true;
        policy |= take_hints(c);
    }
    const int count = take_vector(c);
    const enum ptx_type type = need_type(c, MEMORY_TYPES);
    need_operands_and(c, policy, "d, [a]");
    const uint64_t code = PTX_CODE(0, type, 0, 0, space) | order.flags;
    const unsigned bytes = access_bytes(c, type, count, 32);
    emit(c, " { const void *emu_p = ::emu_ptx_reads(" HEX ", %s, %u);", code,
         address(c, 1, 0), bytes);
    if (unguarded) emit(c, " ::emu_need_unwritten(emu_p, %u, \"ld.global.nc\");", bytes);
    /* All is read before anything is written: the address may be among the results. */
    for (int k = 0; k < count; k++) {
        const struct value *to = element_of(c, 0, count, k);
        if (to->form == SINK) continue;
        /* A narrow number fills its wider register by its sign. */
        unsigned width = 64;
        if (to->form == REGISTER) width = ptx_types[c->regs[to->reg].type].bits;
        assign_as(c, to, type, true,
                  format("::emu_ptx_peek(" HEX ", emu_p, %d)%s", code, k,
                         width == 32 && ptx_types[type].kind == PTX_SIGNED
                             ? " & 0xffffffff"
                         : width == 16 && ptx_types[type].kind == PTX_SIGNED ? " & 0xffff"
                                                                             : ""));
    }
    emit(c, " }");
    fence(c, order.behind, &order);
}

static void compile_store_async(struct compiler *c, bool reduces);

static void compile_store(struct compiler *c)
{
    if (take(c, "async")) {
        compile_store_async(c, false);
        return;
    }
    const struct order order = take_order(c);
    const enum ptx_space space = take_space(c, "global local param " SHARED_SPACES);
    take(c, "wb cg cs wt");
    const bool policy = take_hints(c);
    const int count = take_vector(c);
    const enum ptx_type type = need_type(c, MEMORY_TYPES);
    need_operands_and(c, policy, "[a], b");
    const uint64_t code = PTX_CODE(0, type, 0, 0, space) | order.flags;
    fence(c, order.before, &order);
    emit(c, " { void *emu_p = ::emu_ptx_writes(" HEX ", %s, %u);", code, address(c, 0, 0),
         access_bytes(c, type, count, 32));
    for (int k = 0; k < count; k++)
        emit(c, " ::emu_ptx_poke(" HEX ", emu_p, %d, %s);", code, k,
             source_as(c, element_of(c, 1, count, k), type, true));
    emit(c, " }");
}

/* The sum of halves says that it keeps subnormal numbers, and no other does. */
static void need_noftz(struct compiler *c, enum ptx_op op, enum ptx_type type, bool noftz)
{
    const bool half = is_one_of(ptx_types[type].text, HALVES);
    if (noftz && !half) refuse(c, NULL, ": .noftz is for .f16 and .bf16");
    if (half && op == PTX_ADD && !noftz) refuse(c, NULL, " needs .noftz");
}

/* atom and red; the second has no result. */
static void compile_atomic(struct compiler *c)
{
    static const struct {
        const char *name, *types;
        enum ptx_op op;
        const char *vectors; /* their types */
    } operations[] = {{"add", "u32 s32 u64 " HALVES "f32 f64", PTX_ADD, HALVES "f32"},
                      {"min", "u32 s32 u64 s64", PTX_MIN, HALVES},
                      {"max", "u32 s32 u64 s64", PTX_MAX, HALVES},
                      {"and", "b32 b64", PTX_AND, ""},
                      {"or", "b32 b64", PTX_OR, ""},
                      {"xor", "b32 b64", PTX_XOR, ""},
                      {"exch", "b32 b64", PTX_EXCH, ""},
                      {"cas", "b16 b32 b64", PTX_CAS, ""},
                      {"inc", "u32", PTX_INC, ""},
                      {"dec", "u32", PTX_DEC, ""}};
    const bool gives = strcmp(c->instruction->name, "atom") == 0;
    if (!gives && take(c, "async")) {
        compile_store_async(c, true);
        return;
    }
    struct order order = take_order(c);
    if (!order.flags) { /* relaxed, if nothing is said; the scope may stand alone */
        if (take_index(c, "cta cluster gpu sys") == 0) order.flags = PTX_IN_BLOCK;
    }
    const enum ptx_space space = take_space(c, "global " SHARED_SPACES);
    int count = take_vector(c);
    /* With a vector the type may also stand before the operation: v2.f32.add. */
    const char *early = count > 1 ? take_one_of(c, "f16 f16x2 bf16 bf16x2 f32") : NULL;
    const char *name = need_one_of(c, gives ? "add min max and or xor exch cas inc dec"
                                            : "add min max and or xor inc dec");
    size_t o = 0;
    while (strcmp(operations[o].name, name) != 0) o++;
    const bool noftz = take(c, "noftz");
    const bool policy = take_hints(c);
    if (count == 1) count = take_vector(c);
    const char *types = count > 1 ? operations[o].vectors : operations[o].types;
    if (early && !is_one_of(early, types))
        refuse(c, NULL, ": there is no .%s of .%s", name, early);
    const enum ptx_type type = early ? type_named(early) : need_type(c, types);
    end_of_modifiers(c);
    if (noftz && operations[o].op > PTX_MAX) unknown(c);
    need_noftz(c, operations[o].op, type, noftz);
    if (count > 1 && (ptx_types[type].bits * (unsigned)count > 128 ||
                      (space != PTX_GENERIC && space != PTX_GLOBAL)))
        refuse(c, NULL, ": vectors are of 128 bits at most, in global memory");
    const bool swap = operations[o].op == PTX_CAS;
    need_operands_and(c, policy, swap ? "d, [a], b, c" : gives ? "d, [a], b" : "[a], b");
    const int at = gives ? 1 : 0;
    const uint64_t code =
        PTX_CODE(operations[o].op, type, 0, 0, space) | (order.flags & PTX_IN_BLOCK);
    fence(c, order.before, &order);
    emit(c, " { void *emu_p = ::emu_ptx_updates(" HEX ", %s, %u);", code,
         address(c, at, 0), ptx_types[type].bits / 8 * (unsigned)count);
    for (int k = 0; k < count; k++) {
        const char *call = format("::emu_ptx_update(" HEX ", emu_p, %d, %s, %s)", code, k,
                                  source(c, element_of(c, at + 1, count, k), type),
                                  swap ? operand(c, at + 2, type) : "0");
        if (gives)
            assign(c, element_of(c, 0, count, k), type, call);
        else
            emit(c, " %s;", call);
    }
    emit(c, " }");
    fence(c, order.behind, &order);
}

static void compile_cvta(struct compiler *c)
{
    const bool to = take(c, "to");
    const enum ptx_space space =
        take_space(c, "global const local param param::entry " SHARED_SPACES);
    if (space == PTX_GENERIC) unknown(c);
    const enum ptx_type type = need_type(c, "u32 u64");
    need_operands(c, "d, a");
    result(c, type,
           format("::emu_ptx_%s_generic(" HEX ", %s)", to ? "from" : "to",
                  PTX_CODE(0, type, 0, 0, space), operand(c, 1, type)));
}

static void compile_isspacep(struct compiler *c)
{
    const enum ptx_space space =
        take_space(c, "global const local param param::entry " SHARED_SPACES);
    if (space == PTX_GENERIC) unknown(c);
    need_operands(c, "p, a");
    result(c, PTX_PRED,
           format("::emu_ptx_is_space(" HEX ", %s)", PTX_CODE(0, PTX_B64, 0, 0, space),
                  operand(c, 1, PTX_B64)));
}

/* What the copy engine reduces by, `in_shared` memory or in global memory, into which
 * tensors come, too: they bring their type. */
static uint64_t need_reduction(struct compiler *c, bool in_shared, bool tensor)
{
    static const struct {
        const char *name;
        enum ptx_op op;
        const char *in_shared, *in_global;
    } reductions[] = {
        {"add", PTX_ADD, "u32 s32 u64", "u32 s32 u64 f32 f64 f16 bf16"},
        {"min", PTX_MIN, "u32 s32", "u32 s32 u64 s64 f16 bf16"},
        {"max", PTX_MAX, "u32 s32", "u32 s32 u64 s64 f16 bf16"},
        {"inc", PTX_INC, "u32", "u32"},
        {"dec", PTX_DEC, "u32", "u32"},
        {"and", PTX_AND, "b32", "b32 b64"},
        {"or", PTX_OR, "b32", "b32 b64"},
        {"xor", PTX_XOR, "b32", "b32 b64"},
    };
    const char *name = need_one_of(c, "add min max inc dec and or xor");
    size_t r = 0;
    while (strcmp(reductions[r].name, name) != 0) r++;
    if (tensor) return PTX_CODE(reductions[r].op, 0, 0, 0, 0);
    const bool noftz = !in_shared && reductions[r].op == PTX_ADD && take(c, "noftz");
    const enum ptx_type type =
        need_type(c, in_shared ? reductions[r].in_shared : reductions[r].in_global);
    need_noftz(c, reductions[r].op, type, noftz);
    return PTX_CODE(reductions[r].op, type, 0, 0, 0);
}

/* mapa and getctarank. */
static void compile_map(struct compiler *c)
{
    const bool map = c->instruction->name[0] == 'm';
    const enum ptx_space space = take_space(c, "shared::cluster");
    const enum ptx_type type = need_type(c, "u32 u64");
    need_operands(c, map ? "d, a, block" : "d, a");
    const uint64_t code = PTX_CODE(0, type, 0, 0, space);
    if (map)
        result(c, type,
               format("::emu_ptx_map_to_block(" HEX ", %s, %s)", code,
                      operand(c, 1, type), operand(c, 2, PTX_U32)));
    else
        result(c, PTX_U32,
               format("::emu_ptx_block_of(" HEX ", %s)", code,
                      source_as(c, c->instruction->operand[1], PTX_B32, true)));
}

/* st.async and red.async, from behind `async` on. */
static void compile_store_async(struct compiler *c, bool reduces)
{
    take(c, "weak relaxed");
    take(c, "cluster");
    if (!take(c, "shared::cluster")) take(c, "shared");
    need_one_of(c, "mbarrier::complete_tx::bytes");
    uint64_t code = PTX_CODE(0, 0, 0, 0, PTX_CLUSTER);
    if (reduces) code |= need_reduction(c, true, false);
    const int count = reduces ? 1 : take_vector(c);
    const enum ptx_type type =
        reduces ? PTX_TYPE_OF(code) : need_type(c, "b32 b64 u32 u64 s32 s64 f32 f64");
    need_operands(c, "[to], value, [barrier]");
    emit(c, " ::emu_ptx_store_async(" HEX ", %s, %s, %uu",
         reduces ? code : code | PTX_CODE(0, type, 0, 0, 0), address(c, 0, 0),
         address(c, 2, 0), access_bytes(c, type, count, 16));
    for (int k = 0; k < count; k++)
        emit(c, ", %s", source(c, element_of(c, 1, count, k), type));
    emit(c, ");");
}

/* Those that only advise the caches, or order what is in order here: all that may stand
 * behind the name, and how many operands there are. These are still looked at, and who
 * waits for a kernel is noted. */
static void compile_nothing(struct compiler *c)
{
    static const struct {
        const char *name, *forms;
        int operands;
    } known[] = {
        {"griddepcontrol", "wait launch_dependents", 0},
        {"nanosleep", "u32", 1},
        {"prefetch",
         "L1 L2 global.L1 global.L2 local.L1 local.L2 global.L2::evict_last "
         "global.L2::evict_normal L2::evict_last L2::evict_normal tensormap "
         "const.tensormap param.tensormap",
         1},
        {"prefetchu", "L1", 1},
        {"applypriority", "global.L2::evict_normal L2::evict_normal", 2},
        {"discard", "global.L2 L2", 2},
    };
    struct instruction *in = c->instruction;
    size_t k = 0;
    while (strcmp(known[k].name, in->name) != 0) k++;
    const char *form = in->modifiers ? in->text + strlen(in->name) + 1 : "";
    if (!is_one_of(form, known[k].forms)) unknown(c);
    in->taken = in->modifiers;
    need_operands(c, known[k].operands == 0   ? "(none)"
                     : known[k].operands == 2 ? "[a], size"
                     : *in->name == 'n'       ? "t"
                                              : "[a]");
    if (*in->name == 'n') (void)operand(c, 0, PTX_U32);
    if (*in->name != 'n' && in->operands) (void)address(c, 0, 0);
    if (in->operands == 2) (void)constant(c, 1);
    if (strcmp(form, "wait") == 0) emit(c, " ::emu_wait_for_launch_ahead();");
}

/* createpolicy: a policy for caches that are not there. */
static void compile_createpolicy(struct compiler *c)
{
    const char *how = need_one_of(c, "fractional range cvt");
    if (*how == 'c') {
        need_one_of(c, "L2");
    } else {
        if (*how == 'r') take(c, "global");
        need_one_of(c, "L2::evict_last L2::evict_normal L2::evict_first "
                       "L2::evict_unchanged");
        take(c, "L2::evict_first L2::evict_unchanged");
    }
    need_one_of(c, "b64");
    need_operands(c, *how == 'f'   ? "policy{, fraction}"
                     : *how == 'r' ? "policy, [a], size, size"
                                   : "policy, a");
    result(c, PTX_B64, "0");
}

/* ---- mbarriers ---- */

/* `.release.cta` and the like; then the space of the barrier, as a code. */
static uint64_t take_barrier_space(struct compiler *c)
{
    take(c, "release acquire relaxed");
    take(c, "cta cluster");
    const enum ptx_space space = take_space(c, SHARED_SPACES);
    return PTX_CODE(0, 0, 0, 0, space);
}

/* An optional count behind the address, 1 without. */
static const char *count_at(struct compiler *c, int i)
{
    return c->instruction->operands > i ? operand(c, i, PTX_B32) : "1";
}

static void compile_mbarrier_arrive(struct compiler *c, bool drop)
{
    const bool bytes = take(c, "expect_tx");
    const bool no_complete = take(c, "noComplete");
    const uint64_t code = take_barrier_space(c);
    need_one_of(c, "b64");
    /* The state may be left out of an arrival at another block's barrier. */
    const int at =
        c->instruction->operands > 0 && c->instruction->operand[0]->form == ADDRESS ? 0
                                                                                    : 1;
    need_operands(c, format("%s[barrier]%s", at ? "state, " : "",
                            bytes         ? ", bytes"
                            : no_complete ? ", count"
                                          : "{, count}"));
    const char *call = format("::emu_ptx_mbarrier_arrive(" HEX ", %d, %s, %s, %s)", code,
                              (drop ? 1 : 0) | (bytes ? 2 : 0), address(c, at, 0),
                              bytes ? "1" : count_at(c, at + 1),
                              bytes ? operand(c, at + 1, PTX_B32) : "0");
    if (at)
        result(c, PTX_B64, call);
    else
        emit(c, " %s;", call);
}

static void compile_mbarrier_wait(struct compiler *c)
{
    const bool parity = take(c, "parity");
    const uint64_t code = take_barrier_space(c);
    need_one_of(c, "b64");
    need_operands(c, parity ? "p, [barrier], parity{, time}"
                            : "p, [barrier], state{, time}");
    result(c, PTX_PRED,
           format("::emu_ptx_mbarrier_test(" HEX ", %d, %s, %s)", code, parity,
                  address(c, 1, 0), operand(c, 2, parity ? PTX_B32 : PTX_B64)));
    if (c->instruction->operands == 4) (void)operand(c, 3, PTX_B32); /* a time */
}

static void compile_mbarrier(struct compiler *c)
{
    const char *what =
        need_one_of(c, "init inval arrive arrive_drop expect_tx complete_tx "
                       "test_wait try_wait pending_count");
    if (strcmp(what, "arrive") == 0 || strcmp(what, "arrive_drop") == 0) {
        compile_mbarrier_arrive(c, what[6] != '\0');
        return;
    }
    if (strcmp(what, "test_wait") == 0 || strcmp(what, "try_wait") == 0) {
        compile_mbarrier_wait(c);
        return;
    }
    if (*what == 'p') {
        need_one_of(c, "b64");
        need_operands(c, "count, state");
        result(c, PTX_B32,
               format("::emu_ptx_mbarrier_pending(%s)", operand(c, 1, PTX_B64)));
        return;
    }
    const uint64_t code = take_barrier_space(c);
    need_one_of(c, "b64");
    const bool inval = strcmp(what, "inval") == 0;
    need_operands(c, inval          ? "[barrier]"
                     : *what == 'i' ? "[barrier], count"
                                    : "[barrier], bytes");
    if (inval)
        emit(c, " ::emu_ptx_mbarrier_inval(" HEX ", %s);", code, address(c, 0, 0));
    else if (*what == 'i')
        emit(c, " ::emu_ptx_mbarrier_init(" HEX ", %s, %s);", code, address(c, 0, 0),
             operand(c, 1, PTX_B32));
    else
        emit(c, " ::emu_ptx_mbarrier_expect(" HEX ", %d, %s, %s);", code, *what == 'c',
             address(c, 0, 0), operand(c, 1, PTX_B32));
}

static void compile_fence(struct compiler *c)
{
    if (take(c, "mbarrier_init")) {
        need_each(c, "release cluster");
        emit(c, " ::emu_ptx_fence_mbarrier_init();");
    } else if (take(c, "proxy")) {
        if (take(c, "async")) {
            take(c, "global shared::cta shared::cluster");
            emit(c, " ::emu_ptx_fence_proxy();");
        } else if (take(c, "alias async::generic tensormap::generic")) {
            take(c, "release acquire");
            take(c, "sync_restrict::shared::cta sync_restrict::shared::cluster cta "
                    "cluster gpu sys");
            take(c, "cta cluster gpu sys");
        } else {
            unknown(c);
        }
    } else {
        /* membar.cta, membar.gl, membar.sys; fence.acq_rel.gpu and the like. */
        take(c, "sc acq_rel acquire release");
        take(c, "sync_restrict::shared::cta sync_restrict::shared::cluster");
        const char *scope = need_one_of(c, "cta cluster gpu sys gl");
        emit(c, " ::emu_fence(%d);", strcmp(scope, "cta") != 0);
    }
    end_of_modifiers(c);
}

/* ---- the copy engine ---- */

/* `[map, {x, y, ...}]` at operand i: what the call gets of it. */
static const char *coordinates_at(struct compiler *c, int i, int dimensions)
{
    const struct value *v = c->instruction->operand[i];
    if (v->form != ADDRESS || v->count < 1 || v->element[0]->form != VECTOR ||
        v->element[0]->count != dimensions)
        fail(
            c, v->place,
            "PTX: operand %d of `%s` is a tensor map and %d coordinates: [map, {x, ...}]",
            i + 1, c->instruction->text, dimensions);
    const char *text = "";
    for (int d = 0; d < 5; d++)
        text =
            format("%s, %s", text,
                   d < dimensions ? source(c, v->element[0]->element[d], PTX_B32) : "0");
    return text;
}

/* A prefetch into a cache that is not there. */
static void compile_bulk_prefetch(struct compiler *c, int dimensions)
{
    need_each(c, "L2 global");
    if (dimensions) take(c, "tile");
    const bool policy = take_hints(c);
    need_operands_and(c, policy, dimensions ? "[map, {x, ...}]" : "[a], size");
    if (dimensions)
        (void)coordinates_at(c, 0, dimensions);
    else
        (void)address(c, 0, 0), (void)operand(c, 1, PTX_B32);
}

/* cp.async.bulk and cp.reduce.async.bulk, from behind `bulk` on. */
static void compile_bulk(struct compiler *c, bool reduces)
{
    if (take(c, "commit_group")) {
        need_operands(c, "(none)");
        emit(c, " ::emu_ptx_bulk_commit();");
        return;
    }
    if (take(c, "wait_group")) {
        take(c, "read");
        need_operands(c, "n");
        emit(c, " ::emu_ptx_bulk_wait(%s);", constant(c, 0));
        return;
    }
    const bool prefetch = !reduces && take(c, "prefetch");
    int dimensions = 0;
    if (take(c, "tensor")) {
        const char *d = need_one_of(c, "1d 2d 3d 4d 5d");
        dimensions = *d - '0';
    }
    if (prefetch) {
        compile_bulk_prefetch(c, dimensions);
        return;
    }
    const char *to = need_one_of(c, "shared::cluster shared::cta global");
    const char *from = need_one_of(c, "global shared::cta");
    const bool load = *to == 's';
    uint64_t code =
        PTX_CODE(0, 0, 0, 0, strcmp(to, "shared::cluster") ? PTX_SHARED : PTX_CLUSTER);
    if (reduces && dimensions) code |= need_reduction(c, false, true);
    take(c, "tile");
    need_one_of(c, load ? "mbarrier::complete_tx::bytes" : "bulk_group");
    const bool multicast = take(c, "multicast::cluster");
    if (load && !multicast) take(c, "cta_group::1");
    const bool policy = take_hints(c);
    if (reduces && !dimensions) code |= need_reduction(c, load, false);
    end_of_modifiers(c);
    if (load && *from == 'g') {
        const char *list = dimensions ? "[to], [map, {x, ...}], [barrier]"
                                      : "[to], [from], bytes, [barrier]";
        need_operands_and(c, policy, multicast ? format("%s, blocks", list) : list);
        const char *mask = multicast ? operand(c, dimensions ? 3 : 4, PTX_B16) : "0";
        if (dimensions)
            emit(c, " ::emu_ptx_bulk_load_tensor(" HEX ", %d, %s, %s, %s, %s%s);", code,
                 dimensions, address(c, 0, 0), address(c, 1, 1), address(c, 2, 0), mask,
                 coordinates_at(c, 1, dimensions));
        else
            emit(c, " ::emu_ptx_bulk_load(" HEX ", %s, %s, %s, %s, %s);", code,
                 address(c, 0, 0), address(c, 1, 0), operand(c, 2, PTX_B32),
                 address(c, 3, 0), mask);
        return;
    }
    if (load) {
        need_operands(c, "[to], [from], bytes, [barrier]");
        emit(c, " ::emu_ptx_bulk_send(" HEX ", %s, %s, %s, %s);", code, address(c, 0, 0),
             address(c, 1, 0), operand(c, 2, PTX_B32), address(c, 3, 0));
        return;
    }
    need_operands_and(c, policy,
                      dimensions ? "[map, {x, ...}], [from]" : "[to], [from], bytes");
    if (dimensions)
        emit(c, " ::emu_ptx_bulk_store_tensor(" HEX ", %d, %s, %s%s);", code, dimensions,
             address(c, 0, 1), address(c, 1, 0), coordinates_at(c, 0, dimensions));
    else
        emit(c, " ::emu_ptx_bulk_store(" HEX ", %s, %s, %s);", code, address(c, 0, 0),
             address(c, 1, 0), operand(c, 2, PTX_B32));
}

/* ---- cp.async ---- */

static void compile_copy_async(struct compiler *c)
{
    if (take(c, "reduce")) {
        need_each(c, "async bulk");
        compile_bulk(c, true);
        return;
    }
    need_one_of(c, "async");
    if (take(c, "bulk")) {
        compile_bulk(c, false);
        return;
    }
    if (take(c, "mbarrier")) {
        need_one_of(c, "arrive");
        const bool no_increment = take(c, "noinc");
        const uint64_t code = PTX_CODE(0, 0, 0, 0, take_space(c, "shared shared::cta"));
        need_one_of(c, "b64");
        need_operands(c, "[barrier]");
        emit(c, " ::emu_ptx_copy_arrive(" HEX ", %d, %s);", code, no_increment,
             address(c, 0, 0));
        return;
    }
    if (take(c, "commit_group")) {
        need_operands(c, "(none)");
        emit(c, " ::emu_async_commit();");
        return;
    }
    if (take(c, "wait_all")) {
        need_operands(c, "(none)");
        emit(c, " ::emu_async_commit(); ::emu_async_wait(0);");
        return;
    }
    if (take(c, "wait_group")) {
        need_operands(c, "n");
        emit(c, " ::emu_async_wait(%s);", constant(c, 0));
        return;
    }
    const char *level = need_one_of(c, "ca cg");
    need_one_of(c, "shared shared::cta");
    need_one_of(c, "global");
    const bool policy = take_hints(c);
    need_operands_and(c, policy, "[to], [from], size{, source size}");
    const struct value *size = c->instruction->operand[2];
    uint64_t bytes = 0;
    if (size->form == INTEGER) {
        bytes = size->integer;
        if (bytes != 16 && (*(level + 1) == 'g' || (bytes != 4 && bytes != 8)))
            refuse(c, size, " copies %s bytes, not %llu",
                   level[1] == 'g' ? "16" : "4, 8 or 16", (unsigned long long)bytes);
    }
    const char *whole = constant(c, 2), *read = whole;
    if (c->instruction->operands - policy == 4) {
        const struct value *v = c->instruction->operand[3];
        if (v->form == REGISTER && c->regs[v->reg].type == PTX_PRED)
            read = format("(%s ? 0 : %s)", source(c, v, PTX_PRED), whole);
        else
            read = source(c, v, PTX_B32);
        if (v->form == INTEGER && bytes && v->integer > bytes)
            refuse(c, v, " reads %llu bytes of a source for a copy of %llu",
                   (unsigned long long)v->integer, (unsigned long long)bytes);
    }
    emit(c, " ::emu_ptx_copy_async(%s, %s, %s, %s);", address(c, 0, 0), address(c, 1, 0),
         whole, read);
}

/* ---- control, barriers, warps ---- */

static struct label *add_label(struct compiler *c, const char *name, int place)
{
    need_one_more(c->labels, c->label_count);
    struct label *l = &c->labels[c->label_count++];
    *l = (struct label){.number = c->label_count, .scope = c->scope, .place = place};
    snprintf(l->name, sizeof l->name, "%s", name);
    return l;
}

static struct label *label_named(struct compiler *c, const char *name, int place)
{
    for (int i = 0; i < c->label_count; i++)
        if (strcmp(c->labels[i].name, name) == 0 && is_visible(c, c->labels[i].scope))
            return &c->labels[i];
    return add_label(c, name, place);
}

static void compile_branch(struct compiler *c)
{
    take(c, "uni");
    need_operands(c, "label");
    const struct value *to = c->instruction->operand[0];
    if (to->form != LABEL) fail(c, to->place, "PTX: `bra` goes to a label");
    emit(c, " goto emu_label_%d_%d;", c->s->number,
         label_named(c, to->name, to->place)->number);
}

static void compile_barrier(struct compiler *c)
{
    const bool warp_barrier = take(c, "warp");
    if (warp_barrier) {
        need_one_of(c, "sync");
        need_operands(c, "mask");
        emit(c, " ::emu_warp_sync(%s);", operand(c, 0, PTX_B32));
        return;
    }
    if (take(c, "cluster")) {
        const char *what = need_one_of(c, "arrive wait");
        const bool relaxed = take(c, "relaxed");
        if (!relaxed) take(c, "release acquire");
        take(c, "aligned");
        need_operands(c, "(none)");
        if (*what == 'w')
            emit(c, " ::emu_cluster_barrier_wait();");
        else
            emit(c, " ::emu_ptx_cluster_arrive(%d);", !relaxed);
        return;
    }
    take(c, "cta");
    const char *what = need_one_of(c, "sync arrive red");
    if (*what != 'r') {
        take(c, "aligned");
        const bool arrive = *what == 'a';
        need_operands(c, arrive ? "barrier, threads" : "barrier{, threads}");
        emit(c, " ::emu_ptx_barrier(%d, %s, %s, 0);", arrive ? -1 : 0,
             operand(c, 0, PTX_B32),
             c->instruction->operands == 2 ? operand(c, 1, PTX_B32) : "0");
        return;
    }
    const int operation = 1 + need_index(c, "popc and or");
    take(c, "aligned");
    const enum ptx_type type = need_type(c, operation == 1 ? "u32" : "pred");
    need_operands(c, "d, barrier{, threads}, p");
    const int last = c->instruction->operands - 1;
    result(c, type,
           format("::emu_ptx_barrier(%d, %s, %s, %s)", operation, operand(c, 1, PTX_B32),
                  last == 3 ? operand(c, 2, PTX_B32) : "0", operand(c, last, PTX_PRED)));
}

static void compile_shuffle(struct compiler *c)
{
    need_one_of(c, "sync");
    const int mode = need_index(c, "up down bfly idx");
    need_one_of(c, "b32");
    need_operands(c, "d{|p}, a, b, c, mask");
    const struct value *to = c->instruction->operand[0];
    emit(c, " { const uint64_t emu_lane = ::emu_ptx_shuffle_lane(%d, %s, %s);", mode,
         operand(c, 2, PTX_B32), operand(c, 3, PTX_B32));
    emit(c, " const uint64_t emu_value = ::emu_ptx_shuffle(%d, %s, %s, emu_lane & 31);",
         mode, operand(c, 4, PTX_B32), operand(c, 1, PTX_B32));
    if (to->second) assign(c, to->second, PTX_PRED, "emu_lane >> 8");
    assign(c, to, PTX_B32, "emu_value");
    emit(c, " }");
}

static const char *vote_call(int vote, enum ptx_type type, const char *value,
                             const char *mask)
{
    return format("::emu_ptx_vote(" HEX ", %s, %s)", PTX_CODE(0, type, 0, 0, vote), value,
                  mask);
}

static void compile_vote(struct compiler *c)
{
    need_one_of(c, "sync");
    const int vote = PTX_ALL + need_index(c, "all any uni ballot");
    const enum ptx_type type = need_type(c, vote == PTX_BALLOT ? "b32" : "pred");
    need_operands(c, "d, p, mask");
    result(c, type,
           vote_call(vote, type, operand(c, 1, PTX_PRED), operand(c, 2, PTX_B32)));
}

static void compile_match(struct compiler *c)
{
    const int match = PTX_MATCH_ANY + need_index(c, "any all");
    need_one_of(c, "sync");
    const enum ptx_type type = need_type(c, "b32 b64");
    need_operands(c, "d{|p}, a, mask");
    const struct value *to = c->instruction->operand[0];
    emit(c, " { const uint64_t emu_lanes = %s;",
         vote_call(match, type, operand(c, 1, type), operand(c, 2, PTX_B32)));
    if (to->second) assign(c, to->second, PTX_PRED, "emu_lanes != 0");
    assign(c, to, PTX_B32, "emu_lanes");
    emit(c, " }");
}

static void compile_redux(struct compiler *c)
{
    need_one_of(c, "sync");
    const int operation = need_index(c, "add min max and or xor");
    const enum ptx_type type = need_type(c, operation < 3 ? "u32 s32" : "b32");
    need_operands(c, "d, a, mask");
    result(c, type,
           vote_call(PTX_REDUCE_ADD + operation, type, operand(c, 1, type),
                     operand(c, 2, PTX_B32)));
}

static void compile_elect(struct compiler *c)
{
    need_one_of(c, "sync");
    need_operands(c, "d|p, mask");
    const struct value *to = c->instruction->operand[0];
    if (!to->second) refuse(c, to, " has two results: d|p");
    emit(c, " { const uint64_t emu_lane = %s;",
         vote_call(PTX_ELECT, PTX_B32, "0", operand(c, 1, PTX_B32)));
    assign(c, to->second, PTX_PRED, "emu_lane >> 8");
    assign(c, to, PTX_B32, "emu_lane & 31");
    emit(c, " }");
}

static void compile_activemask(struct compiler *c)
{
    need_one_of(c, "b32");
    need_operands(c, "d");
    result(c, PTX_B32, "::emu_active_mask()");
}

static void compile_end(struct compiler *c)
{
    const char *name = c->instruction->name;
    need_operands(c, "(none)");
    if (strcmp(name, "exit") == 0)
        emit(c, " ::emu_ptx_exit();");
    else
        emit(c, " ::emu_ptx_trap(%s);", quote(name));
}

/* ---- matrices ---- */

static void compile_matrix_move(struct compiler *c)
{
    const bool load = strcmp(c->instruction->name, "ldmatrix") == 0;
    need_each(c, "sync aligned");
    /* Their order is free. */
    const char *number = NULL, *shape = NULL;
    bool transposed = false;
    for (const char *word; (word = take_one_of(c, "x1 x2 x4 m8n8 trans"));)
        if (*word == 'x')
            number = word;
        else if (*word == 'm')
            shape = word;
        else
            transposed = true;
    const enum ptx_space space = take_space(c, "shared shared::cta");
    if (take(c, "trans")) transposed = true;
    if (!number || !shape) unknown(c);
    need_one_of(c, "b16");
    need_operands(c, load ? "{r...}, [a]" : "[a], {r...}");
    const int count = number[1] - '0', registers = load ? 0 : 1;
    need_elements(c, registers, count, "a vector");
    const uint64_t code = PTX_CODE(0, PTX_B16, 0, 0, space) |
                          (uint64_t)count << PTX_MATRIX_COUNT |
                          (transposed ? PTX_TRANSPOSED : 0);
    if (load) {
        emit(c, " { uint64_t emu_d[%d]; ::emu_ptx_load_matrix(" HEX ", emu_d, %s);",
             count, code, address(c, 1, 0));
        assign_elements(c, count, PTX_B32);
        emit(c, " }");
        return;
    }
    emit(c, " ::emu_ptx_store_matrix(" HEX ", %s", code, address(c, 0, 0));
    emit_elements(c, 1, count, PTX_B32);
    emit(c, ");");
}

/* The shapes that mma has for a type of A and B. */
static const struct {
    const char *types; /* of A and B */
    const char *shape;
    const char *sums; /* types of C and D */
} mma_shapes[] = {
    {"f16", "m16n8k8", "f16 f32"},
    {"f16", "m16n8k16", "f16 f32"},
    {"bf16", "m16n8k8", "f32"},
    {"bf16", "m16n8k16", "f32"},
    {"tf32", "m16n8k4", "f32"},
    {"tf32", "m16n8k8", "f32"},
    {"e4m3 e5m2", "m16n8k16", "f16 f32"},
    {"e4m3 e5m2", "m16n8k32", "f16 f32"},
    {"f64", "m8n8k4", "f64"},
    {"f64", "m16n8k4", "f64"},
    {"f64", "m16n8k8", "f64"},
    {"f64", "m16n8k16", "f64"},
    {"s8 u8", "m8n8k16", "s32"},
    {"s8 u8", "m16n8k16", "s32"},
    {"s8 u8", "m16n8k32", "s32"},
    {"s4 u4", "m8n8k32", "s32"},
    {"s4 u4", "m16n8k32", "s32"},
    {"s4 u4", "m16n8k64", "s32"},
    {"b1", "m8n8k128", "s32"},
    {"b1", "m16n8k128", "s32"},
    {"b1", "m16n8k256", "s32"},
};

/* Registers of a fragment: rows x columns elements over 32 lanes, as many as fit in 32
 * bits together (fp32 and fp64: one each). */
static int fragment_registers(enum ptx_type type, unsigned elements_in_warp)
{
    const unsigned bits = ptx_types[type].bits, each = bits >= 32 ? 1 : 32 / bits;
    return (int)(elements_in_warp / 32 / each);
}

static void compile_mma(struct compiler *c)
{
    need_each(c, "sync aligned");
    const char *shape = need_one_of(c, "m8n8k4 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m8n8k16 "
                                       "m8n8k32 m16n8k64 m8n8k128 m16n8k128 m16n8k256");
    const char *a_order = take_one_of(c, "row col"), *b_order = take_one_of(c, "row col");
    if (!a_order || !b_order) unknown(c);
    if (strcmp(a_order, "row") != 0 || strcmp(b_order, "col") != 0)
        refuse(c, NULL, ": only .row.col exists");
    take(c, "kind::f8f6f4");
    uint64_t code = take(c, "satfinite") ? PTX_SATFINITE : 0;
    const enum ptx_type d = need_type(c, "f16 f32 f64 s32"),
                        a = need_type(c, "f16 bf16 tf32 e4m3 e5m2 f64 s8 u8 s4 u4 b1"),
                        b = need_type(c, "f16 bf16 tf32 e4m3 e5m2 f64 s8 u8 s4 u4 b1"),
                        sum = need_type(c, "f16 f32 f64 s32");
    if (a == PTX_B1) {
        const char *op = need_one_of(c, "xor and");
        need_one_of(c, "popc");
        if (*op == 'a') code |= PTX_BINARY_AND;
    }
    end_of_modifiers(c);
    bool exists = false;
    for (size_t i = 0; i < sizeof mma_shapes / sizeof *mma_shapes; i++)
        exists |= strcmp(mma_shapes[i].shape, shape) == 0 &&
                  is_one_of(ptx_types[a].text, mma_shapes[i].types) &&
                  is_one_of(ptx_types[b].text, mma_shapes[i].types) &&
                  is_one_of(ptx_types[d].text, mma_shapes[i].sums) && d == sum;
    if (code & PTX_SATFINITE && d != PTX_S32) exists = false;
    if (!exists) refuse(c, NULL, ": these types do not exist in this shape");
    need_operands(c, "d, a, b, c");
    unsigned m, n, k;
    sscanf(shape, "m%un%uk%u", &m, &n, &k);
    const int sums = fragment_registers(d, m * n), a_count = fragment_registers(a, m * k),
              b_count = fragment_registers(b, n * k);
    need_elements(c, 0, sums, "D");
    need_elements(c, 1, a_count, "A");
    need_elements(c, 2, b_count, "B");
    need_elements(c, 3, sums, "C");
    code |= PTX_CODE(0, d, a, 0, b);
    const enum ptx_type sum_reg = d == PTX_F16 ? PTX_F16X2 : d,
                        ab_reg = a == PTX_F64 ? PTX_F64 : PTX_TF32;
    emit(c, " { uint64_t emu_d[%d]; ::emu_ptx_mma(" HEX ", %uu, emu_d", sums, code,
         m << 20 | n << 10 | k);
    emit_elements(c, 1, a_count, ab_reg);
    emit_elements(c, 2, b_count, ab_reg);
    emit_elements(c, 3, sums, sum_reg);
    emit(c, ");");
    assign_elements(c, sums, sum_reg);
    emit(c, " }");
}

/* Register `v` of the sums, as its address. */
static const char *sum_address(struct compiler *c, const struct value *v,
                               enum ptx_type type)
{
    if (v->form != REGISTER || v->reg >= c->s->argument_count)
        fail(
            c, v->place,
            "PTX: the sums of `%s` must be operands of the asm statement, and %s is none",
            c->instruction->text, describe(c, v));
    if (!c->s->arguments[v->reg].written)
        fail(c, v->place, "asm: `%s` writes to %s, which is an input",
             c->instruction->text, describe(c, v));
    check_register(c, v, type, false);
    c->s->arguments[v->reg].by_address = true;
    return format("::emu::ptx_address<'%c'>(emu_o%d)", c->s->arguments[v->reg].letter,
                  v->reg);
}

/* Where the program keeps what this register of A holds; 0 if that is nowhere but in the
 * asm statement. */
static const char *place_of(struct compiler *c, const struct value *v)
{
    if (v->form != REGISTER || v->reg >= c->s->argument_count) return "0";
    c->s->arguments[v->reg].placed = true;
    return format("::emu::ptx_place((decltype(emu_o%d))emu_o%d)", v->reg, v->reg);
}

static void compile_wgmma_multiply(struct compiler *c)
{
    static const struct {
        const char *types, *sums;
        unsigned k;
    } forms[] = {{"f16", "f16 f32", 16},       {"bf16", "f32", 16},  {"tf32", "f32", 8},
                 {"e4m3 e5m2", "f16 f32", 32}, {"s8 u8", "s32", 32}, {"b1", "s32", 256}};
    const struct instruction *in = c->instruction;
    unsigned m = 0, n = 0, k = 0;
    need_each(c, "sync aligned");
    if (in->taken >= in->modifiers ||
        sscanf(in->modifier[in->taken], "m%un%uk%u", &m, &n, &k) != 3)
        unknown(c);
    c->instruction->taken++;
    const enum ptx_type sum = need_type(c, "f16 f32 s32"),
                        a = need_type(c, "f16 bf16 tf32 e4m3 e5m2 s8 u8 b1"),
                        b = need_type(c, "f16 bf16 tf32 e4m3 e5m2 s8 u8 b1");
    uint64_t code = PTX_CODE(0, sum, a, 0, b);
    if (a == PTX_B1) {
        need_each(c, "and popc");
    }
    if (sum == PTX_S32 && take(c, "satfinite")) code |= PTX_SATFINITE;
    end_of_modifiers(c);
    bool exists = false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        exists |= forms[i].k == k && is_one_of(ptx_types[a].text, forms[i].types) &&
                  is_one_of(ptx_types[b].text, forms[i].types) &&
                  is_one_of(ptx_types[sum].text, forms[i].sums);
    const bool whole = sum == PTX_S32;
    exists &= m == 64 && n >= 8 && n <= 256 && n % 8 == 0 &&
              (!whole || n <= 24 || n == 32 || n % 16 == 0);
    if (!exists) refuse(c, NULL, ": there is no such shape for these types");
    const bool halves = a == PTX_F16 || a == PTX_BF16;
    const bool registers = in->operands > 1 && in->operand[1]->form == VECTOR;
    need_operands(c, whole    ? "d, a, b, scale-d"
                     : halves ? registers ? "d, a, b, scale-d, imm-scale-a, imm-scale-b, "
                                            "imm-trans-b"
                                          : "d, a, b, scale-d, imm-scale-a, imm-scale-b, "
                                            "imm-trans-a, imm-trans-b"
                              : "d, a, b, scale-d, imm-scale-a, imm-scale-b");
    const int sums = (int)n / (sum == PTX_F16 ? 4 : 2);
    need_elements(c, 0, sums, "D");
    if (registers) need_elements(c, 1, 4, "A");
    const struct value *scale_d = in->operand[3];
    const bool predicate =
        scale_d->form == REGISTER && c->regs[scale_d->reg].type == PTX_PRED;
    emit(c, " ::emu_ptx_wgmma(" HEX ", %uu, %uu, %s, %s, %s, %s, %s",
         code | (registers ? PTX_A_REGISTERS : 0), n, k,
         predicate ? source(c, scale_d, PTX_PRED) : constant(c, 3),
         whole ? "1" : constant(c, 4), whole ? "1" : constant(c, 5),
         halves && !registers ? constant(c, 6) : "0",
         halves ? constant(c, registers ? 6 : 7) : "0");
    if (registers) {
        emit_elements(c, 1, 4, PTX_TF32);
        for (int i = 0; i < 4; i++)
            emit(c, ", %s", place_of(c, in->operand[1]->element[i]));
    } else
        emit(c, ", %s", operand(c, 1, PTX_B64));
    emit(c, ", %s", operand(c, 2, PTX_B64));
    for (int i = 0; i < sums; i++)
        emit(
            c, ", %s",
            sum_address(c, in->operand[0]->element[i], sum == PTX_F16 ? PTX_F16X2 : sum));
    emit(c, ");");
}

static void compile_wgmma(struct compiler *c)
{
    if (take(c, "mma_async")) {
        compile_wgmma_multiply(c);
        return;
    }
    const char *what = need_one_of(c, "fence commit_group wait_group");
    need_each(c, "sync aligned");
    const bool waits = *what == 'w';
    need_operands(c, waits ? "n" : "(none)");
    if (waits)
        emit(c, " ::emu_ptx_wgmma_wait(%s);", constant(c, 0));
    else
        emit(c,
             *what == 'f' ? " ::emu_ptx_wgmma_fence();" : " ::emu_ptx_wgmma_commit();");
}

/* setmaxnreg.inc.sync.aligned.u32 n: registers are the host's here. */
static void compile_setmaxnreg(struct compiler *c)
{
    need_one_of(c, "inc dec");
    need_each(c, "sync aligned u32");
    need_operands(c, "n");
    emit(c, " ::emu_ptx_set_registers(%d, %s);",
         strcmp(c->instruction->modifier[0], "inc") == 0, constant(c, 0));
}

/* ---- statements ---- */

static const struct {
    const char *names;
    void (*compile)(struct compiler *);
} families[] = {
    {"mov", compile_mov},
    {"lop3", compile_lop3},
    {"prmt", compile_prmt},
    {"dp4a dp2a", compile_dot_product},
    {"mul24 mad24", compile_mul24},
    {"vadd2 vadd4 vsub2 vsub4 vavrg2 vavrg4 vabsdiff2 vabsdiff4 vmin2 vmin4 vmax2 vmax4",
     compile_video},
    {"setp", compile_setp},
    {"set", compile_set},
    {"slct", compile_slct},
    {"testp", compile_testp},
    {"cvt", compile_cvt},
    {"ld ldu", compile_load},
    {"st", compile_store},
    {"atom red", compile_atomic},
    {"cvta", compile_cvta},
    {"isspacep", compile_isspacep},
    {"mapa getctarank", compile_map},
    {"prefetch prefetchu applypriority discard nanosleep griddepcontrol",
     compile_nothing},
    {"membar fence", compile_fence},
    {"mbarrier", compile_mbarrier},
    {"createpolicy", compile_createpolicy},
    {"cp", compile_copy_async},
    {"bra", compile_branch},
    {"bar barrier", compile_barrier},
    {"shfl", compile_shuffle},
    {"vote", compile_vote},
    {"match", compile_match},
    {"redux", compile_redux},
    {"elect", compile_elect},
    {"activemask", compile_activemask},
    {"exit trap brkpt", compile_end},
    {"ldmatrix stmatrix", compile_matrix_move},
    {"mma", compile_mma},
    {"wgmma", compile_wgmma},
    {"setmaxnreg", compile_setmaxnreg},
};

static void compile_instruction(struct compiler *c)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (is_one_of(c->instruction->name, families[i].names)) {
            families[i].compile(c);
            return;
        }
    if (compile_regular(c) || compile_irregular(c)) return;
    fail(c, c->instruction->place, "PTX: the emulator does not know the instruction `%s`",
         c->instruction->text);
}

/* `opcode.modifier.modifier`, and where its text begins. */
static void read_opcode(struct compiler *c, struct instruction *i)
{
    skip_space(c);
    i->place = (int)c->at;
    size_t n = 0;
    while (n < sizeof i->text - 1 &&
           (in_name(peek_char(c, 0)) || strchr(".:", peek_char(c, 0))) &&
           peek_char(c, 0)) {
        if (peek_char(c, 0) == ':' && peek_char(c, 1) != ':' &&
            (n == 0 || i->text[n - 1] != ':'))
            break;
        i->text[n++] = c->s->text[c->at++];
    }
    i->text[n] = '\0';
    if (!n)
        fail(c, i->place, "PTX: an instruction expected before `%.8s`", what_follows(c));
    char *copy = format("%s", i->text), *rest = NULL;
    i->name = strtok_r(copy, ".", &rest);
    if (!i->name) i->name = "";
    for (char *word; (word = strtok_r(NULL, ".", &rest));) {
        if (i->modifiers == MODIFIERS)
            fail(c, i->place, "PTX: `%s` is too long", i->text);
        i->modifier[i->modifiers++] = word;
    }
}

static void marker(struct compiler *c, int place)
{
    emit(c, "\n# %d %s\n", line_at(c, (size_t)place), quote(c->s->file));
}

/* A directive, from behind its dot on. */
static void read_directive(struct compiler *c)
{
    char word[NAME];
    const int place = (int)c->at;
    if (!read_name(c, word)) fail(c, place, "PTX: a directive expected behind the dot");
    if (strcmp(word, "reg") == 0) {
        declare_registers(c);
    } else if (strcmp(word, "pragma") == 0 || strcmp(word, "loc") == 0) {
        while (peek_char(c, 0) && peek_char(c, 0) != ';') c->at++;
        expect(c, ';');
    } else {
        fail(c, place, "PTX: the emulator does not know the directive `.%s`", word);
    }
}

/* `name:`, if it stands here. */
static bool read_label_name(struct compiler *c, char *name)
{
    const size_t start = c->at;
    if (read_name(c, name)) {
        skip_space(c);
        if (peek_char(c, 1) != ':' && accept(c, ':')) return true;
    }
    c->at = start;
    return false;
}

static bool read_label(struct compiler *c)
{
    const int place = (int)c->at;
    char name[NAME];
    if (!read_label_name(c, name)) return false;
    struct label *l = label_named(c, name, place);
    if (l->defined) fail(c, place, "PTX: the label `%s` is here twice", name);
    l->defined = true;
    emit(c, " emu_label_%d_%d: ;", c->s->number, l->number);
    return true;
}

static void enter_scope(struct compiler *c)
{
    c->scope_parent[c->scope_count] = c->scope;
    c->scope = c->scope_count++;
}

/* Labels may be used before they are defined, so their scopes are found first. */
static void find_labels(struct compiler *c)
{
    bool begins = true; /* a statement */
    for (skip_space(c); c->at < c->s->length; skip_space(c)) {
        const size_t start = c->at;
        const char ch = c->s->text[start];
        char name[NAME];
        if (begins && read_label_name(c, name)) {
            add_label(c, name, (int)start);
            continue;
        }
        if (begins && ch == '{') enter_scope(c);
        if (begins && ch == '}' && c->scope > 0) c->scope = c->scope_parent[c->scope];
        begins = ch == ';' || (begins && strchr("{}", ch));
        c->at++;
    }
    c->at = 0;
    c->scope = 0;
    c->scope_count = 1;
}

static void compile_statement(struct compiler *c)
{
    struct instruction instruction = {0};
    c->instruction = NULL;
    if (accept(c, '{')) {
        enter_scope(c);
        return;
    }
    if (accept(c, '}')) {
        if (c->scope_parent[c->scope] < 0) fail(c, (int)c->at - 1, "PTX: a `}` too many");
        c->scope = c->scope_parent[c->scope];
        return;
    }
    if (accept(c, ';')) return;
    if (accept(c, '.')) {
        read_directive(c);
        return;
    }
    if (read_label(c)) return;
    const struct value *guard = NULL;
    bool negated = false;
    if (accept(c, '@')) {
        negated = accept(c, '!');
        guard = read_operand(c);
        if (guard->form == LABEL)
            fail(c, guard->place, "PTX: the predicate `%s` is not declared", guard->name);
        if (guard->form != REGISTER || c->regs[guard->reg].type != PTX_PRED)
            fail(c, guard->place, "PTX: `@%s` is not a predicate (.reg .pred)",
                 describe(c, guard));
    }
    read_opcode(c, &instruction);
    c->instruction = &instruction;
    skip_space(c);
    if (peek_char(c, 0) != ';' && peek_char(c, 0)) do {
            if (instruction.operands == OPERANDS)
                fail(c, instruction.place, "PTX: `%s` has too many operands",
                     instruction.text);
            instruction.operand[instruction.operands++] = read_operands(c);
        } while (accept(c, ','));
    expect(c, ';');
    marker(c, instruction.place);
    if (guard) emit(c, " if (%s%s) {", negated ? "!" : "", c->regs[guard->reg].text);
    compile_instruction(c);
    if (guard) emit(c, " }");
}

/* After an error: behind the next semicolon. */
static void skip_statement(struct compiler *c, size_t started)
{
    if (c->at < started) c->at = started;
    /* The statement's own semicolon may have been read already. */
    if (c->at > started && c->s->text[c->at - 1] == ';') return;
    while (c->at < c->s->length && c->s->text[c->at] != ';') c->at++;
    c->at++;
}

char *ptx_compile(const struct ptx_statement *statement)
{
    struct compiler c = {.s = statement};
    static const enum ptx_type types_of_letters[] = {PTX_B32, PTX_B64, PTX_B16,
                                                     PTX_F32, PTX_F64, PTX_B64};
    c.scope_parent = need(calloc(statement->length + 2, sizeof *c.scope_parent));
    c.scope_parent[0] = -1;
    c.scope_count = 1;
    for (int i = 0; i < statement->argument_count; i++) {
        static const char letters[] = "rlhfdn";
        const struct ptx_argument *a = &statement->arguments[i];
        add_register(&c, "", types_of_letters[strchr(letters, a->letter) - letters]);
        c.regs[i].constant = a->letter == 'n';
        c.regs[i].read_only = !a->written;
        snprintf(c.regs[i].text, sizeof c.regs[i].text, "emu_%d", i);
    }
    find_labels(&c);
    for (;;) {
        volatile size_t started = c.at;
        if (setjmp(c.next_statement)) skip_statement(&c, started);
        skip_space(&c);
        if (c.at >= statement->length) break;
        started = c.at;
        compile_statement(&c);
    }
    if (c.scope != 0 && !c.errors)
        complain(&c, (int)statement->length - 1, "PTX: a `}` is missing at the end");
    for (int i = 0; i < c.label_count && !c.errors; i++)
        if (!c.labels[i].defined)
            complain(&c, c.labels[i].place, "PTX: there is no label `%s` here",
                     c.labels[i].name);

    if (c.errors) return NULL;
    struct text head = {0};
    for (int i = statement->argument_count; i < c.reg_count; i++)
        put_string(&head,
                   format(" __attribute__((unused)) uint64_t %s = 0;", c.regs[i].text));
    put_string(&head, c.out.start);
    return head.start ? head.start : "";
}
