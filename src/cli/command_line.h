// SPDX-License-Identifier: MIT
// Command lines that start another program: in a shell script, a batch file, llama-swap's cmd.
#ifndef SAMPL_CLI_COMMAND_LINE_H
#define SAMPL_CLI_COMMAND_LINE_H

#include "json/json.h"

// Finds the first command in a script that starts llama.cpp's server or another program whose flags sampl reads. Line
// ends separate commands unless one_line. Variables that the script sets are replaced; macros: an object of texts that
// are variables, too, or NULL. Returns {"command": [PROGRAM, WORD, ...], "more": N}, which the caller frees with
// cJSON_Delete: the program's name without its folder, and the number of such commands that follow. NULL with *e if
// memory is short; NULL without it if there is no such command.
cJSON *command_line_read(const char *text, bool one_line, const cJSON *macros, struct err *e);

// Reads the settings in the flags of a program other than llama.cpp's: a JSON text, or for mlx_lm the flags themselves.
// tree: of command_line_read. Returns them as an object, which the caller frees, and sets *program to the program of
// struct program that reads them. *program stays NULL if llama.cpp is started. NULL with *e if there are none.
cJSON *command_line_settings(const cJSON *tree, const char **program, struct err *e);

#endif
