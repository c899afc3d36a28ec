// SPDX-License-Identifier: MIT
#include "cli/foreign.h"

#include "cli/dialect.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

bool foreign_ignored(const char *patterns, const char *key)
{
    for (const char *at = patterns; *at; at += strspn(at, " ")) {
        char pattern[60];
        const size_t n = strcspn(at, " ");
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, at);
        if (!fnmatch(pattern, key, 0))
            return true;
        at += n;
    }
    return false;
}

// Says what the program itself uses where the file has no setting.
static void say_absent(struct foreign *f)
{
    for (const char *at = f->dialect->absent ? f->dialect->absent : ""; *at; at += strspn(at, " ")) {
        char flag[80];
        const size_t n = strcspn(at, " "), name = strcspn(at, "=");
        snprintf(flag, sizeof flag, ";%.*s;", (int)name, at);
        if (!f->said.text || !strstr(f->said.text, flag)) {
            builder_format(&f->words, "--%.*s", (int)n, at);
            builder_byte(&f->words, '\0');
        }
        at += n;
    }
}

static void convert(struct foreign *f)
{
    const struct dialect *const d = f->dialect;
    f->settings = d->member     ? cJSON_GetObjectItemCaseSensitive(f->root, d->member)
                  : d->settings ? d->settings(f->root)
                                : f->root;
    f->words.failed = d->settings && !f->settings;
    foreign_say(f, "engine", "llama");
    foreign_say(f, "neutral", d->defaults ? "false" : "true");
    for (const cJSON *item = f->settings ? f->settings->child : NULL; item && !f->failed; item = item->next)
        if (!cJSON_IsNull(item) && !(d->ignored && foreign_ignored(d->ignored, item->string)) &&
            !(d->rule && d->rule(f, item)))
            foreign_take(f, item);
    say_absent(f);
    if (d->finish)
        d->finish(f);
    if (!f->failed && (f->words.failed || f->lacking.failed || f->said.failed || f->active.failed))
        f->failed = !err_from_fault(f->e, fault_memory());
}

static bool tell(struct foreign *f)
{
    if (cJSON_HasObjectItem(f->root, "model_param")) {
        foreign_fail(f, "a .kcpps file says how KoboldCpp is started, not how it samples");
        return false;
    }
    for (f->dialect = dialects; f->dialect->name; f->dialect++)
        if (f->dialect->member ? cJSON_HasObjectItem(f->root, f->dialect->member) : f->dialect->is(f->root))
            return true;
    foreign_fail(f, "JSON of no program whose presets sampl knows");
    return false;
}

bool foreign_read(const struct options *o, const struct foreign_text *text, struct builder *words,
                  struct builder *lacking, struct err *e)
{
    const enum notation notation = notation_of(text->text);
    struct foreign f = {.options = o, .vocab = text->vocab, .e = e};
    size_t at;
    if (text->section && notation != NOTATION_INI)
        foreign_fail(&f, "only an ini of llama.cpp's has sections such as '%.*s'", err_clip(text->section, 40),
                     text->section);
    else if (notation == NOTATION_JSON)
        f.root = json_parse(text->text, text->len, JSON_EXACT, &at, e);
    else if (!(f.root = notation_read(notation, text->text, text->section)))
        err_from_fault(e, fault_memory());
    if (f.root && text->section && !f.root->child)
        foreign_fail(&f, "there is no section [%.*s]", err_clip(text->section, 40), text->section);
    else if (f.root && tell(&f))
        convert(&f);
    const bool ok = f.root && !f.failed;
    cJSON_Delete(f.root);
    builder_free(&f.said);
    builder_free(&f.active);
    *words = f.words;
    *lacking = f.lacking;
    return ok;
}
