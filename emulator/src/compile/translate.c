/* The source translator: a tokenizer, and edits to single tokens.
 *
 * Nothing is moved. An edit replaces a token's text or adds text before or after it;
 * white space and line markers stay where they are. That is what keeps every line number
 * right, however the pieces of a launch are spread over lines. Columns are restored
 * behind each edit.
 *
 * What the rewrites need of C++ is little: brackets that match, where a declaration
 * begins, and which functions are kernels. They read that from the tokens; the compiler
 * that follows does the rest. */
#define _GNU_SOURCE /* memrchr */
#include "compile/translate.h"

#include "compile/ptx_compile.h"
#include "compile/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { WORD, NUMBER, STRING, CHARACTER, PUNCTUATION, DIRECTIVE, END };

enum place { ELSEWHERE, KERNEL, DEVICE_FUNCTION };

struct token {
    enum kind kind;
    const char *text;
    unsigned length;
    int line;
    const char *file;
    bool system;             /* from a system header, or from a macro that one defines */
    bool device;             /* inside the body of a __device__ or __global__ function */
    bool host;               /* and of a __host__ one */
    enum place place;        /* of a name: what it declares */
    int match;               /* the bracket that belongs to this one, -1 if none */
    const char *replacement; /* NULL: as it is */
    char *before, *after;    /* text to add, NULL if none */
};

/* A __global__ function declaration, to know at a launch whether the kernel's name
 * denotes one function. */
struct kernel {
    const char *name, *scope, *parameters;
    const char *inner; /* the part of the scope that stands in front of the name: "b::" */
    int template_parameters; /* -1: not a template */
    bool variadic, defaults;
    bool defined; /* here is its body, and it has a name that the end of the file can use
                   */
    int end;      /* of the body */
    int start;    /* where a declaration of its twin can stand, -1 if nowhere */
    const char *template,
        *list; /* as they are written: `template <...>`, the parameters */
    bool has_twin;
};

enum scope_kind { NAMESPACE, CLASS, BLOCK };
struct scope {
    enum scope_kind kind;
    int brace;
    size_t path_length; /* of the path outside it */
};

struct translation {
    const char *text, *end;
    enum visibility visibility;
    struct token *tokens;
    int count, capacity;
    struct kernel *kernels;
    int kernel_count;
    struct device_function {
        char *name;
        bool host; /* and __host__ */
    } *device_functions;
    int device_function_count;
    struct device_variable {
        char *name;
        bool array;
    } *device_variables; /* but for managed ones */
    int device_variable_count;
    struct variable_template {
        char *name;
        const char *section; /* of enum emu_section */
    } *variable_templates;   /* of device variables */
    int variable_template_count;
    struct named_type { /* of a namespace */
        int name;
        const char *path;
    } *types;
    int type_count;
    struct scope *scopes;
    int scope_count;
    const char *path; /* the namespaces we are in: "a::b::" */
    int shared_count;
    struct file_shared { /* of static __shared__ variables outside functions */
        char *name;
        int number;
    } *file_shared;
    int file_shared_count;
    struct dynamic_shared { /* `extern __shared__` in functions, by their scope */
        const char *name, *path, *type;
    } *dynamic_shared;
    int dynamic_shared_count;
    int errors;
};

/* In the form of the compilers, the line itself included. */
static void say(const struct translation *t, int i, const char *kind, const char *message)
{
    const struct token *token = &t->tokens[i];
    const char *start = token->text, *end = token->text;
    while (start > t->text && start[-1] != '\n') start--;
    while (end < t->end && *end != '\n') end++;
    fprintf(stderr, "%s:%d: %s: %s\n%5d | %.*s\n", token->file, token->line, kind,
            message, token->line, (int)(end - start), start);
}

static void error(struct translation *t, int i, const char *message)
{
    say(t, i, "error", message);
    t->errors++;
}

/* ---- tokens ---- */

/* A letter that is not ASCII comes as it is, or as \U000003ba from the preprocessor of
 * older g++; outside quotes nothing else has a backslash. */
static bool starts_word(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '\\' || (c & 0x80);
}
static bool in_word(char c)
{
    return starts_word(c) || isdigit((unsigned char)c);
}

static const char *end_of_quoted(const char *p, const char *end)
{
    char quote = *p++;
    while (p < end && *p != quote && *p != '\n') p += *p == '\\' && p + 1 < end ? 2 : 1;
    return p < end && *p == quote ? p + 1 : p;
}

/* p is at the quote of R"delimiter( ... )delimiter". */
static const char *end_of_raw(const char *p, const char *end)
{
    const char *open = memchr(p, '(', (size_t)(end - p));
    if (!open) return end;
    size_t length = (size_t)(open - p - 1);
    for (const char *q = open; q + length + 1 < end; q++)
        if (*q == ')' && memcmp(q + 1, p + 1, length) == 0 && q[length + 1] == '"')
            return q + length + 2;
    return end;
}

static const char *end_of_number(const char *p, const char *end)
{
    while (p < end) {
        if (strchr("eEpP", *p) && p + 1 < end && (p[1] == '+' || p[1] == '-'))
            p += 2;
        else if (*p == '\'' && p + 1 < end && in_word(p[1]))
            p += 2;
        else if (in_word(*p) || *p == '.')
            p++;
        else
            break;
    }
    return p;
}

/* < and > are always single: whether >> closes two template argument lists is not the
 * tokenizer's to say. */
static const char *end_of_punctuation(const char *p, const char *end)
{
    static const char *const longer[] = {
        "...", "->*", "::", "->", ".*", "==", "!=", "<=", ">=", "&&", "||",
        "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "++", "--"};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        size_t length = strlen(longer[i]);
        if ((size_t)(end - p) >= length && memcmp(p, longer[i], length) == 0)
            return p + length;
    }
    return p + 1;
}

/* `# 12 "file.cu" 1 3`: sets the place of the line that follows. */
static void read_marker(const char *p, const char *end, const char **file, int *line,
                        bool *system)
{
    char *rest;
    p++;
    if (end - p > 4 && memcmp(p, "line", 4) == 0) p += 4;
    long number = strtol(p, &rest, 10);
    if (rest == p) return;
    *line = (int)number - 1; /* the marker's own newline counts one up */
    const char *quote = memchr(rest, '"', (size_t)(end - rest));
    if (!quote) return;
    const char *close = end_of_quoted(quote, end);
    size_t length = (size_t)(close - quote) - 2;
    if (strlen(*file) != length || memcmp(*file, quote + 1, length) != 0)
        *file = format("%.*s", (int)length, quote + 1);
    *system = false;
    for (const char *flag = close; flag < end; flag++)
        if (*flag == '3') *system = true;
}

static struct token *add_token(struct translation *t)
{
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? t->capacity * 2 : 65536;
        t->tokens = need(realloc(t->tokens, (size_t)t->capacity * sizeof *t->tokens));
    }
    struct token *token = &t->tokens[t->count++];
    memset(token, 0, sizeof *token);
    token->match = -1;
    return token;
}

static void tokenize(struct translation *t)
{
    const char *p = t->text, *end = t->end, *file = "<stdin>";
    int line = 1;
    bool system = false, line_start = true;
    while (p < end) {
        if (*p == '\n') {
            line++;
            line_start = true;
            p++;
            continue;
        }
        if (isspace((unsigned char)*p)) {
            p++;
            continue;
        }
        struct token *token = add_token(t);
        const char *start = p;
        token->text = p;
        token->line = line;
        if (*p == '#' && line_start) {
            const char *newline = memchr(p, '\n', (size_t)(end - p));
            p = newline ? newline : end;
            token->kind = DIRECTIVE;
            read_marker(start, p, &file, &line, &system);
        } else if (starts_word(*p)) {
            while (p < end && in_word(*p)) p++;
            token->kind = WORD;
            /* A string's or character's prefix sticks to it: L"", u8"", R"()", LR"()". */
            if (p < end && (*p == '"' || *p == '\'') && p - start <= 3 &&
                strspn(start, "LuU8R") == (size_t)(p - start)) {
                token->kind = *p == '"' ? STRING : CHARACTER;
                p = p[-1] == 'R' && *p == '"' ? end_of_raw(p, end)
                                              : end_of_quoted(p, end);
            }
        } else if (isdigit((unsigned char)*p) ||
                   (*p == '.' && p + 1 < end && isdigit((unsigned char)p[1]))) {
            token->kind = NUMBER;
            p = end_of_number(p, end);
        } else if (*p == '"' || *p == '\'') {
            token->kind = *p == '"' ? STRING : CHARACTER;
            p = end_of_quoted(p, end);
        } else {
            token->kind = PUNCTUATION;
            p = end_of_punctuation(p, end);
        }
        token->length = (unsigned)(p - start);
        token->file = file;
        token->system = system;
        if (token->kind != DIRECTIVE)
            for (const char *q = start; q < p; q++)
                line += *q == '\n'; /* in a raw string */
        line_start = false;
    }
    add_token(t)->kind = END;
    t->tokens[t->count - 1].text = end;
    t->tokens[t->count - 1].file = file;
    t->tokens[t->count - 1].line = line;
}

static bool is(const struct translation *t, int i, const char *text)
{
    if (i < 0) return false;
    const struct token *token = &t->tokens[i];
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

static bool is_among(const struct translation *t, int i, const char *words)
{
    return i >= 0 && index_in(words, t->tokens[i].text, t->tokens[i].length) >= 0;
}

static bool is_word(const struct translation *t, int i)
{
    return i >= 0 && t->tokens[i].kind == WORD;
}

static int next(const struct translation *t, int i)
{
    do i++;
    while (t->tokens[i].kind == DIRECTIVE);
    return i < t->count ? i : t->count - 1;
}

/* -1 before the first. */
static int previous(const struct translation *t, int i)
{
    do i--;
    while (i >= 0 && t->tokens[i].kind == DIRECTIVE);
    return i;
}

/* The next word behind token i that is this one, or -1. */
static int next_named(const struct translation *t, int i, const char *text)
{
    while (t->tokens[++i].kind != END)
        if (t->tokens[i].kind == WORD && is(t, i, text)) return i;
    return -1;
}

static void match_brackets(struct translation *t)
{
    int *open = need(malloc((size_t)t->count * sizeof *open)), depth = 0;
    for (int i = 0; i < t->count; i++) {
        if (t->tokens[i].kind != PUNCTUATION || t->tokens[i].length != 1) continue;
        char c = *t->tokens[i].text;
        if (c == '(' || c == '[' || c == '{') open[depth++] = i;
        if (c != ')' && c != ']' && c != '}') continue;
        char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (depth == 0 || *t->tokens[open[depth - 1]].text != wanted)
            continue; /* the compiler will tell */
        t->tokens[i].match = open[--depth];
        t->tokens[open[depth]].match = i;
    }
    free(open);
}

/* From an opening bracket to its end; any other token, itself. */
static int over_bracket(const struct translation *t, int i)
{
    return t->tokens[i].match > i ? t->tokens[i].match : i;
}

/* One < alone: two are a shift, and three a launch. */
static bool single_angle(const struct translation *t, int i)
{
    return is(t, i, "<") && !is(t, previous(t, i), "<") && !is(t, next(t, i), "<");
}

/* Whether a < may open a list of template arguments; 1 < 2 and f() < g() compare. */
static bool opens_list(const struct translation *t, int i)
{
    return single_angle(t, i) && is_word(t, previous(t, i));
}

/* The braces of a value, P{1, 2}: they hold no statement. */
static bool ends_value(const struct translation *t, int close)
{
    if (!is(t, close, "}") || t->tokens[close].match < 0) return false;
    int i = t->tokens[close].match;
    if (!is_word(t, previous(t, i)) && !is(t, previous(t, i), ">")) return false;
    while (i < close && !is(t, i, ";")) i = next(t, i);
    return i == close;
}

/* From the < of a template argument list to its >, or -1 if it is none. */
static int over_angles(const struct translation *t, int i)
{
    int depth = single_angle(t, i);
    while (depth > 0) {
        i = next(t, over_bracket(t, i));
        if (t->tokens[i].kind == END) return -1;
        if (opens_list(t, i)) depth++;
        if (is(t, i, ">") && --depth == 0) return i;
        if (is_among(t, i, "; ) ] }")) return -1;
        if (is(t, i, "{") && !ends_value(t, over_bracket(t, i))) return -1;
    }
    return -1;
}

static bool names_kernel(const struct translation *t, int name)
{
    for (int i = 0; i < t->kernel_count; i++)
        if (is(t, name, t->kernels[i].name)) return true;
    return false;
}

/* In k<N < 2> the first < that comes to mind is not the one that opens the list. Only who
 * knows what N is can tell, but a kernel's name tells as much. */
static int back_over_angles(const struct translation *t, int i)
{
    int nearest = -1;
    for (int depth = 0; i >= 0; i = previous(t, i)) {
        if (is(t, i, ">")) depth++;
        if (opens_list(t, i) && --depth <= 0) {
            const bool outside = nearest < 0 || depth < 0;
            if (outside && names_kernel(t, previous(t, i))) return i;
            if (nearest < 0) nearest = i;
        }
        if (is_among(t, i, "; ( [ {") || (is(t, i, "}") && !ends_value(t, i))) break;
        if (t->tokens[i].match >= 0) i = t->tokens[i].match;
    }
    return nearest;
}

/* The end of the argument that begins at i: the index of its comma or closing
 * parenthesis. */
static int argument_end(const struct translation *t, int i, int close)
{
    while (i < close && !is(t, i, ",")) {
        int angles = opens_list(t, i) ? over_angles(t, i) : -1;
        i = next(t, angles > 0 && angles < close ? angles : over_bracket(t, i));
    }
    return i;
}

/* ---- edits ---- */

static void replace(struct translation *t, int i, const char *text)
{
    t->tokens[i].replacement = text;
}

static void add_before(struct translation *t, int i, const char *text)
{
    char *old = t->tokens[i].before;
    t->tokens[i].before = format("%s%s", old ? old : "", text);
}

static void add_after(struct translation *t, int i, const char *text)
{
    char *old = t->tokens[i].after;
    t->tokens[i].after = format("%s%s", old ? old : "", text);
}

/* Removes a word and the parenthesis behind it. */
static void remove_with_parenthesis(struct translation *t, int i)
{
    int open = next(t, i), close = open;
    if (is(t, open, "("))
        close = over_bracket(t, open);
    else
        close = i;
    for (; i <= close; i++)
        if (t->tokens[i].kind != DIRECTIVE) replace(t, i, "");
}

static char *join(const struct translation *t, int from, int to)
{
    size_t bytes = 1;
    for (int i = from; i <= to; i++) bytes += 2 * t->tokens[i].length + 1;
    char *s = need(malloc(bytes)), *out = s;
    for (int i = from; i <= to; i++) {
        const struct token *token = &t->tokens[i];
        if (token->kind == DIRECTIVE) continue;
        if (out > s && (out[-1] == ',' || (in_word(out[-1]) && in_word(*token->text))))
            *out++ = ' ';
        memcpy(out, token->text, token->length);
        out += token->length;
    }
    *out = '\0';
    return s;
}

static char *word_at(const struct translation *t, int i)
{
    return join(t, i, i);
}

/* ---- declarations ---- */

/* The braces of `requires (T x) { x + x; }`, or of one without parameters. */
static bool opens_requirements(const struct translation *t, int i)
{
    int before = previous(t, i);
    if (is(t, before, ")")) before = previous(t, t->tokens[before].match);
    return is(t, i, "{") && is(t, before, "requires");
}

/* The first token of the declaration that token i, one of its specifiers, belongs to. */
static int declaration_start(const struct translation *t, int i)
{
    for (int before = previous(t, i);; before = previous(t, i)) {
        const bool requirements =
            is(t, before, "}") && opens_requirements(t, t->tokens[before].match);
        if (before < 0 || (is_among(t, before, "; { } ( :") && !requirements)) return i;
        i = t->tokens[before].match >= 0 && t->tokens[before].match < before
                ? t->tokens[before].match
                : before;
    }
}

struct declaration {
    int start;
    int terminator; /* the token behind the first declarator's name: one of ( ; = [ { , */
    int template_open, template_close; /* of `template <...>`; -1 if none */
    bool function, is_static, is_extern, is_inline, is_const;
};

static struct declaration parse_declaration(const struct translation *t, int i)
{
    struct declaration d = {
        .start = declaration_start(t, i), .template_open = -1, .template_close = -1};
    bool class_body = false, after_operator = false;
    for (i = d.start; t->tokens[i].kind != END; i = next(t, i)) {
        if (is(t, i, "template") && is(t, next(t, i), "<")) {
            d.template_open = next(t, i);
            d.template_close = over_angles(t, d.template_open);
            if (d.template_close < 0) break;
            i = d.template_close;
        } else if (is_among(t, i,
                            "__attribute__ alignas __align__ decltype __launch_bounds__ "
                            "__maxnreg__ "
                            "__cluster_dims__ __block_size__ explicit noexcept") &&
                   is(t, next(t, i), "(")) {
            i = over_bracket(t, next(t, i));
        } else if (is_among(t, i, "requires && ||") && is(t, next(t, i), "(")) {
            i = over_bracket(t, next(t, i)); /* a template's condition */
        } else if (opens_requirements(t, i)) {
            i = over_bracket(t, i);
        } else if (is(t, i, "operator")) {
            after_operator = d.function = true;
        } else if (after_operator) {
            if (is(t, i, "(") && !is(t, previous(t, i), "operator")) break;
        } else if (is_among(t, i, "struct class union enum")) {
            class_body = true;
        } else if (is(t, i, "static")) {
            d.is_static = true;
        } else if (is(t, i, "extern")) {
            d.is_extern = true;
        } else if (is_among(t, i, "inline __inline__ __inline")) {
            d.is_inline = true;
        } else if (is_among(t, i, "const constexpr")) {
            d.is_const = true;
        } else if (is(t, i, "*")) {
            d.is_const = false; /* what is pointed at was const */
        } else if (is(t, i, "<") && over_angles(t, i) > 0) {
            i = over_angles(t, i);
        } else if (is(t, i, "[") && is(t, next(t, i), "[")) {
            i = over_bracket(t, i);
        } else if (is(t, i, "{") && class_body) {
            class_body = false;
            i = over_bracket(t, i);
        } else if (is_among(t, i, "( ; = [ { ,")) {
            break;
        }
    }
    d.terminator = i;
    if (is(t, i, "(")) {
        /* A pointer to a function, or a number that initializes, makes it a variable
         * after all. */
        int inside = next(t, i);
        d.function |= !is(t, inside, "*") && t->tokens[inside].kind != NUMBER;
    }
    return d;
}

/* Marks the body of the function whose parameters begin at `open`. Returns the body's
 * brace, -1 without one. */
static int mark_device_body(struct translation *t, int open, bool host)
{
    int i = is(t, open, "(") ? next(t, over_bracket(t, open)) : open;
    bool initializers = false;
    for (; t->tokens[i].kind != END && !is(t, i, ";"); i = next(t, over_bracket(t, i))) {
        if (is(t, i, ":")) initializers = true;
        if (!is(t, i, "{")) continue;
        int before = previous(t, i);
        if (initializers && (is_word(t, before) || is(t, before, ">"))) continue;
        if (opens_requirements(t, i)) continue;
        for (int k = i; k < over_bracket(t, i); k++) {
            t->tokens[k].device = true;
            t->tokens[k].host = host;
        }
        return i;
    }
    return -1;
}

/* In a function that names a __shared__ variable from outside, a reference to its place.
 */
static void refer_to_file_shared(struct translation *t, const struct declaration *d,
                                 int body)
{
    for (int s = 0; body >= 0 && s < t->file_shared_count; s++) {
        const struct file_shared *v = &t->file_shared[s];
        bool used = false;
        for (int i = d->terminator; i < body; i = next(t, i))
            if (is(t, i, v->name)) return; /* a parameter hides it */
        for (int i = body; !used && i < over_bracket(t, body); i = next(t, i))
            used = is(t, i, v->name) && !is_among(t, previous(t, i), ". -> ::");
        if (used)
            add_after(t, body, format(" auto &%s = emu_f%d();", v->name, v->number));
    }
}

/* The parameters without their names, so that a declaration and its definition compare
 * equal. */
static const char *parameter_types(const struct translation *t, int open, bool *defaults)
{
    int close = over_bracket(t, open);
    const char *s = "";
    *defaults = false;
    for (int i = next(t, open); i < close; i = next(t, i)) {
        int after = next(t, i), before = previous(t, i);
        if (is(t, i, "=")) *defaults = true;
        bool name =
            is_word(t, i) && (after == close || is_among(t, after, ", = [")) &&
            before != open && !is_among(t, before, ", :: ( <") &&
            !is_among(
                t, i,
                "int char short long float double bool unsigned signed const volatile");
        if (!name && !is(t, i, "__grid_constant__"))
            s = format("%s %.*s", s, (int)t->tokens[i].length, t->tokens[i].text);
    }
    return s;
}

static int template_parameter_count(const struct translation *t, int open, int close,
                                    bool *variadic)
{
    int count = 0;
    for (int i = next(t, open); i < close; i = next(t, over_bracket(t, i)))
        if (is(t, i, "...")) *variadic = true;
    for (int i = next(t, open); i < close; i = next(t, argument_end(t, i, close)))
        count++;
    return count;
}

/* The last token of what the function returns. */
static int return_type(const struct translation *t, const struct declaration *d)
{
    int i = previous(t, previous(t, d->terminator));
    while (i >= d->start) {
        const int open = is(t, i, ")") ? t->tokens[i].match : i;
        const int word = open < i ? previous(t, open) : i;
        if (!is_among(t, word,
                      "__launch_bounds__ __attribute__ __maxnreg__ __cluster_dims__ "
                      "__block_size__ __global__ __device__ __host__ __forceinline__ "
                      "__noinline__ inline static extern"))
            return i;
        i = previous(t, word);
    }
    return -1;
}

/* Which of several kernels of a name a launch means, and from which template arguments it
 * is made, only the compiler can tell, and only of a call. So a kernel may get a twin: a
 * function for the same arguments, never defined, whose result has the type of a pointer
 * to the kernel. */
static void note_twin(const struct translation *t, const struct declaration *d,
                      struct kernel *kernel)
{
    const int close = over_bracket(t, d->terminator);
    kernel->start = d->start;
    kernel->template = kernel->list = "";
    for (int i = 0; i < t->scope_count; i++)
        if (t->scopes[i].kind != NAMESPACE) kernel->start = -1;
    for (int i = d->start; i < close; i = next(t, i))
        if (is(t, i, "requires") || (i > d->terminator && is_among(t, i, "auto =")))
            kernel->start = -1;
    if (d->template_open >= 0) {
        kernel->has_twin =
            next(t, d->template_open) == d->template_close; /* its template */
        kernel->template =
            format("template %s ", join(t, d->template_open, d->template_close));
    }
    for (int i = d->terminator; i <= close; i = next(t, i))
        if (!is(t, i, "__grid_constant__"))
            kernel->list = format("%s%s ", kernel->list, word_at(t, i));
}

/* `a::b::` of a kernel that is defined outside the namespace in which it is declared. */
static const char *spelled_scope(const struct translation *t, int name, int start)
{
    int first = name;
    for (int i = previous(t, name); i > start && is(t, i, "::"); i = previous(t, first)) {
        const int word = previous(t, i);
        if (!is_word(t, word) || is(t, word, "void") || word < start) break;
        first = word;
    }
    return first < name ? format("%s", join(t, first, previous(t, name))) : "";
}

static void remember_kernel(struct translation *t, const struct declaration *d)
{
    int name = previous(t, d->terminator);
    if (!is_word(t, name)) {
        /* A specialization k<...>: its template is known already. */
        const int open = is(t, name, ">") ? back_over_angles(t, name) : -1;
        if (open > 0) t->tokens[previous(t, open)].place = KERNEL;
        return;
    }
    t->tokens[name].place = KERNEL;
    const int type = return_type(t, d);
    if (is_among(t, type,
                 "int unsigned signed long short char float double bool size_t *"))
        error(t, name, "a __global__ function must return void");
    struct kernel kernel = {.template_parameters = -1};
    kernel.name = word_at(t, name);
    kernel.inner = spelled_scope(t, name, d->start);
    kernel.scope = format("%s%s", t->path, kernel.inner);
    kernel.parameters = parameter_types(t, d->terminator, &kernel.defaults);
    if (d->template_open >= 0)
        kernel.template_parameters = template_parameter_count(
            t, d->template_open, d->template_close, &kernel.variadic);
    const int body = next(t, over_bracket(t, d->terminator));
    kernel.defined = is(t, body, "{");
    kernel.end = over_bracket(t, body);
    for (int i = 0; i < t->scope_count; i++)
        kernel.defined &= t->scopes[i].kind == NAMESPACE;
    note_twin(t, d, &kernel);
    /* The twin belongs into the namespace, where the declaration is that must be there. */
    if (*kernel.inner) kernel.has_twin = true;
    need_one_more(t->kernels, t->kernel_count);
    t->kernels[t->kernel_count++] = kernel;
}

static bool overloaded(const struct translation *t, const struct kernel *k)
{
    for (int i = 0; i < t->kernel_count; i++) {
        const struct kernel *other = &t->kernels[i];
        if (strcmp(other->name, k->name) == 0 && strcmp(other->scope, k->scope) == 0 &&
            (other->template_parameters >= 0 ||
             strcmp(other->parameters, k->parameters) != 0))
            return true;
    }
    return false;
}

static void remember_device_function(struct translation *t, const struct declaration *d,
                                     bool host)
{
    const int name = previous(t, d->terminator);
    if (!is_word(t, name)) return;
    t->tokens[name].place = DEVICE_FUNCTION;
    need_one_more(t->device_functions, t->device_function_count);
    t->device_functions[t->device_function_count++] =
        (struct device_function){word_at(t, name), host};
}

static bool in_function(const struct translation *t)
{
    for (int i = 0; i < t->scope_count; i++)
        if (t->scopes[i].kind == BLOCK) return true;
    return false;
}

static bool is_name(const struct translation *t, int i)
{
    return is_word(t, i) && !is_among(t, i,
                                      "return else do case throw goto new delete sizeof "
                                      "if while for switch and or not "
                                      "co_return co_yield");
}

/* The first token of ns::name, whose name is token i. */
static int start_of_path(const struct translation *t, int i)
{
    while (is(t, previous(t, i), "::")) {
        i = previous(t, i);
        if (is_name(t, previous(t, i))) i = previous(t, i);
    }
    return i;
}

/* The name that a declaration of a template gives, before its terminator or before the
 * arguments of a specialisation; or -1. */
static int template_name(const struct translation *t, int terminator)
{
    int name = previous(t, terminator);
    if (is(t, name, ">")) name = previous(t, back_over_angles(t, name));
    return is_word(t, name) ? name : -1;
}

/* Compilers put no variable of a template into a section that is asked for. The runtime is
 * told of each where it is used. */
static void remember_variable_template(struct translation *t, int name,
                                       const char *section)
{
    for (int k = 0; k < t->variable_template_count; k++)
        if (is(t, name, t->variable_templates[k].name)) return;
    need_one_more(t->variable_templates, t->variable_template_count);
    t->variable_templates[t->variable_template_count++] =
        (struct variable_template){word_at(t, name), section};
}

/* name<T>  becomes  emu::of_template<section>(name<T>). */
static void note_variable_of_template(struct translation *t, int i)
{
    const struct variable_template *v = NULL;
    for (int k = 0; k < t->variable_template_count && !v; k++)
        if (is(t, i, t->variable_templates[k].name)) v = &t->variable_templates[k];
    const int close = v && is(t, next(t, i), "<") ? over_angles(t, next(t, i)) : -1;
    if (close < 0 || is_among(t, previous(t, i), ". ->")) return;
    add_before(t, start_of_path(t, i), format(" ::emu::of_template<::%s>(", v->section));
    add_after(t, close, ")");
}

/* Where each file has its device variables to itself, `extern` and `extern "C"` promise
 * none elsewhere: nvcc takes them for the variable. */
static bool is_elsewhere(struct translation *t, const struct declaration *d)
{
    if (!d->is_extern || t->visibility == ALL_FILES) return d->is_extern;
    say(t, previous(t, d->terminator), "warning",
        "extern declaration of a device variable is treated as its definition: only with "
        "-rdc=true can it lie in another file");
    for (int i = d->start; i < d->terminator; i = next(t, i)) {
        if (!is(t, i, "extern")) continue;
        replace(t, i, "");
        if (*t->tokens[next(t, i)].text == '"') replace(t, next(t, i), "");
    }
    return false;
}

/* A variable in device memory. nvcc keeps it to its source file unless told otherwise.
 * The section is how the runtime knows which of the program's variables kernels may
 * touch. */
static const char *device_variable(struct translation *t, const struct declaration *d,
                                   bool constant, bool managed)
{
    const char *const section = d->is_const ? "emu_device_const"
                                : constant  ? "emu_constant"
                                : managed   ? "emu_managed"
                                            : "emu_device";
    /* What the compiler computes has no place of its own that kernels could write to. */
    bool computed = false;
    for (int i = d->start; i < d->terminator; i = next(t, i))
        computed |= is(t, i, "constexpr");
    const bool of_library = t->tokens[d->start].system && d->template_open >= 0;
    if (computed || of_library || is_elsewhere(t, d)) return "";
    if (d->template_open >= 0) {
        const int name = template_name(t, d->terminator);
        if (name >= 0) replace(t, name, word_at(t, name)); /* no use of it */
        if (d->template_close == next(t, d->template_open))
            return format("__attribute__((section(\"%s\"), used))", section);
        if (name >= 0 && !d->is_const)
            remember_variable_template(t, name,
                                       constant  ? "EMU_CONSTANT"
                                       : managed ? "EMU_MANAGED"
                                                 : "EMU_DEVICE");
        return "";
    }
    if (t->scope_count > 0 && t->scopes[t->scope_count - 1].kind == CLASS)
        error(t, d->start, "a class's member cannot be a device variable of its own");
    /* Of a module the program asks for any by its name (cuModuleGetGlobal). */
    const bool shown = t->visibility == TO_PROGRAM_TOO && !d->is_const;
    for (int i = d->start; shown && i < d->terminator; i = next(t, i))
        if (is(t, i, "static")) replace(t, i, "");
    bool local = t->visibility != OWN_FILE || d->is_static || d->is_inline;
    return format("%s__attribute__((section(\"%s\"), used))", local ? "" : "static ",
                  section);
}

/* Whether the name also is a function of the host; `defined`: with its body here, neither
 * constexpr nor one that further down is marked as the device's, too. */
static bool declared_for_host(struct translation *t, const char *name, bool defined)
{
    for (int i = -1; (i = next_named(t, i, name)) >= 0;) {
        if (t->tokens[i].place != ELSEWHERE || t->tokens[i].system ||
            !is(t, next(t, i), "("))
            continue;
        const int before = previous(t, i), behind = next(t, over_bracket(t, next(t, i)));
        bool for_kernels = false;
        for (int k = declaration_start(t, i); defined && k < i; k = next(t, k))
            for_kernels |= is_among(t, k, "constexpr consteval __device__ __global__");
        if (defined && (for_kernels || !is(t, behind, "{"))) continue;
        if ((is_name(t, before) && is_among(t, behind, "{ ;")) ||
            (is_among(t, before, "* & >") && is(t, behind, "{")))
            return true;
    }
    return false;
}

/* __launch_bounds__ at token i: the first of its numbers is a limit that the kernel
 * checks itself, since it may depend on template parameters. Behind a kernel that is no
 * template the runtime is told, too. */
static void add_launch_bounds(struct translation *t, int i, const struct declaration *d,
                              int body)
{
    const int open = next(t, i), name = previous(t, d->terminator);
    if (!is(t, open, "(")) return;
    const int end = argument_end(t, next(t, open), over_bracket(t, open));
    char *threads = join(t, next(t, open), previous(t, end)), *kernel = word_at(t, name);
    add_after(t, body, format(" ::emu_launch_bounds(%s);", threads));
    if (d->template_open < 0 && !overloaded(t, &t->kernels[t->kernel_count - 1]) &&
        !declared_for_host(t, kernel, false))
        add_after(t, over_bracket(t, body),
                  format(" static const ::emu::launch_bounds emu_b%d(%s, %s);", body,
                         kernel, threads));
}

/* Of a parameter that is not __grid_constant__ every thread has a copy of its own, and so
 * of the tensor maps in it, which the copy engine cannot read there. Looks at parameters
 * that are a type's name and their own: no pointer, no number, no pack. */
static void note_own_copies(struct translation *t, const struct declaration *d, int body)
{
    const int close = over_bracket(t, d->terminator);
    for (int i = next(t, d->terminator), end; i < close; i = next(t, end)) {
        end = argument_end(t, i, close);
        const int name = previous(t, end);
        int type = -1;
        bool may_hold_maps = i < name && is_word(t, name) &&
                             !is_among(t, name, "const volatile __restrict__");
        for (int k = i; may_hold_maps && k < name; k = next(t, k)) {
            const int angles = is(t, k, "<") ? over_angles(t, k) : -1;
            if (angles > 0 && angles < name)
                k = angles;
            else if (is_among(t, k,
                              "__grid_constant__ * & ( [ ... = void bool char short int "
                              "long unsigned signed float double size_t"))
                may_hold_maps = false;
            if (!is_among(t, k, "const volatile struct class union enum typename"))
                type = k;
        }
        if (may_hold_maps && type >= 0)
            add_after(t, body, format(" ::emu::own_copy(%s);", word_at(t, name)));
    }
}

/* `template __global__ void k<float>(float *);` in a module: for the program to find. */
static void register_instantiation(struct translation *t, const struct declaration *d)
{
    const int close = previous(t, d->terminator),
              open = is(t, close, ">") ? back_over_angles(t, close) : -1;
    if (t->visibility != TO_PROGRAM_TOO || open < 0 || !is_word(t, previous(t, open)))
        return;
    const char *const kernel = join(t, previous(t, open), close);
    int end = over_bracket(t, d->terminator);
    while (t->tokens[end].kind != END && !is(t, end, ";")) end = next(t, end);
    add_after(t, end,
              format(" static ::emu::known_kernel emu_n%d(%s, %s);", end, kernel,
                     quote(kernel)));
}

/* The name in the declarator that begins at i, or -1. Looks into parentheses: (*p)[4]. */
static int declared_name(const struct translation *t, int i)
{
    for (; t->tokens[i].kind != END && !is(t, i, ";"); i = next(t, i)) {
        if (is_among(t, i, "__attribute__ alignas __align__ decltype") &&
            is(t, next(t, i), "("))
            i = over_bracket(t, next(t, i));
        else if (is(t, i, "{"))
            i = over_bracket(t, i);
        else if (is(t, i, "<") && over_angles(t, i) > 0)
            i = over_angles(t, i);
        else if (is_word(t, i) && is_among(t, next(t, i), "[ , ; = ) {") &&
                 !is_among(t, i, "struct class union enum") &&
                 !is_among(t, previous(t, i), "struct class union enum"))
            return i;
    }
    return -1;
}

/* Of the declaration whose specifier is at i. An array that has its size elsewhere is left
 * alone. */
static void remember_device_variables(struct translation *t, int i, bool elsewhere)
{
    if (t->tokens[i].system) return;
    for (int name = declared_name(t, next(t, i)), end; name >= 0;) {
        const int behind = next(t, name);
        if (!elsewhere || !is(t, behind, "[") || !is(t, next(t, behind), "]")) {
            need_one_more(t->device_variables, t->device_variable_count);
            t->device_variables[t->device_variable_count++] =
                (struct device_variable){word_at(t, name), is(t, behind, "[")};
        }
        for (end = name; !is_among(t, end, ", ;") && t->tokens[end].kind != END;)
            end = next(t, over_bracket(t, end));
        name = is(t, end, ",") ? declared_name(t, next(t, end)) : -1;
    }
}

/* In the names of functions and variables of the device nvcc takes no letters but ASCII's;
 * in all others it does. */
static void ask_for_ascii(struct translation *t, int name)
{
    if (!is_word(t, name)) return;
    for (const char *c = word_at(t, name); *c; c++)
        if (*c == '\\' || *c & 0x80) {
            error(t, name, "Universal character is not allowed in device entity name");
            return;
        }
}

/* __global__, __device__, __constant__ or __managed__ at token i. */
static void rewrite_place(struct translation *t, int i)
{
    bool kernel = is(t, i, "__global__"), constant = is(t, i, "__constant__"),
         managed = false;
    int before = previous(t, i);
    while (is_among(t, before, "__host__ __device__")) before = previous(t, before);
    replace(t, i, "");
    if (is(t, before, "]") &&
        !is(t, next(t, t->tokens[before].match), "[")) { /* a lambda, no [[attribute]] */
        for (int k = t->tokens[before].match; !t->tokens[i].device && k < before; k++)
            if (is(t, k, "&") && is_among(t, previous(t, k), "[ ,"))
                error(t, k,
                      "a __device__ lambda of the host cannot capture by reference");
        mark_device_body(t, next(t, i), true);
        return;
    }
    struct declaration d = parse_declaration(t, i);
    ask_for_ascii(t, previous(t, d.terminator));
    bool host = false, is_friend = false;
    for (int k = d.start; k < d.terminator; k++) {
        host |= is_among(t, k, "__host__ constexpr consteval");
        if (is_among(t, k, "__global__ __device__ __constant__ __managed__ __host__"))
            replace(t, k, "");
        kernel |= is(t, k, "__global__");
        constant |= is(t, k, "__constant__");
        managed |= is(t, k, "__managed__");
        is_friend |= is(t, k, "friend");
    }
    const enum scope_kind inside =
        t->scope_count ? t->scopes[t->scope_count - 1].kind : NAMESPACE;
    if (kernel && inside == CLASS && !is_friend)
        error(t, i, "a __global__ function cannot be a member of a class");
    if (!d.function && inside == BLOCK && !d.is_static && !d.is_extern)
        error(t, i, "a variable of the device in a function must be static");
    if (d.function && !constant) {
        if (kernel)
            remember_kernel(t, &d);
        else
            remember_device_function(t, &d, host);
        const int body = mark_device_body(t, d.terminator, host);
        refer_to_file_shared(t, &d, body);
        if (kernel && body >= 0 && !t->tokens[body].system) {
            const int name = previous(t, d.terminator);
            if (is_word(t, name))
                add_after(t, body,
                          format(" ::emu_kernel_begins(\"%s\");", word_at(t, name)));
            note_own_copies(t, &d, body);
        }
        for (int k = d.start; body >= 0 && k < d.terminator; k++)
            if (is(t, k, "__launch_bounds__"))
                add_launch_bounds(t, k, &d, body);
            else if (is(t, k, "__cluster_dims__") && is(t, next(t, k), "("))
                add_after(t, body,
                          format(" ::emu::cluster_dims%s;",
                                 join(t, next(t, k), over_bracket(t, next(t, k)))));
        /* A kernel nobody launches is no mistake; and nvcc's host compiler never sees
         * device functions. */
        bool instantiation = is(t, d.start, "template") && d.template_open < 0;
        if (kernel && instantiation) register_instantiation(t, &d);
        if ((kernel && !instantiation) || d.is_static)
            replace(t, i, "__attribute__((unused))");
    } else {
        replace(t, i, device_variable(t, &d, constant, managed));
        if (!managed && d.template_open < 0) remember_device_variables(t, i, d.is_extern);
    }
}

/* ---- __shared__ ---- */

/* In all functions of a namespace an `extern __shared__` array of one name is the same
 * variable, and must have one type. Looks at the types that C++ itself has. */
static void check_dynamic_shared(struct translation *t, int start, int name)
{
    const char *type = "";
    for (int k = start; k < name; k = next(t, over_bracket(t, k))) {
        if (is_among(t, k, "float double bool char short int long unsigned"))
            type = format("%s %s", type, word_at(t, k));
        else if (!is_among(t, k, "extern __shared__ __align__ alignas __attribute__ ("))
            return;
    }
    if (strcmp(type, " unsigned int") == 0) type = " unsigned";
    for (int k = 0; k < t->dynamic_shared_count; k++) {
        const struct dynamic_shared *const other = &t->dynamic_shared[k];
        if (!is(t, name, other->name) || strcmp(other->path, t->path) != 0) continue;
        if (strcmp(other->type, type) != 0)
            error(t, name,
                  format("extern __shared__ %s is one variable in all functions, and"
                         " another one has it with the type%s",
                         other->name, other->type));
        return;
    }
    need_one_more(t->dynamic_shared, t->dynamic_shared_count);
    t->dynamic_shared[t->dynamic_shared_count++] =
        (struct dynamic_shared){word_at(t, name), t->path, type};
}

/* T a[X], b;  becomes  typedef T emu_t1[X], emu_t2; and, for each name, a reference to
 * the array's place: shared memory belongs to the block, so it can be no ordinary
 * variable. A typedef cannot carry every alignment, so a struct beside it does. */
static void rewrite_shared(struct translation *t, int i)
{
    int start = declaration_start(t, i);
    bool dynamic = false;
    char *alignment = "";
    int name = declared_name(t, next(t, i));
    if (name < 0) {
        error(t, i, "__shared__ without a variable");
        return;
    }
    for (int k = start; k < name; k = next(t, k)) {
        dynamic |= is(t, k, "extern");
        if (is_among(t, k, "struct class union")) {
            /* Its alignment and its members are its own. */
            while (!is_among(t, k, "{ ; [") && k < name) k = next(t, k);
            k = over_bracket(t, k);
        } else if (is_among(t, k, "alignas __align__") && in_function(t)) {
            const int open = next(t, k);
            char *bytes = join(t, open, over_bracket(t, open));
            alignment = format(is(t, k, "alignas") ? "%s alignas%s"
                                                   : "%s __attribute__((aligned%s))",
                               alignment, bytes);
            remove_with_parenthesis(t, k);
        }
    }
    if (!in_function(t) && dynamic) {
        replace(t, i, "");
        for (; !is(t, name, ";") && t->tokens[name].kind != END;
             name = next(t, over_bracket(t, name)))
            continue;
        add_before(t, name, " __asm__(\"emu_dynamic_shared\")");
        return;
    }
    if (dynamic) check_dynamic_shared(t, start, name);
    replace(t, i, "typedef");
    for (int k = start; k < name; k = next(t, k))
        if (is_among(t, k, "static extern __device__")) replace(t, k, "");
    char *code = "";
    while (name >= 0) {
        char *text = word_at(t, name);
        int n = ++t->shared_count;
        replace(t, name, format("emu_t%d", n));
        const char *site = dynamic ? "" : format(" static ::emu_shared_site emu_s%d;", n);
        const char *place =
            dynamic
                ? format("::emu_dynamic_array(alignof(emu_t%d) | alignof(emu_a%d))", n, n)
                : format("::emu_shared_array(&emu_s%d, sizeof(emu_t%d), "
                         "alignof(emu_t%d) | alignof(emu_a%d), \"%s\")",
                         n, n, n, n, text);
        place = format("*static_cast<emu_t%d *>(%s);", n, place);
        code = format("%s struct emu_a%d {%s char c; };", code, n, alignment);
        /* g++ and clang++ take arrays of any length for typedefs. */
        if (!dynamic)
            code = format("%s static_assert(__builtin_constant_p(sizeof(emu_t%d)), "
                          "\"the size of __shared__ %s must be a constant\");",
                          code, n, text);
        if (in_function(t)) {
            code = format("%s%s emu_t%d &%s = %s", code, site, n, text, place);
        } else {
            code = format("%s static inline emu_t%d &emu_f%d() {%s return %s }", code, n,
                          n, site, place);
            need_one_more(t->file_shared, t->file_shared_count);
            t->file_shared[t->file_shared_count++] = (struct file_shared){text, n};
        }
        while (!is_among(t, name, ", ;") && t->tokens[name].kind != END) {
            if (is_among(t, name, "= {")) {
                error(t, name, "a __shared__ variable cannot have an initializer");
                return;
            }
            name = next(t, over_bracket(t, name));
        }
        if (!is(t, name, ",")) break;
        name = declared_name(t, next(t, name));
    }
    if (name >= 0) add_after(t, name, code);
}

/* A static variable of a device function is the device's; the runtime is told when its
 * function runs, since a section will not hold those of templates and inline functions.
 */
static void note_local_static(struct translation *t, int i)
{
    int name = declared_name(t, next(t, i)), end = name;
    if (!is_among(t, previous(t, i), "; { }")) return;
    for (int k = i; k < name; k = next(t, k))
        if (is_among(t, k,
                     "__shared__ __device__ __constant__ __managed__ const constexpr"))
            return;
    char *code = "";
    while (name >= 0) {
        char *text = word_at(t, name);
        code = format("%s ::emu_local_static(&%s, sizeof %s);", code, text, text);
        for (end = name; !is_among(t, end, ", ;") && t->tokens[end].kind != END;)
            end = next(t, over_bracket(t, end));
        name = is(t, end, ",") ? declared_name(t, next(t, end)) : -1;
    }
    if (end >= 0) add_after(t, end, code);
}

/* int a[n];  where the compiler does not know n: compilers for the host let it pass. i is
 * the first name of the declaration, behind a type's. */
static void check_local_arrays(struct translation *t, int i)
{
    static const char not_names[] = "auto bool char short int long unsigned signed float "
                                    "double const volatile operator";
    if (!t->tokens[i].device || !in_function(t) || !is_name(t, i) ||
        is_among(t, i, not_names) || !is_name(t, previous(t, i)) ||
        t->scopes[t->scope_count - 1].kind != BLOCK)
        return;
    const int start = declaration_start(t, i);
    if (!is_among(t, previous(t, start), "; { }")) return;
    for (int k = start; k < i; k = next(t, k))
        if (is_among(t, k, "new = __shared__")) return;
    char *code = "";
    for (int name = i, end = i; name >= 0;) {
        const int behind = next(t, name), size = next(t, behind);
        if (is(t, behind, "[") && !is_among(t, size, "[ ]"))
            code =
                format("%s static_assert(__builtin_constant_p(sizeof(%s)), \"the size of "
                       "%s must be a constant\");",
                       code, word_at(t, name), word_at(t, name));
        while (!is_among(t, end, ", ;") && t->tokens[end].kind != END)
            end = next(t, over_bracket(t, end));
        name = is(t, end, ",") ? declared_name(t, next(t, end)) : -1;
        if (name < 0) add_after(t, end, code);
        end = name;
    }
}

/* ---- launches ---- */

/* With spaces between them too: formatters that do not know CUDA write `k << <g, b >> >`.
 */
static bool three(const struct translation *t, int i, const char *text)
{
    return is(t, i, text) && is(t, next(t, i), text) &&
           is(t, next(t, next(t, i)), text) && !is(t, previous(t, i), "operator");
}

/* Where the expression that ends at token i begins: ns::k<T>, table[i].kernel,
 * (*pointer), pick(n). -1: none. */
static int expression_start(const struct translation *t, int i)
{
    while (i >= 0) {
        if (is(t, i, ">")) {
            i = back_over_angles(t, i);
            i = i < 0 ? -1 : previous(t, i);
            if (!is_name(t, i)) return -1;
        } else if (is(t, i, "]")) {
            i = previous(t, t->tokens[i].match);
            continue;
        } else if (is(t, i, ")")) {
            int open = t->tokens[i].match, before = previous(t, open);
            if (!is_name(t, before) && !is(t, before, "]")) return open;
            i = before;
            continue;
        } else if (!is_name(t, i)) {
            return -1;
        }
        int before = previous(t, i);
        if (is(t, before, "template")) before = previous(t, before);
        if (before < 0 || !is_among(t, before, ":: . ->")) return i;
        int owner = previous(t, before);
        if (is(t, before, "::") && !is_name(t, owner) && !is(t, owner, ">"))
            return before;
        i = owner;
    }
    return -1;
}

/* Does the name at `name`, given `arguments` template arguments (-1: no list), denote one
 * function? A name that is no known kernel is a pointer to one, and does. */
static bool denotes_one_function(const struct translation *t, int name, int arguments)
{
    bool known = false;
    for (int i = 0; i < t->kernel_count; i++) {
        const struct kernel *k = &t->kernels[i];
        if (!is(t, name, k->name)) continue;
        known = true;
        if (k->template_parameters != arguments || k->variadic || k->defaults)
            return false;
        for (int j = 0; j < i; j++)
            if (strcmp(t->kernels[j].name, k->name) == 0 &&
                strcmp(t->kernels[j].scope, k->scope) == 0 &&
                strcmp(t->kernels[j].parameters, k->parameters) != 0)
                return false;
    }
    return known || arguments < 0;
}

/* A literal 0 or NULL is a null pointer only as long as it is a literal: it goes into the
 * lambda as it is. The others become the lambda's parameters. Returns the parameters, and
 * in *call what the kernel is called with. */
static char *split_arguments(struct translation *t, int open, bool forward, char **call)
{
    const char *const type = forward ? "auto &&" : "auto";
    int close = over_bracket(t, open), parameters = 0, comma = -1;
    bool literals = false, kept_before = false;
    for (int i = next(t, open); i < close; i = next(t, argument_end(t, i, close)))
        literals |=
            is_among(t, i, "0 __null NULL") && next(t, i) == argument_end(t, i, close);
    *call = forward ? "static_cast<decltype(emu_a)>(emu_a)..." : "emu_a...";
    if (!literals) return format("%s... emu_a", type);
    char *list = "";
    *call = "";
    for (int i = next(t, open); i < close;) {
        int end = argument_end(t, i, close), last = previous(t, end);
        bool literal = i == last && is_among(t, i, "0 __null NULL"),
             pack = is(t, last, "...");
        const char *separator = **call ? ", " : "";
        if (literal) {
            *call = format("%s%s%s", *call, separator, word_at(t, i));
            replace(t, i, "");
        } else {
            const char *const name = format("emu_a%d", ++parameters);
            *call = format("%s%s%s%s", *call, separator,
                           forward ? format("static_cast<decltype(%s)>(%s)", name, name)
                                   : name,
                           pack ? "..." : "");
            list = format("%s%s%s%s %s", list, *list ? ", " : "", type, pack ? "..." : "",
                          name);
        }
        if (comma >= 0 && (literal || !kept_before)) replace(t, comma, "");
        kept_before |= !literal;
        comma = end;
        i = next(t, end);
    }
    return list;
}

/* Whether the name has a declaration of another kind than that: a function of the host, a
 * variable, a member. */
static bool has_other_meaning(struct translation *t, int name, enum place place)
{
    const char *text = word_at(t, name);
    for (int i = -1; (i = next_named(t, i, text)) >= 0;) {
        if (t->tokens[i].place == place) continue;
        if (t->tokens[i].system && !is(t, next(t, i), "("))
            continue; /* a library's variable */
        const int before = previous(t, i);
        if (is_among(t, before, "* & > ]") || is_name(t, before)) return true;
    }
    return false;
}

/* Whether the program has a function of its own by that name. */
static bool program_declares(struct translation *t, int name)
{
    const char *text = word_at(t, name);
    for (int i = -1; (i = next_named(t, i, text)) >= 0;) {
        const int before = previous(t, i);
        if (!t->tokens[i].system && is(t, next(t, i), "(") &&
            (is_name(t, before) || is_among(t, before, "* & >")))
            return true;
    }
    return false;
}

/* The function of the device by that name, one that the host has too if there is one. */
static const struct device_function *device_function_named(const struct translation *t,
                                                           int name)
{
    const struct device_function *found = NULL;
    for (int i = 0; i < t->device_function_count; i++)
        if (is(t, name, t->device_functions[i].name) &&
            (!found || t->device_functions[i].host))
            found = &t->device_functions[i];
    return found;
}

/* ---- variables of device code in host code ---- */

/* Whether token i, a name, is declared there: T name, T *name, T &name, T (&name)[4],
 * T (*name)(int), and in a list of several. */
static bool looks_declared(const struct translation *t, int i)
{
    const int before = previous(t, i), owner = previous(t, before), behind = next(t, i);
    if (!is_among(t, behind, "= { , ) ; [ ( : ]")) return false;
    if (is(t, before, "*") && is(t, owner, "("))
        return is(t, behind, ")") && is(t, next(t, behind), "(") &&
               is_name(t, previous(t, owner));
    if (is(t, before, ",")) return is_among(t, behind, "; = ]");
    if (is(t, before, ")"))
        return is_among(t, previous(t, t->tokens[before].match),
                        "decltype typeof __typeof__");
    if (is(t, before, "&") && is(t, owner, "("))
        return is(t, behind, ")") && is(t, next(t, behind), "[");
    if (is_among(t, before, "* & &&"))
        return is_name(t, owner) || is_among(t, owner, "> *");
    return is_name(t, before) || is_among(t, before, "> ... [");
}

/* Whether a variable or parameter of the function around token i hides what else the name
 * means. */
static bool is_hidden(const struct translation *t, int i, const char *text)
{
    int outermost = 0;
    while (t->scopes[outermost].kind != BLOCK) outermost++;
    int k = previous(t, t->scopes[outermost].brace);
    while (k >= 0 && !is_among(t, k, "; { }")) k = previous(t, k);
    for (k = next(t, k); k <= i; k = next(t, k))
        if (is(t, k, text) && looks_declared(t, k)) return true;
    return false;
}

/* The address of a variable of device code in host code, &name, or name if it is an array,
 * where it is handed on: it becomes the address of the host's variable of that name (see
 * emu_on_host). Other uses read or write the variable itself, which is seen as it
 * happens. */
static void take_host_name(struct translation *t, int i)
{
    const struct device_variable *v = NULL;
    for (int k = 0; k < t->device_variable_count && !v; k++)
        if (is(t, i, t->device_variables[k].name)) v = &t->device_variables[k];
    if (!v || t->tokens[i].device || !in_function(t) ||
        t->scopes[t->scope_count - 1].kind != BLOCK)
        return;
    const int first = start_of_path(t, i);
    const int before = previous(t, first), owner = previous(t, before);
    const bool address = is(t, before, "&") && !is_name(t, owner),
               call = is(t, before, "(") &&
                      is_among(t, owner,
                               "sizeof alignof decltype typeof __typeof__ noexcept");
    if (call || !(address || (v->array && is_among(t, before, "( , = + ) { ? : return") &&
                              is_among(t, next(t, i), ") , ; + - [ ? : }"))))
        return;
    if (is_hidden(t, i, v->name)) return;
    add_before(t, first, " ::emu::on_host(");
    add_after(t, i, format(", \"%s\")", v->name));
}

/* Only a kernel can be launched ... */
static void check_launched(struct translation *t, int name)
{
    char *const text = word_at(t, name);
    if (names_kernel(t, name) || (in_function(t) && is_hidden(t, name, text))) return;
    const bool of_device = device_function_named(t, name);
    if (of_device ? !has_other_meaning(t, name, DEVICE_FUNCTION)
                  : declared_for_host(t, text, true))
        error(t, name,
              format("%s is a %s; only a __global__ function can be launched", text,
                     of_device ? "__device__ function" : "function of the host"));
}

static bool declares_variable(const struct translation *t, int i, const char *text)
{
    return is(t, i, text) && is_among(t, next(t, i), "= { , ) ;") &&
           (is_name(t, previous(t, i)) || is_among(t, previous(t, i), "* & && > ..."));
}

/* Whether a class that the walk is in has a member variable of that name: one that can be
 * called. */
static bool is_member_variable(const struct translation *t, const char *text)
{
    for (int s = 0; s < t->scope_count; s++) {
        if (t->scopes[s].kind != CLASS) continue;
        const int open = t->scopes[s].brace, close = over_bracket(t, open);
        for (int i = next(t, open); i < close; i = next(t, over_bracket(t, i)))
            if (declares_variable(t, i, text)) return true;
    }
    return false;
}

/* Whether a variable or parameter of the kernel, or of its class, hides what else the name
 * may mean. */
static bool is_own_name(struct translation *t, int name)
{
    const char *text = word_at(t, name);
    if (is_member_variable(t, text)) return true;
    for (int i = previous(t, name);
         i >= 0 && (t->tokens[i].device || !is_among(t, i, "; { }")); i = previous(t, i))
        if (declares_variable(t, i, text)) return true;
    return false;
}

/* Whether the name also is a function of the device, be it further down: methods of a class
 * may come after their call. */
static bool declared_for_device(const struct translation *t, const char *name)
{
    for (int i = -1; (i = next_named(t, i, name)) >= 0;) {
        if (!is(t, next(t, i), "(")) continue;
        for (int k = declaration_start(t, i); k < i; k = next(t, k))
            if (is_among(t, k, "__device__ __global__")) return true;
    }
    return false;
}

#define OF_THE_HOST                                                                      \
    "%s is a function of the host; a kernel can only call __device__ functions"

/* A kernel can only call what is compiled for the GPU. */
static void check_called_by_kernel(struct translation *t, int i)
{
    static const char library[] =
        "rand srand rand_r random srandom drand48 fopen fclose fprintf fputs puts "
        "putchar fflush scanf getenv exit system qsort time gettimeofday clock_gettime "
        "sleep usleep";
    if (device_function_named(t, i) ||
        (!declared_for_host(t, word_at(t, i), true) &&
         (!is_among(t, i, library) || program_declares(t, i))) ||
        is_own_name(t, i) || declared_for_device(t, word_at(t, i)))
        return;
    error(t, i, format(OF_THE_HOST, word_at(t, i)));
}

/* Whether a method by the name at i can only be the host's: the program has such a one, and
 * nothing else that could be called so. */
static bool is_method_of_host(const struct translation *t, int name)
{
    const char *const text = word_at(t, name);
    bool defined = false;
    for (int i = -1; (i = next_named(t, i, text)) >= 0;) {
        const int before = previous(t, i), open = next(t, i);
        if (!is(t, open, "(")) {
            if (t->tokens[i].system || looks_declared(t, i)) return false;
            continue;
        }
        if (is_among(t, before, ". ->")) continue;
        if (t->tokens[i].system) return false;
        if (!is_name(t, before) && !is_among(t, before, "* & >")) continue;
        if (t->tokens[i].device) return false; /* of a class in a kernel */
        for (int k = declaration_start(t, i); k < i; k = next(t, k))
            if (is_among(t, k, "constexpr consteval")) return false;
        int behind = next(t, over_bracket(t, open));
        while (is_among(t, behind, "const noexcept override final"))
            behind = next(t, behind);
        defined |= is(t, behind, "{");
    }
    return defined && !declared_for_device(t, text);
}

/* The last of the three that begin at i. */
static int third(const struct translation *t, int i)
{
    return next(t, next(t, i));
}

/* Whether the program itself has a type by the name at i. */
static bool program_has_type(const struct translation *t, int i)
{
    for (int k = -1; (k = next_named(t, k, word_at(t, i))) >= 0;)
        if (!t->tokens[k].system &&
            is_among(t, previous(t, k), "class struct union enum typename"))
            return true;
    return false;
}

/* Whether the name at i, written without `std::`, can be the standard library's, by
 * `using namespace std` or `using std::vector`; a variable of the device hides that. */
static bool may_be_of_std(const struct translation *t, int i)
{
    for (int k = 0; k < t->device_variable_count; k++)
        if (is(t, i, t->device_variables[k].name)) return false;
    for (int k = -1; (k = next_named(t, k, "using")) >= 0;) {
        const int first = next(t, k), last = third(t, first);
        if (t->tokens[k].system) continue;
        if (is(t, first, "namespace") && is(t, next(t, first), "std")) return true;
        if (is(t, first, "std") && is(t, last, word_at(t, i))) return true;
    }
    return false;
}

/* Of the standard library a kernel can use what is constexpr or only a type. These are
 * neither: they write, or ask for memory, or for threads. */
static bool is_of_the_hosts_library(struct translation *t, int i)
{
    static const char streams[] = "cout cerr clog cin",
                      others[] = "vector string deque list forward_list map multimap set "
                                 "multiset unordered_map unordered_set stack queue "
                                 "priority_queue function shared_ptr unique_ptr thread "
                                 "mutex stringstream ostringstream ofstream ifstream "
                                 "to_string make_shared make_unique";
    const int before = previous(t, i);
    const bool qualified = is(t, before, "::") && is(t, previous(t, before), "std");
    if (!is_among(t, i, streams) && !is_among(t, i, others)) return false;
    if (!qualified &&
        (is_among(t, before, ":: . ->") || is_own_name(t, i) || program_has_type(t, i) ||
         program_declares(t, i) || !may_be_of_std(t, i)))
        return false;
    if (is_among(t, i, streams))
        return qualified ||
               (is_among(t, next(t, i), "< >") && is_among(t, third(t, i), "< >"));
    const int behind = over_angles(t, next(t, i));
    if (behind > 0) return !is(t, next(t, behind), "::"); /* std::vector<int>::iterator */
    return qualified && !is(t, next(t, i), "::");
}

/* ... and a kernel can only be launched. Token i is a name. */
static void check_called(struct translation *t, int i)
{
    if (!in_function(t) || !is_name(t, i)) return;
    if (t->tokens[i].device && !t->tokens[i].host && is_of_the_hosts_library(t, i))
        error(t, i,
              format("%s is of the host's library; a kernel can only call __device__ "
                     "functions",
                     word_at(t, i)));
    if (!is(t, next(t, i), "(")) return;
    const int before = previous(t, i);
    char *name = word_at(t, i);
    if (is_among(t, before, ". ->") && t->tokens[i].device && !t->tokens[i].host &&
        is_method_of_host(t, i))
        error(t, i, format(OF_THE_HOST, name));
    if (is_name(t, before) || is_among(t, before, ". -> :: * & > ]")) return;
    const struct device_function *const other = device_function_named(t, i);
    if (!t->tokens[i].device && other && !other->host &&
        !has_other_meaning(t, i, DEVICE_FUNCTION))
        error(t, i, format("%s is a __device__ function; the host cannot call it", name));
    if (!names_kernel(t, i)) {
        if (t->tokens[i].device && !t->tokens[i].host) check_called_by_kernel(t, i);
        return;
    }
    if (has_other_meaning(t, i, KERNEL)) return;
    error(t, i,
          format("%s is a kernel; it must be launched, %s<<<grid, block>>>(...)", name,
                 name));
}

static bool is_used_by_its_name(const struct translation *t, int name)
{
    for (int i = -1; (i = next_named(t, i, word_at(t, name))) >= 0;) {
        const int before = previous(t, i);
        if (is(t, before, "::") && is(t, next(t, i), ";") &&
            is(t, declaration_start(t, i), "using"))
            return true;
    }
    return false;
}

/* Gives the kernels of that name their twins. False if one cannot have any, or if the name
 * may mean something else. */
static bool make_twins(struct translation *t, int name)
{
    bool known = false;
    for (int i = 0; i < t->kernel_count; i++) {
        if (!is(t, name, t->kernels[i].name)) continue;
        known = true;
        if (t->kernels[i].start < 0) return false;
    }
    if (!known || has_other_meaning(t, name, KERNEL) || is_used_by_its_name(t, name))
        return false;
    for (int i = 0; i < t->kernel_count; i++) {
        struct kernel *const k = &t->kernels[i];
        if (!is(t, name, k->name) || k->has_twin) continue;
        add_before(t, k->start,
                   format(" %s__attribute__((unused)) auto emu_launch_%s%s-> void (*)%s;",
                          k->template, k->name, k->list, k->list));
        k->has_twin = true;
    }
    return true;
}

/* Whether something between the two brackets cannot be written down twice: each lambda is a
 * type of its own, and of what changes a variable compilers warn where it is not run. */
static bool only_once(const struct translation *t, int open, int close)
{
    for (int i = next(t, open); i < close; i = next(t, i)) {
        const int before = previous(t, i);
        if (is(t, i, "[") && !is_among(t, before, ") ]") && !is_name(t, before))
            return true;
        if (is_among(t, i, "= ++ --")) return true;
    }
    return false;
}

/* A launch of what has twins: `first` to `last` is the kernel, `open` the bracket of its
 * arguments, which are the argument of the twin too; those that can be written down only
 * once are first made the arguments of a lambda. Returns what ends the configuration. */
static const char *rewrite_twin_launch(struct translation *t, int first, int name,
                                       int last, int open)
{
    const int close = over_bracket(t, open);
    const bool lambda = only_once(t, open, close);
    char *arguments, *parameters = "";
    if (lambda)
        parameters = split_arguments(t, open, true, &arguments);
    else
        arguments = join(t, next(t, open), previous(t, close));
    if (lambda)
        add_before(
            t, first,
            format(" [&](%s) __attribute__((no_sanitize(\"thread\"))) {", parameters));
    const char *const scope = first < name ? join(t, first, previous(t, name)) : "";
    add_before(t, first,
               format(" ::emu::kernel(static_cast<decltype(%semu_launch_%s(%s))>(", scope,
                      join(t, name, last), arguments));
    add_after(t, last, format("), %s, ::emu::config(", quote(join(t, first, last))));
    return lambda ? format("))(%s); }", arguments) : "))";
}

/* <<< at token i. */
static void rewrite_launch(struct translation *t, int i)
{
    int last = previous(t, i), first = expression_start(t, last);
    if (first < 0) return;
    int close = next(t, third(t, i));
    for (;; close = next(t, over_bracket(t, close))) {
        if (t->tokens[close].kind == END || is_among(t, close, "; ) ] }")) {
            error(t, i, "a kernel launch needs <<<grid, block>>>(arguments)");
            return;
        }
        if (three(t, close, ">") && is(t, next(t, third(t, close)), "(")) break;
    }
    if (close == next(t, third(t, i))) {
        error(t, i, "a kernel launch needs <<<grid, block>>>(arguments)");
        return;
    }

    int name = last, arguments = -1;
    bool one = true, variadic = false;
    if (is(t, last, ">")) {
        int open = back_over_angles(t, last);
        arguments = template_parameter_count(t, open, last, &variadic);
        name = previous(t, open);
    }
    int owner = previous(t, name);
    if (is_word(t, name) && !is_among(t, owner, ". ->")) {
        one = denotes_one_function(t, name, arguments) && !variadic &&
              !(names_kernel(t, name) && declared_for_host(t, word_at(t, name), false));
        check_launched(t, name);
    }
    const char *configured = "))";
    const int open = next(t, third(t, close));
    char *text = quote(join(t, first, last));
    if (one) {
        add_before(t, first, " ::emu::kernel(");
        add_after(t, last, format(", %s, ::emu::config(", text));
    } else if (is_word(t, name) && !is_among(t, owner, ". ->") && make_twins(t, name)) {
        configured = rewrite_twin_launch(t, first, name, last, open);
    } else {
        char *call, *parameters = split_arguments(t, open, false, &call);
        add_before(
            t, first,
            format(" ::emu::deduced([&](%s) __attribute__((no_sanitize(\"thread\"))) { ",
                   parameters));
        add_after(t, last, format("(%s); }, %s, ::emu::config(", call, text));
    }
    replace(t, close, configured);
    for (int k = 0; k < 3; k++, i = next(t, i), close = next(t, close)) {
        replace(t, i, "");
        if (k > 0) replace(t, close, "");
    }
}

/* ---- bit-fields ---- */

/* Whether a class has a bit-field of that name: `unsigned a : 3, b : 5;`. */
static bool is_bit_field(const struct translation *t, int name)
{
    const char *text = word_at(t, name);
    for (int i = -1; (i = next_named(t, i, text)) >= 0;) {
        const int before = previous(t, i), colon = next(t, i);
        if (is(t, colon, ":") && is_among(t, next(t, next(t, colon)), "; ,") &&
            (is(t, before, ",") || (is_word(t, before) && !is(t, before, "case"))))
            return true;
    }
    return false;
}

/* bits[i].a = x  becomes  filled(bits[i]).a = x. */
static void note_bit_field(struct translation *t, int i)
{
    const int before = previous(t, i), last = previous(t, before);
    if (!t->tokens[i].device || !is_among(t, before, ". ->") || !is(t, next(t, i), "="))
        return;
    const int first = is_bit_field(t, i) ? expression_start(t, last) : -1;
    if (first < 0) return;
    add_before(t, first, " ::emu::filled(");
    add_after(t, last, ")");
}

/* ---- the walk ---- */

static void enter_scope(struct translation *t, int brace)
{
    struct scope scope = {.kind = BLOCK, .brace = brace, .path_length = strlen(t->path)};
    const char *name = "";
    int start = brace;
    for (int i = previous(t, brace); i >= 0 && !is_among(t, i, "; { }");
         i = previous(t, i)) {
        if (is(t, i, ")")) {
            /* A parameter list makes it a function; alignas(16) and attributes do not. */
            i = t->tokens[i].match;
            if (i < 0) break;
            int before = previous(t, i);
            if (before < 0 ||
                !is_among(t, before,
                          "alignas __align__ __attribute__ declspec requires && ||")) {
                start = -1;
                break;
            }
        } else if (is(t, i, ">") && back_over_angles(t, i) >= 0) {
            i = back_over_angles(
                t, i); /* `template <class T>` says nothing about this scope */
        }
        start = i;
    }
    for (int i = start; i >= 0 && i < brace; i = next(t, i)) {
        if (is(t, i, "template") && is(t, next(t, i), "<"))
            i = over_angles(t, next(t, i));
        if (i < 0) break;
        if (is(t, i, "namespace")) {
            scope.kind = NAMESPACE;
            name = next(t, i) == brace
                       ? ""
                       : format("%s::", join(t, next(t, i), previous(t, brace)));
            break;
        }
        if (is(t, i, "extern") && next(t, next(t, i)) == brace) scope.kind = NAMESPACE;
        if (is_among(t, i, "class struct union enum")) scope.kind = CLASS;
        if (is(t, i, "=")) scope.kind = BLOCK;
    }
    t->path = format("%s%s", t->path, name);
    need_one_more(t->scopes, t->scope_count);
    t->scopes[t->scope_count++] = scope;
}

static void leave_scope(struct translation *t)
{
    if (t->scope_count == 0) return;
    t->path = format("%.*s", (int)t->scopes[--t->scope_count].path_length, t->path);
}

/* ---- types that are called like a wider scope's ---- */

/* class X, struct X: in a namespace. */
static void note_type(struct translation *t, int i)
{
    if (t->scope_count && t->scopes[t->scope_count - 1].kind != NAMESPACE) return;
    int name = next(t, i);
    while (is_among(t, name, "alignas __align__ __attribute__"))
        name = next(t, over_bracket(t, next(t, name)));
    if (!is_word(t, name) || !is_among(t, next(t, name), "{ : ; final")) return;
    need_one_more(t->types, t->type_count);
    t->types[t->type_count++] = (struct named_type){name, t->path};
}

/* using X = X<int>; in a class. By the rules of C++ X may not mean two things there, and
 * g++ says so; NVIDIA's compiler lets it pass and gives g++ the whole name, as here. */
static void complete_name(struct translation *t, int i)
{
    if (!t->scope_count || t->scopes[t->scope_count - 1].kind != CLASS ||
        (t->scope_count > 1 && t->scopes[t->scope_count - 2].kind != NAMESPACE))
        return;
    const int name = next(t, i), meant = next(t, next(t, name));
    const char *word = word_at(t, name), *path = NULL;
    if (!is(t, next(t, name), "=") || !is(t, meant, word)) return;
    for (int n = 0; n < t->type_count; n++) {
        const struct named_type *type = &t->types[n];
        if (is(t, type->name, word) &&
            strncmp(type->path, t->path, strlen(type->path)) == 0 &&
            (!path || strlen(type->path) > strlen(path)))
            path = type->path;
    }
    if (path) replace(t, meant, format("::%s%s", path, word));
}

/* ---- inline PTX ---- */

enum { MOST_ARGUMENTS = 512 };

struct asm_statement {
    struct translation *t;
    int first, end; /* the strings of the template, and what follows them */
    char *text;
    int *lines;
    size_t length;
    struct ptx_argument argument[MOST_ARGUMENTS];
    int place[MOST_ARGUMENTS],
        close[MOST_ARGUMENTS];    /* of each, its first and last token */
    bool updated[MOST_ARGUMENTS]; /* its constraint has a + */
    int arguments;
    char *unknown; /* what is wrong with a header's statement */
};

static int digit_of(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : (tolower((unsigned char)c) - 'a') + 10;
}

static void add_character(struct asm_statement *a, char c, int line)
{
    a->text[a->length] = c;
    a->lines[a->length++] = line;
}

/* A string literal's characters, without its quotes and with what its escapes mean. */
static void add_literal(struct asm_statement *a, int i)
{
    const struct token *token = &a->t->tokens[i];
    const char *p = token->text, *end = p + token->length - 1;
    int line = token->line;
    const bool raw = memchr(p, 'R', (size_t)(strchr(p, '"') - p)) != NULL;
    p = strchr(p, '"') + 1;
    if (raw) {
        const char *open = strchr(p, '(');
        for (end -= open - p + 1, p = open + 1; p < end; p++) {
            add_character(a, *p, line);
            line += *p == '\n';
        }
        return;
    }
    while (p < end) {
        char c = *p++;
        if (c == '\\') {
            static const char names[] = "ntrvfab", meant[] = "\n\t\r\v\f\a\b";
            c = *p++;
            const char *known = strchr(names, c);
            if (known && c) {
                c = meant[known - names];
            } else if (c == 'x') {
                for (c = 0; p < end && isxdigit((unsigned char)*p); p++)
                    c = (char)(c * 16 + digit_of(*p));
            } else if (c >= '0' && c <= '7') {
                for (c = (char)(c - '0'); p < end && *p >= '0' && *p <= '7'; p++)
                    c = (char)(c * 8 + digit_of(*p));
            }
        }
        add_character(a, c, line);
    }
}

/* The first token is a marker with the name of the file that is compiled. */
static bool in_header(const struct translation *t, int i)
{
    return t->tokens[i].system || strcmp(t->tokens[i].file, t->tokens[0].file) != 0;
}

/* A header has many functions of which a program uses few, and NVIDIA's assembler sees
 * none but these. What is wrong with a statement there is said by the compiler if it is
 * used; in a library's, when it is executed. */
static char *unknown_statement(const struct translation *t, int i, const char *what)
{
    if (t->tokens[i].system) return format("::emu_ptx_unknown(%s)", quote(what));
    return format("do { void emu_ptx_unknown_%d() __attribute__((error(%s))); "
                  "emu_ptx_unknown_%d(); } while (0)",
                  i, quote(what), i);
}

static void asm_error(void *context, int line, const char *message)
{
    struct asm_statement *a = context;
    if (in_header(a->t, a->first)) {
        if (!a->unknown) a->unknown = format("%s", message);
        return;
    }
    int at = a->first;
    for (int i = a->first; i < a->end; i = next(a->t, i))
        if (a->t->tokens[i].line <= line) at = i;
    error(a->t, at, message);
}

/* An operand at token i, its constraint. Returns the token behind the operand, or -1. */
static int read_argument(struct asm_statement *a, int i, bool output)
{
    struct translation *t = a->t;
    if (is(t, i, "[")) {
        error(t, i, "an asm operand cannot have a name: nvcc knows only %0, %1, ...");
        return -1;
    }
    /* The constraint may be several strings: "=" "r". */
    char constraint[8] = "";
    int open = i;
    for (size_t n = 0; t->tokens[open].kind == STRING; open = next(t, open)) {
        const struct token *part = &t->tokens[open];
        for (unsigned c = 1; c + 1 < part->length && n < sizeof constraint - 1; c++)
            constraint[n++] = part->text[c];
        replace(t, open, "");
    }
    if (open == i || !is(t, open, "(")) {
        error(t, i, "asm: an operand is a constraint and an expression, \"r\"(x)");
        return -1;
    }
    const char *letter = constraint + strcspn(constraint, "rlhfdn");
    const size_t prefix = strspn(constraint, "=+&");
    if (!*letter || letter[1] || (size_t)(letter - constraint) != prefix ||
        (prefix > 0) != output || (output && *letter == 'n')) {
        error(t, i,
              format("asm: the constraint of an %s is one of %s, not \"%s\"",
                     output ? "output" : "input",
                     output ? "\"=r\" \"=l\" \"=h\" \"=f\" \"=d\", or with + for ="
                            : "\"r\" \"l\" \"h\" \"f\" \"d\" \"n\"",
                     constraint));
        return -1;
    }
    if (a->arguments == MOST_ARGUMENTS) {
        error(t, i, "asm: too many operands");
        return -1;
    }
    const int n = a->arguments++, close = over_bracket(t, open);
    a->argument[n] = (struct ptx_argument){*letter, output, false, false};
    a->place[n] = i;
    a->close[n] = close;
    a->updated[n] = strchr(constraint, '+') != NULL;
    return next(t, close);
}

/* Makes of operand n the declaration of its variable. */
static void declare_argument(struct asm_statement *a, int n)
{
    struct translation *t = a->t;
    const struct ptx_argument *argument = &a->argument[n];
    const int i = a->place[n], close = a->close[n];
    if (argument->by_address) {
        replace(t, i, format(" auto &&emu_o%d = ", n));
        add_after(t, close, format("; (void)emu_o%d;", n));
    } else if (argument->written) {
        replace(t, i, format(" auto &&emu_o%d = ", n));
        /* What an instruction never writes shows: -1, or a NaN. */
        add_after(t, close,
                  a->updated[n]
                      ? format("; uint64_t emu_%d = ::emu::ptx_value<'%c'>(emu_o%d);", n,
                               argument->letter, n)
                      : format("; uint64_t emu_%d = ~0ull;", n));
    } else if (argument->placed) {
        replace(t, i, format(" auto &&emu_o%d = ", n));
        add_after(t, close,
                  format("; const uint64_t emu_%d = ::emu::ptx_value<'%c'>(emu_o%d);", n,
                         argument->letter, n));
    } else {
        replace(t, i,
                argument->letter == 'n'
                    ? format(" __attribute__((unused)) const uint64_t emu_%d = "
                             "::emu::ptx_constant",
                             n)
                    : format(" __attribute__((unused)) const uint64_t emu_%d = "
                             "::emu::ptx_value<'%c'>",
                             n, argument->letter));
        add_after(t, close, ";");
    }
}

/* Whether %n stands in the text. */
static bool names_operand(const struct asm_statement *a, int n)
{
    for (size_t i = 0; i + 1 < a->length; i++) {
        if (a->text[i] != '%') continue;
        int number = 0;
        size_t digit = i + 1;
        for (; digit < a->length && isdigit((unsigned char)a->text[digit]); digit++)
            number = number * 10 + (a->text[digit] - '0');
        if (digit > i + 1 && number == n) return true;
        if (a->text[i + 1] == '%') i++;
    }
    return false;
}

/* Whether the function around token i is hardly more than its asm statements: a name for
 * an instruction. Who calls it is then what a reader wants to know. */
static bool is_wrapper(const struct translation *t, int i)
{
    enum { FEW = 60 };
    int body = i, words = 0;
    for (int k = previous(t, i); k >= 0 && t->tokens[k].device; k = previous(t, k)) {
        if (t->tokens[k].match >= 0 && t->tokens[k].match < k)
            k = t->tokens[k].match;
        else if (is(t, k, "{"))
            body = k;
    }
    for (int k = body; k < over_bracket(t, body) && words <= FEW; k = next(t, k)) {
        if (is_among(t, k, "asm __asm__ __asm"))
            while (!is(t, k, "(") && k < t->count - 1) k = next(t, k);
        if (is(t, k, "(") && t->tokens[next(t, k)].kind == STRING) k = over_bracket(t, k);
        words++;
    }
    return words <= FEW;
}

/* asm volatile("..." : "=r"(x) : "r"(y) : "memory");  becomes
 * do { auto &&emu_o0 = (x); ... const uint64_t emu_1 = ...(y); code ... } while (0);
 * The expressions stay where they are. */
static void rewrite_asm(struct translation *t, int i)
{
    struct asm_statement *a = need(calloc(1, sizeof *a));
    int open = next(t, i);
    while (is_among(t, open, "volatile __volatile__ __volatile inline goto"))
        open = next(t, open);
    if (!is(t, open, "(") || !t->tokens[i].device) return;
    const int close = over_bracket(t, open);
    a->t = t;
    a->first = a->end = next(t, open);
    size_t most = 1;
    for (; t->tokens[a->end].kind == STRING; a->end = next(t, a->end))
        most += t->tokens[a->end].length;
    if (a->end != close && !is_among(t, a->end, ": ::")) {
        error(t, a->end, "asm: the text must be a string literal");
        return;
    }
    a->text = need(malloc(most));
    a->lines = need(malloc(most * sizeof *a->lines));
    for (int k = a->first; k < a->end; k = next(t, k)) add_literal(a, k);
    /* An empty text without operands means the same everywhere: a barrier to the
     * compiler. */
    const bool clobbers_only = is(t, a->end, "::") && is(t, next(t, a->end), ":") &&
                               t->tokens[next(t, next(t, a->end))].kind == STRING;
    if (!a->length && (a->end == close || clobbers_only)) return;

    int section = 0;
    for (int k = a->end; k >= 0 && k < close;) {
        if (is_among(t, k, ": ::")) {
            section += (int)t->tokens[k].length;
            replace(t, k, "");
            k = next(t, k);
        } else if (is(t, k, ",") || section > 2) {
            replace(t, k, "");
            k = next(t, k);
        } else {
            k = read_argument(a, k, section == 1);
        }
        if (k < 0) return;
    }
    const struct token *token = &t->tokens[i], *last = &t->tokens[close];
    const struct ptx_statement statement = {
        .text = a->text,
        .lines = a->lines,
        .length = a->length,
        .file = is_wrapper(t, i) ? format("%s@asm", token->file) : token->file,
        .number = i,
        .arguments = a->argument,
        .argument_count = a->arguments,
        .error = asm_error,
        .context = a};
    /* What the text does not name it does not touch: such operands only tie the compiler, to
     * a wgmma.wait_group for one. */
    for (int n = 0; n < a->arguments; n++)
        if (!a->length || (a->updated[n] && !names_operand(a, n)))
            a->argument[n].by_address = true;
    char *code = ptx_compile(&statement);
    if (a->unknown) {
        for (int k = i; k <= close; k = next(t, k)) replace(t, k, "");
        replace(t, i, unknown_statement(t, i, a->unknown));
        return;
    }
    if (!code) return;
    for (int n = 0; n < a->arguments; n++) declare_argument(a, n);
    for (int n = 0; n < a->arguments; n++)
        if (a->argument[n].written && !a->argument[n].by_address)
            code = format("%s ::emu::ptx_set<'%c'>(emu_o%d, emu_%d);", code,
                          a->argument[n].letter, n, n);
    for (int k = i; k < a->end; k = next(t, k)) replace(t, k, "");
    replace(t, i, "do");
    replace(t, open, "{");
    replace(t, close,
            format("%s\n# %d \"%s\"\n} while (0)", code, last->line, last->file));
}

/* Whether the bracket at token i is a call's: f(... or f<...>(... */
static bool opens_call(const struct translation *t, int i)
{
    const int name = previous(t, i);
    return is(t, i, "(") &&
           (is(t, name, ">") ||
            (is_name(t, name) && !is_among(t, name,
                                           "if while switch for decltype sizeof "
                                           "alignof noexcept typeid")));
}

/* Of a bracket that closes at token i, or of a list in angles, where it opens. */
static int over_back(const struct translation *t, int i)
{
    const int open = is(t, i, ">") ? back_over_angles(t, i) : t->tokens[i].match;
    return open >= 0 && open < i ? open : i;
}

/* Whether the expression from `first` to `last` is all that a variable begins with, that
 * is returned, or that is a call's argument; not a template's, which no call can be. */
static bool is_whole_value(const struct translation *t, int first, int last)
{
    const int before = previous(t, first), behind = next(t, last);
    if (is_among(t, before, "return")) return is(t, behind, ";");
    if (is(t, before, "=") && is_among(t, behind, "; ,")) {
        int i = previous(t, before);
        while (i >= 0 && !is_among(t, i, "; { } ( <")) {
            if (is_among(t, i, "constexpr constinit")) return false;
            i = previous(t, over_back(t, i));
        }
        return i < 0 || !is_among(t, i, "( <");
    }
    if (!is_among(t, before, "( ,") || !is_among(t, behind, ") ,")) return false;
    int open = before;
    while (open >= 0 && is(t, open, ",")) {
        open = previous(t, open);
        while (open >= 0 && !is_among(t, open, ", ( < ; { }"))
            open = previous(t, over_back(t, open));
    }
    return open >= 0 && opens_call(t, open);
}

/* (void *)k<int>, cudaLaunchKernel(k<int>, f = k<int>: only there is it known which
 * functions of a template cudaLaunchKernel may be given, so the expression tells the
 * runtime as it is evaluated. */
static void register_instance(struct translation *t, int i)
{
    const int open = next(t, i), close = over_angles(t, open);
    if (t->tokens[i].system || close < 0 || is_among(t, next(t, close), "( <")) return;
    bool variadic = false;
    const int arguments = template_parameter_count(t, open, close, &variadic);
    if (variadic || !denotes_one_function(t, i, arguments)) return;
    int first = expression_start(t, close);
    if (first < 0) return;
    char *text = quote(join(t, first, close));
    const bool pointer = is(t, previous(t, first), "&");
    if (pointer) first = previous(t, first);
    const int before = previous(t, first);
    bool address = !t->tokens[i].device && is_whole_value(t, first, close);
    const int end = is(t, before, ")")   ? before
                    : is(t, before, "(") ? previous(t, before)
                                         : -1;
    if (end >= 0 && is_among(t, end, ") >") && is(t, previous(t, end), "*"))
        address |= is_among(t, previous(t, previous(t, end)), "void const");
    if (!address) return;
    /* Without &, the function itself is meant: a reference may be bound to it. */
    add_before(t, first, pointer ? " ::emu::address_of(" : " (*::emu::address_of(");
    add_after(t, close, format(pointer ? ", %s)" : ", %s))", text));
}

/* A bound that is surely known to the compiler: a number, or a name in capitals as
 * constants have, a class's too (T::TM), but not M, N or K. */
static bool constant_bound(const struct translation *t, int i)
{
    const struct token *token = &t->tokens[i];
    if (isdigit((unsigned char)token->text[0])) return true;
    if (token->kind != WORD || token->length < 2) return false;
    for (size_t c = 0; c < token->length; c++)
        if (islower((unsigned char)token->text[c])) return false;
    return true;
}

/* Whether tokens i to end hold no call and no decision, but between numbers (a ? b : c),
 * and, if `nested`, for loops that are themselves straight. */
static bool straight(const struct translation *t, int i, int end, bool nested)
{
    for (bool chooses = false; i < end; i = next(t, i)) {
        chooses = is(t, i, "?") || (chooses && !is(t, i, ";"));
        if (is_among(t, i, chooses ? "[ * ->" : "") || (is(t, i, "for") && !nested) ||
            is_among(t, i, "if else switch while do && || return break continue goto"))
            return false;
        if (is_word(t, i) && !is(t, i, "for") && is(t, next(t, i), "(")) return false;
    }
    return true;
}

/* for (int i = 0; i < CONSTANT; ++i) over straight code: nvcc unrolls it, and here too
 * that saves the calls that report each basic block. Loops with decisions inside stay as
 * they are, because their unrolled copies would no longer be the same place in the
 * program for all lanes of a warp. T::TM is a template's, which is compiled many times:
 * of such loops only the innermost, or the compiler takes longer than they ever run. */
static void unroll_loop(struct translation *t, int i)
{
    const int open = next(t, i), before = previous(t, i);
    if (!is(t, open, "(") || t->tokens[i].system || !is_among(t, before, "; { } )"))
        return;
    const int close = previous(t, over_bracket(t, open));
    int first = next(t, open), less = first;
    while (less < close && !is(t, less, ";")) less = next(t, less);
    const int variable = next(t, less);
    int end = next(t, close), bound = next(t, next(t, variable));
    if (less >= close || !is_word(t, variable) || !is(t, next(t, variable), "<")) return;
    const bool of_class = is(t, next(t, bound), "::");
    while (is(t, next(t, bound), "::")) bound = next(t, next(t, bound));
    if (!constant_bound(t, bound) || !is(t, next(t, bound), ";")) return;
    if (is(t, end, "{")) {
        end = over_bracket(t, end);
    } else {
        while (end < t->count - 1 &&
               !is(t, end, ";")) /* nested loops: skip their headers */
            end =
                is(t, end, "(") || is(t, end, "{") ? over_bracket(t, end) : next(t, end);
    }
    if (!straight(t, next(t, close), end, !of_class)) return;
    add_before(t, i,
               format("\n#pragma GCC unroll 16\n# %d \"%s\"\n", t->tokens[i].line,
                      t->tokens[i].file));
}

/* Whether the word is called as a function of the C library: not a member, not in a
 * namespace but std, no declaration. */
static bool calls_library(struct translation *t, int i)
{
    int before = previous(t, i);
    if (t->tokens[i].system || !is(t, next(t, i), "(")) return false;
    if (is_among(t, before, ". -> *") || program_declares(t, i)) return false;
    if (is(t, before, "::")) {
        before = previous(t, before);
        if (is(t, before, "std")) before = previous(t, before);
        if (is(t, before, "::")) before = previous(t, before);
    }
    return !is_name(t, before) && !is(t, before, ">");
}

/* Sends the call to a function of the runtime instead. */
static void redirect(struct translation *t, int i, const char *function)
{
    for (int before = previous(t, i); is_among(t, before, ":: std");
         before = previous(t, before))
        replace(t, before, "");
    replace(t, i, function);
}

/* A specifier at i: whether __shared__ follows, which then takes care of it. */
static bool comes_before_shared(const struct translation *t, int i)
{
    while (t->tokens[i].kind != END && !is_among(t, i, "; = { } __shared__"))
        i = next(t, over_bracket(t, i));
    return is(t, i, "__shared__");
}

/* Calls whose error nobody ought to ignore, and whether this one is a statement of its own,
 * so that nobody looks at what it returns. */
#define WITH_AN_ERROR                                                                    \
    "cudaMalloc cudaMallocManaged cudaMallocHost cudaFree cudaFreeHost cudaFreeAsync "   \
    "cudaMemcpy cudaMemcpyAsync "                                                        \
    "cudaMemcpy2D "                                                                      \
    "cudaMemcpy2DAsync cudaMemcpyToSymbol cudaMemcpyFromSymbol cudaMemset "              \
    "cudaMemsetAsync cudaFuncSetAttribute cudaDeviceSynchronize cudaStreamSynchronize "  \
    "cudaEventSynchronize"

/* Whether a colon ends a label, and does not belong to a `? :`. */
static bool ends_label(const struct translation *t, int colon)
{
    int i = previous(t, colon);
    if (is_word(t, i) && is_among(t, previous(t, i), "; { } :")) return true;
    while (i >= 0 && !is_among(t, i, "case ? ; { }")) i = previous(t, i);
    return i >= 0 && is(t, i, "case");
}

static bool begins_statement(const struct translation *t, int i)
{
    const int before = previous(t, i);
    if (is(t, before, ")"))
        return is_among(t, previous(t, t->tokens[before].match),
                        "if constexpr for while");
    if (is(t, before, ":")) return ends_label(t, before);
    return is_among(t, before, "; { } else do");
}

/* What it returns is of no use to anyone. In GCC's `({ ...; })` the last statement is the
 * value of the whole, and used. */
static bool leaves_its_result(struct translation *t, int i)
{
    if (t->tokens[i].system || !is(t, next(t, i), "(") || !begins_statement(t, i))
        return false;
    const int end = next(t, over_bracket(t, next(t, i))), behind = next(t, end);
    return is(t, end, ";") && !(is(t, behind, "}") && is(t, next(t, behind), ")")) &&
           !program_declares(t, i);
}

/* C++ that needs more of a machine than a GPU gives. `throw()` is a promise, of a lambda. */
static void check_for_device(struct translation *t, int i)
{
    if (!is(t, i, "throw") || !is(t, next(t, i), "(") || !is(t, third(t, i), ")"))
        error(t, i,
              is_among(t, i, "throw try")
                  ? "device code does not support exceptions"
                  : format("%s is not allowed in device code", word_at(t, i)));
}

static void rewrite_word(struct translation *t, int i)
{
    if (t->tokens[i].replacement) return; /* done with its declaration */
    if (is_among(t, i, "__global__ __device__ __constant__ __managed__")) {
        struct declaration d = parse_declaration(t, i);
        bool shared = false;
        for (int k = d.start; k < d.terminator; k++) shared |= is(t, k, "__shared__");
        if (shared)
            replace(t, i, "");
        else
            rewrite_place(t, i);
    } else if (is(t, i, "__shared__")) {
        rewrite_shared(t, i);
    } else if (is_among(t, i, "__host__ __grid_constant__ __inline_hint__ __nv_pure__")) {
        replace(t, i, "");
    } else if (is_among(
                   t, i,
                   "__launch_bounds__ __maxnreg__ __cluster_dims__ __block_size__")) {
        remove_with_parenthesis(t, i);
    } else if (is(t, i, "__noinline__")) {
        replace(t, i, "__attribute__((noinline))");
    } else if (is(t, i, "__forceinline__")) {
        replace(t, i, "inline __attribute__((always_inline))");
    } else if (is(t, i, "__align__") && is(t, next(t, i), "(")) {
        if (in_function(t) && comes_before_shared(t, i)) return;
        replace(t, i, "__attribute__((aligned");
        add_after(t, over_bracket(t, next(t, i)), "))");
    } else if (is_among(t, i, "memcpy memmove memset") && calls_library(t, i)) {
        redirect(t, i, format("__tsan_%s", word_at(t, i)));
    } else if (is_among(t, i, "malloc free") && t->tokens[i].device &&
               calls_library(t, i)) {
        redirect(t, i, format("emu_device_%s", word_at(t, i)));
    } else if (is(t, i, "printf") && calls_library(t, i)) {
        redirect(t, i, "emu_printf");
    } else if (is_among(t, i, WITH_AN_ERROR) && leaves_its_result(t, i)) {
        add_before(t, i, format("::emu::unread(\"%s\", ", word_at(t, i)));
        add_after(t, over_bracket(t, next(t, i)), ")");
    } else if (is_among(t, i, "atomicExch atomicExch_block atomicExch_system") &&
               leaves_its_result(t, i)) {
        redirect(t, i, format("emu_put_%s", word_at(t, i)));
    } else if (is(t, i, "for")) {
        unroll_loop(t, i);
    } else if (is(t, i, "static") && t->tokens[i].device && !t->tokens[i].system) {
        note_local_static(t, i);
    } else if (is_among(t, i, "throw try typeid dynamic_cast") && t->tokens[i].device &&
               !t->tokens[i].system) {
        check_for_device(t, i);
    } else if (is_among(t, i, "asm __asm__ __asm")) {
        rewrite_asm(t, i);
    } else if (is_among(t, i, "class struct")) {
        note_type(t, i);
    } else if (is(t, i, "using")) {
        complete_name(t, i);
    } else if (!t->tokens[i].system) {
        check_called(t, i);
        take_host_name(t, i);
        note_variable_of_template(t, i);
        note_bit_field(t, i);
        if (is_among(t, next(t, i), "[ , =")) check_local_arrays(t, i);
        if (is(t, next(t, i), "<")) register_instance(t, i);
    }
}

/* Whether a cast can name these parameters: no defaults, no functions, and no type that was
 * taken for a parameter's name, behind a word that never is the last of a type. */
static bool can_be_cast_to(const struct kernel *k)
{
    static const char *const words[] = {"const", "volatile", "struct", "class", "enum"};
    if (k->defaults || strchr(k->parameters, '(')) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *p = k->parameters;
        while ((p = strstr(p, words[i])) != NULL) {
            p += strlen(words[i]);
            if (!*p || strncmp(p, " ,", 2) == 0) return false;
        }
    }
    return true;
}

/* Tells the runtime the kernels that cudaLaunchKernel may be given the address of. */
static void register_kernels(struct translation *t)
{
    for (int i = 0; i < t->kernel_count; i++) {
        const struct kernel *k = &t->kernels[i];
        if (!k->defined || k->template_parameters >= 0 ||
            declared_for_host(t, k->name, false))
            continue;
        if (!overloaded(t, k))
            add_before(t, t->count - 1,
                       format("\nstatic ::emu::known_kernel emu_k%d(%s%s, \"%s\");", i,
                              k->scope, k->name, k->name));
        else if (can_be_cast_to(k)) {
            /* The types of its parameters may be those of the namespace it belongs to. */
            char *open = "", *close = "";
            for (const char *word = k->inner, *end; (end = strstr(word, "::")) != NULL;
                 word = end + 2) {
                open = format("%s namespace %.*s {", open, (int)(end - word), word);
                close = format("%s }", close);
            }
            add_after(t, k->end,
                      format("%s static ::emu::known_kernel emu_k%d("
                             "static_cast<void (*)(%s)>(%s), \"%s\");%s",
                             open, i, k->parameters, k->name, k->name, close));
        }
    }
}

/* #pragma unroll and nvcc's own pragmas mean nothing to the host compiler, and it would
 * say so. */
static bool nvcc_pragma(const struct token *token)
{
    const char *p = token->text + 1, *end = token->text + token->length;
    const char *words[] = {"unroll", "nounroll", "nv_", "diag_", "hd_warning_disable"};
    while (p < end && *p == ' ') p++;
    if (end - p < 7 || memcmp(p, "pragma ", 7) != 0) return false;
    for (p += 7; p < end && *p == ' '; p++) continue;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(end - p) >= strlen(words[i]) &&
            memcmp(p, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static void walk(struct translation *t)
{
    for (int i = 0; t->tokens[i].kind != END; i++) {
        const struct token *token = &t->tokens[i];
        if (token->kind == DIRECTIVE) {
            if (nvcc_pragma(token)) replace(t, i, "");
        } else if (is(t, i, "{")) {
            enter_scope(t, i);
        } else if (is(t, i, "}")) {
            leave_scope(t);
        } else if (is(t, i, "__attribute__") || is(t, i, "__attribute")) {
            i = over_bracket(t,
                             next(t, i)); /* __noinline__ has another meaning in there */
        } else if (token->kind == WORD) {
            rewrite_word(t, i);
        } else if (three(t, i, "<")) {
            rewrite_launch(t, i);
            i = third(t, i);
        }
    }
}

/* How far `at` stands behind the beginning of its line, in a text from `start` on. */
static size_t column_of(const char *start, const char *at)
{
    const char *const newline = memrchr(start, '\n', (size_t)(at - start));
    return (size_t)(at - (newline ? newline + 1 : start));
}

/* Goes to the column where the reader's token was, so that the compiler's arrows point at
 * it. Where edits have made the line too long for that, a line marker begins the same
 * line again, with the backslashes that its file's name has in the marker it is from. */
static void restore_column(struct text *out, const struct token *token, size_t column)
{
    size_t now = out->length ? column_of(out->start, out->start + out->length) : 0;
    if (now > column) {
        put_string(out, format("\n# %d \"%s\"\n", token->line, token->file));
        now = 0;
    }
    for (; now < column; now++) put(out, " ", 1);
}

static char *assemble(const struct translation *t, size_t *length)
{
    struct text out = {0};
    const char *from = t->text;
    bool edited = false; /* the line we are in */
    for (int i = 0; i < t->count; i++) {
        const struct token *token = &t->tokens[i];
        const size_t space = (size_t)(token->text - from);
        if (memchr(from, '\n', space)) edited = false;
        put(&out, from, space);
        edited |= token->before || token->replacement;
        put_string(&out, token->before);
        if (edited && !token->replacement && !token->system && token->kind != END)
            restore_column(&out, token, column_of(t->text, token->text));
        edited |= token->after != NULL;
        if (token->replacement)
            put_string(&out, token->replacement);
        else
            put(&out, token->text, token->length);
        put_string(&out, token->after);
        from = token->text + token->length;
    }
    *length = out.length;
    return out.start;
}

char *translate(const char *text, size_t length, enum visibility visibility,
                size_t *new_length)
{
    struct translation t = {
        .text = text, .end = text + length, .visibility = visibility, .path = ""};
    tokenize(&t);
    match_brackets(&t);
    walk(&t);
    register_kernels(&t);
    char *result = t.errors ? NULL : assemble(&t, new_length);
    free(t.tokens);
    return result;
}
