# SPDX-License-Identifier: BSD-3-Clause
#
# What is installed, what is promised to programs, and packages: scripts that are no tests by themselves.
EXTRA_DIST += \
	abi/growing.suppr \
	abi/library.abi \
	abi/plugin.abi \
	debian/tests/compile \
	debian/tests/control \
	debian/tests/info \
	debian/tests/missing-backend \
	debian/tests/ranks \
	packaging/muster.spec \
	packaging/rpmlint.toml \
	t/cross/run \
	t/package/abi \
	t/package/debs \
	t/package/installed \
	t/package/rpm \
	t/package/run
dist_check_SCRIPTS += \
	t/abi.sh.t \
	t/headers_alone.sh.t

# With the DESTDIR and the prefix that make install had.
installcheck-local:
	DESTDIR='$(DESTDIR)' bindir='$(bindir)' libdir='$(libdir)' includedir='$(includedir)' \
		backendsdir='$(backendsdir)' pkgconfigdir='$(pkgconfigdir)' CC='$(CC)' CFLAGS='$(SANITIZER_CFLAGS)' \
		PKG_CONFIG='$(PKG_CONFIG)' MAKE='$(MAKE)' $(srcdir)/t/package/installed

check-abi: lib/libmuster.la
	CC='$(CC)' $(srcdir)/t/package/abi lib/.libs/libmuster.so
update-abi:
	CC='$(CC)' $(srcdir)/t/package/abi --update
.PHONY: check-abi update-abi
