// SPDX-License-Identifier: MIT
// Where a text may stand in a grammar: a set of stacks of elements, as of a pushdown automaton. A stack's top is the element that must
// match next; what lies below goes on when the rule ends. Many stacks share their lower parts, so a set is kept as a tree of sets:
//
//   set   an end mark (the empty stack is in it: the text may end here), and frames: an element, and the set of all that lies below it
//
// Equal sets have equal ids, however they came about, and a set never holds an element twice: ambiguous grammars, whose stacks
// multiply with every character, stay small. Such merged stacks are those of Tomita's parsing ("Efficient Parsing for Natural Language",
// 1985), as trees. Sets only grow in number; stacks_shrink forgets those not in use.
#ifndef SAMPL_GRAMMAR_STACKS_H
#define SAMPL_GRAMMAR_STACKS_H

#include "base/fault.h"
#include "grammar/rules.h"

#define STACKS_NONE 0u          // the set without a stack: the text does not fit
#define STACKS_BAD  INTERN_NONE // in place of a set: see fault

struct frame {
    uint32_t at;    // in grammar.element
    uint32_t below; // a set
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

struct stacks {
    const struct grammar *g;
    struct intern set;  // an end mark (0 or 1), then frames by rising `at`, two words each
    uint32_t *expanded; // [set.n] the same with rules at the top replaced by what they begin with; STACKS_BAD: not known yet
    uint32_t *seen;     // [set.n] the round in which a set was last met
    uint32_t round;     // counts expansions
    struct fault fault; // why a set is STACKS_BAD

    // of the expansion under way
    struct rule_call *call; // [n_call]
    uint32_t *called;       // [g->n_components] the newest call of each + 1; 0: none
    uint64_t *pending;      // a bit for each component with calls
    uint32_t *entered;      // [g->n_rules] the round in which a rule was last expanded
    uint32_t here;          // the component that is being expanded

    // scratch
    uint32_t *todo, *word, *many;
    struct frame *top;
    struct union_job *job;
    size_t n_todo, n_word, n_top, n_call;
    size_t expanded_cap, seen_cap, todo_cap, word_cap, top_cap, many_cap, call_cap, job_cap;
    uint32_t united[1024][3]; // two sets and their union, as last computed; by hash
};

// A zeroed struct may be freed. g outlives it.
bool stacks_init(struct stacks *s, const struct grammar *g);
void stacks_free(struct stacks *s);

// The sets below have only terminals at the top: classes and tokens.

// At the beginning of the text.
uint32_t stacks_start(struct stacks *s);

// To move on, set n_top to 0, pick frames of one set by rising `at`, and ask for the set after their elements have matched, or for the
// set of just these frames and perhaps the end.
bool stacks_pick(struct stacks *s, struct frame f);
uint32_t stacks_after(struct stacks *s);
uint32_t stacks_picked(struct stacks *s, bool end);

// Of n sets together; the array is used up.
uint32_t stacks_unite(struct stacks *s, uint32_t *set, size_t n);

static inline bool stacks_end(const struct stacks *s, uint32_t set)
{
    size_t n;
    return intern_get(&s->set, set, &n)[0];
}

static inline size_t stacks_count(const struct stacks *s, uint32_t set)
{
    size_t n;
    intern_get(&s->set, set, &n);
    return n / 2;
}

// The i-th frame of a set.
static inline struct frame stacks_top(const struct stacks *s, uint32_t set, size_t i)
{
    size_t n;
    const uint32_t *const word = intern_get(&s->set, set, &n) + 1 + 2 * i;
    return (struct frame){word[0], word[1]};
}

// Forgets all sets but this one, which may get another id.
bool stacks_shrink(struct stacks *s, uint32_t *set);

#endif
