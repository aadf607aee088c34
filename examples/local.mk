# SPDX-License-Identifier: BSD-3-Clause
#
# Programs to read and to start from; t/package/installed builds them against what was installed.
EXTRA_DIST += \
	examples/README.md \
	examples/backend/Makefile \
	examples/backend/message.c \
	examples/backend/open.c \
	examples/backend/sockets.c \
	examples/backend/sockets.h \
	examples/backend/swap.c \
	examples/backend/thread.c \
	examples/hello/Makefile \
	examples/hello/hello.c \
	examples/interrupt/Makefile \
	examples/interrupt/interrupt.c \
	examples/mixed/Makefile \
	examples/mixed/mixed.c \
	examples/mixed/mixed.py \
	examples/mixed/mixed.sh \
	examples/objects/Makefile \
	examples/objects/objects.c \
	examples/overlap/Makefile \
	examples/overlap/overlap.c \
	examples/shrink/Makefile \
	examples/shrink/shrink.c \
	examples/subgroups/Makefile \
	examples/subgroups/subgroups.c \
	examples/trainer/Makefile \
	examples/trainer/engine.c \
	examples/trainer/model.c \
	examples/trainer/model.h \
	examples/trainer/run.sh \
	examples/trainer/sync.c \
	examples/trainer/sync.h \
	examples/trainer/trainer.c
