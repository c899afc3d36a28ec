// SPDX-License-Identifier: MIT
#include "recipe/grammar_options.h"

#include "grammar/trie.h"
#include "in/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is wrong, without the place.
static void describe(const struct grammar_fault *f, int len, struct err *e)
{
    switch (f->code) {
    case GRAMMAR_NUL:
        err_set(e, STATUS_USAGE, "a NUL byte");
        break;
    case GRAMMAR_UTF8:
        err_set(e, STATUS_USAGE, "not UTF-8");
        break;
    case GRAMMAR_NAME:
        err_set(e, STATUS_USAGE, "a rule's name should stand here");
        break;
    case GRAMMAR_DEFINES:
        err_set(e, STATUS_USAGE, "'::=' should stand here");
        break;
    case GRAMMAR_UNEXPECTED:
        err_set(e, STATUS_USAGE, "'%.*s' cannot stand here", len, f->name);
        break;
    case GRAMMAR_LITERAL:
        err_set(e, STATUS_USAGE, "this literal has no closing '\"'");
        break;
    case GRAMMAR_CLASS:
        err_set(e, STATUS_USAGE, "this character class has no closing ']'");
        break;
    case GRAMMAR_EMPTY_CLASS:
        err_set(e, STATUS_USAGE, "'%.*s' holds no character", len, f->name);
        break;
    case GRAMMAR_RANGE:
        err_set(e, STATUS_USAGE, "the range '%.*s' ends before it begins", len, f->name);
        break;
    case GRAMMAR_GROUP:
        err_set(e, STATUS_USAGE, "this group has no closing ')'");
        break;
    case GRAMMAR_ESCAPE:
        err_set(e, STATUS_USAGE, "'%.*s' is none of \\n \\r \\t \\\\ \\\" \\[ \\] \\xHH \\uHHHH \\UHHHHHHHH", len, f->name);
        break;
    case GRAMMAR_NOTHING:
        err_set(e, STATUS_USAGE, "nothing stands before '%.*s' to be repeated", len, f->name);
        break;
    case GRAMMAR_REPEAT:
        err_set(e, STATUS_USAGE, "a repetition is {m}, {m,} or {m,n}");
        break;
    case GRAMMAR_REPEAT_ORDER:
        err_set(e, STATUS_USAGE, "the repetition '%.*s' has its bounds in the wrong order", len, f->name);
        break;
    case GRAMMAR_REPEAT_LARGE:
        err_set(e, STATUS_USAGE, "'%.*s' repetitions are too many, the most is %d", len, f->name, GRAMMAR_MOST_REPEATS);
        break;
    case GRAMMAR_TOKEN:
        err_set(e, STATUS_USAGE, "a token is <[id]> or <text>");
        break;
    case GRAMMAR_TOKEN_UNKNOWN:
        err_set(e, STATUS_USAGE, "no token of the vocabulary says '%.*s'", len, f->name);
        break;
    case GRAMMAR_TOKEN_ID:
        err_set(e, STATUS_USAGE, "the vocabulary has no token '%.*s'", len, f->name);
        break;
    case GRAMMAR_TWICE:
        err_set(e, STATUS_USAGE, "the rule '%.*s' is defined twice", len, f->name);
        break;
    case GRAMMAR_UNDEFINED:
        err_set(e, STATUS_USAGE, "the rule '%.*s' is not defined", len, f->name);
        break;
    case GRAMMAR_NO_ROOT:
        err_set(e, STATUS_USAGE, "no rule is named root");
        break;
    case GRAMMAR_LEFT_RECURSION:
        err_set(e, STATUS_USAGE, "the rule '%.*s' is left-recursive: it can begin with itself", len, f->name);
        break;
    case GRAMMAR_EMPTY_LOOP:
        err_set(e, STATUS_USAGE, "the rule '%.*s' repeats without end what can be empty, a left recursion", len, f->name);
        break;
    case GRAMMAR_DEEP:
        err_set(e, STATUS_USAGE, "groups are nested more than %d deep", GRAMMAR_MOST_DEPTH);
        break;
    case GRAMMAR_LARGE:
        err_set(e, STATUS_USAGE, "the grammar is too large once its repetitions are written out");
        break;
    case GRAMMAR_OK:
    case GRAMMAR_MEMORY:
        err_from_fault(e, fault_memory());
        break;
    }
}

bool grammar_error(const struct grammar_fault *f, struct err *e)
{
    describe(f, f->len < 60 ? (int)f->len : 60, e);
    return f->line ? err_prefix(e, "line %zu, column %zu", f->line, f->column) : false;
}

static bool read_text(struct options *o, struct err *e)
{
    if (o->grammar_is_file)
        return file_slurp(o->grammar_given, &o->gbnf, &o->gbnf_len, e) || err_prefix(e, "--grammar-file");
    o->gbnf = strdup(o->grammar_given);
    o->gbnf_len = strlen(o->grammar_given);
    return o->gbnf || err_from_fault(e, fault_memory());
}

static bool blame(const struct options *o, struct err *e)
{
    if (e->status != STATUS_USAGE)
        return false;
    if (o->grammar_given == o->schema_gbnf)
        return err_prefix(e, "--%s", o->schema_option);
    return o->grammar_is_file ? err_prefix(e, "--grammar-file: '%s'", o->grammar_given) : err_prefix(e, "--grammar");
}

bool grammar_options_apply(struct options *o, struct err *e)
{
    struct grammar_fault fault;
    if (!o->grammar_given)
        return o->action != ACTION_PRINT_GRAMMAR || err_set(e, STATUS_USAGE, "--print-grammar: no grammar is given");
    if (!o->vocab && o->action == ACTION_RUN)
        return err_set(e, STATUS_USAGE, "a grammar needs --vocab");
    if (!read_text(o, e))
        return false;
    o->grammar = grammar_parse(o->gbnf, o->gbnf_len, o->vocab, &fault);
    if (!o->grammar) {
        grammar_error(&fault, e);
        return blame(o, e);
    }
    if (o->action != ACTION_RUN || o->trie)
        return true;
    o->trie = trie_new(o->vocab);
    return o->trie || err_from_fault(e, fault_memory());
}

void grammar_options_free(struct options *o)
{
    if (!o->grammar_shared)
        grammar_free(o->grammar);
    if (!o->trie_shared)
        trie_free(o->trie);
    free(o->gbnf);
}

bool grammar_print(const struct options *o, struct err *e)
{
    (void)e;
    fwrite(o->gbnf, 1, o->gbnf_len, stdout);
    if (o->gbnf_len && o->gbnf[o->gbnf_len - 1] != '\n')
        putchar('\n');
    return true;
}
