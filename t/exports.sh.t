#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What is declared, what is listed and what is exported are the same names; plugins export their one
# symbol; each public header compiles alone and without a warning, as C11 and as C++17.

srcdir=${srcdir:-.}
: "${NM:=nm}" "${CC:=cc}" "${CXX:=c++}"
headers=$(cd "$srcdir/include" && echo muster.h muster/*.h)
work=$(mktemp -d "${TMPDIR:-/tmp}/muster-exports-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
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

same() { # FILE FILE NAME
    diff "$1" "$2" >"$work/diff" && [ -s "$1" ]
    point $? "$3"
    sed 's/^/# /' "$work/diff"
}

# Sanitizers and --coverage add symbols of their own.
exported() { # OBJECT
    $NM -D "$1" | sed -n 's/^[0-9a-fA-F]* [TDRBVWi] //p' | sed 's/@.*//' |
        grep -vE '^__((odr_)?asan|gcov)' | LC_ALL=C sort
}

use() { # SUFFIX COMPILER...
    suffix=$1
    shift
    compiler=$*
    have_compiler=no
    echo 'int main(void) { return 0; }' >"$work/none.$suffix"
    $compiler -c "$work/none.$suffix" -o "$work/none.o" >/dev/null 2>&1 && have_compiler=yes
}

compiles() { # NAME ; the program is on stdin
    cat >"$work/program.$suffix"
    if [ $have_compiler = no ]; then
        skip "$1" "no such compiler"
        return
    fi
    $compiler -Wall -Wextra -pedantic -Werror -I "$srcdir/include" -c "$work/program.$suffix" \
        -o "$work/program.o" >"$work/said" 2>&1
    point $? "$1"
    sed 's/^/# /' "$work/said"
}

plugins="t/plugins/.libs/muster_rigged.so t/plugins/bad/.libs/muster_plain.so"
for file in backends/*/.libs/muster_*.so; do
    [ -e "$file" ] && plugins="$plugins $file"
done
set -- $plugins
echo "1..$((8 + $# + 2 * $(echo "$headers" | wc -w)))"

(cd "$srcdir/include" && cat $headers) >"$work/text"
sed -n 's/^MUSTER_API.*[ *]\(muster_[a-z0-9_]*\)(.*/\1/p' "$work/text" | LC_ALL=C sort >"$work/declared"
sed -n 's/^ *\(muster_[a-z0-9_]*\);$/\1/p' "$srcdir/lib/libmuster.map" >"$work/listed"
LC_ALL=C sort "$work/listed" >"$work/sorted"
[ "$(grep -c '^MUSTER_API' "$work/text")" -eq "$(wc -l <"$work/declared")" ]
point $? "every declaration has its name on its first line"
same "$work/declared" "$work/sorted" "what the headers declare is what the map lists"
same "$work/sorted" "$work/listed" "the map is sorted"

# What muster.h reaches is all that there is but what backends include; all of it is installed.
use c $CC -std=c11
for name in $headers; do
    [ $name = muster/backend.h ] || echo $name
done | LC_ALL=C sort >"$work/wanted"
if [ $have_compiler = yes ]; then
    echo '#include <muster.h>' >"$work/alone.c"
    $compiler -M -I "$srcdir/include" "$work/alone.c" | tr ' \\' '\n\n' |
        sed -n "s|^$srcdir/include/||p" | LC_ALL=C sort >"$work/reached"
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

cat >"$work/uses" <<'END'
int main(void)
{
    muster_init_args init = MUSTER_INIT_ARGS_INIT;
    muster_group_args group = MUSTER_GROUP_ARGS_INIT;
    muster_tcp_store_args store = MUSTER_TCP_STORE_ARGS_INIT;
    muster_transfer one = {MUSTER_SENDS, 1, 0, {NULL}, MUSTER_BFLOAT16};
    muster_reduction redop = MUSTER_REDUCTION_LARGEST;
    init.pg_options = group.backend_options;
    if (muster_batch_send_recv(NULL, &one, 1, NULL) == MUSTER_OK)
        muster_reduction_free(NULL, redop);
    return init.rank + group.struct_size == store.struct_size && muster_str("x").size == 1;
}
END
{ echo '#include <muster.h>' && cat "$work/uses"; } >"$work/whole"

all_in() { # LANGUAGE: each header alone, and a program
    for name in $headers; do
        echo "#include <$name>" >"$work/alone"
        compiles "$name alone as $1" <"$work/alone"
    done
    compiles "a program in $1" <"$work/whole"
}

use c $CC -std=c11
all_in C11
use cc $CXX -std=c++17
all_in C++17
exit $failed
