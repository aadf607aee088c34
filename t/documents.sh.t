#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The documents tell of what is there: files that they name exist, links lead somewhere, options are those
# of the tools, each page is in the distribution, and versions are the same everywhere.

srcdir=${srcdir:-.}
work=$(mktemp -d "${TMPDIR:-/tmp}/muster-documents-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL
# shellcheck source=t/points.sh
. "$srcdir/t/points.sh"

pages=$(cd "$srcdir" && echo ./*.md doc/*.md | sed 's|\./||g')

# ---- files ----

# A program of the build has a source; a tarball has not all files of CI and of Debian.
is_there() { # PATH
    case $1 in
    *NAME* | *ROOM* | *TARGET*) return 0 ;; # to be filled in
    .ci/* | debian/*) [ -d "$srcdir/.ci" ] || return 0 ;;
    */.libs/* | t/fuzz/found/* | t/fuzz/broken/*) return 0 ;; # what is made there
    tools/muster-*) [ -e "$srcdir/$(echo "$1" | tr - _).c" ] && return ;;
    t/*.sh.t) ;;
    t/*.t) [ -e "$srcdir/${1%.t}.c" ] && return ;;
    esac
    # shellcheck disable=SC2086 # a pattern
    ls -d "$srcdir"/$1 >/dev/null 2>&1 || [ -e "$srcdir/$1.c" ]
}

# In code, a line each with the page.
code_of() { # PAGE
    awk '/^```/ { fence = !fence; next }
        fence || /^    / { print; next }
        { n = split($0, part, "`"); for (i = 2; i <= n; i += 2) print part[i] }' "$srcdir/$1"
}

for page in $pages NEWS; do
    code_of "$page" | grep -oE '(^|[^A-Za-z0-9_./-])(\.ci|abi|backends|debian|doc|examples|include|lib|m4|packaging|t|tools)/[][A-Za-z0-9_.*/-]+' |
        sed 's/^[^.a-z]*//; s/[.]$//' | sort -u | while read -r path; do
        is_there "$path" || echo "$page: $path"
    done
done >"$work/missing"
none "$work/missing" "files that the documents name are there"

# ---- links ----

# What a heading is called in a link to it.
anchors() { # FILE
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

for page in $pages; do
    folder=$(dirname "$page")
    # One that is broken over two lines is put together.
    tr '\n' ' ' <"$srcdir/$page" | grep -oE '\]\([^)]*\)' | sed 's/^](//; s/)$//' | sort -u |
        while read -r target; do
            file=$srcdir/$folder/${target%%#*}
            case $target in
            *://*) continue ;;
            \#*) file=$srcdir/$page ;;
            esac
            [ -e "$file" ] || { echo "$page: $target" && continue; }
            case $target in
            *\#*) anchors "$file" | grep -qxF "${target#*#}" || echo "$page: $target" ;;
            esac
        done
done >"$work/broken"
none "$work/broken" "links lead somewhere"

for page in $pages; do
    [ "$page" = README.md ] || grep -qF "]($page" "$srcdir/README.md" || echo "$page"
done >"$work/unreached"
none "$work/unreached" "README leads to every page"

# ---- options ----

tools='muster-run muster-info muster-gather muster-perf'
have_tools=yes
for tool in $tools; do
    "tools/$tool" --help >"$work/$tool" 2>/dev/null || have_tools=no
done

# "PAGE TOOL OPTION" of each command line in code: an option is of the tool that was named last, until another
# program or a file is named.
used() {
    for page in $pages; do
        code_of "$page" | awk -v page="$page" -v tools=" $tools " '{
            tool = ""
            for (i = 1; i <= NF; i++) {
                word = $i
                sub(/.*\//, "", word)
                if (index(tools, " " word " "))
                    tool = word
                else if ($i ~ /^[#|;&]/ || $i ~ /^[^-].*\//)
                    tool = ""
                else if (tool != "" && match($i, /^--?[a-z][a-z_-]*/))
                    print page, tool, substr($i, 1, RLENGTH)
            }
        }'
    done | sort -u
}

if [ $have_tools = yes ]; then
    used >"$work/used"
    while read -r page tool option; do
        grep -qE -- "(^|[ ,])$option([][ ,=;.:)']|\$)" "$work/$tool" || echo "$page: $tool $option"
    done <"$work/used" >"$work/unknown"
    none "$work/unknown" "options of the tools are in --help"
    [ "$(wc -l <"$work/used")" -ge 20 ]
    point $? "and there are many of them"
else
    skip "options of the tools are in --help" "the tools are not built"
    skip "and there are many of them" "the tools are not built"
fi

# An option by itself is of a tool, of a script or of configure.
for page in README.md CONTRIBUTING.md; do
    code_of "$page" | grep -oxE -- '--[a-z][a-z-]*' | sort -u | while read -r option; do
        grep -qrF -- "$option" "$work"/muster-* "$srcdir"/t/fuzz/run "$srcdir"/t/soak/run "$srcdir"/t/gpu/run ||
            grep -qE -- "\[${option#--*-}\]|$option" "$srcdir"/m4/muster_*.m4 || echo "$page: $option"
    done
done >"$work/alone"
if [ $have_tools = yes ]; then
    none "$work/alone" "an option by itself is one of a tool, a script or configure"
else
    skip "an option by itself is one of a tool, a script or configure" "the tools are not built"
fi

# ---- targets ----

# A target of make is in the Makefile, whose own ones automake adds.
if [ -f Makefile ]; then
    for page in $pages; do
        code_of "$page" | grep -oE '(^ *|[$&;] )make (-C build )?[a-z][a-z-]*' | sed 's/.* //' | sort -u |
            while read -r target; do
                grep -qE "^([a-z -]* )?$target( [a-z -]*)?:" Makefile || echo "$page: make $target"
            done
    done >"$work/targets"
    none "$work/targets" "targets of make are in the Makefile"
else
    skip "targets of make are in the Makefile" "there is no Makefile here"
fi

# ---- lines, distribution, versions ----

for page in $pages NEWS; do
    awk -v page="$page" '/^```/ { fence = !fence } !fence && !/^(\||    )/ && length > 120 { print page ":" NR }' "$srcdir/$page"
done >"$work/long"
none "$work/long" "no line but those of tables and code has more than 120 columns"

cat "$srcdir/Makefile.am" "$srcdir/doc/local.mk" | tr -s '[:space:]' '\n' | sort -u >"$work/distributed"
for page in $pages NEWS COPYING; do
    grep -qxF "$page" "$work/distributed" || echo "$page"
done >"$work/left"
none "$work/left" "every page is in the distribution"

version=$(sed -n 's/^AC_INIT(\[muster\], \[\(.*\)\])$/\1/p' "$srcdir/configure.ac")
[ "$(sed -n 's/^\([0-9][0-9.]*\).*/\1/p' "$srcdir/NEWS" | head -n 1)" = "$version" ]
point $? "NEWS begins with version $version"
for file in debian/changelog packaging/muster.spec; do
    if [ -f "$srcdir/$file" ]; then
        grep -qE "^(muster \(|Version: *)$version(\)|\$)" "$srcdir/$file"
        point $? "$file is of version $version"
    else
        skip "$file is of the same version" "it is not in the tarball"
    fi
done

echo "1..$number"
exit $failed
