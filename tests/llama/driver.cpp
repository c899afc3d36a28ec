// SPDX-License-Identifier: MIT
// driver run [--plain] [--dump] SAMPL-OPTIONS FILE
//     Prints the ids that llama.cpp chooses, one a line, for sampl's command line: -f f32|f16, -n, --vocab (a GGUF file), --rows A:B --first A,
//     --prompt-tokens, --accept, --min-keep and llama.cpp's own flags, including grammars and schemas; also --reasoning-budget N with
//     --reasoning-start IDS, --reasoning-end IDS (repeatable) and --reasoning-budget-message TEXT; and members of a row's parameters:
//     --generation-prompt TEXT, --tool-calls (grammar_type), --forces-nothing (no reasoning_budget_message). Under a grammar it stops after the end
//     token, and fails at an accepted token that does not fit.
//     Equal logits rank by id, as in sampl; with --plain they rank as in the release. --dump adds columns: the number of kept candidates, the
//     probability of the chosen one, and the state of the reasoning budget after the row. Exit status 3: llama.cpp lacks an option.
// driver chains --sampl PROGRAM [--count N] [--seed N] [--scratch DIR] [--samples DIR] [--cases DIR] [--vocabs DIR]
//     Compares random chains over random and recorded rows with PROGRAM. Chain i depends only on seed + i.
// driver masks --sampl PROGRAM --vocab FILE [--steps N] [--seed N] [--scratch DIR] FILE.gbnf|FILE.json...
//     Compares the tokens that a grammar or a schema allows, along a random path.
// driver texts FILE.tsv
//     Checks which texts fit a schema. FILE has the form of tests/schemas.tsv.
// driver generate --model FILE --libraries DIR --rows N --out FILE.f32 [--prompt-tokens IDS] LLAMA-FLAGS
//     Generates a text: decodes, samples, prints the ids, and writes the logits of each id.
// driver vocab N FILE.gguf
//     Writes a vocabulary of bytes and random words.
// driver grammar VOCAB SCHEMA
//     Prints the grammar that llama.cpp makes of a schema.
// driver accepts VOCAB
//     Reads {"grammar": TEXT} or {"schema": TEXT}, one a line, and prints {"accepted": BOOL}, with "died" if llama.cpp crashes or does not end.
//
// SAMPL_LLAMA_LOG in the environment enables the library's log. Exit status 1: a difference or an error.
#include "modes.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

static FILE *out; // the original standard output; output of the library goes to standard error

void say(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vfprintf(out, format, ap);
    va_end(ap);
    fflush(out);
}

uint64_t dice::bits()
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

size_t dice::below(size_t n) { return (size_t)(bits() % n); }

double dice::uniform() { return (double)(bits() >> 11) * 0x1p-53; }

double dice::normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform()); }

std::string quoted(const words &word)
{
    std::string all;
    for (const std::string &w : word) {
        if (!all.empty())
            all += ' ';
        if (!w.empty() &&
            w.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@") == w.npos) {
            all += w;
            continue;
        }
        all += '\'';
        for (const char c : w)
            all += c == '\'' ? "'\\''" : std::string(1, c);
        all += '\'';
    }
    return all;
}

std::string run(const words &word, std::string *error)
{
    char name[] = "/tmp/sampl-llama-XXXXXX";
    const int fd = mkstemp(name);
    if (fd < 0)
        throw std::runtime_error("cannot make a file in /tmp");
    close(fd);
    FILE *const p = popen((quoted(word) + " 2>" + name).c_str(), "r");
    if (!p)
        throw std::runtime_error("cannot run " + word[0]);
    std::string text;
    char part[65536];
    for (size_t n; (n = fread(part, 1, sizeof part, p)) > 0;)
        text.append(part, n);
    error->clear();
    if (pclose(p) != 0) { // notes precede the error
        const std::string said = read_file(name);
        *error = "failed: " + said.substr(said.size() - std::min<size_t>(said.size(), 400));
    }
    while (!error->empty() && error->back() == '\n')
        error->pop_back();
    unlink(name);
    return text;
}

std::string joined(const llama_tokens &ids)
{
    std::string all;
    for (const llama_token id : ids)
        all += (all.empty() ? "" : ",") + std::to_string(id);
    return all;
}

static int mode_run(words word)
{
    bool plain = false, dump = false;
    while (!word.empty() && (word[0] == "--plain" || word[0] == "--dump")) {
        (word[0] == "--plain" ? plain : dump) = true;
        word.erase(word.begin());
    }
    const command c(word);
    const llama_model *const model = load_vocab(c.vocab);
    const size_t n = (size_t)llama_vocab_n_tokens(llama_model_get_vocab(model));
    if (c.n_vocab && (size_t)c.n_vocab != n)
        throw std::runtime_error("-n is not the size of the vocabulary, " + std::to_string(n));
    const rows r(c.file, c.format, n);
    judge j(model, c);
    const bool ends = !common_grammar_value(j.params.sampling.grammar).empty();
    std::vector<float> row, p(n);
    for (size_t i = (size_t)c.first_row; i < r.count() && (int)i < c.last_row; i++) {
        r.get(i, row);
        const llama_token id = plain ? j.plain(row) : j.by_id(row);
        size_t kept;
        j.distribution(p, &kept);
        const llama_token taken = i < c.accept.size() ? c.accept[i] : id;
        const bool end = ends && j.is_end(taken);
        if (!j.fits(taken))
            throw std::runtime_error("row " + std::to_string(i) + ": token " + std::to_string(taken) +
                                     " does not fit the grammar");
        if (!end)
            j.accept(taken);
        if (dump)
            say("%d\t%zu\t%.9g\t%s\n", id, kept, (double)p[(size_t)id], j.budget_state());
        else
            say("%d\n", id);
        if (end)
            break;
    }
    return 0;
}

static int mode_grammar(const words &word)
{
    const judge j(load_vocab(word.at(0)), command({"--vocab", word[0], "-j", word.at(1)}));
    say("%s", common_grammar_value(j.params.sampling.grammar).c_str());
    return 0;
}

static int mode_vocab(const words &word)
{
    write_vocab(word.at(1), std::stoi(word[0]));
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const words &word);
    } modes[] = {{"run", [](const words &word) { return mode_run(word); }},
                 {"chains", mode_chains},
                 {"masks", mode_masks},
                 {"texts", mode_texts},
                 {"generate", mode_generate},
                 {"vocab", mode_vocab},
                 {"grammar", mode_grammar},
                 {"accepts", mode_accepts}};
    out = fdopen(dup(1), "w");
    dup2(2, 1);
    llama_start();
    for (const auto &m : modes) {
        if (argc < 2 || strcmp(argv[1], m.name) != 0)
            continue;
        try {
            return m.run(words(argv + 2, argv + argc));
        } catch (const std::exception &e) {
            const bool unknown = strncmp(e.what(), "llama.cpp has no ", 17) == 0;
            fprintf(stderr, "driver %s: %s\n", m.name, e.what());
            return unknown ? 3 : 1;
        }
    }
    fprintf(stderr, "usage: driver run|chains|masks|texts|generate|vocab|grammar|accepts ...; its source says more\n");
    return 2;
}
