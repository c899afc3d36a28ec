// SPDX-License-Identifier: MIT
#include "cli/batch_file.h"

#include "base/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct batch_file {
    struct script *s;
    const char *p;
    int blocks;       // open ( ) of commands that run under a condition
    bool conditional; // the rest of the line
    bool jumps;       // goto or a label came before
    bool ended;
};

static const char *past_blanks(const char *p) { return p + strspn(p, " \t"); }

// Returns true if a word stands at p, in either case.
static bool has_word(const char *p, const char *word)
{
    const size_t len = strlen(word);
    return name_find(word, NAME_ANY_CASE, p, strnlen(p, len)) >= 0 && !isalnum((unsigned char)p[len]) && p[len] != '_';
}

bool batch_file_is(const char *text)
{
    if (!strncmp(text, "#!", 2))
        return false;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *const at = past_blanks(line);
        const size_t len = strcspn(at, "\r\n");
        if ((*at == '@' && isalpha((unsigned char)at[1])) || !strncmp(at, "::", 2) || has_word(at, "rem") ||
            has_word(at, "setlocal") || (len > 1 && at[len - 1] == '^' && isblank((unsigned char)at[len - 2])))
            return true;
        const char *const percent = memchr(at, '%', len);
        size_t name = 0;
        while (percent && (isalnum((unsigned char)percent[1 + name]) || percent[1 + name] == '_'))
            name++;
        if (name > 1 && percent[1 + name] == '%' && *at != '#')
            return true;
    }
    return false;
}

static bool is_conditional(const struct batch_file *b) { return b->conditional || b->blocks || b->jumps; }

// Appends %NAME% or !NAME!, and returns its length; 0: there is none.
static size_t add_variable(struct batch_file *b, const char *p, struct marked_text *t)
{
    const size_t len = strcspn(p + 1, "%!\r\n :"), name = strcspn(p + 1, "%!\r\n");
    if (*p == '%' && p[1] == '%') { // a percent sign, or the variable of `for`
        text_add(b->s, t, p + 1, 1 + (isalpha((unsigned char)p[2]) != 0),
                 isalpha((unsigned char)p[2]) ? MARK(DOUBT_UNKNOWN) : MARK(DOUBT_NONE));
        return 2 + (isalpha((unsigned char)p[2]) != 0);
    }
    if (*p == '%' && (isdigit((unsigned char)p[1]) || p[1] == '*' || p[1] == '~')) { // arguments
        const size_t n = 1 + strcspn(p + 1, "0123456789* \r\n\"") + 1;
        text_add(b->s, t, p, n, MARK(DOUBT_UNKNOWN));
        return n;
    }
    if (!name || p[1 + name] != *p)
        return 0;
    const cJSON *const value = len == name ? script_variable(b->s, p + 1, name) : NULL;
    const cJSON *word;
    if (!value)
        text_add(b->s, t, p, name + 2, MARK(DOUBT_UNKNOWN));
    cJSON_ArrayForEach(word, value)
    {
        if (word != value->child)
            text_add(b->s, t, " ", 1, MARK(DOUBT_CONDITION));
        for (size_t i = 0; word_text(word)[i]; i++)
            text_add(b->s, t, word_text(word) + i, 1, word->child->next->valuestring[i]);
    }
    return name + 2;
}

// Returns true at the end of a command, outside of quotes.
static bool ends_command(const struct batch_file *b, const char *p)
{
    return !*p || strchr("\n&|", *p) || (*p == ')' && b->blocks);
}

// Replaces the variables of a command, up to its end, in *t. Quotes stay, and escapes are removed.
static void read_line(struct batch_file *b, struct marked_text *t)
{
    bool quoted = false;
    while (*b->p && *b->p != '\n' && (quoted || !ends_command(b, b->p)) && !b->s->failed) {
        const size_t used = *b->p == '%' || *b->p == '!' ? add_variable(b, b->p, t) : 0;
        quoted = quoted != (*b->p == '"');
        if (used) {
            b->p += used;
        } else if (*b->p == '^' && !quoted && b->p[1]) {
            b->p += 1 + (b->p[1] == '\r');
            if (*b->p != '\n')
                text_add(b->s, t, b->p, 1, MARK(DOUBT_NONE));
            b->p += *b->p != '\0';
        } else {
            if (*b->p != '\r')
                text_add(b->s, t, b->p, 1, MARK(DOUBT_NONE));
            b->p++;
        }
    }
}

// Splits t, from a byte on, into words, as a program of Windows does: \" is a quote, and other quotes are removed.
static void split(struct batch_file *b, const struct marked_text *t, size_t from, cJSON *to)
{
    while (from < t->bytes.len && !b->s->failed) {
        struct marked_text word = {0};
        bool quoted = false, any = false;
        const char *const p = t->bytes.text;
        for (; from < t->bytes.len && isspace((unsigned char)p[from]); from++)
            ;
        for (; from < t->bytes.len && (quoted || !isspace((unsigned char)p[from])); from++) {
            const bool escape = p[from] == '\\' && p[from + 1] == '"';
            any = any || p[from] == '"';
            if (p[from] == '"') {
                quoted = !quoted;
                continue;
            }
            from += escape;
            text_add(b->s, &word, p + from, 1, t->marks.text[from]);
        }
        if (word.bytes.len || any)
            script_add_word(b->s, to, &word);
        text_free(&word);
    }
}

// Reads the rest of `set`: NAME=VALUE, perhaps in quotes; /p and /a give what is not known.
static void read_set(struct batch_file *b, const char *unset)
{
    struct marked_text t = {0}, value = {0};
    b->p = past_blanks(b->p);
    const bool asks = *b->p == '/';
    if (asks)
        b->p = past_blanks(b->p + strcspn(b->p, " \t\r\n"));
    read_line(b, &t);
    const char *text = t.bytes.text ? t.bytes.text : "";
    const bool quoted = *text == '"';
    const char *const name = text + quoted, *const equals = strchr(name, '='), *const last = strrchr(name, '"');
    if (equals) {
        const size_t end = quoted && last > equals ? (size_t)(last - text) : t.bytes.len;
        cJSON *const list = cJSON_CreateArray();
        script_check(b->s, list);
        const size_t len = (size_t)(equals - name);
        for (size_t i = (size_t)(equals + 1 - text); i < end && !asks && !b->s->failed; i++)
            text_add(b->s, &value, text + i, 1, t.marks.text[i]);
        if (asks) {
            text_add(b->s, &value, "%", 1, MARK(DOUBT_UNKNOWN));
            text_add(b->s, &value, name, len, MARK(DOUBT_UNKNOWN));
            text_add(b->s, &value, "%", 1, MARK(DOUBT_UNKNOWN));
        }
        if (list)
            script_add_word(b->s, list, &value);
        const bool own = unset && !strncmp(unset, name, len) && isspace((unsigned char)unset[len]);
        script_set(b->s, name, len, list, false, is_conditional(b), own);
    }
    text_free(&t);
    text_free(&value);
}

// Reads a command that no word of cmd.exe begins.
static void read_command(struct batch_file *b)
{
    struct marked_text t = {0};
    enum doubt least;
    read_line(b, &t);
    cJSON *const words = cJSON_CreateArray();
    script_check(b->s, words);
    if (words)
        split(b, &t, 0, words);
    b->s->words = words;
    if (words && words->child && !b->s->failed)
        free(script_command(b->s, NULL, is_conditional(b), &least));
    b->s->words = NULL;
    cJSON_Delete(words);
    text_free(&t);
}

// Moves past the condition of `if`, and returns the name behind `not defined`; NULL: it is another condition.
static const char *past_condition(struct batch_file *b)
{
    const char *unset = NULL;
    bool negated = false;
    for (b->p = past_blanks(b->p); *b->p == '/' || has_word(b->p, "not"); b->p = past_blanks(b->p)) {
        negated = negated || *b->p != '/';
        b->p += strcspn(b->p, " \t\r\n");
    }
    int words = has_word(b->p, "exist") || has_word(b->p, "defined") || has_word(b->p, "errorlevel") ? 2 : 1;
    if (negated && has_word(b->p, "defined"))
        unset = past_blanks(b->p + strlen("defined"));
    while (words-- > 0) {
        bool quoted = false;
        for (b->p = past_blanks(b->p); *b->p && *b->p != '\n' && (quoted || !isblank((unsigned char)*b->p)); b->p++)
            quoted = quoted != (*b->p == '"');
        b->p = past_blanks(b->p);
        if (has_word(b->p, "EQU") || has_word(b->p, "NEQ") || has_word(b->p, "LSS") || has_word(b->p, "GTR") ||
            has_word(b->p, "LEQ") || has_word(b->p, "GEQ") || !strncmp(b->p, "==", 2)) {
            b->p += strcspn(b->p, " \t\r\n");
            words++;
        }
    }
    return unset;
}

// Reads a command, or a part of one, up to its end.
static void read_statement(struct batch_file *b)
{
    const char *unset = NULL;
    for (;;) {
        b->p = past_blanks(b->p);
        b->p += *b->p == '@';
        if (has_word(b->p, "if")) {
            b->p += strlen("if");
            unset = past_condition(b);
            b->conditional = true;
        } else if (has_word(b->p, "else")) {
            b->p += strlen("else");
            b->conditional = true;
        } else if (has_word(b->p, "for")) {
            const char *const end = b->p + strcspn(b->p, "\n"), *at = b->p;
            while (at < end && !(isspace((unsigned char)*at) && has_word(at + 1, "do")))
                at++;
            b->p = at < end ? at + strlen(" do") : end;
            b->conditional = true;
        } else {
            break;
        }
    }
    if (*b->p == '(') {
        b->p++;
        b->blocks++;
    } else if (*b->p == ':' || has_word(b->p, "goto")) {
        b->jumps = b->jumps || strncmp(b->p, "::", 2) != 0;
        b->p += strcspn(b->p, b->blocks ? ")\n" : "\n");
    } else if (has_word(b->p, "rem")) {
        b->p += strcspn(b->p, "\n");
    } else if (has_word(b->p, "set")) {
        b->p += strlen("set");
        read_set(b, unset);
    } else if (has_word(b->p, "exit")) {
        b->ended = !is_conditional(b);
        b->p += strcspn(b->p, ")\n");
    } else {
        read_command(b);
    }
}

void batch_file_read(struct script *s, const char *text)
{
    struct batch_file b = {.s = s, .p = text};
    while (*b.p && !b.ended && !s->failed) {
        if (strchr(" \t\r\n&|)", *b.p)) {
            b.blocks -= *b.p == ')' && b.blocks;
            b.conditional = *b.p == '\n' ? false : b.conditional || !strncmp(b.p, "||", 2);
            b.p++;
        } else {
            read_statement(&b);
        }
    }
}
