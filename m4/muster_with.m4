# SPDX-License-Identifier: BSD-3-Clause
# The packages that muster can use: --with-NAME takes auto, yes, no or a prefix. With yes or a prefix a
# package that can't be used stops configure; NAME_CFLAGS and NAME_LIBS are taken as they stand.

# MUSTER_WITH(name, NAME, what it is for, its header): sets with_name, and NAME_CFLAGS, NAME_LIBS from a prefix.
AC_DEFUN([MUSTER_WITH], [
  AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1=auto|yes|no|DIR], [$3 (auto)])],
    [], [with_$1=auto])
  AC_ARG_VAR([$2_CFLAGS], [compiler flags for $1, instead of what configure finds])
  AC_ARG_VAR([$2_LIBS], [linker flags for $1, instead of what configure finds])
  AS_CASE([$with_$1], [auto|yes|no], [],
    [/*], [AS_IF([test -f "$with_$1/include/$4"], [],
             [AC_MSG_ERROR([--with-$1=$with_$1: there is no $with_$1/include/$4])])
      : "${$2_CFLAGS=-I$with_$1/include}"
      for muster_lib in lib64 lib "lib/$($CC -print-multiarch 2>/dev/null)"; do
        AS_IF([test -d "$with_$1/$muster_lib"],
          [muster_$1_dirs="$muster_$1_dirs -L$with_$1/$muster_lib -Wl,-rpath,$with_$1/$muster_lib"])
      done],
    [AC_MSG_ERROR([--with-$1=$with_$1: give auto, yes, no or an absolute directory])])
])

# MUSTER_FOUND(name, found, why not): the summary, and an error where it was asked for.
AC_DEFUN([MUSTER_FOUND], [
  AS_IF([test "x$2" = xyes], [],
    [test "x$with_$1" = xno], [$1_summary="no (--without-$1)"],
    [test "x$with_$1" = xauto], [$1_summary="no ($3)"],
    [AC_MSG_ERROR([--with-$1=$with_$1: $3])])
])

AC_DEFUN([MUSTER_WITH_HWLOC], [
  MUSTER_WITH([hwloc], [HWLOC], [show the machine's topology with hwloc], [hwloc.h])
  muster_hwloc=no
  AS_IF([test "x$with_hwloc" != xno], [
    AS_IF([test -z "$HWLOC_LIBS" && test "x$muster_hwloc_dirs" = x],
      [PKG_CHECK_EXISTS([hwloc], [
         HWLOC_CFLAGS=$($PKG_CONFIG --cflags hwloc)
         HWLOC_LIBS=$($PKG_CONFIG --libs hwloc)])])
    : "${HWLOC_LIBS=$muster_hwloc_dirs -lhwloc}"
    AC_MSG_CHECKING([for hwloc 2])
    muster_saved_CPPFLAGS=$CPPFLAGS; muster_saved_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $HWLOC_CFLAGS"; LIBS="$HWLOC_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <hwloc.h>
#if HWLOC_API_VERSION < 0x00020000
#error older than 2.0
#endif]], [[return (int)hwloc_get_api_version();]])], [muster_hwloc=yes])
    CPPFLAGS=$muster_saved_CPPFLAGS; LIBS=$muster_saved_LIBS
    AC_MSG_RESULT([$muster_hwloc])
  ])
  AS_IF([test "x$muster_hwloc" = xyes],
    [AC_DEFINE([HAVE_HWLOC], [1], [hwloc 2 or later is there])
     hwloc_summary="yes ($(echo $HWLOC_LIBS))"],
    [HWLOC_CFLAGS=; HWLOC_LIBS=])
  MUSTER_FOUND([hwloc], [$muster_hwloc], [no usable hwloc 2: install libhwloc-dev])
  AM_CONDITIONAL([HWLOC], [test "x$muster_hwloc" = xyes])
])

# Without it no job secret can be proved, and one that is set is an error at run time.
AC_DEFUN([MUSTER_WITH_SODIUM], [
  MUSTER_WITH([sodium], [SODIUM], [prove the job secret with libsodium], [sodium.h])
  muster_sodium=no
  AS_IF([test "x$with_sodium" != xno], [
    AS_IF([test -z "$SODIUM_LIBS" && test "x$muster_sodium_dirs" = x],
      [PKG_CHECK_EXISTS([libsodium], [
         SODIUM_CFLAGS=$($PKG_CONFIG --cflags libsodium)
         SODIUM_LIBS=$($PKG_CONFIG --libs libsodium)])])
    : "${SODIUM_LIBS=$muster_sodium_dirs -lsodium}"
    AC_MSG_CHECKING([for libsodium])
    muster_saved_CPPFLAGS=$CPPFLAGS; muster_saved_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $SODIUM_CFLAGS"; LIBS="$SODIUM_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <sodium.h>]], [[
unsigned char key[crypto_auth_hmacsha256_KEYBYTES], proof[crypto_auth_hmacsha256_BYTES];
randombytes_buf(key, sizeof(key));
crypto_auth_hmacsha256(proof, key, sizeof(key), key);
return sodium_init() + sodium_memcmp(key, proof, sizeof(key));]])], [muster_sodium=yes])
    CPPFLAGS=$muster_saved_CPPFLAGS; LIBS=$muster_saved_LIBS
    AC_MSG_RESULT([$muster_sodium])
  ])
  AS_IF([test "x$muster_sodium" = xyes],
    [AC_DEFINE([HAVE_SODIUM], [1], [libsodium is there])
     sodium_summary="yes ($(echo $SODIUM_LIBS))"],
    [SODIUM_CFLAGS=; SODIUM_LIBS=])
  MUSTER_FOUND([sodium], [$muster_sodium], [no usable libsodium: install libsodium-dev])
  AM_CONDITIONAL([SODIUM], [test "x$muster_sodium" = xyes])
])

# NVIDIA's headers only, which a test compares muster's own declarations with: muster links neither CUDA nor NCCL.
AC_DEFUN([MUSTER_WITH_HEADER], [
  muster_$1=no
  AS_IF([test "x$with_$1" != xno], [
    for muster_include in "$$2_CFLAGS" "" $4; do
      muster_saved_CPPFLAGS=$CPPFLAGS
      CPPFLAGS="$CPPFLAGS $muster_include"
      AS_UNSET([ac_cv_header_]AS_TR_SH([$3]))
      AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <$3>]])],
        [muster_$1=yes; $2_CFLAGS=$muster_include])
      CPPFLAGS=$muster_saved_CPPFLAGS
      test "x$muster_$1" = xyes && break
    done
  ])
  AS_IF([test "x$muster_$1" = xyes],
    [AC_DEFINE([HAVE_$2_HEADER], [1], [$3 is there])
     $1_summary="compared with muster's declarations"])
])

AC_DEFUN([MUSTER_WITH_CUDA], [
  MUSTER_WITH([cuda], [CUDA], [compare declarations with the CUDA runtime's header], [cuda_runtime_api.h])
  MUSTER_WITH_HEADER([cuda], [CUDA], [cuda_runtime_api.h], [-I/usr/local/cuda/include])
  MUSTER_FOUND([cuda], [$muster_cuda], [no cuda_runtime_api.h])
])

# The backend itself is always built, unless it is to be left out.
# There is no CUDA for machines whose pointers are narrow.
AC_DEFUN([MUSTER_WITH_NCCL], [
  AC_REQUIRE([MUSTER_WIDE])
  MUSTER_WITH([nccl], [NCCL], [compare declarations with NCCL's header; no: leave the nccl backend out],
    [nccl.h])
  MUSTER_WITH_HEADER([nccl], [NCCL], [nccl.h], [$CUDA_CFLAGS])
  MUSTER_FOUND([nccl], [$muster_nccl], [no nccl.h])
  AS_IF([test "x$muster_wide" = xno && test "x$with_nccl" = xyes],
    [AC_MSG_ERROR([--with-nccl=yes: there is no NCCL where pointers have 32 bits])])
  AM_CONDITIONAL([NCCL], [test "x$with_nccl" != xno && test "x$muster_wide" = xyes])
  AS_IF([test "x$with_nccl" = xno],
    [nccl_backend_summary="no (--without-nccl)"],
    [test "x$muster_wide" = xno],
    [nccl_backend_summary="no (pointers have 32 bits)"],
    [nccl_backend_summary="yes, opens NCCL and CUDA when it runs"])
])

# The tools read and write JSON with jansson.
AC_DEFUN([MUSTER_TOOLS], [
  AC_ARG_ENABLE([tools],
    [AS_HELP_STRING([--disable-tools], [leave out muster-run, muster-info, muster-gather and muster-perf])],
    [], [enable_tools=yes])
  AS_IF([test "x$enable_tools" = xyes],
    [PKG_CHECK_MODULES([JANSSON], [jansson >= 2.7], [],
       [AC_MSG_ERROR([the tools need jansson: install libjansson-dev, or give --disable-tools])])
     tools_summary=yes],
    [tools_summary="no (--disable-tools)"])
  AM_CONDITIONAL([TOOLS], [test "x$enable_tools" = xyes])
])

# What a distribution calls the packages of the backends, for sentences that say what to install.
AC_DEFUN([MUSTER_BACKEND_PACKAGES], [
  AC_ARG_WITH([backend-packages],
    [AS_HELP_STRING([--with-backend-packages=PREFIX],
      [what the names of the backends' packages begin with, for sentences (none)])],
    [], [with_backend_packages=no])
  AS_CASE([$with_backend_packages],
    [no], [AC_DEFINE([BACKEND_PACKAGE(name)], ["the " name " backend's package"],
             [what is to be installed where a backend is missing])],
    [yes], [AC_MSG_ERROR([--with-backend-packages wants the prefix, such as libmuster-])],
    [AC_DEFINE_UNQUOTED([BACKEND_PACKAGE(name)], ["the package $with_backend_packages" name])])
])
