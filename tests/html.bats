#!/usr/bin/env bats
# -O html: the page without a browser. `make check-html` tests it in a browser.

load helper

# html ARGUMENT...: prints a page.
html() {
    sampl -s 1 -O html "$@"
}

# command_of FILE: prints the command that a page shows. bare FILE: prints the page without it.
command_of() {
    sed -n 's|^<p class="command"><code>\(.*\)</code></p>$|\1|p' "$1" | sed "s/&quot;/\"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g"
}
bare() {
    sed '/^<p class="command">/d' "$1"
}

# objects FILE [ATTRIBUTE]: prints the JSON objects of a page, one a line, of the scripts with this attribute.
objects() {
    perl -0777 -ne 'while (m{<script type="application/json"'"${2-}"'>(.*?)</script>}sg) { (my $json = $1) =~ tr/\n//d; print "$json\n" }' "$1"
}

# contained FILE: fails if the page refers to another resource, or has a script or style that is not sampl's.
contained() {
    perl -0777 -ne '
        s{http://www\.w3\.org/2000/svg}{};
        /(https?:|\bsrc\s*=|\burl\(|\@import|<link|<img|<iframe|\bon[a-z]+\s*=\s*["\x27])/i and die "$ARGV: $1\n";
        my $scripts = () = /<script>/g; my $styles = () = /<style>/g; my $ends = () = m{</script}gi; my $data = () = /<script type="application\/json"/g;
        $scripts == 1 && $styles == 1 && $ends == $scripts + $data or die "$ARGV: $scripts scripts, $styles styles, $ends ends of $data\n";
        /<!--/ and die "$ARGV: a comment\n"' "$1"
}

@test "-O html: a page refers to no other file, has less than 2 MB for 256 rows, and shows the chosen tokens" {
    html --vocab "$ROOT/samples/austen.gguf" "$AUSTEN" >page
    contained page
    [ "$(wc -c <page)" -lt 2000000 ]
    [ "$(grep -c '^<tr id="r' page)" -eq 256 ]
    grep -q '^<html lang="en">$' page
    grep -qF "content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\"" page
    grep -q '<li>top_k 40</li>' page
    # The page has the text and the table without a script.
    perl -0777 -pe 's{<script.*?</script>}{}sg; ($_) = m{<div class="text" id="text">(.*?)</div>}s; s{<.*?>}{}g; s/&quot;/"/g; s/\xe2\x86\xb5//g' page >text
    sampl --vocab "$ROOT/samples/austen.gguf" -s 1 --emit text "$AUSTEN" >expected
    same text expected
    sampl -n 4096 -s 1 --emit stats "$AUSTEN" | awk 'NR == 11 { printf "%.4f %.4f %d %d %.3f\n", $3, $4, $5, $6, $8 }' >expected
    sed -n 's|^<tr id="r9">.*</td><td>\(.*\)</td><td>\(.*\)</td><td>\(.*\)</td><td>\(.*\)</td><td>\(.*\)</td></tr>|\1 \2 \3 \4 \5|p' page >row
    same row expected
}

# near FILE FILE: fails unless texts are the same, but for numbers, which have six digits in the first one.
near() {
    perl -e 'my @file = map { local (@ARGV, $/) = $_; <> } @ARGV; my $number = qr/-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/;
        my ($x, $y) = map { [/($number)/g] } @file; s/$number/0/g for @file;
        $file[0] eq $file[1] && length $file[0] or die "the texts differ\n";
        abs($x->[$_] - $y->[$_]) <= 6e-6 * abs $y->[$_] or die "$x->[$_] is not $y->[$_]\n" for 0 .. $#$x' "$1" "$2" || { head -c 2000 "$1" "$2"; return 1; }
}

# expanded FILE: prints the rows of a page of one chain with a name for each number. Texts and stages stand in the first row that needs them.
expanded() {
    objects "$1" | jq -c -n 'foreach inputs as $row ({texts: {}}; {texts: (.texts + ($row.texts // {})), stages: ($row.stages // .stages), row: $row};
        . as $all | .row | ([$all.stages[] | select(.enabled)]) as $on | {record: .record, of: .of[0], entropy_raw, draw, accepted, texts: $all.texts, all: $all.stages,
            followed: [.followed[]? | {id: .[0], low: .[1], high: .[2], p: .[3:]}],
            stages: [.by // [] | to_entries[] | .key as $i | .value as $v | $on[$i] + {after: $v[0], mass: $v[1], entropy: $v[2], removed: $v[3],
                likeliest_removed: [$v[4] as $r | range(0; $r | length; 2) | {id: $r[.], prob: $r[. + 1]}], notes: ([$on[$i].notes, $v[5]] | transpose | map({(.[0]): .[1]}) | add // {})}]})'
}

@test "-O html: the data of a page has the records of -O json and the numbers of --emit stats, with six digits" {
    local chain=(--vocab "$ROOT/samples/austen.gguf" -s 1 --rows :20 --prompt-tokens '4,5' --repeat-penalty 1.3 --grammar 'root ::= .*' --dump-probs=5
        --accept "@$ROOT/samples/austen.tokens")
    local plain='def plain: walk(if type == "object" then with_entries(.key |= gsub("_"; "-")) else . end);' # parameters have hyphens
    html "${chain[@]}" "$AUSTEN" >page
    expanded page >all.jsonl
    [ "$(wc -l <all.jsonl)" -eq 20 ]
    jq -cS "$plain"' [.record.row, .record.id, .of[0], .of[2], .of[3], [.stages[] | del(.enabled) | .likeliest_removed |= map(.token = null) | plain]]' all.jsonl >records
    sampl "${chain[@]}" -O json --trace "$AUSTEN" | jq -cS "$plain"' [.row, .id, .id, .n, .entropy, [.stages[] | select(.enabled) |
        {name, params, notes, after, mass, entropy, removed, likeliest_removed: [.likeliest_removed[] | {id, prob, token: null}]} | plain]]' >expected
    near records expected
    sampl "${chain[@]/--dump-probs=5/--on-error=stop}" --emit stats -O json "$AUSTEN" | jq -c '[.prob, .raw_prob, .raw_rank, .n, .entropy_raw, .entropy, .draw, .accepted, .accepted_prob]' >expected
    jq -c '[.of[1], .of[5], .of[6], .of[2], .entropy_raw, .of[3], .draw, .accepted[0], .accepted[3]]' all.jsonl >records
    near records expected
    # Every id of a row has the text of its token. The draw lies in the chosen token's share.
    sampl "${chain[@]}" -O json "$AUSTEN" | jq -c '[.id, .token], (.top_probs[] | [.id, .token])' | sort -u >expected
    jq -c '.texts as $t | [.record.id, (.followed[] | .id)] | .[] | [., $t[tostring]]' all.jsonl | sort -u >records
    [ -z "$(comm -23 expected records)" ]
    [ "$(jq -c '.record as $r | .draw as $d | .followed as $f | .all as $all | any($f[]; .id == $r.id and .low <= $d and $d <= .high) and
        all($f[]; (.p | length) <= ($all | length) + 1) and ([$f[].p[0]] == ([$f[].p[0]] | sort | reverse))' all.jsonl | sort -u)" = true ]
    # A token that a stage removed has no probability behind it.
    html -n 4096 --rows :1 --top-k 2 "$AUSTEN" >page
    [ "$(expanded page | jq -c '[.followed[].p | length]')" = '[6,6,1,1,1,1,1,1]' ]
}

# data FILE: prints the bytes of the rows of a page, without its script, its style and its tables.
data() {
    perl -0777 -ne 'm{<div id="texts">(.*?)</div></div>}s and print length $1, "\n"' "$1"
}

@test "-O html: what rows share is written once: 384 rows have at most 1.3 kB a row, and with three chains 0.6 kB" {
    cat "$AUSTEN" "$AUSTEN" | head -c $((384 * 8192)) >rows.f16
    cat "$ROOT/samples/austen.tokens" "$ROOT/samples/austen.tokens" >tokens
    local chain=(--vocab "$ROOT/samples/austen.gguf" -n 4096 --accept @tokens rows.f16)
    html "${chain[@]}" 2>/dev/null >page
    [ "$(objects page | wc -l)" -eq 384 ]
    [ "$(data page)" -le $((384 * 1300)) ] || { data page; return 1; }
    html "${chain[@]}" --vs min-p --vs greedy 2>/dev/null >page
    [ "$(data page)" -le $((384 * 600)) ] || { data page; return 1; }
    [ "$(grep -c '^,"stages":\|^,"reasons":' page)" -le 8 ]
    [ "$(objects page | jq -r '.texts // {} | keys[]' | sort | uniq -d)" = '' ]
}

@test "-O html: texts of tokens, file names and sequence names are escaped" {
    printf '%s\n' '</script><script>alert(1)</script>' '<!-- <script' ']]>&amp;"'"'"'' "$(printf 'a\xe2\x80\xa8b\xe2\x80\xaec\xff\xfed')" >vocab
    f32 1 1.1 1.2 1.3 1.3 1.2 1.1 1 9 1 1 1 1 9 1 1 1 1 9 1 1 1 1 9 >rows
    html -f f32 --vocab vocab rows >page
    contained page
    run ! grep -q 'alert(1)<' page # the < is escaped
    grep -q '&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;' page
    run ! grep -qP '\xe2\x80[\xa8\xae]|\xff' page
    objects page | jq -r '.texts // {} | .[]' | sort -u >said
    sampl -s 1 --vocab vocab -f f32 -O json --dump-probs rows | jq -r '.top_probs[].token' | sort -u >expected
    same said expected
    # names of files and sequences
    cp rows '<b>&"x.f32'
    html -n 4 '<b>&"x.f32' >page
    grep -qF '<title>What a chain chooses: &lt;b&gt;&amp;&quot;x.f32' page
    grep -qF '<p class="about"><b>&lt;b&gt;&amp;&quot;x.f32</b>: each row' page
    printf '{"seq":"<i>\\u2028","logits":[1,2]}\n{"seq":"<i>\\u2028","logits":[2,1]}\n{"seq":"b","logits":[2,1]}\n' | html >page
    contained page
    [ "$(grep -o '<span class="seq">[^/]*</span>' page | tr '\n' ' ')" = '<span class="seq">&lt;i&gt;\xe2\x80\xa8</span> <span class="seq">b</span> ' ]
}

@test "-O html: a page shows 2000 rows and their total, and memory does not grow with the rows" {
    need /usr/bin/time
    perl -e 'srand 5; print pack("f<*", map { rand 8 } 1 .. 32 * 300)' >some
    for _ in 1 2 3 4 5 6 7 8 9 10; do cat some; done >many
    for _ in 1 2 3 4 5 6 7 8 9 10; do cat many; done >plenty
    local rows=() kb
    for file in some many plenty; do
        # shellcheck disable=SC2002 # a pipe, as a file would be mapped
        cat "$file" | /usr/bin/time -f %M -o "$file.kb" "$SAMPL" -t 1 -s 1 -f f32 -O html -n 32 >"$file.html"
        rows+=("$(grep -c '^<tr id="r' "$file.html")")
    done
    [ "${rows[*]}" = '300 2000 2000' ]
    grep -q 'The first 2000 of 3000 rows' many.html
    run ! grep -q 'The first 2000' some.html
    contained many.html
    # 27,000 rows more have at most 38 bytes each; sanitizers keep freed memory
    if ! nm "$SAMPL" 2>/dev/null | grep -q __asan_init; then
        kb=$(($(cat plenty.kb) - $(cat many.kb)))
        [ "$kb" -lt 1000 ] || { echo "$kb kB more"; return 1; }
    fi
    html -f f32 -n 32 --rows 2500:2510 many >page
    [ "$(sed -n 's/^<tr id="r\([0-9]*\)".*/\1/p' page | paste -sd' ')" = '2500 2501 2502 2503 2504 2505 2506 2507 2508 2509' ]
}

@test "-O html: records are the same with threads and shards, and bad rows or no rows make a complete page" {
    html --vocab "$ROOT/samples/austen.gguf" --rows :32 "$AUSTEN" >page
    html --vocab "$ROOT/samples/austen.gguf" --rows :32 -t 3 "$AUSTEN" >same
    bare page >expected
    bare same | same - expected
    local alone='del(.texts, .stages)' # which stand in the first row of each page that needs them
    objects page | jq -c "$alone" >expected
    for k in 1 2 3; do
        html --vocab "$ROOT/samples/austen.gguf" --rows :32 --shard $k/3 "$AUSTEN" >part
        contained part
        objects part | jq -c "$alone"
    done >all.jsonl
    same all.jsonl expected
    f32 1 2 nan 4 1 2 3 4 >rows
    html -f f32 -n 4 --temp 0 --on-error skip rows >page || [ $? -eq 1 ]
    grep -q '<a href="#r0" class="bad">\[bad row\]</a>' page
    [ "$(objects page | jq -c '.record | [.row, .id]' | tr '\n' ' ')" = '[0,null] [1,3] ' ]
    # After an error the page is complete.
    f32 1 2 3 4 nan 2 3 4 >rows
    html -f f32 -n 4 rows >page || [ $? -eq 1 ]
    contained page
    html -f f32 -n 4 --vs 'a: --temp 2' rows >page || [ $? -eq 1 ]
    contained page
    [ "$(objects page ' id="variants"' | jq 'length')" -eq 2 ]
    html -f f32 -n 4 /dev/null >page
    contained page
    grep -q 'There are no rows' page
}

@test "-O html --accept: the text has the accepted tokens, and marks those that the chain did not choose" {
    html --vocab "$ROOT/samples/austen.gguf" --rows :20 --accept "@$ROOT/samples/austen.tokens" "$AUSTEN" >page
    objects page >all.jsonl
    paste -d' ' <(jq '.accepted[0]' all.jsonl) <(jq '.record.id' all.jsonl) | awk '{ print $1 != $2 }' >expected
    grep -o '<a href="#r[^>]*>' page | awk '{ print / other/ ? 1 : 0 }' >marked
    same marked expected
    grep -q 1 marked
    expanded page >all.jsonl
    jq -r '.texts[.accepted[0] | tostring] | ltrimstr(" ")' all.jsonl | head -1 >expected
    grep -m1 -o '<a href="#r0"[^<]*' page | sed 's/.*> *//' >text
    same text expected
    grep -q 'no text is generated. The text has the accepted tokens. 20 rows of 4096 tokens, sampl [0-9.]*, seed 1' page
    # The drawn token stands with the accepted one where they differ.
    grep -o '<a href="#r[^>]* data-drawn="[^"]*"' page | sed 's/.*data-drawn="\(.*\)"/\1/' >records
    jq -r 'select(.accepted[0] != .record.id) | .texts[.record.id | tostring] | gsub("\n"; "\\n") | @html' all.jsonl >expected
    same records expected
    html --vocab "$ROOT/samples/austen.gguf" --rows :2 --accept "@$ROOT/samples/austen.tokens" "$AUSTEN" --vs '--temp 2' >page
    [ "$(objects page | jq '.accepted[0]?' 2>/dev/null | head -1)" = "$(jq '.accepted[0]' all.jsonl | head -1)" ]
}

@test "-O html with --vs: the page has the table and the rows of -O json" {
    local vs=(--vs 'a: --min-p 0.2' --vs '--temp 1.3')
    html --vocab "$ROOT/samples/austen.gguf" --rows :20 "$AUSTEN" "${vs[@]}" >page
    contained page
    objects page | jq -c 'select(type == "object")' >all.jsonl
    # The candidates of each row in each chain: a probability, or -k for the k-th of the reasons so far.
    jq -c -n 'foreach inputs as $row ({reasons: []}; {reasons: (.reasons + ($row.reasons // [])), row: $row};
        . as $all | .row.tokens | map(.[0], (.[1:][] | if . < 0 then $all.reasons[-. - 1] else . end)))' all.jsonl >records
    sampl -s 1 --vocab "$ROOT/samples/austen.gguf" --rows :20 "$AUSTEN" "${vs[@]}" -O json --dump-probs=8 |
        jq -c '.top_probs | map(.id, .probs[])' >expected
    near records expected
    objects page ' id="variants"' | jq -c '.[]' >records
    sampl -s 1 --vocab "$ROOT/samples/austen.gguf" --rows :20 "$AUSTEN" "${vs[@]}" -O json | jq -c . >expected
    same records expected
    sampl -s 1 --vocab "$ROOT/samples/austen.gguf" --rows :20 "$AUSTEN" "${vs[@]}" --emit ids >expected
    jq -r '.of | map(.[0]) | @tsv' all.jsonl >records
    same records expected
    # The page has the base's text and the table without a script.
    [ "$(grep -c '<a class="t' page)" -eq 20 ]
    [ "$(sed -n 's|^<tr><th scope="row">\([^<]*\)</th>.*|\1|p' page | paste -sd' ')" = 'base a --temp 1.3' ]
    html --vocab "$ROOT/samples/austen.gguf" --rows :20 -t 3 "$AUSTEN" "${vs[@]}" >threads
    bare page >expected
    bare threads | same - expected
    # Each chain has its stages: bold those that are not the base's.
    grep -qF '<dt>a</dt><dd><ol class="chain"><li>top_k 40</li> <li>top_p 0.95</li> <li class="own">min_p 0.2</li> <li>temperature 0.8</li> <li>dist</li> </ol></dd>' page
    html --vocab "$ROOT/samples/austen.gguf" --rows :2 "$AUSTEN" --vs 'b: --samplers top_k;penalties --repeat-penalty 1.5 --repeat-last-n 9' >page
    grep -qF '<dt>b</dt><dd><ol class="chain"><li>top_k 40</li> <li class="own">penalties 1.5, repeat-last-n 9</li> <li>dist</li> </ol><div class="note">without top_p 0.95, min_p 0.05, temperature 0.8</div></dd>' page
}

@test "-O html: a page says what it is: its rows, their width, the seed, and a command that makes it again" {
    html --rows 3:9 --vocab "$ROOT/samples/austen.gguf" --logit-bias '5-inf' --grammar 'root ::= [^"<&'"'"'] .*' "$AUSTEN" >page
    grep -q 'no text is generated. 6 rows of 4096 tokens, sampl [0-9.]*, seed 1' page
    eval "$(command_of page)" >again
    same page again
    html --rows 3 -n 4096 "$AUSTEN" | grep -q 'generated. 1 row of 4096 tokens, sampl'
    html -f f32 -n 4 < <(f32 1 2 3 4) | grep -q 'generated. Rows, the first of 4 tokens, sampl'
    html -f f32 -n 4 /dev/null | grep -q 'generated. No rows, sampl'
    html <<<'[1,2] [1,2,3]' | grep -q 'generated. Rows, the first of 2 tokens, sampl'
    html <(echo '[1]') <(echo '[2]') /dev/null | grep -q '<b>/dev/fd/[0-9]* and 2 more files</b>: each row'
    html --rows 3:5 -n 4096 "$AUSTEN" --vs '--temp 2' | grep -q 'generated. 2 rows of 4096 tokens, sampl'
}

@test "-O html with --sweep: a page with more than twelve chains shows twelve in its rows, and all with --dump-probs" {
    html -n 4096 --rows :4 "$AUSTEN" --sweep temp=0.5:1.5:0.1 2>/dev/null >page # 12 chains with the base
    [ "$(objects page | wc -l)" -eq 4 ]
    html -n 4096 --rows :4 "$AUSTEN" --sweep temp=0.5:1.6:0.1 2>/dev/null >page
    contained page
    [ "$(objects page | jq -c '[.of, .tokens[0][1:]] | map(length)' | sort -u)" = '[12,12]' ]
    grep -q 'The rows show the base and the first 11 of 12 variants' page
    [ "$(objects page ' id="variants"' | jq '[.[1:][].swept.temp] == [range(5; 17) | . / 10]')" = true ]
    html -n 4096 --rows :4 "$AUSTEN" --sweep temp=0.5:1.6:0.1 --dump-probs=3 2>/dev/null >page
    [ "$(objects page | jq '.of | length' | sort | uniq -c | tr -s ' ')" = ' 4 13' ]
    # File names are escaped.
    head -c 16384 "$AUSTEN" >'<i>'
    html -f f16 -n 4096 --preset neutral --against '<i>' '<i>' >page
    contained page
    grep -qF '<tr><th scope="row">&lt;i&gt;</th>' page
}

@test "-O html: the list of stages has biases, breakers, bans and the grammar, and tells chains apart by them" {
    local lists=(-l '5-inf' -l '304+2.5' --dry-multiplier 0.8 --dry-sequence-breaker ' <' --dry-breaker-tokens '3,4' --bad-word-tokens '4,3'
        --grammar 'root ::= "<a>" | [a-z ]*')
    html --vocab "$ROOT/samples/austen.gguf" --rows :3 "${lists[@]}" "$AUSTEN" 2>/dev/null | grep '<ol class="chain"' >list
    grep -qF '<li><details><summary>grammar</summary><pre>root ::= &quot;&lt;a&gt;&quot; | [a-z ]*</pre></details></li>' list
    grep -qF '<li>logit_bias &quot;&amp;&quot; -inf, &quot; was&quot; +2.5</li>' list
    grep -qF '<li>bans 0, banned &quot;%&quot; &quot;$&quot;' list
    grep -qF '<li>dry 0.8, breakers &quot; &lt;&quot;, breaker &quot;$&quot; &quot;%&quot;</li>' list
    # A chain without any of them has none of them; those of a variant are its own, also if only a list differs.
    html -n 4096 --rows :3 "$AUSTEN" 2>/dev/null | grep '<ol class="chain"' >list
    run ! grep -Eq 'logit_bias|bans|dry|grammar' list
    html --vocab "$ROOT/samples/austen.gguf" --rows :3 -l 5-inf --vs 'a: -l 6-1' --vs 'b: --temp 2' --vs 'c: --grammar "root ::= [a-z ]*"' "$AUSTEN" 2>/dev/null >page
    grep -q '<dt>a</dt>.*<li class="own">logit_bias &quot;&amp;&quot; -inf, &quot;.*&quot; -1</li> <li>top_k 40</li>' page
    grep -q '<dt>b</dt>.*<li>logit_bias &quot;&amp;&quot; -inf</li>.*<li class="own">temperature 2</li>' page
    grep -q '<dt>c</dt><dd><ol class="chain"><li class="own"><details><summary>grammar' page
}
