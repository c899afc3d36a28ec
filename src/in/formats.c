// SPDX-License-Identifier: MIT
// The table of formats, and the choice among them for a file.
#include "in/input.h"

#include <string.h>

enum { HEAD = 64 }; // bytes that a probe gets

// In the order of probing.
static const struct format *const formats[] = {
    &format_npy, &format_safetensors, &format_kld, &format_json, &format_pairs, &format_f32, &format_f16, &format_bf16,
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static bool begins_with(const unsigned char *head, size_t len, const char *magic)
{
    return len >= strlen(magic) && !memcmp(head, magic, strlen(magic));
}

bool format_begins(const struct format *f, const unsigned char *head, size_t len)
{
    return f->magic ? begins_with(head, len, f->magic) : f->probe && f->probe(head, len < HEAD ? len : HEAD);
}

// Returns whether these first bytes are JSON whose sender may wait for an answer before it writes more. A program may
// write a line or a row, and wait for the answer before it writes more.
static bool may_be_all(const struct source *s, const unsigned char *head, size_t len)
{
    if (*head == '\n' || !format_json.probe(head, len))
        return false;
    return head[len - 1] == '\n' || ((memchr(head, ']', len) || memchr(head, '}', len)) && source_waits(s));
}

// Finds the format by the first bytes, *len at *at; *f stays NULL if they do not tell. Reads HEAD bytes, or up to the
// end of the input, or fewer if may_be_all.
static bool by_content(struct source *s, const struct format **f, const unsigned char **at, size_t *len, struct err *e)
{
    const unsigned char *head;
    for (size_t want = 1; want <= HEAD; want = *len + 1) {
        if (!source_peek(s, want, &head, len, e))
            return false;
        if (*len < want || (*len < HEAD && may_be_all(s, head, *len)))
            break;
    }
    for (size_t i = 0; i < N_FORMATS && !*f; i++)
        if (format_begins(formats[i], head, *len))
            *f = formats[i];
    *at = head;
    return true;
}

// Files that hold no rows, by their first bytes.
static const struct {
    const char *magic, *name, *remedy;
} others[] = {
    {"\x1f\x8b", "gzip (1f 8b)", "gzip -dc FILE | sampl -f FMT"},
    {"\x28\xb5\x2f\xfd", "zstd (28 b5 2f fd)", "zstd -dc FILE | sampl -f FMT"},
    {"BZh", "bzip2 (BZh)", "bzip2 -dc FILE | sampl -f FMT"},
    {"\3757zXZ", "xz (fd 7zXZ)", "xz -dc FILE | sampl -f FMT"},
    {"PK\3\4", "a zip archive (PK), as .npz and .pt are",
     "unzip -p FILE.npz NAME.npy | sampl, or save what torch loads as safetensors or npy"},
    {"\x80\x02", "a pickle (80 02), as old .pt are", "save what torch loads as safetensors or npy"},
    {"GGUF", "a GGUF model", "it goes to --vocab; rows come from a run of it, see GETTING LOGITS in sampl-input(5)"},
    {"PAR1", "parquet (PAR1)", "write its rows as npy, safetensors or JSON arrays"},
};

bool input_no_pointer(const unsigned char *head, size_t len, struct err *e)
{
    return !begins_with(head, len, "version https://git-lfs.github.com/spec/") ||
           err_set(e, STATUS_DATA, "this is a Git LFS pointer; run git lfs pull");
}

// Returns whether a line of numbers with commas between them begins here.
static bool is_number_line(const unsigned char *p, const unsigned char *end)
{
    const char *const numbers = "0123456789+-.eE, \t\r";
    bool comma = false;
    for (; p < end && *p != '\n'; p++) {
        if (!*p || !strchr(numbers, *p))
            return false;
        comma = comma || *p == ',';
    }
    return comma;
}

// Sets an error and returns false if the first bytes are those of such a file. named: the file's name or --format says
// that the file holds raw numbers. Such a file may begin with any two or three bytes by chance, so only longer magics
// count.
static bool no_other(const unsigned char *head, size_t len, bool named, struct err *e)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins_with(head, len, others[i].magic) && (!named || strlen(others[i].magic) >= 4))
            return err_set(e, STATUS_USAGE, "this is %s: %s", others[i].name, others[i].remedy);
    if (named)
        return true;
    const unsigned char *const end = head + len, *const newline = len ? memchr(head, '\n', len) : NULL;
    return !(is_number_line(head, end) || (newline && is_number_line(newline + 1, end))) || // behind a line of names
           err_set(e, STATUS_USAGE,
                   "this looks like CSV: sed 's/.*/[&]/' FILE | sampl makes JSON rows of lines of numbers");
}

static bool is_raw(const struct format *f) { return !f->magic && !f->probe; }

// Finds the format of a file whose content does not tell it, by the ending of the file's name.
static bool format_by_name(const struct source *s, const struct format **f, const unsigned char *head, size_t len,
                           struct err *e)
{
    const char *const dot = strrchr(s->name, '.');
    for (size_t i = 0; dot && i < N_FORMATS && !*f; i++)
        for (const char *const *ending = formats[i]->endings; *ending; ending++)
            if (!strcmp(dot, *ending))
                *f = formats[i];
    const bool raw = *f && is_raw(*f);
    if ((!*f || raw) && !no_other(head, len, raw, e))
        return false;
    return *f || err_set(e, STATUS_USAGE, "cannot tell the format from content or name; give it with --format");
}

bool format_choose(const struct input_config *c, struct source *s, const struct format **f, struct err *e)
{
    const unsigned char *head;
    size_t len;
    const bool whole = s->mapped || s->sized;
    if (whole && (!source_peek(s, HEAD, &head, &len, e) || !input_no_pointer(head, len, e)))
        return false;
    for (size_t i = 0; i < N_FORMATS; i++)
        if (!strcmp(c->format, formats[i]->name))
            *f = formats[i];
    if (whole && *f && is_raw(*f) && !no_other(head, len, true, e))
        return false;
    if (!*f && !by_content(s, f, &head, &len, e))
        return false;
    if (!*f && len && (!input_no_pointer(head, len, e) || !format_by_name(s, f, head, len, e)))
        return false;
    if (*f && c->params && !(*f)->matrix)
        return err_set(e, STATUS_USAGE, "--params: the input is %s, whose rows have no lines of another file",
                       (*f)->name);
    return !*f || !c->tensor || *f == &format_safetensors ||
           err_set(e, STATUS_USAGE, "--tensor: the input is %s, only safetensors files hold tensors", (*f)->name);
}

const char *input_other_file(const unsigned char *head, size_t len)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins_with(head, len, others[i].magic) && strlen(others[i].magic) >= 4)
            return others[i].name;
    return NULL;
}
