#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The script for machines with GPUs, as a whole, on the stand-in; and that it says so, shows no folder
# of this machine, and is one skipped line where there is no driver.

run=${srcdir:-.}/t/gpu/run
[ -x t/gpu/probe ] || {
    echo "1..0 # SKIP muster was built without the nccl backend"
    exit 0
}

work=$(mktemp -d "${TMPDIR:-/tmp}/muster-gpu-run-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
number=0

point() { # STATUS NAME
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/out"
    fi
}

shows_no_folder() {
    ! grep -E "(^|[ ('\"=])(\.\.?)?/[^/ ]+/" "$work/out"
}

unset MUSTER_CUDA_LIBRARY MUSTER_CUDART_LIBRARY MUSTER_NCCL_LIBRARY MUSTER_STANDIN_DEVICES
"$run" --standin --few >"$work/out" 2>"$work/errors"
point $? "all of it passes"
! grep '^not ok' "$work/out" >/dev/null && grep '^1\.\.[1-9]' "$work/out" >/dev/null
point $? "which it says"
[ "$(grep -c '^# THIS IS THE STAND-IN' "$work/out")" -eq 2 ]
point $? "it says at both ends what it ran on"
shows_no_folder
point $? "no folder is shown"
[ ! -s "$work/errors" ]
point $? "nothing else is printed"
for words in 'one rank on nccl' '4 ranks of one GPU on gloo' 'a GPU each, on nccl' \
    'two ranks on one GPU, one killed' 'all_reduce of 8 B .* us bare .* us by muster .* %'; do
    grep -E "^# $words" "$work/out" >/dev/null
    point $? "the table has: $words"
done

MUSTER_STANDIN_FAULTS=ncclAllReduce:3+:4 "$run" --standin --few --only overhead >"$work/out" 2>&1
[ $? -eq 1 ] && grep '^not ok .*8 B both ways' "$work/out" >/dev/null
point $? "what fails is said, and fails the script"
shows_no_folder
point $? "without a folder in it"
MUSTER_STANDIN_FAULTS=init:1+:1 "$run" --standin --few --only pair >"$work/out" 2>&1
point $? "a pair that NCCL does not take is no failure"
grep '^ok .*SKIP.*two ranks on one GPU' "$work/out" >/dev/null
point $? "but skipped with NCCL's reason"
MUSTER_CUDA_LIBRARY=$work/none.so "$run" >"$work/out" 2>&1
point $? "without a driver it ends well"
[ "$(wc -l <"$work/out")" -eq 1 ] && grep '^1\.\.0 # SKIP .*driver' "$work/out" >/dev/null
point $? "and is one line with the reason"
"$run" --wrong >/dev/null 2>"$work/out"
[ $? -eq 2 ] && grep '^usage: ' "$work/out" >/dev/null
point $? "a wrong word is refused"
echo "1..$number"
