#!/bin/bash
# SPDX-License-Identifier: MIT
# Replaces sampl while grammar.bats runs: runs $LISTEN_SAMPL, and appends the status, ids and grammar of each text to $LISTEN.
status=0
"$LISTEN_SAMPL" "$@" || status=$?
if [[ $* == *bytes.vocab* ]]; then
    grammar='' ids=''
    for ((i = 1; i < $#; i++)); do
        next=$((i + 1))
        case ${!i} in
        --grammar) grammar=${!next} ;;
        --accept) ids=${!next} ;;
        esac
    done
    if [ -n "$grammar" ] && [ -n "$ids" ]; then printf '%s\t%s\t%q\n' "$status" "$ids" "$grammar" >>"$LISTEN"; fi
fi
exit "$status"
