// SPDX-License-Identifier: MIT
// Random chains: all samplers of llama.cpp in any order, with parameters, histories and biases, over rows of many kinds. sampl must give the
// same ids, and the same probability of each token, to the last bit.
#include "modes.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace
{

// The source of rows: a recorded file, or "" for random rows; and a vocabulary of their width.
struct source {
    std::string vocab, file, format;
    bool spm;
    size_t weight;
};

struct setup {
    std::string sampl, scratch = "build/llama/scratch", samples = "samples", cases = "tests/cases",
                       vocabs = "build/llama/src/models";
    uint64_t seed = 1;
    size_t count = 1000;
    std::vector<source> sources;
};

struct tally {
    size_t chains, rows, plain_rows, f16_rows, f16_ties, candidates, ties, tie_ids, nan, huge, ended, failed, last_bits;
};

struct test {
    uint64_t number;
    const source *from;
    const llama_model *model;
    size_t n_vocab, n_rows;
    words flags; // for both programs
    std::string file, format;
    size_t first;
    bool half; // each logit is exact in f16
};

std::string text_of(double x)
{
    char text[40];
    snprintf(text, sizeof text, "%.9g", x);
    return text;
}

// ---- rows

float round_to(float x, float step) { return std::round(x / step) * step; }

void random_row(dice &d, int kind, std::vector<float> &row)
{
    const size_t n = row.size();
    for (float &x : row)
        x = (float)(-2 + 2.4 * d.normal() + (d.uniform() < 0.01 ? 6 - 3 * std::log(1 - d.uniform()) : 0));
    switch (kind) {
    case 1: // ties everywhere
        for (float &x : row)
            x = round_to(x, 0.25f);
        break;
    case 2: // exact in f16
        for (float &x : row)
            x = round_to(x, std::ldexp(1.0f, std::max(-24, std::ilogb(x) - 10)));
        break;
    case 3:
        std::sort(row.begin(), row.end());
        break;
    case 4:
        std::sort(row.begin(), row.end(), [](float a, float b) { return a > b; });
        break;
    case 5: { // masked tokens
        const double share = d.pick({0.1, 0.5, 0.95});
        for (float &x : row)
            x = d.uniform() < share ? -INFINITY : x;
        row[d.below(n)] = 1.5f;
        break;
    }
    case 6: // few large logits
        for (float &x : row)
            x *= 30.0f;
        break;
    case 7:
        std::fill(row.begin(), row.end(), 0.5f);
        break;
    case 8: // far apart
        for (float &x : row)
            x *= (float)d.pick({1e3, 1e5, 1e7});
        break;
    case 9: // logits that the release's bucket sort cannot sort
        row[d.below(n)] = 5e8f;
        row[d.below(n)] = 4e8f;
        break;
    case 10: // flat
        for (float &x : row)
            x = (float)(0.01 * d.normal());
        break;
    default:
        break;
    }
}

// ---- chains

// The release's infill compares all pairs of candidates: in wide rows a filter before it keeps few.
std::string samplers(dice &d, size_t n_vocab)
{
    static const char *const names[] = {"penalties", "dry", "top_n_sigma", "top_k",  "typ_p",     "top_p",
                                        "min_p",     "xtc", "temperature", "infill", "adaptive_p"};
    std::vector<std::string> order;
    for (const char *name : names)
        if (d.below(100) < (strcmp(name, "infill") == 0 || strcmp(name, "adaptive_p") == 0 ? 12u : 60u))
            order.push_back(name);
    for (size_t i = order.size(); i > 1; i--)
        if (d.below(3))
            std::swap(order[i - 1], order[d.below(i)]);
    if (!order.empty() && d.below(8) == 0 && order.back() != "adaptive_p")
        order.insert(order.begin() + (long)d.below(order.size()), order.back()); // twice
    const auto infill = std::find(order.begin(), order.end(), "infill");
    if (n_vocab > 300 && infill != order.end())
        order.insert(infill, "top_k");
    std::string all;
    for (const std::string &name : order)
        all += (all.empty() ? "" : ";") + name;
    return all;
}

// Returns a parameter's value: mostly one of these, sometimes a random number between the first two.
void add(dice &d, words &to, const char *name, std::initializer_list<double> of, bool whole = false)
{
    double x = d.pick(of);
    if (!whole && d.below(4) == 0)
        x = of.begin()[0] + (of.begin()[1] - of.begin()[0]) * d.uniform();
    to.push_back(name);
    to.push_back(whole ? std::to_string((long)x) : text_of(x));
}

llama_token some_token(dice &d, size_t n) { return (llama_token)d.below(d.below(5) ? std::min<size_t>(n, 20) : n); }

words random_flags(dice &d, const source &from, size_t n)
{
    words f = {"-s", std::to_string(d.below(UINT32_MAX))};
    bool wide = true;
    if (d.below(4)) {
        f.push_back("--samplers");
        f.push_back(samplers(d, n));
        wide = f.back().find("infill") == std::string::npos || n <= 300;
    }
    const auto maybe = [&](unsigned percent) { return d.below(100) < percent; };
    const double width = (double)n;
    if (maybe(60))
        add(d, f, "--temp", {0.1, 2, 0, 1, 0.8, -1, 5});
    if (maybe(20))
        add(d, f, "--dynatemp-range", {0.1, 1, 2, 0});
    if (maybe(15))
        add(d, f, "--dynatemp-exp", {0.5, 2, 1, 0});
    if (wide && maybe(60))
        add(d, f, "--top-k", {0, 1, 2, 5, 40, 129, 300, 1000, -1, width - 1, width, width + 5}, true);
    if (!wide)
        add(d, f, "--top-k", {1, 5, 40, 129}, true);
    if (maybe(50))
        add(d, f, "--top-p", {0.05, 1, 0.5, 0.9, 0.999, 0, 1});
    if (maybe(50))
        add(d, f, "--min-p", {0, 0.3, 0.05, 1, 1e-6, 0});
    if (maybe(30))
        add(d, f, "--typical", {0.05, 1, 0.5, 0.95, 0});
    if (maybe(25))
        add(d, f, "--top-nsigma", {0.2, 4, 1, -1, 0});
    if (maybe(20))
        add(d, f, "--xtc-probability", {0, 1, 0.5, 1});
    if (maybe(15))
        add(d, f, "--xtc-threshold", {0.001, 0.5, 0.1, 0.6, 0});
    if (maybe(10))
        add(d, f, "--min-keep", {0, 1, 2, 5, 50}, true);
    if (maybe(40))
        add(d, f, "--repeat-penalty", {0.5, 2, 1.1, 1});
    if (maybe(20))
        add(d, f, "--frequency-penalty", {-1, 2, 0.1, 0});
    if (maybe(20))
        add(d, f, "--presence-penalty", {-1, 2, 0.3, 0});
    if (maybe(20))
        add(d, f, "--repeat-last-n", {0, 1, 3, 16, 64, 500}, true);
    if (maybe(40))
        add(d, f, "--dry-multiplier", {0, 2, 0.8, 0.8});
    if (maybe(15))
        add(d, f, "--dry-base", {1, 3, 1, 1.75, 1.0000005});
    if (maybe(15))
        add(d, f, "--dry-allowed-length", {0, 1, 2, 4}, true);
    if (maybe(15))
        add(d, f, "--dry-penalty-last-n", {0, 2, 20, 64, 1000}, true);
    if (maybe(
            15)) { // the release finds a breaker of several characters by its tokens, which SPM splits differently; see the manual
        static const words any = {"\n", "none", "e", ",", "\\n", "\""}, several = {"the", " and", ".\n", ", "};
        for (size_t k = 1 + d.below(3); k; k--) {
            f.push_back("--dry-sequence-breaker");
            f.push_back(d.pick(!from.spm && d.below(2) ? several : any));
        }
    }
    if (maybe(12)) {
        add(d, f, "--mirostat", {1, 2}, true);
        add(d, f, "--mirostat-ent", {0.5, 10, 5, 3});
        add(d, f, "--mirostat-lr", {0.01, 1, 0.1, 0});
    }
    if (maybe(20))
        add(d, f, "--adaptive-target", {0, 1, 0.4, -1});
    if (maybe(10))
        add(d, f, "--adaptive-decay", {0, 0.99, 0.9, 0.5});
    for (size_t k = maybe(25) ? 1 + d.below(4) : 0; k; k--) {
        f.push_back("--logit-bias");
        f.push_back(std::to_string(some_token(d, n)) + d.pick<std::string>({"-inf", "+5", "-2.5", "+0.125", "-100"}));
    }
    if (maybe(5))
        f.push_back("--ignore-eos");
    if (maybe(50)) { // a history that repeats itself
        llama_tokens prompt;
        for (size_t k = 1 + d.below(90); k; k--)
            prompt.push_back(prompt.size() > 6 && d.below(3) ? prompt[prompt.size() - 2 - d.below(5)]
                                                             : some_token(d, n));
        f.push_back("--prompt-tokens");
        f.push_back(joined(prompt));
    }
    return f;
}

// ---- comparing

bool same_bits(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }

// Is b, sampl's, the number below a, and a candidate whose logit is 63.0995 below the largest? There glibc's expf rounds the other way where
// the machine has FMA; see the manual.
bool last_bit(float a, float b, float largest)
{
    return b == std::nextafter(a, 0.0f) && std::abs(std::log((double)a / (double)largest) + 0x1.f8cbb2p+5) < 1e-5;
}

words command_line(const setup &s, const test &t)
{
    words w = {s.sampl, "-f", t.format, "-n", std::to_string(t.n_vocab), "--vocab", t.from->vocab};
    w.push_back("--first");
    w.push_back(std::to_string(t.first));
    w.push_back("--rows");
    w.push_back(std::to_string(t.first) + ":" + std::to_string(t.first + t.n_rows));
    w.insert(w.end(), t.flags.begin(), t.flags.end());
    return w;
}

bool report(const setup &s, const test &t, const std::string &what)
{
    say("chain %llu: %s\n    %s %s\n", (unsigned long long)t.number, what.c_str(), quoted(command_line(s, t)).c_str(),
        t.file.c_str());
    return false;
}

// Returns sampl's ids and the probabilities of all rows. Returns no ids if the chain made a logit infinite or masked all.
bool ask_sampl(const setup &s, const test &t, llama_tokens &ids, std::vector<float> &p, tally &sum)
{
    words w = command_line(s, t), dump = w;
    std::string error;
    w.push_back(t.file);
    const std::string list = run(w, &error);
    if (error.find("out of range") != error.npos ||
        error.find("the chain left no token") != error.npos) { // errors of sampl only
        sum.ended++;
        return true;
    }
    if (!error.empty())
        return report(s, t, error);
    size_t at = 0;
    for (size_t end; (end = list.find('\n', at)) != list.npos; at = end + 1)
        ids.push_back(std::stoi(list.substr(at, end - at)));
    for (const char *const more : {"--emit", "probs", "-O", "f32"})
        dump.push_back(more);
    dump.push_back(t.file);
    const std::string all = run(dump, &error);
    if (!error.empty())
        return report(s, t, error);
    if (ids.size() != t.n_rows || all.size() != t.n_rows * t.n_vocab * sizeof(float))
        return report(s, t,
                      "sampl gives " + std::to_string(ids.size()) + " ids and " + std::to_string(all.size()) +
                          " bytes of probabilities");
    p.resize(t.n_rows * t.n_vocab);
    memcpy(p.data(), all.data(), all.size());
    return true;
}

std::string difference(const char *what, size_t row, const std::string &llama, const std::string &sampl)
{
    return "row " + std::to_string(row) + ": " + what + ": llama.cpp " + llama + ", sampl " + sampl;
}

// Compares by_id with the unchanged release. They may differ for a known reason.
bool compare_plain(const setup &s, const test &t, size_t i, judge &j, const std::vector<float> &row, llama_token id,
                   const std::vector<float> &p, size_t kept, tally &sum, bool *follows)
{
    std::vector<float> plain(p.size());
    size_t plain_kept;
    const llama_token plain_id = j.plain(row);
    j.distribution(plain, &plain_kept);
    sum.plain_rows++;
    sum.f16_rows += t.half;
    if (id == plain_id && plain_kept == kept && memcmp(p.data(), plain.data(), p.size() * sizeof p[0]) == 0)
        return true;
    *follows = j.follow();
    if (!j.odd.nan && !j.odd.huge && !j.odd.tie)
        return report(s, t,
                      difference("the release is not its own samplers, one by one", t.first + i,
                                 std::to_string(plain_id), std::to_string(id)));
    const bool tie = !j.odd.nan && !j.odd.huge;
    sum.nan += j.odd.nan;
    sum.huge += !j.odd.nan && j.odd.huge;
    sum.ties += tie;
    sum.tie_ids += tie && id != plain_id;
    sum.f16_ties += tie && t.half && id != plain_id;
    return true;
}

bool compare(const setup &s, const test &t, tally &sum)
{
    words w = command_line(s, t);
    w.erase(w.begin());
    w.push_back(t.file);
    const command c(w);
    judge j(t.model, c);
    const rows r(t.file, t.format, t.n_vocab);
    llama_tokens ids;
    std::vector<float> got, row, p(t.n_vocab);
    if (!ask_sampl(s, t, ids, got, sum))
        return false;
    if (ids.empty())
        return true;
    bool follows = true;
    for (size_t i = 0; i < t.n_rows; i++) {
        r.get(t.first + i, row);
        const llama_token id = j.by_id(row);
        size_t kept;
        j.distribution(p, &kept);
        if (follows && !compare_plain(s, t, i, j, row, id, p, kept, sum, &follows))
            return false;
        const float *const mine = &got[i * t.n_vocab];
        sum.rows++;
        sum.candidates += kept;
        const float largest = *std::max_element(p.begin(), p.end());
        for (size_t k = 0; k < t.n_vocab; k++)
            if (last_bit(p[k], mine[k], largest))
                sum.last_bits++;
            else if (!same_bits(p[k], mine[k]))
                return report(s, t,
                              difference(("probability of " + std::to_string(k)).c_str(), t.first + i,
                                         text_of((double)p[k]), text_of((double)mine[k])));
        if (id != ids[i])
            return report(s, t, difference("id", t.first + i, std::to_string(id), std::to_string(ids[i])));
        j.accept(t.first + i < c.accept.size() ? c.accept[t.first + i] : id);
    }
    return true;
}

void random_test(const setup &s, uint64_t number, test &t)
{
    dice d = {number * UINT64_C(0x2545f4914f6cdd1d)};
    size_t all = 0;
    for (const source &from : s.sources)
        all += from.weight;
    size_t at = d.below(all);
    const source *from = s.sources.data();
    for (; at >= from->weight; from++)
        at -= from->weight;
    t = {number, from, load_vocab(from->vocab), 0, 0, {}, from->file, from->format, 0, from->format == "f16"};
    t.n_vocab = (size_t)llama_vocab_n_tokens(llama_model_get_vocab(t.model));
    t.n_rows = t.n_vocab > 20000 ? 3 : 4 + d.below(40);
    t.flags = random_flags(d, *from, t.n_vocab);
    if (t.file.empty()) {
        t.file = s.scratch + "/rows-" + std::to_string(number) + ".f32";
        t.format = "f32";
        const int kind = (int)d.below(d.below(20) ? 9 : 11);
        t.half = kind == 2;
        std::vector<float> row(t.n_vocab);
        FILE *const f = fopen(t.file.c_str(), "wb");
        if (!f)
            throw std::runtime_error("cannot write " + t.file);
        for (size_t i = 0; i < t.n_rows; i++) {
            random_row(d, kind, row);
            fwrite(row.data(), sizeof(float), row.size(), f);
        }
        if (fclose(f) != 0)
            throw std::runtime_error("cannot write " + t.file);
    } else {
        const size_t count = rows(t.file, t.format, t.n_vocab).count();
        t.n_rows = std::min(t.n_rows, count);
        t.first = d.below(count - t.n_rows + 1);
    }
    if (d.below(5) == 0) { // tokens that another chain chose
        llama_tokens accept;
        for (size_t i = 0; i < t.first + t.n_rows; i++)
            accept.push_back(some_token(d, t.n_vocab));
        t.flags.push_back("--accept");
        t.flags.push_back(joined(accept));
    }
}

void find_sources(setup &s)
{
    const std::string austen = s.samples + "/austen.gguf", spm = s.vocabs + "/ggml-vocab-llama-spm.gguf",
                      gpt = s.vocabs + "/ggml-vocab-gpt-2.gguf";
    std::string made[3];
    static const int widths[] = {259, 700, 2000};
    for (size_t i = 0; i < 3; i++) {
        made[i] = s.scratch + "/words-" + std::to_string(widths[i]) + ".gguf";
        write_vocab(made[i], widths[i]);
    }
    s.sources = {{austen, s.samples + "/austen.f16", "f16", false, 20},
                 {austen, s.cases + "/tinylm-gen.f32", "f32", false, 10},
                 {austen, s.cases + "/tinylm-greedy.f16", "f16", false, 5},
                 {austen, s.cases + "/json4096.f32", "f32", false, 5},
                 {made[2], s.cases + "/syn2000.f32", "f32", true, 5},
                 {made[2], s.cases + "/syn2000.f16", "f16", true, 5},
                 {austen, "", "f32", false, 15},
                 {made[0], "", "f32", true, 15},
                 {made[1], "", "f32", true, 15},
                 {made[2], "", "f32", true, 10},
                 {spm, s.cases + "/syn32000.f32", "f32", true, 2},
                 {spm, "", "f32", true, 2},
                 {gpt, "", "f32", false, 1}};
}

} // namespace

int mode_chains(const words &word)
{
    setup s;
    for (size_t i = 0; i + 1 < word.size(); i += 2) {
        const std::string &name = word[i], &value = word[i + 1];
        if (name == "--count")
            s.count = std::stoul(value);
        else if (name == "--seed")
            s.seed = std::stoull(value);
        else
            (name == "--sampl"     ? s.sampl
             : name == "--scratch" ? s.scratch
             : name == "--samples" ? s.samples
             : name == "--cases"   ? s.cases
                                   : s.vocabs) = value;
    }
    find_sources(s);
    tally sum = {};
    for (; sum.chains < s.count && sum.failed < 5; sum.chains++) {
        test t;
        random_test(s, s.seed + sum.chains, t);
        const bool same = compare(s, t, sum);
        sum.failed += !same;
        if (same && t.from->file.empty())
            unlink(t.file.c_str());
    }
    say("chains: %zu from seed %llu, %zu rows, %zu candidates: %zu differ. Beside the release as it is, %zu rows: ties make %zu of them another "
        "distribution and %zu another token (%zu of %zu rows of f16); typical's NaN changes %zu, logits above 3e8 %zu. "
        "%zu chains end where a logit becomes infinite or none is left. The C library's FMA changes %zu probabilities\n",
        sum.chains, (unsigned long long)s.seed, sum.rows, sum.candidates, sum.failed, sum.plain_rows, sum.ties,
        sum.tie_ids, sum.f16_ties, sum.f16_rows, sum.nan, sum.huge, sum.ended, sum.last_bits);
    return sum.failed ? 1 : 0;
}
