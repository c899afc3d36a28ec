// SPDX-License-Identifier: MIT
#include "cli/help.h"

#include "cli/option_table.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 100, TEXT_AT = 34 };

static const char *const headings[GROUP_HIDDEN] = {
    [GROUP_INPUT] = "Input", [GROUP_CHAIN] = "Chain (llama.cpp's flags)", [GROUP_SCATTER] = "Scatter", [GROUP_OUTPUT] = "Output",
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
    for (size_t i = 0; i < 2 && row->also[i]; i++)
        at = stpcpy(stpcpy(at, ", --"), row->also[i]);
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

void help_print(void)
{
    fputs("usage: sampl [OPTION]... [FILE]...\n\n"
          "Reads rows of logits, runs llama.cpp's sampler chain over each, and prints the chosen token ids.\n"
          "Without FILE, or when FILE is -, reads standard input. Defaults are in parentheses.\n",
          stdout);
    for (int group = 0; group < GROUP_HIDDEN; group++) {
        printf("\n%s:\n", headings[group]);
        for (const struct option_row *row = option_table; row->name; row++)
            if ((int)row->group == group)
                print_option(row);
    }
    fputs("\nExit status: 0 all rows fine, 1 bad input data, 2 usage, 3 input or output failed.\n"
          "SAMPL_CPU=TIER in the environment lowers the SIMD tier. More in sampl(1).\n",
          stdout);
}

void help_version(const struct kern *kern)
{
    printf("sampl " SAMPL_VERSION "\ncompatible with llama.cpp build %d\nSIMD tier %s (of", SAMPL_LLAMA_BUILD, kern->name);
    for (size_t i = 0; kern_tier(i); i++)
        printf(" %s", kern_tier(i)->name);
    printf(")\ncJSON %s\n", cJSON_Version());
}
