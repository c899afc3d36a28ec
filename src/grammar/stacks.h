// SPDX-License-Identifier: MIT
// Where a text may stand in a grammar: a set of stacks of elements, as of a pushdown automaton. A stack's top is the
// element that must match next; what lies below goes on when the rule ends. Many stacks share their lower parts, so a
// set is kept as a tree of sets:
//
//   set   an end mark (the empty stack is in it: the text may end here), and frames
//   frame an element, and the set of all stacks that lie below it
//
// Equal sets have equal ids, however they came about, and a set never holds an element twice: ambiguous grammars,
// whose stacks multiply with every character, stay small. Such merged stacks are those of Tomita's parsing
// ("Efficient Parsing for Natural Language", 1985), as trees. Sets only grow in number; to forget those not in use,
// stacks_copy the one that is.
#ifndef SAMPL_GRAMMAR_STACKS_H
#define SAMPL_GRAMMAR_STACKS_H

#include "base/fault.h"
#include "grammar/rules.h"

#define STACKS_NONE 0u // the set without a stack: the text does not fit

struct frame {
    uint32_t at;    // in grammar.element
    uint32_t below; // a set
};

// Facts about a set, found out once.
struct set_note {
    uint32_t expanded; // the same with rules at the top replaced by what they begin with; STACKS_NONE: not known yet
    uint32_t seen;     // the round in which it was last met
};

// A rule that comes to the top over a set, while a set is expanded.
struct rule_call {
    uint32_t rule, rest;
    uint32_t next; // of the same component, + 1; 0: the last one
};

// Two sets whose union is being computed.
struct union_job {
    uint32_t a, b;
    size_t i, j;  // frames of each that are done
    size_t words; // where in stacks.word the union begins
};

// A fault sticks: as long as it is there, what is asked for is not to be used, and STACKS_NONE where it is a set.
struct stacks {
    const struct grammar *g;
    struct fault fault;
    struct intern set;     // an end mark (0 or 1), then frames by rising `at`, two words each
    struct set_note *note; // [set.n]
    uint32_t round;        // counts expansions

    // of the expansion under way
    struct rule_call *call; // [n_call]
    uint32_t *called;       // [g->n_components] the newest call of each + 1; 0: none
    uint64_t *pending;      // [n_pending] a bit for each component with calls
    size_t n_pending;       // words that may hold one
    uint32_t *entered;      // [g->n_rules] the round in which a rule was last expanded
    uint32_t here;          // the component that is being expanded

    // scratch
    uint32_t *word; // a stack: of sets being made, and of sets to be dealt with
    struct frame *top;
    struct union_job *job;
    size_t n_word, n_top, n_call, n_job;
    size_t note_cap, word_cap, top_cap, call_cap, job_cap;
    uint32_t united[1024][3]; // two sets and their union, as last computed; by hash
};

// A zeroed struct may be freed, and so must a failed one. g outlives it.
bool stacks_init(struct stacks *s, const struct grammar *g);
void stacks_free(struct stacks *s);

// The sets below have only terminals at the top: classes and tokens.

// At the beginning of the text.
uint32_t stacks_start(struct stacks *s);

// To move on, set n_top to 0, pick frames of one set by rising `at`, and ask for the set after their elements have
// matched, or for the set of just these frames and perhaps the end.
void stacks_pick(struct stacks *s, struct frame f);
uint32_t stacks_after(struct stacks *s);
uint32_t stacks_picked(struct stacks *s, bool end);

// Returns the union of two sets.
uint32_t stacks_unite(struct stacks *s, uint32_t a, uint32_t b);

// The set of another automaton for the same grammar.
uint32_t stacks_copy(struct stacks *s, const struct stacks *from, uint32_t set);

static inline bool stacks_end(const struct stacks *s, uint32_t set)
{
    size_t n;
    return intern_get(&s->set, set, &n)[0];
}

// The frames of a set; good until another set is made.
static inline const struct frame *stacks_frames(const struct stacks *s, uint32_t set, size_t *n)
{
    const uint32_t *const word = intern_get(&s->set, set, n);
    *n /= 2;
    return (const struct frame *)(word + 1);
}

#endif
