# SPDX-License-Identifier: MIT
# The report of sampl --expect -O json in the Test Anything Protocol: each row is a test. Rows after the last one that the report lists are
# tests only if the report lists all rows that differ.
# sampl ... --expect ids -O json ROWS | jq -rsf tap.jq
def got: if has("numbers") then "\(.numbers.differing) numbers differ" else "expected \(.expected // "no token"), got \(.id // "no token")" end;
def why: [(.removed_by // .edge // .lost[0]? // .added[0]? // {}).stage, .hint, .error] | map(select(.))
    | if . == [] then "no stage" else join(": ") end;
map(select(has("row"))) as $wrong | ($wrong | length) as $listed | (map(select(has("exit"))) | last) as $all
| (if $all and $all.differ == $listed then $all.rows else $wrong | map(.index + 1) | max // 0 end) as $known
| if $all then "1..\($all.rows)" else empty end,
  (range($known) as $i | ($wrong | map(select(.index == $i)) | first) as $w
    | if $w then "not ok \($i + 1) - row \($w.row): \($w | got) (\($w | why))" else "ok \($i + 1)" end),
  if $all == null then "Bail out! sampl ended before the last row"
  elif $all.differ > $listed then "Bail out! \($all.differ - $listed) differing rows are not listed"
  elif $all.exit > 0 and $listed == 0 then "Bail out! sampl ended with status \($all.exit)"
  else empty end
