#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# How quickstart hands MUSTER_CONFIGURE on: it is run in a folder of its own, where all that it starts is a
# stand-in, and configure writes down its arguments.

script=${srcdir:-$(dirname "$0")/..}/quickstart
[ -f "$script" ] || {
    echo "1..0 # SKIP no quickstart at $script"
    exit 0
}
folder=$(mktemp -d "/tmp/muster-quickstart-XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/bin" "$folder/build/tools"
cp "$script" "$folder/quickstart"

stand_in() { # stand_in FILE COMMAND...
    printf '#!/bin/sh\n%s\n' "$2" >"$folder/$1"
    chmod +x "$folder/$1"
}
for tool in gcc g++ make autoconf automake libtoolize pkg-config apt-get; do
    stand_in "bin/$tool" :
done
stand_in bin/dpkg-query 'printf installed'
stand_in build/tools/muster-run :
stand_in configure "printf '[%s]' \"\$@\" >'$folder/arguments'; touch Makefile"

number=0
# hands_on WHAT MUSTER_CONFIGURE EXPECTED: what configure is given
hands_on() {
    number=$((number + 1))
    rm -f "$folder/arguments" "$folder/build/Makefile"
    words=$(PATH="$folder/bin:$PATH" MUSTER_BUILD=build MUSTER_CONFIGURE="$2" "$folder/quickstart" 2>&1)
    got=$(cat "$folder/arguments" 2>/dev/null)
    if [ "$got" = "$3" ]; then
        echo "ok $number - $1"
    else
        printf 'not ok %s - %s\n# %s, not %s\n' "$number" "$1" "$got" "$3"
        printf '%s\n' "$words" | sed 's/^/# /'
    fi
}

echo "1..8"
hands_on "nothing" "" "[]"
hands_on "two words" "--prefix=/usr --without-gloo" "[--prefix=/usr][--without-gloo]"
hands_on "a word of two, in single quotes" "CC='ccache gcc' -q" "[CC=ccache gcc][-q]"
hands_on "in double quotes" 'CXX="ccache g++"' "[CXX=ccache g++]"
hands_on "with a backslash" 'CC=ccache\ gcc' "[CC=ccache gcc]"
hands_on "half a quote is none" "CC='ccache gcc" ""
case $words in
*"MUSTER_CONFIGURE can't be split into words: CC='ccache gcc"*) echo "ok 7 - and said" ;;
*) echo "not ok 7 - and said" ;;
esac
# What has been configured so is not configured again, and otherwise it is.
touch "$folder/build/Makefile"
printf '%s\n' "-q" >"$folder/build/configured"
PATH="$folder/bin:$PATH" MUSTER_BUILD=build MUSTER_CONFIGURE=-q "$folder/quickstart" >/dev/null 2>&1
if [ ! -e "$folder/arguments" ]; then
    echo "ok 8 - once"
else
    echo "not ok 8 - once"
fi
