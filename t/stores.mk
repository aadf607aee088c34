# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of stores, of launchers, and of the way to a store.

# stores
noinst_LTLIBRARIES += t/libstoretest.la
t_libstoretest_la_SOURCES = \
	t/store_conformance.c t/store_conformance.h \
	t/store_peers.c t/store_peers.h
STORE_LDADD = t/libstoretest.la $(UNIT_LDADD)
check_PROGRAMS += t/name_lookup.t
t_name_lookup_t_SOURCES = t/name_lookup.c
t_name_lookup_t_LDADD = $(UNIT_LDADD)
check_PROGRAMS += t/key_map.t t/socket.t t/store_file.t t/store_hash.t t/store_prefix.t
check_PROGRAMS += t/store_tcp.t t/tcp_await.t t/tcp_protocol.t t/tcp_server.t
t_tcp_await_t_SOURCES = t/tcp_await.c
t_tcp_await_t_LDADD = $(STORE_LDADD)
check_PROGRAMS += t/job_secret.t t/tcp_entry.t t/tcp_large.t
t_tcp_large_t_SOURCES = t/tcp_large.c
t_tcp_large_t_LDADD = $(UNIT_LDADD)
t_job_secret_t_SOURCES = t/job_secret.c
t_job_secret_t_LDADD = $(UNIT_LDADD)
t_tcp_entry_t_SOURCES = t/tcp_entry.c
t_tcp_entry_t_LDADD = $(UNIT_LDADD)
check_PROGRAMS += t/store_attacks.t t/store_secret.t
t_store_secret_t_SOURCES = t/store_secret.c
t_store_secret_t_LDADD = $(STORE_LDADD)
t_store_attacks_t_SOURCES = t/store_attacks.c t/siege.c t/siege.h t/siege_crowd.c
t_store_attacks_t_LDADD = $(STORE_LDADD)
t_key_map_t_SOURCES = t/key_map.c
t_key_map_t_LDADD = $(UNIT_LDADD)
t_store_hash_t_SOURCES = t/store_hash.c
t_store_hash_t_LDADD = $(STORE_LDADD)
t_socket_t_SOURCES = t/socket.c
t_socket_t_LDADD = $(STORE_LDADD)
t_store_file_t_SOURCES = t/store_file.c
t_store_file_t_LDADD = $(STORE_LDADD)
t_store_prefix_t_SOURCES = t/store_prefix.c
t_store_prefix_t_LDADD = $(STORE_LDADD)
t_store_tcp_t_SOURCES = t/store_tcp.c
t_store_tcp_t_LDADD = $(STORE_LDADD)
check_PROGRAMS += t/store_family.t
t_store_family_t_SOURCES = t/store_family.c
t_store_family_t_LDADD = $(STORE_LDADD)
check_PROGRAMS += t/store_torch.t
t_store_torch_t_SOURCES = t/store_torch.c
t_store_torch_t_LDADD = $(STORE_LDADD)
t_store_torch_t_CPPFLAGS = $(AM_CPPFLAGS) -DPYTHON='"$(abs_srcdir)/t/python"'
EXTRA_DIST += t/python/store_torch.py
check_PROGRAMS += t/tcp_session.t
t_tcp_session_t_SOURCES = t/tcp_session.c
t_tcp_session_t_LDADD = $(UNIT_LDADD)
t_tcp_protocol_t_SOURCES = t/tcp_protocol.c
t_tcp_protocol_t_LDADD = $(UNIT_LDADD)
t_tcp_server_t_SOURCES = t/tcp_server.c
t_tcp_server_t_LDADD = $(STORE_LDADD)

# torchrun, files of torch, mixed jobs
if TOOLS
check_PROGRAMS += t/report.t
endif
t_report_t_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
t_report_t_SOURCES = t/report.c
t_report_t_LDADD = $(UNIT_LDADD) $(JANSSON_LIBS)
if TOOLS
check_PROGRAMS += t/mixed.t t/torchrun.t
endif
t_mixed_t_CPPFLAGS = $(TOOLTEST_CPPFLAGS) $(EXAMPLES_CPPFLAGS)
t_mixed_t_SOURCES = t/mixed.c
t_mixed_t_LDADD = t/libtooltest.la $(GROUP_LDADD) $(JANSSON_LIBS)
t_torchrun_t_CPPFLAGS = $(AM_CPPFLAGS) -DTOOLS='"$(abs_top_builddir)/tools"' \
	-DPROMPTS='"$(abs_top_srcdir)/t/data/gsm8k_test_prompts.jsonl"'
t_torchrun_t_SOURCES = t/torchrun.c t/torchrun_rank.c t/torchrun_rank.h
t_torchrun_t_LDADD = $(GROUP_LDADD)
check_PROGRAMS += t/torch_file.t
EXTRA_DIST += t/torch_file.py
t_torch_file_t_CPPFLAGS = $(AM_CPPFLAGS) -DSCRIPT='"$(abs_srcdir)/t/torch_file.py"' \
	-DGLOO_FOLDER='"$(abs_builddir)/backends/gloo/.libs"'
t_torch_file_t_SOURCES = t/torch_file.c
t_torch_file_t_LDADD = $(STORE_LDADD)

# network, rendezvous, launchers
check_PROGRAMS += t/launcher.t t/launcher_report.t t/local_rank.t t/meeting.t t/pmi1.t t/slurm_nodes.t
t_launcher_report_t_SOURCES = t/environment.c t/environment.h t/launcher_report.c
t_launcher_report_t_LDADD = $(UNIT_LDADD)
t_local_rank_t_SOURCES = t/local_rank.c
t_local_rank_t_LDADD = $(UNIT_LDADD)
t_launcher_t_SOURCES = t/environment.c t/environment.h t/launcher.c
t_launcher_t_LDADD = $(UNIT_LDADD)
t_meeting_t_SOURCES = t/children.c t/children.h t/environment.c t/environment.h t/meeting.c
t_meeting_t_LDADD = $(UNIT_LDADD)
t_pmi1_t_SOURCES = t/children.c t/children.h t/environment.c t/environment.h t/pmi1.c \
	t/pmi1_server.c t/pmi1_server.h
t_pmi1_t_LDADD = $(UNIT_LDADD)
t_slurm_nodes_t_SOURCES = t/slurm_nodes.c
t_slurm_nodes_t_LDADD = $(UNIT_LDADD)
if TOOLS
check_PROGRAMS += t/launched.t t/launched_slurm.t
endif
EXTRA_DIST += t/launched_mpi.c
LAUNCHED_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) -DTOOLS='"$(abs_top_builddir)/tools"' \
	-DPROMPTS='"$(abs_top_srcdir)/t/data/gsm8k_test_prompts.jsonl"' \
	-DGLOO_FOLDER='"$(abs_builddir)/backends/gloo/.libs"' -DSOURCES='"$(abs_top_srcdir)"' \
	-DLIBRARY='"$(abs_builddir)/lib/.libs"' -DOWN_FOLDER='"$(abs_builddir)/t"' \
	-DSANITIZER_FLAGS='"$(SANITIZER_CFLAGS)"'
t_launched_t_CPPFLAGS = $(LAUNCHED_CPPFLAGS)
t_launched_t_SOURCES = t/environment.c t/environment.h t/launched.c t/launched.h t/launched_common.c
t_launched_t_LDADD = $(UNIT_LDADD)
t_launched_slurm_t_CPPFLAGS = $(LAUNCHED_CPPFLAGS)
t_launched_slurm_t_SOURCES = t/environment.c t/environment.h t/launched.h t/launched_common.c \
	t/launched_slurm.c t/slurm_cluster.c t/slurm_cluster.h
t_launched_slurm_t_LDADD = $(UNIT_LDADD)
check_PROGRAMS += t/host_identity.t t/interface.t t/rendezvous.t t/rendezvous_netns.t \
	t/rendezvous_plan.t t/url.t
t_host_identity_t_SOURCES = t/host_identity.c
t_host_identity_t_LDADD = $(UNIT_LDADD)
t_interface_t_SOURCES = t/interface.c
t_interface_t_LDADD = $(UNIT_LDADD)
t_rendezvous_t_SOURCES = t/rendezvous.c t/children.c t/children.h
t_rendezvous_t_LDADD = $(UNIT_LDADD)
t_rendezvous_netns_t_SOURCES = t/rendezvous_netns.c t/children.c t/children.h
t_rendezvous_netns_t_LDADD = $(UNIT_LDADD)
t_rendezvous_plan_t_SOURCES = t/rendezvous_plan.c
t_rendezvous_plan_t_LDADD = $(UNIT_LDADD)
t_url_t_SOURCES = t/url.c
t_url_t_LDADD = $(UNIT_LDADD)
