// SPDX-License-Identifier: MIT
#include "schema/expr.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void exprs_free(struct exprs *x)
{
    free(x->expr);
    free(x->part);
    free(x->stack);
    ranges_free(&x->range);
    builder_free(&x->text);
    *x = (struct exprs){0};
}

// Grows an array of n elements by one. False with an error: memory, or n has reached EXPR_MOST.
static bool grow(struct exprs *x, void *array, size_t *cap, size_t n, size_t size)
{
    x->full = x->full || n >= EXPR_MOST;
    x->failed = x->failed || (!x->full && !mem_grow(array, cap, n + 1, size));
    return exprs_whole(x);
}

static uint32_t new_expr(struct exprs *x, struct expr e)
{
    static const struct expr nothing = {.depth = 0};
    x->failed = x->failed || x->text.failed;
    x->deep = x->deep || e.depth > EXPR_DEEPEST;
    if (!grow(x, &x->expr, &x->cap, x->n + 1, sizeof *x->expr))
        return EXPR_NOTHING;
    if (!x->n)
        x->expr[x->n++] = nothing;
    x->expr[x->n] = e;
    return (uint32_t)x->n++;
}

// Makes a literal of bytes without NUL.
static uint32_t literal_of_bytes(struct exprs *x, const char *utf8, size_t len)
{
    const size_t first = x->text.len;
    builder_bytes(&x->text, utf8, len);
    x->full = x->full || x->text.len > UINT32_MAX;
    return new_expr(x, (struct expr){.kind = EXPR_LITERAL, .depth = 1, .first = (uint32_t)first, .n = (uint32_t)len});
}

uint32_t expr_literal(struct exprs *x, const char *utf8) { return literal_of_bytes(x, utf8, strlen(utf8)); }

uint32_t expr_text(struct exprs *x, struct builder *text)
{
    x->failed = x->failed || text->failed;
    const uint32_t expr = literal_of_bytes(x, text->text, text->len);
    builder_free(text);
    return expr;
}

uint32_t expr_class(struct exprs *x, const struct range *range, size_t n, bool others)
{
    const size_t first = x->range.n;
    for (size_t i = 0; i < n; i++)
        x->failed = x->failed || !ranges_add(&x->range, range[i].first, range[i].last);
    return n ? new_expr(x, (struct expr){EXPR_CLASS, 1, (uint32_t)first, (uint32_t)n, .min = others}) : EXPR_NOTHING;
}

uint32_t expr_impossible(struct exprs *x) { return new_expr(x, (struct expr){.kind = EXPR_CLASS, .depth = 1}); }

uint32_t expr_character(struct exprs *x, uint32_t first, uint32_t last)
{
    const char byte = (char)first;
    if (first == last && first && first < 0x80)
        return literal_of_bytes(x, &byte, 1);
    return expr_class(x, &(struct range){first, last}, first <= last, false);
}

uint32_t expr_rule(struct exprs *x, uint32_t rule)
{
    return new_expr(x, (struct expr){.kind = EXPR_RULE, .depth = 1, .first = rule});
}

// Appends a part to the newest expression. Returns the depth of the expression with this part.
static uint32_t append_part(struct exprs *x, uint32_t part)
{
    if (grow(x, &x->part, &x->parts_cap, x->n_parts, sizeof *x->part))
        x->part[x->n_parts++] = part;
    return x->expr[part].depth + 1;
}

static bool is_empty(const struct exprs *x, uint32_t item)
{
    return x->expr[item].kind == EXPR_LITERAL && !x->expr[item].n;
}

uint32_t expr_repeat(struct exprs *x, uint32_t item, uint32_t min, uint32_t max)
{
    assert(min <= max);
    if (!max || (!item && !min))
        return expr_literal(x, "");
    if (!item || (min == 1 && max == 1) || is_empty(x, item))
        return item;
    const size_t first = x->n_parts;
    const uint32_t depth = append_part(x, item);
    return new_expr(x, (struct expr){EXPR_REPEAT, depth, (uint32_t)first, 1, min, max});
}

void expr_push(struct exprs *x, uint32_t item)
{
    if (grow(x, &x->stack, &x->stack_cap, x->n_stack, sizeof *x->stack))
        x->stack[x->n_stack++] = item;
}

uint32_t expr_pop(struct exprs *x, enum expr_kind kind, size_t from)
{
    const size_t first = x->n_parts, end = x->n_stack;
    uint32_t depth = 1;
    bool nothing = false;
    assert(kind == EXPR_SEQUENCE || kind == EXPR_CHOICE);
    assert(from <= end || !exprs_whole(x));
    for (size_t i = from; i < end && exprs_whole(x); i++) {
        const uint32_t item = x->stack[i];
        nothing = nothing || !item;
        if (item && (kind == EXPR_CHOICE || !is_empty(x, item))) {
            const uint32_t of = append_part(x, item);
            depth = of > depth ? of : depth;
        }
    }
    x->n_stack = from < end ? from : end;
    const size_t n = x->n_parts - first;
    if (kind == EXPR_SEQUENCE ? nothing : !n)
        return EXPR_NOTHING;
    if (!n)
        return expr_literal(x, "");
    if (n == 1)
        return exprs_whole(x) ? x->part[--x->n_parts] : EXPR_NOTHING;
    return new_expr(x, (struct expr){.kind = kind, .depth = depth, .first = (uint32_t)first, .n = (uint32_t)n});
}

uint32_t expr_list(struct exprs *x, enum expr_kind kind, const uint32_t *item, size_t n)
{
    const size_t from = x->n_stack;
    for (size_t i = 0; i < n; i++)
        expr_push(x, item[i]);
    return expr_pop(x, kind, from);
}
