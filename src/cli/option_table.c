// SPDX-License-Identifier: MIT
#include "cli/option_rules.h"

#include "out/format.h"
#include "out/message.h"
#include "samplers/engine.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// ---- setters

// A setter reads the value of an option, checks it, and stores it in the arguments. The value is NULL if the option has
// none. False with *e if the value is refused.

// Returns the arguments whose chain a setter gets.
static struct args *args_of(struct typed *t) { return (struct args *)(void *)t; }
static_assert(offsetof(struct args, typed) == 0, "typed is the first member");

// Sets --against, which is given once.
static bool set_against(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    const struct args *const a = args_of(t);
    if (a->against)
        return err_set(e, STATUS_USAGE, "--%s: '%s' follows '%s'; one second input can be compared", row->name, value,
                       a->against);
    return option_set_as(row, OPTION_TEXT, value, t, e);
}

// Sets --emit to one of its choices, or to lists of N tokens.
static bool set_emit(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    const char *const number = !strncmp(value, "list=", strlen("list=")) ? value + strlen("list=") : NULL;
    struct args *const a = args_of(t);
    a->emit = EMIT_LIST;
    a->list_most = 256;
    return number ? value_whole("emit list", number, 1, INT32_MAX, &a->list_most, e)
                  : option_set_as(row, OPTION_INDEX, value, t, e);
}

// Appends to a list of texts.
static bool set_word(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    return words_add(&OPTION_FIELD(struct words), value, e);
}

// Sets --shard=K/N.
static bool set_share(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    const char *const slash = strchr(value, '/');
    struct share *const share = &OPTION_FIELD(struct share);
    return (slash && whole_number(slash + 1, NULL, 1, INT32_MAX, &share->n) &&
            whole_number(value, slash, 1, share->n, &share->k)) ||
           err_set(e, STATUS_USAGE, "--%s: '%s' is not K/N with 1 <= K <= N", row->name, value);
}

// Sets the values that llama.cpp gives a model, as if there were such options. What a model recommends counts more.
static bool set_gpt_oss(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    static const struct {
        const char *flag;
        double value;
    } values[] = {{"temp", 1.0}, {"top-p", 1.0}, {"top-k", 0.0}, {"min-p", 0.01}};
    bool on;
    if (!value_flag(row->name, value, &on, e))
        return false;
    for (size_t i = 0; on && i < sizeof values / sizeof *values; i++) {
        row = option_by_name(t->options, values[i].flag, strlen(values[i].flag));
        unsigned char *const given = &t->given[row - t->options->row];
        t->value[row->number] = param_value(row->param, values[i].value);
        *given = *given ? *given : ORIGIN_WEAK;
    }
    return true;
}

// Sets the row's action. Its value is one of the row's choices; without one it is text.
static bool set_action(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    struct args *const a = args_of(t);
    a->action = (enum action)row->action;
    a->how = value ? value : "text";
    return !value || option_choice(row, value, e) >= 0;
}

// Sets the action --help. help_print finds what the value names.
static bool set_help(const struct option_row *row, const char *value, struct typed *t, struct err *e)
{
    struct args *const a = args_of(t);
    (void)row, (void)e;
    a->action = ACTION_HELP;
    a->how = value ? value : "";
    return true;
}

void args_give(struct args *a, const struct option_row *row, const char *preset)
{
    const size_t number = (size_t)(row - a->typed.options->row);
    a->typed.given[number] = preset ? ORIGIN_PRESET : ORIGIN_COMMAND_LINE;
    a->preset[number] = preset;
}

bool args_set(struct args *a, const struct option_row *row, const char *value, const char *preset, struct err *e)
{
    if (preset && !row->recipe)
        return err_set(e, STATUS_USAGE, "--%s is not allowed in a preset", row->name);
    if (preset && value && *value == '@' && !strcmp(row->metavar, "LIST"))
        return err_set(e, STATUS_USAGE, "--%s: a preset names no file: '%s'", row->name, value);
    args_give(a, row, preset);
    const bool ok = option_set(row, value, &a->typed, e);
    message_notes(a->typed.options->notes);
    return ok;
}

// ---- the table

#define AT(member)     .at = offsetof(struct args, member)
#define IN             .group = GROUP_INPUT
#define CHAIN          .group = GROUP_CHAIN, .recipe = true
#define SCATTER        .heading = "Scatter"
#define OUT            .group = GROUP_OUTPUT
#define TUNING         .group = GROUP_OUTPUT, .heading = "Comparing and checking chains"
#define OTHER          .group = GROUP_OTHER
#define COMMON         .common = true
#define TEXT(member)   .kind = OPTION_TEXT, AT(member)
#define CHOICE(member) .kind = OPTION_CHOICE, AT(member)
#define INDEX(member)  .kind = OPTION_INDEX, AT(member)
#define WHOLE(member)  .kind = OPTION_WHOLE, AT(member)
#define NUMBER(member) .kind = OPTION_NUMBER, AT(member)
#define FLAG(member)   .flag = true, .kind = OPTION_FLAG, AT(member)
#define SWITCH(member) .kind = OPTION_SWITCH, AT(member), .low = 1
#define ACTION(which)  .action = (which), .set = set_action
#define WORDS(member)  .repeats = true, AT(member), .set = set_word

#define VARIANTS        "vs,sweep,against"
#define NOT_IDS         "score,text,stats,probs,logprobs,logits,list,residual"
#define NO_OTHER_FORMAT " of variants has no other format"
#define OF_THE_TABLE    " is for the table of --vs, --sweep or --against"
#define OF_VARIANTS     EXCLUDES("print-chain,print-grammar", .as = "--vs, --sweep and --against")
#define OWN_REPORT                                                    \
    EXCLUDES("dump-probs", .why = ": it prints a report of its own"), \
        EXCLUDES("trace", .why = ": it prints a report of its own"),  \
        EXCLUDES("output-format=tsv|html|f32|f16|npy|safetensors", .says = " comes as text or json, not as %s")

#define MOST_ROWS 0x1p53 // the text of a range prints it exactly

// clang-format off
static const struct option_row of_input[] = {
    {"format", COMMON, .brief = "f", .metavar = "FMT", IN, .def = "auto", CHOICE(format),
     .choices = format_choices,
     .help = "format of the rows; auto decides by the content, then by the name"},
    {"n-vocab", COMMON, .brief = "n", .metavar = "N", IN, WHOLE(n_vocab), .low = 1,
     .high = INT32_MAX, .help = "number of logits in a row of raw input"},
    {"tensor", .metavar = "NAME", IN, TEXT(tensor),
     .help = "name of the tensor to read, if a safetensors file has several"},
    {"ids", .metavar = "HOW", IN, .def = "given", INDEX(ids), .choices = "given,rank",
     .help = "ids of the tokens in a server's reply; given: those of the reply, rank: numbered by rank within the row"},
    {"vocab", COMMON, .metavar = "FILE", IN, TEXT(vocab),
     RULES(READS_INPUT(.unless = "print-chain,print-grammar")),
     .help = "file with the texts of the tokens; GGUF, tokenizer.json, vocab.json, or one token a line"},
    {"rows", COMMON, .metavar = "LIST", IN, .def = ":", TEXT(rows),
     .help = "rows to show; such as 3,9,20:30, or @FILE; 20:30 ends before 30, 20: goes to the end, -5: shows the "
             "last five"},
    {"first", .metavar = "N", IN, .def = "0", WHOLE(first), .low = -MOST_ROWS, .high = MOST_ROWS,
     .help = "begin the run at row N; a negative number counts from the end"},
    {"params", .metavar = "FILE", IN, TEXT(params),
     RULES(EXCLUDES("row-base", .says = " cannot be used with --row-base; --shard cuts files up"),
           READS_INPUT(.unless = "print-chain,print-grammar")),
     .help = "parameters for each row; FILE has a JSON object a line, with the members seq, params, prompt_tokens, "
             "accept, position, sample and end"},
    {"prompt-tokens", .metavar = "LIST", IN, TEXT(prompt),
     .help = "ids of the prompt, for the history; 1,2,3 or @FILE"},
    {"accept", COMMON, .metavar = "LIST", IN, TEXT(accept),
     .help = "ids of the recorded text, for the history; 1,2,3 or @FILE, one for each row; recorded: the ids that the "
             "input records"},
    {"shard", .metavar = "K/N", IN, AT(shard), .set = set_share,
     RULES(EXCLUDES("row-base")),
     .help = "show only the K-th of N parts of the rows; all parts, one after the other, are the output of one run"},
    {"row-base", .metavar = "N", IN, .def = "0", WHOLE(row_base), .high = MOST_ROWS,
     .help = "number of the input's first row; if the input is a part of a longer one"},
    {"independent", IN, FLAG(independent),
     .help = "treat each row as a text of its own; its seed is the seed + the row's number"},
};

static const struct option_row others[] = {
    {"scatter-embeddings", .metavar = "FILE", CHAIN, SCATTER, TEXT(embeddings),
     .help = "tokens with near vectors exchange probability, not near ranks; the model's embedding matrix as "
             "safetensors, npy or GGUF"},
    {"scatter-metric", .metavar = "METRIC", CHAIN, SCATTER, .def = "cosine", INDEX(metric),
     .choices = "cosine,l2",
     .help = "distance of the vectors of --scatter-embeddings, which are scaled to length 1"},
    {"backend-sampling", .brief = "bs", CHAIN, FLAG(backend_sampling), .help = "no effect; sampl has no backend"},
    {"perf", CHAIN, .flag = true, .kind = OPTION_NO_EFFECT, .help = "no effect; sampl measures nothing"},
    {"no-perf", CHAIN, .flag = true, .kind = OPTION_NO_EFFECT, .help = "no effect; sampl measures nothing"},
    {"gpt-oss-20b-default", CHAIN, .flag = true, .set = set_gpt_oss,
     .help = "--temp 1 --top-p 1 --top-k 0 --min-p 0.01; llama.cpp's values for this model"},
    {"gpt-oss-120b-default", CHAIN, .flag = true, .set = set_gpt_oss, .help = "the values of --gpt-oss-20b-default; "
                                                                              "for the larger model"},

    {"emit", COMMON, .metavar = "WHAT", OUT, .def = "ids", INDEX(emit), .set = set_emit,
     .choices = "ids,score,text,stats,probs,logprobs,logits,list,residual",
     RULES(EXCLUDES("dump-probs", .of = NOT_IDS), EXCLUDES("trace", .of = NOT_IDS),
           EXCLUDES(VARIANTS, .of = "score,probs,logprobs,logits,list",
                    .says = ": variants have ids, text, stats or the table"),
           EXCLUDES(VARIANTS, .of = "ids", .unless = "output-format=text|tsv", .says = NO_OTHER_FORMAT),
           EXCLUDES(VARIANTS, .of = "text", .unless = "output-format=text", .says = NO_OTHER_FORMAT),
           NEEDS("accept", .of = "score", .says = " needs --accept, the tokens to be scored"),
           NEEDS("against", .of = "residual", .why = ": the distribution of the drafts")),
     .help = "what to print for each row; score needs --accept, text --vocab, residual --against; list=N: the N best "
             "logits, and how much the others have"},
    {"dump-probs", COMMON, .metavar = "[=N]", OUT, SWITCH(dump), .high = INT32_MAX,
     .help = "print the N likeliest tokens that the chain kept; all without N"},
    {"trace", COMMON, .metavar = "[=N]", OUT, .flag = true, SWITCH(trace), .high = INT32_MAX,
     RULES(EXCLUDES(VARIANTS)),
     .help = "print what each stage did to the row; with N, also the N likeliest tokens after it"},
    {"after", .metavar = "STAGE", OUT, TEXT(after),
     RULES(NEEDS("emit=probs|logprobs|logits,dump-probs",
                 .says = " needs --emit probs, logprobs or logits, or --dump-probs")),
     .help = "show the distribution after this stage; named as in --trace, NAME#2 is the second of that name"},
    {"expect", COMMON, .metavar = "LIST", TUNING, TEXT(expect),
     RULES(EXCLUDES(VARIANTS), NEEDS("seed", .why = ": without a seed each run chooses other tokens"),
           EXCLUDES("emit=score|text|stats|list|residual",
                    .says = " compares ids, probs, logprobs or logits, not --emit %s"),
           OWN_REPORT, READS_INPUT()),
     .help = "print the rows where the chain picks other ids than these; LIST, @FILE or recorded; with --emit probs, "
             "logprobs or logits, FILE has rows of numbers"},
    {"expect-most", .metavar = "N", TUNING, WHOLE(expect_most), .high = MOST_ROWS,
     RULES(NEEDS("expect")),
     .help = "print at most N rows that differ; later ones are still counted"},
    {"draws", .metavar = "FILE", TUNING, TEXT(draws),
     RULES(EXCLUDES("vs,sweep,against,expect"), EXCLUDES("shard", .why = ": the tests of parts cannot be joined"),
           EXCLUDES("emit", .why = ": it prints a report of its own"), OWN_REPORT, READS_INPUT()),
     .help = "test whether ids were drawn from the chain's distributions; line i of FILE has those of row i; "
             "recorded: those of the input"},
    {"draws-p", .metavar = "P", TUNING, .def = "1e-06", NUMBER(draws_p), .low = 1e-30, .high = 1,
     RULES(NEEDS("draws")),
     .help = "p-value below which a test of --draws rejects the draws"},
    {"tolerance", .metavar = "X", TUNING, .def = "1e-06", NUMBER(tolerance), .high = FLT_MAX,
     RULES(NEEDS("expect,draws")),
     .help = "largest difference that --expect accepts; relative for numbers above 1; ids and draws: rows decided by "
             "less are counted on their own"},
    {"audit", .metavar = "LIST", TUNING, TEXT(audit),
     RULES(EXCLUDES("expect,draws"), EXCLUDES("accept", .why = ": the claimed ids follow the rows"),
           EXCLUDES("emit,diff,report,columns", .why = ": it prints a report of its own"),
           EXCLUDES("dump-probs", .why = ": it prints a report of its own"),
           EXCLUDES("trace", .why = ": it prints a report of its own"),
           EXCLUDES("shard", .why = ": the tests of parts cannot be joined"),
           EXCLUDES("against", .says = " reads the rows of a trusted run with --trusted-rows and --trusted"),
           READS_INPUT()),
     .help = "measure how well the ids that another run claims fit the chain; LIST as in --expect"},
    {"trusted", .metavar = "LIST", TUNING, TEXT(trusted),
     RULES(NEEDS("audit"), EXCLUDES("vs,sweep"),
           NEEDS("audit=recorded", .of = "recorded", .says = " needs --audit recorded, too"),
           EXCLUDES("audit=recorded", .unless = "trusted=recorded", .says = " must be recorded, as --audit is"),
           NEEDS("trusted-rows", .of = "recorded"), READS_INPUT()),
     .help = "with --audit, compare with the ids of a run you trust; exit status 4 if the claimed ids fit worse"},
    {"trusted-rows", .metavar = "FILE", TUNING, TEXT(against), .set = set_against,
     RULES(NEEDS("trusted"), READS_INPUT()),
     .help = "rows of the trusted run; by default those of the claimed ids"},
    {"audit-p", .metavar = "P", TUNING, .def = "0.001", NUMBER(audit_p), .low = 1e-30, .high = 1,
     RULES(NEEDS("trusted")),
     .help = "chance that --trusted reports a difference between equal runs"},
    {"margin-clip", .metavar = "X", TUNING, .def = "0.5", NUMBER(margin_clip), .low = 1e-9, .high = FLT_MAX,
     RULES(NEEDS("audit")),
     .help = "largest margin that counts in the means of --audit; in logits"},
    {"match-least", .metavar = "SHARE", TUNING, NUMBER(match_least), .high = 1,
     RULES(NEEDS("audit")),
     .help = "with --audit, exit status 4 if a smaller share of the ids matches"},
    {"outside-most", .metavar = "SHARE", TUNING, NUMBER(outside_most), .high = 1,
     RULES(NEEDS("audit")),
     .help = "with --audit, exit status 4 if the chain could never pick more than this share of the ids"},
    {"output-format", COMMON, .brief = "O", .metavar = "FMT", OUT, CHOICE(output_format),
     .choices = output_format_choices + 1,
     RULES(EXCLUDES("diff", .of = "html", .why = ": it is a page of the rows"),
           EXCLUDES("emit=score|text|probs|logprobs|logits|list|residual", .of = "html",
                    .why = ": it is a page of the rows"),
           NEEDS("emit=score|stats|probs|logprobs|logits|residual,report", .of = "f32,f16,npy",
                 .says = " is for scores and distributions, see --emit")),
     .help = "format; html is a page for a browser, safetensors is for lists"},
    {"output", COMMON, .brief = "o", .metavar = "FILE", OUT, TEXT(output),
     .help = "write to FILE; only if the whole run succeeds"},
    {"line-buffered", OUT, FLAG(line_buffered), .help = "write each record as soon as it is complete"},
    {"stats", COMMON, OUT, FLAG(stats), .help = "print means on standard error at the end; over the rows"},
    {"vs", COMMON, .metavar = "SPEC", TUNING, WORDS(vs),
     RULES(OF_VARIANTS),
     .help = "compare with another chain; SPEC is a preset, or options, which may follow a name: 'NAME: OPTIONS'; may "
             "be repeated"},
    {"sweep", COMMON, .metavar = "OPTION=LIST", TUNING, WORDS(sweeps),
     RULES(OF_VARIANTS),
     .help = "compare the values of an option; a,b,c or FROM:TO:STEP; several sweeps give all combinations"},
    {"columns", .metavar = "LIST", TUNING, TEXT(columns),
     RULES(NEEDS(VARIANTS, .says = OF_THE_TABLE), EXCLUDES("diff,report,emit", .says = OF_THE_TABLE),
           EXCLUDES("dump-probs", .unless = "output-format=html", .says = OF_THE_TABLE)),
     .help = "columns of the table, in this order; such as lost,gain,gain_diff, or all"},
    {"most-lost", .metavar = "RATE", TUNING, NUMBER(most_lost), .low = 1e-9, .high = 1,
     RULES(NEEDS(VARIANTS, .says = OF_THE_TABLE), NEEDS("accept"),
           EXCLUDES("diff,report,emit,dump-probs", .says = OF_THE_TABLE), EXCLUDES("output-format=html")),
     .help = "of the variants that lose less of --accept's text than this, name the one that removes most; from 0 to "
             "1"},
    {"base", .metavar = "NAME", TUNING, TEXT(base),
     RULES(NEEDS("vs,sweep", .says = " needs variants: --vs or --sweep")),
     .help = "compare with the variant of this name; by default with the chain of the command line"},
    {"against", COMMON, .metavar = "FILE", TUNING, TEXT(against), .set = set_against,
     RULES(OF_VARIANTS, EXCLUDES("vs,sweep"), READS_INPUT()),
     .help = "compare with the rows of another FILE; computed for the same text, as by a quantised model"},
    {"report", TUNING, FLAG(report),
     RULES(NEEDS("against", .why = ": it compares the rows of two inputs"),
           EXCLUDES("diff,dump-probs,after,emit,stats"),
           EXCLUDES("shard", .why = ": the reports of parts cannot be joined")),
     .help = "with --against, print how far the raw rows agree; perplexities and divergences, as llama-perplexity "
             "does"},
    {"diff", COMMON, .metavar = "[=N]", TUNING, SWITCH(diff), .high = 1000000,
     RULES(NEEDS(VARIANTS, .says = " needs variants: --vs, --sweep or --against"),
           EXCLUDES("dump-probs,emit")),
     .help = "print the rows where variants pick another token; with N, the N rows that overlap least"},
    {"on-error", COMMON, .metavar = "MODE", OUT, .def = "stop", INDEX(on_error), .choices = "stop,skip",
     .help = "what to do at a bad row; skip continues with the next row"},

    {"preset", COMMON, .metavar = "NAME", OTHER, .kind = OPTION_PRESET,
     .help = "read options from a preset; a name of --list-presets, or a file, also of another program"},
    {"strict-grammar", OTHER, FLAG(strict_grammar),
     .help = "refuse a grammar or schema that llama.cpp refuses"},
    {"preset-from", .metavar = "PROGRAM", OTHER, TEXT(preset_from),
     .help = "read presets as files of this program; one of --list-programs; by default their keys tell"},
    {"lenient", OTHER, FLAG(lenient),
     .help = "leave out settings of a preset that sampl lacks; with a warning; by default they are errors"},
    {"list-presets", COMMON, OTHER, ACTION(ACTION_LIST_PRESETS), .help = "list the presets and exit"},
    {"list-programs", OTHER, ACTION(ACTION_LIST_PROGRAMS), .help = "list the programs whose presets are read and exit"},
    {"print-chain", COMMON, .metavar = "[=FMT]", OTHER, ACTION(ACTION_PRINT_CHAIN),
     .choices = "text,json,llama,server,preset",
     .help = "print the chain and exit"},
    {"print-grammar", OTHER, ACTION(ACTION_PRINT_GRAMMAR), .help = "print the grammar and exit"},
    {"threads", COMMON, .brief = "t", .metavar = "N", OTHER, .def = "1", WHOLE(threads), .low = 0,
     .high = 1024,
     .help = "number of threads; 0: all cores; a chain that carries state from row to row uses one"},
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

void options_make(struct options *o, struct recipes *r)
{
    options_begin(o, r, value_ids);
    options_add(o, of_input, sizeof of_input / sizeof *of_input);
    options_add_chain(o);
    options_add(o, others, sizeof others / sizeof *others);
}
