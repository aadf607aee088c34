#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The manual says what there is: every function as the headers declare it, every struct that it shows,
# every option of the tools and of the groups. Its examples compile, and mandoc has no complaint.

srcdir=${srcdir:-.}
: "${CC:=cc}"
man=$srcdir/doc/man
work=$(mktemp -d "${TMPDIR:-/tmp}/muster-manual-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL
# shellcheck source=t/points.sh
. "$srcdir/t/points.sh"

# ---- what is declared, and what the pages say ----

# Headers without comments and preprocessing, a declaration a line.
declarations() {
    cat "$srcdir"/include/muster/*.h | awk '
        /^#/ { continued = /\\$/; next }
        continued { continued = /\\$/; next }
        /^extern "C"/ { next }
        { text = text $0 " " }
        END {
            while ((begin = index(text, "/*")) > 0) {
                rest = substr(text, begin)
                text = substr(text, 1, begin - 1) substr(rest, index(rest, "*/") + 2)
            }
            gsub(/[ \t]+/, " ", text)
            gsub(/MUSTER_API/, "\n&", text)
            gsub(/static inline/, "\n&", text)
            gsub(/typedef/, "\n&", text)
            print text
        }'
}

# A function as "type name(argument,argument)", without spaces.
functions_of_headers() {
    declarations | sed -n 's/^MUSTER_API \([^;]*\);.*/\1/p; s/^\(static inline [^{]*)\) *{.*/\1/p' |
        sed 's/ //g' | sort
}
functions_of_pages() {
    awk '
        function rest(line) { sub(/^\.F[ta] /, "", line); gsub(/"/, "", line); return line }
        /^\.Sh/ { inside = /SYNOPSIS/ }
        !inside { next }
        /^\.Ft / { text = rest($0) }
        /^\.Fo / { text = text $2 "("; comma = "" }
        /^\.Fa / { text = text comma rest($0); comma = "," }
        /^\.Fc/ { gsub(/ /, "", text); print text ")" }' "$man"/muster_*.3 | sort
}
names_of_pages() {
    awk '/^\.Sh/ { inside = /NAME/ } inside && $1 == ".Nm" { print $2 }' "$man"/muster_*.3 | sort
}

# Structs, enumerations and types of callbacks that pages show, each in one line without spaces.
types_of_pages() {
    awk '
        /^\.Bd / { inside = 1; next }
        /^\.Ed/ { inside = 0 }
        !inside { next }
        /^typedef/ { showing = 1; text = "" }
        showing { text = text $0 }
        showing && /^}|^typedef.*;$|^ .*\);$/ {
            if (text ~ /;$/) { gsub(/[ \t]/, "", text); print text; showing = 0 }
        }' "$man"/*.[37] | sort
}
types_of_headers() {
    declarations | sed -n 's/^\(typedef .*;\).*/\1/p' | sed 's/ //g' | sort
}

functions_of_headers >"$work/declared"
functions_of_pages >"$work/shown"
sed 's/(.*//; s/.*\(muster_\)/\1/' "$work/declared" | sort >"$work/names"
names_of_pages >"$work/named"
sed -n 's/^ *\(muster_[a-z0-9_]*\);$/\1/p' "$srcdir/lib/libmuster.map" | sort >"$work/map"
comm -23 "$work/map" "$work/named" >"$work/missing"
none "$work/missing" "every function of the map has a page"
same "$work/names" "$work/named" "NAME has each function of the headers once"
same "$work/declared" "$work/shown" "SYNOPSIS has them as the headers do"
types_of_headers >"$work/types"
types_of_pages >"$work/typesshown"
[ "$(wc -l <"$work/typesshown")" -ge 10 ]
point $? "pages show types"
comm -13 "$work/types" "$work/typesshown" >"$work/others"
none "$work/others" "types are as the headers have them"

sed -n 's/^ *XX(\([A-Z_]*\), \([0-9]*\), "\(.*\)").*/MUSTER_\1 \2, \3/p' "$srcdir/include/muster/status.h" \
    >"$work/wanted"
awk '/^\.It Dv/ { name = $3; getline; print name, $0 }' "$man/muster_status.3" >"$work/found"
same "$work/wanted" "$work/found" "muster_status(3) has every status"
sed -n 's/^ *XX(\([A-Z0-9_]*\), \([0-9]\), .*/MUSTER_\1 \2/p' "$srcdir/include/muster/type.h" >"$work/wanted"
awk '/^\.It Dv/ { print $3, $5 }' "$man/muster_type.3" >"$work/found"
same "$work/wanted" "$work/found" "muster_type(3) has every type"

# Those of the tests are not for users.
sed -n 's/^| \(`[^|]*\) |.*/\1/p' "$srcdir/doc/environment.md" | tr -d '`,' |
    tr ' ' '\n' | grep -v '^MUSTER_TEST_' | sort >"$work/wanted"
awk '/\\$/ { text = text substr($0, 1, length - 1); next } { print text $0; text = "" }' "$man/muster.7" |
    sed -n 's/^\.It Ev //p; s/^\.Ev \(TORCH[A-Z_]*\) *\.*$/\1/p' | tr -d ',' | tr -s ' ' '\n' | sort -u >"$work/found"
same "$work/wanted" "$work/found" "muster(7) has the variables of doc/environment.md"

# ---- form ----

for page in "$man"/*.3; do
    for section in NAME SYNOPSIS DESCRIPTION 'RETURN VALUES' EXAMPLES ERRORS 'SEE ALSO'; do
        grep -q "^\.Sh $section\$" "$page" || echo "${page##*/} has no $section"
    done
done >"$work/sections"
none "$work/sections" "pages of functions have all sections"

sed -n 's/^ *doc\/man\/\([^ ]*\).*/\1/p; s/^\tdoc\/man\/\([^ ]*\).*/\1/p' "$man/local.mk" | sort >"$work/installed"
(cd "$man" && ls ./*.[137]) | sed 's|^\./||' | sort >"$work/there"
same "$work/there" "$work/installed" "every page is installed"

# What a page refers to is a page or a link.
{
    cat "$work/there"
    sed 's/$/.3/' "$work/named"
} | sort -u >"$work/known"
sed -n 's/^\.\(It \)*Xr \([^ ]*\) \([137]\).*/\2.\3/p' "$man"/*.[137] | sort -u >"$work/referred"
comm -13 "$work/known" "$work/referred" >"$work/nowhere"
none "$work/nowhere" "references lead somewhere"

if mandoc -T lint </dev/null >/dev/null 2>&1 || [ $? -lt 5 ]; then
    mandoc -T lint -W warning "$man"/*.[137] >"$work/lint" 2>&1
    none "$work/lint" "mandoc has no complaint"
    for page in "$man"/*.[137]; do
        mandoc -T ascii -O width=80 "$page" | sed 's/.\x08//g' |
            awk -v page="${page##*/}" 'length($0) > 80 { print page ": " $0 }'
    done >"$work/wide"
    none "$work/wide" "pages fit 80 columns"
else
    skip "mandoc has no complaint" "mandoc is not here"
    skip "pages fit 80 columns" "mandoc is not here"
fi

if command -v man >/dev/null && command -v groff >/dev/null; then
    for page in "$man"/*.[137]; do
        LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null |
            sed "s|^|${page##*/}: |"
    done >"$work/groff"
    none "$work/groff" "groff has no complaint"
else
    skip "groff has no complaint" "man-db and groff are not here"
fi

# ---- installation ----

install_pages() { # TARGET...
    MAKEFLAGS='' make -s "$@" DESTDIR="$work/root" >"$work/said" 2>&1
}
if [ -f Makefile ] && command -v make >/dev/null; then
    install_pages install-man install-data-hook
    point $? "pages are installed"
    find "$work/root" -path '*/man3/*' -exec test -r {} ';' -print | sed 's|.*/||' | sort >"$work/readable"
    sed 's/$/.3/' "$work/named" | comm -23 - "$work/readable" >"$work/missing"
    none "$work/missing" "each function is a page"
    install_pages uninstall-man uninstall-hook
    find "$work/root" ! -type d >"$work/left"
    none "$work/left" "and nothing is left of them"
else
    skip "pages are installed" "there is no Makefile here"
fi

# ---- examples ----

# Cuts them out: PAGE.NUMBER.KIND, of those that have a mark.
mkdir "$work/examples"
for page in "$man"/*.[137]; do
    awk -v stem="$work/examples/${page##*/}" '
        /^\.\\" example: / { kind = $3; next }
        /^\.Bd / && kind != "" { file = stem "." ++count "." kind; printf "" >file; next }
        /^\.Ed/ { if (file != "") close(file); file = kind = ""; next }
        file != "" { sub(/^\\&/, ""); gsub(/\\e/, "\\"); print >file }' "$page"
done
for page in "$man"/*.[137]; do
    blocks=$(awk '/^\.Sh/ { inside = /EXAMPLES/ } inside && /^\.Bd / { n++ } END { print n + 0 }' "$page")
    marked=$(find "$work/examples" -name "${page##*/}.*" | wc -l)
    [ "$blocks" -gt 0 ] && [ "$blocks" -eq "$marked" ] || echo "${page##*/}: $blocks, $marked marked"
done >"$work/unmarked"
none "$work/unmarked" "every page has examples, and all are marked"

# One that is a function stands in a file with the headers of C that it needs.
compile() { # EXAMPLE
    case $1 in
    *.function) printf '#include <muster.h>\n#include <stdio.h>\n#include <stdlib.h>\n' ;;
    esac
    cat "$1"
}
if echo 'int main(void) { return 0; }' >"$work/one.c" && $CC -c "$work/one.c" -o "$work/one.o" >/dev/null 2>&1; then
    for example in "$work"/examples/*.program "$work"/examples/*.function; do
        compile "$example" >"$work/one.c"
        $CC -std=c11 -Wall -Wextra -Werror -I "$srcdir/include" -c "$work/one.c" -o "$work/one.o" >"$work/said" 2>&1
        point $? "${example##*/} compiles"
        sed 's/^/# /' "$work/said"
    done
else
    skip "examples compile" "no such compiler"
fi
for example in "$work"/examples/*.shell; do
    sh -n "$example" >"$work/said" 2>&1
    point $? "${example##*/} is shell"
    sed 's/^/# /' "$work/said"
done

# ---- tools ----

long_options() { grep -oe '--[a-z][a-z_-]*' | sort -u; }
for tool in muster-gather muster-info muster-perf muster-run; do
    if [ ! -x tools/$tool ]; then
        skip "$tool(1) has the options of --help" "the tools are not built"
        continue
    fi
    tools/$tool --help | sed 's/muster-[a-z]* --[a-z-]*//g' | long_options >"$work/wanted"
    sed -n 's/^\.It //p' "$man/$tool.1" | sed 's/Fl -/--/g' | long_options >"$work/found"
    same "$work/wanted" "$work/found" "$tool(1) has the options of --help"
done

# Those of a backend that is not built are in the page alone.
# "NAME TYPE, default, since VERSION, until VERSION, also called NAME and NAME." a line
options_of_page() {
    awk '/^\.It Cm [a-z0-9_.]*$/ { name = $3; getline; print name, $0 }' "$man/muster-options.7"
}
options_of_muster() {
    tools/muster-info --options --json | sed -n '/^  "options": \[/,$s/^ *"\([a-z]*\)": "\(.*\)",$/\1 \2/p' | awk '
        { key = $1; sub(/^[a-z]* ?/, ""); value[key] = $0 }
        key != "help" { next }
        {
            line = value["name"] " " value["type"] ", "
            line = line (value["default"] == "" ? "no default" : "default " value["default"])
            if (value["since"] != "") line = line ", since " value["since"]
            if (value["until"] != "") line = line ", until " value["until"]
            gsub(/ /, " and ", value["aliases"])
            if (value["aliases"] != "") line = line ", also called " value["aliases"]
            print line "."
        }'
}
options_of_page | sort >"$work/described"
if [ -x tools/muster-info ]; then
    options_of_muster | sort >"$work/options"
    awk '
        function owner(name) { return index(name, ".") ? substr(name, 1, index(name, ".") - 1) : "muster" }
        NR == FNR { built[owner($1)]; next }
        owner($1) in built' "$work/options" "$work/described" >"$work/found"
    same "$work/options" "$work/found" "muster-options(7) has what muster-info lists"
else
    skip "muster-options(7) has what muster-info lists" "the tools are not built"
fi

echo "1..$number"
exit $failed
