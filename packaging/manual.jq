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

def block_columns: list("scatter_strength"; .columns[] | select(.table == "comparison") | item(.name; .help | mdoc));
def block_statistics: list("scatter_strength -compact"; .columns[] | select(.table == "row") | ".Tg \(.name)", item(.name; .help | mdoc));

def block_params:
    ".Bl -tag -width reasoning_budget_start_tag -offset indent -compact",
    (.params[] | ".It Cm \(.name)", if .option then ".Fl -\(.option)" else "no option" end),
    ".El";

if $block == "samplers" then block_samplers
elif $block == "engines" then ".Bl -tag -width transformers", block_engines, ".El"
elif $block == "columns" then block_columns
elif $block == "statistics" then block_statistics
elif $block == "params" then block_params
else error("there is no block '\($block)'") end
