#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Each public header compiles alone and without a warning, as C11 and as C++17, and so does a program that uses what
# is written as a macro: by gcc, by clang, and by the build's own compiler where that is another. One that is
# missing is skipped.

srcdir=${srcdir:-$(dirname "$0")/..}
headers=$(cd "$srcdir/include" && echo muster.h muster/*.h)
work=$(mktemp -d "${TMPDIR:-/tmp}/muster-headers-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
number=0
failed=0

# Which compiler a command is, whatever it is called by; empty where it makes no object.
identity() { # COMMAND
    echo 'int nothing;' >"$work/none.c"
    # shellcheck disable=SC2086 # a command may have arguments
    $1 -c "$work/none.c" -o "$work/none.o" >"$work/said" 2>&1 && $1 -dM -E "$work/none.c" 2>/dev/null |
        sed -n 's/^#define __VERSION__ //p; s/^#define __\(clang\)__ .*/\1/p' | tr '\n' ' '
}

accepts() { # NAME COMMAND-AND-OPTIONS ; the file is $work/alone.c or .cc
    number=$((number + 1))
    name=$1
    shift
    if "$@" -Wall -Wextra -pedantic -Werror -I "$srcdir/include" -c -o "$work/alone.o" >"$work/said" 2>&1; then
        echo "ok $number - $name"
    else
        failed=1
        echo "not ok $number - $name"
        sed 's/^/# /' "$work/said"
    fi
}

cat >"$work/program" <<'END'
#include <muster.h>
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

all_by() { # COMMAND STANDARD SUFFIX
    if [ -z "$(identity "$1")" ]; then
        number=$((number + 1))
        echo "ok $number - $1, $2 # SKIP there is no $1 here that compiles"
        return
    fi
    for header in $headers; do
        echo "#include <$header>" >"$work/alone.$3"
        # shellcheck disable=SC2086 # a command may have arguments
        accepts "$1, $2: $header" $1 "-std=$2" "$work/alone.$3"
    done
    cp "$work/program" "$work/alone.$3"
    # shellcheck disable=SC2086 # as above
    accepts "$1, $2: a program" $1 "-std=$2" "$work/alone.$3"
}

for pair in "gcc|g++" "clang|clang++" "${CC:-cc}|${CXX:-c++}"; do
    c=${pair%|*} cxx=${pair#*|}
    known=$(identity "$c")
    case "|${seen-}" in
    *"|$known|"*) [ -z "$known" ] || continue ;;
    esac
    seen="${seen-}$known|"
    all_by "$c" c11 c
    all_by "$cxx" c++17 cc
done
echo "1..$number"
exit $failed
