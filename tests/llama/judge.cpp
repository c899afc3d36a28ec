// SPDX-License-Identifier: MIT
#include "judge.h"

#include "arg.h"
#include "gguf.h"
#include "log.h"
#include "reasoning-budget.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <sstream>

// ---- the logits of the context for common_sampler_sample

// While a row is set, llama.cpp's calls for logits get this row; otherwise they get the logits of the context.
static const float *fake_row;
static const llama_model *fake_model;

template <typename F> static F *original(const char *name) { return reinterpret_cast<F *>(dlsym(RTLD_NEXT, name)); }

#define FORWARD(FUNCTION, FAKE, ...)                                     \
    static const auto forward = original<decltype(FUNCTION)>(#FUNCTION); \
    return fake_row ? (FAKE) : forward(__VA_ARGS__)

extern "C" {
float *llama_get_logits_ith(llama_context *ctx, int32_t i)
{
    FORWARD(llama_get_logits_ith, const_cast<float *>(fake_row), ctx, i);
}
const llama_model *llama_get_model(const llama_context *ctx) { FORWARD(llama_get_model, fake_model, ctx); }
void llama_synchronize(llama_context *ctx)
{
    static const auto forward = original<decltype(llama_synchronize)>("llama_synchronize");
    if (!fake_row)
        forward(ctx);
}
llama_token llama_get_sampled_token_ith(llama_context *ctx, int32_t i)
{
    FORWARD(llama_get_sampled_token_ith, LLAMA_TOKEN_NULL, ctx, i);
}
float *llama_get_sampled_probs_ith(llama_context *ctx, int32_t i)
{
    FORWARD(llama_get_sampled_probs_ith, nullptr, ctx, i);
}
float *llama_get_sampled_logits_ith(llama_context *ctx, int32_t i)
{
    FORWARD(llama_get_sampled_logits_ith, nullptr, ctx, i);
}
llama_token *llama_get_sampled_candidates_ith(llama_context *ctx, int32_t i)
{
    FORWARD(llama_get_sampled_candidates_ith, nullptr, ctx, i);
}
}

// ---- files

std::string read_file(const std::string &path)
{
    std::ifstream f(path, std::ios::binary);
    if (!f)
        throw std::runtime_error("cannot read " + path);
    std::ostringstream all;
    all << f.rdbuf();
    return all.str();
}

llama_tokens read_ids(const std::string &text)
{
    std::string list = text.compare(0, 1, "@") == 0 ? read_file(text.substr(1)) : text;
    std::replace(list.begin(), list.end(), ',', ' ');
    std::istringstream in(list);
    llama_tokens ids;
    for (llama_token id; in >> id;)
        ids.push_back(id);
    return ids;
}

static float widen_half(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    float x = exponent ? std::ldexp(1024.0f + (float)fraction, exponent - 25) : std::ldexp((float)fraction, -24);
    if (exponent == 31)
        x = fraction ? NAN : INFINITY;
    return h & 0x8000 ? -x : x;
}

rows::rows(const std::string &path, const std::string &format, size_t n_vocab)
    : data(read_file(path)), half(format == "f16"), n(n_vocab)
{
    if (format != "f16" && format != "f32")
        throw std::runtime_error("format " + format + "?");
}

size_t rows::count() const { return data.size() / n / (half ? sizeof(uint16_t) : sizeof(float)); }

void rows::get(size_t i, std::vector<float> &row) const
{
    row.resize(n);
    if (!half) {
        memcpy(row.data(), data.data() + i * n * sizeof(float), n * sizeof(float));
        return;
    }
    for (size_t k = 0; k < n; k++) {
        uint16_t h;
        memcpy(&h, data.data() + (i * n + k) * sizeof h, sizeof h);
        row[k] = widen_half(h);
    }
}

void llama_start()
{
    if (!getenv("SAMPL_LLAMA_LOG")) {
        llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
        common_log_pause(common_log_main());
    }
    llama_backend_init();
}

const llama_model *load_vocab(const std::string &path)
{
    static std::map<std::string, llama_model *> loaded;
    llama_model *&model = loaded[path];
    if (!model) {
        llama_model_params params = llama_model_default_params();
        params.vocab_only = true;
        model = llama_model_load_from_file(path.c_str(), params);
        if (!model)
            throw std::runtime_error("llama.cpp cannot load the vocabulary " + path);
    }
    return model;
}

void write_vocab(const std::string &path, int n)
{
    enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, BYTE = 6 };
    words token;
    std::vector<int32_t> type(256, BYTE);
    for (int i = 0; i < 256; i++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", i);
        token.push_back(text);
    }
    const bool bare = n < 259;
    for (const char *const text : {"</s>", "<s>", "<unk>"}) {
        if (bare && token.size() == 257)
            break;
        token.push_back(text);
        type.push_back(strcmp(text, "<unk>") == 0 ? UNKNOWN : CONTROL);
    }
    static const char *const syllables[] = {"ba",       "ko", "\"",           ":",  "an", "\n", "ti",
                                            "\xc3\xa9", "ra", "\xe2\x96\x81", "su", "*"};
    for (int i = 0; (int)token.size() < n; i++) {
        std::string word;
        for (int k = i; k >= 0; k = k / 12 - 1)
            word += syllables[k % 12];
        token.push_back(word);
        type.push_back(NORMAL);
    }
    std::vector<const char *> text;
    for (const std::string &t : token)
        text.push_back(t.c_str());
    std::vector<float> score(token.size());
    for (size_t i = 0; i < score.size(); i++)
        score[i] = -(float)i;
    gguf_context *const g = gguf_init_empty();
    gguf_set_val_str(g, "general.architecture", "llama");
    gguf_set_val_str(g, "tokenizer.ggml.model", "llama");
    gguf_set_arr_str(g, "tokenizer.ggml.tokens", text.data(), text.size());
    gguf_set_arr_data(g, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, score.data(), score.size());
    gguf_set_arr_data(g, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, type.data(), type.size());
    gguf_set_val_u32(g, "tokenizer.ggml.unknown_token_id", bare ? 256 : 258);
    gguf_set_val_u32(g, "tokenizer.ggml.bos_token_id", bare ? 256 : 257);
    gguf_set_val_u32(g, "tokenizer.ggml.eos_token_id", 256);
    const bool ok = gguf_write_to_file(g, path.c_str(), true);
    gguf_free(g);
    if (!ok)
        throw std::runtime_error("cannot write " + path);
}

// ---- command lines

command::command(const words &word)
{
    static const words flags = {"--ignore-eos", "-e", "--escape", "--no-escape", "--perf", "--no-perf"};
    static const words not_llama = {"--scatter-", "--engine", "--independent",       "--shard",
                                    "--preset",   "--tensor", "--dry-breaker-tokens"};
    for (size_t i = 0; i < word.size(); i++) {
        const std::string &w = word[i];
        const auto value = [&]() -> const std::string & {
            if (i + 1 == word.size())
                throw std::runtime_error(w + " needs a value");
            return word[++i];
        };
        for (const std::string &n : not_llama)
            if (w.compare(0, n.size(), n) == 0)
                throw std::runtime_error("llama.cpp has no " + w);
        if (w == "-f" || w == "--format")
            format = value();
        else if (w == "-n" || w == "--n-vocab")
            n_vocab = std::stoi(value());
        else if (w == "--vocab")
            vocab = value();
        else if (w == "--rows") {
            const std::string &range = value();
            const size_t colon = range.find(':');
            first_row = colon ? std::stoi(range) : 0;
            last_row = colon + 1 < range.size() ? std::stoi(range.substr(colon + 1)) : INT_MAX;
        } else if (w == "--first") // always the first of --rows
            value();
        else if (w == "--prompt-tokens")
            prompt = read_ids(value());
        else if (w == "--accept")
            accept = read_ids(value());
        else if (w == "--min-keep")
            min_keep = std::stoi(value());
        else if (w == "--reasoning-start")
            budget_start = read_ids(value());
        else if (w == "--reasoning-end")
            budget_ends.push_back(read_ids(value()));
        else if (w == "--reasoning-budget-message")
            budget_message = value();
        else if (w == "--generation-prompt")
            generation = value();
        else if (w == "--tool-calls")
            tool_calls = true;
        else if (w == "--forces-nothing")
            forces_nothing = true;
        else if (w == "--dry-sequence-breaker") { // llama.cpp's flag clears the defaults only once in a process
            has_breakers = true;
            if (value() == "none")
                breakers.clear();
            else
                breakers.push_back(word[i]);
        } else if (w.size() > 1 && w[0] == '-') {
            chain.push_back(w);
            if (std::find(flags.begin(), flags.end(), w) == flags.end())
                chain.push_back(value());
        } else
            file = w;
    }
    for (size_t i = 0; i < accept.size() && (int)i < first_row;
         i++) // as in sampl, the history of a selection includes earlier rows
        prompt.push_back(accept[i]);
}

static common_params parse_flags(const command &c)
{
    words all = {"llama-completion", "-m", c.vocab};
    all.insert(all.end(), c.chain.begin(), c.chain.end());
    std::vector<char *> argv;
    for (std::string &w : all)
        argv.push_back(&w[0]);
    common_params params;
    if (!common_params_parse((int)argv.size(), argv.data(), params, LLAMA_EXAMPLE_COMPLETION))
        throw std::runtime_error("llama.cpp refuses the flags");
    if (!getenv("SAMPL_LLAMA_LOG"))
        common_log_pause(common_log_main()); // the parser resumes it
    if (c.has_breakers) {
        params.sampling.dry_sequence_breakers = c.breakers;
        for (std::string &b : params.sampling.dry_sequence_breakers)
            if (params.escape)
                string_process_escapes(b);
    }
    params.sampling.min_keep = c.min_keep;
    return params;
}

// ---- the judge

judge::judge(const llama_model *model, const command &c) : params(parse_flags(c)), vocab(llama_model_get_vocab(model))
{
    common_params_sampling &s = params.sampling;
    if (s.ignore_eos) // as common_init_from_params does
        for (llama_token i = 0; i < llama_vocab_n_tokens(vocab); i++)
            if (llama_vocab_is_eog(vocab, i))
                s.logit_bias.push_back({i, -INFINITY});
    if (s.reasoning_budget_tokens >= 0 && !c.budget_start.empty() && !c.budget_ends.empty()) {
        s.reasoning_budget_start = c.budget_start;
        s.reasoning_budget_end = c.budget_ends;
        s.reasoning_budget_forced = common_tokenize(vocab, c.budget_message, false, true);
        s.reasoning_budget_forced.insert(s.reasoning_budget_forced.end(), c.budget_ends[0].begin(),
                                         c.budget_ends[0].end());
        if (c.forces_nothing)
            s.reasoning_budget_forced.clear();
        budget = common_reasoning_budget_init(vocab, {c.budget_start}, c.budget_ends, s.reasoning_budget_forced,
                                              s.reasoning_budget_tokens);
    }
    s.generation_prompt = c.generation;
    if (c.tool_calls)
        s.grammar.type = COMMON_GRAMMAR_TYPE_TOOL_CALLS;
    real = common_sampler_init(model, s);
    release = common_sampler_init(model, s);
    const std::string &text = common_grammar_value(s.grammar);
    if (!text.empty())
        grammar = llama_sampler_init_grammar(vocab, text.c_str(), "root");
    prefill(c.generation);
    fake_model = model;
    for (const llama_token token : c.prompt) {
        common_sampler_accept(real, token, false);
        common_sampler_accept(release, token, false);
    }
}

judge::~judge()
{
    common_sampler_free(real);
    common_sampler_free(release);
    llama_sampler_free(grammar);
    llama_sampler_free(budget);
}

// Moves the judge's own samplers past the generation prompt, as common_sampler_init moves those of the release.
void judge::prefill(const std::string &prompt)
{
    for (const llama_token token : common_tokenize(vocab, prompt, false, true)) {
        if (common_grammar_needs_prefill(params.sampling.grammar))
            llama_sampler_accept(grammar, token);
        llama_sampler_accept(budget, token);
    }
}

bool judge::is_end(llama_token token) const { return llama_vocab_is_eog(vocab, token); }

std::string judge::print() const { return common_sampler_print(real); }

const char *judge::budget_state() const
{
    static const char *const names[] = {"idle", "counting", "forcing", "waiting", "done"};
    return budget ? names[common_reasoning_budget_get_state(budget)] : "";
}

bool judge::fits(llama_token token) const
{
    llama_token_data one = {token, 1.0f, 0.0f};
    llama_token_data_array alone = {&one, 1, -1, false};
    llama_sampler_apply(grammar, &alone);
    return one.logit != -INFINITY;
}

void judge::accept(llama_token token)
{
    common_sampler_accept(real, token, true);
    common_sampler_accept(release, token, true);
    llama_sampler_accept(budget, token);
    llama_sampler_accept(grammar, token);
}

llama_token judge::choose(const float *row)
{
    fake_row = row;
    const llama_token id = common_sampler_sample(release, nullptr, 0);
    fake_row = nullptr;
    return id;
}

llama_token judge::plain(const std::vector<float> &row)
{
    const llama_token id = choose(row.data());
    const llama_token_data_array *const a = common_sampler_get_candidates(release, false);
    last.assign(a->data, a->data + a->size);
    return id;
}

bool judge::follow()
{
    llama_sampler *const chain = common_sampler_get(real);
    if (strcmp(llama_sampler_name(llama_sampler_chain_get(chain, llama_sampler_chain_n(chain) - 1)), "adaptive-p") == 0)
        return false;
    common_sampler_free(release);
    release = common_sampler_clone(real);
    return true;
}

void judge::begin(const std::vector<float> &row)
{
    cur.resize(row.size());
    for (size_t i = 0; i < row.size(); i++)
        cur[i] = {(llama_token)i, row[i], 0.0f};
    list = {cur.data(), cur.size(), -1, false};
    llama_sampler_apply(budget, &list);
}

llama_token judge::by_id(const std::vector<float> &row)
{
    odd = {};
    begin(row);
    apply_chain();
    llama_token id = list.data[list.selected].id;
    if (!fits(id)) {
        begin(row);
        llama_sampler_apply(grammar, &list);
        apply_chain();
        id = list.data[list.selected].id;
    }
    last.assign(list.data, list.data + list.size);
    return id;
}

void judge::distribution(std::vector<float> &p, size_t *kept) const
{
    std::fill(p.begin(), p.end(), 0.0f);
    *kept = 0;
    for (const llama_token_data &d : last) {
        if (d.logit == -INFINITY)
            continue;
        p[(size_t)d.id] = d.p;
        ++*kept;
    }
}

void judge::apply_chain()
{
    llama_sampler *const chain = common_sampler_get(real);
    for (int i = 0; i < llama_sampler_chain_n(chain); i++)
        apply_stage(llama_sampler_chain_get(chain, i));
}

// Sorts the list, equal logits by id.
void judge::sort()
{
    if (list.sorted)
        return;
    std::sort(list.data, list.data + list.size, [](const llama_token_data &a, const llama_token_data &b) {
        return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
    });
    list.sorted = true;
    for (size_t i = 1; i < list.size; i++)
        odd.tie |= list.data[i].logit == list.data[i - 1].logit;
    odd.huge |= list.size > 128 && list.data[0].logit > 3e8f;
}

void judge::apply_stage(llama_sampler *stage)
{
    const common_params_sampling &s = params.sampling;
    const std::string name = llama_sampler_name(stage);
    bool sorts = name == "top-k" || name == "infill" || name == "mirostat" || name == "mirostat-v2" ||
                 (name == "temp-ext" && s.dynatemp_range > 0 && list.size > 1);
    if (name == "top-p" && s.top_p < 1.0f)
        return top_p();
    if (name == "typical" && s.typ_p < 1.0f)
        return typical();
    if (name == "min-p" && s.min_p > 0.0f && !list.sorted) { // sorts only if the threshold keeps too few
        float most = -INFINITY;
        for (size_t i = 0; i < list.size; i++)
            most = std::max(most, list.data[i].logit);
        size_t left = 0;
        for (size_t i = 0; i < list.size; i++)
            left += list.data[i].logit >= most + logf(s.min_p);
        sorts = left < std::max<size_t>((size_t)s.min_keep, 1);
    }
    if (name == "xtc" && !list.sorted) { // sorts only if its random number is low enough
        llama_sampler *const probe = llama_sampler_clone(stage);
        std::vector<llama_token_data> copy(list.data, list.data + list.size);
        llama_token_data_array a = {copy.data(), copy.size(), -1, false};
        llama_sampler_apply(probe, &a);
        llama_sampler_free(probe);
        sorts = a.sorted;
    }
    if (sorts)
        sort();
    llama_sampler_apply(stage, &list);
}

static void softmax(llama_token_data_array &list)
{
    float most = list.data[0].logit, sum = 0.0f;
    for (size_t i = 1; i < list.size && !list.sorted; i++)
        most = std::max(most, list.data[i].logit);
    for (size_t i = 0; i < list.size; i++)
        sum += list.data[i].p = expf(list.data[i].logit - most);
    for (size_t i = 0; i < list.size; i++)
        list.data[i].p /= sum;
}

void judge::top_p()
{
    softmax(list); // in the order of the candidates
    sort();
    float sum = 0.0f;
    for (size_t i = 0; i < list.size; i++) {
        sum += list.data[i].p;
        if (sum >= params.sampling.top_p && i + 1 >= (size_t)params.sampling.min_keep)
            list.size = i + 1;
    }
}

void judge::typical()
{
    const size_t min_keep = (size_t)params.sampling.min_keep;
    sort();
    softmax(list);
    float entropy = 0.0f, sum = 0.0f;
    for (size_t i = 0; i < list.size; i++) {
        const float p = list.data[i].p;
        odd.nan |= p == 0.0f;
        entropy += p > 0.0f ? -p * logf(p) : 0.0f;
    }
    std::vector<std::pair<float, size_t>> score(list.size); // pairs with equal scores are ordered by rank
    for (size_t i = 0; i < list.size; i++)
        score[i] = {fabsf(-logf(list.data[i].p) - entropy), i};
    std::sort(score.begin(), score.end());
    std::vector<llama_token_data> keep;
    for (size_t i = 0; i < list.size; i++) {
        odd.tie |= i && score[i].first == score[i - 1].first;
        keep.push_back(list.data[score[i].second]);
        sum += keep.back().p;
        if (sum > params.sampling.typ_p && (min_keep == 0 || i >= min_keep - 1))
            break;
    }
    std::copy(keep.begin(), keep.end(), list.data);
    list.size = keep.size();
    list.sorted = false;
}
