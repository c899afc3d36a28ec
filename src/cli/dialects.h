// SPDX-License-Identifier: MIT
// Functions of rows of the dialect table (dialects.c) that stand in dialect_servers.c: requests to OpenAI, vLLM, SGLang
// and mlx_lm.server. struct dialect in cli/foreign.h says what the functions do.
#ifndef SAMPL_CLI_DIALECTS_H
#define SAMPL_CLI_DIALECTS_H

#include "cli/foreign.h"

bool openai_key(struct foreign *f, const cJSON *item);
void openai_finish(struct foreign *f);

bool vllm_key(struct foreign *f, const cJSON *item);

bool sglang_key(struct foreign *f, const cJSON *item);

// Adds the tokens that end a text, for vLLM and SGLang, and a note on penalties of llama's chain.
void ends_finish(struct foreign *f);

bool mlx_key(struct foreign *f, const cJSON *item);

#endif
