// SPDX-License-Identifier: MIT
#include "in/source.h"

#include "base/builder.h"
#include "base/mem.h"
#include "base/platform.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

// A mapped file, for the message of a fault. Maps are in a list, where a fault finds its own; the list changes only
// while no row is worked on.
struct source_map {
    struct source_map *next;
    const char *name;
    const unsigned char *begin; // [len]
    size_t len;
    struct source_rows rows;
    size_t at; // where the first of the rows begins
    bool known;
};

static struct source_map *maps;

static void say_shrunk(const struct source_map *m, size_t place)
{
    char text[600];
    const uint64_t k = m && m->rows.bytes && place > m->at ? (place - m->at) / m->rows.bytes : 0;
    if (!m)
        snprintf(text, sizeof text, "an input file became shorter while it was read");
    else if (!m->known)
        snprintf(text, sizeof text, "%s: the file became shorter while it was read", m->name);
    else if (m->rows.several)
        snprintf(text, sizeof text,
                 "%s: row %" PRIu64 " (row %" PRIu64 " of the run): the file became shorter while it was read", m->name,
                 m->rows.in_file + k, m->rows.number + k);
    else
        snprintf(text, sizeof text, "%s: row %" PRIu64 ": the file became shorter while it was read", m->name,
                 m->rows.number + k);
    text_tame(text);
    dprintf(STDERR_FILENO, "sampl: %s\n", text);
}

// A mapped file that another process makes shorter faults where its pages are gone. Our own loops meet that, and
// functions of the C library that they hand the map to, such as memcpy and memchr; but none that works on a stream is
// ever handed it, so that no stream is amid a write of this thread's, and what has been written so far can still be
// flushed, and text be made.
static void file_shrank(int signal, siginfo_t *info, void *context)
{
    const unsigned char *const at = info->si_addr;
    const struct source_map *m = maps;
    (void)signal;
    (void)context;
    if (on_shrink)
        on_shrink();
    fflush(NULL); // NOLINT(bugprone-signal-handler): see above
    while (m && !(at >= m->begin && at < m->begin + m->len))
        m = m->next;
    say_shrunk(m, m ? (size_t)(at - m->begin) : 0);
    _exit(STATUS_IO);
}

void source_rows(struct source *s, const struct source_rows *rows)
{
    if (!s->map)
        return;
    s->map->rows = *rows;
    s->map->at = s->start;
    s->map->known = true;
}

// Maps a regular file; whatever is none, or is on a file system without maps, is read.
static bool map(struct source *s, const struct stat *st, struct err *e)
{
    const off_t at = lseek(s->fd, 0, SEEK_CUR);
    s->at_end = S_ISREG(st->st_mode) && at >= 0 && st->st_size <= at;
    if (S_ISREG(st->st_mode) && at < 0)
        return fail("seek", e);
    if (!S_ISREG(st->st_mode) || st->st_size <= at || (uintmax_t)st->st_size > SIZE_MAX)
        return true;
    const size_t len = (size_t)st->st_size;
    void *const p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, s->fd, 0);
    if (p == MAP_FAILED)
        return errno == ENODEV || errno == EACCES || fail("map", e); // what cannot be read says so then
    s->map = calloc(1, sizeof *s->map);
    if (!s->map) {
        munmap(p, len);
        return err_from_fault(e, fault_memory());
    }
    *s->map = (struct source_map){.next = maps, .name = s->name, .begin = p, .len = len};
    maps = s->map;
    platform_reads_on(p, len);
    sigaction(SIGBUS, &(struct sigaction){.sa_sigaction = file_shrank, .sa_flags = SA_SIGINFO}, NULL);
    s->mapped = s->at_end = true;
    s->buf = p;
    s->begin = s->offset = s->start = (size_t)at;
    s->end = len;
    s->dropped = s->start & ~(size_t)(KEEP - 1);
    return true;
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
    return map(s, &st, e);
}

void source_close_fd(struct source *s)
{
    if (s->mapped && s->fd >= 0 && s->standard)
        lseek(s->fd, (off_t)s->offset, SEEK_SET); // who reads on, reads on from here
    if (s->fd >= 0 && !s->standard)
        close(s->fd);
    s->fd = -1;
}

void source_close(struct source *s)
{
    source_close_fd(s);
    if (!s->mapped) {
        free(s->buf);
        return;
    }
    struct source_map **at = &maps;
    while (*at != s->map)
        at = &(*at)->next;
    *at = s->map->next;
    free(s->map);
    munmap(s->buf, s->end);
}

bool source_peek(struct source *s, size_t want, const unsigned char **p, size_t *have, struct err *e)
{
    while (s->end - s->start < want && !s->at_end) {
        if (s->start) {
            memmove(s->buf, s->buf + s->start, s->end - s->start);
            s->end -= s->start;
            s->start = 0;
        }
        if (s->cap - s->end < BLOCK && !mem_grow(&s->buf, &s->cap, s->end + BLOCK, 1)) // room as the data justifies it
            return err_from_fault(e, fault_memory());
        const ssize_t got = read(s->fd, s->buf + s->end, s->cap - s->end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail("read", e);
        s->end += (size_t)got;
        s->at_end = got == 0;
    }
    *p = s->buf ? s->buf + s->start : (const unsigned char *)""; // nothing was read
    *have = s->end - s->start;
    return true;
}

void source_skip(struct source *s, size_t n)
{
    assert(n <= s->end - s->start);
    if (s->mapped && s->start - s->dropped >= 2 * KEEP) { // before what may be in use until the next peek
        const size_t behind = (s->start - KEEP) & ~(size_t)(KEEP - 1);
        platform_has_read(s->buf + s->dropped, behind - s->dropped);
        s->dropped = behind;
    }
    s->offset += n;
    s->start += n;
}

int64_t source_left(const struct source *s)
{
    const size_t left = s->end - s->start;
    return s->mapped || (s->at_end && !left) ? (int64_t)left : -1;
}

bool file_slurp(const char *path, size_t most, char **text, size_t *len, struct err *e)
{
    struct builder b = {.most = most};
    char part[4096];
    FILE *const f = fopen(path, "rb");
    if (!f)
        return err_set(e, STATUS_IO, "cannot open '%s': %s", path, strerror(errno));
    do {
        clearerr(f); // it may have been interrupted
        *len = fread(part, 1, sizeof part, f);
        builder_bytes(&b, part, *len);
    } while ((*len || (ferror(f) && errno == EINTR)) && builder_whole(&b));
    bool ok = !b.failed || err_from_fault(e, fault_memory());
    if (b.full)
        ok = err_set(e, STATUS_USAGE, "'%s' is larger than %zu bytes", path, most);
    if (ok && ferror(f))
        ok = err_set(e, STATUS_IO, "cannot read '%s': %s", path, strerror(errno));
    fclose(f);
    if (!ok)
        builder_free(&b);
    *text = b.text;
    *len = b.len;
    return ok;
}
