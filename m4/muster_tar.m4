# SPDX-License-Identifier: BSD-3-Clause
# Two runs of "make dist" give the same bytes, whoever makes them, whenever and wherever: automake's own tar keeps the
# order of the folder, the user, the umask and the time.

# MUSTER_TAR: another am__tar, where tar is GNU's; the time is SOURCE_DATE_EPOCH, else that of the last commit, else now.
AC_DEFUN([MUSTER_TAR], [
  muster_tar="--format=posix --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX"
  muster_tar="$muster_tar --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"
  AS_IF([${TAR-tar} $muster_tar --mtime=@0 -cf /dev/null "$srcdir/configure.ac" >/dev/null 2>&1],
    [muster_tar_time='$${SOURCE_DATE_EPOCH:-$$(git -C "$(srcdir)" log -1 --format=%ct 2>/dev/null || date +%s)}'
     am__tar='$${TAR-tar} '"$muster_tar"' --mtime="@'"$muster_tar_time"'" -chf - "$$tardir"'])
])
