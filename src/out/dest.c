// SPDX-License-Identifier: MIT
#include "out/dest.h"

#include "base/platform.h"
#include "out/message.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool dest_fail(const struct dest *d, const char *what, struct err *e)
{
    if (platform_pipe_closed())
        return err_silent(e, STATUS_OK);
    return err_set(e, STATUS_IO, "%s: cannot %s: %s", d->name, what, strerror(errno));
}

static char *volatile unfinished; // name of the temporary file, for signals that end the run; NULL: none

void dest_abandon(void)
{
    if (unfinished)
        unlink(unfinished);
    message_abandon();
}

void dest_catch_signals(void) { platform_on_signals(dest_abandon); }

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
static bool open_file(struct dest *d, const char *path, struct err *e)
{
    struct stat st;
    const bool exists = !stat(path, &st);
    if (!exists && errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP)
        return dest_fail(d, "open", e); // the path may name a device, which no file may replace
    if (exists && (!S_ISREG(st.st_mode) || !strncmp(path, "/dev/", 5))) {
        d->stream = fopen(path, "ab");
        return d->stream || dest_fail(d, "open", e);
    }
    if (exists && access(path, W_OK))
        return dest_fail(d, "open", e);
    d->path = resolve(path);
    if (!d->path)
        return errno == ENOMEM ? err_from_fault(e, fault_memory()) : dest_fail(d, "open", e);
    platform_slashes(d->path);
    const char *const slash = strrchr(d->path, '/');
    const int folder = slash ? (int)(slash - d->path + 1) : 0;
    struct builder temporary = {0};
    builder_format(&temporary, "%.*s.%.200s.XXXXXX", folder, d->path, d->path + folder);
    d->temporary = whole_text(&temporary);
    if (!d->temporary)
        return err_from_fault(e, fault_memory());
    const int fd = platform_temporary(d->temporary, &unfinished, dest_abandon);
    if (fd < 0) {
        free(d->temporary);
        d->temporary = NULL;
        return dest_fail(d, "create", e);
    }
    platform_permissions(fd, exists ? path : NULL);
    d->stream = fdopen(fd, "wb");
    return d->stream || dest_fail(d, "open", e);
}

// Checks that the destination can hold the format.
static bool fits(const struct dest *d, struct err *e)
{
    if (d->screen.columns && d->format->kind & (FORMAT_ARRAY | FORMAT_TENSORS))
        return err_set(e, STATUS_USAGE, "%s: %s is binary and not for a terminal; use -o, or -O text", d->name,
                       d->format->name);
    if (d->screen.columns && d->format->kind == FORMAT_PAGE)
        return err_set(e, STATUS_USAGE, "-O %s writes a page: give -o page.html", d->format->name);
    if (d->format->kind == FORMAT_ARRAY && d->format->counted && d->begin < 0 && d->rows < 0)
        return err_set(
            e, STATUS_USAGE,
            "%s: %s states the number of rows first, and it is not known; write to a file, or use -O f32 or -O json",
            d->name, d->format->name);
    return true;
}

// Sets d->begin. Only in a regular file that is not appended to can a later write reach the begin of the output.
static bool find_start(struct dest *d, struct err *e)
{
    struct stat st;
    const int fd = fileno(d->stream);
    int flags;
    d->begin = -1;
    if (fstat(fd, &st) || (flags = fcntl(fd, F_GETFL)) < 0)
        return dest_fail(d, "open", e);
    if (!S_ISREG(st.st_mode) || flags & O_APPEND)
        return true;
    d->begin = lseek(fd, 0, SEEK_CUR);
    return d->begin >= 0 || dest_fail(d, "seek", e);
}

bool dest_open(struct dest *d, struct err *e)
{
    const char *const path = d->name ? d->name : "-";
    const bool standard = !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
    if (!d->name)
        d->name = "standard output";
    if (!standard && !open_file(d, path, e))
        return false;
    if (standard)
        d->stream = stdout;
    d->screen = screen_of(fileno(d->stream));
    d->flush = d->flush || d->screen.columns;
    d->folds = d->folds && d->screen.columns;
    if (!find_start(d, e) || !fits(d, e))
        return false;
    if (!d->screen.columns)
        setvbuf(d->stream, NULL, _IOFBF, 1 << 16);
    return true;
}

// If the window is closed, its last size holds.
void dest_begin(struct dest *d)
{
    if (!d->folds)
        return;
    const struct screen now = screen_of(fileno(d->stream));
    d->screen = now.columns ? now : d->screen;
}

static bool end_write(struct dest *d, bool flush, struct err *e)
{
    return (!(flush && fflush(d->stream)) && !ferror(d->stream)) || dest_fail(d, "write", e);
}

// Folds the lines of the record from an offset on. before: what then stands before them.
static void fold_lines(struct dest *d, size_t begin, const char *before, int columns)
{
    struct builder lines = {0};
    if (!builder_whole(&d->text) || d->text.len == begin)
        return;
    builder_string(&lines, before);
    screen_fold(&lines, d->text.text + begin, d->text.len - begin, columns);
    d->text.len = begin;
    builder_bytes(&d->text, lines.text, lines.len);
    d->text.failed = d->text.failed || lines.failed;
    builder_free(&lines);
}

void dest_fold(struct dest *d, size_t begin)
{
    if (!d->folds)
        fold_lines(d, begin, "", SCREEN_USUAL);
}

// In a window, the lines of a record are folded, and a blank line separates records.
bool dest_write(struct dest *d, struct err *e)
{
    if (d->folds && d->text.len) {
        fold_lines(d, 0, d->shown ? "\n" : "", d->screen.columns);
        d->shown = true;
    }
    if (!builder_whole(&d->text))
        return err_from_fault(e, fault_memory());
    if (d->text.len)
        fwrite(d->text.text, 1, d->text.len, d->stream);
    builder_clear(&d->text);
    return end_write(d, d->flush, e);
}

bool dest_flush(struct dest *d, struct err *e) { return end_write(d, true, e); }

bool dest_close(struct dest *d, bool commit, struct err *e)
{
    bool ok = !d->stream || dest_flush(d, e);
    if (d->stream && d->stream != stdout && fclose(d->stream) != 0 && ok)
        ok = dest_fail(d, "write", e);
    if (d->temporary && commit && ok && rename(d->temporary, d->path) != 0)
        ok = dest_fail(d, "rename", e);
    if (d->temporary && (!commit || !ok))
        unlink(d->temporary);
    unfinished = NULL;
    free(d->temporary);
    free(d->path);
    builder_free(&d->text);
    *d = (struct dest){.name = d->name};
    return ok;
}
