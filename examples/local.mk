# SPDX-License-Identifier: BSD-3-Clause
#
# Programs to read and to start from; t/package/installed builds them against what was installed.
EXTRA_DIST += \
	examples/Makefile \
	examples/hello.c \
	examples/interrupt.c \
	examples/mixed.c \
	examples/mixed.py \
	examples/mixed.sh \
	examples/overlap.c \
	examples/shrink.c
