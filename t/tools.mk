# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of the tools, and of jobs that they start.
if TOOLS
check_PROGRAMS += \
	t/keep_going.t \
	t/muster_run.t \
	t/muster_run_nodes.t
endif
t_keep_going_t_CPPFLAGS = $(t_muster_run_t_CPPFLAGS)
t_keep_going_t_LDADD = $(GROUP_LDADD)
t_muster_run_nodes_t_SOURCES = t/muster_run_nodes.c t/muster_run.h
t_muster_run_nodes_t_CPPFLAGS = $(t_muster_run_t_CPPFLAGS)
t_muster_run_t_SOURCES = t/muster_run.c t/muster_run.h t/muster_run_ends.c t/muster_run_secret.c
t_muster_run_t_CPPFLAGS = $(AM_CPPFLAGS) -DMUSTER_RUN='"$(abs_top_builddir)/tools/muster-run"' \
	-DTOPOLOGIES='"$(abs_srcdir)/t/topologies"'

# What the tests of the other tools share, and these.
if TOOLS
check_LTLIBRARIES += t/libtooltest.la
check_PROGRAMS += \
	t/many_ranks.t \
	t/muster_gather.t \
	t/muster_info.t \
	t/muster_perf.t \
	t/muster_perf_sweep.t \
	t/shown.t
check_LTLIBRARIES += t/wrong_results.la
endif
TOOLTEST_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) -DTOOLS='"$(abs_top_builddir)/tools"' \
	-DPROMPTS='"$(abs_top_srcdir)/t/data/gsm8k_test_prompts.jsonl"'
TOOLTEST_LDADD = t/libtooltest.la t/libtap.la $(JANSSON_LIBS)
t_libtooltest_la_CPPFLAGS = $(TOOLTEST_CPPFLAGS)
t_libtooltest_la_SOURCES = t/tools.c t/tools.h
EXAMPLES_CPPFLAGS = -DEXAMPLES_CC='"$(CC)"' \
	-DEXAMPLES_FLAGS='"$(SANITIZER_CFLAGS)"' -DSOURCES='"$(abs_top_srcdir)"' \
	-DBUILD='"$(abs_top_builddir)"'
t_shown_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS) $(EXAMPLES_CPPFLAGS)
t_shown_t_LDADD = $(TOOLTEST_LDADD)
t_many_ranks_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS)
t_many_ranks_t_LDADD = $(TOOLTEST_LDADD)
t_muster_gather_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS)
t_muster_gather_t_LDADD = $(TOOLTEST_LDADD)
t_muster_info_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"' \
	-DBACKENDSDIR='"$(backendsdir)"' -DTOPOLOGIES='"$(abs_srcdir)/t/topologies"'
t_muster_info_t_LDADD = $(TOOLTEST_LDADD)
t_muster_perf_sweep_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS) \
	-DWRONG_RESULTS='"$(abs_builddir)/t/.libs/wrong_results.so"'
t_muster_perf_sweep_t_LDADD = $(TOOLTEST_LDADD) -lm
t_muster_perf_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS)
t_muster_perf_t_LDADD = $(TOOLTEST_LDADD)
t_wrong_results_la_LDFLAGS = $(PLUGIN_LDFLAGS)

# several hosts
if TOOLS
check_PROGRAMS += \
	t/hierarchy.t \
	t/launched_hosts.t \
	t/placed_hosts.t \
	t/several_hosts.t \
	t/several_hosts_cut.t
check_LTLIBRARIES += t/libhosts.la
endif
# Two hosts on this machine for whoever measures.
EXTRA_DIST += t/perf_hosts
HOSTS_LDADD = t/libhosts.la $(TOOLTEST_LDADD)
t_libhosts_la_SOURCES = t/hosts.c t/hosts.h
t_hierarchy_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS)
t_hierarchy_t_LDADD = $(HOSTS_LDADD)
t_launched_hosts_t_SOURCES = t/environment.c t/environment.h t/launched_hosts.c
t_launched_hosts_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS)
t_launched_hosts_t_LDADD = $(HOSTS_LDADD)
t_placed_hosts_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS) -DTOPOLOGIES='"$(abs_srcdir)/t/topologies"'
t_placed_hosts_t_LDADD = $(HOSTS_LDADD)
t_several_hosts_cut_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS)
t_several_hosts_cut_t_LDADD = $(HOSTS_LDADD) lib/libmuster.la
t_several_hosts_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS)
t_several_hosts_t_LDADD = $(HOSTS_LDADD)
