#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What is declared, what is listed and what is exported are the same names; plugins export their one
# symbol; muster.h includes all headers but the backends', and all are installed.

srcdir=${srcdir:-.}
: "${NM:=nm}" "${CC:=cc}"
headers=$(cd "$srcdir/include" && echo muster.h muster/*.h)
work=$(mktemp -d "${TMPDIR:-/tmp}/muster-exports-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck source=t/points.sh
. "$srcdir/t/points.sh"

# Sanitizers and --coverage add symbols of their own.
exported() { # OBJECT
    $NM -D "$1" | sed -n 's/^[0-9a-fA-F]* [TDRBVWi] //p' | sed 's/@.*//' |
        grep -vE '^__((odr_)?asan|gcov)' | LC_ALL=C sort
}

plugins="t/plugins/.libs/muster_rigged.so t/plugins/bad/.libs/muster_plain.so"
for file in backends/*/.libs/muster_*.so; do
    [ -e "$file" ] && plugins="$plugins $file"
done
set -- $plugins
echo "1..$((6 + $#))"

(cd "$srcdir/include" && cat $headers) >"$work/text"
sed -n 's/^MUSTER_API.*[ *]\(muster_[a-z0-9_]*\)(.*/\1/p' "$work/text" | LC_ALL=C sort >"$work/declared"
sed -n 's/^ *\(muster_[a-z0-9_]*\);$/\1/p' "$srcdir/lib/libmuster.map" >"$work/listed"
LC_ALL=C sort "$work/listed" >"$work/sorted"
[ "$(grep -c '^MUSTER_API' "$work/text")" -eq "$(wc -l <"$work/declared")" ]
point $? "every declaration has its name on its first line"
same "$work/declared" "$work/sorted" "what the headers declare is what the map lists"
same "$work/sorted" "$work/listed" "the map is sorted"

# What muster.h reaches is all that there is but what backends include; all of it is installed.
for name in $headers; do
    [ $name = muster/backend.h ] || echo $name
done | LC_ALL=C sort >"$work/wanted"
echo '#include <muster.h>' >"$work/alone.c"
if $CC -M -I "$srcdir/include" "$work/alone.c" >"$work/depends" 2>/dev/null; then
    tr ' \\' '\n\n' <"$work/depends" | sed -n "s|^$srcdir/include/||p" | LC_ALL=C sort >"$work/reached"
    same "$work/wanted" "$work/reached" "muster.h includes every header but the backends'"
else
    skip "what muster.h includes" "no such compiler"
fi
sed -n 's/.*[[:blank:]]include\/\(muster[./a-z_]*\.h\).*/\1/p' "$srcdir/include/local.mk" | LC_ALL=C sort >"$work/installed"
echo $headers | tr ' ' '\n' | LC_ALL=C sort >"$work/there"
same "$work/there" "$work/installed" "every header is installed"

have_nm=no
$NM -D lib/.libs/libmuster.so >/dev/null 2>&1 && have_nm=yes
if [ $have_nm = yes ]; then
    exported lib/.libs/libmuster.so >"$work/exported"
    same "$work/declared" "$work/exported" "the library exports these and nothing else"
else
    skip "what the library exports" "no nm that reads it"
fi
echo muster_backend_1 >"$work/one"
for file in "$@"; do
    if [ $have_nm = yes ]; then
        exported "$file" >"$work/exported"
        same "$work/one" "$work/exported" "${file##*/} exports its one symbol"
    else
        skip "what ${file##*/} exports" "no nm that reads it"
    fi
done

exit $failed
