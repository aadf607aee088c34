# SPDX-License-Identifier: BSD-3-Clause
#
# The tools.
if TOOLS
bin_PROGRAMS += tools/muster-run
endif
tools_muster_run_LDADD = lib/libmuster.la
tools_muster_run_SOURCES = \
	tools/muster_run.c \
	tools/standard.c tools/standard.h \
	tools/run/ending.c \
	tools/run/environment.c tools/run/environment.h \
	tools/run/families.c tools/run/families.h \
	tools/run/guard.c tools/run/guard.h \
	tools/run/input.c tools/run/input.h \
	tools/run/job.h \
	tools/run/nodes.h \
	tools/run/nodes_address.c \
	tools/run/nodes_judge.c \
	tools/run/nodes_meet.c \
	tools/run/nodes_watch.c \
	tools/run/options.c tools/run/options.h \
	tools/run/output.c tools/run/output.h \
	tools/run/secret.c \
	tools/run/signals.c \
	tools/run/spawn.c \
	tools/run/store.c \
	tools/run/watch.c

# The tools that show what muster does; they see muster.h alone.
if TOOLS
bin_PROGRAMS += tools/muster-gather tools/muster-info tools/muster-perf
noinst_LTLIBRARIES += tools/libtools.la
endif
TOOLS_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools $(JANSSON_CFLAGS)
TOOLS_LDADD = tools/libtools.la lib/libmuster.la $(JANSSON_LIBS)
tools_libtools_la_CPPFLAGS = $(TOOLS_CPPFLAGS)
tools_libtools_la_SOURCES = \
	tools/agree.c tools/agree.h \
	tools/command_line.c tools/command_line.h \
	tools/job_options.c tools/job_options.h \
	tools/paragraph.c tools/paragraph.h \
	tools/prompts.c tools/prompts.h \
	tools/standard.c tools/standard.h \
	tools/stopwatch.h
tools_muster_gather_CPPFLAGS = $(TOOLS_CPPFLAGS)
tools_muster_gather_LDADD = $(TOOLS_LDADD)
tools_muster_gather_SOURCES = \
	tools/muster_gather.c \
	tools/gather/check.c \
	tools/gather/gathers.c \
	tools/gather/groups.c \
	tools/gather/job.h \
	tools/gather/options.c \
	tools/gather/output.c \
	tools/gather/refuse.c \
	tools/gather/summary.c
tools_muster_info_CPPFLAGS = $(TOOLS_CPPFLAGS) \
	-DBACKENDSDIR='"$(backendsdir)"' -DBACKEND_ABI='"$(MUSTER_BACKEND_ABI)"'
tools_muster_info_LDADD = $(TOOLS_LDADD)
tools_muster_info_SOURCES = \
	tools/muster_info.c \
	tools/info/collect.c \
	tools/info/info.h \
	tools/info/job.c \
	tools/info/json.c \
	tools/info/json_words.h \
	tools/info/plan_json.c \
	tools/info/plan_words.c \
	tools/info/words.c
tools_muster_perf_CPPFLAGS = $(TOOLS_CPPFLAGS) -Itools/perf
tools_muster_perf_LDADD = $(TOOLS_LDADD) -lm
tools_muster_perf_SOURCES = \
	tools/muster_perf.c \
	tools/perf/gather.c \
	tools/perf/groups.c \
	tools/perf/lists.c tools/perf/lists.h \
	tools/perf/measure.c \
	tools/perf/options.c \
	tools/perf/overlap.c \
	tools/perf/party.c tools/perf/party.h \
	tools/perf/peer.c tools/perf/peer.h \
	tools/perf/perf.h \
	tools/perf/store.c tools/perf/store.h \
	tools/perf/store_clients.c \
	tools/perf/store_print.c \
	tools/perf/store_serve.c \
	tools/perf/store_work.c \
	tools/perf/sweep.c tools/perf/sweep.h \
	tools/perf/sweep_data.c \
	tools/perf/sweep_operations.c \
	tools/perf/sweep_options.c tools/perf/sweep_options.h \
	tools/perf/sweep_print.c
PERF_STRINGS = tools/perf/peer_mpi.h tools/perf/peer_mpi_start.h tools/perf/peer_torch.h \
	tools/perf/store_torch.h
nodist_tools_muster_perf_SOURCES = $(PERF_STRINGS)
BUILT_SOURCES += $(PERF_STRINGS)
CLEANFILES += $(PERF_STRINGS)
EXTRA_DIST += tools/perf/peer_mpi.c tools/perf/peer_mpi_start.sh tools/perf/peer_torch.py \
	tools/perf/store_torch.py

# A program as a string in C.
PERF_STRING = $(AM_V_GEN)$(MKDIR_P) tools/perf && \
	{ echo "static const char $$(basename $@ .h)_script[] ="; \
	  sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/    "&\\n"/' $< && \
	  echo '    ;'; } >$@.new && mv $@.new $@
tools/perf/peer_mpi.h: tools/perf/peer_mpi.c
	$(PERF_STRING)
tools/perf/peer_mpi_start.h: tools/perf/peer_mpi_start.sh
	$(PERF_STRING)
tools/perf/peer_torch.h: tools/perf/peer_torch.py
	$(PERF_STRING)
tools/perf/store_torch.h: tools/perf/store_torch.py
	$(PERF_STRING)
