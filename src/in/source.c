// SPDX-License-Identifier: MIT
#include "in/source.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK = 1 << 20, // bytes asked for at a time when reading
    KEEP = 2 << 20,  // bytes of a map that may lie behind the present place
};

static bool fail(const char *what, struct err *e)
{
    return err_set(e, STATUS_IO, "cannot %s: %s", what, strerror(errno));
}

static void (*on_shrink)(void);

void source_on_shrink(void (*act)(void))
{
    on_shrink = act;
}

// A mapped file that another process makes shorter faults where its pages are gone. Our own loops meet that, and functions of the C
// library that they hand the map to, such as memcpy and memchr; but none that works on a stream is ever handed it, so that no stream
// is amid a write of this thread's, and what has been written so far can still be flushed.
static void file_shrank(int signal)
{
    static const char text[] = "sampl: an input file became shorter while it was read\n";
    (void)signal;
    if (on_shrink)
        on_shrink();
    fflush(NULL); // NOLINT(bugprone-signal-handler): see above
    const ssize_t told = write(STDERR_FILENO, text, sizeof text - 1);
    (void)told;
    _exit(STATUS_IO);
}

void source_rewind(struct source *s)
{
    s->offset = s->begin;
    s->dropped = (size_t)s->begin & ~(size_t)(KEEP - 1);
}

// Maps a regular file; whatever cannot be mapped is read.
static void map(struct source *s, const struct stat *st)
{
    const off_t at = lseek(s->fd, 0, SEEK_CUR);
    s->at_end = S_ISREG(st->st_mode) && at >= 0 && st->st_size <= at;
    if (!S_ISREG(st->st_mode) || at < 0 || st->st_size <= at || (uintmax_t)st->st_size > SIZE_MAX)
        return;
    void *const p = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, s->fd, 0);
    if (p == MAP_FAILED)
        return;
    madvise(p, (size_t)st->st_size, MADV_SEQUENTIAL);
    signal(SIGBUS, file_shrank);
    s->map = p;
    s->map_len = (size_t)st->st_size;
    s->begin = (uint64_t)at;
    source_rewind(s);
}

bool source_open(struct source *s, const char *path, struct err *e)
{
    memset(s, 0, sizeof *s);
    s->standard = !strcmp(path, "-");
    s->name = s->standard ? "standard input" : path;
    s->fd = s->standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (s->fd < 0 || fstat(s->fd, &st) < 0)
        return fail("open", e);
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return fail("read", e);
    }
    map(s, &st);
    return true;
}

void source_close_fd(struct source *s)
{
    if (s->map && s->fd >= 0 && s->standard)
        lseek(s->fd, (off_t)s->offset, SEEK_SET); // who reads on, reads on from here
    if (s->fd >= 0 && !s->standard)
        close(s->fd);
    s->fd = -1;
}

void source_close(struct source *s)
{
    if (s->map)
        munmap((void *)(uintptr_t)s->map, s->map_len);
    source_close_fd(s);
    free(s->buf);
    s->map = NULL;
    s->buf = NULL;
}

// Reads once, into whatever room there is; makes room as the data justifies it.
static bool read_more(struct source *s, struct err *e)
{
    if (s->start) {
        memmove(s->buf, s->buf + s->start, s->end - s->start);
        s->end -= s->start;
        s->start = 0;
    }
    if (s->cap - s->end < BLOCK && !mem_grow(&s->buf, &s->cap, s->end + BLOCK, 1))
        return err_from_fault(e, fault_memory());
    ssize_t got;
    do
        got = read(s->fd, s->buf + s->end, s->cap - s->end);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail("read", e);
    s->end += (size_t)got;
    s->at_end = got == 0;
    return true;
}

bool source_peek(struct source *s, size_t want, const unsigned char **p, size_t *have, struct err *e)
{
    if (s->map) {
        *p = s->map + s->offset;
        *have = s->map_len - (size_t)s->offset;
        return true;
    }
    while (s->end - s->start < want && !s->at_end)
        if (!read_more(s, e))
            return false;
    *p = s->buf + s->start;
    *have = s->end - s->start;
    return true;
}

void source_skip(struct source *s, size_t n)
{
    assert(n <= (s->map ? s->map_len - (size_t)s->offset : s->end - s->start));
    s->offset += n;
    if (!s->map) {
        s->start += n;
    } else if (s->offset - s->dropped >= 2 * KEEP) {
        const size_t behind = ((size_t)s->offset - KEEP) & ~(size_t)(KEEP - 1);
        madvise((void *)(uintptr_t)(s->map + s->dropped), behind - s->dropped, MADV_DONTNEED);
        s->dropped = behind;
    }
}

int64_t source_left(const struct source *s)
{
    if (s->map)
        return (int64_t)(s->map_len - s->offset);
    return s->at_end && s->start == s->end ? 0 : -1;
}

bool file_slurp(const char *path, char **text, size_t *len, struct err *e)
{
    FILE *const f = fopen(path, "rb");
    if (!f)
        return err_set(e, STATUS_IO, "cannot open '%s': %s", path, strerror(errno));
    size_t cap = 0, got;
    *text = NULL;
    *len = 0;
    bool ok;
    do {
        ok = mem_grow(text, &cap, *len + 4096 + 1, 1);
        got = ok ? fread(*text + *len, 1, cap - *len - 1, f) : 0;
        *len += got;
    } while (got);
    if (!ok)
        err_from_fault(e, fault_memory());
    else if (ferror(f))
        ok = err_set(e, STATUS_IO, "cannot read '%s': %s", path, strerror(errno));
    fclose(f);
    if (ok) {
        (*text)[*len] = '\0';
        return true;
    }
    free(*text);
    *text = NULL;
    return false;
}
