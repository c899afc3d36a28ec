# SPDX-License-Identifier: MIT
# The report of sampl --expect -O json as annotations of GitHub Actions, at the lines of the file of ids.
# sampl ... --expect ids -O json --expect-most 10 ROWS | jq -rf github.jq --arg file ids
def got: if has("numbers") then "\(.numbers.differing) numbers differ" else "expected \(.expected // "no token"), got \(.id // "no token")" end;
def words: map(select(.)) | if . == [] then "no stage" else join(": ") end;
def why: [(.removed_by // .edge // .lost[0]? // .added[0]? // {}).stage, .hint, .error] | words;
if has("row") then
    "::error file=\($file),line=\(.index + 1),title=\(why)::row \(.row): \(got)"
elif .differ > 0 then
    "::error file=\($file)::\(.differ) of \(.rows) rows differ: " + (.causes | map("\(.rows) \([.stage, .hint] | words)") | join("; "))
elif .exit > 0 then "::error file=\($file)::no row of \(.rows) differs, but sampl ended with status \(.exit)"
else "::notice file=\($file)::\(.rows) rows agree" end
