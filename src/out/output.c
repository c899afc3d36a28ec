// SPDX-License-Identifier: MIT
#include "out/output.h"

#include "base/builder.h"
#include "out/message.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct output_format *const formats[] = {&output_text, &output_tsv, &output_json, &output_html,
                                                      &output_f32,  &output_f16, &output_npy,  &output_expect};

const struct output_format *output_format_named(const char *name)
{
    size_t i = 0;
    while (strcmp(formats[i]->name, name) != 0)
        i++;
    return formats[i];
}

const struct output_format *output_format_like(const char *input)
{
    static const struct like {
        const char *input;
        const struct output_format *format;
    } likes[] = {{"f16", &output_f16}, {"json", &output_json}, {"pairs", &output_json},
                 {"npy", &output_npy}, {"kld", &output_npy},   {"safetensors", &output_npy}};
    for (size_t i = 0; i < sizeof likes / sizeof *likes; i++)
        if (!strcmp(input, likes[i].input))
            return likes[i].format;
    return &output_f32;
}

static char *volatile unfinished; // the temporary file, for a signal that ends the run

void output_abandon(void)
{
    if (unfinished)
        unlink(unfinished);
    message_abandon();
}

static void abandon(int signal)
{
    output_abandon();
    raise(signal); // to the default action, as the handler is gone
}

void output_catch_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
    const struct sigaction handler = {.sa_handler = abandon, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old;
        if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &handler, NULL);
    }
}

// Makes the temporary file. Signals that come in between wait until the handler knows of it.
static int make_temporary(char *name)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const int fd = mkstemp(name);
    if (fd >= 0) {
        output_catch_signals();
        unfinished = name;
    }
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

// The text, which the caller frees; NULL when memory was short.
static char *take_text(struct builder *b)
{
    if (b->failed)
        builder_free(b);
    return b->text;
}

// Follows the symbolic links of a path. Returns the path at their end, whether or not a file is there; the caller frees
// it. NULL with errno if the links have no end or memory is short.
static char *resolve(const char *path)
{
    enum { MOST_LINKS = 40 }; // as the system has it
    char *at = strdup(path);
    for (int i = 0; at && i < MOST_LINKS; i++) {
        char link[PATH_MAX];
        const ssize_t len = readlink(at, link, sizeof link - 1);
        if (len < 0 && errno != EIO)
            return at; // no link, or nothing
        if (len < 0) {
            free(at);
            errno = EIO;
            return NULL;
        }
        link[len] = '\0';
        const char *const slash = strrchr(at, '/');
        const int folder = *link == '/' || !slash ? 0 : (int)(slash - at + 1);
        struct builder next = {0};
        builder_format(&next, "%.*s%s", folder, at, link);
        free(at);
        at = take_text(&next);
    }
    const int error = at ? ELOOP : ENOMEM;
    free(at);
    errno = error;
    return NULL;
}

// Opens a temporary file beside the destination. The temporary file is hidden, so that NAME.* finds none of another
// run. It takes over the permissions of an existing destination, without setuid and setgid. A destination that must not
// be written to is not replaced. Devices and pipes are written directly.
static bool open_file(struct output *out, const char *path, struct err *e)
{
    struct stat st;
    const bool exists = !stat(path, &st);
    if (!exists && errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP)
        return output_fail(out, "open", e); // it may be there, and a device: nothing to be replaced by a file
    if (exists && (!S_ISREG(st.st_mode) || !strncmp(path, "/dev/", 5))) {
        out->f = fopen(path, "ab");
        return out->f || output_fail(out, "open", e);
    }
    if (exists && access(path, W_OK))
        return output_fail(out, "open", e);
    out->path = resolve(path);
    if (!out->path && errno != ENOMEM)
        return output_fail(out, "open", e);
    const char *const slash = out->path ? strrchr(out->path, '/') : NULL;
    const int folder = slash ? (int)(slash - out->path + 1) : 0;
    struct builder temporary = {0};
    if (out->path)
        builder_format(&temporary, "%.*s.%.200s.XXXXXX", folder, out->path, out->path + folder);
    out->temporary = take_text(&temporary);
    if (!out->temporary)
        return err_from_fault(e, fault_memory());
    const int fd = make_temporary(out->temporary);
    if (fd < 0) {
        free(out->temporary);
        out->temporary = NULL;
        return output_fail(out, "create", e);
    }
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, exists ? st.st_mode & 0777 : 0666 & ~mask);
    out->f = fdopen(fd, "wb");
    return out->f || output_fail(out, "open", e);
}

// Can the format go there?
static bool fits(const struct output *out, struct err *e)
{
    if (out->screen.columns && out->format->binary)
        return err_set(e, STATUS_USAGE, "%s: %s is binary and not for a terminal; use -o, or -O text", out->name,
                       out->format->name);
    if (out->format->counted && out->begin < 0 && out->rows < 0)
        return err_set(
            e, STATUS_USAGE,
            "%s: %s states the number of rows first, and it is not known; write to a file, or use -O f32 or -O json",
            out->name, out->format->name);
    return true;
}

// Where a later write can reach the output's start: only in a regular file that is not appended to. -1: nowhere.
static bool find_start(struct output *out, struct err *e)
{
    struct stat st;
    const int fd = fileno(out->f);
    int flags;
    out->begin = -1;
    if (fstat(fd, &st) || (flags = fcntl(fd, F_GETFL)) < 0)
        return output_fail(out, "open", e);
    if (!S_ISREG(st.st_mode) || flags & O_APPEND)
        return true;
    out->begin = lseek(fd, 0, SEEK_CUR);
    return out->begin >= 0 || output_fail(out, "seek", e);
}

// A window may have another size than before; one that is gone has the last it had.
static bool open_sheet(struct output *out, struct err *e)
{
    const struct screen now = screen_of(fileno(out->stream));
    out->screen = now.columns ? now : out->screen;
    out->sheet = NULL;
    FILE *const sheet = open_memstream(&out->sheet, &out->sheet_len);
    out->f = sheet ? sheet : out->stream;
    return sheet || err_from_fault(e, fault_memory());
}

bool output_open(struct output *out, struct err *e)
{
    assert(out->emit < EMIT_COUNT);
    const char *const path = out->name ? out->name : "-";
    const bool standard = !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
    if (!out->name)
        out->name = "standard output";
    if (out->format->state && !(out->page = calloc(1, out->format->state)))
        return err_from_fault(e, fault_memory());
    if (!standard && !open_file(out, path, e))
        return false;
    if (standard)
        out->f = stdout;
    out->stream = out->f;
    out->screen = screen_of(fileno(out->f));
    out->flush = out->flush || out->screen.columns;
    if (!find_start(out, e) || !fits(out, e))
        return false;
    if (!out->screen.columns)
        setvbuf(out->f, NULL, _IOFBF, 1 << 16);
    out->lines = out->lines && out->screen.columns;
    out->open = true;
    return !out->lines || open_sheet(out, e);
}

// Folds and shows the lines of a sheet: a record, or all that there is. A blank line separates sheets.
static bool show_sheet(struct output *out, struct err *e)
{
    const bool whole = !fflush(out->f) && !ferror(out->f);
    fclose(out->f); // which makes the sheet as long as it is, or NULL
    out->f = out->stream;
    if (whole && out->sheet && out->sheet_len) {
        if (out->parted)
            putc('\n', out->stream);
        out->parted = true;
        screen_fold(out->stream, out->sheet, out->sheet_len, out->screen.columns);
    }
    free(out->sheet);
    return whole || err_from_fault(e, fault_memory());
}

static bool flush(struct output *out, struct err *e)
{
    if (out->f != out->stream && (!show_sheet(out, e) || !open_sheet(out, e)))
        return false;
    return (fflush(out->stream) == 0 && !ferror(out->stream)) || output_fail(out, "write", e);
}

// Writes what comes before the first record. sequence: that record's, or NULL.
static void begin_output(struct output *out, const char *sequence)
{
    if (out->begun)
        return;
    out->begun = true;
    out->sequences = sequence || out->named;
    if (out->format->begin)
        out->format->begin(out);
}

// Checks the stream after a record has been written to it, and flushes it if records are to be seen at once.
static bool wrote(struct output *out, struct err *e)
{
    if (out->flush)
        return flush(out, e);
    return !ferror(out->f) || output_fail(out, "write", e);
}

static bool write_record(struct output *out, const struct record *r, struct err *e)
{
    const struct output_format *const f = out->format;
    if (r->error && f->bad)
        f->bad(out, r);
    else if (out->dump)
        f->dump(out, r);
    else if (out->emit == EMIT_STATS)
        f->stats(out, r);
    else if (out->emit == EMIT_IDS || (out->emit == EMIT_TEXT && !f->token))
        f->id(out, r);
    else if (out->emit == EMIT_TEXT)
        f->token(out, r);
    else
        return f->values(out, r, e);
    return true;
}

bool output_record(struct output *out, const struct record *r, struct err *e)
{
    assert(out->open && !out->compared);
    assert(r->error || r->values || (out->emit != EMIT_SCORE && !emit_distribution(out->emit)));
    assert(r->error || !out->dump || r->shown <= r->kept);
    begin_output(out, r->seq);
    if (!write_record(out, r, e))
        return false;
    out->records++;
    return wrote(out, e);
}

void output_tell(struct output *out, const struct vocab *texts)
{
    if (!out->records || !out->format->cells)
        out->vocab = texts;
}

bool output_chains(struct output *out, enum compared kind, const struct chains_record *r, struct kept_text *kept,
                   struct err *e)
{
    FILE *const f = out->f;
    assert(out->open && out->compared);
    begin_output(out, NULL);
    out->f = kept ? open_memstream(&kept->text, &kept->len) : f;
    if (out->f)
        out->format->chains[kind](out, r);
    out->records += kind < COMPARED_TEXTS;
    if (!kept)
        return wrote(out, e);
    const bool whole = out->f && !fflush(out->f) && !ferror(out->f);
    if (out->f)
        fclose(out->f); // which makes the text as long as it is, or NULL
    out->f = f;
    return (whole && kept->text) || err_from_fault(e, fault_memory());
}

bool output_kept(struct output *out, const struct kept_text *kept, struct err *e)
{
    fwrite(kept->text, 1, kept->len, out->f);
    return wrote(out, e);
}

bool output_close(struct output *out, bool commit, struct err *e)
{
    bool ok = true;
    struct err late;
    if (out->f) {
        if (out->open && (commit || !out->compared || out->page)) // compared chains have no heading without rows
            begin_output(out, NULL);
        ok = flush(out, e);
        if (ok && out->open && out->format->finish)
            ok = out->format->finish(out, commit, e) && flush(out, e);
        if (out->f != out->stream)
            ok = show_sheet(out, ok ? e : &late) && ok;
        if (out->stream != stdout && fclose(out->stream) != 0 && ok)
            ok = output_fail(out, "write", e);
        if (out->temporary && commit && ok && rename(out->temporary, out->path) != 0)
            ok = output_fail(out, "rename", e);
    }
    if (out->temporary && (!commit || !ok))
        unlink(out->temporary);
    unfinished = NULL;
    free(out->temporary);
    free(out->path);
    free(out->page);
    *out = (struct output){.name = out->name};
    return ok;
}
