#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs and backends built against the last release still fit this one: t/package/abi says so of the tree, and says
# no of headers in which something is changed that must not be.

srcdir=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
check=$srcdir/t/package/abi
work=$(mktemp -d "${TMPDIR:-/tmp}/muster-abi-test-XXXXXX") || exit 1
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
        sed 's/^/# /' "$work/said"
    fi
}

"$check" "$PWD/lib/.libs/libmuster.so" >"$work/said" 2>&1
status=$?
case $(head -n 1 "$work/said") in
"1..0 "*) cat "$work/said" && exit 0 ;;
esac
point $status "$(sed -n 's/^ok [0-9]* - //p' "$work/said" | tr '\n' ';')"

# The tree with one thing changed, by sed; an expression that changes nothing tests nothing.
changed() { # FILE EXPRESSION [FILE EXPRESSION]
    rm -rf "$work/tree" && mkdir -p "$work/tree/lib" && cp -r "$srcdir/include" "$srcdir/configure.ac" "$work/tree" &&
        cp "$srcdir/lib/libmuster.map" "$work/tree/lib" && chmod -R u+w "$work/tree" || return 2
    while [ $# -gt 0 ]; do
        cp "$work/tree/$1" "$work/before" && sed -i "$2" "$work/tree/$1"
        ! cmp -s "$work/tree/$1" "$work/before" || { echo "$2 changes nothing" >"$work/said" && return 2; }
        shift 2
    done
    "$check" "--tree=$work/tree" >"$work/said" 2>&1
}
refused() { # NAME WORDS FILE EXPRESSION...: the check fails, and says the words
    name=$1 words=$2
    shift 2
    changed "$@"
    [ $? -eq 1 ] && grep -q '^not ok' "$work/said" && grep -q "$words" "$work/said"
    point $? "refused: $name"
}
accepted() { # NAME WORDS FILE EXPRESSION...
    name=$1 words=$2
    shift 2
    changed "$@" && grep -q "$words" "$work/said"
    point $? "accepted: $name"
}
api=include/muster

refused "a function that is gone" '\[D\].*muster_version' $api/version.h '/^MUSTER_API const char/d'
refused "one more parameter" muster_set_log $api/log.h 's/^\(MUSTER_API .*muster_set_log(\)/\1int more, /'
refused "another type that is returned" muster_group_rank $api/group.h \
    's/^MUSTER_API int muster_group_rank(/MUSTER_API long muster_group_rank(/'
refused "another number for a status" ERR_TIMEOUT $api/status.h 's/XX(ERR_TIMEOUT, [0-9]*/XX(ERR_TIMEOUT, 77/'
refused "a member in front of another" muster_group_args $api/subgroup.h 's/size_t struct_size;/& int first;/'
refused "a member more where there is no struct_size" muster_blob $api/blob.h 's/^} muster_blob;/int more; &/'
refused "a placement that grows, since a plan has an array of them" muster_placement $api/placement.h \
    's/^} muster_placement;/const char *more; &/'
refused "a slot that backends must fill" muster_backend $api/backend.h 's/^} muster_backend;/void *more; &/'
refused "a slot of the core's in front of others" muster_host $api/backend.h 's/^typedef struct muster_host {/&void *more;/'
refused "declarations that do not compile" chart $api/version.h 's/^MUSTER_API const char/MUSTER_API const chart/'

accepted "one more function" 'new since then.*muster_more' $api/type.h '0,/^MUSTER_API/s//MUSTER_API void muster_more(void);\n&/' \
    lib/libmuster.map 's/^ *muster_new_group;/muster_more; &/'
accepted "a struct with struct_size that grows" '^ok' $api/subgroup.h 's/^} muster_group_args;/const char *more; &/'
accepted "a table of the core's that grows" '^ok' $api/backend.h 's/^} muster_host;/void (*more)(void); &/'
accepted "one more status" '^ok' $api/status.h 's/^\( *\)XX(ERR_INTERNAL.*/\1XX(ERR_NEWER, 90, "newer") \\\n&/'
accepted "another interface of backends, by another number" 'may differ' $api/backend.h \
    's/^\(#define MUSTER_BACKEND_ABI\) .*/\1 99/; s/^} muster_backend;/void *more; &/'
accepted "a function that is gone, by another soname" 'libmuster.so.99 is not the' \
    $api/version.h '/^MUSTER_API const char/d' configure.ac 's/\[[0-9]*:[0-9]*:[0-9]*\]/[99:0:0]/'
echo "1..$number"
exit $failed
