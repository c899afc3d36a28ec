// SPDX-License-Identifier: MIT
#include "cli/shell_private.h"

#include "base/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MOST = 8,   // functions and texts within such
    TEXTS_MOST = 500, // that are read, each as often as it is called
};

// ---- commands

// Returns true if the test before a command asks whether the variable is not set: -z "$NAME".
static bool asks_unset(const struct shell *h, const char *name, size_t len)
{
    const char *const test = h->test, *const z = test ? strstr(test, "-z") : NULL;
    if (!z || z > test + h->test_len)
        return false;
    const char *at = z + 2 + strspn(z + 2, " \t\"${");
    return !strncmp(at, name, len) && !isalnum((unsigned char)at[len]) && at[len] != '_';
}

// Reads NAME=VALUE, NAME+=VALUE or NAME=(WORD ...). False: there is none. env: gets it in place of the script; NULL:
// none.
static bool read_assignment(struct shell *h, cJSON *env)
{
    const char *const name = h->p;
    const size_t n = shell_name_len(name);
    const bool more = n && name[n] == '+' && name[n + 1] == '=';
    if (!n || (name[n] != '=' && !more))
        return false;
    cJSON *const value = cJSON_CreateArray();
    script_check(h->s, value);
    h->p += n + 1 + more;
    const bool list = *h->p == '(';
    if (list && value) {
        for (h->p++;;) {
            shell_past_space(h);
            while (*h->p == '\n') {
                h->p++;
                shell_past_space(h);
            }
            if (!*h->p || *h->p == ')' || h->s->failed)
                break;
            const char *const from = h->p;
            shell_read_word(h, value);
            h->p += h->p == from; // an operator, which is an error of the script
        }
        h->p += *h->p == ')';
    } else if (value) {
        struct marked_text t = {0};
        const size_t len = shell_word_len(h);
        const cJSON *const old = more ? script_variable(h->s, name, n) : NULL;
        if (old)
            shell_add_list(h, old, false, true, &t, NULL);
        shell_expand(h, h->p, len, false, &t, NULL);
        script_add_word(h->s, value, &t);
        text_free(&t);
        h->p += len;
    }
    if (h->skips || h->s->failed) {
        cJSON_Delete(value);
    } else if (env) {
        cJSON *const word = cJSON_DetachItemFromArray(value, 0);
        char *const key = strndup(name, n);
        script_check(h->s, key);
        if (word && !(key && cJSON_AddItemToObject(env, key, word))) { // NAME=() has no word
            cJSON_Delete(word);
            h->s->failed = true;
        }
        free(key);
        cJSON_Delete(value);
    } else {
        script_set(h->s, name, n, value, more && list, shell_is_conditional(h), asks_unset(h, name, n));
    }
    return true;
}

static void run(struct shell *h);

// Reads a text as a part of the script: of a function, with its arguments, or what a shell is told to run.
static void run_text(struct shell *h, const char *text, cJSON *arguments, enum doubt least)
{
    struct script *const s = h->s;
    struct shell inner = {.s = s, .p = text, .functions = h->functions, .conditional = shell_is_conditional(h)};
    cJSON *const before = s->arguments;
    const enum doubt doubt = s->least;
    if (s->depth == DEPTH_MOST || s->texts == TEXTS_MOST) {
        script_doubt_variables(s);
        return;
    }
    s->texts++;
    s->depth++;
    s->arguments = arguments ? arguments : before;
    s->least = least > doubt ? least : doubt;
    run(&inner);
    s->arguments = before;
    s->least = doubt;
    s->depth--;
}

// Gives variables that the words name a value that is not known.
static void forget_variables(struct shell *h, const cJSON *word)
{
    for (; word && !h->s->failed; word = word->next) {
        const char *const name = word_text(word);
        struct marked_text t = {0};
        cJSON *const value = cJSON_CreateArray();
        script_check(h->s, value);
        text_add(h->s, &t, "$", 1, MARK(DOUBT_UNKNOWN));
        text_add(h->s, &t, name, strlen(name), MARK(DOUBT_UNKNOWN));
        if (value)
            script_add_word(h->s, value, &t);
        text_free(&t);
        if (shell_name_len(name) == strlen(name) && *name)
            script_set(h->s, name, strlen(name), value, false, shell_is_conditional(h), false);
        else
            cJSON_Delete(value);
    }
}

static bool is_command(const cJSON *words, const char *names)
{
    const char *const name = words && words->child ? word_text(words->child) : "";
    return *name && name_find(names, NAME_EXACT, name, strlen(name)) >= 0;
}

// Replaces the arguments by the words behind `set --`, or drops the first at `shift`.
static void set_arguments(struct shell *h, const cJSON *words)
{
    struct script *const s = h->s;
    const cJSON *word = words->child->next;
    if (is_command(words, "shift")) {
        if (s->arguments)
            cJSON_DeleteItemFromArray(s->arguments, 0);
        return;
    }
    if (word && name_find("-a -o +a +o", NAME_EXACT, word_text(word), strlen(word_text(word))) >= 0 &&
        (word_text(word)[1] == 'a' || (word->next && !strcmp(word_text(word->next), "allexport"))))
        s->exports_all = *word_text(word) == '-';
    if (!word || strcmp(word_text(word), "--") != 0)
        return;
    if (!s->arguments)
        s->arguments = s->own = cJSON_CreateArray();
    script_check(s, s->arguments);
    while (s->arguments && s->arguments->child)
        cJSON_DeleteItemFromArray(s->arguments, 0);
    for (word = word->next; word && !s->failed; word = word->next) {
        cJSON *const copy = cJSON_Duplicate(word, true);
        if (shell_is_conditional(h) && copy)
            word_raise(copy, DOUBT_CONDITION);
        if (!cJSON_AddItemToArray(s->arguments, copy))
            s->failed = true;
    }
}

// Does what a command of the shell itself does to the script. False: the command is another one.
static bool run_builtin(struct shell *h, const cJSON *words)
{
    const cJSON *const second = words->child->next;
    const bool certain = !shell_is_conditional(h);
    if (is_command(words, "read mapfile readarray getopts")) {
        forget_variables(h, second);
    } else if (is_command(words, "unset")) {
        for (const cJSON *word = second; word; word = word->next)
            script_set(h->s, word_text(word), strlen(word_text(word)), cJSON_CreateArray(), false, !certain, false);
    } else if (is_command(words, "source .")) {
        script_doubt_variables(h->s);
    } else if (is_command(words, "shift set")) {
        set_arguments(h, words);
    } else if (is_command(words, "exit return")) {
        bool subshell = false;
        for (int i = 0; i < h->depth; i++)
            subshell = subshell || h->frame[i].kind == IN_SUBSHELL;
        h->ended = h->ended || (certain && !subshell);
    } else {
        return false;
    }
    return true;
}

// Runs the command h->s->words.
static void run_command(struct shell *h, const cJSON *env)
{
    struct script *const s = h->s;
    cJSON *const words = s->words, *arguments;
    const char *const name = word_text(words->child);
    const cJSON *const function = cJSON_GetObjectItemCaseSensitive(h->functions, name);
    enum doubt least = DOUBT_NONE;
    h->certain = is_command(words, "cd pushd mkdir export set source . echo printf git cmake make sleep true : chmod");
    if (h->depth && h->frame[h->depth - 1].kind == IN_LOOP && !h->frame[h->depth - 1].conditional)
        h->frame[h->depth - 1].endless = is_command(words, "true : 1");
    if (function) {
        arguments = cJSON_Duplicate(words, true);
        char *const text = strdup(function->valuestring);
        script_check(s, arguments);
        script_check(s, text);
        cJSON_DeleteItemFromArray(arguments, 0);
        if (arguments && text)
            run_text(h, text, arguments, DOUBT_NONE);
        free(text);
        cJSON_Delete(arguments);
    } else if (!run_builtin(h, words)) {
        char *const text = script_command(s, env, shell_is_conditional(h), &least);
        if (text)
            run_text(h, text, NULL, least);
        free(text);
        h->ended = h->ended || (is_command(words, "exec") && words->child->next && !shell_is_conditional(h));
    }
}

// Reads a command, with its assignments and redirections, and runs it.
static void read_command(struct shell *h)
{
    struct script *const s = h->s;
    cJSON *const words = cJSON_CreateArray(), *const env = cJSON_CreateObject(), *const before = s->words;
    const char *const start = h->p;
    bool declares = false;
    script_check(s, words);
    script_check(s, env);
    for (shell_past_space(h); !s->failed && *h->p; shell_past_space(h)) {
        const char *const from = h->p;
        if (shell_past_redirection(h))
            continue;
        if (strchr(";|&\n()", *h->p) && !h->one_line)
            break;
        const size_t n = shell_name_len(h->p);
        if (declares && n && (h->p[n] == '=' || (h->p[n] == '+' && h->p[n + 1] == '='))) {
            read_assignment(h, NULL);
            if (!h->skips && is_command(words, "export declare typeset") && !s->failed) {
                char *const name = strndup(from, n);
                script_check(s, name);
                if (name && !cJSON_AddTrueToObject(s->exported, name))
                    s->failed = true;
                free(name);
            }
            continue;
        }
        if (!s->failed && !words->child && !h->one_line && read_assignment(h, env))
            continue;
        shell_read_word(h, words);
        if (h->p == from)
            h->p++; // a character that no word begins with
        declares = is_command(words, "export set local readonly declare typeset") && !is_command(words, "set");
    }
    if (is_command(words, "export"))
        for (const cJSON *word = words->child->next; word && !s->failed && !h->skips; word = word->next)
            if (shell_name_len(word_text(word)) == strlen(word_text(word)) &&
                !cJSON_AddTrueToObject(s->exported, word_text(word)))
                s->failed = true;
    if (is_command(words, "[ [[ test")) {
        h->test = start;
        h->test_len = (size_t)(h->p - start);
    }
    s->words = words;
    if (words && !words->child && !s->failed && !h->skips) { // the assignments are the script's
        const char *const end = h->p;
        for (h->p = start, shell_past_space(h); h->p < end && !s->failed; shell_past_space(h))
            if (!read_assignment(h, NULL) && !shell_past_redirection(h))
                h->p++;
        h->p = end;
    } else if (words && words->child && !s->failed && !h->skips) {
        run_command(h, env);
    }
    s->words = before;
    cJSON_Delete(words);
    cJSON_Delete(env);
}

// ---- statements

static void push(struct shell *h, int kind)
{
    if (h->depth == FRAMES) {
        h->ended = true;
        return;
    }
    struct open_statement *const f = &h->frame[h->depth++];
    *f = (struct open_statement){.kind = kind};
    if (kind == IN_SUBSHELL && !h->skips) {
        f->saved = cJSON_Duplicate(h->s->variables, true);
        script_check(h->s, f->saved);
    }
}

static void pop(struct shell *h)
{
    struct open_statement *const f = &h->frame[--h->depth];
    if (f->saved) {
        cJSON_Delete(h->s->variables);
        h->s->variables = f->saved;
    }
    h->test = NULL;
}

// Moves past braces or a subshell, the body of a function, and keeps its text. h->p is at the bracket.
static void keep_function(struct shell *h, const char *name, size_t len)
{
    struct shell inner = {.s = h->s, .p = h->p, .functions = h->functions, .skips = true};
    const char *const from = h->p + 1;
    do
        run(&inner);
    while (inner.depth && *inner.p && !h->s->failed && !inner.ended);
    const size_t n = inner.p > from ? (size_t)(inner.p - from) - 1 : 0;
    char *const text = strndup(from, n), *const key = strndup(name, len);
    script_check(h->s, text);
    script_check(h->s, key);
    if (text && key) {
        cJSON_DeleteItemFromObjectCaseSensitive(h->functions, key);
        script_check(h->s, cJSON_AddStringToObject(h->functions, key, text));
    }
    free(text);
    free(key);
    h->p = inner.p;
}

// Reads NAME() or `function NAME`, and its body. False: there is none.
static bool read_function(struct shell *h)
{
    const bool word = !strncmp(h->p, "function", 8) && isblank((unsigned char)h->p[8]);
    const char *const name = word ? h->p + 8 + strspn(h->p + 8, " \t") : h->p;
    size_t len = strcspn(name, " \t\r\n(){};&|<>\"'$=`");
    const char *at = name + len + strspn(name + len, " \t");
    const bool brackets = *at == '(' && at[1 + strspn(at + 1, " \t")] == ')';
    if (!len || (!word && !brackets))
        return false;
    at = brackets ? strchr(at, ')') + 1 : at;
    at += strspn(at, " \t\r\n");
    if (*at != '{' && *at != '(')
        return false;
    h->p = at;
    keep_function(h, name, len);
    return true;
}

// Reads what opens, parts or closes a statement. False: a command stands here.
static bool read_keyword(struct shell *h)
{
    static const char words[] = "if then elif else fi while until for select do done case esac { } ! time";
    enum { IF, THEN, ELIF, ELSE, FI, WHILE, UNTIL, FOR, SELECT, DO, DONE, CASE, ESAC, OPEN, CLOSE, NOT, TIME };
    size_t len = strcspn(h->p, " \t\r\n;&|()<>\"'$=`\\");
    const int word = len ? name_find(words, NAME_EXACT, h->p, len) : -1;
    struct open_statement *const top = h->depth ? &h->frame[h->depth - 1] : NULL;
    if (word < 0)
        return false;
    h->p += len;
    h->chained = h->chained && word >= NOT;
    if (word == IF || word == WHILE || word == UNTIL) {
        push(h, word == IF ? IN_IF : IN_LOOP);
    } else if (word == FOR || word == SELECT) {
        push(h, IN_LOOP);
        shell_past_space(h);
        cJSON *const names = cJSON_CreateArray();
        script_check(h->s, names);
        if (names && !strchr("(;\n", *h->p))
            shell_read_word(h, names);
        h->p += strcspn(h->p, ";\n"); // the words, or what stands in (( ))
        if (names && !h->skips)
            forget_variables(h, names->child);
        cJSON_Delete(names);
    } else if (word == CASE) {
        push(h, IN_CASE);
        shell_past_space(h);
        h->p += shell_word_len(h);
        for (shell_past_space(h); *h->p == '\n'; shell_past_space(h))
            h->p++;
        h->p += strncmp(h->p, "in", 2) ? 0 : 2;
        h->frame[h->depth - 1].pattern = true;
    } else if (word == OPEN) {
        push(h, IN_BRACES);
    } else if ((word == FI && top && top->kind == IN_IF) || (word == DONE && top && top->kind == IN_LOOP) ||
               (word == ESAC && top && top->kind == IN_CASE) || (word == CLOSE && top && top->kind == IN_BRACES)) {
        pop(h);
    } else if (top && (word == THEN || word == ELSE || word == ELIF)) {
        top->conditional = true;
    } else if (top && word == DO) {
        top->conditional = !top->endless;
    }
    return true;
}

// Moves past a pattern of case, up to its ')'. At esac the statement ends.
static void read_pattern(struct shell *h)
{
    struct open_statement *const top = &h->frame[h->depth - 1];
    for (shell_past_space(h); *h->p == '\n'; shell_past_space(h))
        h->p++;
    if (!strncmp(h->p, "esac", 4) && !isalnum((unsigned char)h->p[4])) {
        h->p += 4;
        pop(h);
        return;
    }
    h->p += *h->p == '(';
    while (*h->p && *h->p != ')')
        h->p += shell_piece_len(h->p);
    h->p += *h->p == ')';
    top->pattern = false;
    top->conditional = true;
}

// Moves past ';', '&', '|', a line's end and their like. False: there is none.
static bool read_operator(struct shell *h)
{
    const char c = *h->p, next = c ? h->p[1] : '\0';
    struct open_statement *const top = h->depth ? &h->frame[h->depth - 1] : NULL;
    if (!strchr("\n;&|()", c) || (c == '&' && next == '>'))
        return false;
    h->p++;
    if (c == '(' && next == '(') { // arithmetic
        h->p += shell_bracket_len(h->p - 1, '(', ')') - 1;
    } else if (c == '(') {
        push(h, IN_SUBSHELL);
    } else if (c == ')') {
        if (top && top->kind == IN_SUBSHELL)
            pop(h);
    } else if (c == ';' && (next == ';' || next == '&')) {
        h->p += 1 + (h->p[1] == '&');
        if (top && top->kind == IN_CASE)
            top->pattern = true;
    } else if ((c == '&' || c == '|') && next == c) {
        h->chained = c == '|' || h->chained || !h->certain;
        h->p++;
        return true;
    } else if (c == '\n') {
        shell_past_documents(h);
    } else if (c == '|') {
        h->p += next == '&';
        return true;
    }
    h->chained = false;
    if (!h->depth)
        h->test = NULL;
    return true;
}

// Reads statements up to the end of the text, or of the first one if commands are skipped.
static void run(struct shell *h)
{
    while (!h->s->failed && !h->ended) {
        shell_past_space(h);
        if (!*h->p)
            break;
        if (h->one_line) {
            read_command(h);
            continue;
        }
        if (h->depth && h->frame[h->depth - 1].pattern)
            read_pattern(h);
        else if (!read_operator(h) && !read_function(h) && !read_keyword(h))
            read_command(h);
        if (h->skips && !h->depth)
            break;
    }
    while (h->depth && (!h->skips || !*h->p))
        pop(h);
}

void shell_read(struct script *s, const char *text, bool one_line)
{
    struct shell h = {.s = s, .p = text, .functions = cJSON_CreateObject(), .one_line = one_line};
    const cJSON *function;
    script_check(s, h.functions);
    run(&h);
    if (!s->failed && !s->starts->child) // perhaps a function that "$1" names starts the program
        cJSON_ArrayForEach(function, h.functions)
        {
            h.ended = false;
            h.conditional = true;
            run_text(&h, function->valuestring, NULL, DOUBT_NONE);
        }
    cJSON_Delete(h.functions);
}
