// SPDX-License-Identifier: MIT
#include "cli/preset.h"

#include "base/mem.h"
#include "in/source.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX ".preset"

// Writes the i-th directory of presets to dir; false past the last.
static bool directory(size_t i, char dir[PATH_MAX])
{
    const char *const config = getenv("XDG_CONFIG_HOME"), *const home = getenv("HOME");
    if (i == 1)
        snprintf(dir, PATH_MAX, "%s/presets", SAMPL_DATADIR);
    else if (config && *config)
        snprintf(dir, PATH_MAX, "%s/sampl/presets", config);
    else
        snprintf(dir, PATH_MAX, "%s/.config/sampl/presets", home ? home : "");
    return i < 2;
}

static bool is_file(const char *path)
{
    struct stat st;
    return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

static bool find(const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s", name);
    if (is_file(path))
        return true;
    char dir[PATH_MAX];
    for (size_t i = 0; !strchr(name, '/') && directory(i, dir); i++)
        if (snprintf(path, PATH_MAX, "%s/%s" SUFFIX, dir, name) < PATH_MAX && is_file(path))
            return true;
    return false;
}

// The next word of *at, malloc'ed; *at moves past it. *word is NULL at the end.
static bool next_word(const char **at, char **word, struct err *e)
{
    const char *s = *at;
    *word = NULL;
    while (isspace((unsigned char)*s) || *s == '#' || (*s == '\\' && s[1] == '\n'))
        s += *s == '#' ? strcspn(s, "\n") : 1;
    *at = s;
    if (!*s)
        return true;
    char *const out = malloc(strlen(s) + 1);
    if (!out)
        return err_from_fault(e, fault_memory());
    size_t n = 0;
    char quote = 0;
    for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
        if (quote ? *s == quote : *s == '\'' || *s == '"')
            quote = quote ? 0 : *s;
        else
            out[n++] = *s;
    }
    out[n] = '\0';
    *at = s;
    *word = out;
    return !quote || err_set(e, STATUS_USAGE, "a quote is not closed");
}

static bool split(const char *text, char ***word, size_t *n, struct err *e)
{
    size_t cap = 0;
    for (;;) {
        char *w;
        const bool ok = next_word(&text, &w, e);
        if (ok && !w)
            return true;
        if (!mem_grow(word, &cap, *n + 1, sizeof **word)) {
            free(w);
            return err_from_fault(e, fault_memory());
        }
        if (w)
            (*word)[(*n)++] = w;
        if (!ok)
            return false;
    }
}

bool preset_read(const char *name, char ***word, size_t *n, struct err *e)
{
    char path[PATH_MAX], *text;
    size_t len;
    *word = NULL;
    *n = 0;
    if (!find(name, path))
        return err_set(e, STATUS_USAGE, "--preset: there is no preset '%s'; --list-presets lists them", name);
    if (!file_slurp(path, &text, &len, e))
        return err_prefix(e, "--preset");
    const bool ok = strlen(text) < len ? err_set(e, STATUS_USAGE, "a NUL byte in a text file") : split(text, word, n, e);
    free(text);
    if (ok)
        return true;
    for (size_t i = 0; i < *n; i++)
        free((*word)[i]);
    free(*word);
    return err_prefix(e, "--preset: %s", path);
}

static int is_preset(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name), end = strlen(SUFFIX);
    return len > end && !strcmp(entry->d_name + len - end, SUFFIX);
}

// One line: the name, a tab, and the file's first line if that is a comment.
static void list_one(const char *dir, const char *file)
{
    char path[PATH_MAX], about[200] = "";
    FILE *const f = snprintf(path, sizeof path, "%s/%s", dir, file) < PATH_MAX ? fopen(path, "r") : NULL;
    if (!f)
        return;
    if (!fgets(about, sizeof about, f) || *about != '#')
        *about = '\0';
    fclose(f);
    const char *const text = about + strspn(about, "# ");
    printf("%.*s\t%.*s\n", (int)(strlen(file) - strlen(SUFFIX)), file, (int)strcspn(text, "\n"), text);
}

void preset_list(void)
{
    char dir[PATH_MAX];
    for (size_t i = 0; directory(i, dir); i++) {
        struct dirent **entry;
        const int n = scandir(dir, &entry, is_preset, alphasort);
        for (int k = 0; k < n; k++) {
            list_one(dir, entry[k]->d_name);
            free(entry[k]);
        }
        if (n >= 0)
            free(entry);
    }
}
