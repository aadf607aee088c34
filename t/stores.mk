# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of stores, of launchers, and of the way to a store.

# stores
check_LTLIBRARIES += t/libstoretest.la
t_libstoretest_la_SOURCES = \
	t/store_conformance.c t/store_conformance.h \
	t/store_peers.c t/store_peers.h
STORE_LDADD = t/libstoretest.la $(UNIT_LDADD)
check_PROGRAMS += \
	t/job_secret.t \
	t/key_map.t \
	t/name_lookup.t \
	t/socket.t \
	t/store_attacks.t \
	t/store_family.t \
	t/store_file.t \
	t/store_hash.t \
	t/store_prefix.t \
	t/store_secret.t \
	t/store_tcp.t \
	t/store_torch.t \
	t/tcp_await.t \
	t/tcp_entry.t \
	t/tcp_large.t \
	t/tcp_protocol.t \
	t/tcp_server.t \
	t/tcp_session.t
t_socket_t_LDADD = $(STORE_LDADD)
t_store_attacks_t_SOURCES = t/store_attacks.c t/siege.c t/siege.h t/siege_crowd.c
t_store_attacks_t_LDADD = $(STORE_LDADD)
t_store_family_t_LDADD = $(STORE_LDADD)
t_store_file_t_LDADD = $(STORE_LDADD)
t_store_hash_t_LDADD = $(STORE_LDADD)
t_store_prefix_t_LDADD = $(STORE_LDADD)
t_store_secret_t_LDADD = $(STORE_LDADD)
t_store_tcp_t_LDADD = $(STORE_LDADD)
t_store_torch_t_CPPFLAGS = $(AM_CPPFLAGS) -DPYTHON='"$(abs_srcdir)/t/python"'
t_store_torch_t_LDADD = $(STORE_LDADD)
t_tcp_await_t_LDADD = $(STORE_LDADD)
t_tcp_server_t_LDADD = $(STORE_LDADD)
EXTRA_DIST += t/python/store_torch.py

# torchrun, files of torch, mixed jobs
check_PROGRAMS += t/torch_file.t
if TOOLS
check_PROGRAMS += \
	t/mixed.t \
	t/report.t \
	t/torchrun.t
endif
EXTRA_DIST += t/torch_file.py
t_mixed_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS) $(EXAMPLES_CPPFLAGS)
t_mixed_t_LDADD = t/libtooltest.la $(GROUP_LDADD) $(JANSSON_LIBS)
t_report_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
t_report_t_LDADD = $(UNIT_LDADD) $(JANSSON_LIBS)
t_torch_file_t_CPPFLAGS = $(AM_CPPFLAGS) -DSCRIPT='"$(abs_srcdir)/t/torch_file.py"' \
	-DGLOO_FOLDER='"$(abs_builddir)/backends/gloo/.libs"'
t_torch_file_t_LDADD = $(STORE_LDADD)
t_torchrun_t_SOURCES = t/torchrun.c t/torchrun_rank.c t/torchrun_rank.h
t_torchrun_t_CPPFLAGS = $(AM_CPPFLAGS) -DTOOLS='"$(abs_top_builddir)/tools"' \
	-DPROMPTS='"$(abs_top_srcdir)/t/data/gsm8k_test_prompts.jsonl"'
t_torchrun_t_LDADD = $(GROUP_LDADD)

# network, rendezvous, launchers
check_PROGRAMS += \
	t/host_identity.t \
	t/interface.t \
	t/launcher.t \
	t/launcher_report.t \
	t/local_rank.t \
	t/meeting.t \
	t/memory_access.t \
	t/pmi1.t \
	t/rendezvous.t \
	t/rendezvous_netns.t \
	t/rendezvous_plan.t \
	t/slurm_nodes.t \
	t/url.t
t_launcher_report_t_SOURCES = t/environment.c t/environment.h t/launcher_report.c
t_launcher_t_SOURCES = t/environment.c t/environment.h t/launcher.c
t_meeting_t_SOURCES = t/children.c t/children.h t/environment.c t/environment.h t/meeting.c
t_memory_access_t_SOURCES = t/memory_access.c t/filter.h
t_pmi1_t_SOURCES = t/children.c t/children.h t/environment.c t/environment.h t/pmi1.c \
	t/pmi1_server.c t/pmi1_server.h
if TOOLS
check_PROGRAMS += \
	t/launched.t \
	t/launched_slurm.t
endif
EXTRA_DIST += t/launched_mpi.c
LAUNCHED_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) -DTOOLS='"$(abs_top_builddir)/tools"' \
	-DPROMPTS='"$(abs_top_srcdir)/t/data/gsm8k_test_prompts.jsonl"' \
	-DGLOO_FOLDER='"$(abs_builddir)/backends/gloo/.libs"' -DSOURCES='"$(abs_top_srcdir)"' \
	-DLIBRARY='"$(abs_builddir)/lib/.libs"' -DOWN_FOLDER='"$(abs_builddir)/t"' \
	-DSANITIZER_FLAGS='"$(SANITIZER_CFLAGS)"'
t_launched_slurm_t_SOURCES = t/environment.c t/environment.h t/launched.h t/launched_common.c \
	t/launched_slurm.c t/slurm_cluster.c t/slurm_cluster.h
t_launched_slurm_t_CPPFLAGS = $(LAUNCHED_CPPFLAGS)
t_launched_t_SOURCES = t/environment.c t/environment.h t/launched.c t/launched.h t/launched_common.c
t_launched_t_CPPFLAGS = $(LAUNCHED_CPPFLAGS)
t_rendezvous_netns_t_SOURCES = t/rendezvous_netns.c t/children.c t/children.h
t_rendezvous_t_SOURCES = t/rendezvous.c t/children.c t/children.h
