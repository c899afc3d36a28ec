// SPDX-License-Identifier: MIT
#include "out/fields.h"

#include "base/number.h"
#include "out/token_text.h"

#include <math.h>

bool field_begin(struct dest *d, const char *name)
{
    const bool first = !d->fields++;
    if (has_cells(d)) {
        builder_string(&d->text, first ? d->format->before : d->format->between);
        builder_string(&d->text, d->heading ? name : "");
    } else {
        builder_string(&d->text, first ? "{\"" : ",\"");
        builder_string(&d->text, name);
        builder_string(&d->text, "\":");
    }
    return !d->heading;
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
    field_begin(d, "bytes");
    builder_byte(&d->text, '[');
    for (size_t i = 0; i < bytes.len; i++) {
        builder_string(&d->text, i ? "," : "");
        builder_int(&d->text, bytes.p[i], 0);
    }
    builder_byte(&d->text, ']');
}

void object_begin(struct dest *d, const char *name)
{
    field_begin(d, name);
    d->fields = 0;
}

void object_end(struct dest *d)
{
    builder_byte(&d->text, '}');
    d->fields = 1; // a comma precedes the next field
}

void items_begin(struct dest *d, const char *name)
{
    field_begin(d, name);
    builder_byte(&d->text, '[');
}

void items_end(struct dest *d)
{
    builder_byte(&d->text, ']');
    d->fields = 1;
}

void item_begin(struct dest *d, size_t i)
{
    if (i)
        builder_byte(&d->text, ',');
    d->fields = 0;
}

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
