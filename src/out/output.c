// SPDX-License-Identifier: MIT
#include "out/output.h"

#include "base/builder.h"
#include "base/names.h"
#include "base/platform.h"
#include "out/message.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
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
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i]->inputs && name_find(formats[i]->inputs, NAME_EXACT, input, strlen(input)) >= 0)
            return formats[i];
    return &output_f32;
}

static char *volatile unfinished; // name of the temporary file, for signals that end the run; NULL: none

void output_abandon(void)
{
    if (unfinished)
        unlink(unfinished);
    message_abandon();
}

void output_catch_signals(void) { platform_on_signals(output_abandon); }

// Returns the text of a builder, which the caller frees. NULL if memory was short.
static char *whole_text(struct builder *b)
{
    if (b->failed)
        builder_free(b);
    return b->text;
}

// Follows the symbolic links of a path. Returns the path at their end, which need not exist; the caller frees the path.
// NULL and errno if there are too many links or memory is short.
static char *resolve(const char *path)
{
    enum { LINKS_MOST = 40 }; // Linux's limit
    char *at = strdup(path), link[PATH_MAX];
    int error = ELOOP;
    for (int i = 0; at && i < LINKS_MOST; i++) {
        const ssize_t len = readlink(at, link, sizeof link - 1);
        if (len < 0 && errno != EIO)
            return at; // no link, or no file
        if (len < 0) {
            error = EIO;
            break;
        }
        link[len] = '\0';
        const char *const slash = strrchr(at, '/');
        const int folder = *link == '/' || !slash ? 0 : (int)(slash - at + 1);
        struct builder next = {0};
        builder_format(&next, "%.*s%s", folder, at, link);
        free(at);
        at = whole_text(&next);
    }
    error = at ? error : ENOMEM;
    free(at);
    errno = error;
    return NULL;
}

// Opens a temporary file in the folder of the destination. Its name begins with a dot, so that NAME.* does not match
// it. It has the permissions of an existing destination, without setuid and setgid. A destination without permission to
// write is an error. Devices and pipes are opened themselves.
static bool open_file(struct output *out, const char *path, struct err *e)
{
    struct stat st;
    const bool exists = !stat(path, &st);
    if (!exists && errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP)
        return output_fail(out, "open", e); // the path may name a device, which no file may replace
    if (exists && (!S_ISREG(st.st_mode) || !strncmp(path, "/dev/", 5))) {
        out->f = fopen(path, "ab");
        return out->f || output_fail(out, "open", e);
    }
    if (exists && access(path, W_OK))
        return output_fail(out, "open", e);
    out->path = resolve(path);
    if (!out->path && errno != ENOMEM)
        return output_fail(out, "open", e);
    if (out->path)
        platform_slashes(out->path);
    const char *const slash = out->path ? strrchr(out->path, '/') : NULL;
    const int folder = slash ? (int)(slash - out->path + 1) : 0;
    struct builder temporary = {0};
    if (out->path)
        builder_format(&temporary, "%.*s.%.200s.XXXXXX", folder, out->path, out->path + folder);
    out->temporary = whole_text(&temporary);
    if (!out->temporary)
        return err_from_fault(e, fault_memory());
    const int fd = platform_temporary(out->temporary, &unfinished, output_abandon);
    if (fd < 0) {
        free(out->temporary);
        out->temporary = NULL;
        return output_fail(out, "create", e);
    }
    platform_permissions(fd, exists ? path : NULL);
    out->f = fdopen(fd, "wb");
    return out->f || output_fail(out, "open", e);
}

// Can the destination hold the format?
static bool fits(const struct output *out, struct err *e)
{
    if (out->screen.columns && out->format->binary)
        return err_set(e, STATUS_USAGE, "%s: %s is binary and not for a terminal; use -o, or -O text", out->name,
                       out->format->name);
    if (out->screen.columns && out->format->page)
        return err_set(e, STATUS_USAGE, "-O %s writes a page: give -o page.html", out->format->name);
    if (out->format->counted && out->begin < 0 && out->rows < 0)
        return err_set(
            e, STATUS_USAGE,
            "%s: %s states the number of rows first, and it is not known; write to a file, or use -O f32 or -O json",
            out->name, out->format->name);
    return true;
}

// Sets out->begin. Only in a regular file that is not appended to can a later write reach the begin of the output.
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

bool output_open(struct output *out, struct err *e)
{
    assert(out->emit < EMIT_COUNT);
    const char *const path = out->name ? out->name : "-";
    const bool standard = !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
    if (!out->name)
        out->name = "standard output";
    if (out->format->page && !memory_open(&out->table, e))
        return false;
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
    return true;
}

// Called before each write: opens the sheet of a window, and calls format->begin before the first record, which is
// `first`, or NULL. The window may have changed its size. If it is closed, its last size holds.
static bool begin_write(struct output *out, const struct record *first, struct err *e)
{
    if (out->lines && !out->sheet.f) {
        const struct screen now = screen_of(fileno(out->stream));
        out->screen = now.columns ? now : out->screen;
        if (!memory_open(&out->sheet, e))
            return false;
        out->f = out->sheet.f;
    }
    if (out->begun)
        return true;
    out->begun = true;
    out->sequences = (first && first->seq) || out->any_sequence;
    out->rests = first && first->partial;
    if (out->format->begin)
        out->format->begin(out);
    return true;
}

// Closes the sheet, and writes its lines, folded, to the window. A blank line separates sheets.
static bool show_sheet(struct output *out, struct err *e)
{
    const bool whole = memory_close(&out->sheet, e);
    out->f = out->stream;
    if (whole && out->sheet.len) {
        if (out->sheet_shown)
            putc('\n', out->f);
        out->sheet_shown = true;
        screen_fold(out->f, out->sheet.text, out->sheet.len, out->screen.columns);
    }
    free(out->sheet.text);
    return whole;
}

// Called after each write: shows the sheet, flushes the stream if asked to, and finds its errors.
static bool end_write(struct output *out, bool flush, struct err *e)
{
    if (out->sheet.f && !show_sheet(out, e))
        return false;
    return (!(flush && fflush(out->f)) && !ferror(out->f)) || output_fail(out, "write", e);
}

bool output_flush(struct output *out, struct err *e)
{
    return !out->f || (!fflush(out->f) && !ferror(out->f)) || output_fail(out, "write", e);
}

static void write_record(struct output *out, const struct record *r)
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
        f->values(out, r);
}

bool output_record(struct output *out, const struct record *r, struct err *e)
{
    assert(out->open && !out->compared);
    assert(r->error || r->values || (out->emit != EMIT_SCORE && !emit_distribution(out->emit)));
    assert(r->error || !out->dump || r->shown <= r->kept);
    if (!begin_write(out, r, e) || (out->format->check && !out->format->check(out, r, e)))
        return false;
    write_record(out, r);
    out->records++;
    return end_write(out, out->flush, e);
}

void output_set_texts(struct output *out, const struct vocab *texts)
{
    if (!out->records || !out->format->cells)
        out->vocab = texts;
}

bool output_chains(struct output *out, enum compared kind, struct memory_file *kept, struct err *e)
{
    assert(out->open && out->compared);
    if (!begin_write(out, NULL, e) || (kept && !memory_open(kept, e)))
        return false;
    FILE *const f = out->f;
    out->f = kept ? kept->f : f;
    out->format->chains[kind](out, out->chains);
    out->f = f;
    out->records += kind < COMPARED_TEXTS;
    return kept ? memory_close(kept, e) : end_write(out, out->flush, e);
}

bool output_kept(struct output *out, const struct memory_file *kept, struct err *e)
{
    if (!begin_write(out, NULL, e))
        return false;
    fwrite(kept->text, 1, kept->len, out->f);
    return end_write(out, out->flush, e);
}

bool output_close(struct output *out, bool commit, struct err *e)
{
    bool ok = true;
    struct err late;
    if (out->f) {
        if (out->open &&
            (commit || !out->compared || out->format->page)) // without rows, compared chains have no heading
            ok = begin_write(out, NULL, e);
        if (ok && out->open && out->format->finish)
            ok = out->format->finish(out, commit, e);
        ok = end_write(out, true, ok ? e : &late) && ok;
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
    if (out->table.f)
        memory_close(&out->table, &late);
    free(out->table.text);
    *out = (struct output){.name = out->name};
    return ok;
}
