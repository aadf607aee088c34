# SPDX-License-Identifier: BSD-3-Clause
# What is asked of the compiler and the linker.

# C11 with atomics and thread-local variables, or stop.
AC_DEFUN([MUSTER_C11], [
  AC_MSG_CHECKING([for the option that $CC needs for C11])
  muster_c11=unknown
  muster_saved_CFLAGS=$CFLAGS
  for option in "" -std=gnu11; do
    CFLAGS="$muster_saved_CFLAGS $option"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#if __STDC_VERSION__ < 201112L
#error older than C11
#endif
#include <stdatomic.h>
static _Thread_local atomic_int counter;]], [[return atomic_load(&counter);]])],
      [muster_c11=$option; break])
  done
  CFLAGS=$muster_saved_CFLAGS
  AS_IF([test "x$muster_c11" = xunknown],
    [AC_MSG_RESULT([none works])
     AC_MSG_ERROR([muster needs a C compiler that knows C11 with <stdatomic.h>])])
  AC_MSG_RESULT([${muster_c11:-none}])
  AC_SUBST([C11_CFLAGS], [$muster_c11])
])

# WARN_CFLAGS and WARN_CXXFLAGS: what the compiler knows of our list. Errors only on request.
AC_DEFUN([MUSTER_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors (for CI)])],
    [], [enable_werror=no])
  muster_common="-Wall -Wextra -Wpointer-arith -Wcast-align -Wwrite-strings -Wshadow -Wundef -Wvla"
  muster_c_only="-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition"
  AS_IF([test "x$enable_werror" = xyes],
    [muster_common="$muster_common -Werror"; werror_summary="are errors"],
    [werror_summary="are not errors"])
  WARN_CFLAGS=
  for option in $muster_common $muster_c_only; do
    muster_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $option"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[extern int x;]])], [WARN_CFLAGS="$WARN_CFLAGS $option"])
    CFLAGS=$muster_saved_CFLAGS
  done
  WARN_CXXFLAGS="$muster_common"
  AC_SUBST([WARN_CFLAGS])
  AC_SUBST([WARN_CXXFLAGS])
])

# --enable-sanitizer=address,undefined, and --enable-fuzzing, which is that for all code and clang's fuzzer for t/fuzz.
AC_DEFUN([MUSTER_SANITIZER], [
  AC_ARG_ENABLE([sanitizer],
    [AS_HELP_STRING([--enable-sanitizer=LIST], [build with -fsanitize=LIST])],
    [AS_CASE([$enable_sanitizer], [yes], [enable_sanitizer=address,undefined])],
    [enable_sanitizer=no])
  AC_ARG_ENABLE([fuzzing],
    [AS_HELP_STRING([--enable-fuzzing], [build for 'make fuzz', with CC=clang])],
    [], [enable_fuzzing=no])
  FUZZ_LDFLAGS=
  AS_IF([test "x$enable_fuzzing" != xno],
    [AS_IF([test "x$enable_sanitizer" = xno], [enable_sanitizer=address,undefined])
     enable_sanitizer=fuzzer-no-link,$enable_sanitizer
     FUZZ_LDFLAGS=-fsanitize=fuzzer
     muster_saved_CFLAGS=$CFLAGS
     AC_MSG_CHECKING([whether $CC has a fuzzer])
     CFLAGS="$CFLAGS -fsanitize=fuzzer"
     AC_LINK_IFELSE([AC_LANG_SOURCE([[
int LLVMFuzzerTestOneInput(const unsigned char *data, __SIZE_TYPE__ size);
int LLVMFuzzerTestOneInput(const unsigned char *data, __SIZE_TYPE__ size) { return data == 0 && size > 0; }]])],
       [AC_MSG_RESULT([yes])],
       [AC_MSG_RESULT([no])
        AC_MSG_ERROR([--enable-fuzzing needs libFuzzer: configure with CC=clang CXX=clang++])])
     CFLAGS=$muster_saved_CFLAGS])
  AC_SUBST([FUZZ_LDFLAGS])
  AM_CONDITIONAL([FUZZING], [test "x$enable_fuzzing" != xno])
  SANITIZER_CFLAGS=
  AS_IF([test "x$enable_sanitizer" != xno],
    [SANITIZER_CFLAGS="-fsanitize=$enable_sanitizer -fno-sanitize-recover=all -fno-omit-frame-pointer"],
    [enable_sanitizer=none])
  AC_SUBST([SANITIZER_CFLAGS])
  AM_CONDITIONAL([SANITIZED], [test "x$enable_sanitizer" != xnone])
])

# Whether the linker takes a version script, and -z defs.
AC_DEFUN([MUSTER_VERSION_SCRIPT], [
  muster_saved_LDFLAGS=$LDFLAGS
  AC_MSG_CHECKING([whether the linker takes a version script])
  AS_ECHO(["MUSTER_0 { global: f; local: *; };"]) >conftest.map
  LDFLAGS="$muster_saved_LDFLAGS -shared -fPIC -Wl,--version-script,conftest.map"
  AC_LINK_IFELSE([AC_LANG_SOURCE([[int f(void); int f(void) { return 0; }]])],
    [muster_vscript=yes], [muster_vscript=no])
  rm -f conftest.map
  AC_MSG_RESULT([$muster_vscript])
  LDFLAGS=$muster_saved_LDFLAGS
  AM_CONDITIONAL([HAVE_VERSION_SCRIPT], [test "x$muster_vscript" = xyes])
])

# VECTOR_CFLAGS: for loops over arrays, vector code also where it pays for long ones only. Products are not
# contracted with sums, and none is kept wider than its type, so that results are the same on every machine; nobody
# looks at floating-point exceptions.
AC_DEFUN([MUSTER_VECTOR], [
  VECTOR_CFLAGS=
  for option in -ftree-vectorize -fvect-cost-model=dynamic -ffp-contract=off -fexcess-precision=standard \
    -fno-trapping-math; do
    muster_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $option"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[extern int x;]])], [VECTOR_CFLAGS="$VECTOR_CFLAGS $option"])
    CFLAGS=$muster_saved_CFLAGS
  done
  AC_SUBST([VECTOR_CFLAGS])
])

# HAVE_TARGET_CLONES: whether compiler, linker and libc make functions of several versions, for the processors of this
# architecture, and choose one of them as a program starts. Comes behind MUSTER_SANITIZER, which may have a say.
AC_DEFUN([MUSTER_CLONES], [
  AC_MSG_CHECKING([for functions of several versions])
  muster_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $SANITIZER_CFLAGS"
  muster_program='
__attribute__((target_clones("avx2", "default"))) static int twice(int x) { return 2 * x; }
typedef int (*function)(int);
static const function table[[]] = {twice};
int main(int argc, char **argv) { (void)argv; return table[[argc - 1]](argc) != 2 * argc; }'
  AC_RUN_IFELSE([AC_LANG_SOURCE([$muster_program])], [muster_clones=yes], [muster_clones=no],
    [AC_LINK_IFELSE([AC_LANG_SOURCE([$muster_program])], [muster_clones=yes], [muster_clones=no])])
  CFLAGS=$muster_saved_CFLAGS
  AC_MSG_RESULT([$muster_clones])
  AS_IF([test "x$muster_clones" = xyes],
    [AC_DEFINE([HAVE_TARGET_CLONES], [1], [Define to 1 where functions can have several versions.])])
])

# muster_wide: whether pointers and sizes have 64 bits.
AC_DEFUN([MUSTER_WIDE], [
  AC_MSG_CHECKING([whether pointers have 64 bits])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [[static int wide[sizeof(void *) >= 8 ? 1 : -1]; (void)wide;]])],
    [muster_wide=yes], [muster_wide=no])
  AC_MSG_RESULT([$muster_wide])
  AM_CONDITIONAL([WIDE], [test "x$muster_wide" = xyes])
])
