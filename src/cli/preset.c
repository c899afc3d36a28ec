// SPDX-License-Identifier: MIT
#include "cli/preset.h"

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

// Splits the text where it stands, which the words then point into.
static bool split(char *text, struct words *words, struct err *e)
{
    char *to = text;
    for (const char *from = text;;) {
        while (isspace((unsigned char)*from) || *from == '#' || (*from == '\\' && from[1] == '\n'))
            from += *from == '#' ? strcspn(from, "\n") : 1;
        if (!*from)
            return true;
        if (!words_add(words, to, e))
            return false;
        char quote = 0;
        for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
            if (quote ? *from == quote : *from == '\'' || *from == '"')
                quote = quote ? 0 : *from;
            else
                *to++ = *from;
        }
        if (quote)
            return err_set(e, STATUS_USAGE, "a quote is not closed");
        from += *from != '\0';
        *to++ = '\0';
    }
}

bool preset_read(const char *name, struct words *texts, struct words *words, struct err *e)
{
    char path[PATH_MAX], *text;
    size_t len;
    if (!find(name, path))
        return err_set(e, STATUS_USAGE, "--preset: there is no preset '%s'; --list-presets lists them", name);
    if (!file_slurp(path, &text, &len, e))
        return err_prefix(e, "--preset");
    if (!words_add(texts, text, e)) {
        free(text);
        return false;
    }
    const bool ok = strlen(text) < len ? err_set(e, STATUS_USAGE, "a NUL byte in a text file") : split(text, words, e);
    return ok || err_prefix(e, "--preset: %s", path);
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
