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
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK = 1 << 20,       // bytes read at a time: of a pipe, several rows
    SIZED_BLOCK = 1 << 16, // of a file that can be read from any place: little more than the rows that are asked for
    KEEP = 2 << 20,        // bytes before the current one whose pages stay, and unit of releasing pages
};

// Sets an error of errno. Returns false.
static bool fail(const char *what, struct err *e)
{
    return err_set(e, STATUS_IO, "cannot %s: %s", what, strerror(errno));
}

static void (*on_shrink)(void);

void source_on_shrink(void (*act)(void)) { on_shrink = act; }

// A mapped file, for the message about a fault in it. The message finds the map in a list. A thread that holds the
// list's mutex reads no map, so that a fault can lock the mutex.
struct source_map {
    struct source_map *next;
    const char *name;
    const unsigned char *begin; // [len]
    size_t len;
    bool known; // source_rows was called:
    struct source_rows rows;
    size_t at; // offset of the first of the rows
};

static struct source_map *maps;
static pthread_mutex_t maps_mutex = PTHREAD_MUTEX_INITIALIZER;

// Writes the message for a fault to text[size].
static void print_shrunk(const unsigned char *fault, char *text, size_t size)
{
    char row[80] = "";
    pthread_mutex_lock(&maps_mutex);
    const struct source_map *m = maps;
    while (m && !(fault >= m->begin && fault < m->begin + m->len))
        m = m->next;
    if (m && m->known) {
        const struct source_rows *const rows = &m->rows;
        const size_t at = (size_t)(fault - m->begin);
        const uint64_t k = rows->bytes && at > m->at ? (at - m->at) / rows->bytes : 0;
        if (rows->several)
            snprintf(row, sizeof row, ": row %" PRIu64 " (row %" PRIu64 " of the run)", rows->in_file + k,
                     rows->number + k);
        else
            snprintf(row, sizeof row, ": row %" PRIu64, rows->number + k);
    }
    if (m)
        snprintf(text, size, "%s%s: the file became shorter while it was read", m->name, row);
    else
        snprintf(text, size, "an input file became shorter while it was read");
    pthread_mutex_unlock(&maps_mutex);
}

// Ends the program, as a page behind the new end of a file was read. Prints a message and flushes the output.
// fflush and snprintf are safe here, although signal handlers may not call them in general: pages of the map are read
// only by our own code and by functions such as memcpy and memchr. No function that works on a stream gets the map, so
// this thread is not inside one.
static void end_shrunk(const void *at)
{
    char text[608] = "sampl: "; // 600 for the message
    const size_t begin = strlen(text);
    if (on_shrink)
        on_shrink();
    fflush(NULL); // NOLINT(bugprone-signal-handler): see above
    print_shrunk(at, text + begin, sizeof text - begin - 1);
    text_make_safe(text + begin);
    const unsigned len = (unsigned)strlen(text);
    text[len] = '\n';
    (void)!write(STDERR_FILENO, text, len + 1);
    _exit(STATUS_IO);
}

bool source_guard(void (*act)(void *arg), void *arg, struct err *e)
{
    const void *at;
    char text[600];
    if (platform_guard(act, arg, &at))
        return true;
    if (!e)
        return false;
    print_shrunk(at, text, sizeof text);
    return err_set(e, STATUS_IO, "%s", text);
}

void source_rows(struct source *s, const struct source_rows *rows)
{
    if (!s->map)
        return;
    s->map->rows = *rows;
    s->map->at = s->start;
    s->map->known = true;
}

// Maps a regular file. Any other file, or one that cannot be mapped, is read in blocks: s->mapped stays false.
static bool map(struct source *s, const struct stat *st, struct err *e)
{
    const off_t at = lseek(s->fd, 0, SEEK_CUR);
    s->at_end = S_ISREG(st->st_mode) && at >= 0 && st->st_size <= at;
    if (S_ISREG(st->st_mode) && at < 0)
        return fail("seek", e);
    if (!S_ISREG(st->st_mode) || st->st_size <= at)
        return true;
    const bool mappable = platform_maps() && (uintmax_t)st->st_size <= SIZE_MAX;
    const size_t len = (size_t)st->st_size;
    void *const p = mappable ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, s->fd, 0) : MAP_FAILED;
    if (p == MAP_FAILED) {
        s->sized = !mappable || errno == ENODEV || errno == EACCES; // then read, which reports its own errors
        s->size = (uint64_t)st->st_size;
        s->begin = s->offset = (uint64_t)at;
        return s->sized || fail("map", e);
    }
    s->map = calloc(1, sizeof *s->map);
    if (!s->map) {
        munmap(p, len);
        return err_from_fault(e, fault_memory());
    }
    *s->map = (struct source_map){.name = s->name, .begin = p, .len = len};
    pthread_mutex_lock(&maps_mutex);
    s->map->next = maps;
    maps = s->map;
    pthread_mutex_unlock(&maps_mutex);
    platform_reads_on(p, len);
    platform_on_shrunk(end_shrunk);
    s->mapped = s->at_end = true;
    s->buf = p;
    s->begin = s->offset = s->start = (size_t)at;
    s->end = len;
    s->released = s->start & ~(size_t)(KEEP - 1);
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
        lseek(s->fd, (off_t)s->offset, SEEK_SET); // for a program that reads on
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
    pthread_mutex_lock(&maps_mutex);
    while (*at != s->map)
        at = &(*at)->next;
    *at = s->map->next;
    pthread_mutex_unlock(&maps_mutex);
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
        const size_t block = s->sized ? SIZED_BLOCK : BLOCK;
        if (s->cap - s->end < block && !mem_grow(&s->buf, &s->cap, s->end + block, 1)) // grows with the data
            return err_from_fault(e, fault_memory());
        if (s->ahead && lseek(s->fd, (off_t)s->ahead, SEEK_CUR) < 0)
            return fail("seek", e);
        s->ahead = 0;
        if (s->idle && s->idle->act && source_waits(s) && !s->idle->act(s->idle->to, e))
            return false;
        const ssize_t got = read(s->fd, s->buf + s->end, s->cap - s->end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail("read", e);
        s->end += (size_t)got;
        s->at_end = got == 0;
    }
    *p = s->buf ? s->buf + s->start : (const unsigned char *)""; // NULL if nothing was read
    *have = s->end - s->start;
    return true;
}

bool source_waits(const struct source *s) { return !s->mapped && !s->at_end && platform_would_wait(s->fd); }

void source_skip(struct source *s, uint64_t n)
{
    const size_t have = s->end - s->start;
    assert(n <= have || s->sized);
    if (s->mapped && s->start >= s->released + 2 * KEEP) { // keeps bytes that were peeked
        const size_t behind = (s->start - KEEP) & ~(size_t)(KEEP - 1);
        platform_has_read(s->buf + s->released, behind - s->released);
        s->released = behind;
    }
    s->ahead += n > have ? n - have : 0;
    s->offset += n;
    s->start += n < have ? (size_t)n : have;
}

void source_leave(struct source *s, const void *from, size_t len)
{
    const size_t page = platform_page(), at = (size_t)((const unsigned char *)from - s->buf), begin = at - at % page;
    assert(s->mapped && at + len <= s->end);
    if (begin > s->released)
        platform_has_read(s->buf + s->released, begin - s->released);
    s->released = at + len - (at + len) % page;
}

const char *source_give_back(const char *from, const char *to)
{
    const size_t page = platform_page();
    const char *const begin = from - (uintptr_t)from % page, *const end = to - (uintptr_t)to % page;
    if (begin < end)
        platform_has_read((void *)(uintptr_t)begin, (size_t)(end - begin));
    return begin < end ? end : from;
}

int64_t source_left(const struct source *s)
{
    const size_t left = s->end - s->start;
    if (s->sized)
        return s->size > s->offset ? (int64_t)(s->size - s->offset) : 0;
    return s->mapped || (s->at_end && !left) ? (int64_t)left : -1;
}

bool source_line(struct source *s, size_t most, const char **line, size_t *len, struct err *e)
{
    const unsigned char *at, *newline = NULL;
    size_t have = 0, seen;
    do {
        seen = have;
        if (!source_peek(s, seen + 1, &at, &have, e))
            return false;
        newline = have > seen ? memchr(at + seen, '\n', have - seen) : NULL;
    } while (!newline && have > seen && have <= most);
    *line = have ? (const char *)at : NULL;
    *len = newline ? (size_t)(newline - at) : have;
    if (*len <= most)
        source_skip(s, *len + (newline != NULL));
    return true;
}

bool file_slurp(const char *path, size_t most, char **text, size_t *len, struct err *e)
{
    struct builder b = {.most = most};
    char part[4096];
    FILE *const f = fopen(path, "rb");
    if (!f)
        return err_set(e, STATUS_IO, "cannot open '%s': %s", path, strerror(errno));
    do {
        clearerr(f); // of an interruption by a signal
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
