# SPDX-License-Identifier: BSD-3-Clause
#
# The backend for ranks of one host, which is a part of the library.

# operations in shared memory
lib_libmuster_all_la_SOURCES += \
	backends/local/local.c \
	backends/local/blocks.c backends/local/blocks.h \
	backends/local/hall.c backends/local/hall.h backends/local/hall_memory.h \
	backends/local/relax.h \
	backends/local/round.c backends/local/round.h \
	backends/local/shelf.c backends/local/shelf.h backends/local/shelf_reduce.c \
	backends/local/brief.c backends/local/brief.h \
	backends/local/small.c backends/local/small.h \
	backends/local/station.c backends/local/station.h \
	backends/local/traffic.c backends/local/traffic.h

# opening, messages, life and death
lib_libmuster_all_la_SOURCES += \
	backends/local/bell.c backends/local/bell.h \
	backends/local/birth.c backends/local/birth.h \
	backends/local/breach.c backends/local/breach.h \
	backends/local/card.c backends/local/card.h \
	backends/local/carry.c backends/local/carry.h \
	backends/local/comm.c backends/local/comm.h \
	backends/local/ear.c backends/local/ear.h \
	backends/local/inbound.c backends/local/inbound.h \
	backends/local/message.c backends/local/message.h \
	backends/local/outbound.c backends/local/outbound.h \
	backends/local/process.c backends/local/process.h \
	backends/local/queue.h \
	backends/local/ring.c backends/local/ring.h \
	backends/local/segment.c backends/local/segment.h \
	backends/local/watch.c backends/local/watch.h \
	backends/local/whole.c backends/local/whole.h
