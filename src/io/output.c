// SPDX-License-Identifier: MIT
#include "io/output.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct output_format *const formats[] = {&output_text, &output_tsv, &output_json};

static bool fail(const struct output *out, const char *what, struct err *e)
{
    if (errno == EPIPE)
        return err_set(e, STATUS_OK, "%s", "");
    return err_set(e, STATUS_IO, "%s: cannot %s: %s", out->name, what, strerror(errno));
}

static char *volatile unfinished; // the temporary file, for a signal that ends the run

void output_abandon(void)
{
    if (unfinished)
        unlink(unfinished);
}

static void remove_unfinished(int signal)
{
    output_abandon();
    raise(signal); // to the default action, as the handler is gone
}

static void watch_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
    const struct sigaction handler = {.sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old;
        if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &handler, NULL);
    }
}

// The file that path names at the end of its symbolic links, there or not; the caller frees it.
static char *resolve(const char *path)
{
    enum { MOST_LINKS = 40 }; // as the system has it
    char *at = strdup(path);
    for (int i = 0; at && i < MOST_LINKS; i++) {
        char link[PATH_MAX];
        const ssize_t len = readlink(at, link, sizeof link - 1);
        if (len < 0)
            return at;
        link[len] = '\0';
        const char *const slash = strrchr(at, '/');
        const size_t folder = *link == '/' || !slash ? 0 : (size_t)(slash - at + 1);
        char *const next = malloc(folder + (size_t)len + 1);
        if (next) {
            memcpy(next, at, folder);
            memcpy(next + folder, link, (size_t)len + 1);
        }
        free(at);
        at = next;
    }
    return at;
}

// Opens a temporary file beside the one to be made, which keeps its permissions if it exists. Devices and pipes are written directly.
static bool open_file(struct output *out, const char *path, struct err *e)
{
    struct stat st;
    const bool exists = !stat(path, &st);
    if (exists && (!S_ISREG(st.st_mode) || !strncmp(path, "/dev/", 5))) {
        out->f = fopen(path, "ab");
        return out->f || fail(out, "open", e);
    }
    out->path = resolve(path);
    out->temporary = out->path ? malloc(strlen(out->path) + sizeof ".XXXXXX") : NULL;
    if (!out->temporary)
        return err_from_fault(e, fault_memory());
    stpcpy(stpcpy(out->temporary, out->path), ".XXXXXX");
    const int fd = mkstemp(out->temporary);
    if (fd < 0) {
        free(out->temporary);
        out->temporary = NULL;
        return fail(out, "create", e);
    }
    unfinished = out->temporary;
    watch_signals();
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, exists ? st.st_mode & 07777 : 0666 & ~mask);
    out->f = fdopen(fd, "wb");
    return out->f || fail(out, "open", e);
}

bool output_open(struct output *out, const struct output_config *config, struct err *e)
{
    *out = (struct output){.name = config->path ? config->path : "standard output", .dump = config->dump, .flush = config->flush};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i]->name, config->format))
            out->format = formats[i];
    if (!out->format)
        return err_set(e, STATUS_USAGE, "--output-format %s is not available yet", config->format);
    const bool standard = !config->path || !strcmp(config->path, "-") || !strcmp(config->path, "/dev/stdout");
    if (!standard && !open_file(out, config->path, e))
        return false;
    if (standard)
        out->f = stdout;
    out->terminal = isatty(fileno(out->f));
    out->color = out->terminal && config->color;
    out->flush = out->flush || out->terminal;
    if (!out->terminal)
        setvbuf(out->f, NULL, _IOFBF, 1 << 16);
    if (out->format->begin && !config->goes_on)
        out->format->begin(out);
    return true;
}

static bool flush(struct output *out, struct err *e)
{
    return (fflush(out->f) == 0 && !ferror(out->f)) || fail(out, "write", e);
}

bool output_record(struct output *out, const struct record *r, struct err *e)
{
    (out->dump ? out->format->dump : out->format->id)(out, r);
    if (out->flush)
        return flush(out, e);
    return !ferror(out->f) || fail(out, "write", e);
}

bool output_close(struct output *out, bool commit, struct err *e)
{
    bool ok = true;
    if (out->f) {
        ok = flush(out, e);
        if (out->f != stdout && fclose(out->f) != 0 && ok)
            ok = fail(out, "write", e);
        if (out->temporary && commit && ok && rename(out->temporary, out->path) != 0)
            ok = fail(out, "rename", e);
    }
    if (out->temporary && (!commit || !ok))
        unlink(out->temporary);
    unfinished = NULL;
    free(out->temporary);
    free(out->path);
    *out = (struct output){.name = out->name};
    return ok;
}

const char *number_text(float x, char text[NUMBER_TEXT])
{
    int low = 1, high = 9; // nine digits always suffice; if d do, so do more
    while (low < high) {
        const int digits = (low + high) / 2;
        snprintf(text, NUMBER_TEXT, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            high = digits;
        else
            low = digits + 1;
    }
    snprintf(text, NUMBER_TEXT, "%.*g", low, (double)x);
    return text;
}
