// SPDX-License-Identifier: MIT
// The table of formats, and the choice among them for a file.
#include "in/input.h"

#include <ctype.h>
#include <string.h>

enum { HEAD = 64 }; // bytes that a probe gets

#define FORMAT(name) &format_##name,
static const struct format *const formats[] = {
#include "in/formats.def"
};
#undef FORMAT
enum { N_FORMATS = sizeof formats / sizeof *formats };

#define FORMAT(name) "," #name
const char format_choices[] = "auto"
#include "in/formats.def"
    ;
#undef FORMAT

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

// The length of UTF-8's mark at the beginning of a text, as editors of Windows write it; 0: there is none.
static size_t mark_length(const unsigned char *head, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf";
    return begins_with(head, len, mark) ? strlen(mark) : 0;
}

static bool is_text(const struct format *f) { return f->probe && !f->magic; }

// Skips UTF-8's mark before a text. Waits for no byte behind one that differs from it.
static bool skip_mark(struct source *s, const struct format *f, struct err *e)
{
    const unsigned char *head;
    size_t len;
    if (!is_text(f))
        return true;
    if (!source_peek(s, 1, &head, &len, e) || (len && *head == 0xef && !source_peek(s, 3, &head, &len, e)))
        return false;
    source_skip(s, mark_length(head, len));
    return true;
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
    const size_t mark = mark_length(head, *len);
    for (size_t i = N_FORMATS; i-- && !*f;)
        if (format_begins(formats[i], head, *len) ||
            (mark && is_text(formats[i]) && format_begins(formats[i], head + mark, *len - mark)))
            *f = formats[i];
    *at = head;
    return true;
}

#define PICKLE "numpy.save(\"rows.npy\", pickle.load(open(\"FILE\", \"rb\"))) writes npy"
#define UTF16  "iconv -f UTF-16 -t UTF-8 FILE | sampl"

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
    {"\x80\x03", "a pickle (80 03)", PICKLE},
    {"\x80\x04", "a pickle (80 04)", PICKLE},
    {"\x80\x05", "a pickle (80 05)", PICKLE},
    {"\x89HDF\r\n", "HDF5 (89 HDF)", "numpy.save(\"rows.npy\", h5py.File(\"FILE\")[\"NAME\"][:]) writes npy"},
    {"ARROW1", "Arrow (ARROW1)", "write its rows as npy, safetensors or JSON arrays"},
    {"SQLite format 3", "a data base of SQLite", "write its rows as npy, safetensors or JSON arrays"},
    {"MATLAB 5.0 MAT-file", "a file of MATLAB",
     "numpy.save(\"rows.npy\", scipy.io.loadmat(\"FILE\")[\"NAME\"]) writes npy"},
    {"\xff\xfe", "UTF-16 (ff fe)", UTF16},
    {"\xfe\xff", "UTF-16 (fe ff)", UTF16},
    {"GGUF", "a GGUF model", "it goes to --vocab; rows come from a run of it, see GETTING LOGITS in sampl-input(5)"},
    {"PAR1", "parquet (PAR1)", "write its rows as npy, safetensors or JSON arrays"},
};

bool input_no_pointer(const unsigned char *head, size_t len, struct err *e)
{
    return !begins_with(head, len, "version https://git-lfs.github.com/spec/") ||
           err_set(e, STATUS_DATA, "this is a Git LFS pointer; run git lfs pull");
}

// The numbers of a line of text. NUMBERS_NONE: it has other characters, too.
enum number_line { NUMBERS_NONE, NUMBERS_ONE, NUMBERS_COMMAS, NUMBERS_BLANKS };

static enum number_line read_number_line(const unsigned char *p, const unsigned char *end)
{
    size_t n = 0;
    bool comma = false, inside = false; // inside a number
    for (; p < end && *p != '\n'; p++) {
        if (!*p || !strchr("0123456789+-.eE, \t\r", *p))
            return NUMBERS_NONE;
        comma = comma || *p == ',';
        const bool digit = !strchr(", \t\r", *p);
        n += digit && !inside;
        inside = digit;
    }
    return comma ? NUMBERS_COMMAS : n > 1 ? NUMBERS_BLANKS : n ? NUMBERS_ONE : NUMBERS_NONE;
}

// Sets an error and returns false if lines of numbers begin here, perhaps behind a line of names.
static bool no_columns(const unsigned char *head, size_t len, struct err *e)
{
    const unsigned char *const end = head + len, *const newline = len ? memchr(head, '\n', len) : NULL;
    const enum number_line first = read_number_line(head, end),
                           second = newline ? read_number_line(newline + 1, end) : NUMBERS_NONE;
    if (first == NUMBERS_COMMAS || second == NUMBERS_COMMAS)
        return err_set(e, STATUS_USAGE,
                       "this looks like CSV: sed 's/.*/[&]/' FILE | sampl makes JSON rows of lines of numbers");
    return !(first == NUMBERS_BLANKS || second == NUMBERS_BLANKS || (first == NUMBERS_ONE && second == first)) ||
           err_set(e, STATUS_USAGE,
                   "this looks like columns of numbers: numpy.save(\"rows.npy\", numpy.loadtxt(\"FILE\")) writes npy");
}

// Returns whether the text begins as Python prints an object: a name, and an opening parenthesis.
static bool is_python_object(const unsigned char *p, const unsigned char *end)
{
    size_t n = 0;
    while (p + n < end && (isalnum(p[n]) || p[n] == '_' || p[n] == '.'))
        n++;
    return n && isalpha(*p) && p + n < end && p[n] == '(';
}

// Returns whether the text begins as YAML does: with a line of dashes, or with a name and a colon at the end of a line.
static bool is_yaml(const unsigned char *p, const unsigned char *end)
{
    size_t n = 0;
    if (end - p > 3 && !memcmp(p, "---", 3) && (p[3] == '\n' || p[3] == '\r' || p[3] == ' '))
        return true;
    while (p + n < end && (isalnum(p[n]) || p[n] == '_' || p[n] == '-'))
        n++;
    return n && isalpha(*p) && p + n + 1 < end && p[n] == ':' && (p[n + 1] == '\n' || p[n + 1] == '\r');
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
    if (len > 3 && strchr("[{", head[0]) && !head[1] && !head[3])
        return err_set(e, STATUS_USAGE, "this is %s: %s", "UTF-16", "iconv -f UTF-16LE -t UTF-8 FILE | sampl");
    if (is_python_object(head, head + len))
        return err_set(e, STATUS_USAGE,
                       "this is how Python prints an object: numpy.save(\"rows.npy\", x), or json.dumps of lists and "
                       "dicts, writes what sampl reads");
    if (is_yaml(head, head + len))
        return err_set(e, STATUS_USAGE,
                       "this looks like YAML: python3 -c 'import json,sys,yaml; json.dump(yaml.safe_load(sys.stdin), "
                       "sys.stdout, default=str)' <FILE | sampl");
    return no_columns(head, len, e);
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
    if (!no_other(head, len, raw, e))
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
    if (*f && !skip_mark(s, *f, e))
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
