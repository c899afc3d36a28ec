// SPDX-License-Identifier: MIT
#include "cli/args.h"

#include "base/names.h"
#include "out/message.h"
#include "samplers/engine.h"

#include <assert.h>
#include <stdlib.h>
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

// Checks the value of a flag that has no effect.
static bool set_nothing(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    bool on;
    (void)a;
    return value_flag(row->name, value, &on, e);
}

// Sets a whole number in the row's range.
static bool set_whole(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return value_whole(row->name, value, (int64_t)row->low, (int64_t)row->high, &FIELD(int64_t), e);
}

// Sets --seed to any 64-bit number; the engine has its own range. The error for any other text names the usual range.
static bool set_seed(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    return whole_number(value, NULL, INT64_MIN, INT64_MAX, &a->seed) ||
           err_set(e, STATUS_USAGE, "--%s: '%s' is not a whole number of 64 bits", row->name, value);
}

// Sets a text. A text that names a file must not be empty.
static bool set_string(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    FIELD(const char *) = value;
    return *value || !option_names_file(row) || err_set(e, STATUS_USAGE, "--%s: '' is not a file name", row->name);
}

// Sets --against, which is given once.
static bool set_against(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    if (a->against)
        return err_set(e, STATUS_USAGE, "--against: '%s' follows '%s'; one second input can be compared", value,
                       a->against);
    return set_string(row, value, a, e);
}

// Returns the index of a value among the row's choices. -1 with *e: it is not one of them.
static int choice_of(const struct option_row *row, const char *value, struct err *e)
{
    const int choice = name_find(row->choices, NAME_EXACT, value, strlen(value));
    if (choice < 0)
        err_set(e, STATUS_USAGE, "--%s: '%s' is not one of %s", row->name, value, row->choices);
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

// Sets --emit to one of its choices, or to lists of N tokens.
static bool set_emit(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    const char *const number = !strncmp(value, "list=", strlen("list=")) ? value + strlen("list=") : NULL;
    a->emit = EMIT_LIST;
    a->list_most = 256;
    return number ? value_whole("emit list", number, 1, INT32_MAX, &a->list_most, e) : set_index(row, value, a, e);
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

// Sets --samplers or --sampler-seq, which differ in the row's `low`: names or letters.
static bool set_samplers(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    a->by_letter = row->low > 0.0;
    return set_string(row, value, a, e);
}

// Appends to a list of the chain, or sets it. The row's `low` is the kind of the list.
static bool set_list(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    const enum list_kind kind = (enum list_kind)row->low;
    if (kind == LIST_BREAKERS && !*value)
        message_warn("--%s: an empty breaker is left out", row->name);
    return list_read(&a->chain.list[kind], kind, value, e);
}

// Appends to a list of ids, which may stand in a file. An error waits until a chain is made of the list.
static bool set_ids(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    const enum list_kind kind = (enum list_kind)row->low;
    struct list *const list = &a->chain.list[kind];
    struct ids ids = {0};
    struct err why;
    list->name = list_options[kind];
    if (!value_ids(row->name, value, 0, &ids, &why) || !list_take_ids(list, kind, &ids, value, &why))
        list_put_off(list, &why);
    free(ids.id);
    return !list->entries.failed || err_from_fault(e, fault_memory());
}

// Sets the number of an option [=N], which is above 0. Without N the number becomes NO_NUMBER. If the row is a flag,
// =true is no N, and =false makes the number 0.
static bool set_switch(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    const bool off = row->flag && value && !strcmp(value, "false");
    const bool number = value && !off && !(row->flag && !strcmp(value, "true"));
    FIELD(int64_t) = off ? 0 : NO_NUMBER;
    return !number || set_whole(row, value, a, e);
}

// Sets a number of the row's range.
static bool set_number(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    const struct param number = {row->name, .type = PARAM_FLOAT, .low = (float)row->low, .high = (float)row->high};
    return value_parse(&number, value, &FIELD(double), e);
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

// Sets the action --help. help_print finds what the value names.
static bool set_help(const struct option_row *row, const char *value, struct args *a, struct err *e)
{
    (void)row, (void)e;
    a->action = ACTION_HELP;
    a->how = value ? value : "";
    return true;
}

void args_give(struct args *a, const struct option_row *row, const char *preset)
{
    a->given[row - a->options->row] = preset ? ORIGIN_PRESET : ORIGIN_COMMAND_LINE;
    a->preset[row - a->options->row] = preset;
}

bool args_set(struct args *a, const struct option_row *row, const char *value, const char *preset, struct err *e)
{
    if (preset && !row->recipe)
        return err_set(e, STATUS_USAGE, "--%s is not allowed in a preset", row->name);
    if (preset && value && *value == '@' && !strcmp(row->metavar, "LIST"))
        return err_set(e, STATUS_USAGE, "--%s: a preset names no file: '%s'", row->name, value);
    args_give(a, row, preset);
    return row->set(row, value, a, e);
}

bool args_forget(struct args *a, const struct option_row *row, struct err *e)
{
    a->given[row - a->options->row] = ORIGIN_NONE;
    if (row->param)
        a->value[row->number] = param_value(row->param, row->param->def);
    else if (row->def)
        return row->set(row, row->def, a, e);
    else if (row->set == set_list || row->set == set_ids)
        list_begin(&a->chain.list[(size_t)row->low], NULL);
    else if (row->set == set_grammar)
        a->grammar_row = NULL;
    else if (row->set == set_string)
        FIELD(const char *) = NULL;
    else if (row->set == set_flag)
        FIELD(bool) = false;
    return true;
}

// ---- the table

#define AT(member)     .at = offsetof(struct args, member)
#define IN             .group = GROUP_INPUT
#define CHAIN          .group = GROUP_CHAIN, .recipe = true
#define SCATTER        .heading = "Scatter"
#define CHAIN_FILE     .group = GROUP_CHAIN
#define OUT            .group = GROUP_OUTPUT
#define TUNING         .group = GROUP_OUTPUT, .heading = "Comparing and checking chains"
#define OTHER          .group = GROUP_OTHER
#define COMMON         .common = true
#define FLAG(member)   .flag = true, AT(member), .set = set_flag
#define ACTION(action) .low = (action), .set = set_action
#define SWITCH(member) AT(member), .low = 1, .set = set_switch
#define WORDS(member)  .repeats = true, AT(member), .set = set_word
#define LIST(kind)     .repeats = true, .low = (kind), .set = set_list
#define IDS(kind)      .repeats = true, .low = (kind), .set = set_ids
#define GRAMMAR        AT(grammar), .set = set_grammar

#define MOST_ROWS 0x1p53 // the text of a range prints it exactly

// clang-format off
static const struct option_row table[] = {
    {"format", COMMON, .brief = "f", .metavar = "FMT", IN, .def = "auto", AT(format), .set = set_choice,
     .choices = "auto,f32,f16,bf16,json,npy,safetensors,kld,pairs",
     .help = "format of the rows; auto decides by the content, then by the name"},
    {"n-vocab", COMMON, .brief = "n", .metavar = "N", IN, AT(n_vocab), .set = set_whole, .low = 1, .high = INT32_MAX,
     .help = "number of tokens in a row of raw input"},
    {"tensor", .metavar = "NAME", IN, AT(tensor), .set = set_string,
     .help = "name of the tensor to read, if a safetensors file has several"},
    {"ids", .metavar = "HOW", IN, .def = "given", AT(ids), .set = set_choice, .choices = "given,rank",
     .help = "ids of the tokens in a server's reply; given: those of the reply, rank: the ranks within the row"},
    {"vocab", COMMON, .metavar = "FILE", IN, AT(vocab), .set = set_string,
     .help = "texts of the tokens; GGUF, tokenizer.json, vocab.json, or one token a line"},
    {"rows", COMMON, .metavar = "LIST", IN, .def = ":", AT(rows), .set = set_string,
     .help = "rows to sample; 3,9,20:30 or @FILE; A:B is A <= r < B, either may be missing, negative numbers count "
             "from the end"},
    {"params", .metavar = "FILE", IN, AT(params), .set = set_string,
     .help = "file with a JSON object a line for each row; its members: seq, params, prompt_tokens, accept, position, "
             "end"},
    {"prompt-tokens", .metavar = "LIST", IN, AT(prompt), .set = set_string,
     .help = "ids to accept before the first row; 1,2,3 or @FILE"},
    {"accept", COMMON, .metavar = "LIST", IN, AT(accept), .set = set_string,
     .help = "ids to accept in place of the sampled ones; 1,2,3 or @FILE: the i-th id after row i, recorded: those of "
             "the input"},
    {"shard", .metavar = "K/N", IN, .set = set_share,
     .help = "sample only the K-th of N parts of the rows; the outputs of all parts make up the output of one run"},
    {"row-base", .metavar = "N", IN, .def = "0", AT(row_base), .set = set_whole, .high = MOST_ROWS,
     .help = "number of the input's first row; for an input that is a part of a longer one"},
    {"independent", IN, FLAG(independent),
     .help = "treat each row as a sequence of its own; its seed is the seed + the row's number"},

    {"samplers", COMMON, .metavar = "NAMES", CHAIN, .def = DEFAULT_CHAIN, AT(samplers), .set = set_samplers,
     .help = "names of the samplers, in order; separated by ';', NAME=VALUE sets the main parameter of one"},
    {"sampler-seq", .also = "sampling-seq", .metavar = "LETTERS", CHAIN, AT(samplers), .low = true, .set = set_samplers,
     .help = "letters of the samplers, in order; edskypmxrt is the default chain"},
    {"neutral", CHAIN, .flag = true, .set = set_neutral,
     .help = "switch every sampler off and reset its parameters; =false: reset them to the defaults"},
    {"seed", COMMON, .brief = "s", .metavar = "N", CHAIN, .def = "-1", AT(seed), .low = -1, .high = UINT32_MAX,
     .set = set_seed,
     .help = "seed of the random numbers; -1: a random seed"},
    {"engine", COMMON, .metavar = "NAME", CHAIN, .def = "llama", AT(engine), .set = set_choice, .choices = ENGINE_NAMES,
     .help = "program whose pipeline to run; each has its own defaults"},
    {"logit-bias", COMMON, .brief = "l", .metavar = "ID(+|-)BIAS", CHAIN, LIST(LIST_BIASES),
     .help = "add BIAS to the logit of a token; ID-inf bans it; \"TEXT\"(+|-)BIAS needs --vocab; may be repeated"},
    {"ignore-eos", CHAIN, FLAG(chain.ignore_eos), .help = "ban the vocabulary's end-of-generation tokens"},
    {"dry-sequence-breaker", .metavar = "TEXT", CHAIN, LIST(LIST_BREAKERS),
     .help = "text that DRY does not match across; replaces the defaults; none: no breakers; may be repeated"},
    {"escape", .brief = "e", CHAIN, .flag = true, AT(chain.no_escape), .low = true, .set = set_flag,
     .help = "resolve escapes in --dry-sequence-breaker; this is the default"},
    {"no-escape", CHAIN, FLAG(chain.no_escape), .help = "do not resolve escapes in --dry-sequence-breaker"},
    {"dry-breaker-tokens", .metavar = "LIST", CHAIN, IDS(LIST_BREAKER_IDS),
     .help = "ids that DRY does not match across; 1,2,3 or @FILE; replace the default texts; may be repeated"},
    {"bad-word-tokens", .metavar = "LIST", CHAIN, IDS(LIST_BANS),
     .help = "ids of a sequence to ban; 1,2,3 or @FILE; the last id is masked after the others; may be repeated"},
    {"eog-tokens", .metavar = "LIST", CHAIN, IDS(LIST_ENDS),
     .help = "ids that end a text, for --min-tokens; besides those of the vocabulary; may be repeated"},
    {"grammar", .metavar = "GBNF", CHAIN, GRAMMAR,
     .help = "choose only tokens that fit a grammar; in llama.cpp's notation, needs --vocab"},
    {"grammar-file", COMMON, .metavar = "FILE", CHAIN_FILE, GRAMMAR, .help = "choose only tokens that fit the grammar "
                                                                             "in FILE; needs --vocab"},
    {"json-schema", COMMON, .brief = "j", .metavar = "SCHEMA", CHAIN, GRAMMAR,
     .help = "choose only tokens that fit a JSON schema; {} is any value, needs --vocab"},
    {"json-schema-file", .brief = "jf", .metavar = "FILE", CHAIN_FILE, GRAMMAR,
     .help = "choose only tokens that fit the JSON schema in FILE; needs --vocab"},
    {"grammar-first", CHAIN, FLAG(grammar_first),
     .help = "mask by the grammar before the chain; otherwise only if the chosen token does not fit"},
    {"reasoning-budget", .metavar = "N", CHAIN, .def = "-1", AT(chain.reasoning_budget), .low = -1, .high = INT32_MAX,
     .set = set_whole,
     .help = "most tokens between a start tag and an end tag; then the message and the first end tag are forced; -1: "
             "no budget"},
    {"reasoning-budget-message", .metavar = "TEXT", CHAIN, .low = LIST_MESSAGE, .set = set_list,
     .help = "text to force before the end tag; needs --vocab"},
    {"reasoning-start", .metavar = "TAG", CHAIN, .low = LIST_START, .set = set_list,
     .help = "tag at which the budget begins; ids 1,2,3, or a text with --vocab"},
    {"reasoning-end", .metavar = "TAG", CHAIN, LIST(LIST_END_TAGS),
     .help = "tag at which the budget ends; ids or a text; may be repeated"},
    {"scatter-embeddings", .metavar = "FILE", CHAIN, SCATTER, AT(embeddings), .set = set_string,
     .help = "tokens with near vectors exchange probability, not near ranks; the model's embedding matrix as "
             "safetensors, npy or GGUF"},
    {"scatter-metric", .metavar = "METRIC", CHAIN, SCATTER, .def = "cosine", AT(metric), .set = set_index,
     .choices = "cosine,l2",
     .help = "distance of the vectors of --scatter-embeddings, which are scaled to length 1"},
    {"backend-sampling", .brief = "bs", CHAIN, FLAG(backend_sampling), .help = "no effect; sampl has no backend"},
    {"perf", CHAIN, .flag = true, .set = set_nothing, .help = "no effect; sampl measures nothing"},
    {"no-perf", CHAIN, .flag = true, .set = set_nothing, .help = "no effect; sampl measures nothing"},
    {"gpt-oss-20b-default", CHAIN, .flag = true, .set = set_gpt_oss,
     .help = "--temp 1 --top-p 1 --top-k 0 --min-p 0.01; llama.cpp's values for this model"},
    {"gpt-oss-120b-default", CHAIN, .flag = true, .set = set_gpt_oss, .help = "the values of --gpt-oss-20b-default; "
                                                                              "for the larger model"},

    {"emit", COMMON, .metavar = "WHAT", OUT, .def = "ids", AT(emit), .set = set_emit,
     .choices = "ids,score,text,stats,probs,logprobs,logits,list",
     .help = "output for each row; score needs --accept, text needs --vocab; list=N: the N best logits, and the size "
             "of the tail"},
    {"dump-probs", COMMON, .metavar = "[=N]", OUT, SWITCH(dump), .high = INT32_MAX,
     .help = "print the N best candidates of each row; all without N"},
    {"trace", COMMON, .metavar = "[=N]", OUT, .flag = true, SWITCH(trace), .high = INT32_MAX,
     .help = "print what each sampler did to the row; with N, also the N best candidates after it"},
    {"after", .metavar = "STAGE", OUT, AT(after), .set = set_string,
     .help = "stage whose distribution is shown; named as in --trace, NAME#2 is the second of that name"},
    {"expect", COMMON, .metavar = "LIST", TUNING, AT(expect), .set = set_string,
     .help = "compare with these ids, and print the rows that differ; LIST, a file or recorded; with --emit probs, "
             "logprobs or logits the file has rows of numbers"},
    {"expect-most", .metavar = "N", TUNING, AT(expect_most), .set = set_whole, .high = MOST_ROWS,
     .help = "end the list of --expect after N rows that differ; further rows are still counted"},
    {"draws", .metavar = "FILE", TUNING, AT(draws), .set = set_string,
     .help = "test whether ids are draws from the distributions; line i of FILE has those of row i, recorded: those of "
             "the input"},
    {"draws-p", .metavar = "P", TUNING, .def = "1e-06", AT(draws_p), .set = set_number, .low = 1e-30, .high = 1,
     .help = "p-value below which a test of --draws rejects the draws"},
    {"tolerance", .metavar = "X", TUNING, .def = "1e-06", AT(tolerance), .set = set_number, .high = FLT_MAX,
     .help = "largest difference that --expect accepts; relative for numbers above 1; for ids and draws the margin "
             "within which a difference is counted apart"},
    {"output-format", COMMON, .brief = "O", .metavar = "FMT", OUT, AT(output_format), .set = set_choice,
     .choices = "text,tsv,json,html,f32,f16,npy,safetensors",
     .help = "format; html is a page for a browser, safetensors is for lists"},
    {"output", COMMON, .brief = "o", .metavar = "FILE", OUT, AT(output), .set = set_string,
     .help = "write to FILE; whole or not at all"},
    {"line-buffered", OUT, FLAG(line_buffered), .help = "flush the output after each row"},
    {"stats", COMMON, OUT, FLAG(stats), .help = "print a summary on standard error at the end"},
    {"vs", COMMON, .metavar = "SPEC", TUNING, WORDS(vs),
     .help = "compare with another chain; a preset, or options, which NAME: before them names; may be repeated"},
    {"sweep", COMMON, .metavar = "OPTION=LIST", TUNING, WORDS(sweeps),
     .help = "compare the values of an option; a,b,c or FROM:TO:STEP; several sweeps give all combinations"},
    {"columns", .metavar = "LIST", TUNING, AT(columns), .set = set_string,
     .help = "columns of the table of variants, in this order; as lost,gain,gain_diff"},
    {"base", .metavar = "NAME", TUNING, AT(base), .set = set_string,
     .help = "compare with the variant of this name; in place of the chain of the command line"},
    {"against", COMMON, .metavar = "FILE", TUNING, AT(against), .set = set_against,
     .help = "compare with the rows of another FILE; rows of the same contexts, as of a quantised model"},
    {"report", TUNING, FLAG(report),
     .help = "with --against, print how far the raw rows agree; perplexities, divergences, as llama-perplexity does"},
    {"diff", COMMON, .metavar = "[=N]", TUNING, SWITCH(diff), .high = 1000000,
     .help = "print the rows where variants choose otherwise; with N, the N rows that overlap least"},
    {"on-error", COMMON, .metavar = "MODE", OUT, .def = "stop", AT(skip_bad), .set = set_index, .choices = "stop,skip",
     .help = "what to do at a bad row; skip continues with the next row"},

    {"preset", COMMON, .metavar = "NAME", OTHER,
     .help = "read options from a preset; a name of --list-presets, or a file, also of another program"},
    {"lenient", OTHER, FLAG(lenient),
     .help = "leave out settings of a preset that sampl does not have; with a warning; otherwise they are an error"},
    {"list-presets", COMMON, OTHER, ACTION(ACTION_LIST_PRESETS), .help = "list the presets and exit"},
    {"print-chain", COMMON, .metavar = "[=FMT]", OTHER, ACTION(ACTION_PRINT_CHAIN),
     .choices = "text,json,llama,server,preset",
     .help = "print the chain and exit"},
    {"print-grammar", OTHER, ACTION(ACTION_PRINT_GRAMMAR), .help = "print the grammar and exit"},
    {"threads", COMMON, .brief = "t", .metavar = "N", OTHER, .def = "1", AT(threads), .set = set_whole, .low = 0,
     .high = 1024,
     .help = "number of threads; 0: all cores; used if no state passes from row to row"},
    {"verbose", .brief = "v", OTHER, FLAG(verbose), .help = "print more notes on standard error"},
    {"help", COMMON, .brief = "h", .metavar = "[=WHAT]", OTHER, .set = set_help,
     .choices = "all,input,samplers,scatter,output,comparing,other",
     .help = "print help and exit; the common options, all, a group, or one option, sampler or column by its name"},
    {"version", COMMON, OTHER, ACTION(ACTION_VERSION), .help = "print the version and exit; also the compatible "
                                                               "llama.cpp release, the SIMD tier and libraries"},
    {"generate", .metavar = "SHELL", .group = GROUP_HIDDEN, ACTION(ACTION_GENERATE), .choices = "bash,zsh,fish,json",
     .help = "print the completion script for a shell, or the option table as JSON"},
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
                               .common = p->common,
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

const struct option_row *option_by_name(const struct options *o, const char *name, size_t len)
{
    for (const struct option_row *row = o->row; row->name; row++)
        if (name_of_option(row->name, name, len) || name_of_option(row->also, name, len))
            return row;
    return NULL;
}
