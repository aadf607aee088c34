# SPDX-License-Identifier: BSD-3-Clause
# Gloo, from Debian 12's of 2022 to its current main: no version number tells them apart, so the calls that
# the backend makes are compiled and linked.
AC_DEFUN([MUSTER_WITH_GLOO], [
  MUSTER_WITH([gloo], [GLOO], [build the gloo backend])
  muster_gloo=no
  MUSTER_FOUND([gloo], [$muster_gloo], [not looked for])
  AM_CONDITIONAL([GLOO], [test "x$muster_gloo" = xyes])
])
