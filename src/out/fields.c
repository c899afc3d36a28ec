// SPDX-License-Identifier: MIT
#include "out/fields.h"

#include "base/number.h"
#include "out/token_text.h"

#include <assert.h>
#include <math.h>

bool field_begin(struct dest *d, const char *name)
{
    const bool first = !d->fields++, inside = d->inside;
    const char before[] = {first ? '{' : ',', '"'};
    if (has_cells(d)) {
        assert(name); // only JSON has lists
        builder_string(&d->text, first ? d->format->before : d->format->between);
        builder_string(&d->text, d->heading ? name : "");
        return !d->heading;
    }
    d->inside = false;
    builder_bytes(&d->text, before + inside, (name ? 2u : 1u) - inside);
    if (name) {
        builder_string(&d->text, name);
        builder_string(&d->text, "\":");
    }
    return true;
}

void field_int(struct dest *d, const char *name, int64_t x)
{
    if (field_begin(d, name))
        builder_int(&d->text, x, 0);
}

void field_float(struct dest *d, const char *name, float x)
{
    if (!field_begin(d, name))
        return;
    if (x > -INFINITY || has_cells(d))
        builder_float(&d->text, x);
    else
        builder_string(&d->text, "null");
}

void field_double(struct dest *d, const char *name, double x)
{
    char text[NUMBER_TEXT];
    if (field_begin(d, name))
        builder_string(&d->text, isfinite(x) || has_cells(d) ? number_text_wide(x, text) : "null");
}

void field_bool(struct dest *d, const char *name, bool x)
{
    if (field_begin(d, name))
        builder_string(&d->text, x ? "true" : "false");
}

void write_json_string(struct dest *d, struct piece string)
{
    if (d->format->kind == FORMAT_PAGE)
        builder_json_page(&d->text, string.p, string.len);
    else
        builder_json(&d->text, string.p, string.len);
}

static void piece_field(struct dest *d, const char *name, struct piece text)
{
    if (!field_begin(d, name))
        return;
    if (has_cells(d))
        text_escaped(&d->text, text, d->format->escaped);
    else
        write_json_string(d, text);
}

void field_text(struct dest *d, const char *name, const char *text, bool column)
{
    if (has_cells(d) ? column : text != NULL)
        piece_field(d, name, text_piece(text ? text : ""));
}

void field_text_or_null(struct dest *d, const char *name, const char *text)
{
    field_text(d, name, text, true);
    if (!text)
        field_double(d, name, NAN);
}

void field_named(struct dest *d, const char *name, const struct named *x)
{
    char text[NUMBER_TEXT];
    if (field_begin(d, name))
        builder_string(&d->text, x->name && isfinite(x->value) ? named_text(x, text) : "null");
}

void field_token(struct dest *d, const char *name, uint32_t id)
{
    if (d->vocab)
        piece_field(d, name, vocab_text(d->vocab, id));
}

void fields_of_token(struct dest *d, uint32_t id)
{
    field_int(d, "id", id);
    if (!d->vocab)
        return;
    const struct piece bytes = vocab_text(d->vocab, id);
    piece_field(d, "token", bytes);
    items_begin(d, "bytes");
    for (size_t i = 0; i < bytes.len; i++)
        field_int(d, NULL, bytes.p[i]);
    items_end(d);
}

static void brackets_begin(struct dest *d, const char *name, char bracket)
{
    field_begin(d, name);
    builder_byte(&d->text, bracket);
    d->inside = true;
    d->fields = 0;
}

static void brackets_end(struct dest *d, char bracket)
{
    builder_byte(&d->text, bracket);
    d->inside = false;
    d->fields = 1; // a comma precedes the next field
}

void object_begin(struct dest *d, const char *name) { brackets_begin(d, name, '{'); }

void object_end(struct dest *d) { brackets_end(d, '}'); }

void items_begin(struct dest *d, const char *name) { brackets_begin(d, name, '['); }

void items_end(struct dest *d) { brackets_end(d, ']'); }

void fields_end(struct dest *d, const char *tail)
{
    const struct output_format *const f = d->format;
    const size_t columns = d->heading && *f->below ? d->fields : 0;
    builder_string(&d->text, has_cells(d) ? f->behind : "}");
    builder_string(&d->text, has_cells(d) ? "" : tail);
    for (size_t i = 0; i < columns; i++) {
        builder_string(&d->text, i ? f->between : f->before);
        builder_string(&d->text, f->below);
    }
    builder_string(&d->text, columns ? f->behind : "");
    d->fields = 0;
}
