// SPDX-License-Identifier: MIT
// Command lines that start another program: in a shell script, a batch file, llama-swap's cmd.
#ifndef SAMPL_CLI_COMMAND_LINE_H
#define SAMPL_CLI_COMMAND_LINE_H

#include "json/json.h"

// Finds a command in a script that starts llama.cpp's server or another program whose flags sampl reads: the one that
// `section` numbers, from 1; NULL: the first. Commands with the words of one before are not counted. one_line: the text
// is one command without a shell's operators, as llama-swap's cmd; macros: an object of texts that replace ${NAME}, or
// NULL. Returns {"command": [PROGRAM, WORD, ...], "env": {NAME: WORD}, "more": N}, which the caller frees with
// cJSON_Delete: the program's name without its folder, the variables that the script gives to it, and the number of
// commands that are not read. A WORD is a text, or {"word": TEXT, "doubt": DOUBT}: DOUBT is "default" if the
// environment or an argument of the script may change it, "condition" if it holds under a condition, "unknown" if TEXT
// is only its spelling. "condition": true if the command runs under a condition, "guessed": true if its program is a
// variable that is not known. NULL with *e if memory is short, or `section` numbers none; NULL without it if there is
// no such command.
cJSON *command_line_read(const char *text, bool one_line, const char *section, const cJSON *macros, struct err *e);

// Reads the settings in the flags of a program other than llama.cpp's: a JSON text, or for mlx_lm the flags themselves.
// tree: of command_line_read. Returns them as an object, which the caller frees, and sets *program to the program of
// struct program that reads them. *program stays NULL if llama.cpp is started. NULL with *e if there are none.
cJSON *command_line_settings(const cJSON *tree, const char **program, struct err *e);

#endif
