# SPDX-License-Identifier: MIT
# The generated blocks of the manual, in mdoc. Input: sampl --generate=json; $block names the block.

# A text as mdoc has it in an argument or a line.
def mdoc: gsub("\\\\"; "\\e") | gsub("(?<dot>^[.'])"; "\\&\(.dot)") | gsub("\""; "\\(dq");

def list($width; items): ".Bl -tag -width \($width)", items, ".El";
def item($name; text): ".It Li \($name)", text;

def flags: "\\-\\-\(.)";
def yes: if . then "yes" else "\\-" end;

def samplers:
    .samplers[] | select(.internal | not);

def block_samplers:
    ".Bl -column no_repeat_ngram letter history state draws lists -compact",
    ".It sampler Ta letter Ta history Ta state Ta draws Ta lists",
    (samplers | ".It Cm \(.name) Ta \(.letter // "\\-") Ta \(.history | yes) Ta \(.state | yes) Ta \(.draws | yes) Ta \(.lists | yes)"),
    ".El";

def words: if . == [] then "none" else join(", ") end;
# jq 1.7 prints a number as the input has it or in a form of its own, unless something was computed.
def number: if type == "number" then . + 0 else . end;
def pairs: to_entries | map("\(.key) \(.value | number)") | words;

def block_engines:
    .engines[] | select(.stages != []) |
    ".It Cm \(.name)",
    "source: \(.program), \(.as_of)",
    ".br",
    "stages: \([.stages[] | select(.hot).name] | words)",
    ".br",
    "cold: \([.stages[] | select(.cold).name] | words)",
    ".br",
    "options: \([.options[] | flags] | words)",
    ".br",
    "defaults: \(.options as $has | .defaults | with_entries(select(.key | IN($has[]))) | pairs)",
    ".br",
    "ranges: \(.ranges | pairs)",
    ".br",
    "seed: \(if .wide_seed then "64" else "32" end) bits";

# The engines' defaults of the options that most chains have.
def block_engine_defaults:
    def cell($width): . + " " * ($width - length);
    ["temp", "top-k", "top-p", "min-p"] as $flags |
    (.options | map(select(.default) | {key: .flag, value: .default}) | from_entries) as $llama |
    ".Bd -literal",
    ("engine" | cell(14)) + ($flags | map(cell(7)) | add | sub(" +$"; "")),
    (.engines[] | .options as $has | .defaults as $own |
        (.name | cell(14)) + ([$flags[] as $flag |
            if $has != [] and ($has | index($flag) | not) then "none" else $own[$flag] // $llama[$flag] | number | tostring end | cell(7)] | add) |
        sub(" +$"; "")),
    ".Ed";

# The marks of a program's files, in words.
def marks: [.marks[], (.marks_text | select(.))] | join("; or ");

def block_engine_programs:
    list("transformers -compact"; .programs[] | select(.runs) | ".It Cm \(.runs)", ("\(.name), \(.reads): \(marks)" | mdoc));

# What the keys of a program's files set, as a list of texts. Keys with the name of their option come first.
def option_keys:
    def spelled: gsub("-"; "_");
    def texts: split(" ") | join(", ");
    [.keys[] | select(.fate == "option")] as $rows |
    ($rows | map(select(.keys == (.option | spelled)).keys) | select(. != []) | "\(join(", ")): the options of these names"),
    ($rows | map(select(.keys != (.option | spelled))) | group_by(.option)[] | "\(map(.keys | texts) | join(", ")): --\(.[0].option)"),
    (.keys[] | select(.fate == "prompt") | "\(.keys | texts): the text that a template puts before the answer"),
    (.keys[] | select(.fate == "sampler") | if .keys == "*" then "other sampler parameters, by their names in llama-server"
        else "\(.keys | texts): the sampler parameters of these names in llama-server" end);

# An item of these texts; without texts there is none. Names are not hyphenated; a chain may be broken behind each sampler.
def row($name; texts):
    [texts | values] | if . == [] then empty
    else ".It \($name)", (join("; ") | mdoc | gsub("(?<name>(--)?[A-Za-z]+([_-]|[a-z][A-Z])[A-Za-z_*-]+)"; "\\%\(.name)") | gsub("--"; "\\-\\-") | gsub(";(?=[a-z])"; ";\\:")) end;

def block_program($name):
    def keys($fate): map(select(.fate == $fate).keys | split(" ")[]) | select(. != []) | join(", ");
    ".Bl -tag -width defaults -compact",
    (first(.programs[] | select(.name == $name)) // error("there is no program '\($name)'") |
        row("source"; "\(.as_of), \(.source)"),
        row("marks"; marks),
        row("engine"; .runs),
        row("chain"; .order),
        row("defaults"; if .sampl_defaults then "those of sampl" else .absent | values | gsub(" "; ", ") | gsub("="; " ") end),
        row("keys"; option_keys),
        row("units"; .keys | map(select(.factor != 1)) | group_by(.factor)[] | "\(map(.keys | split(" ")[]) | join(", ")) in units of \(.[0].factor | number)"),
        row("ignored"; .keys | keys("ignored")),
        row("errors"; .keys | map(select(.fate == "refused")) | group_by(.off)[] |
            (map(.keys | split(" ")[]) | join(", ")) + (.[0].off | if . then " unless \(number)" else "" end))),
    ".El";

def block_columns: list("scatter_strength"; .columns[] | select(.table == "comparison") | item(.name; .help | mdoc));
def block_statistics: list("scatter_strength -compact"; .columns[] | select(.table == "row") | ".Tg \(.name)", item(.name; .help | mdoc));

def block_params:
    ".Bl -tag -width reasoning_budget_start_tag -offset indent -compact",
    (.params[] | ".It Cm \(.name)", if .option then ".Fl -\(.option)" else "no option" end),
    ".El";

# A path from `each` on: "choices[].logprobs.content".
def at($row): [($row.each, ($row.within // "." | split(" ")[0])) | select(. and . != ".")] + [.] | map(select(. != ".")) | join(".") | if . == "" then "the value itself" else . end;
def paths($row): split(" ") | map(at($row)) | join(" or ");
# What a row of the table of replies reads, in words.
def reply_row:
    . as $r |
    { records: "objects", texts: "texts", ids: "ids", triples: "[logprob, id, text]", columns: "ids or texts", nested: "lists of texts", steps: "ids or texts" }[.form] as $form |
    [ (if .part == "prompt" then "the prompt" elif .part == "aside" then "beside the output" else "the output" end),
      (.tokens // empty | "\($form) in \(paths($r))\(if $r.token then ", inside \($r.token)" else "" end)"),
      (.lists // empty | "lists in \(paths($r))\(if $r.inner then ", inside \($r.inner)" else "" end)"),
      (.numbers // empty | "numbers in \(paths($r))"),
      (.starts // empty | "cut at \(paths($r))"),
      (.ids // empty | "ids in \(paths({each: $r.each}))") ] | "\(.[0]): \(.[1:] | join("; "))";

# A run of rows of one kind.
def kinds: reduce .[] as $r ([]; if length > 0 and .[-1][0].kind == $r.kind then .[-1] += [$r] else . + [[$r]] end);

def block_replies:
    ".Bl -tag -width 4n -compact",
    (.replies | kinds[] |
        ".It \(.[0].kind | mdoc)",
        "recognised by \([.[].marker] | unique | join(" ") | split(" ") | join(" or ") | mdoc)\([.[].request | select(.)] | unique | join(" or ") | if . == "" then "" else "; ask with \(.)" end | mdoc)",
        (.[0] | select(.each | not) | ".br", "such a reply lists no tokens"),
        (.[] | select(.each) | ".br", (reply_row | mdoc))),
    ".El";

# Cuts a list with commas into lines of at most so many characters.
def folded($most): reduce split(", ")[] as $word ([]; if length > 0 and (.[-1] + ", " + $word | length) < $most then .[-1] += ", " + $word
    else (if length > 0 then .[-1] += "," else . end) + [$word] end);

def block_reply_tokens:
    ".Bd -literal -offset 4n",
    (.reply_tokens | to_entries[] | (.key + "        " | .[:8]) as $name |
        .value | split(" ") | join(", ") | folded(60) | ([$name] + [range(length - 1) | "        "]) as $heads |
        range(length) as $i | "\($heads[$i])\(.[$i])"),
    ".Ed";

def block_reply_wrappers: ".Li " + (.reply_wrappers | join(" , ")) ;

# The values of an option; the first one, which leaves the choice to the program, comes last.
def block_choices($name):
    .options[] | select(.flag == $name).choices | (.[1:-1][] | ".Cm \(.) ,"), ".Cm \(.[-1])", "or", ".Cm \(.[0]) .";

if $block == "samplers" then block_samplers
elif $block == "engines" then ".Bl -tag -width transformers", block_engines, ".El"
elif $block == "engine defaults" then block_engine_defaults
elif $block == "engine programs" then block_engine_programs
elif $block | startswith("program ") then block_program($block | ltrimstr("program "))
elif $block | startswith("choices ") then block_choices($block | ltrimstr("choices "))
elif $block == "columns" then block_columns
elif $block == "statistics" then block_statistics
elif $block == "params" then block_params
elif $block == "replies" then block_replies
elif $block == "reply tokens" then block_reply_tokens
elif $block == "reply wrappers" then block_reply_wrappers
else error("there is no block '\($block)'") end
