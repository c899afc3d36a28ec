// SPDX-License-Identifier: MIT
#include "cli/preset.h"

#include "base/utf8.h"
#include "cli/dialect.h"
#include "cli/notation.h"
#include "in/source.h"
#include "out/message.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".preset"

enum { PRESET_MOST = 1 << 20 }; // bytes

// Finds the presets of the source tree, `up` above the directory of the program. dir is "" if the program is not in a
// source tree, or the system does not say where it is.
static void source_presets(const char *up, char dir[PATH_MAX])
{
    char self[PATH_MAX] = "";
    const ssize_t len = readlink("/proc/self/exe", self, sizeof self);
    const char *const slash = len < PATH_MAX ? strrchr(self, '/') : NULL;
    *dir = '\0';
    if (slash &&
        snprintf(self + (slash - self), sizeof self - (size_t)(slash - self), "%s/samples/presets", up) < PATH_MAX &&
        !realpath(self, dir))
        *dir = '\0';
}

// Writes the i-th directory of presets to dir, "" if it cannot exist. False behind the last directory.
static bool preset_directory(size_t i, char dir[PATH_MAX])
{
    const char *const config = getenv("XDG_CONFIG_HOME"), *const home = getenv("HOME");
    if (i == 3)
        snprintf(dir, PATH_MAX, "%s/presets", SAMPL_DATADIR);
    else if (i)
        source_presets(i == 1 ? "/.." : "/../..", dir); // build/, and build/san/
    else if (config && *config)
        snprintf(dir, PATH_MAX, "%s/sampl/presets", config);
    else
        snprintf(dir, PATH_MAX, "%s/.config/sampl/presets", home ? home : "");
    return i < 4;
}

// Is there a file? A file that exists but cannot be examined counts: opening it reports the cause.
static bool is_file(const char *path)
{
    struct stat st;
    if (!stat(path, &st))
        return !S_ISDIR(st.st_mode);
    return errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ENAMETOOLONG && errno != ELOOP;
}

// Writes the path of a preset in the i-th directory. False if there is no such file.
static bool preset_in_directory(size_t i, const char *file, const char *suffix, char path[PATH_MAX])
{
    char dir[PATH_MAX];
    return preset_directory(i, dir) && *dir && snprintf(path, PATH_MAX, "%s/%s%s", dir, file, suffix) < PATH_MAX &&
           is_file(path);
}

// Finds the file of a preset. Only a name with a slash or a dot can be the name of a file, so that files of the working
// directory do not hide presets. FILE:SECTION is a section of a file; else *section is NULL.
static bool find_preset(const char *name, char path[PATH_MAX], const char **section, struct err *e)
{
    char dir[PATH_MAX];
    const bool whole = snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    *section = NULL;
    if (whole && strpbrk(name, "/.") && is_file(name))
        return true;
    for (const char *colon = name; whole && (colon = strchr(colon, ':')); path[colon++ - name] = ':') {
        path[colon - name] = '\0';
        *section = colon + 1;
        if (strpbrk(path, "/.") && is_file(path))
            return true;
    }
    for (size_t i = 0; !strchr(name, '/') && preset_directory(i, dir); i++)
        if (preset_in_directory(i, name, SUFFIX, path))
            return true;
    if (!strchr(name, '/') && is_file(name))
        return err_set(e, STATUS_USAGE, "--preset: there is no preset '%s'; the file of that name is ./%s", name, name);
    return err_set(e, STATUS_USAGE, "--preset: there is no preset '%s'; --list-presets lists them", name);
}

bool preset_read(struct preset *p, const struct options *o, const char *name, bool vocab, struct err *e)
{
    const char *section;
    char *text;
    size_t len;
    *p = (struct preset){0};
    if (!find_preset(name, p->path, &section, e))
        return false;
    if (!file_slurp(p->path, PRESET_MOST, &text, &len, e))
        return err_prefix(e, "--preset");
    const size_t mark = strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3; // a byte order mark
    const bool foreign = section || notation_of(text + mark) != NOTATION_NONE;
    bool ok = strlen(text) == len || err_set(e, STATUS_USAGE, "a NUL byte in a text file");
    p->text = text;
    if (ok && foreign) {
        struct foreign f = {.options = o, .vocab = vocab, .e = e};
        ok = dialect_read(&f, text + mark, len - mark, section);
        free(text);
        p->text = f.words.text;
        p->lacking = f.lacking.text;
        for (size_t i = 0; ok && i < f.words.len; i += strlen(p->text + i) + 1)
            ok = words_add(&p->words, p->text + i, e);
    } else if (ok) {
        ok = words_split(text + mark, &p->words, e);
    }
    return ok || err_prefix(e, "--preset: %s", p->path);
}

static int is_preset(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name), end = strlen(SUFFIX);
    return len > end && !strcmp(entry->d_name + len - end, SUFFIX);
}

// Prints the line of a preset: its name, a tab, and the first line of the file if that is a comment.
static bool list_preset(const char *dir, const char *file, struct err *e)
{
    char path[PATH_MAX], about[200] = "";
    if (snprintf(path, sizeof path, "%s/%s", dir, file) >= PATH_MAX)
        return true;
    FILE *const f = fopen(path, "r");
    if (!f)
        return err_set(e, STATUS_IO, "--list-presets: cannot open '%s': %s", path, strerror(errno));
    bool read;
    do {
        clearerr(f);
        read = fgets(about, sizeof about, f) || !ferror(f);
    } while (!read && errno == EINTR);
    const int cause = errno;
    fclose(f);
    if (!read)
        return err_set(e, STATUS_IO, "--list-presets: cannot read '%s': %s", path, strerror(cause));
    if (*about != '#')
        *about = '\0';
    about[strcspn(about, "\n")] = '\0';
    snprintf(path, sizeof path, "%.*s", (int)(strlen(file) - strlen(SUFFIX)), file);
    text_tame(path);
    text_tame(about);
    printf("%s\t%s\n", path, about + strspn(about, "# "));
    return true;
}

bool preset_list(struct err *e)
{
    char dir[PATH_MAX];
    bool ok = true;
    for (size_t i = 0; preset_directory(i, dir); i++) {
        struct dirent **entry;
        if (!*dir)
            continue;
        const int n = scandir(dir, &entry, is_preset, alphasort);
        const bool absent = n < 0 && (errno == ENOENT || errno == ENOTDIR);
        message_note("presets are looked for in %s%s", dir, absent ? ", which is not there" : "");
        if (n < 0 && !absent)
            ok = err_set(e, STATUS_IO, "--list-presets: cannot read '%s': %s", dir, strerror(errno));
        for (int k = 0; k < n; k++) {
            char path[PATH_MAX];
            size_t before = 0; // the first directory with a preset of this name
            while (before < i && !preset_in_directory(before, entry[k]->d_name, "", path))
                before++;
            const bool hidden = before < i && !access(path, F_OK);
            ok = (hidden || list_preset(dir, entry[k]->d_name, e)) && ok;
            free(entry[k]);
        }
        if (n >= 0)
            free(entry);
    }
    return ok;
}
