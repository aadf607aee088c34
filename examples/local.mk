# SPDX-License-Identifier: BSD-3-Clause
#
# Programs to read and to start from; after the installation they are compiled against its headers.
EXTRA_DIST += \
	examples/Makefile \
	examples/hello.c \
	examples/interrupt.c \
	examples/mixed.c \
	examples/mixed.py \
	examples/mixed.sh \
	examples/overlap.c \
	examples/shrink.c

installcheck-local:
	for source in $(top_srcdir)/examples/*.c; do \
		$(CC) $(C11_CFLAGS) -I$(DESTDIR)$(includedir) -fsyntax-only $$source || exit 1; \
	done
