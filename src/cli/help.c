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

// Prints a text from column `at` on, broken at spaces before WIDTH. Later lines begin at TEXT_AT.
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
    char text[300];
    int len = row->brief ? printf("  -%s, --%s", row->brief, row->name) : printf("      --%s", row->name);
    if (row->also)
        len += printf(", --%s", row->also);
    if (row->metavar)
        len += printf("%s%s", *row->metavar == '[' ? "" : " ", row->metavar);
    snprintf(text, sizeof text, "%s%s%s%s%s%s", row->help, row->choices ? ": " : "", row->choices ? row->choices : "",
             row->def ? " (" : "", row->def ? row->def : "", row->def ? ")" : "");
    if (len + 2 > TEXT_AT)
        putchar('\n');
    printf("%*s", len + 2 > TEXT_AT ? TEXT_AT : TEXT_AT - len, "");
    wrap(text, TEXT_AT);
    putchar('\n');
}

// Prints the options of a group under a heading, and marks them as printed. NULL is the heading of the group itself.
static void print_group(const struct options *o, enum option_group group, const char *heading, bool *printed)
{
    printf("\n%s:\n", heading ? heading : headings[group]);
    for (size_t i = 0; i < o->n; i++) {
        const char *const own = o->row[i].heading;
        if (o->row[i].group != group || !heading != !own || (own && heading && strcmp(own, heading) != 0))
            continue;
        print_option(&o->row[i]);
        printed[i] = true;
    }
}

void help_print(const struct options *o, bool all)
{
    bool printed[OPTIONS_MOST] = {false};
    for (size_t i = 0; i < o->n; i++)
        printed[i] = o->row[i].rare && !all;
    fputs("usage: sampl [OPTION]... [FILE]...\n\n"
          "Reads rows of logits, runs llama.cpp's sampler chain over each, and prints the chosen token ids.\n"
          "Without FILE, or when FILE is -, reads standard input. Defaults are in parentheses.\n",
          stdout);
    for (enum option_group group = 0; group < GROUP_HIDDEN; group++) {
        print_group(o, group, NULL, printed);
        for (size_t i = 0; i < o->n; i++) // a heading stands where its first option does
            if (o->row[i].group == group && !printed[i])
                print_group(o, group, o->row[i].heading, printed);
    }
    if (!all)
        puts("\nsampl --help=all has more: samplers of other programs, comparing and checking chains.");
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
