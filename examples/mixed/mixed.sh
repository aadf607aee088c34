#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One rank of a job of two languages: the first half of the ranks are Python with torch, the others are C with muster.
# A launcher that sets RANK and WORLD_SIZE starts it:
#   muster-run --no-secret -n 4 ./mixed.sh PROMPTS
#   torchrun --nproc_per_node 4 --no_python ./mixed.sh PROMPTS
here=$(dirname "$0")
: "${RANK:?start mixed.sh with muster-run or torchrun, which set it}"
if [ "$RANK" -lt $((WORLD_SIZE / 2)) ]; then
    exec "${PYTHON:-python3}" "$here/mixed.py" "$@"
fi
exec "${MIXED:-$here/mixed}" "$@"
