# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of the library's rooms, which reach what is hidden.

# what every room stands on: errors, time, threads, memory, versions; options, backends
check_PROGRAMS += t/error.t
t_error_t_SOURCES = t/error.c
t_error_t_LDADD = $(UNIT_LDADD)

check_PROGRAMS += t/version.t
t_version_t_SOURCES = t/version.c
t_version_t_LDADD = $(UNIT_LDADD)
check_PROGRAMS += t/nearest.t
t_nearest_t_SOURCES = t/nearest.c
t_nearest_t_LDADD = $(UNIT_LDADD)
check_PROGRAMS += t/options.t
t_options_t_SOURCES = t/options.c
t_options_t_LDADD = $(UNIT_LDADD)
check_PROGRAMS += t/options_check.t
t_options_check_t_SOURCES = t/options_check.c
t_options_check_t_LDADD = $(UNIT_LDADD)
check_PROGRAMS += t/backend_path.t
t_backend_path_t_SOURCES = t/backend_path.c
t_backend_path_t_LDADD = $(UNIT_LDADD)
t_backend_path_t_CPPFLAGS = $(AM_CPPFLAGS) -DBACKENDSDIR='"$(backendsdir)"'
check_PROGRAMS += t/backend.t
t_backend_t_SOURCES = t/backend.c
t_backend_t_LDADD = $(UNIT_LDADD)
t_backend_t_CPPFLAGS = $(AM_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"'
check_PROGRAMS += t/local.t
t_local_t_SOURCES = t/local.c
t_local_t_LDADD = $(UNIT_LDADD)
HALL_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/backends/local
check_PROGRAMS += t/hall_collectives.t t/hall_failures.t
t_hall_collectives_t_SOURCES = t/hall_collectives.c t/hall_ranks.c t/hall_ranks.h \
	t/model.c t/model.h t/slow_floats.c t/slow_floats.h
t_hall_collectives_t_CPPFLAGS = $(HALL_CPPFLAGS)
t_hall_collectives_t_LDADD = $(UNIT_LDADD) -lm
t_hall_failures_t_SOURCES = t/hall_failures.c t/hall_ranks.c t/hall_ranks.h
t_hall_failures_t_CPPFLAGS = $(HALL_CPPFLAGS)
t_hall_failures_t_LDADD = $(UNIT_LDADD)
EXTRA_PROGRAMS += t/hall_bench
t_hall_bench_SOURCES = t/hall_bench.c
t_hall_bench_CPPFLAGS = $(HALL_CPPFLAGS)
t_hall_bench_LDADD = lib/libmuster_all.la
check_PROGRAMS += t/rigged.t
t_rigged_t_SOURCES = t/rigged.c
t_rigged_t_LDADD = $(UNIT_LDADD)
t_rigged_t_CPPFLAGS = $(AM_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"'
check_PROGRAMS += t/no_memory.t
t_no_memory_t_SOURCES = t/no_memory.c t/scarce.c t/scarce.h
t_no_memory_t_LDADD = $(UNIT_LDADD)
t_no_memory_t_CPPFLAGS = $(AM_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"'
t_no_memory_t_LDFLAGS = $(AM_LDFLAGS) $(SCARCE_MEMORY)

# groups and what they do
UNIT_TESTS = t/abi.t t/arguments.t t/cause.t t/choice.t t/claim.t t/describe.t t/exchange.t t/failure.t t/family.t \
	t/handshake.t t/lookout.t t/loopback.t t/lost.t t/message_label.t t/near.t t/no_memory_group.t t/patience.t t/process.t t/rank_set.t t/reduce.t \
	t/roster.t t/store_traffic.t t/thread.t t/bulk.t t/work.t
UNIT_TESTS += t/calls.t t/census.t t/turn.t
check_PROGRAMS += $(UNIT_TESTS) t/layout.t t/small_floats.t
t_arguments_t_SOURCES = t/arguments.c
t_arguments_t_LDADD = $(UNIT_LDADD)
t_family_t_SOURCES = t/family.c
t_family_t_LDADD = $(UNIT_LDADD)
t_turn_t_SOURCES = t/turn.c
t_turn_t_LDADD = $(UNIT_LDADD)
t_census_t_SOURCES = t/census.c t/records.c t/records.h
t_census_t_LDADD = $(UNIT_LDADD)
t_calls_t_SOURCES = t/calls.c
t_calls_t_LDADD = $(UNIT_LDADD)
t_message_label_t_SOURCES = t/message_label.c
t_message_label_t_LDADD = $(UNIT_LDADD)
t_bulk_t_SOURCES = t/bulk.c t/records.c t/records.h
t_bulk_t_LDADD = $(UNIT_LDADD)
t_store_traffic_t_SOURCES = t/store_traffic.c
t_store_traffic_t_LDADD = $(UNIT_LDADD)
t_near_t_SOURCES = t/near.c
t_near_t_LDADD = $(UNIT_LDADD)
t_process_t_SOURCES = t/process.c
t_process_t_LDADD = $(UNIT_LDADD)
t_rank_set_t_SOURCES = t/rank_set.c
t_rank_set_t_LDADD = $(UNIT_LDADD)
t_reduce_t_SOURCES = t/reduce.c t/model.c t/model.h t/slow_floats.c t/slow_floats.h
t_reduce_t_LDADD = $(UNIT_LDADD) -lm
t_layout_t_SOURCES = t/layout.c
t_layout_t_LDADD = $(UNIT_LDADD)
t_small_floats_t_SOURCES = t/small_floats.c t/slow_floats.c t/slow_floats.h
t_small_floats_t_LDADD = $(UNIT_LDADD) -lm
t_roster_t_SOURCES = t/roster.c
t_roster_t_LDADD = $(UNIT_LDADD)
t_exchange_t_SOURCES = t/exchange.c t/mortal_store.c t/mortal_store.h
t_exchange_t_LDADD = $(UNIT_LDADD)
t_cause_t_SOURCES = t/cause.c t/mortal_store.c t/mortal_store.h t/records.c t/records.h
t_cause_t_LDADD = $(UNIT_LDADD)
t_lost_t_SOURCES = t/lost.c t/mortal_store.c t/mortal_store.h t/records.c t/records.h
t_lost_t_LDADD = $(UNIT_LDADD)
t_choice_t_SOURCES = t/choice.c
check_PROGRAMS += t/seats.t
t_seats_t_SOURCES = t/seats.c
t_seats_t_LDADD = $(UNIT_LDADD)
t_choice_t_LDADD = $(UNIT_LDADD)
t_choice_t_CPPFLAGS = $(AM_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"'
t_claim_t_SOURCES = t/claim.c
t_claim_t_LDADD = $(UNIT_LDADD)
t_handshake_t_SOURCES = t/handshake.c t/children.c t/children.h
t_handshake_t_LDADD = $(UNIT_LDADD)
t_handshake_t_CPPFLAGS = $(AM_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"'
t_work_t_SOURCES = t/work.c
t_work_t_LDADD = $(UNIT_LDADD)
t_failure_t_SOURCES = t/failure.c t/mortal_store.c t/mortal_store.h
t_failure_t_LDADD = $(UNIT_LDADD)
t_failure_t_CPPFLAGS = $(AM_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"'
t_describe_t_SOURCES = t/describe.c
t_describe_t_LDADD = $(UNIT_LDADD)
t_describe_t_CPPFLAGS = $(AM_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"'
t_abi_t_SOURCES = t/abi.c
t_abi_t_LDADD = $(UNIT_LDADD)
t_no_memory_group_t_SOURCES = t/no_memory_group.c t/scarce.c t/scarce.h
t_no_memory_group_t_LDADD = $(UNIT_LDADD)
t_no_memory_group_t_LDFLAGS = $(AM_LDFLAGS) $(SCARCE_MEMORY)
t_no_memory_group_t_CPPFLAGS = $(AM_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"'
t_patience_t_SOURCES = t/patience.c t/mortal_store.c t/mortal_store.h
t_patience_t_LDADD = $(UNIT_LDADD)
t_lookout_t_SOURCES = t/lookout.c t/records.c t/records.h
t_lookout_t_LDADD = $(UNIT_LDADD)
t_loopback_t_SOURCES = t/loopback.c
t_loopback_t_LDADD = $(UNIT_LDADD)
t_thread_t_SOURCES = t/thread.c
t_thread_t_LDADD = $(UNIT_LDADD)
