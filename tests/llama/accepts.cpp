// SPDX-License-Identifier: MIT
// Which grammars and schemas llama.cpp takes. Each is asked in a process of its own, because some crash it or never end.
#include "modes.h"

#include "json-schema-to-grammar.h"
#include "json.h"
#include "nlohmann/json.hpp"

#include <cmath>
#include <iostream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// Does the parser take the grammar, and is there a mask of the first token?
static bool accepts(const llama_vocab *vocab, const std::string &grammar)
{
    if (grammar.empty())
        return true;
    llama_sampler *const s = llama_sampler_init_grammar(vocab, grammar.c_str(), "root");
    if (!s)
        return false;
    std::vector<llama_token_data> tokens;
    for (llama_token id = 0; id < llama_vocab_n_tokens(vocab); id++)
        tokens.push_back({id, 0, 0});
    llama_token_data_array all = {tokens.data(), tokens.size(), -1, false};
    llama_sampler_apply(s, &all);
    return true;
}

// Returns 0: taken, 1: refused, 2: it died, or took 20 s or 4 GiB.
static int answer(const llama_vocab *vocab, const nlohmann::ordered_json &job)
{
    const pid_t child = fork();
    if (child == 0) {
        const rlimit memory = {4ul << 30, 4ul << 30};
        setrlimit(RLIMIT_AS, &memory);
        alarm(20);
        try {
            const std::string grammar =
                job.contains("schema") ? json_schema_to_grammar(common_json::parse(job["schema"].get<std::string>()))
                                       : job["grammar"].get<std::string>();
            _exit(accepts(vocab, grammar) ? 0 : 1);
        } catch (const std::bad_alloc &) {
            _exit(2);
        } catch (const std::exception &) {
            _exit(1);
        }
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) < 2 ? WEXITSTATUS(status) : 2;
}

int mode_accepts(const words &word)
{
    const llama_vocab *const vocab = llama_model_get_vocab(load_vocab(word.at(0)));
    for (std::string line; std::getline(std::cin, line);) {
        const int said = answer(vocab, nlohmann::ordered_json::parse(line));
        say("{\"accepted\":%s%s}\n", said ? "false" : "true", said == 2 ? ",\"died\":true" : "");
    }
    return 0;
}
