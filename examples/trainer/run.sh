#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Three jobs that know nothing of each other but where to meet: a trainer and two engines.
#   ./run.sh      all goes well
#   ./run.sh 4    a rank of engine 1 crashes when it has got version 4 of the weights
cd "$(dirname "$0")" || exit 1
: "${MEET:=tcp://127.0.0.1:29511}" "${MUSTER_RUN:=muster-run}"
# Without this each muster-run makes a secret of its own, and its ranks are turned away by the others.
: "${MUSTER_JOB_SECRET:=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}"
export MUSTER_JOB_SECRET
$MUSTER_RUN -n 2 ./engine "$MEET" 2 0 &
first=$!
$MUSTER_RUN -n 2 ./engine "$MEET" 2 1 "$@" &
$MUSTER_RUN -n 2 ./trainer "$MEET" 2
status=$?
wait $first || status=1
wait
exit $status
