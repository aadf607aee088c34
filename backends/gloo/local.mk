# SPDX-License-Identifier: BSD-3-Clause
#
# The gloo backend. A plugin: it exports its table and nothing else, and links nothing of libmuster.
if GLOO
backends_LTLIBRARIES += backends/gloo/muster_gloo.la
endif
backends_gloo_muster_gloo_la_CPPFLAGS = $(AM_CPPFLAGS) $(GLOO_CFLAGS)
backends_gloo_muster_gloo_la_CXXFLAGS = $(AM_CXXFLAGS) $(GLOO_CXXFLAGS)
backends_gloo_muster_gloo_la_LIBADD = $(GLOO_LIBS)
# libtool's own ways to limit what is exported do nothing for C++.
backends_gloo_muster_gloo_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined
EXTRA_backends_gloo_muster_gloo_la_DEPENDENCIES = $(srcdir)/backends/gloo/muster_gloo.map
EXTRA_DIST += backends/gloo/muster_gloo.map
if HAVE_VERSION_SCRIPT
backends_gloo_muster_gloo_la_LDFLAGS += \
	-Wl,--version-script,$(srcdir)/backends/gloo/muster_gloo.map
endif
backends_gloo_muster_gloo_la_SOURCES = \
	backends/gloo/backend.c \
	backends/gloo/card.c backends/gloo/card.h \
	backends/gloo/comm.c backends/gloo/comm.h \
	backends/gloo/descriptors.c backends/gloo/descriptors.h \
	backends/gloo/device.c backends/gloo/device.h \
	backends/gloo/failure.c backends/gloo/failure.h \
	backends/gloo/gloo_c.cc backends/gloo/gloo_c.h \
	backends/gloo/guests.c backends/gloo/guests.h \
	backends/gloo/handover.c backends/gloo/handover.h \
	backends/gloo/links.c backends/gloo/links.h \
	backends/gloo/mesh.c backends/gloo/mesh.h \
	backends/gloo/message.c backends/gloo/message.h \
	backends/gloo/note.c backends/gloo/note.h \
	backends/gloo/plug.c backends/gloo/plug.h \
	backends/gloo/reaper.c backends/gloo/reaper.h \
	backends/gloo/watch.c backends/gloo/watch.h \
	lib/base/signals.c lib/base/signals.h
