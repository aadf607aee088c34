#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The rooms of lib/ stand on each other in one direction: each includes headers of its own and of
# those before it; group and collective are one storey. Backends take the deadlines of base, tools
# and examples nothing but the public headers.

lib=${srcdir:-$(dirname "$0")/..}/lib
[ -d "$lib/base" ] || {
    echo "1..0 # SKIP no sources at $lib"
    exit 0
}

number=0
# may ROOM ALLOWED FOLDER: no file in FOLDER includes "room/..." but of the ALLOWED rooms
may() {
    number=$((number + 1))
    wrong=$(grep -rnE '#include "(base|reduce|options|net|machine|placement|store|tcp_store|launch|backend|group|collective)/' "$3" |
        grep -vE "#include \"($2)/" || true)
    if [ -z "$wrong" ]; then
        echo "ok $number - $1 stands on: $2"
    else
        echo "not ok $number - $1 stands on: $2"
        echo "$wrong" | sed 's/^/# /'
    fi
}

echo "1..15"
allowed=
for room in base reduce options net machine placement store tcp_store launch backend; do
    allowed="$allowed${allowed:+|}$room"
    may "$room" "$allowed" "$lib/$room"
done
may group "$allowed|group|collective" "$lib/group"
may collective "$allowed|group|collective" "$lib/collective"
may backends base "$lib/../backends"
may tools none "$lib/../tools"
may examples none "$lib/../examples"
