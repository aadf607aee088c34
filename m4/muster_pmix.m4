# SPDX-License-Identifier: BSD-3-Clause
# libpmix is opened at run time, so nothing is linked: its header, where it is there, is what lib/launch/pmix_check.c
# compares our declarations with.
AC_DEFUN([MUSTER_CHECK_PMIX], [
  pmix_summary="not compared, for there is no pmix.h (libpmix-dev)"
  PKG_CHECK_MODULES([PMIX], [pmix], [
    muster_saved_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $PMIX_CFLAGS"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <pmix.h>]], [])],
      [AC_DEFINE([HAVE_PMIX_H], [1], [PMIx's own header is there to compare with])
       pmix_summary="compared with $($PKG_CONFIG --modversion pmix)"])
    CPPFLAGS=$muster_saved_CPPFLAGS
  ], [PMIX_CFLAGS=])
])
