// SPDX-License-Identifier: MIT
// Generates with llama.cpp's library, the likeliest token each time, and writes each row of raw logits as f32.
// usage: libllama MODEL.gguf PROMPT N >rows.f32 2>ids      the first line of ids is the prompt's tokens, the second those that followed
// build: cc -o libllama libllama.c -lllama -lggml
// then:  sampl --vocab MODEL.gguf -f f32 -s 1 --prompt-tokens "$(sed -n 1p ids)" --accept "$(sed -n 2p ids)" rows.f32
// small: libllama MODEL.gguf PROMPT N 2>ids | sampl --vocab MODEL.gguf -f f32 --neutral --emit list -O safetensors -o rows.safetensors
#include <llama.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static void quiet(enum ggml_log_level level, const char *text, void *data) { (void)level, (void)text, (void)data; }

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    llama_log_set(quiet, NULL);
    if (getenv("GGML_BACKENDS")) // where prebuilt libraries keep their backends
        ggml_backend_load_all_from_path(getenv("GGML_BACKENDS"));
    struct llama_model *model = llama_model_load_from_file(argv[1], llama_model_default_params());
    if (!model)
        return 1;
    const struct llama_vocab *vocab = llama_model_get_vocab(model);
    const int n_vocab = llama_vocab_n_tokens(vocab), n = atoi(argv[3]);
    llama_token token[MOST];
    const int n_prompt = llama_tokenize(vocab, argv[2], (int)strlen(argv[2]), token, MOST, true, true);
    struct llama_context_params params = llama_context_default_params();
    params.n_ctx = (unsigned)(n_prompt + n);
    params.n_batch = (unsigned)n_prompt;
    struct llama_context *context = n_prompt > 0 ? llama_init_from_model(model, params) : NULL;
    if (!context)
        return 1;
    for (int i = 0; i < n_prompt; i++)
        fprintf(stderr, i ? ",%d" : "%d", token[i]);
    struct llama_batch batch = llama_batch_get_one(token, n_prompt);
    for (int i = 0; i < n && !llama_decode(context, batch); i++) {
        const float *logit = llama_get_logits_ith(context, -1);
        fwrite(logit, sizeof *logit, (size_t)n_vocab, stdout);
        *token = 0;
        for (llama_token id = 1; id < n_vocab; id++)
            *token = logit[id] > logit[*token] ? id : *token;
        fprintf(stderr, i ? ",%d" : "\n%d", *token);
        batch = llama_batch_get_one(token, 1);
    }
    fprintf(stderr, "\n");
    llama_free(context);
    llama_model_free(model);
    return ferror(stdout) || fflush(stdout);
}
