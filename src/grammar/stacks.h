// SPDX-License-Identifier: MIT
// The stacks of a pushdown automaton that a text can leave, as one set. A stack's top is the element that must match
// next; the elements below it go on when the rule ends.
//
// The plain algorithm, llama.cpp's, keeps a list of stacks, each an array of elements. In an ambiguous grammar the list
// can double with every character, and each step copies whole stacks. The idea: many stacks share their lower parts, so
// that a set of stacks is a tree of sets:
//
//   set    whether the empty stack is in it (the text may end here), and frames
//   frame  an element, and the set of all stacks that lie below it
//
// Equal sets have one id, however they came about, and a set holds an element once: the stacks below two equal tops
// are united. This neither loses nor adds a stack, because the set below a top is just the set of all stacks below it.
// Such merged stacks are those of Tomita's parsing ("Efficient Parsing for Natural Language", 1985), as trees.
//
// Sets are only added. To forget those not in use, call stacks_copy for the set in use.
#ifndef SAMPL_GRAMMAR_STACKS_H
#define SAMPL_GRAMMAR_STACKS_H

#include "base/fault.h"
#include "grammar/rules.h"

#define STACKS_NONE 0u // the set without a stack: the text does not fit

struct frame {
    uint32_t at;    // in grammar.element
    uint32_t below; // a set
};

// The frames of a set, which belong to its struct stacks.
struct frames {
    const struct frame *frame; // [n] by rising `at`
    size_t n;
};

// A set's results, each computed once.
struct set_note {
    uint32_t expanded; // the set with rules at the top replaced by what they begin with; STACKS_NONE: not computed yet
    uint32_t seen;     // the last expansion that met the set, by number
};

// A rule at the top over a set, while a set is expanded.
struct rule_call {
    uint32_t rule, rest;
    uint32_t next; // another call of the same component, + 1; 0: no more
};

// Two sets whose union is being computed.
struct union_job {
    uint32_t a, b;
    size_t i, j;  // frames of each that are done
    size_t words; // index in stacks.word where the union begins
};

// A fault stays until the caller clears it. With a fault, results have no meaning; sets are STACKS_NONE.
struct stacks {
    const struct grammar *g;
    struct fault fault;
    struct intern set;     // an end mark (0 or 1), then frames by rising `at`, two words each
    struct set_note *note; // [set.n]
    uint32_t round;        // number of the present expansion

    // of the present expansion
    struct rule_call *call; // [n_call]
    uint32_t *called;       // [g->n_components] a call of each component, + 1; 0: none
    uint64_t *pending;      // [n_pending] a bit for each component with calls
    size_t n_pending;       // words of pending that may hold a 1
    uint32_t *entered;      // [g->n_rules] the last round that expanded each rule
    uint32_t here;          // the component that is being expanded, or UINT32_MAX

    // scratch
    uint32_t *word;    // [n_word] a stack: the words of sets being made, and sets whose turn comes
    struct frame *top; // [n_top] picked frames
    struct union_job *job;
    size_t n_word, n_top, n_call, n_job;
    size_t note_cap, word_cap, top_cap, call_cap, job_cap;
    uint32_t united[1024][3]; // two sets and their union, as last computed, by hash
};

// Initializes the sets of a grammar, which must outlive them. False on a fault; stacks_free must
// be called all the same.
bool stacks_init(struct stacks *s, const struct grammar *g);
void stacks_free(struct stacks *s); // also of a zeroed struct

// The sets that these functions return have only terminals at the top: classes and tokens.

// Returns the set at the beginning of the text.
uint32_t stacks_start(struct stacks *s);

// Picks a frame. To make a step, set n_top to 0, pick frames of one set by rising `at`, and call one of the next two
// functions.
void stacks_pick(struct stacks *s, struct frame f);

// Returns the set after the elements of the picked frames have matched. STACKS_NONE if no frame is picked.
uint32_t stacks_after(struct stacks *s);

// Returns the set of just the picked frames, and of the empty stack if `end`.
uint32_t stacks_picked(struct stacks *s, bool end);

// Returns the union of two sets.
uint32_t stacks_unite(struct stacks *s, uint32_t a, uint32_t b);

// Returns the copy of a set of other stacks for the same grammar.
uint32_t stacks_copy(struct stacks *s, const struct stacks *from, uint32_t set);

// Returns whether the empty stack is in a set: the text may end.
static inline bool stacks_end(const struct stacks *s, uint32_t set)
{
    size_t n;
    return intern_get(&s->set, set, &n)[0];
}

// Returns the frames of a set; valid until another set is made.
static inline struct frames stacks_frames(const struct stacks *s, uint32_t set)
{
    size_t n;
    const uint32_t *const word = intern_get(&s->set, set, &n);
    return (struct frames){(const struct frame *)(word + 1), n / 2};
}

#endif
