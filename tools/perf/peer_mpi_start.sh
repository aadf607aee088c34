# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Compiles muster-perf's peer for the MPI that is here, and runs it: sh -c THIS sh PROGRAM RANKS.
fail() {
    echo "!$*" | tr '\n' ' '
    echo
    exit 1
}
compiler=${MPICC:-$(command -v mpicc.openmpi || command -v mpicc)} || fail "there is no mpicc"
launcher=${MPIRUN:-$(command -v mpirun.openmpi || command -v mpirun)} || fail "there is no mpirun"
folder=$(mktemp -d) || fail "there is no room for a program in a temporary folder"
trap 'rm -rf "$folder"' EXIT
printf '%s' "$1" >"$folder/peer.c"
# shellcheck disable=SC2086 # a command may be several words
words=$($compiler -O2 -o "$folder/peer" "$folder/peer.c" 2>&1 </dev/null) || fail "$compiler: $words"
flags=
# shellcheck disable=SC2086
version=$($launcher --version 2>&1 </dev/null) || case $? in
126 | 127) fail "$launcher can't be run: $version" ;;
esac
case $version in
*OpenRTE* | *"Open MPI"* | *PRRTE*)
    flags=--oversubscribe
    [ "$(id -u)" != 0 ] || flags="$flags --allow-run-as-root"
    ;;
esac
# shellcheck disable=SC2086
$launcher $flags -n "$2" "$folder/peer"
