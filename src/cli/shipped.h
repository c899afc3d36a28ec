// SPDX-License-Identifier: MIT
// The presets of samples/presets, which are a part of the program. The Makefile writes the table.
#ifndef SAMPL_CLI_SHIPPED_H
#define SAMPL_CLI_SHIPPED_H

struct shipped_preset {
    const char *name; // NULL after the last preset
    const char *text;
};

extern const struct shipped_preset shipped_presets[]; // ordered by name

#endif
