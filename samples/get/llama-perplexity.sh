#!/bin/sh
# SPDX-License-Identifier: MIT
# Saves the log-probabilities of the whole vocabulary at the second half of each chunk of a text, 16 bits each (llama-perplexity's file of
# logits). The text needs at least two chunks of tokens.
# usage: llama-perplexity.sh MODEL.gguf TEXT OUT.kld [CHUNK]
# then:  sampl -s 1 --accept recorded OUT.kld      each token of the text is what follows its row
set -eu
[ $# -ge 3 ] || { sed -n '/^# usage: /,/^# then: /s/^# //p' "$0" >&2; exit 2; }
exec llama-perplexity -m "$1" -f "$2" -c "${4:-512}" --kl-divergence-base "$3"
