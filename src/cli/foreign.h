// SPDX-License-Identifier: MIT
// Presets of other programs: SillyTavern's, KoboldCpp's, text-generation-webui's, transformers', Ollama's, LM Studio's, those of llama-server
// and of what talks to it, and sampl's own --print-chain. They are told by their content, see sampl-formats(5).
#ifndef SAMPL_CLI_FOREIGN_H
#define SAMPL_CLI_FOREIGN_H

#include "base/builder.h"
#include "cli/options.h"

#include <cjson/cJSON.h>

// What a text is written in; NONE: it is a preset of sampl's.
enum notation { NOTATION_NONE, NOTATION_JSON, NOTATION_YAML, NOTATION_MODELFILE, NOTATION_INI };
enum notation notation_of(const char *text);

// The tree of a text in YAML, Modelfile or ini, the settings in a member of that name; NULL when memory is short. section: of ini, NULL being
// the one without a name; where there is none there are no settings.
cJSON *notation_read(enum notation notation, const char *text, const char *section);

// Is a word, len characters long, among these, separated by spaces? Case does not count.
bool foreign_is_among(const char *words, const char *word, size_t len);

// Is a key among these patterns, separated by spaces? Those of the members of llama-server's requests that do not concern sampling.
bool foreign_ignored(const char *patterns, const char *key);
extern const char server_ignored[];

// A text, and how it is read.
struct foreign_text {
    const char *text; // [len], and a NUL
    size_t len;
    const char *section; // of it; NULL: none is named
    bool vocab;          // tokens may be named by their texts
};

// Makes options of a text that is no preset of sampl's: words, each ending in a NUL; and says in `lacking` which settings are active that no
// option gives, "top_a (0.75), tfs (0.97)", empty if there are none. False with *e. The caller frees both, zeroed at first, either way.
bool foreign_read(const struct options *o, const struct foreign_text *text, struct builder *words,
                  struct builder *lacking, struct err *e);

#endif
