// SPDX-License-Identifier: MIT
#include "cli/option_table.h"

#include "cli/set.h"
#include "recipe/schema_option.h"

#include <float.h>
#include <string.h>

#define AT(member)    .at = offsetof(struct options, member)
#define PARAM(member) .at = offsetof(struct options, params.member)
#define INT(lo, hi)   .set = set_int, .low = (lo), .high = (hi)
#define FLOAT(lo, hi) .set = set_float, .low = (lo), .high = (hi)
#define FINITE        FLOAT(-FLT_MAX, FLT_MAX)
#define NOT_NEGATIVE  FLOAT(0, FLT_MAX)

#define MOST_ROWS 0x1p53 // the text of a range prints it exactly

// clang-format off
const struct option_row option_table[] = {
    // input
    {"format", .brief = "f", .metavar = "FMT", .group = GROUP_INPUT, .def = "auto", AT(format), .set = set_choice,
     .choices = "auto,f32,f16,bf16,json,npy,safetensors,kld,pairs",
     .help = "format of the rows; auto looks at content, then at the name's ending"},
    {"n-vocab", .brief = "n", .metavar = "N", .group = GROUP_INPUT, AT(n_vocab), INT(1, INT32_MAX),
     .help = "row width of raw input"},
    {"tensor", .metavar = "NAME", .group = GROUP_INPUT, AT(tensor), .set = set_string,
     .help = "which tensor of a safetensors file, if several fit"},
    {"ids", .metavar = "HOW", .group = GROUP_INPUT, .def = "given", AT(ids), .set = set_choice, .choices = "given,rank",
     .help = "ids of the tokens in a server's reply: those given, or ranks within the row"},
    {"vocab", .metavar = "FILE", .group = GROUP_INPUT, AT(vocab_file), .set = set_file,
     .help = "token texts: GGUF, tokenizer.json, vocab.json, or one token a line"},
    {"rows", .metavar = "A:B", .group = GROUP_INPUT, .def = ":", AT(rows), .set = set_rows,
     .help = "only rows A <= r < B; either may be missing, negative counts from the end"},
    {"prompt-tokens", .metavar = "LIST", .group = GROUP_INPUT, AT(prompt), .set = set_ids,
     .help = "ids accepted before the first row: 1,2,3 or @FILE"},
    {"accept", .metavar = "LIST", .group = GROUP_INPUT, AT(accept), .set = set_accept,
     .help = "after row i accept the i-th id of LIST, or the recorded one (LIST is recorded), instead of the sampled one"},
    {"shard", .metavar = "K/N", .group = GROUP_INPUT, AT(shard), .set = set_share, .high = INT32_MAX,
     .help = "only the K-th of N contiguous parts of the rows; the outputs of all make up that of one run"},
    {"row-base", .metavar = "N", .group = GROUP_INPUT, .def = "0", AT(row_base), .set = set_count, .high = MOST_ROWS,
     .help = "number of the input's first row, when the input is a part of a longer one"},
    {"independent", .group = GROUP_INPUT, AT(independent), .set = set_flag,
     .help = "every row is its own sequence, seeded with seed + row number"},

    // chain
    {"samplers", .metavar = "NAMES", .group = GROUP_CHAIN, .def = REGISTRY_DEFAULT_CHAIN, AT(samplers), .set = set_samplers,
     .help = "the samplers in order, separated by ';'; NAME=VALUE gives one its own main parameter"},
    {"sampler-seq", .also = {"sampling-seq"}, .metavar = "LETTERS", .group = GROUP_CHAIN, AT(samplers),
     .set = set_samplers_by_letter, .help = "the same as letters; edskypmxrt is the default chain"},
    {"seed", .brief = "s", .metavar = "N", .group = GROUP_CHAIN, .def = "-1", PARAM(seed), .set = set_seed,
     .help = "seed of the generators; -1 takes a random one"},
    {"temp", .also = {"temperature"}, .server = "temperature", .metavar = "T", .group = GROUP_CHAIN, .def = "0.8", PARAM(temp), FINITE,
     .help = "temperature; 0 or less picks the likeliest"},
    {"top-k", .metavar = "K", .group = GROUP_CHAIN, .def = "40", PARAM(top_k), INT(INT32_MIN, INT32_MAX),
     .help = "keep the K likeliest; 0 or less: all"},
    {"top-p", .metavar = "P", .group = GROUP_CHAIN, .def = "0.95", PARAM(top_p), FINITE,
     .help = "keep the likeliest up to cumulative probability P; 1: all"},
    {"min-p", .metavar = "P", .group = GROUP_CHAIN, .def = "0.05", PARAM(min_p), FINITE,
     .help = "keep those at least P times as likely as the likeliest; 0: all"},
    {"top-nsigma", .also = {"top-n-sigma"}, .server = "top_n_sigma", .metavar = "N", .group = GROUP_CHAIN, .def = "-1", PARAM(top_nsigma), FINITE,
     .help = "mask logits more than N standard deviations below the largest; -1: none"},
    {"xtc-probability", .metavar = "P", .group = GROUP_CHAIN, .def = "0", PARAM(xtc_probability), FINITE,
     .help = "chance that xtc drops the top choices"},
    {"xtc-threshold", .metavar = "P", .group = GROUP_CHAIN, .def = "0.1", PARAM(xtc_threshold), NOT_NEGATIVE,
     .help = "probability from which xtc counts a top choice; above 0.5: off"},
    {"typical", .also = {"typical-p"}, .server = "typical_p", .metavar = "P", .group = GROUP_CHAIN, .def = "1", PARAM(typical), NOT_NEGATIVE,
     .help = "keep the most typical up to cumulative probability P; 1: all"},
    {"min-keep", .metavar = "N", .group = GROUP_CHAIN, .def = "0", PARAM(min_keep), INT(0, INT32_MAX),
     .help = "top-p, min-p, typical and xtc leave at least N"},
    {"repeat-last-n", .metavar = "N", .group = GROUP_CHAIN, .def = "64", PARAM(repeat_last_n), INT(-1, INT32_MAX),
     .help = "tokens that the penalties look back on; 0: off, -1: all"},
    {"repeat-penalty", .metavar = "X", .group = GROUP_CHAIN, .def = "1", PARAM(repeat_penalty), FLOAT(1.0 / FLT_MAX, FLT_MAX),
     .help = "divide a repeated token's positive logit by X, multiply a negative one; 1: off"},
    {"presence-penalty", .metavar = "X", .group = GROUP_CHAIN, .def = "0", PARAM(presence_penalty), FINITE,
     .help = "subtract X from a repeated token's logit"},
    {"frequency-penalty", .metavar = "X", .group = GROUP_CHAIN, .def = "0", PARAM(frequency_penalty), FINITE,
     .help = "subtract X for each occurrence"},
    {"dry-multiplier", .metavar = "X", .group = GROUP_CHAIN, .def = "0", PARAM(dry_multiplier), FINITE,
     .help = "strength of the DRY penalty on continuing a repeated sequence; 0: off"},
    {"dry-base", .metavar = "X", .group = GROUP_CHAIN, .def = "1.75", PARAM(dry_base), FLOAT(1, FLT_MAX),
     .help = "base of DRY's exponential growth"},
    {"dry-allowed-length", .metavar = "N", .group = GROUP_CHAIN, .def = "2", PARAM(dry_allowed_length), INT(0, INT32_MAX),
     .help = "length from which on DRY penalises a repetition"},
    {"dry-penalty-last-n", .metavar = "N", .group = GROUP_CHAIN, .def = "64", PARAM(dry_penalty_last_n), INT(-1, INT32_MAX),
     .help = "tokens that DRY looks back on; 0: off, -1: all"},
    {"dry-sequence-breaker", .metavar = "TEXT", .group = GROUP_CHAIN, .set = set_dry_text,
     .help = "add a text that DRY does not match across, in place of the defaults; none: no breakers"},
    {"dry-breaker-tokens", .metavar = "LIST", .group = GROUP_CHAIN, .set = set_dry_ids,
     .help = "add a breaker given as ids, 1,2,3 or @FILE, in place of the default texts"},
    {"dynatemp-range", .metavar = "X", .group = GROUP_CHAIN, .def = "0", PARAM(dynatemp_range), FINITE,
     .help = "temperature follows the entropy within temp +- X; 0: off"},
    {"dynatemp-exp", .server = "dynatemp_exponent", .metavar = "X", .group = GROUP_CHAIN, .def = "1", PARAM(dynatemp_exp), FINITE,
     .help = "exponent of that dependence"},
    {"mirostat", .metavar = "N", .group = GROUP_CHAIN, .def = "0", PARAM(mirostat), INT(0, 2),
     .help = "mirostat version 1 or 2 in place of the chain; 0: off"},
    {"mirostat-lr", .server = "mirostat_eta", .metavar = "X", .group = GROUP_CHAIN, .def = "0.1", PARAM(mirostat_lr), FINITE,
     .help = "mirostat learning rate, eta"},
    {"mirostat-ent", .server = "mirostat_tau", .metavar = "X", .group = GROUP_CHAIN, .def = "5", PARAM(mirostat_ent), FINITE,
     .help = "mirostat target entropy, tau, in bits"},
    {"adaptive-target", .metavar = "P", .group = GROUP_CHAIN, .def = "-1", PARAM(adaptive_target), FLOAT(-FLT_MAX, 1),
     .help = "adaptive_p: probability to aim at; negative: plain draw"},
    {"adaptive-decay", .metavar = "X", .group = GROUP_CHAIN, .def = "0.9", PARAM(adaptive_decay), FINITE,
     .help = "adaptive_p: how long it remembers, 0 to 0.99"},
    {"logit-bias", .brief = "l", .metavar = "ID(+|-)BIAS", .group = GROUP_CHAIN, .set = set_bias,
     .help = "add BIAS to a token's logit; ID-inf bans it; with --vocab also \"TEXT\"(+|-)BIAS; may be repeated"},
    {"ignore-eos", .group = GROUP_CHAIN, AT(ignore_eos), .set = set_flag, .help = "ban the vocabulary's end-of-generation tokens"},
    {"grammar", .metavar = "GBNF", .group = GROUP_CHAIN, .set = set_grammar,
     .help = "let only tokens through that fit a grammar in llama.cpp's notation; needs --vocab"},
    {"grammar-file", .metavar = "FILE", .group = GROUP_CHAIN, .set = set_grammar_file, .help = "the same, from a file"},
    {"json-schema", .brief = "j", .metavar = "SCHEMA", .group = GROUP_CHAIN, .set = set_schema,
     .help = "let only JSON through that satisfies a schema; {} is any object; needs --vocab"},
    {"json-schema-file", .brief = "jf", .metavar = "FILE", .group = GROUP_CHAIN, .set = set_schema_file,
     .help = "the same, from a file"},
    {"engine", .metavar = "NAME", .group = GROUP_CHAIN, .def = "llama", AT(engine_name), .set = set_choice,
     .choices = "llama,ollama,akunu,akunu-gpu,batch", .help = "whose pipeline to run; each has defaults of its own"},
    {"backend-sampling", .brief = "bs", .group = GROUP_CHAIN, AT(backend_sampling), .set = set_flag, .help = "no effect, as there is no backend"},

    // scatter
    {"scatter-k", .metavar = "K", .group = GROUP_SCATTER, .def = "64", PARAM(scatter_k), INT(INT32_MIN, INT32_MAX),
     .help = "how many of the best take part and remain"},
    {"scatter-strength", .metavar = "X", .group = GROUP_SCATTER, .def = "0", PARAM(scatter_strength), FLOAT(0, 1),
     .help = "share of each probability that is spread; 0: off"},
    {"scatter-radius", .metavar = "X", .group = GROUP_SCATTER, .def = "2.5", PARAM(scatter_radius), FINITE,
     .help = "Gaussian radius in ranks"},
    {"scatter-steps", .metavar = "N", .group = GROUP_SCATTER, .def = "1", PARAM(scatter_steps), INT(INT32_MIN, INT32_MAX),
     .help = "diffusion steps"},
    {"scatter-adaptive", .group = GROUP_SCATTER, PARAM(scatter_adaptive), .set = set_flag,
     .help = "let the entropy choose the strength"},
    {"scatter-strength-min", .metavar = "X", .group = GROUP_SCATTER, .def = "0.02", PARAM(scatter_strength_min), FLOAT(0, 1),
     .help = "least adaptive strength"},
    {"scatter-strength-max", .metavar = "X", .group = GROUP_SCATTER, .def = "0.3", PARAM(scatter_strength_max), FLOAT(0, 1),
     .help = "largest adaptive strength"},
    {"scatter-entropy-target", .metavar = "X", .group = GROUP_SCATTER, .def = "0.55", PARAM(scatter_entropy_target), FINITE,
     .help = "normalised entropy at which the adaptive strength is --scatter-strength"},
    {"scatter-absorption", .metavar = "X", .group = GROUP_SCATTER, .def = "0", PARAM(scatter_absorption), FINITE,
     .help = "damp recent tokens by exp(-X) for each occurrence; 0: off"},
    {"scatter-absorption-last-n", .metavar = "N", .group = GROUP_SCATTER, .def = "64", PARAM(scatter_absorption_last_n),
     INT(-1, INT32_MAX), .help = "tokens that absorption looks back on; -1: all"},
    {"scatter-collision", .metavar = "P", .group = GROUP_SCATTER, .def = "1", PARAM(scatter_collision), FLOAT(0, 1),
     .help = "chance, row by row, that scatter acts"},

    // output
    {"emit", .metavar = "WHAT", .group = GROUP_OUTPUT, .def = "ids", AT(emit), .set = set_emit, .choices = "ids,score,text,probs,logprobs,logits",
     .help = "what to print for each row: the id, the score of the --accept token, the token's text, or a whole distribution"},
    {"dump-probs", .metavar = "[=N]", .group = GROUP_OUTPUT, .set = set_dump, .low = 1, .high = INT32_MAX, AT(dump_most),
     .help = "print the N best candidates of each row (all without N)"},
    {"trace", .group = GROUP_OUTPUT, AT(trace), .set = set_flag, .help = "with a dump: what each sampler did"},
    {"output-format", .brief = "O", .metavar = "FMT", .group = GROUP_OUTPUT, AT(output_format), .set = set_choice,
     .choices = "text,tsv,json,f32,f16,npy", .help = "format of the output: text, or for a distribution that of the input"},
    {"output", .brief = "o", .metavar = "FILE", .group = GROUP_OUTPUT, AT(output), .set = set_file,
     .help = "write to FILE, whole or not at all"},
    {"line-buffered", .group = GROUP_OUTPUT, AT(line_buffered), .set = set_flag, .help = "flush after every row"},
    {"stats", .group = GROUP_OUTPUT, AT(stats), .set = set_flag, .help = "a summary on stderr after the last row"},
    {"on-error", .metavar = "MODE", .group = GROUP_OUTPUT, .def = "stop", AT(skip_bad), .set = set_on_error, .choices = "stop,skip",
     .help = "at a bad row stop, or skip it and go on"},

    // other
    {"preset", .metavar = "NAME", .group = GROUP_OTHER, .set = set_preset,
     .help = "read options from a preset, by name or file, as if they stood here"},
    {"list-presets", .group = GROUP_OTHER, .set = set_list_presets, .help = "list the presets that can be named, and exit"},
    {"print-chain", .metavar = "[=FMT]", .group = GROUP_OTHER, AT(how), .set = set_print_chain, .choices = "text,json,llama,server",
     .help = "print the effective chain and exit"},
    {"print-grammar", .group = GROUP_OTHER, .set = set_print_grammar, .help = "print the effective grammar and exit"},
    {"threads", .brief = "t", .metavar = "N", .group = GROUP_OTHER, .def = "1", AT(threads), INT(1, 1024),
     .help = "spread rows over N threads where the chain carries nothing from row to row"},
    {"verbose", .brief = "v", .group = GROUP_OTHER, AT(verbose), .set = set_flag, .help = "say on stderr what goes on"},
    {"help", .brief = "h", .group = GROUP_OTHER, .set = set_help, .help = "this text"},
    {"version", .group = GROUP_OTHER, .set = set_version, .help = "version, compatible llama.cpp build, SIMD tier, libraries"},
    {"generate", .metavar = "SHELL", .group = GROUP_HIDDEN, AT(how), .set = set_generate, .choices = "bash,zsh,fish",
     .help = "print the completion script for a shell"},
    {NULL},
};
// clang-format on

_Static_assert(sizeof option_table / sizeof *option_table <= OPTIONS_MOST, "struct options has a place for each");

static bool same_name(const char *name, size_t len, const char *option)
{
    for (size_t i = 0; i < len; i++)
        if ((name[i] == '_' ? '-' : name[i]) != option[i])
            return false;
    return option[len] == '\0';
}

const struct option_row *option_by_name(const char *name, size_t len)
{
    for (const struct option_row *row = option_table; row->name; row++) {
        if (same_name(name, len, row->name))
            return row;
        for (size_t i = 0; i < 2 && row->also[i]; i++)
            if (same_name(name, len, row->also[i]))
                return row;
    }
    return NULL;
}

bool option_given(const struct options *o, const struct option_row *row)
{
    return o->given[row - option_table];
}
