# SPDX-License-Identifier: BSD-3-Clause
# Gloo, from Debian 12's of 2022 to its current main: no version number tells them apart, so the calls that
# the backend makes are compiled and linked.

m4_define([MUSTER_GLOO_PROGRAM], [AC_LANG_PROGRAM([[
#include <gloo/config.h>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>
#if !GLOO_HAVE_TRANSPORT_TCP
#error this Gloo has no tcp transport
#endif]], [[
gloo::transport::tcp::attr attr("127.0.0.1");
auto device = gloo::transport::tcp::CreateDevice(attr);
auto context = device->createContext(0, 2);
auto &pair = context->createPair(1);
pair->connect(pair->address().bytes());
auto buffer = context->createUnboundBuffer(nullptr, 0);
buffer->send(1, 0, 0, 0);
buffer->abortWaitSend();]])])

# gloo_generation: what the headers tell of their age; sets it to one line.
AC_DEFUN([MUSTER_GLOO_GENERATION], [
  AC_MSG_CHECKING([which generation of Gloo it is])
  gloo_generation="of 2022 or earlier"
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <gloo/rendezvous/store.h>
#ifndef GLOO_STORE_HAS_STORE_V2
#error older
#endif]])], [gloo_generation="of 2023 or 2024"])
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <gloo/rendezvous/context.h>
#ifndef GLOO_SHARED_STORE
#error older
#endif]])], [gloo_generation="of 2025 or later"])
  AC_MSG_RESULT([$gloo_generation])
])

# Looks for the option and the link line that work; sets muster_gloo, GLOO_CXXFLAGS, GLOO_LIBS.
AC_DEFUN([MUSTER_GLOO_SEARCH], [
  AC_LANG_PUSH([C++])
  AC_MSG_CHECKING([for Gloo])
  muster_saved_CPPFLAGS=$CPPFLAGS; muster_saved_CXXFLAGS=$CXXFLAGS; muster_saved_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $GLOO_CFLAGS"
  for muster_libs in "${GLOO_LIBS-${muster_gloo_dirs# }${muster_gloo_dirs:+ }-lgloo}" "$muster_gloo_dirs -lgloo -lpthread" \
                     "$muster_gloo_dirs -lgloo -lhiredis -libverbs -lpthread"; do
    for muster_std in -std=gnu++17 -std=gnu++20; do
      CXXFLAGS="$muster_saved_CXXFLAGS $muster_std"; LIBS="$muster_libs $muster_saved_LIBS"
      AC_LINK_IFELSE([MUSTER_GLOO_PROGRAM], [muster_gloo=yes])
      test "x$muster_gloo" = xyes && break
    done
    test "x$muster_gloo" = xyes || test "${GLOO_LIBS+set}" = set && break
  done
  AS_IF([test "x$muster_gloo" = xyes],
    [AC_MSG_RESULT([yes ($muster_std, $muster_libs)])], [AC_MSG_RESULT([no])])
  AS_IF([test "x$muster_gloo" = xyes],
    [GLOO_CXXFLAGS=$muster_std; GLOO_LIBS=$muster_libs
     MUSTER_GLOO_GENERATION
     AC_DEFINE_UNQUOTED([GLOO_GENERATION], ["$gloo_generation"], [what Gloo's headers tell of its age])
     gloo_summary="yes, for a Gloo $gloo_generation ($muster_libs)"])
  CPPFLAGS=$muster_saved_CPPFLAGS; CXXFLAGS=$muster_saved_CXXFLAGS; LIBS=$muster_saved_LIBS
  AC_LANG_POP([C++])
])

AC_DEFUN([MUSTER_WITH_GLOO], [
  MUSTER_WITH([gloo], [GLOO], [build the gloo backend], [gloo/config.h])
  muster_gloo=no
  muster_gloo_why="no usable Gloo: install libgloo-dev; config.log has what was tried"
  # AC_PROG_CXX is content with a compiler that is not there.
  AS_IF([test "x$with_gloo" != xno], [
    AC_LANG_PUSH([C++])
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[class c {};]])], [muster_cxx=yes], [muster_cxx=no])
    AC_LANG_POP([C++])
    AS_IF([test "x$muster_cxx" = xyes], [MUSTER_GLOO_SEARCH],
      [muster_gloo_why="no C++ compiler: install g++"])
  ])
  AC_SUBST([GLOO_CXXFLAGS])
  AS_IF([test "x$muster_gloo" = xyes], [AC_DEFINE([HAVE_GLOO], [1], [the gloo backend is built])])
  MUSTER_FOUND([gloo], [$muster_gloo], [$muster_gloo_why])
  AM_CONDITIONAL([GLOO], [test "x$muster_gloo" = xyes])
])
