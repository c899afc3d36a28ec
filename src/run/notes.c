// SPDX-License-Identifier: MIT
#include "run/notes.h"

#include "cli/hint.h"
#include "out/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Notes that a run prints once, and what they wait for: HISTORY_CHOSEN says that the run chose a token of the history.
enum run_note {
    NOTE_BIASES,
    NOTE_WIDTHS,
    NOTE_HISTORY,
    NOTE_LOGITS,
    NOTE_GAPS,
    NOTE_FACTOR,
    NOTE_ZERO,
    NOTE_CLIPPED,
    HISTORY_CHOSEN,
    NOTE_FACTS // and those behind it: of fact_messages
};

// Adds the kind to the set *noted of bits. Returns whether it is new there.
static bool note_new(unsigned *noted, unsigned kind)
{
    const unsigned bit = 1u << kind;
    const bool first = !(*noted & bit);
    *noted |= bit;
    return first;
}

// ---- before the rows

// Names the variable of the environment that llama.cpp reads a sampling option from, if one is set. NULL: none is.
static const char *llama_variable(void)
{
    static const char *const names[] = {"LLAMA_ARG_TEMPERATURE",
                                        "LLAMA_ARG_TOP_K",
                                        "LLAMA_ARG_TOP_P",
                                        "LLAMA_ARG_MIN_P",
                                        "LLAMA_ARG_REPEAT_PENALTY",
                                        "LLAMA_ARG_PRESENCE_PENALTY",
                                        "LLAMA_ARG_FREQUENCY_PENALTY",
                                        "LLAMA_ARG_BACKEND_SAMPLING",
                                        "LLAMA_ARG_THINK_BUDGET",
                                        "LLAMA_ARG_THINK_BUDGET_MESSAGE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return names[i];
    return NULL;
}

void note_settings(const struct job *j)
{
    const char *const variable = llama_variable();
    const struct args *const a = j->args;
    const struct recipe_key *const key = &j->variants->recipe[0]->key;
    if (a->verbose)
        message_note("seed %" PRId64 "%s, SIMD tier %s", (int64_t)key->seed,
                     engine_draws_seed(key->engine, a->typed.seed) ? " (random)" : "", j->kern->name);
    if (a->verbose && variable)
        message_note("%s is set, but sampl reads no variable LLAMA_ARG_*", variable);
    if (a->verbose && a->backend_sampling)
        message_note("--backend-sampling has no effect: there is no backend");
    if (a->ids == IDS_RANK)
        message_note("--ids rank: the ids of servers' tokens are ranks within their row; histories and biases mean "
                     "nothing");
    if (!a->files.n && isatty(STDIN_FILENO))
        message_note("reading rows of logits from the terminal%s; Ctrl-D ends them; sampl --help explains more",
                     !strcmp(a->format, "auto") || !strcmp(a->format, "json") ? ", such as [1.5, -0.2, 3]" : "");
}

// ---- rows

// Returns whether one of the first n variants has a given bias of a token.
static bool some_bias(const struct job *j, size_t n, uint32_t id)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < j->variants->recipe[k]->key.biases->n_given; i++)
            if (j->variants->recipe[k]->key.biases->bias[i].id == id)
                return true;
    return false;
}

// Notes the given biases of tokens that are not in the vocabulary of the first row where it is known, each token once.
// Later rows may have another width.
static void note_strange_biases(const struct job *j, unsigned *noted, const struct seen *s)
{
    const size_t n_vocab = s->result->n_vocab;
    if (!n_vocab || !note_new(noted, NOTE_BIASES))
        return;
    for (size_t k = 0; k < j->variants->n; k++) {
        const struct biases *const b = j->variants->recipe[k]->key.biases;
        for (size_t i = 0; i < b->n_given; i++)
            if (b->bias[i].id >= n_vocab && !some_bias(j, k, b->bias[i].id))
                message_note("--logit-bias: the bias of token %" PRId32 " has no effect on row %" PRIu64
                             ", which has a vocabulary of %zu tokens",
                             (int32_t)b->bias[i].id, s->row->number, n_vocab);
    }
}

// Notes that --against compares rows of two widths.
static void note_widths(const struct job *j, unsigned *noted, const struct seen *s, size_t width)
{
    if (!j->args->against || s->row->bad || s->other->bad || !job_records(j, RECORD_PAIRS))
        return;
    const struct row *const other = &s->other->logits;
    struct row row = s->row->logits;
    row.n = width;
    if (!rows_differ_in_width(&row, other) || !note_new(noted, NOTE_WIDTHS))
        return;
    message_note("--against: row %" PRIu64 " has %zu and %zu tokens; only the ids that both have are compared",
                 s->row->number, row.n, other->n);
}

// Returns whether the input is a file. Rows of a file were computed before the run, so that they follow a text of their
// own. Rows of a pipe may follow the tokens that the run chooses.
static bool reads_file(const struct input_config *c)
{
    struct stat st;
    return !(strcmp(c->files[0], "-") ? stat(c->files[0], &st) : fstat(STDIN_FILENO, &st)) && S_ISREG(st.st_mode);
}

// Returns whether the history of a row has chosen tokens, and keeps it for the next row. Only the unnamed sequence
// counts.
static bool history_is_chosen(unsigned *noted, const struct seen *s)
{
    const unsigned bit = 1u << HISTORY_CHOSEN;
    if (s->row->seq || row_is_left_out(s->row->place.use))
        return false;
    if (s->row->fresh)
        *noted &= ~bit;
    const bool chosen = *noted & bit;
    if (s->result->ok && s->row->forced < 0)
        *noted |= bit;
    return chosen;
}

// Notes at the first row whose history has chosen tokens that a file's rows follow another text.
static void note_own_history(const struct job *j, unsigned *noted, const struct seen *s)
{
    const bool chosen = history_is_chosen(noted, s);
    if (!chosen || !note_new(noted, NOTE_HISTORY) || !reads_file(j->config))
        return;
    struct builder names = {0};
    job_own_history(j, &names);
    if (names.failed)
        message_no_note();
    else if (names.len)
        message_note("%s: without --accept the history is what this run chooses, not the text that the rows were "
                     "computed for",
                     names.text);
    builder_free(&names);
}

static const struct {
    enum row_fact fact;
    const char *format;
} fact_messages[] = {
    {ROW_TWO_NUMBERS, "%s: row %" PRIu64 " lists the chosen token with two numbers; the larger number is used"},
    {ROW_MASKED, "%s: row %" PRIu64 " is of a reply with a sampling mask, which is ignored: the chain here filters"},
    {ROW_ASIDE, "%s: row %" PRIu64 " is of a reply with tokens of its reasoning or refusal: the rows are those of "
                "reasoning, content and refusal, in this order"},
    {ROW_IDS_UNUSED, "%s: row %" PRIu64 " is of a reply with more or fewer ids than tokens; the ids are not used"},
    {ROW_ONE_LIST, "%s: row %" PRIu64 ": an array of ids and one of numbers are read as the list of one position"},
    {ROW_AFTER_SAMPLING, "%s: row %" PRIu64 " has the probabilities that the server's own chain left; --neutral shows "
                         "them without another chain"},
    {ROW_PROBABILITIES, "%s: row %" PRIu64 " lists log-probabilities from 0 to 1, which are read as probabilities"},
    {ROW_CHOSEN_IDS,
     "%s: row %" PRIu64 " lists tokens that the request named (logprob_token_ids), not the likeliest ones"},
    {ROW_OTHER_NUMBER,
     "%s: row %" PRIu64 " gives the chosen token another number than its list has; that of the list is used"},
    {ROW_UNREAD, "%s: row %" PRIu64 " is of a reply with other tokens beside its output, which are not used"},
    {ROW_PROMPT_NUMBERS, "%s: row %" PRIu64 " is of a reply whose prompt has log-probabilities that are not used"},
};
enum {
    N_FACTS = sizeof fact_messages / sizeof *fact_messages,
    USUAL_FACTS = ROW_RAW | ROW_TEXTS // that have no message
};

// Notes what is special in the rows of servers' replies.
static void note_reply(const struct job *j, unsigned *noted, const struct seen *s)
{
    const struct input_row *const row = s->row;
    for (unsigned i = 0; row->facts & ~(unsigned)USUAL_FACTS && i < N_FACTS; i++)
        if (row->facts & fact_messages[i].fact && note_new(noted, NOTE_FACTS + i))
            message_note(fact_messages[i].format, row->file, row->in_file);
    if (row->logits.unlisted.gaps && note_new(noted, NOTE_GAPS))
        message_note("%s: row %" PRIu64 " lists masked tokens and not all of the probability: unlisted tokens may be "
                     "likelier than listed ones",
                     row->file, row->in_file);
    if (row->logits.unlisted.logits && note_new(noted, NOTE_LOGITS))
        message_note("%s: row %" PRIu64
                     " lists probabilities that add up to more than 1.02; the numbers are used as logits",
                     row->file, row->in_file);
    if (!s->result->ok || !s->result->record.partial || row->logits.unlisted.scale != SCALE_LOGPROBS ||
        !note_new(noted, NOTE_FACTOR))
        return;
    const char *const factor = job_factor(j);
    if (factor)
        message_note("--%s multiplies log-probabilities here, which are never positive; servers apply it to logits",
                     factor);
}

// Notes the first row of a kld file with clipped tokens.
static void note_clipped(unsigned *noted, const struct seen *s)
{
    const struct input_row *const row = s->row;
    const struct row_clipped *const clipped = &row->logits.clipped;
    if (row->bad || row->logits.unlisted.scale != SCALE_STORED || !clipped->n || !note_new(noted, NOTE_CLIPPED))
        return;
    message_note("%s: row %" PRIu64 ": llama-perplexity clipped %zu of %zu tokens; they share a probability of %.3g "
                 "evenly",
                 row->file, row->in_file, clipped->n, row->logits.n, clipped->share);
}

// Warns of the first row in which typ_p of llama.cpp adds 0 times the logarithm of 0 to the entropy, in any variant.
static void warn_of_zero(const struct job *j, unsigned *noted, const struct seen *s)
{
    for (size_t k = 0; k < j->variants->n; k++)
        if (s->result[k].ok && s->result[k].record.met_zero && !j->variants->recipe[k]->key.engine->options &&
            note_new(noted, NOTE_ZERO))
            message_warn("row %" PRIu64 ": typ_p meets candidates of probability 0; llama.cpp computes NaN then, and "
                         "may choose other tokens",
                         s->row->number);
}

void note_seen(const struct job *j, unsigned *noted, const struct seen *s, size_t width)
{
    note_widths(j, noted, s, width);
    note_strange_biases(j, noted, s);
    note_own_history(j, noted, s);
    note_reply(j, noted, s);
    note_clipped(noted, s);
    warn_of_zero(j, noted, s);
}

void note_unseen(unsigned *noted, const struct seen *s) { (void)history_is_chosen(noted, s); }

// ---- behind the rows

// Notes that rows of --rows lie behind the last row, or before the first.
void note_rows_beyond(const struct job *j)
{
    const struct args *const a = j->args;
    const int64_t counted = input_counted(j->in[0]);
    if (a->first < 0 && a->first + counted < 0)
        message_note("--first: row %" PRId64 " is before the first row, %" PRId64, a->first, -counted);
    for (size_t i = 0; i < j->rows.n && counted; i++)
        if (j->rows.range[i].first < 0 && j->rows.range[i].last < 0 && j->rows.range[i].last + counted <= 0) {
            message_note("--rows: row %" PRId64 " is before the first row, %" PRId64, j->rows.range[i].first, -counted);
            break;
        }
    const int64_t beyond = input_first_beyond(j->in[0]), last = input_last_row(j->in[0]);
    const bool rows = beyond > a->first;
    if (args_given(a, rows ? "rows" : "first") && beyond >= 0 && last >= a->row_base)
        message_note("--%s: row %" PRId64 " is beyond the last row, %" PRId64, rows ? "rows" : "first", beyond, last);
}

void note_partial(const struct job *j, const struct totals *t)
{
    size_t chain = SIZE_MAX, wanted = 0; // 0: no list is long enough
    char advice[120];
    for (size_t i = 0; i < t->n_partial; i++) {
        const bool inexact = t->partial[i].exact < t->partial[i].rows;
        const size_t own = inexact ? recipe_list_wanted(j->variants->recipe[i], t->partial[i].scale) : 0;
        if (inexact && (chain == SIZE_MAX || (wanted && (!own || own > wanted)))) {
            chain = i;
            wanted = own;
        }
    }
    if (chain == SIZE_MAX)
        return;
    const struct partial_rows *const p = &t->partial[chain];
    const size_t listed = p->listed;
    const bool logits = p->scale == SCALE_LOGITS;
    if (!logits && recipe_reads_logits(j->variants->recipe[chain]))
        snprintf(advice, sizeof advice, "and this chain needs logits, not log-probabilities");
    else if (!wanted) // the tail of a long list of logits may decide the deviation
        snprintf(advice, sizeof advice, "and this chain %s whole rows",
                 logits && recipe_wants_logits(j->variants->recipe[chain]) ? "may need" : "needs");
    else if (logits)
        snprintf(advice, sizeof advice, "the others need longer lists: --emit list=%zu",
                 wanted > listed ? wanted : 2 * listed);
    else
        snprintf(advice, sizeof advice, "the others need more: ask the server for %s%zu",
                 wanted > listed ? "" : "more than ", wanted > listed ? wanted : listed);
    char least[NUMBER_TEXT], most[NUMBER_TEXT];
    snprintf(least, sizeof least, "%.2f", p->least);
    snprintf(most, sizeof most, "%.2f", p->most);
    const bool known = !isnan(p->least), range = strcmp(least, most) != 0;
    const char *const name = j->variants->n > 1 ? j->variants->of[chain].name : "";
    message_note("rows list up to %zu token%s%s%s%s%s%s; %s%.*s%s%" PRIu64 " of %" PRIu64
                 " rows are known to come out as full rows would, %s",
                 listed, listed == 1 ? "" : "s", known ? ", which hold " : "", known ? least : "",
                 known && range ? " to " : "", known && range ? most : "", known ? " of the probability" : "",
                 *name ? "in '" : "", err_clip(name, 80), name, *name ? "' " : "", p->exact, p->rows, advice);
}
