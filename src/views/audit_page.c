// SPDX-License-Identifier: MIT
// --audit with -O html: the claimed text, in which each token is tinted by its margin. A page without a script.
#include "base/version.h"
#include "out/token_text.h"
#include "views/audit_report.h"
#include "views/page_parts.h"

#include <inttypes.h>
#include <math.h>

extern const unsigned char page_css[];
extern const size_t page_css_len;

// The tint of a token: 0 where it matches, 5 not kept; between them by its margin, as a share of the clip.
static int tint_of(const struct audited *x, double clip)
{
    static const double above[] = {0.02, 0.1, 0.5};
    int tint = 1;
    if (x->match)
        return 0;
    if (x->place == PLACE_OUTSIDE)
        return 5;
    for (size_t i = 0; i < sizeof above / sizeof *above; i++)
        tint += x->margin > above[i] * clip;
    return tint;
}

void audit_page_token(struct audit *v, const struct record *r, const struct audited *x)
{
    struct builder *const b = &v->text;
    const struct dest *const d = v->columns.dest;
    if (!x) {
        builder_format(b, "<span class=\"bad\" title=\"row %" PRIu64 "\">[bad row]</span>", r->row);
        return;
    }
    const struct piece text = token_text(d, x->id), chosen = token_text(d, r->chosen);
    builder_format(b, "<span class=\"t%d%s\" title=\"row %" PRIu64 ": ", tint_of(x, v->run[0].clip),
                   text.len ? "" : " id", r->row);
    if (x->match) {
        builder_string(b, "match");
    } else {
        builder_format(b, "the chain gives %" PRIu32, r->chosen);
        if (chosen.len) {
            builder_string(b, " &quot;");
            html_text(b, chosen, false);
            builder_string(b, "&quot;");
        }
        builder_string(b, x->place == PLACE_UNKNOWN   ? ", the list does not decide"
                          : x->place == PLACE_OUTSIDE ? ", not kept"
                                                      : "");
        if (x->place == PLACE_INSIDE)
            builder_format(b, ", margin %.3g", x->margin);
        if (!isnan(x->below))
            builder_format(b, ", %.3g below", x->below);
    }
    builder_string(b, "\">");
    if (text.len)
        html_text(b, text, true);
    else
        builder_format(b, "%" PRIu32, x->id);
    builder_string(b, "</span>");
    if (!text.len)
        builder_byte(b, ' ');
}

void audit_page(const struct audit *v, const struct audit_summary *s)
{
    struct dest *const d = v->columns.dest;
    struct builder *const b = &d->text;
    struct builder summary = {0};
    builder_string(
        b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Audit \xe2\x80\x93 sampl</title>\n<style>\n");
    builder_bytes(b, page_css, page_css_len);
    builder_string(
        b, "</style>\n</head>\n<body>\n<header>\n<h1>How well these tokens fit the chain</h1>\n"
           "<p class=\"first\">Each token is tinted by its margin: how far the logits must move before the "
           "chain chooses it. A token that matches has no tint; the chain keeps none of the darkest.</p>\n<pre>");
    const struct builder page = *b;
    *b = summary;
    audit_summary_text(v, s);
    summary = *b;
    *b = page;
    html_text(b, (struct piece){(const unsigned char *)(summary.text ? summary.text : ""), summary.len}, true);
    b->failed = b->failed || summary.failed;
    builder_free(&summary);
    builder_string(b, "</pre>\n</header>\n<main class=\"plain\">\n<section id=\"reading\" aria-label=\"Text\">\n"
                      "<div class=\"text\" id=\"text\">");
    builder_bytes(b, v->text.text ? v->text.text : "", v->text.len);
    b->failed = b->failed || v->text.failed;
    builder_string(b, "</div>\n");
    if (!d->vocab)
        builder_string(b,
                       "<p class=\"note\">The numbers are token ids: add <code>--vocab</code> to see the texts.</p>\n");
    builder_string(b, "</section>\n</main>\n</body>\n</html>\n");
}
