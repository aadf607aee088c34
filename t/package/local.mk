# SPDX-License-Identifier: BSD-3-Clause
#
# What is installed, what is promised to programs, and packages: scripts that are no tests by themselves.
EXTRA_DIST += \
	t/cross/run \
	t/package/run
dist_check_SCRIPTS += \
	t/headers_alone.sh.t
