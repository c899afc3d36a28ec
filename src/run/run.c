// SPDX-License-Identifier: MIT
#include "run/run.h"

#include "base/utf8.h"
#include "cli/help.h"
#include "cli/words.h"
#include "in/misread.h"
#include "out/message.h"
#include "run/compare.h"
#include "run/expected.h"
#include "run/pool.h"
#include "run/totals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct flow {
    const struct job *job;
    struct input_config config, against; // against: of its rows
    struct feed feed;
    struct pool pool;
    struct output out;
    struct builder command; // of a page: the command line, quoted
    struct vocab texts; // of the tokens of the row at hand, where the input tells them and there is no other vocabulary
    bool noted;         // biases without effect
    bool noted_width;   // --against: rows of two widths
    bool noted_numbers; // a reply lists the chosen token with two numbers
    bool noted_factor;  // factors of penalties change log-probabilities
    bool noted_logits;  // a list's probabilities add up to more than 1
    struct misread misread;
    bool own_history; // stages look back on chosen tokens, the input is a file, and this was not noted yet
    struct totals totals;
    struct compare compare;        // of a job with variants
    struct expected_rows expected; // --expect's distributions
    struct draw_report draws;      // of --draws
};

// The error of a variant; of several, that of another than the base, which fails where all do, names it.
static bool blame(const struct flow *f, const struct input_row *row, const struct result *res, size_t i, struct err *e)
{
    *e = res[i].e;
    if (i)
        err_prefix(e, "variant '%.*s'", err_clip(f->job->named[i].name, 80), f->job->named[i].name);
    return input_blame(row, e);
}

// Notes the given biases of tokens that are not in the vocabulary of the first row.
static void note_strange_biases(struct flow *f, size_t n_vocab)
{
    const struct biases *const b = f->job->variant[0]->parts.biases;
    for (size_t i = 0; !f->noted && i < b->n_given && n_vocab; i++)
        if (b->bias[i].id >= n_vocab)
            message_note("--logit-bias: token %" PRId32 " is not in the vocabulary, and its bias has no effect",
                         (int32_t)b->bias[i].id);
    f->noted = f->noted || n_vocab;
}

// Notes once that --against compares rows of two widths.
static void note_widths(struct flow *f, struct row row, size_t width, const struct row *other)
{
    row.n = width;
    if (f->noted_width || !f->job->compares || !rows_differ_in_width(&row, other))
        return;
    f->noted_width = true;
    const size_t least = width < other->n ? width : other->n, most = width < other->n ? other->n : width;
    message_note("--against: rows have %zu and %zu tokens; the last %zu of the wider rows are left out", width,
                 other->n, most - least);
}

// Adds the chosen token of a row to the text of its sequence. NULL: the row is bad.
static bool count_repeats(struct flow *f, const struct input_row *row, const uint32_t *id, struct err *e)
{
    const uint64_t sequence = row->seq ? hash_bytes(row->seq, strlen(row->seq)) : 0;
    if (!id)
        repeats_break(&f->totals.repeats, sequence);
    return !id || repeats_add(&f->totals.repeats, sequence, row->fresh, row->ends, *id) ||
           err_from_fault(e, fault_memory());
}

// Is the input a file? Rows of a file were computed before the run, so that they follow a text of their own. Rows of a
// pipe may follow the tokens that the run chooses.
static bool reads_file(const struct input_config *c)
{
    struct stat st;
    return !(strcmp(c->files[0], "-") ? stat(c->files[0], &st) : fstat(STDIN_FILENO, &st)) && S_ISREG(st.st_mode);
}

// Notes once, at the first row whose history has chosen tokens, that a file's rows follow another text.
static void note_own_history(struct flow *f, const struct input_row *row)
{
    struct builder names = {0};
    if (!f->own_history || !f->totals.rows || row->fresh || row->seq || row->forced >= 0)
        return;
    f->own_history = false;
    job_own_history(f->job, &names);
    if (names.failed)
        message_no_note();
    else if (names.len)
        message_note("%s: without --accept the history is what this run chooses, not the text that the rows were "
                     "computed for",
                     names.text);
    builder_free(&names);
}

// Notes once each what is special in the rows of servers' replies. partial: the row is a list of log-probabilities.
static void note_reply(struct flow *f, const struct input_row *row, bool partial)
{
    if (row->two_numbers && !f->noted_numbers)
        message_note("%s: row %" PRIu64 " lists the chosen token with two numbers; the larger one counts", row->file,
                     row->in_file);
    f->noted_numbers = f->noted_numbers || row->two_numbers;
    if (row->logits.rest.logits && !f->noted_logits)
        message_note("%s: row %" PRIu64
                     " lists probabilities that add up to more than 1.02; the numbers count as logits",
                     row->file, row->in_file);
    f->noted_logits = f->noted_logits || row->logits.rest.logits;
    if (!partial || f->noted_factor)
        return;
    const char *const factor = job_factor(f->job);
    if (factor)
        message_note("--%s multiplies log-probabilities here, which are never positive; servers apply it to logits",
                     factor);
    f->noted_factor = true;
}

// Writes what a row came to, with a message for what is bad in it.
static bool write_results(struct flow *f, const struct walk *w, struct err *e)
{
    const size_t variants = f->job->n_variants;
    const struct input_row *const row = &w->row, *const other = walk_other(w) ? &walk_other(w)->row : row;
    struct result *const res = w->batch->result + w->i * variants;
    const bool told = row->has_texts || other->has_texts;
    const size_t width = row->text ? w->at->width : row->logits.n;
    bool good = true;
    if (f->job->args->against && !row->bad && !other->bad)
        note_widths(f, row->logits, width, &other->logits);
    note_strange_biases(f, res->n_vocab);
    note_own_history(f, row);
    misread_note(&f->misread, f->job->recipes->vocab, row, width);
    message_notes(&f->misread.notes);
    note_reply(f, row, res->ok && res->record.partial);
    for (size_t k = 0; k < variants; k++) {
        if (!row_goes_on(f->job, &res[k]))
            return blame(f, k ? other : row, res, k, e);
        if (res[k].ok)
            continue;
        struct err line;
        blame(f, k ? other : row, res, k, &line);
        text_tame(res[k].e.text);
        if (!k || res[0].ok || strcmp(res[k].e.text, res[0].e.text) != 0)
            message_error(&line);
        res[k].record.error = res[k].e.text;
        good = false;
    }
    if (told)
        output_set_texts(&f->out, &f->texts);
    if (good && f->job->args->emit == EMIT_TEXT && !f->job->recipes->vocab && !told) {
        err_set(e, STATUS_USAGE, "--emit text needs --vocab: the row tells no texts");
        return input_blame(row, e);
    }
    if (f->expected.in && !expected_next(&f->expected, row, res, e))
        return false;
    if (f->out.compared && !compare_row(&f->compare, res, e))
        return false;
    if (f->job->args->draws)
        draws_add(&f->draws, res);
    for (size_t k = 0; !f->out.compared && !f->job->args->draws && k < variants; k++) {
        res[k].record.variant = variants > 1 ? f->job->named[k].name : NULL;
        if (!output_record(&f->out, &res[k].record, e))
            return false;
    }
    for (size_t k = 0; k < variants; k++)
        if (res[k].ok && res[k].record.partial &&
            !totals_add_partial(&f->totals, k, &res[k].record, row_listed(k ? &other->logits : &row->logits)))
            return err_from_fault(e, fault_memory());
    totals_add(&f->totals, good ? res->stat : NULL, width * dtype_size(row->logits.type));
    return !f->job->args->stats || f->job->independent || count_repeats(f, row, good ? &res->record.chosen : NULL, e);
}

static bool write_batch(void *to, const struct batch *b, struct err *e)
{
    struct walk w = {.batch = b};
    while (walk_next(&w))
        if (!w.row.place.earlier_part && !write_results(to, &w, e))
            return false;
    return true;
}

static bool flush_output(void *to, struct err *e) { return output_flush(&((struct flow *)to)->out, e); }

static bool run_rows(struct flow *f, struct err *e)
{
    const bool at_once = f->out.flush && (!f->out.compared || f->job->side_by_side);
    f->pool = (struct pool){.feed = &f->feed, .write = write_batch, .flush = flush_output, .to = f};
    bool ok = pool_init(&f->pool, at_once, e);
    const bool threads = ok && f->feed.threads;
    ok = ok && (!threads || pool_run(&f->pool, e));
    ok = ok && ((threads && !f->feed.held) || pool_alone(&f->pool, e));
    struct err late;
    totals_end(&f->totals);
    if (f->out.compared && (ok || f->totals.rows)) // the table of the rows before an error is one, too
        ok = compare_end(&f->compare, ok ? e : &late) && ok;
    return ok;
}

// Notes that rows of --rows lie behind the last row.
static void note_rows_beyond(const struct flow *f)
{
    const int64_t beyond = input_first_beyond(f->feed.in[0]), last = input_last_row(f->feed.in[0]);
    if (args_given(f->job->args, "rows") && beyond >= 0 && last >= f->job->args->row_base)
        message_note("--rows: row %" PRId64 " is beyond the last row, %" PRId64, beyond, last);
}

// ---- setting it up

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

static void say_settings(const struct job *j)
{
    const char *const variable = llama_variable();
    const struct args *const a = j->args;
    const struct parts *const parts = &j->variant[0]->parts;
    if (a->verbose)
        message_note("seed %" PRId64 "%s, SIMD tier %s", (int64_t)parts->seed,
                     engine_draws_seed(parts->engine, a->seed) ? " (random)" : "", j->kern->name);
    if (a->verbose && variable)
        message_note("%s is set, but sampl reads no variable LLAMA_ARG_*", variable);
    if (a->verbose && a->backend_sampling)
        message_note("--backend-sampling has no effect: there is no backend");
    if (!strcmp(a->ids, "rank"))
        message_note("--ids rank: the ids of servers' tokens are ranks within their row; histories and biases mean "
                     "nothing");
    if (!a->files.n && isatty(STDIN_FILENO))
        message_note("reading rows of logits from the terminal%s; Ctrl-D ends them, and sampl --help tells more",
                     !strcmp(a->format, "auto") || !strcmp(a->format, "json") ? ", such as [1.5, -0.2, 3]" : "");
}

// Does what the run writes say more of tokens than their ids?
static bool shows_texts(const struct job *j)
{
    return j->args->emit == EMIT_TEXT || j->dumps || j->side_by_side || !(j->plain || emit_distribution(j->args->emit));
}

static struct input_config input_wanted(const struct job *j, struct vocab *texts)
{
    static const char *const standard_input[] = {"-"};
    const struct args *const a = j->args;
    const struct vocab *const vocab = j->recipes->vocab;
    return (struct input_config){.files = a->files.n ? a->files.word : standard_input,
                                 .n_files = a->files.n ? a->files.n : 1,
                                 .kern = j->kern,
                                 .format = a->format,
                                 .n_vocab = (size_t)a->n_vocab,
                                 .vocab = vocab,
                                 .texts = shows_texts(j) && !vocab ? texts : NULL,
                                 .recorded = j->follows == FOLLOWS_RECORDED,
                                 .ranks = !strcmp(a->ids, "rank"),
                                 .n_tokens = vocab ? vocab->n : 0,
                                 .tensor = a->tensor,
                                 .rows = &j->rows,
                                 .params = a->params,
                                 .shard = a->shard.k,
                                 .shards = a->shard.n,
                                 .base = a->row_base};
}

// Writes the command line as a shell takes it. False if memory is short.
static bool quote_command(struct builder *b, const struct args *a)
{
    builder_string(b, "sampl");
    for (size_t i = 0; i < a->n_words; i++) {
        builder_byte(b, ' ');
        word_quote(b, a->word[i], true);
    }
    return !b->failed;
}

static bool open_output(struct flow *f, struct err *e)
{
    const struct args *const a = f->job->args;
    struct output *const out = &f->out;
    const char *input = a->format;
    if (f->job->page && !quote_command(&f->command, a))
        return err_from_fault(e, fault_memory());
    *out = (struct output){.name = a->output,
                           .emit = a->emit,
                           .compared = compared_of(f->job),
                           .variants = f->job->n_variants > 1,
                           .dump = f->job->dumps,
                           .lists = f->job->lists,
                           .traces = f->job->traces,
                           .flush = a->line_buffered,
                           .accepts = a->accept || a->accept_recorded,
                           .measures = f->job->measures,
                           .pairs = a->against && f->job->compares,
                           .goes_on = job_is_later_part(a),
                           .files = a->files.n > 1,
                           .any_sequence = a->params != NULL,
                           .vocab = f->job->recipes->vocab,
                           .title = a->files.n ? a->files.word[0] : "standard input",
                           .version = SAMPL_VERSION,
                           .command = f->command.text,
                           .seed = f->job->variant[0]->parts.seed,
                           .most_chains = a->dump ? SIZE_MAX : PAGE_CHAINS,
                           .rows = -1,
                           .width = (size_t)a->n_vocab};
    const bool numbers = emit_distribution(a->emit);
    if (!strcmp(input, "auto") &&
        ((a->emit == EMIT_TEXT && !out->vocab) || (numbers && !a->output_format && !a->expect)) &&
        !input_format(f->feed.in[0], &input, e))
        return false;
    if (a->emit == EMIT_TEXT && !out->vocab && strcmp(input, "json") != 0) // only servers' replies tell texts
        return err_set(e, STATUS_USAGE, "--emit text needs --vocab");
    const bool json = a->output_format && !strcmp(a->output_format, "json");
    out->format = a->expect          ? &output_expect
                  : a->draws         ? json ? &output_draws_json : &output_draws
                  : a->output_format ? output_format_named(a->output_format)
                  : numbers          ? output_format_like(input)
                                     : output_format_named(a->emit == EMIT_STATS ? "tsv" : "text");
    out->narrow = out->format->counted && !a->output_format;
    out->lines = (out->compared || out->dump || a->expect) && (a->expect || out->format == &output_text);
    struct err why = {0};
    if ((out->format->counted || out->format->page) && !input_rows(f->feed.in[0], &out->rows, &why, e))
        return false;
    if (out->format->cells && !input_names(f->feed.in[0], &out->any_sequence, e))
        return false;
    const bool ok = output_open(out, e);
    if (!ok && why.status == STATUS_IO && e->status == STATUS_USAGE) // the format needs the number
        *e = why;
    return ok;
}

static bool start_totals(struct flow *f, struct err *e)
{
    const bool shows = totals_shown(f->out.screen.columns && !(f->out.compared && compare_waits(f->job)));
    int64_t total = -1;
    struct err why;
    if (shows && !input_rows(f->feed.in[0], &total, &why, e))
        return false;
    totals_start(&f->totals, shows, total);
    return true;
}

// llama-perplexity leaves out tokens of a kld file whose log-probability is below this.
#define KLD_LEAST -16.0

// kld files hold rounded log-probabilities in place of logits.
static bool prepare_report(struct job *j, const struct feed *f, struct err *e)
{
    const char *base, *other;
    if (!j->args->report)
        return true;
    if (!input_format(f->in[0], &base, e) || !input_format(f->in[1], &other, e))
        return false;
    j->least = strcmp(base, "kld") ? -INFINITY : KLD_LEAST;
    j->centred = strcmp(base, "kld") != 0 && strcmp(other, "kld") != 0;
    return true;
}

// Opens the inputs: that of the rows, and those of --against and --expect.
static bool open_inputs(struct flow *f, struct err *e)
{
    const struct args *const a = f->job->args;
    f->config = input_wanted(f->job, &f->texts);
    f->against = f->config;
    f->against.files = &a->against;
    f->against.n_files = 1;
    f->feed = (struct feed){.job = f->job, .config = {&f->config, &f->against}, .inputs = a->against ? 2 : 1};
    for (size_t k = 0; k < f->feed.inputs; k++)
        if (!(f->feed.in[k] = input_open(f->feed.config[k], e)))
            return false;
    return expected_open(&f->expected, f->job, &f->config, e);
}

// An array without rows has the type and the width that its rows would have.
static bool shape_empty(struct flow *f, struct err *e)
{
    struct row like;
    if (f->out.records || !f->out.format->counted)
        return true;
    if (!input_width(f->feed.in[0], &like, e))
        return err_prefix(e, "%s", f->out.name);
    f->out.narrow = f->out.narrow && like.type == DTYPE_F16;
    f->out.width = like.n;
    return true;
}

// Returns how many tokens a server should list for a chain: a few more than the largest top-k keeps. 0: a list of any
// length leaves a tail, as a draw from all tokens does.
static size_t list_wanted(const struct recipe *recipe)
{
    double most = 90.0;
    bool any = false;
    if (!recipe_ends_lists(recipe))
        return 0;
    for (size_t i = 0; i < recipe->n_stages; i++) {
        const struct stage *const s = &recipe->stage[i];
        if (s->sampler->limits != LIMITS_RANK || !stage_enabled(s))
            continue;
        const double k = param_load(s->sampler->params, s->params);
        most = !any || k > most ? k : most;
        any = true;
    }
    return (size_t)most + 10;
}

// Notes how many outcomes of lists are not exact, in the chain that has most of them, and what they need.
static void note_partial(const struct job *j, const struct totals *t)
{
    const size_t chain = totals_least_exact(t);
    char advice[120];
    if (chain == SIZE_MAX)
        return;
    const size_t wanted = list_wanted(j->variant[chain]), listed = t->partial[chain].listed;
    if (!wanted)
        snprintf(advice, sizeof advice, "and no list is long enough for this chain");
    else
        snprintf(advice, sizeof advice, "the others need more: ask the server for %s%zu",
                 wanted > listed ? "" : "more than ", wanted > listed ? wanted : listed);
    totals_note_partial(t, chain, j->n_variants > 1 ? j->named[chain].name : NULL, advice);
}

bool run(struct job *j, struct err *e)
{
    struct flow f = {.job = j};
    struct err late;
    say_settings(j);
    source_on_shrink(output_abandon);
    bool ok = open_inputs(&f, e);
    f.own_history = ok && reads_file(&f.config);
    ok = ok && prepare_report(j, &f.feed, e) && open_output(&f, e);
    job_record(j, f.out.screen.columns);
    ok = ok && (!f.out.compared || compare_init(&f.compare, j, &f.out, e)) && start_totals(&f, e);
    ok = ok && run_rows(&f, e) && shape_empty(&f, e);
    if (ok && j->args->expect)
        ok = expected_end(&f.expected, f.totals.rows, e);
    if (ok)
        note_rows_beyond(&f);
    if (ok && j->args->draws)
        ok = draws_end(j, &f.draws, e);
    f.out.draws = j->args->draws ? &f.draws : NULL;
    const bool differs = f.out.differing || f.draws.tests.rejected;
    ok = output_close(&f.out, ok, ok ? e : &late) && ok;
    if (ok)
        note_partial(j, &f.totals);
    if (j->args->stats && (ok || (f.totals.rows && e->status == STATUS_DATA)))
        ok = totals_print(&f.totals, j->variant[0]->parts.seed, recipe_measures(j->variant[0]), ok ? e : &late) && ok;
    if (ok && f.totals.bad)
        ok = err_set(e, STATUS_DATA, "%" PRIu64 " of %" PRIu64 " rows were bad", f.totals.bad, f.totals.rows);
    if (ok && differs)
        ok = err_silent(e, STATUS_DATA);
    builder_free(&f.command);
    builder_free(&f.misread.notes);
    pool_free(&f.pool);
    compare_free(&f.compare);
    expected_close(&f.expected);
    feed_free(&f.feed);
    vocab_free(&f.texts);
    totals_free(&f.totals);
    return ok;
}
