# SPDX-License-Identifier: BSD-3-Clause
#
# What is installed, what is promised to programs, and packages: scripts that are no tests by themselves.
EXTRA_DIST += \
	abi/growing.suppr \
	abi/library.abi \
	abi/plugin.abi \
	t/cross/run \
	t/package/abi \
	t/package/run
dist_check_SCRIPTS += \
	t/abi.sh.t \
	t/headers_alone.sh.t

check-abi: lib/libmuster.la
	CC='$(CC)' $(srcdir)/t/package/abi lib/.libs/libmuster.so
update-abi:
	CC='$(CC)' $(srcdir)/t/package/abi --update
.PHONY: check-abi update-abi
