#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The model of the hall's slots holds in every order of steps, where spin is installed.

model=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)/t/model/slots.pml
command -v spin >/dev/null 2>&1 || {
    echo "1..0 # SKIP no spin"
    exit 0
}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# verify MODEL: no assertion is violated and no end state invalid
verify() {
    spin -a "$1" >/dev/null && ${CC:-cc} -O2 -w -DSAFETY -o pan pan.c && ./pan -m100000 >out 2>&1 &&
        grep -q 'errors: 0' out
}

# holds NAME: the model as it is
number=0
holds() {
    number=$((number + 1))
    if verify "$model"; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        sed 's/^/# /' out
    fi
}

# refused NAME CHANGE: the model can fail
refused() {
    number=$((number + 1))
    sed "$2" "$model" >broken.pml
    if cmp -s "$model" broken.pml || verify broken.pml; then
        echo "not ok $number - $1"
    else
        echo "ok $number - $1"
    fi
}

echo "1..5"
holds "nothing is written over too soon, and nobody waits or sleeps for ever"
refused "without the last look a wake-up is lost" 's/:: else -> rung\[me\]/:: true -> rung[me]/'
refused "and so is one without the fence" '/the fence \*\//d'
refused "a tray is written over while it is read" 's/await_left(TRAYS)/await_left(AHEAD)/'
refused "who does not tell is waited for in vain" 's/TELLS 2/TELLS 3/'
