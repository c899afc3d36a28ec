// SPDX-License-Identifier: MIT
#include "cli/dialect.h"

#include "cli/notation.h"

#include <string.h>

// Has the file all keys of one of the marks?
static bool has_marks(const cJSON *root, const char *marks)
{
    const char *mark;
    size_t len;
    while (name_next(&marks, &mark, &len)) {
        bool all = true;
        for (size_t at = 0, n; all && at < len; at += n + 1) {
            char key[60] = "";
            n = strcspn(mark + at, "+ ");
            all = json_member(root, strncat(key, mark + at, n));
        }
        if (all)
            return true;
    }
    return false;
}

// Finds the dialect of the file.
static bool recognise(struct foreign *f)
{
    if (cJSON_HasObjectItem(f->root, "model_param"))
        return foreign_fail(f, "a .kcpps file says how KoboldCpp is started, not how it samples");
    for (const struct dialect *d = f->dialect = dialects; d->name; f->dialect = ++d)
        if (d->member  ? cJSON_HasObjectItem(f->root, d->member)
            : d->marks ? has_marks(f->root, d->marks)
                       : d->is(f->root))
            return true;
    return foreign_fail(f, "JSON of no program whose presets sampl knows");
}

// Adds the options that the program itself uses where the file has no setting.
static void add_absent(struct foreign *f, const char *absent)
{
    const char *option;
    size_t len;
    while (name_next(&absent, &option, &len)) {
        const struct option_row *const row = option_by_name(f->options, option, strcspn(option, "="));
        if (!name_set_has(&f->given, (size_t)(row - f->options->row)))
            builder_format(foreign_option(f, row->name), "%.*s", (int)len - (int)strlen(row->name),
                           option + strlen(row->name));
    }
}

static void convert_settings(struct foreign *f)
{
    const struct dialect *const d = f->dialect;
    f->settings = d->member     ? cJSON_GetObjectItemCaseSensitive(f->root, d->member)
                  : d->settings ? d->settings(f->root)
                                : f->root;
    f->words.failed = d->settings && !f->settings;
    foreign_option_text(f, "engine", "llama");
    foreign_option_text(f, "neutral", d->defaults ? "false" : "true");
    for (const cJSON *item = f->settings ? f->settings->child : NULL; item && !f->failed; item = item->next)
        if (!cJSON_IsNull(item) && !(d->ignored && name_find(d->ignored, NAME_PATTERN, item->string, 0) >= 0) &&
            !(d->rule && d->rule(f, item)))
            foreign_setting(f, item);
    add_absent(f, d->absent ? d->absent : "");
    if (d->chain)
        foreign_chain(f, d->chain);
    if (d->finish)
        d->finish(f);
    if (f->chain.text)
        foreign_option_text(f, "samplers", f->chain.text);
    if (!f->failed && (f->words.failed || f->chain.failed || f->lacking.failed))
        f->failed = !err_from_fault(f->e, fault_memory());
}

bool dialect_read(struct foreign *f, const char *text, size_t len, const char *section)
{
    const enum notation notation = notation_of(text);
    size_t at;
    if (section && notation != NOTATION_INI)
        foreign_fail(f, "only an ini of llama.cpp's has sections such as '%.*s'", err_clip(section, 40), section);
    else if (notation == NOTATION_JSON)
        f->root = json_parse(text, len, JSON_EXACT, &at, f->e);
    else if (!(f->root = notation_read(notation, text, section)))
        err_from_fault(f->e, fault_memory());
    if (f->root && section && !f->root->child)
        foreign_fail(f, "there is no section [%.*s]", err_clip(section, 40), section);
    else if (f->root && recognise(f))
        convert_settings(f);
    const bool ok = f->root && !f->failed;
    cJSON_Delete(f->root);
    builder_free(&f->chain);
    return ok;
}
