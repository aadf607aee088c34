# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of the library's rooms, which reach what is hidden.

# what every room stands on: errors, time, threads, memory, versions; options, backends
check_PROGRAMS += \
	t/backend.t \
	t/backend_path.t \
	t/error.t \
	t/hall_ahead.t \
	t/hall_collectives.t \
	t/hall_failures.t \
	t/hall_traffic.t \
	t/local.t \
	t/local_cards.t \
	t/nearest.t \
	t/no_memory.t \
	t/options.t \
	t/options_check.t \
	t/rigged.t \
	t/version.t
t_backend_path_t_CPPFLAGS = $(AM_CPPFLAGS) -DBACKENDSDIR='"$(backendsdir)"'
t_backend_t_CPPFLAGS = $(PLUGINS_CPPFLAGS)
HALL_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/backends/local
t_hall_ahead_t_SOURCES = t/hall_ahead.c t/hall_ranks.c t/hall_ranks.h
t_hall_ahead_t_CPPFLAGS = $(HALL_CPPFLAGS)
t_hall_collectives_t_SOURCES = t/hall_collectives.c t/hall_ranks.c t/hall_ranks.h $(MODEL_SOURCES)
t_hall_collectives_t_CPPFLAGS = $(HALL_CPPFLAGS)
t_hall_collectives_t_LDADD = $(UNIT_LDADD) -lm
t_hall_failures_t_SOURCES = t/hall_failures.c t/hall_ranks.c t/hall_ranks.h
t_hall_failures_t_CPPFLAGS = $(HALL_CPPFLAGS)
t_local_cards_t_CPPFLAGS = $(HALL_CPPFLAGS)
t_hall_traffic_t_SOURCES = t/hall_traffic.c t/hall_ranks.c t/hall_ranks.h
t_hall_traffic_t_CPPFLAGS = $(HALL_CPPFLAGS)
EXTRA_PROGRAMS += t/hall_bench
t_hall_bench_SOURCES = t/hall_bench.c
t_hall_bench_CPPFLAGS = $(HALL_CPPFLAGS)
t_hall_bench_LDADD = lib/libmuster_all.la
t_no_memory_t_SOURCES = t/no_memory.c t/scarce.c t/scarce.h
t_no_memory_t_CPPFLAGS = $(PLUGINS_CPPFLAGS)
t_no_memory_t_LDFLAGS = $(AM_LDFLAGS) $(SCARCE_MEMORY)
t_rigged_t_CPPFLAGS = $(PLUGINS_CPPFLAGS)

# groups and what they do
check_PROGRAMS += \
	t/abi.t \
	t/arguments.t \
	t/bulk.t \
	t/bulk_ragged.t \
	t/calls.t \
	t/cause.t \
	t/census.t \
	t/choice.t \
	t/claim.t \
	t/describe.t \
	t/exchange.t \
	t/failure.t \
	t/family.t \
	t/handshake.t \
	t/layout.t \
	t/lookout.t \
	t/loopback.t \
	t/lost.t \
	t/message_label.t \
	t/near.t \
	t/near_messages.t \
	t/no_memory_group.t \
	t/patience.t \
	t/process.t \
	t/rank_set.t \
	t/reduce.t \
	t/roster.t \
	t/seats.t \
	t/small_floats.t \
	t/store_traffic.t \
	t/thread.t \
	t/turn.t \
	t/work.t \
	t/work_waits.t
t_near_messages_t_SOURCES = t/near_messages.c t/records.c t/records.h
t_bulk_t_SOURCES = t/bulk.c t/records.c t/records.h
t_bulk_ragged_t_SOURCES = t/bulk_ragged.c t/records.c t/records.h
t_cause_t_SOURCES = t/cause.c t/mortal_store.c t/mortal_store.h t/records.c t/records.h
t_census_t_SOURCES = t/census.c t/records.c t/records.h
t_choice_t_CPPFLAGS = $(PLUGINS_CPPFLAGS)
t_describe_t_CPPFLAGS = $(PLUGINS_CPPFLAGS)
t_work_t_SOURCES = t/work.c t/gated_work.c t/gated_work.h
t_work_waits_t_SOURCES = t/work_waits.c t/gated_work.c t/gated_work.h
t_exchange_t_SOURCES = t/exchange.c t/mortal_store.c t/mortal_store.h
t_failure_t_SOURCES = t/failure.c t/mortal_store.c t/mortal_store.h
t_failure_t_CPPFLAGS = $(PLUGINS_CPPFLAGS)
t_handshake_t_SOURCES = t/handshake.c t/children.c t/children.h
t_handshake_t_CPPFLAGS = $(PLUGINS_CPPFLAGS)
t_lookout_t_SOURCES = t/lookout.c t/records.c t/records.h
t_lost_t_SOURCES = t/lost.c t/mortal_store.c t/mortal_store.h t/records.c t/records.h
t_no_memory_group_t_SOURCES = t/no_memory_group.c t/scarce.c t/scarce.h
t_no_memory_group_t_CPPFLAGS = $(PLUGINS_CPPFLAGS)
t_no_memory_group_t_LDFLAGS = $(AM_LDFLAGS) $(SCARCE_MEMORY)
t_patience_t_SOURCES = t/patience.c t/mortal_store.c t/mortal_store.h
t_reduce_t_SOURCES = t/reduce.c $(MODEL_SOURCES)
t_reduce_t_LDADD = $(UNIT_LDADD) -lm
t_small_floats_t_SOURCES = t/small_floats.c t/slow_floats.c t/slow_floats.h
t_small_floats_t_LDADD = $(UNIT_LDADD) -lm
