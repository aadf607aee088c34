#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The soak in its short form, as a whole: it ends well, ranks were killed, nothing has grown; and that
# a wrong command line is refused.

run=${srcdir:-.}/t/soak/run
[ -f backends/gloo/muster_gloo.la ] || {
    echo "1..0 # SKIP muster was built without the gloo backend"
    exit 0
}

work=$(mktemp -d "${TMPDIR:-/tmp}/muster-soak-XXXXXX") || exit 1
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

echo "1..6"
"$run" 30s >"$work/out" 2>&1
point $? "half a minute goes well, and nothing has grown"
[ "$(grep -c ': flat$' "$work/out")" -eq 3 ]
point $? "of neither of the two ranks that last, nor of the process with the store"
grep -qE '^[1-9][0-9]* rounds, [1-9][0-9]* ranks killed' "$work/out"
point $? "ranks were killed and started again"
grep -q '^nothing is left' "$work/out"
point $? "and left no file"
tail -n 5 "$work/out" | sed 's/^/# /'
"$run" 5x >"$work/out" 2>&1
[ $? -eq 2 ]
point $? "a duration that is none is refused"
"$run" --build >"$work/out" 2>&1
[ $? -eq 2 ]
point $? "and so is an option without its value"
