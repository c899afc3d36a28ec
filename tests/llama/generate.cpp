// SPDX-License-Identifier: MIT
// Generates a text with llama.cpp's own context and model.
#include "modes.h"

#include "ggml-backend.h"

#include <cstdio>

int mode_generate(const words &word)
{
    std::string path, libraries, out;
    words rest;
    size_t n_rows = 32;
    for (size_t i = 0; i < word.size(); i++) {
        const bool value = i + 1 < word.size();
        if (value && word[i] == "--model")
            path = word[++i];
        else if (value && word[i] == "--libraries")
            libraries = word[++i];
        else if (value && word[i] == "--out")
            out = word[++i];
        else if (value && word[i] == "--rows")
            n_rows = std::stoul(word[++i]);
        else
            rest.push_back(word[i]);
    }
    rest.insert(rest.begin(), {"--vocab", path});
    const command c(rest);
    ggml_backend_load_all_from_path(libraries.c_str());
    llama_model *const model = llama_model_load_from_file(path.c_str(), llama_model_default_params());
    if (!model)
        throw std::runtime_error("llama.cpp cannot load the model " + path);
    const size_t n = (size_t)llama_vocab_n_tokens(llama_model_get_vocab(model));
    llama_context_params cp = llama_context_default_params();
    cp.n_ctx = cp.n_batch = 256;
    cp.n_threads = cp.n_threads_batch = 1;
    llama_context *const ctx = llama_init_from_model(model, cp);
    FILE *const f = fopen(out.c_str(), "wb");
    if (!ctx || !f)
        throw std::runtime_error("cannot start to generate, or to write " + out);
    judge j(model, c); // for its parameters; common_sampler samples
    common_sampler *const s = common_sampler_init(model, j.params.sampling);
    const bool ends = !common_grammar_value(j.params.sampling.grammar).empty();
    llama_tokens prompt = c.prompt;
    for (const llama_token token : prompt)
        common_sampler_accept(s, token, false);
    llama_batch batch = llama_batch_get_one(prompt.data(), (int32_t)prompt.size());
    llama_token token = 0;
    for (size_t i = 0; i < n_rows; i++) {
        if (llama_decode(ctx, batch) != 0)
            throw std::runtime_error("llama.cpp cannot decode");
        fwrite(llama_get_logits_ith(ctx, -1), sizeof(float), n, f);
        token = common_sampler_sample(s, ctx, -1);
        say("%d\n", token);
        if (ends && j.is_end(token))
            break;
        common_sampler_accept(s, token, true);
        batch = llama_batch_get_one(&token, 1);
    }
    common_sampler_free(s);
    llama_free(ctx);
    llama_model_free(model);
    if (fclose(f) != 0)
        throw std::runtime_error("cannot write " + out);
    return 0;
}
