// SPDX-License-Identifier: MIT
#include "cli/preset.h"

#include "base/builder.h"
#include "base/platform.h"
#include "base/utf8.h"
#include "cli/foreign.h"
#include "cli/hint.h"
#include "cli/notation.h"
#include "cli/shipped.h"
#include "in/source.h"
#include "out/message.h"
#include "out/screen.h"
#include "programs/llama.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".preset"

enum { PRESET_MOST = 1 << 20 }; // bytes

// The directories of presets, in the order in which they are searched; "": a directory that cannot exist.
enum { DIRECTORIES = 4 };
struct directories {
    char path[DIRECTORIES][PATH_MAX];
};

static void find_directories(struct directories *d)
{
    char settings[PATH_MAX];
    platform_settings(settings);
    if (!*settings || snprintf(d->path[0], PATH_MAX, "%s/sampl/presets", settings) >= PATH_MAX)
        *d->path[0] = '\0';
    const char *const source[] = {"../samples/presets", "../../samples/presets"}; // of build/ and of build/san/
    for (size_t i = 0; i < 2; i++)
        if (!platform_near_program(source[i], d->path[1 + i]))
            *d->path[1 + i] = '\0';
    snprintf(d->path[3], PATH_MAX, "%s/presets", SAMPL_DATADIR);
}

// Returns whether there is a file. A file that exists but cannot be examined counts: opening it reports the cause.
static bool is_file(const char *path)
{
    struct stat st;
    if (!stat(path, &st))
        return !S_ISDIR(st.st_mode);
    return errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ENAMETOOLONG && errno != ELOOP;
}

// Writes the path of a preset to path, from the first of n directories that has its file. False if none has.
static bool find_in_directories(const struct directories *d, size_t n, const char *file, const char *suffix,
                                char path[PATH_MAX])
{
    for (size_t i = 0; i < n; i++)
        if (*d->path[i] && snprintf(path, PATH_MAX, "%s/%s%s", d->path[i], file, suffix) < PATH_MAX && is_file(path))
            return true;
    return false;
}

// Finds the file NAME or NAME.ANYTHING in a directory, and writes its path to path. Returns the number of such files.
static size_t find_any_ending(const char *dir, const char *name, char path[PATH_MAX])
{
    const size_t len = strlen(name);
    char best[NAME_MAX + 1] = "";
    size_t n = 0;
    DIR *const d = opendir(dir);
    for (const struct dirent *entry; d && (entry = readdir(d));) {
        const char *const file = entry->d_name;
        if (strncmp(file, name, len) != 0 || (file[len] && file[len] != '.') ||
            snprintf(path, PATH_MAX, "%s/%s", dir, file) >= PATH_MAX || !is_file(path))
            continue;
        n++;
        if (!*best || strcmp(file, best) < 0) // the whole name is less than all that begin with it
            snprintf(best, sizeof best, "%s", file);
    }
    if (d)
        closedir(d);
    if (n && snprintf(path, PATH_MAX, "%s/%s", dir, best) < PATH_MAX && !strcmp(best, name))
        n = 1;
    return n;
}

// Finds a preset that is a part of the program. NULL: there is none.
static const struct shipped_preset *find_shipped(const char *name)
{
    const struct shipped_preset *s = shipped_presets;
    while (s->name && strcmp(s->name, name) != 0)
        s++;
    return s->name ? s : NULL;
}

// Finds the file of a preset, or a preset of the program: then *shipped is not NULL. Only a name with a slash or a dot
// can be the name of a file, so that files of the working directory do not hide presets. FILE:SECTION is a section of a
// file; else *section is NULL.
static bool find_preset(const char *name, char path[PATH_MAX], const char **section,
                        const struct shipped_preset **shipped, struct err *e)
{
    struct directories d;
    const bool whole = snprintf(path, PATH_MAX, "%s", strcmp(name, "-") ? name : "/dev/stdin") < PATH_MAX;
    *section = NULL;
    *shipped = NULL;
    if (whole && strpbrk(path, "/.") && is_file(path))
        return true;
    for (const char *colon = name; whole && (colon = strchr(colon, ':')); path[colon++ - name] = ':') {
        path[colon - name] = '\0';
        *section = colon + 1;
        if (strpbrk(path, "/.") && is_file(path))
            return true;
    }
    find_directories(&d);
    if (!strchr(name, '/') && *name != '.') {
        if (find_in_directories(&d, 1, name, SUFFIX, path))
            return true;
        const size_t files = find_any_ending(d.path[0], name, path);
        if (files)
            return files == 1 ||
                   err_set(e, STATUS_USAGE, "--preset: %zu files are named '%s', such as '%s'; give a whole name",
                           files, name, strrchr(path, '/') + 1);
        if (find_in_directories(&d, DIRECTORIES, name, SUFFIX, path))
            return true;
    }
    *shipped = find_shipped(name);
    if (*shipped) {
        snprintf(path, PATH_MAX, "%s (shipped)", name);
        return true;
    }
    if (!strchr(name, '/') && is_file(name))
        return err_set(e, STATUS_USAGE, "--preset: there is no preset '%s'; the file of that name is ./%s", name, name);
    if (strchr(name, '/'))
        return err_set(e, STATUS_USAGE, "--preset: there is no file '%s'", name);
    return err_set(e, STATUS_USAGE, "--preset: there is no preset '%s'; --list-presets lists them", name);
}

// Returns how many of a file's last bytes are SUFFIX.
static size_t suffix_of(const char *file)
{
    const size_t len = strlen(file), end = strlen(SUFFIX);
    return len > end && !strcmp(file + len - end, SUFFIX) ? end : 0;
}

// Adds the files of a directory whose names are nearer to a name: whole names, or those of presets without the ending.
static void find_near(struct near_name *near, const char *dir, const char *name, bool whole)
{
    DIR *const d = *dir ? opendir(dir) : NULL;
    for (const struct dirent *entry; d && (entry = readdir(d));) {
        char file[NAME_MAX + 1];
        const size_t end = whole ? 0 : suffix_of(entry->d_name);
        snprintf(file, sizeof file, "%.*s", (int)(strlen(entry->d_name) - end), entry->d_name);
        if ((end || whole) && *file != '.')
            hint_near(near, name, file);
    }
    if (d)
        closedir(d);
}

// Adds to *e, the error of a preset that does not exist, what the name may have meant.
static bool suggest(const struct preset *p, const char *name, struct err *e)
{
    struct near_name near = {.least = SIZE_MAX};
    struct directories d;
    find_directories(&d);
    for (const struct shipped_preset *s = shipped_presets; s->name; s++)
        hint_near(&near, name, s->name);
    for (size_t i = 0; i < DIRECTORIES; i++)
        find_near(&near, d.path[i], name, false);
    find_near(&near, d.path[0], name, true);     // there a preset has any ending
    if (strchr(name, '.') && !strchr(name, '/')) // a file of the working directory needs a dot
        find_near(&near, ".", name, true);
    const size_t len = strcspn(name, "= ");
    return hint_preset(name, name[len] && option_by_name(p->a->typed.options, name, len), &near, e);
}

// Returns true if the words have an option of llama.cpp that sampl lacks: they are a command line of its server.
static bool has_llama_words(const struct preset *p)
{
    const struct options *const o = p->a->typed.options;
    bool any = false;
    for (size_t i = 0; i < p->words.n && *p->words.word[0] == '-'; i++) {
        const char *const word = p->words.word[i], *const name = word + strspn(word, "-");
        const bool dash = *word == '-', two = dash && word[1] == '-';
        const size_t len = strcspn(name, "=");
        const bool own = two ? option_by_name(o, name, len) != NULL
                             : option_by_brief(o, name, len) || (*name && option_by_brief(o, name, 1));
        any = any || (dash && !own && llama_option(name) < LLAMA_OPTIONS);
    }
    return any;
}

// Reads the words as a command line of llama-server. False with *e.
static bool read_llama_words(struct preset *p, struct err *e)
{
    cJSON *const root = cJSON_CreateObject(), *const command = cJSON_AddArrayToObject(root, "command");
    bool ok =
        cJSON_AddItemToArray(command, cJSON_CreateString("llama-server")) && cJSON_AddNumberToObject(root, "more", 0.0);
    for (size_t i = 0; ok && i < p->words.n; i++)
        ok = cJSON_AddItemToArray(command, cJSON_CreateString(p->words.word[i]));
    p->words.n = 0;
    if (ok)
        return foreign_read_tree(p->a, p->path, root, NULL, p->from, p->engine, e);
    cJSON_Delete(root);
    return err_from_fault(e, fault_memory());
}

bool preset_read(struct preset *p, const char *name, struct err *e)
{
    char path[PATH_MAX], *text;
    const char *section;
    const struct shipped_preset *shipped;
    size_t len;
    if (!find_preset(name, path, &section, &shipped, e))
        return suggest(p, name, e);
    if (shipped) {
        text = strdup(shipped->text);
        len = strlen(shipped->text);
        if (!text)
            return err_from_fault(e, fault_memory());
    } else if (!file_slurp(path, PRESET_MOST, &text, &len, e)) {
        return err_prefix(e, "--preset");
    }
    const size_t mark = strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3; // a byte order mark
    p->path = words_own(&p->a->texts, strdup(path), e);
    if (!words_own(&p->a->texts, text, e) || !p->path)
        return false;
    bool ok = strlen(text) == len || err_set(e, STATUS_USAGE, "a NUL byte in a text file");
    if (ok && mark && notation_is_ini(text + mark))
        ok = err_set(e, STATUS_USAGE, "the file begins with a byte order mark, which llama.cpp refuses in an ini");
    else if (ok && (section || notation_is_foreign(text + mark)))
        ok = foreign_read(p->a, p->path, text + mark, len - mark, section, p->from, p->engine, e);
    else if (ok && p->from && !text[mark + strspn(text + mark, " \t\r\n")])
        ok = err_set(e, STATUS_USAGE, "--preset-from: the file is empty");
    else if (ok)
        ok = words_split(text + mark, &p->words, e) && (!has_llama_words(p) || read_llama_words(p, e));
    return ok || err_prefix(e, "--preset: %s", path);
}

static int is_preset(const struct dirent *entry) { return suffix_of(entry->d_name) != 0; }

// In the user's directory presets have any ending.
static int is_users_preset(const struct dirent *entry) { return *entry->d_name != '.'; }

// Adds the line of a preset: its name, a tab or in a window blanks, and its text's first line if that is a comment.
static void add_preset(struct builder *list, const char *name, int len, const char *text)
{
    char shown[NAME_MAX + 1], about[200];
    snprintf(shown, sizeof shown, "%.*s", len, name);
    snprintf(about, sizeof about, "%.*s", *text == '#' ? (int)strcspn(text, "\n") : 0, text);
    text_make_safe(shown);
    text_make_safe(about);
    builder_format(list, screen_of(STDOUT_FILENO).columns ? "%-20s %s\n" : "%s\t%s\n", shown,
                   about + strspn(about, "# "));
}

static bool list_preset(struct builder *list, const char *dir, const char *file, struct err *e)
{
    char path[PATH_MAX], *text;
    size_t len;
    if (snprintf(path, sizeof path, "%s/%s", dir, file) >= PATH_MAX || !is_file(path))
        return true;
    if (!file_slurp(path, PRESET_MOST, &text, &len, e))
        return err_prefix(e, "--list-presets");
    add_preset(list, file, (int)(strlen(file) - suffix_of(file)), text);
    free(text);
    return true;
}

bool preset_list(struct err *e)
{
    struct directories d;
    struct builder list = {0}; // printed at the end: no call behind a failed write changes errno
    bool ok = true;
    find_directories(&d);
    for (size_t i = 0; i < DIRECTORIES; i++) {
        const char *const dir = d.path[i];
        struct dirent **entry;
        if (!*dir)
            continue;
        const int n = scandir(dir, &entry, i ? is_preset : is_users_preset, alphasort);
        const bool absent = n < 0 && (errno == ENOENT || errno == ENOTDIR);
        message_note("presets are looked for in %s%s", dir, absent ? ", which is not there" : "");
        if (n < 0 && !absent)
            ok = err_set(e, STATUS_IO, "--list-presets: cannot read '%s': %s", dir, strerror(errno));
        for (int k = 0; k < n; k++) {
            char path[PATH_MAX]; // of a preset with this name that is found before
            const bool hidden = find_in_directories(&d, i, entry[k]->d_name, "", path) && !access(path, F_OK);
            ok = (hidden || list_preset(&list, dir, entry[k]->d_name, e)) && ok;
            free(entry[k]);
        }
        if (n >= 0)
            free(entry);
    }
    for (const struct shipped_preset *s = shipped_presets; s->name; s++) {
        char path[PATH_MAX]; // of a file that hides the preset
        if (!find_in_directories(&d, DIRECTORIES, s->name, SUFFIX, path))
            add_preset(&list, s->name, (int)strlen(s->name), s->text);
    }
    ok = (builder_whole(&list) || err_from_fault(e, fault_memory())) && ok;
    if (list.len) // text may be NULL
        fwrite(list.text, 1, list.len, stdout);
    builder_free(&list);
    return ok;
}

void preset_list_programs(void)
{
    const bool window = screen_of(STDOUT_FILENO).columns;
    for (size_t i = 0; programs[i]; i++) {
        const struct program *const p = programs[i];
        char engines[80] = "";
        for (const struct engine *const *engine = p->engines; *engine; engine++)
            snprintf(engines + strlen(engines), sizeof engines - strlen(engines), "%s%s", *engines ? "," : "",
                     (*engine)->name);
        printf(window ? "%-22s %-24s %-16s %-14s %s\n" : "%s\t%s\t%s\t%s\t%s\n", p->name, p->reads ? p->reads : "-",
               p->as_of, *engines ? engines : "-", p->source);
    }
}
