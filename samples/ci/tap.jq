# SPDX-License-Identifier: MIT
# The report of sampl --expect -O json in the Test Anything Protocol: each row is a test.
# sampl ... --expect ids -O json ROWS | jq -rsf tap.jq
def got: if has("numbers") then "\(.numbers.differing) numbers differ" else "expected \(.expected), got \(.id)" end;
def why: [(.removed_by // .edge // .lost[0]? // .added[0]? // {}).stage, .hint, .error] | map(select(.)) | join(": ");
map(select(has("row"))) as $wrong | (last | select(has("exit"))) as $all
| "1..\($all.rows)", (range($all.rows) as $i | ($wrong | map(select(.index == $i)) | first) as $w
    | if $w then "not ok \($i + 1) - row \($w.row): \($w | got) (\($w | why))" else "ok \($i + 1)" end),
  if $all.differ > ($wrong | length) then "Bail out! \($all.differ - ($wrong | length)) differing rows are not listed" else empty end
