// SPDX-License-Identifier: MIT
// The notations that presets of other programs are in: JSON, and flat YAML, Modelfiles and llama.cpp's ini, which are
// read into trees like JSON's. Numbers become cJSON_Raw, spelt as they are.
#ifndef SAMPL_CLI_NOTATION_H
#define SAMPL_CLI_NOTATION_H

#include <cjson/cJSON.h>

// The notation of a preset's text; NONE: it is a preset of sampl.
enum notation { NOTATION_NONE, NOTATION_JSON, NOTATION_YAML, NOTATION_MODELFILE, NOTATION_INI };
enum notation notation_of(const char *text);

// Reads a text in YAML, Modelfile or ini: an object with one member, named for the notation, that holds the settings.
// section: which one of an ini, NULL being the one without a name; if there is no such section, there is no member.
// NULL when memory is short.
cJSON *notation_read(enum notation notation, const char *text, const char *section);

#endif
