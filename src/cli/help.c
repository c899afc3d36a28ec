// SPDX-License-Identifier: MIT
#include "cli/help.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 100, TEXT_AT = 34 };

static const char *const headings[GROUP_HIDDEN] = {
    [GROUP_INPUT] = "Input",
    [GROUP_CHAIN] = "Chain (llama.cpp's flags)",
    [GROUP_OUTPUT] = "Output",
    [GROUP_OTHER] = "Other",
};

// Prints text from column `at` on, broken at spaces before WIDTH; later lines start at TEXT_AT.
static void wrap(const char *text, int at)
{
    while (*text) {
        const int len = (int)strcspn(text, " ");
        if (at > TEXT_AT && at + 1 + len > WIDTH) {
            printf("\n%*s", TEXT_AT, "");
            at = TEXT_AT;
        } else if (at > TEXT_AT) {
            putchar(' ');
            at++;
        }
        printf("%.*s", len, text);
        at += len;
        text += len + (text[len] == ' ');
    }
}

static void print_option(const struct option_row *row)
{
    char names[120], text[300];
    char *at = names;
    at = row->brief ? stpcpy(stpcpy(stpcpy(at, "  -"), row->brief), ", --") : stpcpy(at, "      --");
    at = stpcpy(at, row->name);
    if (row->also)
        at = stpcpy(stpcpy(at, ", --"), row->also);
    if (row->metavar)
        stpcpy(stpcpy(at, *row->metavar == '[' ? "" : " "), row->metavar);
    snprintf(text, sizeof text, "%s%s%s%s%s%s", row->help, row->choices ? ": " : "", row->choices ? row->choices : "",
             row->def ? " (" : "", row->def ? row->def : "", row->def ? ")" : "");
    const int len = printf("%s", names);
    if (len + 2 > TEXT_AT)
        putchar('\n');
    printf("%*s", len + 2 > TEXT_AT ? TEXT_AT : TEXT_AT - len, "");
    wrap(text, TEXT_AT);
    putchar('\n');
}

// The options of a group under this heading, NULL being the group's own. Headings of samplers come with their first option.
static void print_group(const struct options *o, enum option_group group, const char *heading)
{
    printf("\n%s:\n", heading ? heading : headings[group]);
    for (const struct option_row *row = o->row; row->name; row++)
        if (row->group == group && (heading ? row->heading && !strcmp(row->heading, heading) : !row->heading))
            print_option(row);
}

// Was the heading of this row that of a row before?
static bool heading_seen(const struct options *o, const struct option_row *row)
{
    for (const struct option_row *r = o->row; r < row; r++)
        if (r->heading && !strcmp(r->heading, row->heading))
            return true;
    return false;
}

void help_print(const struct options *o)
{
    fputs("usage: sampl [OPTION]... [FILE]...\n\n"
          "Reads rows of logits, runs llama.cpp's sampler chain over each, and prints the chosen token ids.\n"
          "Without FILE, or when FILE is -, reads standard input. Defaults are in parentheses.\n",
          stdout);
    for (enum option_group group = 0; group < GROUP_HIDDEN; group++) {
        print_group(o, group, NULL);
        for (const struct option_row *row = o->row; row->name; row++)
            if (row->group == group && row->heading && !heading_seen(o, row))
                print_group(o, group, row->heading);
    }
    fputs("\nExit status: 0 all rows fine, 1 bad input data, 2 usage, 3 input or output failed.\n"
          "SAMPL_CPU=TIER in the environment lowers the SIMD tier. More in sampl(1).\n",
          stdout);
}

void help_version(const struct kern *kern)
{
    printf("sampl " SAMPL_VERSION "\ncompatible with llama.cpp " SAMPL_LLAMA_RELEASE "\nSIMD tier %s (of", kern->name);
    for (size_t i = 0; kern_tier(i); i++)
        printf(" %s", kern_tier(i)->name);
    printf(")\ncJSON %s\n", cJSON_Version());
}
