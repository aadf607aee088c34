#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The examples as a user has them: built by their own Makefiles, without a warning, against what `make install` puts
# into a folder, and run. The backend among them is put through muster's own tests.

srcdir=$(cd "${srcdir:-.}" && pwd)
setting() { sed -n "s/^$1 = //p" Makefile | head -n 1; } # of the build
[ -x tools/muster-run ] || {
    echo "1..0 # SKIP muster-run was not built"
    exit 0
}
command -v pkg-config >/dev/null 2>&1 || {
    echo "1..0 # SKIP no pkg-config"
    exit 0
}

work=$(mktemp -d "${TMPDIR:-/tmp}/muster-examples-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
seconds=$((60 * ${MUSTER_TEST_TIMEOUT_FACTOR:-1}))
number=0

point() { # STATUS NAME
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/said" "$work/errors"
    fi
}

skip() { # NAME REASON
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

run() { # COMMAND...
    timeout "$seconds" "$@" >"$work/said" 2>"$work/errors"
}

says() { # TIMES LINE NAME: a pattern for whole lines
    [ "$(grep -cxE "$2" "$work/said")" -eq "$1" ]
    point $? "$3"
}

builds() { # NAME PROGRAM...
    example=$1
    shift
    run make -s -C "$work/examples/$example" CC="$compiler" CFLAGS="$flags" &&
        cd "$work/examples/$example" && [ ! -s "$work/errors" ] && ls "$@" >/dev/null
    point $? "$example is built without a warning"
}

# ---- the installation ----

compiler=${CC:-$(setting CC)}
flags="-std=c11 -g -O1 -Wall -Wextra -pedantic -Werror $(setting SANITIZER_CFLAGS)"
build=$PWD
unset MAKEFLAGS MFLAGS MAKELEVEL MUSTER_BACKEND_PATH MUSTER_JOB_SECRET MUSTER_OPTIONS
run make -s install DESTDIR="$work/stage"
point $? "make install"
PATH=$(dirname "$(find "$work/stage" -name muster-run)"):$PATH
LD_LIBRARY_PATH=$(dirname "$(find "$work/stage" -name libmuster.so)")
PKG_CONFIG_PATH=$LD_LIBRARY_PATH/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$work/stage
export PATH LD_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
cp -r "$srcdir/examples" "$work/examples" && chmod -R u+w "$work/examples"

# ---- programs of one job ----

builds hello hello
run make -s run
says 4 'rank [0-3] of 4 on local received:( \| [0-3] \| 10[0-3] -1){2}' "hello: every rank says what it received"

builds objects objects
run make -s run
says 4 'rank [0-3] has 6 records of 232 bytes in order' "objects: every rank has all records in order"
says 1 '\{"rank":3,"record":2,"text":"to be or no"\}' "objects: as they were given"

builds subgroups subgroups
run make -s run
says 8 "rank [0-7]: 65536 of 65536 elements are as the world's all_reduce has them" \
    "subgroups: reducing in steps is reducing at once"
says 2 '(regular group of ranks 4,5|orthogonal group of ranks 1,3,5,7)' "subgroups: both families"
run muster-run -q -n 2 ./subgroups 3
[ $? -eq 1 ] && grep -q 'subgroups: group .world.*divide' "$work/errors"
point $? "subgroups: a size that does not divide is refused"

builds overlap overlap
run make -s run
says 4 'rank [0-3]: the sum of all is 25599760' "overlap: all parts are reduced"

builds shrink shrink
run make -s run
says 3 'rank [0-2], at first [024], ends with 3 ranks at step 15' "shrink: three ranks come to the end"
says 3 'rank [0-9] goes on without rank 1' "shrink: without the first that was lost"

# The shell has background processes ignore the interrupt; a program that handles it does not.
builds interrupt interrupt
muster-run -n 3 ./interrupt >"$work/said" 2>"$work/errors" &
job=$!
tries=0
while [ "$(grep -c 'is at work' "$work/said")" -lt 3 ] && [ $tries -lt $((10 * seconds)) ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -INT $job
wait $job
says 3 "interrupted: group 'world', rank [0-2], .*" "interrupt: every rank ends in good order"
[ ! -s "$work/errors" ]
point $? "interrupt: without an error"

builds mixed mixed

# ---- the trainer and the engines ----

# An address of its own, so that the port is free.
MEET=tcp://127.$(($$ / 65536 % 100 + 27)).$(($$ / 256 % 256)).$(($$ % 256)):29511
grep -q '^#define HAVE_SODIUM 1' "$build/config.h" || MUSTER_RUN="muster-run --no-secret"
export MEET ${MUSTER_RUN:+MUSTER_RUN}
last_version='version 8, checksum 08f44a4ad942bca4'

builds trainer trainer engine
run make -s run
point $? "trainer: three jobs come to the end"
says 1 "trainer: $last_version, engines 2: 6 answers of 75 tokens, 6 right" "trainer: it has learned"
says 2 "engine [01]: $last_version; 8 versions, 24 answers" "trainer: the engines have its weights"
run ./run.sh 4
point $? "trainer: where an engine is lost the others come to the end"
says 1 'trainer: engine 1 is lost; going on without it' "trainer: it names the engine"
says 1 "trainer: group 'weight sync', rank 0, muster_[a-z_]*: .*ranks? [34].*" "trainer: and the rank"
says 1 "engine 0: $last_version; 8 versions, (39|42) answers" "trainer: the other engine answers all prompts from then on"
says 1 'trainer: 6 of 6 answers are right at last' "trainer: it has learned all the same"

# ---- a backend ----

builds backend muster_sockets.so swap
run make -s run
says 4 'rank [0-3] of 4 on sockets: 0 errors' "backend: a group works on it"
run env MUSTER_BACKEND_PATH="$PWD" muster-info
says 1 ' *sockets  *version 1\.0' "backend: muster-info has found it"
run env MUSTER_BACKEND_PATH="$PWD" muster-run -q -n 2 -x MUSTER_OPTIONS=sockets.piece=100 ./swap sockets
says 2 'rank [01] of 2 on sockets: 0 errors' "backend: with another size of packets"
run env MUSTER_BACKEND_PATH="$PWD" muster-run -q -n 2 -x MUSTER_OPTIONS=sockets.piece=0 ./swap sockets
[ $? -eq 1 ] && grep -q 'sockets.piece is 0, not 1 to 65536' "$work/errors"
point $? "backend: a wrong option is refused"

over() { # NAME VARIABLE=VALUE... TEST CASE: one of muster's own tests
    name="backend: muster's own tests of $1"
    shift
    if [ ! -x "$build/t/local_failures.t" ] || [ ! -x "$build/t/collective_model.t" ]; then
        skip "$name" "they were not built"
        return
    fi
    run env "$@"
    status=$?
    ! grep -q '^not ok' "$work/said" && [ $status -eq 0 ]
    point $? "$name"
}
plugin=$PWD
cd "$build" || exit 1
over "a backend that loses ranks" MUSTER_TEST_PLUGIN="$plugin/muster_sockets.so" t/local_failures.t
over "every collective" MUSTER_BACKEND_PATH="$plugin" MUSTER_TEST_BACKEND=sockets t/collective_model.t "ranks 3"
if [ -n "${MUSTER_TEST_LARGE-}" ]; then
    over "messages" MUSTER_TEST_PLUGIN="$plugin/muster_sockets.so" t/local_messages.t
else
    skip "backend: muster's own tests of messages" "MUSTER_TEST_LARGE is not set"
fi
echo "1..$number"
