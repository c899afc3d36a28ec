// SPDX-License-Identifier: MIT
#include "cli/shell_private.h"

#include "base/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool shell_is_conditional(const struct shell *h)
{
    bool any = h->conditional || h->chained;
    for (int i = 0; i < h->depth; i++)
        any = any || h->frame[i].conditional;
    return any;
}

size_t shell_name_len(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return isdigit((unsigned char)*p) ? 0 : n;
}

// ---- the extent of words

// Returns the length of a text in brackets, with them; p is at the opening one.
size_t shell_bracket_len(const char *p, char open, char close)
{
    size_t n = 1;
    for (int level = 1; p[n] && level > 0;) {
        level += p[n] == open ? 1 : p[n] == close ? -1 : 0;
        n += level && !strchr("(){}", p[n]) ? shell_piece_len(p + n) : 1;
    }
    return n;
}

// Returns the length of what stands at p: a quoted text, a substitution, an escape or a character.
size_t shell_piece_len(const char *p)
{
    size_t n = 1;
    if (*p == '\'' || *p == '`') {
        n += strcspn(p + 1, *p == '\'' ? "'" : "`");
        return n + (p[n] != '\0');
    }
    if (*p == '"') {
        while (p[n] && p[n] != '"')
            n += p[n] == '$' || p[n] == '`' || p[n] == '\\' ? shell_piece_len(p + n) : 1;
        return n + (p[n] != '\0');
    }
    if (*p == '\\')
        return p[1] == '\r' && p[2] == '\n' ? 3 : 1 + (p[1] != '\0');
    if (*p == '$' && (p[1] == '(' || p[1] == '{'))
        return 1 + shell_bracket_len(p + 1, p[1], p[1] == '(' ? ')' : '}');
    return *p == '$' && p[1] == '\'' ? 1 + shell_piece_len(p + 1) : 1;
}

static bool is_continued(const char *p) // a line that ends with an escape: of sh, cmd.exe or PowerShell
{
    return (*p == '\\' || *p == '^' || *p == '`') && (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'));
}

static bool ends_word(const struct shell *h, const char *p)
{
    return !*p || isspace((unsigned char)*p) || (!h->one_line && strchr(";|&()<>", *p)) || is_continued(p);
}

size_t shell_word_len(const struct shell *h)
{
    size_t n = 0;
    while (!ends_word(h, h->p + n))
        n += shell_piece_len(h->p + n);
    return n;
}

// ---- expansion

// Appends words to a text: as words of their own, or separated by blanks.
void shell_add_list(struct shell *h, const cJSON *words, bool separate, bool quoted, struct marked_text *t, cJSON *to)
{
    const cJSON *word;
    cJSON_ArrayForEach(word, words)
    {
        const char *const text = word_text(word), *const marks = word->child->next->valuestring;
        if (word != words->child && separate && quoted && to) {
            script_add_word(h->s, to, t);
            text_free(t);
            *t = (struct marked_text){0};
        } else if (word != words->child) {
            text_add(h->s, t, " ", 1, (char)(MARK(DOUBT_NONE) + (quoted ? 0 : SPLITS)));
        }
        for (size_t i = 0; text[i]; i++)
            text_add(h->s, t, text + i, 1, (char)(marks[i] + (quoted || marks[i] == MARK(DOUBT_UNKNOWN) ? 0 : SPLITS)));
    }
}

// Returns the words of a variable or of the arguments; NULL: they are not known. *is_list: $@ or $*.
static const cJSON *value_of(const struct shell *h, const char *name, size_t len, bool *is_list)
{
    const cJSON *const arguments = h->s->arguments;
    *is_list = len == 1 && (*name == '@' || *name == '*');
    if (*is_list)
        return arguments;
    return isdigit((unsigned char)*name) ? NULL : script_variable(h->s, name, len);
}

// Appends the argument $N of a function. False: it is not known.
static bool add_argument(struct shell *h, const char *name, size_t len, bool quoted, struct marked_text *t, bool *empty)
{
    const cJSON *const arguments = h->s->arguments;
    const long number = isdigit((unsigned char)*name) && len < 3 ? strtol(name, NULL, 10) : 0;
    if (!arguments || number < 1)
        return false;
    const cJSON *const word = cJSON_GetArrayItem(arguments, (int)number - 1);
    *empty = !word || !*word_text(word);
    for (size_t i = 0; word && word_text(word)[i]; i++)
        text_add(h->s, t, word_text(word) + i, 1, (char)(word->child->next->valuestring[i] + (quoted ? 0 : SPLITS)));
    return true;
}

// Appends text[0..len), expanded, with at least this doubt.
static void expand_doubtful(struct shell *h, const char *text, size_t len, bool quoted, enum doubt doubt,
                            struct marked_text *t)
{
    const enum doubt before = h->s->least;
    const bool splits = h->splits;
    h->s->least = doubt > before ? doubt : before;
    h->splits = !quoted;
    shell_expand(h, text, len, quoted, t, NULL);
    h->splits = splits;
    h->s->least = before;
}

// Appends the value of the variable at p, "$NAME" or "${NAME...}", and returns the length of that.
static size_t expand_variable(struct shell *h, const char *p, bool quoted, struct marked_text *t, cJSON *to)
{
    const bool brace = p[1] == '{';
    const size_t whole = brace ? shell_piece_len(p) : 0;
    const char *const name = p + 1 + brace;
    const char *const end = brace ? p + whole - 1 : NULL; // the closing brace
    size_t len = shell_name_len(name);
    if (!len && *name)
        len = isdigit((unsigned char)*name) && brace ? strspn(name, "0123456789")
                                                     : strchr("@*#?$!-", *name) || isdigit((unsigned char)*name);
    if (brace && h->one_line) // a macro of llama-swap, whose name has more characters
        len = (size_t)(end - name);
    const char *rest = name + len;
    const size_t all = brace ? whole : 1 + len;
    bool is_list, empty = true;
    bool each = false;
    if (brace && rest < end && *rest == '[' && (rest[1] == '@' || rest[1] == '*') && rest[2] == ']') {
        each = rest[1] == '@';
        rest += 3;
    }
    if (!len)
        return 0;
    const cJSON *const value = value_of(h, name, len, &is_list);
    each = each || (is_list && *name == '@');
    const char op = brace && rest < end ? *(rest + (*rest == ':')) : '\0';
    const char *const word = rest + (brace && rest < end && *rest == ':') + 1;
    const cJSON *item;
    cJSON_ArrayForEach(item, value) { empty = empty && !*word_text(item); }
    const bool set = value && (!empty || (brace && rest < end && *rest != ':'));
    if (op && !strchr("-=+?", op)) {
        text_add(h->s, t, p, all, MARK(DOUBT_UNKNOWN)); // a part of a value, or its length
    } else if (op == '+') {
        if (!value)
            expand_doubtful(h, word, (size_t)(end - word), quoted, DOUBT_CONDITION, t);
        else if (set && each)
            shell_add_list(h, value, true, quoted, t, to); // ${A[@]+"${A[@]}"}
        else if (set)
            expand_doubtful(h, word, (size_t)(end - word), quoted, DOUBT_NONE, t);
    } else if (value && (set || !op)) {
        shell_add_list(h, value, each, quoted, t, to);
    } else if (add_argument(h, name, len, quoted, t, &empty) && (!empty || !op)) {
        // done
    } else if (op == '-' || op == '=') {
        const size_t from = t->bytes.len;
        expand_doubtful(h, word, (size_t)(end - word), quoted, value ? DOUBT_NONE : DOUBT_DEFAULT, t);
        if (op == '=' && !h->skips && shell_name_len(name) == len) {
            struct marked_text own = {0};
            cJSON *const list = cJSON_CreateArray();
            for (size_t i = from; i < t->bytes.len && !h->s->failed; i++)
                text_add(h->s, &own, t->bytes.text + i, 1, MARK((t->marks.text[i] - '0') % SPLITS));
            script_check(h->s, list);
            if (list)
                script_add_word(h->s, list, &own);
            script_set(h->s, name, len, list, false, shell_is_conditional(h), false);
            text_free(&own);
        }
    } else if (!h->s->arguments || !is_list) {
        text_add(h->s, t, p, all, MARK(DOUBT_UNKNOWN));
    }
    return all;
}

// Appends p[0..len) with quotes removed and variables replaced. to: gets the words of "${NAME[@]}"; NULL: they stay
// one.
void shell_expand(struct shell *h, const char *p, size_t len, bool quoted, struct marked_text *t, cJSON *to)
{
    const char *const end = p + len;
    while (p < end && !h->s->failed) {
        size_t n = shell_piece_len(p);
        if (p + n > end)
            n = (size_t)(end - p);
        if (*p == '"' && !quoted) {
            const bool splits = h->splits;
            h->splits = false;
            shell_expand(h, p + 1, n > 2 ? n - 2 : 0, true, t, to);
            h->splits = splits;
        } else if (*p == '\'' && !quoted) {
            text_add(h->s, t, p + 1, n > 1 ? n - 1 - (p[n - 1] == '\'') : 0, MARK(DOUBT_NONE));
        } else if (*p == '\\' && p + 1 < end && strchr(quoted ? "\"\\$`" : "\"'\\ $#&;|<>()*`!~", p[1])) {
            text_add(h->s, t, p + 1, 1, MARK(DOUBT_NONE));
        } else if (*p == '\\' && n > 1 && p[n - 1] == '\n') {
            // a line that goes on
        } else if (*p == '`' || (*p == '$' && (p[1] == '(' || (p[1] == '\'' && memchr(p, '\\', n))))) {
            text_add(h->s, t, p, n, MARK(DOUBT_UNKNOWN));
        } else if (*p == '$' && p[1] == '\'' && !quoted) {
            text_add(h->s, t, p + 2, n - 3, MARK(DOUBT_NONE));
        } else if (*p == '$' && p + 1 < end) {
            const size_t used = expand_variable(h, p, quoted, t, to);
            if (!used)
                text_add(h->s, t, p, 1, MARK(DOUBT_NONE));
            n = used ? used : 1;
        } else {
            if (quoted && (*p == '\'' || *p == '"'))
                n = 1;
            text_add(h->s, t, p, n, (char)(MARK(DOUBT_NONE) + (h->splits ? SPLITS : 0)));
        }
        p += n;
    }
}

// Reads a word into a list, as one or several.
void shell_read_word(struct shell *h, cJSON *to)
{
    struct marked_text t = {0};
    const size_t len = shell_word_len(h);
    const char *const from = h->p;
    shell_expand(h, from, len, false, &t, to);
    const bool list = len > 4 && strstr(from, "@") && strstr(from, "@") < from + len; // without words it gives none
    const bool quoted = (memchr(from, '"', len) || memchr(from, '\'', len)) && !(list && !t.bytes.len);
    script_add_words(h->s, to, &t, quoted);
    text_free(&t);
    h->p += len;
}

// ---- between words

// Moves past blanks, continued lines and comments.
void shell_past_space(struct shell *h)
{
    for (;;) {
        if (is_continued(h->p))
            h->p += 1 + (h->p[1] == '\r') + 1;
        else if (*h->p == '#')
            h->p += strcspn(h->p, "\n");
        else if (isspace((unsigned char)*h->p) && (*h->p != '\n' || h->one_line))
            h->p++;
        else
            return;
    }
}

// Moves past a redirection. False: there is none. A here-document is kept for the end of the line.
bool shell_past_redirection(struct shell *h)
{
    const char *at = h->p + strspn(h->p, "0123456789");
    if (h->one_line || (*at == '&' && at[1] != '>') || !strchr("<>&", *at) || !*at)
        return false;
    at += *at == '&';
    const char *const sign = at;
    if (at[1] == '(') { // a process's output
        h->p = at + 1 + shell_bracket_len(at + 1, '(', ')');
        return true;
    }
    const bool document = !strncmp(at, "<<", 2) && at[2] != '<';
    at += strspn(at, "<>");
    at += (*at == '&' || *at == '|' || (*at == '-' && document));
    h->p = at;
    shell_past_space(h);
    const size_t len = shell_word_len(h);
    if (document && h->documents < DOCUMENTS) {
        const bool quoted = *h->p == '\'' || *h->p == '"' || *h->p == '\\';
        h->document[h->documents].end = h->p + quoted;
        h->document[h->documents++].len = len - (quoted ? *h->p == '\\' ? 1 : 2 : 0);
    }
    h->p += len;
    return h->p > sign;
}

// Moves past the here-documents that begin behind this line's end.
void shell_past_documents(struct shell *h)
{
    for (size_t i = 0; i < h->documents; i++) {
        while (*h->p) {
            const char *const line = h->p + strspn(h->p, "\t");
            const size_t len = strcspn(line, "\r\n");
            const bool last = len == h->document[i].len && !strncmp(line, h->document[i].end, len);
            h->p = line + strcspn(line, "\n");
            h->p += *h->p == '\n';
            if (last)
                break;
        }
    }
    h->documents = 0;
}
