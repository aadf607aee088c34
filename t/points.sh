# SPDX-License-Identifier: BSD-3-Clause
#
# Points of TAP for tests in shell, which read this file once $work is a folder of their own.

number=0
failed=0

point() { # STATUS NAME
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        failed=1
        echo "not ok $number - $2"
    fi
}

skip() { # NAME REASON
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

same() { # WANTED FOUND NAME
    diff "$1" "$2" >"$work/diff" && [ -s "$1" ]
    point $? "$3"
    sed 's/^/# /' "$work/diff"
}

none() { # FILE NAME: nothing is in FILE
    [ ! -s "$1" ]
    point $? "$2"
    sed 's/^/# /' "$1"
}
