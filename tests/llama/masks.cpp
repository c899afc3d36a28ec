// SPDX-License-Identifier: MIT
// Grammars and schemas: compares the tokens that they allow along random paths, and the texts that they accept.
#include "modes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <unistd.h>

namespace
{

struct path {
    std::vector<std::vector<bool>> allowed; // one vector for each row
    llama_tokens tokens;
    words before; // the text before each row
};

std::string grammar_of(const llama_model *model, const std::string &vocab, const std::string &file)
{
    const bool schema = file.size() > 5 && file.compare(file.size() - 5, 5, ".json") == 0;
    const judge j(model, command({"--vocab", vocab, schema ? "-jf" : "--grammar-file", file}));
    return common_grammar_value(j.params.sampling.grammar);
}

std::string piece(const llama_model *model, llama_token id)
{
    char text[256];
    const int n = llama_token_to_piece(llama_model_get_vocab(model), id, text, sizeof text, 0, true);
    return std::string(text, (size_t)std::max(n, 0));
}

// Chooses a random path that the grammar allows, mostly of short tokens, as long tokens soon end the text.
path walk(const llama_model *model, llama_sampler *grammar, size_t steps, dice &d)
{
    const llama_vocab *const vocab = llama_model_get_vocab(model);
    const size_t n = (size_t)llama_vocab_n_tokens(vocab);
    path p;
    std::string text;
    while (p.tokens.size() < steps) {
        std::vector<llama_token_data> c(n);
        for (size_t i = 0; i < n; i++)
            c[i] = {(llama_token)i, 0.0f, 0.0f};
        llama_token_data_array a = {c.data(), n, -1, false};
        llama_sampler_apply(grammar, &a);
        std::vector<bool> allowed(n);
        llama_tokens any, small;
        llama_token end = LLAMA_TOKEN_NULL;
        for (size_t i = 0; i < n; i++) {
            allowed[i] = c[i].logit != -INFINITY;
            if (!allowed[i])
                continue;
            if (llama_vocab_is_eog(vocab, c[i].id)) {
                end = c[i].id;
                continue;
            }
            any.push_back(c[i].id);
            if (piece(model, c[i].id).size() <= 2)
                small.push_back(c[i].id);
        }
        p.allowed.push_back(allowed);
        p.before.push_back(text);
        if (any.empty() || (end != LLAMA_TOKEN_NULL && d.below(12) == 0)) {
            p.tokens.push_back(end);
            break;
        }
        p.tokens.push_back(d.pick(!small.empty() && d.below(10) < 7 ? small : any));
        llama_sampler_accept(grammar, p.tokens.back());
        text += piece(model, p.tokens.back());
    }
    return p;
}

// Returns whether the text has only whole characters and no NUL, as llama.cpp requires.
bool is_whole(const std::string &text)
{
    for (size_t i = 0; i < text.size();) {
        const unsigned lead = (unsigned char)text[i++];
        if (lead == 0 || (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)))
            return false;
        for (unsigned more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc2 ? 1 : 0; more; more--, i++)
            if (i >= text.size() || ((unsigned char)text[i] & 0xc0) != 0x80)
                return false;
    }
    return true;
}

// sampl masks a row only if its choice does not fit. Makes a token that neither allows the likeliest of each row, if there is one.
void write_rows(const llama_model *model, const path &p, const std::string &file)
{
    FILE *const f = fopen(file.c_str(), "wb");
    if (!f)
        throw std::runtime_error("cannot write " + file);
    for (const std::vector<bool> &allowed : p.allowed) {
        std::vector<float> row(allowed.size());
        size_t likeliest = row.size();
        for (size_t i = 0; i < row.size(); i++)
            if (!allowed[i] &&
                (likeliest == row.size() || llama_vocab_is_eog(llama_model_get_vocab(model), (llama_token)i) ||
                 !is_whole(piece(model, (llama_token)likeliest))))
                likeliest = i;
        if (likeliest < row.size())
            row[likeliest] = 1000.0f;
        fwrite(row.data(), sizeof(float), row.size(), f);
    }
    if (fclose(f) != 0)
        throw std::runtime_error("cannot write " + file);
}

// Returns whether the text ends inside a character.
bool is_cut(const std::string &text)
{
    size_t tail = 0;
    while (tail < 3 && tail < text.size() && ((unsigned char)text[text.size() - 1 - tail] & 0xc0) == 0x80)
        tail++;
    if (tail == text.size())
        return false;
    const unsigned lead = (unsigned char)text[text.size() - 1 - tail];
    return tail < (lead >= 0xf0 ? 3u : lead >= 0xe0 ? 2u : lead >= 0xc0 ? 1u : 0u);
}

struct tally {
    size_t masks, tokens, end, cut, by_number, refused, failed;
};

// Returns what is wrong with sampl's masked logits, or "".
std::string difference(const llama_model *model, const path &p, const std::string &grammar, const std::string &logits,
                       tally &sum)
{
    const size_t n = p.allowed[0].size();
    if (logits.size() != p.allowed.size() * n * sizeof(float))
        return std::to_string(logits.size()) + " bytes of logits";
    for (size_t r = 0; r < p.allowed.size(); r++) {
        for (size_t i = 0; i < n; i++) {
            float x;
            memcpy(&x, &logits[(r * n + i) * sizeof x], sizeof x);
            sum.tokens += p.allowed[r][i];
            if ((x != -INFINITY) == p.allowed[r][i])
                continue;
            // Known deviations: only sampl allows two kinds of token; only llama.cpp allows an end inside a character. See sampl-samplers(7).
            const std::string text = piece(model, (llama_token)i);
            const bool more = !p.allowed[r][i];
            const bool end =
                !more && llama_vocab_is_eog(llama_model_get_vocab(model), (llama_token)i) && is_cut(p.before[r]);
            const bool cut = more && grammar.find("[^") != grammar.npos && is_cut(p.before[r] + text);
            const bool by_number = more && grammar.find("<[") != grammar.npos && !is_whole(text);
            if (!end && !cut && !by_number)
                return "row " + std::to_string(r) + ", token " + std::to_string(i) + " " + quoted({text}) + ": only " +
                       (p.allowed[r][i] ? "llama.cpp" : "sampl") + " lets it through";
            sum.end += end;
            sum.cut += cut;
            sum.by_number += by_number && !cut;
        }
    }
    return "";
}

} // namespace

int mode_masks(const words &word)
{
    std::string sampl, vocab, scratch = "build/llama/scratch";
    words files;
    size_t steps = 40;
    tally sum = {};
    uint64_t seed = 1;
    for (size_t i = 0; i < word.size(); i++) {
        if (word[i][0] != '-') {
            files.push_back(word[i]);
            continue;
        }
        const std::string &name = word[i], &value = word.at(i + 1);
        i++;
        if (name == "--steps")
            steps = std::stoul(value);
        else if (name == "--seed")
            seed = std::stoull(value);
        else
            (name == "--sampl" ? sampl : name == "--vocab" ? vocab : scratch) = value;
    }
    const llama_model *const model = load_vocab(vocab);
    const llama_vocab *const v = llama_model_get_vocab(model);
    const size_t n = (size_t)llama_vocab_n_tokens(v);
    const std::string rows_file = scratch + "/masks-" + std::to_string(n) + ".f32";
    for (size_t k = 0; k < files.size(); k++) {
        dice d = {seed + k};
        const bool schema = files[k].compare(files[k].size() - 5, 5, ".json") == 0;
        std::string text, error;
        try {
            text = grammar_of(model, vocab, files[k]);
        } catch (const std::exception &) {
        }
        llama_sampler *const grammar = text.empty() ? nullptr : llama_sampler_init_grammar(v, text.c_str(), "root");
        if (!grammar) { // sampl may refuse the grammar, too
            sum.refused++;
            continue;
        }
        const path p = walk(model, grammar, steps, d);
        llama_sampler_free(grammar);
        write_rows(model, p, rows_file);
        const words w = {sampl,
                         "-s",
                         "1",
                         "-f",
                         "f32",
                         "-n",
                         std::to_string(n),
                         "--vocab",
                         vocab,
                         "--samplers",
                         "",
                         schema ? "-jf" : "--grammar-file",
                         files[k],
                         "--accept",
                         joined(p.tokens),
                         "--emit",
                         "logits",
                         "-O",
                         "f32",
                         rows_file};
        const std::string got = run(w, &error);
        const std::string differs = !error.empty() ? error : difference(model, p, text, got, sum);
        if (!differs.empty()) {
            say("masks: %s: %s\n    %s\n", files[k].c_str(), differs.c_str(), quoted(w).c_str());
            sum.failed++;
        }
        sum.masks += p.allowed.size();
    }
    say("masks: %s: %zu grammars and schemas from seed %llu (llama.cpp refuses %zu), %zu masks, %zu tokens let through: %zu differ; "
        "sampl lets more through: %zu that end inside a character, %zu by their number; llama.cpp %zu ends inside one\n",
        vocab.substr(vocab.rfind('/') + 1).c_str(), files.size(), (unsigned long long)seed, sum.refused, sum.masks,
        sum.tokens, sum.failed, sum.cut, sum.by_number, sum.end);
    return sum.failed ? 1 : 0;
}

// ---- texts

// Returns whether the grammar accepts these bytes and then the end.
static bool fits(const llama_vocab *vocab, const std::string &grammar, const std::string &text)
{
    llama_sampler *const s = llama_sampler_init_grammar(vocab, grammar.c_str(), "root");
    bool ok = s != nullptr;
    for (size_t i = 0; ok && i <= text.size(); i++) {
        llama_token_data d = {i < text.size() ? (unsigned char)text[i] : llama_vocab_eos(vocab), 0.0f, 0.0f};
        llama_token_data_array a = {&d, 1, -1, false};
        llama_sampler_apply(s, &a);
        ok = d.logit != -INFINITY;
        if (ok && i < text.size())
            llama_sampler_accept(s, d.id);
    }
    llama_sampler_free(s);
    return ok;
}

static std::string replaced(std::string text, const std::string &what, const std::string &with)
{
    for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += with.size())
        text.replace(at, what.size(), with);
    return text;
}

int mode_texts(const words &word)
{
    const std::string vocab = "/tmp/sampl-llama-" + std::to_string(getpid()) + ".gguf";
    write_vocab(vocab, 257);
    const llama_model *const model = load_vocab(vocab);
    unlink(vocab.c_str());
    std::string schema, grammar;
    size_t schemas = 0, texts = 0, wrong = 0, line_number = 0;
    std::istringstream in(read_file(word.at(0)));
    for (std::string line; std::getline(in, line);) {
        line_number++;
        if (line.empty() || line[0] == '#')
            continue;
        if (line.size() < 2 || line[1] != '\t') {
            schema = line;
            schemas++;
            try {
                const judge j(model, command({"--vocab", vocab, "-j", schema}));
                grammar = common_grammar_value(j.params.sampling.grammar);
            } catch (const std::exception &) {
                grammar.clear();
            }
            continue;
        }
        const std::string text = replaced(replaced(replaced(line.substr(2), "¶", "\n"), "⇥", "\t"), "∅", "");
        texts++;
        if (fits(llama_model_get_vocab(model), grammar, text) == (line[0] == '+'))
            continue;
        say("texts: line %zu: llama.cpp says otherwise: %s: %s\n", line_number, schema.c_str(), line.c_str());
        wrong++;
    }
    say("texts: %zu schemas, %zu texts: %zu differ\n", schemas, texts, wrong);
    return wrong ? 1 : 0;
}
