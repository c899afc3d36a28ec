#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs sampl as a Slurm job array: task K of N works on --shard K/N and writes OUT.K.
#
#     sbatch --array=1-16 slurm-array.sh OUT OPTION... FILE...
#     cat OUT.*                                 # when all are done: what one run prints
#     PARTS=16 sbatch --array=7 slurm-array.sh OUT OPTION... FILE...    # task 7 again, of the 16
#
# Tasks are counted from 1. A part that stopped at an error leaves no file. The seed is the number of the array, so that it is the same for
# all its tasks; give --seed to choose it, and to run single tasks again.
#SBATCH --job-name=sampl
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --output=%x-%A_%a.log
set -eu

if [ $# -lt 2 ]; then
    echo "usage: sbatch --array=1-N slurm-array.sh OUT OPTION... FILE..." >&2
    exit 2
fi
out=$1
shift
: "${SLURM_ARRAY_TASK_ID:?is what Slurm sets; run this with sbatch --array=1-N}"
parts=${PARTS:-$SLURM_ARRAY_TASK_COUNT}
part=$(printf "%0${#parts}d" "$SLURM_ARRAY_TASK_ID") # as many digits for all, so that OUT.* comes in order

exec "${SAMPL:-sampl}" -s "$SLURM_ARRAY_JOB_ID" -t "${SLURM_CPUS_PER_TASK:-1}" --shard "$SLURM_ARRAY_TASK_ID/$parts" -o "$out.$part" "$@"
