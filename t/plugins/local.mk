# SPDX-License-Identifier: BSD-3-Clause
#
# Plugins for tests. They lie where only MUSTER_BACKEND_PATH leads.
PLUGIN_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
# A test that loads them.
PLUGINS_CPPFLAGS = $(AM_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"'
check_LTLIBRARIES += \
	t/plugins/muster_rigged.la \
	t/plugins/bad/muster_stale.la \
	t/plugins/bad/muster_short.la \
	t/plugins/bad/muster_mute.la \
	t/plugins/bad/muster_deaf.la \
	t/plugins/bad/muster_absent.la \
	t/plugins/bad/muster_silent.la \
	t/plugins/bad/muster_masked.la \
	t/plugins/bad/muster_vague.la \
	t/plugins/bad/muster_loose.la \
	t/plugins/bad/muster_plain.la \
	t/plugins/gpu/muster_toy.la \
	t/plugins/bad/muster_dumb.la \
	t/plugins/bad/muster_blind.la
t_plugins_muster_rigged_la_SOURCES = \
	t/plugins/rigged.c \
	t/plugins/room.c t/plugins/room.h
t_plugins_muster_rigged_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_stale_la_SOURCES = t/plugins/bad.c
t_plugins_bad_muster_stale_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"stale"' -DBAD_ABI=7
t_plugins_bad_muster_stale_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_short_la_SOURCES = t/plugins/bad.c
t_plugins_bad_muster_short_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"short"' -DBAD_SIZE=16
t_plugins_bad_muster_short_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_mute_la_SOURCES = t/plugins/bad.c
t_plugins_bad_muster_mute_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"mute"' -DBAD_SYMBOL=muster_backend_0
t_plugins_bad_muster_mute_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_deaf_la_SOURCES = t/plugins/bad.c
t_plugins_bad_muster_deaf_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"deaf"' -DBAD_WAIT=NULL
t_plugins_bad_muster_deaf_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_absent_la_SOURCES = t/plugins/bad.c
t_plugins_bad_muster_absent_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"absent"' -DBAD_PROBE=1
t_plugins_bad_muster_absent_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_silent_la_SOURCES = t/plugins/bad.c
t_plugins_bad_muster_silent_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"silent"' -DBAD_PROBE=2
t_plugins_bad_muster_silent_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_masked_la_SOURCES = t/plugins/bad.c
t_plugins_bad_muster_masked_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"somebody"'
t_plugins_bad_muster_masked_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_vague_la_SOURCES = t/plugins/bad.c
t_plugins_bad_muster_vague_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"vague"' -DBAD_OPTION='"iface"'
t_plugins_bad_muster_vague_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_loose_la_SOURCES = t/plugins/bad.c
t_plugins_bad_muster_loose_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"loose"' -DBAD_CALL=nobody_has_this
t_plugins_bad_muster_loose_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_plain_la_SOURCES = t/plugins/bad.c
t_plugins_bad_muster_plain_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"plain"'
t_plugins_bad_muster_plain_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_gpu_muster_toy_la_SOURCES = t/plugins/toy.c
t_plugins_gpu_muster_toy_la_CPPFLAGS = $(AM_CPPFLAGS) -DTOY_NAME='"toy"'
t_plugins_gpu_muster_toy_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_dumb_la_SOURCES = t/plugins/toy.c
t_plugins_bad_muster_dumb_la_CPPFLAGS = $(AM_CPPFLAGS) -DTOY_NAME='"dumb"' -DTOY_CALL=NULL
t_plugins_bad_muster_dumb_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_plugins_bad_muster_blind_la_SOURCES = t/plugins/toy.c
t_plugins_bad_muster_blind_la_CPPFLAGS = $(AM_CPPFLAGS) -DTOY_NAME='"blind"' -DTOY_LOCATE=NULL
t_plugins_bad_muster_blind_la_LDFLAGS = $(PLUGIN_LDFLAGS)
