// SPDX-License-Identifier: MIT
#include "cli/args.h"

#include "base/names.h"
#include "out/message.h"
#include "samplers/engine.h"

#include <assert.h>
#include <string.h>

// ---- setters

// A setter reads the value of an option, checks it, and stores it in the arguments. The value is NULL if the option has
// none. False with *e if the value is refused.

// The member of struct args that the row's option sets, as an lvalue.
#define FIELD(type) (*(type *)(void *)((char *)a + row->at))

// Sets a sampler's parameter.
static bool set_param(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    struct param any = *row->param;
    double v;
    any.low = row->param->ignores_low ? -FLT_MAX : any.low;
    if (!value_parse(&any, value, &v, e))
        return false;
    if (v < row->param->low)
        message_note("--%s: '%s' is below %g, and has no effect", row->name, value, row->param->low);
    else
        a->value[row->number] = v;
    return true;
}

// Sets a bool, true without a value. If the row's `low` is 1, sets the opposite.
static bool set_flag(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    bool on;
    const bool ok = value_flag(row->name, value, &on, e);
    FIELD(bool) = on != (row->low > 0.0);
    return ok;
}

// Sets a whole number in the row's range.
static bool set_whole(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return value_whole(row->name, value, (int64_t)row->low, (int64_t)row->high, &FIELD(int64_t), e);
}

// Sets --seed to any 64-bit number; the engine has its own range. The error for any other text names the usual range.
static bool set_seed(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return whole_number(value, NULL, INT64_MIN, INT64_MAX, &a->seed) || set_whole(row, value, a, e);
}

// Sets a text. A text that names a file must not be empty.
static bool set_string(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    FIELD(const char *) = value;
    return *value || !option_names_file(row) || err_set(e, STATUS_USAGE, "--%s: '' is no file name", row->name);
}

// Returns the index of a value among the row's choices. -1 with *e: it is none of them.
static int choice_of(const struct option_row *row, const char *value, struct err *e)
{
    const int choice = name_find(row->choices, NAME_EXACT, value, strlen(value));
    if (choice < 0)
        err_set(e, STATUS_USAGE, "--%s: '%s' is none of %s", row->name, value, row->choices);
    return choice;
}

// Sets a text that is one of the row's choices.
static bool set_choice(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    FIELD(const char *) = value;
    return choice_of(row, value, e) >= 0;
}

// Sets the index of the value among the row's choices: an unsigned, or an enum whose constants are in their order.
static bool set_index(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    const int choice = choice_of(row, value, e);
    FIELD(unsigned) = (unsigned)choice;
    return choice >= 0;
}

// Appends to a list of texts.
static bool set_word(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return words_add(&FIELD(struct words), value, e);
}

// Sets --shard=K/N.
static bool set_share(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    const char *const slash = strchr(value, '/');
    return (slash && whole_number(slash + 1, NULL, 1, INT32_MAX, &a->shard.n) &&
            whole_number(value, slash, 1, a->shard.n, &a->shard.k)) ||
           err_set(e, STATUS_USAGE, "--%s: '%s' is not K/N with 1 <= K <= N", row->name, value);
}

// Sets --accept to a list of ids, or to the recorded ids.
static bool set_accept(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->accept_recorded = !strcmp(value, "recorded");
    a->accept = a->accept_recorded ? NULL : value;
    return true;
}

// Sets --neutral: resets the samplers and their parameters, as if their options had not been given.
static bool set_neutral(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    const struct catalog *const c = a->options->catalog;
    if (!value_flag(row->name, value, &a->neutral, e))
        return false;
    for (row = a->options->row; row->name; row++) {
        const bool chain = row->at == offsetof(struct args, samplers) && row->group == GROUP_CHAIN;
        if (row->param || chain)
            a->given[row - a->options->row] = ORIGIN_NONE;
        if (chain && row->def)
            row->set(row, row->def, a, e);
    }
    (a->neutral ? catalog_neutral : catalog_defaults)(c, a->value);
    return true;
}

// Appends to --logit-bias.
static bool set_bias(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    struct bias_typed bias;
    return value_bias(row->name, value, &bias, e) && set_word(row, value, a, e);
}

// Sets --samplers or --sampler-seq, which differ in the row's `low`: names or letters.
static bool set_samplers(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->by_letter = row->low > 0.0;
    return set_string(row, value, a, e);
}

// Appends to --dry-sequence-breaker, or empties the list for none.
static bool set_breaker(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    if (!strcmp(value, "none")) {
        a->breaker_texts.n = 0;
        return true;
    }
    if (*value)
        return set_word(row, value, a, e);
    message_warn("--%s: an empty breaker is left out", row->name);
    return true;
}

// Sets a switch that may have a number, [=N]. Without N the number becomes 0. If the row is a flag, =true and =false
// are accepted, too.
static bool set_switch(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    bool *const on = (bool *)(void *)((char *)a + row->on);
    FIELD(int64_t) = 0;
    if (row->flag && value && (!strcmp(value, "true") || !strcmp(value, "false")))
        return value_flag(row->name, value, on, e);
    *on = true;
    return !value || set_whole(row, value, a, e);
}

// Sets --tolerance to a number from 0 up.
static bool set_tolerance(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    const struct param tolerance = {row->name, .type = PARAM_FLOAT, RANGE(0, FLT_MAX)};
    return value_parse(&tolerance, value, &a->tolerance, e);
}

// Sets the option that has the grammar, and its value. An empty text is no grammar.
static bool set_grammar(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->grammar_row = *value || strcmp(row->name, "grammar") != 0 ? row : NULL;
    return set_string(row, value, a, e);
}

// Sets the values that llama.cpp gives a model, as if there were such options. What a model recommends counts more.
static bool set_gpt_oss(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    static const struct {
        const char *flag;
        double value;
    } values[] = {{"temp", 1.0}, {"top-p", 1.0}, {"top-k", 0.0}, {"min-p", 0.01}};
    bool on;
    if (!value_flag(row->name, value, &on, e))
        return false;
    for (size_t i = 0; on && i < sizeof values / sizeof *values; i++) {
        row = option_by_name(a->options, values[i].flag, strlen(values[i].flag));
        unsigned char *const given = &a->given[row - a->options->row];
        a->value[row->number] = param_value(row->param, values[i].value);
        *given = *given ? *given : ORIGIN_WEAK;
    }
    return true;
}

// Sets the action, which is the row's `low`. Its value is one of the row's choices; without one it is text.
static bool set_action(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->action = (enum action)row->low;
    a->how = value ? value : "text";
    return !value || choice_of(row, value, e) >= 0;
}

bool args_forget(struct args *a, const struct option_row *row, struct err *e)
{
    a->given[row - a->options->row] = ORIGIN_NONE;
    if (row->param)
        a->value[row->number] = param_value(row->param, row->param->def);
    else if (row->def)
        return row->set(row, row->def, a, e);
    else if (row->set == set_word || row->set == set_bias || row->set == set_breaker)
        FIELD(struct words).n = 0;
    else if (row->set == set_grammar)
        a->grammar_row = NULL;
    else if (row->set == set_string)
        FIELD(const char *) = NULL;
    else if (row->set == set_flag)
        FIELD(bool) = false;
    return true;
}

// ---- the table

#define AT(member)       .at = offsetof(struct args, member)
#define IN               .group = GROUP_INPUT
#define CHAIN            .group = GROUP_CHAIN, .recipe = true
#define CHAIN_FILE       .group = GROUP_CHAIN
#define OUT              .group = GROUP_OUTPUT
#define TUNING           .group = GROUP_OUTPUT, .rare = true, .heading = "Comparing and checking chains"
#define OTHER            .group = GROUP_OTHER
#define FLAG(member)     .flag = true, AT(member), .set = set_flag
#define ACTION(action)   .low = (action), .set = set_action
#define SWITCH(is, most) .on = offsetof(struct args, is), AT(most), .low = 1, .set = set_switch
#define GRAMMAR          AT(grammar), .set = set_grammar

#define MOST_ROWS 0x1p53 // the text of a range prints it exactly

// clang-format off
static const struct option_row table[] = {
    {"format", .brief = "f", .metavar = "FMT", IN, .def = "auto", AT(format), .set = set_choice,
     .choices = "auto,f32,f16,bf16,json,npy,safetensors,kld,pairs",
     .help = "format of the rows; auto looks at content, then at the name's ending"},
    {"n-vocab", .brief = "n", .metavar = "N", IN, AT(n_vocab), .set = set_whole, .low = 1, .high = INT32_MAX,
     .help = "row width of raw input"},
    {"tensor", .metavar = "NAME", IN, AT(tensor), .set = set_string,
     .help = "which tensor of a safetensors file, if several fit"},
    {"ids", .metavar = "HOW", IN, .def = "given", AT(ids), .set = set_choice, .choices = "given,rank",
     .help = "ids of the tokens in a server's reply: those given, or ranks within the row"},
    {"vocab", .metavar = "FILE", IN, AT(vocab), .set = set_string,
     .help = "token texts: GGUF, tokenizer.json, vocab.json, or one token a line"},
    {"rows", .metavar = "LIST", IN, .def = ":", AT(rows), .set = set_string,
     .help = "only these rows: 3,9,20:30 or @FILE; of A <= r < B either may be missing, negative counts from the end"},
    {"params", .metavar = "FILE", IN, AT(params), .set = set_string,
     .help = "a JSON object a line for each row of the input: seq, params, prompt_tokens, accept, position, end"},
    {"prompt-tokens", .metavar = "LIST", IN, AT(prompt), .set = set_string,
     .help = "ids accepted before the first row: 1,2,3 or @FILE"},
    {"accept", .metavar = "LIST", IN, .set = set_accept,
     .help = "after row i accept the i-th id of LIST, or the recorded one (LIST is recorded), instead of the sampled "
             "one"},
    {"shard", .metavar = "K/N", IN, .set = set_share,
     .help = "only the K-th of N contiguous parts of the rows; the outputs of all make up that of one run"},
    {"row-base", .metavar = "N", IN, .def = "0", AT(row_base), .set = set_whole, .high = MOST_ROWS,
     .help = "number of the input's first row, when the input is a part of a longer one"},
    {"independent", IN, FLAG(independent),
     .help = "every row is its own sequence, seeded with seed + row number"},

    {"samplers", .metavar = "NAMES", CHAIN, .def = DEFAULT_CHAIN, AT(samplers), .set = set_samplers,
     .help = "the samplers in order, separated by ';'; NAME=VALUE gives one its own main parameter"},
    {"sampler-seq", .also = "sampling-seq", .metavar = "LETTERS", CHAIN, AT(samplers), .low = true, .set = set_samplers,
     .help = "the same as letters; edskypmxrt is the default chain"},
    {"neutral", CHAIN, .flag = true, .set = set_neutral,
     .help = "reset the samplers and their parameters so that all are off; =false: to the defaults"},
    {"seed", .brief = "s", .metavar = "N", CHAIN, .def = "-1", AT(seed), .low = -1, .high = UINT32_MAX, .set = set_seed,
     .help = "seed of the generators; -1 takes a random one"},
    {"engine", .metavar = "NAME", CHAIN, .def = "llama", AT(engine), .set = set_choice, .choices = ENGINE_NAMES,
     .help = "whose pipeline to run; each has defaults of its own"},
    {"logit-bias", .brief = "l", .metavar = "ID(+|-)BIAS", CHAIN, AT(biases), .set = set_bias,
     .help = "add BIAS to a token's logit; ID-inf bans it; with --vocab also \"TEXT\"(+|-)BIAS; may be repeated"},
    {"ignore-eos", CHAIN, FLAG(ignore_eos), .help = "ban the vocabulary's end-of-generation tokens"},
    {"dry-sequence-breaker", .metavar = "TEXT", CHAIN, AT(breaker_texts), .set = set_breaker,
     .help = "add a text that DRY does not match across, in place of the defaults; none: no breakers"},
    {"escape", .brief = "e", CHAIN, .flag = true, AT(no_escape), .low = true, .set = set_flag,
     .help = "resolve the escapes of --dry-sequence-breaker, as is the default"},
    {"no-escape", CHAIN, FLAG(no_escape), .help = "take the texts of --dry-sequence-breaker as they stand"},
    {"dry-breaker-tokens", .metavar = "LIST", CHAIN, AT(breaker_ids), .set = set_word,
     .help = "add a breaker given as ids, 1,2,3 or @FILE, in place of the default texts"},
    {"bad-word-tokens", .metavar = "LIST", CHAIN, AT(bad_words), .set = set_word,
     .help = "mask the last of these ids, 1,2,3 or @FILE, behind the others; may be repeated"},
    {"eog-tokens", .metavar = "LIST", CHAIN, AT(eog_tokens), .set = set_word,
     .help = "ids that end a text, beside the vocabulary's, for --min-tokens; may be repeated"},
    {"grammar", .metavar = "GBNF", CHAIN, GRAMMAR,
     .help = "let only tokens through that fit a grammar in llama.cpp's notation; needs --vocab"},
    {"grammar-file", .metavar = "FILE", CHAIN_FILE, GRAMMAR, .help = "the same, from a file"},
    {"json-schema", .brief = "j", .metavar = "SCHEMA", CHAIN, GRAMMAR,
     .help = "let only JSON through that satisfies a schema; {} is any value; needs --vocab"},
    {"json-schema-file", .brief = "jf", .metavar = "FILE", CHAIN_FILE, GRAMMAR,
     .help = "the same, from a file"},
    {"grammar-first", CHAIN, FLAG(grammar_first),
     .help = "mask by the grammar before the chain runs, not only where its token does not fit"},
    {"reasoning-budget", .metavar = "N", CHAIN, .def = "-1", AT(reasoning_budget), .low = -1, .high = INT32_MAX,
     .set = set_whole,
     .help = "tokens between a start and an end tag, after which the message and the first end tag are forced; -1: no "
             "budget"},
    {"reasoning-budget-message", .metavar = "TEXT", CHAIN, AT(reasoning_message), .set = set_string,
     .help = "what is forced before the end tag; needs --vocab"},
    {"reasoning-start", .metavar = "TAG", CHAIN, AT(reasoning_start), .set = set_string,
     .help = "the tag that the budget counts from: ids, 1,2,3, or with --vocab a text"},
    {"reasoning-end", .metavar = "TAG", CHAIN, AT(reasoning_ends), .set = set_word,
     .help = "a tag that ends the counting; may be repeated"},
    {"backend-sampling", .brief = "bs", CHAIN, FLAG(backend_sampling), .help = "no effect, as there is no backend"},
    {"perf", CHAIN, FLAG(perf), .help = "no effect, as sampl measures nothing"},
    {"no-perf", CHAIN, .flag = true, AT(perf), .low = true, .set = set_flag, .help = "no effect"},
    {"gpt-oss-20b-default", CHAIN, .flag = true, .set = set_gpt_oss,
     .help = "--temp 1 --top-p 1 --top-k 0 --min-p 0.01, as llama.cpp sets for this model"},
    {"gpt-oss-120b-default", CHAIN, .flag = true, .set = set_gpt_oss, .help = "the same, for the larger model"},

    {"emit", .metavar = "WHAT", OUT, .def = "ids", AT(emit), .set = set_index,
     .choices = "ids,score,text,stats,probs,logprobs,logits",
     .help = "what to print for each row: the id, the score of the --accept token, the token's text, statistics, or a "
             "whole distribution"},
    {"dump-probs", .metavar = "[=N]", OUT, SWITCH(dump, dump_most), .high = INT32_MAX,
     .help = "print the N best candidates of each row (all without N)"},
    {"trace", .metavar = "[=N]", OUT, .flag = true, SWITCH(trace, trace_most), .high = INT32_MAX,
     .help = "print what each stage did to the row, and the N best candidates after it"},
    {"after", .metavar = "STAGE", TUNING, AT(after), .set = set_string,
     .help = "show the distribution after STAGE, as --trace names it; NAME#2 is the second of that name"},
    {"expect", .metavar = "LIST", TUNING, AT(expect), .set = set_string,
     .help = "print only which rows differ from the ids of LIST or @FILE, and why; with --emit probs, logprobs or "
             "logits from the rows of FILE"},
    {"tolerance", .metavar = "X", TUNING, .def = "1e-06", .set = set_tolerance,
     .help = "by how much a number may differ from --expect's, in units of it if that is above 1; of ids, the margin "
             "within which a difference does not count"},
    {"output-format", .brief = "O", .metavar = "FMT", OUT, AT(output_format), .set = set_choice,
     .choices = "text,tsv,json,html,f32,f16,npy",
     .help = "format of the output: text, or for a distribution that of the input; html is a page to look at"},
    {"output", .brief = "o", .metavar = "FILE", OUT, AT(output), .set = set_string,
     .help = "write to FILE, whole or not at all"},
    {"line-buffered", OUT, FLAG(line_buffered), .help = "flush after every row"},
    {"stats", OUT, FLAG(stats), .help = "a summary on stderr after the last row"},
    {"vs", .metavar = "SPEC", TUNING, AT(vs), .set = set_word,
     .help = "compare with a variant of the chain: a preset, or options, maybe after NAME:; may be repeated"},
    {"sweep", .metavar = "OPTION=LIST", TUNING, AT(sweeps), .set = set_word,
     .help = "compare with variants that have these values, a,b,c or FROM:TO:STEP; may be repeated for their product"},
    {"against", .metavar = "FILE", TUNING, AT(against), .set = set_string,
     .help = "compare with the same chain on FILE, whose rows are others of the same contexts"},
    {"diff", .metavar = "[=N]", TUNING, SWITCH(diff, diff_most), .high = 1000000,
     .help = "with variants: the rows where one chooses otherwise, or the N where they overlap least"},
    {"on-error", .metavar = "MODE", OUT, .def = "stop", AT(skip_bad), .set = set_index, .choices = "stop,skip",
     .help = "at a bad row stop, or skip it and go on"},

    {"preset", .metavar = "NAME", OTHER,
     .help = "read options from a preset, by name or file, other programs' too, as if they stood here"},
    {"lenient", OTHER, FLAG(lenient),
     .help = "leave out what a preset of another program sets and sampl has not, with a warning"},
    {"list-presets", OTHER, ACTION(ACTION_LIST_PRESETS), .help = "list the presets that can be named, and exit"},
    {"print-chain", .metavar = "[=FMT]", OTHER, ACTION(ACTION_PRINT_CHAIN), .choices = "text,json,llama,server,preset",
     .help = "print the effective chain and exit"},
    {"print-grammar", OTHER, ACTION(ACTION_PRINT_GRAMMAR), .help = "print the effective grammar and exit"},
    {"threads", .brief = "t", .metavar = "N", OTHER, .def = "1", AT(threads), .set = set_whole, .low = 0, .high = 1024,
     .help = "spread rows over N threads, 0: all cores, where the chain carries nothing from row to row"},
    {"verbose", .brief = "v", OTHER, FLAG(verbose), .help = "say on stderr what goes on"},
    {"help", .brief = "h", .metavar = "[=WHAT]", OTHER, ACTION(ACTION_HELP), .choices = "all",
     .help = "this text, or also the options of other programs' samplers, and for comparing and checking chains"},
    {"version", OTHER, ACTION(ACTION_VERSION), .help = "version, compatible llama.cpp build, SIMD tier, libraries"},
    {"generate", .metavar = "SHELL", .group = GROUP_HIDDEN, ACTION(ACTION_GENERATE), .choices = "bash,zsh,fish",
     .help = "print the completion script for a shell"},
};
// clang-format on

// Makes the row of a sampler's parameter. def takes the text of its default.
static struct option_row param_row(const struct catalog *c, size_t number, char def[NUMBER_TEXT])
{
    static const char *const of_type[] = {[PARAM_INT] = "N", [PARAM_FLOAT] = "X", [PARAM_FLAG] = NULL};
    const struct param *const p = c->param[number];
    const bool off = p->def == 0.0 && p->type == PARAM_FLAG;
    return (struct option_row){.name = p->flag,
                               .also = p->also,
                               .metavar = p->metavar ? p->metavar : of_type[p->type],
                               .group = GROUP_CHAIN,
                               .recipe = true,
                               .heading = c->heading[number],
                               .rare = c->heading[number] && !strcmp(c->heading[number], FOREIGN_HEADING),
                               .def = off ? NULL : value_text(p, p->def, def),
                               .flag = p->type == PARAM_FLAG,
                               .set = set_param,
                               .help = p->help,
                               .param = p,
                               .number = number};
}

void options_make(struct options *o, const struct catalog *catalog)
{
    const size_t fixed = sizeof table / sizeof *table;
    assert(fixed + catalog->n < OPTIONS_MOST);
    *o = (struct options){.catalog = catalog};
    for (size_t i = 0; i < fixed; i++) {
        o->row[o->n++] = table[i];
        if (strcmp(table[i].name, "engine") != 0)
            continue;
        for (size_t k = 0; k < catalog->n; k++, o->n++)
            o->row[o->n] = param_row(catalog, k, o->def[o->n]);
    }
}

static bool same_name(const char *name, size_t len, const char *option)
{
    for (size_t i = 0; i < len; i++)
        if ((name[i] == '_' ? '-' : name[i]) != option[i])
            return false;
    return option[len] == '\0';
}

const struct option_row *option_by_name(const struct options *o, const char *name, size_t len)
{
    for (const struct option_row *row = o->row; row->name; row++)
        if (same_name(name, len, row->name) || (row->also && same_name(name, len, row->also)))
            return row;
    return NULL;
}
